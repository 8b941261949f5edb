"""The player of the league's game Q21 as an environment of verifiers."""

from league_agents_q21.environment import Q21Env, load_environment
from league_agents_q21.taskset import Q21Taskset

__all__ = ["Q21Env", "Q21Taskset", "load_environment"]
