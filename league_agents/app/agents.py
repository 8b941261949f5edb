"""Resolve the name of an agent (``offline``, ``llm``, ``scripted``, ``scripted:NAME``, ``a2a:URL`` or
``module:Class``) to a factory of instances."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from league_agents.a2a.address import KIND, agent_address
from league_agents.agents.difficulty import Difficulty
from league_agents.agents.scripted import PLAYERS, REFEREES
from league_agents.games.q21.rules import RuleSet
from league_agents.kit.clock import Clock
from league_agents.kit.errors import ConfigError
from league_agents.llm.port import ChatModel
from league_agents.mail.misconduct import PLAYER_CONDUCT, REFEREE_CONDUCT, Conduct, MisbehavingMailbox
from league_agents.mail.port import Mailbox
from league_agents.runner.calls import AgentFactory, AgentHost, InlineHost
from league_agents.runner.workers import Workers
from league_agents.user_code.called import Called, End
from league_agents.user_code.instance import UserInstance
from league_agents.user_code.instances import InstanceMaker, here
from league_agents.user_code.loading import load_for
from league_agents.user_code.own import OwnClass, unmade
from league_agents.user_code.process import LOAD_LIMIT_S

if TYPE_CHECKING:
    from league_agents.a2a.remote_agent import RemoteAgent

LOG = logging.getLogger(__name__)

AgentRole = Literal["referee", "player"]

IndexPlace = Callable[[], Path]
"""Returns the path of the user's own knowledge index, which may not exist. Raises ``ConfigError`` without a path."""


class CallbackModels(Protocol):
    """The language models of one participant."""

    def for_callback(self, callback: str) -> ChatModel | None:
        """The model of a callback; ``None`` if it uses none."""
        ...


ModelsPlace = Callable[[], CallbackModels]
"""Makes the language models of one participant. Raises ``ConfigError`` with the remedy when none is configured."""

OFFLINE = "offline"
LLM = "llm"
SCRIPTED = "scripted"
A2A = KIND
BUILT_IN_KINDS = (OFFLINE, LLM, SCRIPTED, A2A)
"""What comes before the colon of an agent that is no class of the user's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenAgent:
    """An agent, ready to be instantiated."""

    spec: str
    factory: AgentFactory
    """Makes an instance in this process."""

    is_ours: bool
    """Whether it is known to return by itself; any other agent is called with a time limit."""

    source: str | None = None
    """The file of a user's class; ``None`` for agents of this package, and for a class without a file."""

    own: OwnClass | None = None
    """A class of the user's that runs in processes of its own; ``None`` for an agent that runs in this one."""

    check: Callable[[], None] | None = None
    """Raises ``ConfigError`` if an agent elsewhere cannot be used; ``None`` for agents of this machine."""

    conduct: Conduct | None = None
    """Changes the outgoing mail, for scripted participants that misbehave by mail."""

    def behind(self, mailbox: Mailbox) -> Mailbox:
        """The mailbox as this agent uses it."""
        return mailbox if self.conduct is None else MisbehavingMailbox(mailbox, self.conduct)

    @property
    def instances(self) -> InstanceMaker:
        """Makes instances in the process where this agent is to run."""
        return here(self.factory) if self.own is None else self.own

    def close(self) -> None:
        """Release an agent that is not used."""
        if self.own is not None:
            self.own.close()


def offline_host(agent: ChosenAgent, clock: Clock, *, is_referee: bool) -> AgentHost:
    """Runs an agent on a clock that is set by hand."""
    if agent.is_ours:
        return InlineHost(agent.factory, clock, one_game_each=is_referee)
    return Workers(agent.instances, one_game_each=is_referee, waits=True)


