"""Trying an agent out.

Rule 1: who calls the agent, with which time limit, is handed in: here nothing runs user code.
Rule 2: a result is read as a match reads it. What a match refuses in a valid game, and an exception or a hung call in
any, breaks a contract; what a match changes in a valid game is a repair. In an odd or hostile game a bad result is a
warning: only a strange counterpart brings it about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Protocol

from league_agents.agents.base import PLAYER_CALLBACKS, REFEREE_CALLBACKS
from league_agents.evaluation.checking.games import Game, Side, side_of
from league_agents.evaluation.checking.report import (
    CallbackReport,
    CheckReport,
    Finding,
    Kind,
    Tried,
    Verdict,
    merged,
    verdict_of,
)
from league_agents.evaluation.checking.twists import games_for
from league_agents.games.q21.contracts import callback_specs
from league_agents.games.q21.remarks import Severity
from league_agents.games.q21.rules import RuleSet
from league_agents.user_code.called import Called, End

SLOW_SHARE = 0.5
"""Of its time limit. Above it a busy machine or a slow network makes the callback late."""


class Caller(Protocol):
    """Who calls the agent: always the same instance, unless it hung or ended its process."""

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
    told: Callable[[Game, Verdict], None] = lambda _game, _verdict: None,
) -> CheckReport:
    """Play every invented game with one agent.

    ``longest`` shortens the rules' time limits; ``told`` is called after each game.
    """
    trial = _Trial(role, rules, call, longest)
    games = games_for(role, valid_only=valid_only)
    for number, game in enumerate(games, start=1):
        told(game, verdict_of(trial.play(game, number)))
        if trial.unmade is not None:
            break
    return trial.report(games)


class _Trial:
    """The state of one check."""

    def __init__(self, role: str, rules: RuleSet, call: Caller, longest: timedelta | None) -> None:
        self._role = role
        self._rules = rules
        self._call = call
        self._specs = callback_specs(rules)
        self._limits = {name: min(spec.timeout, longest or spec.timeout) for name, spec in self._specs.items()}
        self._callbacks = REFEREE_CALLBACKS if role == "referee" else PLAYER_CALLBACKS
        self._tried = {(callback, kind): Tried() for callback in self._callbacks for kind in Kind}
        self._findings: dict[str, list[Finding]] = {callback: [] for callback in self._callbacks}
        self._slowest = dict.fromkeys(self._callbacks, 0.0)
        self._hung: set[str] = set()
        self.unmade: Finding | None = None

    def play(self, game: Game, number: int) -> list[Finding]:
        """One game, in the order of its calls."""
        side = side_of(self._role, self._rules, game, number)
        found: list[Finding] = []
        for callback, seat in side.calls:
            if self.unmade is None:
                found += self._one(side, game, callback, seat)
        return found

    def _one(self, side: Side, game: Game, callback: str, seat: str) -> list[Finding]:
        if callback in self._hung:
            # One hung call costs its whole time limit; the others would most likely hang as well.
            self._count(callback, game.kind, skipped=1)
            return []
        used = game.twist(side.context(callback, seat))
        called = self._call(callback, used, self._limits[callback])
        self._slowest[callback] = max(self._slowest[callback], called.seconds)
        # The context once more: the agent may have changed the one that it was given.
        findings = self._judge(side, game, callback, called, game.twist(side.context(callback, seat)))
        if called.end is End.NOT_MADE:
            self.unmade = findings[0]
            return findings
        if called.end is End.RETURNED:
            side.remember(callback, called.result)
        self._count(callback, game.kind, calls=1, kept=0 if findings else 1)
        if called.end is End.RETURNED and called.seconds > SLOW_SHARE * self._limits[callback].total_seconds():
            findings.append(self._slow(game, callback, called))
        self._findings[callback] += findings
        return findings

    def _judge(
        self, side: Side, game: Game, callback: str, called: Called, used: Mapping[str, object]
    ) -> list[Finding]:
        def finding(severity: Severity, path: str, rule: str, found: str, done: str = "") -> Finding:
            return Finding(
                severity=severity,
                callback=callback,
                game=game.name,
                kind=game.kind,
                path=path,
                rule=rule,
                found=found,
                done=done,
                where=called.where,
            )

        match called.end:
            case End.NOT_MADE:
                return [finding(Severity.BROKEN, "", "a class that can be made without arguments", called.detail)]
            case End.DIED:
                found = called.in_words(callback, 0.0)
                return [finding(Severity.BROKEN, "", "a result, not the end of the process (protocol 6)", found)]
            case End.RAISED:
                return [finding(Severity.BROKEN, "", "a result, not an exception (protocol 6)", called.detail)]
            case End.TIMED_OUT:
                self._hung.add(callback)
                rule = f"a result within {self._limits[callback].total_seconds():g} s (protocol 6)"
                return [finding(Severity.BROKEN, "", rule, "none; its further calls were left out")]
        is_mild = game.kind is not Kind.VALID
        return [
            finding(Severity.WARNING if is_mild else each.severity, each.path, each.rule, each.found, each.done)
            for each in side.check(callback, called.result, used)
        ]

    def _slow(self, game: Game, callback: str, called: Called) -> Finding:
        limit_s = self._limits[callback].total_seconds()
        return Finding(
            severity=Severity.WARNING,
            callback=callback,
            game=game.name,
            kind=game.kind,
            path="",
            rule=f"well within its {limit_s:g} s: a busy machine takes twice as long",
            found=f"{called.seconds:.1f} s",
        )

    def _count(self, callback: str, kind: Kind, *, calls: int = 0, kept: int = 0, skipped: int = 0) -> None:
        old = self._tried[callback, kind]
        self._tried[callback, kind] = Tried(
            calls=old.calls + calls, kept=old.kept + kept, skipped=old.skipped + skipped
        )

    def report(self, games: tuple[Game, ...]) -> CheckReport:
        return CheckReport(
            role=self._role,
            rules=self._rules.name,
            games=tuple(game.name for game in games),
            callbacks=tuple(
                CallbackReport(
                    callback=callback,
                    promise=self._specs[callback].description.partition(": ")[2],
                    tried={kind: self._tried[callback, kind] for kind in Kind},
                    slowest_s=self._slowest[callback],
                    limit_s=self._limits[callback].total_seconds(),
                    findings=merged(self._findings[callback]),
                )
                for callback in self._callbacks
            ),
            unmade=self.unmade,
        )
