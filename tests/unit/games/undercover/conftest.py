"""A table at which a test sits down: it says who is undercover and then lets everybody speak and vote."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from league_agents.games.game import Action, Event, ForfeitCause, IllegalAction
from league_agents.games.undercover.game import Undercover
from league_agents.games.undercover.state import GameState, WordRole

GAME = Undercover()


class Table:
    """One match, agents ``a1``, ``a2``, … in seat order."""

    def __init__(self, players: int, undercover: tuple[int, ...], config: Mapping[str, Any]) -> None:
        self.ids = [f"a{seat}" for seat in range(1, players + 1)]
        full = {"lang": "en", "pair": ["wolf", "fox"], "num_undercover": len(undercover), **config}
        for self.seed in range(5000):
            self.state: GameState = GAME.setup(full, self.ids, self.seed)
            hidden = tuple(p.player_id for p in self.state.deal.players if p.role is WordRole.UNDERCOVER)
            if hidden == undercover:
                break
        else:
            raise AssertionError("no seed deals like this")
        self.events: list[Event] = list(GAME.opening(self.state))
        self.spoken = 0

    def word(self, seat: int) -> str:
        return self.state.deal.players[seat - 1].word

    def act(self, seat: int, kind: str, data: Mapping[str, Any], heard_by: list[str] | None = None) -> None:
        step = GAME.apply(self.state, f"a{seat}", Action(type=kind, data=data), heard_by)
        self.state = step.state
        self.events += step.events

    def say(self, seat: int, text: str | None = None, heard_by: list[int] | None = None) -> None:
        self.spoken += 1
        hearers = None if heard_by is None else [f"a{other}" for other in heard_by]
        self.act(seat, "describe", {"description": text or f"remark {self.spoken}"}, hearers)

    def say_all(self) -> None:
        """Everybody who owes a description makes one."""
        for seat in self.state.due:
            self.say(seat)

    def vote(self, seat: int, target: int | None, reason: str = "because") -> None:
        self.act(seat, "vote", {"vote_number": target, "reason": reason})

    def vote_all(self, votes: Mapping[int, int | None]) -> None:
        for seat, target in votes.items():
            self.vote(seat, target)

    def round(self, votes: Mapping[int, int | None]) -> None:
        """All speak, then these votes."""
        self.say_all()
        self.vote_all(votes)

    def forfeit(self, seat: int, cause: ForfeitCause = ForfeitCause.TIMEOUT) -> None:
        step = GAME.forfeit(self.state, f"a{seat}", cause)
        self.state = step.state
        self.events += step.events

    def view(self, seat: int) -> dict[str, Any]:
        return GAME.view(self.state, f"a{seat}")

    def refusal(self, seat: int | str, kind: str, data: Any, version: str = "1.0.0") -> IllegalAction:
        """What such an action is refused with; the state must be untouched by it."""
        before, agent = GAME.dump(self.state), seat if isinstance(seat, str) else f"a{seat}"
        with pytest.raises(IllegalAction) as caught:
            GAME.apply(self.state, agent, Action(type=kind, data=data, version=version))
        assert GAME.dump(self.state) == before
        return caught.value

    def last(self, kind: str) -> Event:
        return [event for event in self.events if event.kind == kind][-1]


@pytest.fixture
def table() -> Callable[..., Table]:
    def sit_down(players: int = 4, undercover: tuple[int, ...] = (3,), **config: Any) -> Table:
        return Table(players, undercover, config)

    return sit_down
