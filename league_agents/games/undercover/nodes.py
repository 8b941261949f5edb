"""The match as nodes of a graph: each node takes the shared state as a dict and returns the changed keys.

The dict is the one of ``dump``, plus the agents under ``agents_map`` (agent id -> agent) and, at the end, the
``outcome``. The nodes run in LangGraph (``build_graph``) or, without it, in a plain loop (``play``).

Rule 1: a node asks the agents and calls the functions of ``moves`` and ``flow``; it has no rule of its own.
Rule 2: an agent receives every event that it may see before it is asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, TypedDict

from league_agents.games.game import Event, ForfeitCause, IllegalAction, JsonObject, Step, is_visible
from league_agents.games.undercover.agents import DescribesAndVotes, ScriptedUndercoverAgent, ask, tell
from league_agents.games.undercover.announce import opening
from league_agents.games.undercover.config import Settings
from league_agents.games.undercover.flow import check
from league_agents.games.undercover.game import Undercover
from league_agents.games.undercover.moves import give_up, take
from league_agents.games.undercover.record import dump, replayed
from league_agents.games.undercover.state import GameState, RoundPhase
from league_agents.kit.errors import ConfigError
from league_agents.kit.values import evolve

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.graph.state import CompiledStateGraph

SharedState = Mapping[str, Any]
AgentsMap = Mapping[str, DescribesAndVotes]

MOST_REFUSALS: Final = 2
"""Refused answers allowed for one decision; the next one is a forfeit."""

DEFAULT_SEATS: Final = 6

_GAME: Final = Undercover()

_NODE_OF: Final[Mapping[str, str]] = {
    RoundPhase.DESCRIPTION: "description_phase",
    RoundPhase.VOTING: "voting_phase",
    RoundPhase.CHECK: "check_win_condition",
    RoundPhase.END: "end_game",
}

_STATE_KEYS: Final = (
    *("config", "seed", "round", "phase", "ballot", "candidates", "speaking_order", "players", "num_players"),
    *("num_undercover", "word_pair", "current_descriptions", "current_votes", "all_votes_history"),
    *("eliminated_players", "elimination_history", "winner", "reason", "game_over", "conversation_history"),
)
"""The keys that ``dump`` returns."""


def initialize_game(state: SharedState) -> dict[str, Any]:
    """Deal the words, or continue the match that the state already holds.

    Reads ``seed``, ``config`` (optional) and ``agents_map`` (in seat order; without it, six scripted agents play).
    Raises ``ConfigError``.
    """
    if "conversation_history" in state:
        return _NodeTable(state).changes()
    agents = state.get("agents_map") or {
        f"agent_{seat}": ScriptedUndercoverAgent() for seat in range(1, DEFAULT_SEATS + 1)
    }
    if "seed" not in state:
        raise ConfigError("seed", "is missing; any whole number will do, and the same one deals the same words again")
    dealt = _GAME.setup(state.get("config") or {}, tuple(agents), state["seed"])
    for agent in agents.values():
        reset = getattr(agent, "reset", None)
        if reset is not None:
            reset()
    announced = tuple(evolve(event, seq=number) for number, event in enumerate(opening(dealt), 1))
    _deliver(agents, announced)
    return {**dump(dealt), "agents_map": agents}


def description_phase(state: SharedState) -> dict[str, Any]:
    """Ask each living player for a description in turn; all hear it before the next one is asked."""
    table = _NodeTable(state)
    while table.state.phase is RoundPhase.DESCRIPTION:
        table.ask(table.state.due[0])
    return table.changes()


def voting_phase(state: SharedState) -> dict[str, Any]:
    """Ask each living player for a vote, unseen by the others; a tie that requires a revote asks once more."""
    table = _NodeTable(state)
    while table.state.phase is RoundPhase.VOTING:
        for player_id in table.state.due:
            table.ask(player_id)
        counted = check(table.state)
        if counted.state.phase is RoundPhase.VOTING:
            table.go(counted)
    return table.changes()


def check_win_condition(state: SharedState) -> dict[str, Any]:
    """Count the votes, then eliminate a player or nobody, and end the match or begin the next round."""
    table = _NodeTable(state)
    if table.state.phase is RoundPhase.CHECK:
        table.go(check(table.state))
    return table.changes()


def end_game(state: SharedState) -> dict[str, Any]:
    """Add the result of the match as ``outcome``."""
    outcome = _GAME.outcome(_NodeTable(state).state)
    if outcome is None:
        return {"outcome": None}
    scores, metrics = dict(outcome.scores), dict(outcome.metrics)
    return {
        "outcome": {"winners": list(outcome.winners), "scores": scores, "reason": outcome.reason, "metrics": metrics}
    }


def next_node(state: SharedState) -> str:
    """Return the name of the next node."""
    return _NODE_OF[state["phase"]]


def play(state: SharedState) -> dict[str, Any]:
    """Play a whole match in a plain loop and return the state after ``end_game``."""
    shared = {**state, **initialize_game(state)}
    nodes = {node.__name__: node for node in (description_phase, voting_phase, check_win_condition)}
    while (name := next_node(shared)) != "end_game":
        shared.update(nodes[name](shared))
    shared.update(end_game(shared))
    return shared


def recursion_limit(max_rounds: int) -> int:
    """Return the steps that LangGraph must allow: three a round, one to begin, one to end, and a margin."""
    return 4 * max_rounds + 10


def build_graph(
    config: JsonObject | None = None, *, checkpointer: BaseCheckpointSaver[Any] | None = None
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return the compiled graph: ``graph.invoke({"seed": 7}, context={"agents_map": agents})``.

    ``config`` applies to states without a configuration. LangGraph writes its input into the first checkpoint, so the
    agents are passed in the context; the nodes find them in the state, and no checkpoint contains them. To resume from
    a checkpoint, invoke with ``None`` and the context in the same thread: the agents receive the events that they
    missed. Raises ``ConfigError``, also if LangGraph is not installed.
    """
    try:
        from langgraph.channels import UntrackedValue
        from langgraph.graph import END, START, StateGraph
        from langgraph.runtime import get_runtime
    except ImportError as missing:
        raise ConfigError("langgraph", "is not installed: pip install 'league-agents[langgraph]'") from missing

    in_force = dict(config or {})
    limit = Settings.read(in_force).max_rounds

    def start(state: SharedState) -> dict[str, Any]:
        chosen = state.get("config") or in_force
        if Settings.read(chosen).max_rounds > limit:
            raise ConfigError("max_rounds", f"must be at most {limit}, which this graph was built for")
        return initialize_game({**state, "config": chosen})

    def with_agents(node: Callable[[SharedState], dict[str, Any]]) -> Callable[[SharedState], dict[str, Any]]:
        def run(state: SharedState) -> dict[str, Any]:
            context: Mapping[str, Any] = get_runtime().context or {}
            return node({**state, **context})

        return run

    fields: dict[str, Any] = dict.fromkeys(_STATE_KEYS, Any)
    fields["agents_map"] = Annotated[dict[str, Any], UntrackedValue(dict)]
    fields["outcome"] = Any
    make_type: Any = TypedDict
    context_type = make_type("UndercoverContext", {"agents_map": dict[str, Any]})
    graph: Any = StateGraph(make_type("UndercoverState", fields), context_schema=context_type)
    graph.add_node("initialize_game", with_agents(start))
    for node in (description_phase, voting_phase, check_win_condition, end_game):
        graph.add_node(node.__name__, with_agents(node))
    graph.add_edge(START, "initialize_game")
    graph.add_conditional_edges("initialize_game", next_node, list(_NODE_OF.values()))
    graph.add_edge("description_phase", "voting_phase")
    graph.add_edge("voting_phase", "check_win_condition")
    graph.add_conditional_edges("check_win_condition", next_node, ["description_phase", "end_game"])
    graph.add_edge("end_game", END)
    compiled: CompiledStateGraph[Any, Any, Any, Any] = graph.compile(checkpointer=checkpointer, name="undercover")
    return compiled.with_config({"recursion_limit": recursion_limit(limit)})