def choose_agent(
    spec: str,
    role: AgentRole,
    *,
    rules: RuleSet,
    seed: int | str,
    index_path: IndexPlace | None = None,
    models: ModelsPlace | None = None,
    in_process: bool = False,
    load_limit_s: float = LOAD_LIMIT_S,
) -> ChosenAgent:
    """The agent that ``spec`` names.

    A class of the user's own is loaded in a process of its own, in which it then runs; ``in_process``: in this one,
    where ``load_limit_s`` is not enforced.
    ``seed`` decides all random choices of an offline agent; ``index_path`` is called for offline and llm agents only.
    ``models`` is called for llm agents; without it, the environment configures the models. Raises ``ConfigError`` that
    lists the valid names.
    """
    kind, _, name = spec.partition(":")
    if kind in (OFFLINE, LLM):
        difficulty = difficulty_of(spec, name, role)
        place = index_path() if index_path is not None else None
        if kind == OFFLINE:
            return ChosenAgent(spec=spec, factory=_offline(role, rules, seed, place, difficulty), is_ours=True)
        made = models() if models is not None else _models_of_environment(role)
        # A call to a model that hangs is abandoned in time; on threads of its own, so is the code that waits for it.
        return ChosenAgent(spec=spec, factory=_llm(role, rules, seed, place, made, difficulty), is_ours=False)
    if kind == SCRIPTED:
        return _scripted(spec, name or "fixed", role, rules)
    if kind == A2A:
        return _elsewhere(spec, role)
    if ":" not in spec:
        example = f"my_{role}:My{role.title()}AI"
        names = f"{OFFLINE}, {LLM}, {SCRIPTED}, {SCRIPTED}:NAME, {A2A}:URL or module:Class (for example {example})"
        if not spec.strip():
            raise ConfigError("agent", f"the name is empty; write {names}")
        raise ConfigError(spec, f"is no agent; write {names}")
    return own_class(spec, (role,), in_process=in_process, load_limit_s=load_limit_s)[0]


def is_own(spec: str) -> bool:
    """Whether ``spec`` names a class of the user's own."""
    kind, colon, _ = spec.partition(":")
    return bool(colon) and kind not in BUILT_IN_KINDS


def own_agent(
    spec: str, roles: Sequence[AgentRole], *, in_process: bool, load_limit_s: float = LOAD_LIMIT_S
) -> tuple[ChosenAgent, AgentRole]:
    """A class of the user's own, and for which of the roles it is. Raises ``ConfigError``."""
    chosen, found = own_class(spec, roles, in_process=in_process, load_limit_s=load_limit_s)
    return chosen, "referee" if found == "referee" else "player"


def own_class(
    spec: str,
    roles: Sequence[str],
    *,
    in_process: bool,
    adapter: Sequence[str] = (),
    load_limit_s: float = LOAD_LIMIT_S,
) -> tuple[ChosenAgent, str]:
    """A class of the user's own, and for which of the roles it is, ``ARENA`` included. ``adapter`` as in
    ``load_for``. Raises ``ConfigError``."""

    def make_here() -> object:
        return load_for(spec, roles, adapter).make()

    if in_process or os.name == "nt":  # where a process cannot inherit a socket and a pipe
        found = load_for(spec, roles, adapter)
        return ChosenAgent(spec=spec, factory=found.make, is_ours=False, source=found.source), found.role
    own = OwnClass(spec, roles, adapter=adapter, load_limit_s=load_limit_s)
    source = own.loaded.source
    return ChosenAgent(spec=spec, factory=make_here, is_ours=False, source=source, own=own), own.loaded.role


def tried_class(
    spec: str, roles: Sequence[str], *, in_process: bool, adapter: Sequence[str]
) -> tuple[ChosenAgent, str]:
    """As ``own_class``; the first instance was made. Raises ``ConfigError``."""
    chosen, role = own_class(spec, roles, in_process=in_process, adapter=adapter)
    try_making(chosen, role)
    return chosen, role


def try_making(agent: ChosenAgent, role: str = "") -> None:
    """Make the first instance of an agent, so that one that cannot be made stops before the match.

    In this process the instance is discarded, and one that takes longer than ``LONGEST_TRIAL_S`` is not awaited: in the
    match its first callback times out. Raises ``ConfigError`` with the constructor's error and its place, and the
    command that tries the agent unless ``role`` is ``ARENA``.
    """
    if agent.own is not None:
        agent.own.try_making()
        return
    if agent.check is not None:
        agent.check()
        return
    if agent.is_ours:
        return
    made: list[Called] = []
    # On a thread of its own, as in the match: a constructor may depend on its thread.
    trial = threading.Thread(target=lambda: made.append(UserInstance(agent.factory).make()), name="trial", daemon=True)
    trial.start()
    trial.join(LONGEST_TRIAL_S)
    if not made:
        LOG.warning("%s: its constructor still runs after %g s and is not waited for", agent.spec, LONGEST_TRIAL_S)
    elif made[0].end is not End.RETURNED:
        raise unmade(agent.spec, made[0], LONGEST_TRIAL_S, role=role)


