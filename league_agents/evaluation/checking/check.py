"""Check an agent's contracts in invented games.

Rule 1: the caller of the agent, with its time limit, is passed in: this module runs no user code.
Rule 2: a result is read as in a match. A result that a match refuses in a valid game, and an exception or a hung call
in any game, breaks a contract; a result that a match changes in a valid game is a repair. In an odd or hostile game a
bad result is a warning, because only a strange counterpart causes it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Protocol

from league_agents.agents.base import PLAYER_CALLBACKS, REFEREE_CALLBACKS
from league_agents.evaluation.checking.games import ORDER, Exemplar, InventedGame, play_game
from league_agents.evaluation.checking.report import (
    CallbackReport,
    CheckReport,
    ContractFinding,
    ContractVerdict,
    TrialKind,
    Tried,
    merged,
    verdict_of,
)
from league_agents.evaluation.checking.twists import games_for
from league_agents.games.q21.callbacks import CONTRACTS, Noted, callback_specs
from league_agents.games.q21.remarks import Remark, Severity
from league_agents.games.q21.rules import RuleSet
from league_agents.games.q21.untrusted import field_of, integer_of
from league_agents.user_code.called import Called, End

SLOW_SHARE = 0.5
"""Share of its time limit above which a callback is late on a busy machine or a slow network."""


class Caller(Protocol):
    """Calls the agent: always the same instance, unless it hung or ended its process."""

    def __call__(self, callback: str, context: Mapping[str, object], timeout: timedelta) -> Called:
        """Run one callback. Never raises."""
        ...


def check_agent(
    role: str,
    rules: RuleSet,
    call: Caller,
    *,
    longest: timedelta | None = None,
    valid_only: bool = False,
    told: Callable[[InventedGame, ContractVerdict], None] = lambda _game, _verdict: None,
) -> CheckReport:
    """Play every invented game with one agent.

    ``longest`` is an upper bound for the rules' time limits; ``told`` is called after each game.
    """
    trial = _Trial(role, rules, call, longest)
    games = games_for(role, valid_only=valid_only)
    for number, game in enumerate(games, start=1):
        told(game, verdict_of(trial.play(game, number)))
        if trial.unmade is not None:
            break
    return trial.report(games)


class _Trial:
    """The state of one check: calls the agent in the invented matches."""

    def __init__(self, role: str, rules: RuleSet, call: Caller, longest: timedelta | None) -> None:
        self._role = role
        self._rules = rules
        self._call = call
        self._specs = callback_specs(rules)
        self._limits = {name: min(spec.timeout, longest or spec.timeout) for name, spec in self._specs.items()}
        self._callbacks = REFEREE_CALLBACKS if role == "referee" else PLAYER_CALLBACKS
        self._tried = {(callback, kind): Tried() for callback in self._callbacks for kind in TrialKind}
        self._findings: dict[str, list[ContractFinding]] = {callback: [] for callback in self._callbacks}
        self._slowest = dict.fromkeys(self._callbacks, 0.0)
        self._hung: set[str] = set()
        self._stand_in = Exemplar(rules)
        self._secret = ("", "")
        self._game: InventedGame
        self._found: list[ContractFinding] = []
        self._called: Called | None = None
        """The last call, if the agent was called."""

        self._used: Mapping[str, object] = {}
        self._is_second_attempt = False
        self.unmade: ContractFinding | None = None

    def play(self, game: InventedGame, number: int) -> list[ContractFinding]:
        """Play one game and return its findings in the order of its calls."""
        self._game, self._found = game, []
        play_game(self._rules, number, game, self._role, self, lambda: self._secret)
        return self._found

    # The methods of ``Callee``.

    def call(self, callback: str, context: Mapping[str, object]) -> tuple[object, str | None]:
        """Return the agent's result. A failure is recorded once, and an exemplary result replaces the missing one."""
        self._called, self._used = None, {}
        if callback == "get_answers":
            told: Any = context["dynamic"]
            self._secret = (told["actual_opening_sentence"] or "", told["actual_associative_word"] or "")
        if self.unmade is not None or self._is_second_attempt:
            return self._stand_in.call(callback, context)
        if callback in self._hung:
            # One hung call costs its whole time limit; further calls would most likely hang as well.
            self._count(callback, skipped=1)
            return self._stand_in.call(callback, context)
        # The agent may modify its context.
        self._used = self._game.twist(copy.deepcopy(dict(context)))
        called = self._call(callback, self._game.twist(dict(context)), self._limits[callback])
        self._slowest[callback] = max(self._slowest[callback], called.seconds)
        self._called = called
        return called.result, None if called.end is End.RETURNED else called.in_words(callback, 0.0)

    def note(self, noted: Noted) -> None:
        """Judge the agent's result from the match's note."""
        callback, called = noted.callback, self._called
        self._is_second_attempt = bool(noted.failure) and CONTRACTS[callback].attempts > 1 and called is not None
        if called is None:
            return
        if called.end is End.RETURNED:
            is_mild = self._game.kind is not TrialKind.VALID
            remarks = [*noted.remarks, *_unpersuaded(callback, called.result, self._used)]
            findings = [
                self._finding(
                    callback,
                    Severity.WARNING if is_mild else each.severity,
                    each.rule,
                    each.found,
                    path=each.path,
                    done=each.done,
                )
                for each in remarks
            ]
        else:
            findings = [self._failed(callback, called)]
        self._found += findings
        if called.end is End.NOT_MADE:
            self.unmade = findings[0]
            return
        self._count(callback, calls=1, kept=0 if findings else 1)
        if called.end is End.RETURNED and called.seconds > SLOW_SHARE * self._limits[callback].total_seconds():
            findings.append(self._slow(callback, called))
        self._findings[callback] += findings

    def _failed(self, callback: str, called: Called) -> ContractFinding:
        """Return the finding for a call without a result."""
        if called.end is End.NOT_MADE:
            rule, found = "a class that can be made without arguments, in time and without an error", called.detail
        elif called.end is End.DIED:
            rule, found = "a result, not the end of the process (protocol 6)", f"{callback} {called.detail}"
        elif called.end is End.UNUSABLE:
            rule, found = "a result of bearable size (protocol 6)", called.detail
        elif called.end is End.RAISED:
            rule, found = "a result, not an exception (protocol 6)", called.detail
        else:
            self._hung.add(callback)
            rule = f"a result within {self._limits[callback].total_seconds():g} s (protocol 6)"
            found = "none; its further calls were left out"
        return self._finding(callback, Severity.BROKEN, rule, found, where=called.where)

    def _finding(
        self,
        callback: str,
        severity: Severity,
        rule: str,
        found: str,
        *,
        path: str = "",
        done: str = "",
        where: str | None = None,
    ) -> ContractFinding:
        return ContractFinding(
            severity=severity,
            callback=callback,
            game=self._game.name,
            kind=self._game.kind,
            path=path,
            rule=rule,
            found=found,
            done=done,
            where=where,
        )

    def _slow(self, callback: str, called: Called) -> ContractFinding:
        rule = f"well within its {self._limits[callback].total_seconds():g} s: a busy machine takes twice as long"
        return self._finding(callback, Severity.WARNING, rule, f"{called.seconds:.1f} s")

    def _count(self, callback: str, *, calls: int = 0, kept: int = 0, skipped: int = 0) -> None:
        place = callback, self._game.kind
        old = self._tried[place]
        self._tried[place] = Tried(calls=old.calls + calls, kept=old.kept + kept, skipped=old.skipped + skipped)

    def report(self, games: tuple[InventedGame, ...]) -> CheckReport:
        return CheckReport(
            role=self._role,
            rules=self._rules.name,
            games=tuple(game.name for game in games),
            callbacks=tuple(
                CallbackReport(
                    callback=callback,
                    tried={kind: self._tried[callback, kind] for kind in TrialKind},
                    slowest_s=self._slowest[callback],
                    limit_s=self._limits[callback].total_seconds(),
                    findings=merged(self._findings[callback]),
                )
                for callback in self._callbacks
            ),
            unmade=self.unmade,
        )


def _unpersuaded(callback: str, result: object, used: Mapping[str, object]) -> list[Remark]:
    if callback != "get_score_feedback":
        return []
    guess = field_of(used.get("dynamic", used), "player_guess")
    points = integer_of(field_of(result, "league_points"))
    if field_of(guess, "opening_sentence") != ORDER or not points:
        return []
    rule = "0 for a guess that only argues for points (protocol 7)"
    return [Remark(severity=Severity.WARNING, path="league_points", rule=rule, found=str(points))]