class _NodeTable:
    """The match and its agents while one node runs."""

    def __init__(self, shared: SharedState) -> None:
        self.state, past = replayed({key: shared[key] for key in _STATE_KEYS if key in shared})
        self._seq = len(past)
        self._agents: AgentsMap = shared.get("agents_map") or {}
        for player in self.state.deal.players:
            agent = self._agents.get(player.agent_id)
            if agent is None and self.state.winner is None:
                raise ConfigError("agents_map", f"has no agent for {player.agent_id}")
            # An agent that joins a match from a checkpoint receives the events that it missed.
            known = getattr(getattr(agent, "memory", None), "last_seq", None)
            if agent is not None and known is not None:
                _deliver({player.agent_id: agent}, past[known:])

    def changes(self) -> dict[str, Any]:
        """Return the state as a dict, without the agents."""
        return dump(self.state)

    def go(self, step: Step[GameState]) -> None:
        """Adopt the state of a step and deliver its events to the agents."""
        self.state = step.state
        events = tuple(evolve(event, seq=self._seq + number) for number, event in enumerate(step.events, 1))
        self._seq += len(events)
        _deliver(self._agents, events)

    def ask(self, player_id: int) -> None:
        """Ask one agent for one decision and apply it."""
        agent_id = self.state.deal.players[player_id - 1].agent_id
        agent = self._agents[agent_id]
        for _ in range(MOST_REFUSALS + 1):
            try:
                action = ask(agent, _GAME.view(self.state, agent_id), _GAME.legal(self.state, agent_id))
            except Exception:
                # User code may raise anything; the match continues without its answer.
                self.go(give_up(self.state, agent_id, ForfeitCause.ERROR))
                return
            try:
                step = take(self.state, agent_id, action)
            except IllegalAction as illegal:
                hear = getattr(agent, "refused", None)
                if hear is not None:
                    hear(illegal.code, illegal.message)
                continue
            self.go(step)
            return
        self.go(give_up(self.state, agent_id, ForfeitCause.INVALID))


def _deliver(agents: AgentsMap, events: Sequence[Event]) -> None:
    for event in events:
        for agent_id, agent in agents.items():
            if is_visible(event, agent_id):
                tell(agent, event)