LONGEST_TRIAL_S = 15.0


def scripted_names(role: AgentRole) -> list[str]:
    """The names of ``scripted:NAME`` for a role."""
    if role == "referee":
        return sorted({*REFEREES, *REFEREE_CONDUCT})
    return sorted({*PLAYERS, *PLAYER_CONDUCT})


def _scripted(spec: str, name: str, role: AgentRole, rules: RuleSet) -> ChosenAgent:
    names = scripted_names(role)
    if name not in names:
        near = get_close_matches(name, names, n=1)
        hint = f"did you mean {SCRIPTED}:{near[0]}? " if near else ""
        raise ConfigError(spec, f"{hint}a scripted {role} is one of {', '.join(names)}")
    if role == "referee":
        referee = REFEREES.get(name, REFEREES["fixed"])
        return ChosenAgent(
            spec=spec, factory=lambda: referee(rules=rules), is_ours=True, conduct=REFEREE_CONDUCT.get(name)
        )
    player = PLAYERS.get(name, PLAYERS["fixed"])
    return ChosenAgent(spec=spec, factory=lambda: player(rules=rules), is_ours=True, conduct=PLAYER_CONDUCT.get(name))


def remote_agent(spec: str) -> RemoteAgent:
    """The agent elsewhere of ``a2a:URL``, with the token that the environment has for it. Raises ``ConfigError``."""
    from league_agents.config.league_file import environment_of

    address = agent_address(spec, environment_of(Path("league.yaml")))
    from league_agents.a2a.remote_agent import RemoteAgent

    return RemoteAgent(address)


def _elsewhere(spec: str, role: AgentRole) -> ChosenAgent:
    remote = remote_agent(spec)

    def make() -> object:
        from league_agents.a2a.seats import RemotePlayer, RemoteReferee

        return RemoteReferee(remote) if role == "referee" else RemotePlayer(remote)

    return ChosenAgent(spec=spec, factory=make, is_ours=False, check=remote.check)


def difficulty_of(spec: str, name: str, role: AgentRole) -> Difficulty:
    """The difficulty in ``offline:hard``, for referees only, which choose the target; medium without a colon."""
    if ":" not in spec:
        return Difficulty.MEDIUM
    if role != "referee":
        raise ConfigError(spec, f"only a referee has a difficulty; write {spec.partition(':')[0]}")
    known = tuple(Difficulty)
    if name not in known:
        raise ConfigError(spec, f"a referee's difficulty is one of {', '.join(known)}")
    return Difficulty(name)


def _offline(
    role: AgentRole, rules: RuleSet, seed: int | str, index_path: Path | None, difficulty: Difficulty
) -> AgentFactory:
    # Offline agents import numpy and the knowledge index, which is slow and unnecessary for other agents.
    def make_referee() -> object:
        from league_agents.agents.library import Knowledge
        from league_agents.agents.offline_referee import OfflineReferee

        knowledge = Knowledge.shared(index_path)
        return OfflineReferee(rules=rules, knowledge=knowledge, seed=seed, difficulty=difficulty)

    def make_player() -> object:
        from league_agents.agents.library import Knowledge
        from league_agents.agents.offline_player import OfflinePlayer

        return OfflinePlayer(rules=rules, knowledge=Knowledge.shared(index_path), seed=seed)

    return make_referee if role == "referee" else make_player


def _models_of_environment(role: AgentRole) -> CallbackModels:
    from league_agents.app.models import Books, chat_models, environment_models

    return chat_models(environment_models(), role=role, books=Books.of_one_run(role))


def _llm(
    role: AgentRole,
    rules: RuleSet,
    seed: int | str,
    index_path: Path | None,
    models: CallbackModels,
    difficulty: Difficulty,
) -> AgentFactory:
    def make_referee() -> object:
        from league_agents.agents.library import Knowledge
        from league_agents.agents.llm_referee import LlmReferee

        return LlmReferee(
            rules=rules,
            knowledge=Knowledge.shared(index_path),
            seed=seed,
            models=models.for_callback,
            difficulty=difficulty,
        )

    def make_player() -> object:
        from league_agents.agents.library import Knowledge
        from league_agents.agents.llm_player import LlmPlayer

        knowledge = Knowledge.shared(index_path)
        return LlmPlayer(rules=rules, knowledge=knowledge, seed=seed, models=models.for_callback)

    return make_referee if role == "referee" else make_player
