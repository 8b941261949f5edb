"""Hard limits on the use of language models: per agent and game, per day, per season.

Rule 1: a call is made only if the most that it can use still fits. The unused part is returned afterwards; a call of
unknown use keeps the whole amount.
Rule 2: the needs of the remaining callbacks of running games are reserved first. A game begins only if all its needs
fit beside those reserves, so a new game never takes from a running one.
Rule 3: every decision is one transaction in one place, so the limits hold for all processes that share it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from league_agents.journal.database import Database
from league_agents.kit.clock import Clock
from league_agents.kit.errors import JournalError, ModelUnavailable
from league_agents.llm.exchange import OverBudget
from league_agents.llm.ledger import CallPlace, FilePlace
from league_agents.llm.limits import Amount, Hold, Planned, SpendingLimits
from league_agents.llm.port import Purpose
from league_agents.llm.prices import NANO

RESERVED_FOR = timedelta(hours=1)
"""Time after which the reserve of a silent game is released: its last callback may never have come."""


class Budget:
    """``Spending`` of one process, in a file or a database that all processes share."""

    def __init__(
        self, place: Path | CallPlace, limits: SpendingLimits, plan: Mapping[str, Planned], *, clock: Clock
    ) -> None:
        """``plan`` gives the possible needs of each callback of a game, in the order of the callbacks."""
        self._place = FilePlace(place) if isinstance(place, Path) else place
        self._limits = limits
        self._plan = tuple(plan.values())
        self._places = {callback: place for place, callback in enumerate(plan)}
        self._clock = clock

    def hold(self, purpose: Purpose, most: Amount, *, league: str, scope: str, is_repeated: bool = False) -> Hold:
        now = self._clock.now().astimezone(UTC)
        game = f"{scope} {purpose.match_id}" if purpose.match_id else ""
        season = f"{league} {purpose.season_id or purpose.match_id[:2]}"
        place = self._places.get(purpose.callback) if game else None
        try:
            with self._place.opened(alone=True) as db:
                table = _BudgetView(db, self._limits, game=game, season=season, now=now)
                table.forget_silent_games()
                if place is not None:
                    stage = self._plan[place].stage
                    if not table.has_begun():
                        table.begin({each: plan for each, plan in enumerate(self._plan) if plan.stage >= stage})
                    table.advance(stage)
                table.check(most, beside_place=place)
                return Hold(
                    row=table.spend(most),
                    game=game,
                    place=place,
                    taken=Amount() if place is None else table.take(place, most, is_awaited=not is_repeated),
                    is_awaited=not is_repeated,
                )
        except JournalError as error:
            raise ModelUnavailable(f"nothing is spent while nobody can count it: {error}") from None

    def settle(self, hold: Hold, used: Amount) -> None:
        with self._place.opened(alone=True) as db:
            db.run(
                "UPDATE spending SET nano_usd = ?, tokens = ?, calls = ? WHERE seq = ?",
                (used.nano_usd, used.tokens, used.calls, hold.row),
            )
            if hold.place is None:
                return
            # A repeated request of a callback may use the remainder of the first one.
            is_still_awaited = hold.is_awaited and not used.calls
            db.run(
                "UPDATE reserved SET nano_usd = nano_usd + ?, tokens = tokens + ?, calls = calls + ?,"
                " awaited = awaited + ? WHERE game = ? AND place = ?",
                (*_rest(hold.taken, used), int(is_still_awaited), hold.game, hold.place),
            )
            # No paid call follows the last callback, so the remaining reserve is released for other games.
            db.run(
                "DELETE FROM reserved WHERE game = ?"
                " AND EXISTS (SELECT 1 FROM reserved WHERE game = ? AND place = ? AND awaited <= 0)",
                (hold.game, hold.game, len(self._plan) - 1),
            )


class _BudgetView:
    """The budget within one transaction, from the view of one game."""

    def __init__(self, db: Database, limits: SpendingLimits, *, game: str, season: str, now: datetime) -> None:
        self._db = db
        self._limits = limits
        self._game = game
        self._season = season
        self._now = now
        self._day = f"{now:%Y-%m-%d}"

    def forget_silent_games(self) -> None:
        self._db.run("DELETE FROM reserved WHERE touched_at < ?", (_text(self._now - RESERVED_FOR),))

    def has_begun(self) -> bool:
        row = self._db.run("SELECT 1 FROM reserved WHERE game = ? LIMIT 1", (self._game,)).fetchone()
        return row is not None

    def begin(self, plan: Mapping[int, Planned]) -> None:
        """Reserve the needs of all remaining callbacks. Raises ``OverBudget`` if they do not fit."""
        amounts = self._within_game_limit(plan)
        for measure, what in enumerate(_MEASURES):
            needed = sum(_values(amount)[measure] for amount in amounts.values())
            for name, limit, spent, reserved in self._periods(measure):
                if needed and spent + reserved + needed > limit:
                    raise OverBudget(
                        f"the limit of {_shown(what, limit)} {name} leaves no room for another game, which may need"
                        f" {_shown(what, needed)}; {_shown(what, spent)} are used and {_shown(what, reserved)} kept for"
                        " games that have begun"
                    )
        self._db.run_many(
            "INSERT INTO reserved (game, place, stage, season, touched_at, awaited, nano_usd, tokens, calls)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    *(self._game, place, plan[place].stage, self._season, _text(self._now)),
                    *(plan[place].amount.calls, *_values(amount)),
                )
                for place, amount in amounts.items()
            ],
        )

    def _within_game_limit(self, plan: Mapping[int, Planned]) -> dict[int, Amount]:
        """Limit the reserves to the limit per game; if it is too low for all, the first callbacks take precedence."""
        left = list(self._limits.per_game.amounts())
        found = {}
        for place, planned in plan.items():
            values = list(_values(planned.amount))
            for measure, limit in enumerate(left):
                if limit is not None:
                    values[measure] = min(values[measure], limit)
                    left[measure] = limit - values[measure]
            found[place] = Amount(nano_usd=values[0], tokens=values[1], calls=values[2])
        return found

    def advance(self, stage: int) -> None:
        """Release the reserves of callbacks of earlier stages."""
        self._db.run("DELETE FROM reserved WHERE game = ? AND stage < ?", (self._game, stage))
        self._db.run("UPDATE reserved SET touched_at = ? WHERE game = ?", (_text(self._now), self._game))

    def check(self, most: Amount, *, beside_place: int | None) -> None:
        """Raises ``OverBudget`` if the amount does not fit beside the reserves of others."""
        for measure, what in enumerate(_MEASURES):
            needed = _values(most)[measure]
            for name, limit, spent, reserved in self._periods(measure, beside_place):
                if spent + reserved + needed > limit:
                    raise OverBudget(
                        f"the limit of {_shown(what, limit)} {name} forbids a call that may use {_shown(what, needed)};"
                        f" {_shown(what, spent)} are used and {_shown(what, reserved)} kept for what must still come"
                    )

    def spend(self, most: Amount) -> int:
        ((row,),) = self._db.run(
            "INSERT INTO spending (at, day, season, game, nano_usd, tokens, calls) VALUES (?, ?, ?, ?, ?, ?, ?)"
            " RETURNING seq",
            (_text(self._now), self._day, self._season, self._game, most.nano_usd, most.tokens, most.calls),
        ).fetchall()
        return int(row)

    def take(self, place: int, most: Amount, *, is_awaited: bool) -> Amount:
        """Take the call's part from its callback's reserve, and return that part."""
        row = self._db.run(
            "SELECT nano_usd, tokens, calls FROM reserved WHERE game = ? AND place = ?", (self._game, place)
        ).fetchone()
        if row is None:
            return Amount()
        nano_usd, tokens, calls = (min(has, needs) for has, needs in zip(row, _values(most), strict=True))
        self._db.run(
            "UPDATE reserved SET nano_usd = nano_usd - ?, tokens = tokens - ?, calls = calls - ?, awaited = awaited - ?"
            " WHERE game = ? AND place = ?",
            (nano_usd, tokens, calls, int(is_awaited), self._game, place),
        )
        return Amount(nano_usd=nano_usd, tokens=tokens, calls=calls)

    def _periods(self, measure: int, beside_place: int | None = None) -> list[tuple[str, int, int, int]]:
        """Return name, limit, amount spent and amount reserved for other calls of each period with a limit."""
        found: list[tuple[str, int, int, int]] = []
        for name, limit, column, value in (
            ("per game", self._limits.per_game, "game", self._game),
            ("per day", self._limits.per_day, "day", self._day),
            ("per season", self._limits.per_season, "season", self._season),
        ):
            most = limit.amounts()[measure]
            if most is None or (column == "game" and not value):
                continue
            # Games continue past midnight, so reserves count on every day.
            among, key = ("TRUE", ()) if column == "day" else (f"{column} = ?", (value,))
            unit = _MEASURES[measure]
            (spent,) = self._db.run(
                f"SELECT coalesce(sum({unit}), 0) FROM spending WHERE {column} = ?",  # noqa: S608 - our own names
                (value,),
            ).fetchone()
            (reserved,) = self._db.run(
                f"SELECT coalesce(sum({unit}), 0) FROM reserved WHERE {among} AND NOT (game = ? AND place = ?)",  # noqa: S608
                (*key, self._game, -1 if beside_place is None else beside_place),
            ).fetchone()
            found.append((name, most, int(spent), int(reserved)))
        return found


_MEASURES = ("nano_usd", "tokens", "calls")


def _values(amount: Amount) -> tuple[int, int, int]:
    return amount.nano_usd or 0, amount.tokens, amount.calls


def _rest(taken: Amount, used: Amount) -> tuple[int, int, int]:
    first, second, third = (max(0, had - needed) for had, needed in zip(_values(taken), _values(used), strict=True))
    return first, second, third


def _shown(measure: str, value: int) -> str:
    return f"${value / NANO:.6g}" if measure == "nano_usd" else f"{value} {measure}"


def _text(instant: datetime) -> str:
    return instant.isoformat(timespec="microseconds")
