"""A match: one game state and one interaction protocol (arena 4.5).

Rule 1: only ``act`` and ``forfeit`` change a match, and neither does when it raises ``IllegalAction``.
Rule 2: it is pure: no clock, no I/O. The same actions and forfeits in the same order give the same events.
Rule 3: agents see only the game's views and events. The protocol's log is for the host: it holds every message in full,
private reasoning included.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

from league_agents.games.game import (
    ALL,
    HOST,
    SPECTATOR,
    Action,
    Event,
    ForfeitCause,
    Game,
    IllegalAction,
    JsonObject,
    LegalAction,
    Outcome,
    Progress,
    Step,
    is_visible,
)
from league_agents.kit.errors import LocalProtocolError
from league_agents.kit.values import evolve
from league_agents.kit.violation import shown
from league_agents.turns.base import InteractionProtocol
from league_agents.turns.fit import default_protocol, fit, limit_warnings
from league_agents.turns.own_turns import taking_turns

S = TypeVar("S")

PROTOCOL_STOP = "protocol_stop"
"""The reason of an outcome, and the kind of the event, when the protocol stops before the game is over."""

_PHASE_OVER = "phase_over"
"""The cause of turns that are skipped because the game no longer needs them."""


class Match(Generic[S]):
    """A match from its first state to its outcome."""

    def __init__(
        self,
        game: Game[S],
        *,
        config: JsonObject,
        agent_ids: Sequence[str],
        seed: int,
        protocol: InteractionProtocol | None = None,
    ) -> None:
        """``protocol``: any object with the five methods; ``None`` is the game's default.

        Raises ``ConfigError``; ``ProtocolError`` for a protocol that fails, as do ``act`` and ``forfeit``.
        """
        self.game = game
        self.agent_ids = tuple(agent_ids)
        self.seed = seed
        state = game.setup(config, self.agent_ids, seed)
        self.protocol = (
            default_protocol(game, self.agent_ids, config)
            if protocol is None
            else taking_turns(protocol, self.agent_ids)
        )
        self.config: JsonObject = fit(game, self.agent_ids, config, self.protocol)
        """The given configuration, with the keys that the protocol decides."""

        if self.config != config:
            state = game.setup(self.config, self.agent_ids, seed)
        self.state = state
        self.warnings: tuple[str, ...] = limit_warnings(game, self.config, self.protocol)
        """Descriptions of unusual but allowed settings."""

        self._events: list[Event] = []
        self._active: tuple[str, ...] = ()
        self._outcome: Outcome | None = None
        self._forfeited: set[str] = set()
        """Agents that forfeited their last decision."""

        self._number(game.opening(state))
        self._number(self._go_on())

    @property
    def events(self) -> Sequence[Event]:
        """Return all events so far, numbered from 1."""
        return tuple(self._events)

    @property
    def is_over(self) -> bool:
        """Whether the match has an outcome."""
        return self._outcome is not None

    def active(self) -> tuple[str, ...]:
        """Return the agents that may act now; none when the match is over."""
        return self._active

    def outcome(self) -> Outcome | None:
        """Return how the match ended; ``None`` while it runs."""
        return self._outcome

    def act(self, agent: str, action: Action) -> tuple[Event, ...]:
        """Apply an agent's action and return the new events. Raises ``IllegalAction`` and then changes nothing."""
        self._check_active(agent)
        _check_form(action)
        game = self.game
        if action.version != game.version and _major(action.version) != _major(game.version):
            raise IllegalAction(
                "unsupported_game_version", f"the game's version is {game.version}", {"supported": [game.version]}
            )
        if action.type not in game.action_schemas:
            known = sorted(game.action_schemas)
            raise IllegalAction(
                "unknown_action",
                f"{shown(action.type)} is no action of {game.code}: {', '.join(known)}",
                {"known": known},
            )
        protocol = self.protocol
        mode = game.phase_mode(self.state)
        if not protocol.takes(mode):
            return self._take(game.apply(self.state, agent, action))
        heard_by = None if protocol.is_public(agent) else tuple(protocol.get_listeners(agent))
        step = game.apply(self.state, agent, action, heard_by)
        protocol.say(agent, action.data, {"type": action.type})
        protocol.advance()
        return self._take(step)

    def forfeit(self, agent: str, cause: ForfeitCause) -> tuple[Event, ...]:
        """Go on without the action that an active agent owes; return the new events. Raises ``IllegalAction``."""
        self._check_active(agent)
        is_taken = self.protocol.takes(self.game.phase_mode(self.state))
        step = self.game.forfeit(self.state, agent, cause)
        if is_taken:
            self.protocol.skip(agent, cause.value)
        self._forfeited.add(agent)
        return self._take(step)

    def legal(self, agent: str) -> tuple[LegalAction, ...]:
        """Return the actions that an agent may take now; none unless it is active."""
        return self.game.legal(self.state, agent) if agent in self._active else ()

    def view(self, viewer: str) -> dict[str, Any]:
        """Return the view of an agent, ``SPECTATOR`` (or ``spectator-…``) or ``HOST``."""
        return self.game.view(self.state, self._viewer(viewer))

    def info(self, viewer: str) -> Progress:
        """Return the progress of the match for a viewer."""
        viewer = self._viewer(viewer)
        found = self.game.info(self.state, viewer)
        if self._outcome is not None:
            stage = "done" if viewer in self.agent_ids else found.stage
            return evolve(found, status="ended", stage=stage, active_agent_ids=())
        # The game wants an action from every pending agent; the protocol decides which of them has the turn.
        is_waiting = viewer in self.agent_ids and viewer not in self._active and found.stage != "watch"
        return evolve(found, stage="wait" if is_waiting else found.stage, active_agent_ids=self._active)

    def events_for(self, viewer: str, after: int = 0) -> tuple[Event, ...]:
        """Return the events that a viewer may see, with numbers above ``after``."""
        viewer = self._viewer(viewer)
        later = self._events[max(after, 0) :]
        return tuple([event for event in later if is_visible(event, viewer)])

    def _check_active(self, agent: str) -> None:
        if agent in self._active:
            return
        if self._outcome is not None:
            raise IllegalAction("match_over", "the match is over")
        if agent in self._forfeited:
            raise IllegalAction("too_late", "the decision was forfeited before the action came")
        raise IllegalAction("not_pending", f"no action of {shown(agent)} is due now")

    def _take(self, step: Step[S]) -> tuple[Event, ...]:
        self.state = step.state
        before = len(self._events)
        self._number(step.events)
        self._number(self._go_on())
        return tuple(self._events[before:])

    def _number(self, events: Sequence[Event]) -> None:
        for event in events:
            self._events.append(evolve(event, seq=len(self._events) + 1))

    def _go_on(self) -> tuple[Event, ...]:
        """Determine the active agents; return the final event if the protocol stops the match."""
        self._active = ()
        self._outcome = self.game.outcome(self.state)
        if self._outcome is not None:
            return ()
        if not self.protocol.should_stop():
            pending = self.game.pending(self.state)
            if not self.protocol.takes(self.game.phase_mode(self.state)):
                self._active = pending
            else:
                self._active = self._speakers(pending)
            self._forfeited.difference_update(self._active)
        if self._active:
            return ()
        self._outcome = Outcome(
            winners=(),
            scores=dict.fromkeys(self.agent_ids, 0.0),
            reason=PROTOCOL_STOP,
            metrics={"protocol_rounds": self.protocol.current_round, "messages": self.protocol.message_count},
        )
        text = "The protocol's stop condition is met: the match ends here."
        return (Event(kind=PROTOCOL_STOP, visible_to=ALL, text=text),)

    def _speakers(self, pending: tuple[str, ...]) -> tuple[str, ...]:
        """Return the agents that owe an action and may speak; open a round of the protocol if a phase begins.

        Empty if the protocol stops meanwhile.
        """
        protocol = self.protocol
        if protocol.is_round_over() or not set(pending).issubset(protocol.remaining()):
            if protocol.remaining() != protocol.members():
                self._close_round()
            protocol.restrict(pending)
            if protocol.is_round_over():
                protocol.advance()
        while speakers := protocol.pending_speakers():
            found = tuple([agent for agent in speakers if agent in pending])
            if found:
                return found
            protocol.skip(speakers[0], _PHASE_OVER)
        if not protocol.should_stop():
            raise LocalProtocolError(f"{protocol.type} lets none of those speak who owe an action")
        return ()

    def _close_round(self) -> None:
        while speakers := self.protocol.pending_speakers():
            self.protocol.skip(speakers[0], _PHASE_OVER)

    def _viewer(self, viewer: str) -> str:
        if viewer in self.agent_ids or viewer in (HOST, SPECTATOR):
            return viewer
        if viewer.startswith("spectator-"):
            return SPECTATOR
        raise IllegalAction("not_in_match", f"{shown(viewer)} takes no part in this match")


def _check_form(action: Action) -> None:
    """Check the types that games rely on: a file or a program may send any. Raises ``IllegalAction``."""
    if isinstance(action.data, Mapping) and isinstance(action.type, str) and isinstance(action.version, str):
        return
    wrong = [
        {"path": f"/{name}", "code": "wrong_type", "message": f"must be {kind}"}
        for name, kind, is_right in (
            ("data", "an object", isinstance(action.data, Mapping)),
            ("type", "a text", isinstance(action.type, str)),
            ("version", "a text", isinstance(action.version, str)),
        )
        if not is_right
    ]
    if wrong:
        raise IllegalAction("invalid_data", f"{wrong[0]['path']} {wrong[0]['message']}", {"errors": wrong})


def _major(version: str) -> str:
    return version.partition(".")[0]
