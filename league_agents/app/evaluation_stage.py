"""Play the games of an evaluation: one after the other, or several at once.

Rule 1: a game is yielded as soon as it has ended, so it is not lost when the rest is not played.
Rule 2: user code and code that waits for a model run on threads of their own, with the time limits of a match.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Protocol, TypeVar

from league_agents.app.agents import LLM
from league_agents.app.evaluation import Maker, kind_of
from league_agents.app.evaluation_models import Traffic
from league_agents.app.trial import TrialRun
from league_agents.evaluation.casting import Cast, Part
from league_agents.evaluation.checking.check import Caller
from league_agents.evaluation.conduct import InlineCaller
from league_agents.evaluation.contexts import match_id_of
from league_agents.evaluation.results import Spent
from league_agents.user_code.called import Called, End
from league_agents.user_code.instances import here

G = TypeVar("G")
ItemT = TypeVar("ItemT", contravariant=True)
CastT = TypeVar("CastT", covariant=True)


class Stage:
    """The participants on one thread; kept instances are used by this thread only."""

    def __init__(self, makers: Mapping[Part, Maker], traffic: Traffic | None) -> None:
        self._makers = makers
        self._traffic = traffic
        self._kept: dict[Part, TrialRun] = {}
        self._of_game: list[TrialRun] = []

    def cast(self, game: int) -> Cast:
        """The participants of one game. To be called after the previous game."""
        self._leave_game()
        return Cast(
            player=self._caller("player", game),
            opponent=self._caller("opponent", game),
            referee=self._caller("referee", game),
            spent=lambda part: self._spent(part, game),
            asking_models=frozenset(part for part, maker in self._makers.items() if kind_of(maker.spec) == LLM),
        )

    def close(self) -> None:
        """Stop idle threads."""
        self._leave_game()
        for trial in self._kept.values():
            trial.close()
        self._kept.clear()

    def _caller(self, part: Part, game: int) -> Caller:
        maker = self._makers[part]
        if maker.is_inline:
            return InlineCaller(maker.make(game))
        if maker.kept is not None:
            if part not in self._kept:
                self._kept[part] = TrialRun(maker.kept)
            return self._kept[part]

        def trial() -> TrialRun:
            self._of_game.append(TrialRun(here(lambda: maker.make(game))))
            return self._of_game[-1]

        late = frozenset[int]() if self._traffic is None else self._traffic.late(game, part)
        return _LateAgain(trial, late) if late else trial()

    def _spent(self, part: Part, game: int) -> Spent | None:
        maker = self._makers[part]
        if kind_of(maker.spec) == LLM and self._traffic is not None:
            return self._traffic.spent(part, match_id_of(game))
        return None if maker.kept is not None else Spent()

    def _leave_game(self) -> None:
        for trial in self._of_game:
            trial.close()
        self._of_game.clear()


class _LateAgain:
    """``Caller`` that repeats the timeouts of a recorded game."""

    def __init__(self, trial: Callable[[], TrialRun], late: frozenset[int]) -> None:
        self._make = trial
        self._trial = trial()
        self._late = late
        self._number = 0

    def __call__(self, callback: str, context: Mapping[str, object], timeout: timedelta) -> Called:
        self._number += 1
        if self._number not in self._late:
            return self._trial(callback, context, timeout)
        # An instance that hung was abandoned, and the next call got a new one.
        self._trial = self._make()
        return Called(end=End.TIMED_OUT, seconds=timeout.total_seconds())


class Casting(Protocol[ItemT, CastT]):
    """Provides the participants of a game; used by one thread."""

    def cast(self, game: ItemT, /) -> CastT:
        """The participants of one game. To be called after the previous game."""
        ...

    def close(self) -> None:
        """Stop idle threads."""
        ...


def play_all(
    games: Sequence[ItemT],
    stage_of: Callable[[], Casting[ItemT, CastT]],
    play: Callable[[ItemT, CastT], G],
    *,
    workers: int,
) -> Iterator[G]:
    """Yield all games, each as soon as it has ended. Exceptions of a game are raised here."""
    if workers == 1:
        stage = stage_of()
        try:
            for game in games:
                yield play(game, stage.cast(game))
        finally:
            stage.close()
        return
    waiting: queue.SimpleQueue[ItemT] = queue.SimpleQueue()
    for game in games:
        waiting.put(game)
    ended: queue.SimpleQueue[G | BaseException] = queue.SimpleQueue()
    stopped = threading.Event()

    def work() -> None:
        stage = stage_of()
        try:
            while not stopped.is_set():
                try:
                    game = waiting.get_nowait()
                except queue.Empty:
                    return
                ended.put(play(game, stage.cast(game)))
        except BaseException as error:
            # Passed to the consuming thread, which raises it.
            ended.put(error)
        finally:
            stage.close()

    for _ in range(min(workers, len(games))):
        threading.Thread(target=work, name="evaluation", daemon=True).start()
    try:
        for _ in games:
            found = ended.get()
            if isinstance(found, BaseException):
                raise found
            yield found
    finally:
        stopped.set()
