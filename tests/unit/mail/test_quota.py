"""What Gmail charges, and who may still send when little is left."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from league_agents.kit.clock import ManualClock
from league_agents.kit.errors import ConfigError
from league_agents.mail.quota import (
    DAY,
    DEAREST,
    MATCH_MAILS,
    PRICES_BEFORE_2026,
    QuotaLedger,
    QuotaLimits,
    SendKind,
    kind_of,
)
from league_agents.mail.send_counts import CountsInMemory

NOON = datetime(2031, 5, 2, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def ledger(clock: ManualClock | None = None, **limits: int) -> QuotaLedger:
    defaults = {
        "units_kept_for_sending": 0,
        "sends_kept_for_running_games": 0,
        "sends_kept_from_new_games": 0,
    }
    return QuotaLedger(clock or ManualClock(NOON), limits=QuotaLimits(**{**defaults, **limits}))


def send(book: QuotaLedger, times: int) -> None:
    for _ in range(times):
        book.spend("messages.send")


def test_a_call_costs_what_the_table_of_2026_says() -> None:
    book = ledger()
    for method in ("getProfile", "history.list", "messages.list", "messages.get", "messages.modify"):
        book.spend(method)
    assert book.units_spent == 1 + 2 + 5 + 20 + 5
    assert book.units_in_last_minute() == book.units_spent


def test_a_method_in_no_table_is_taken_for_dear() -> None:
    assert ledger().price("settings.filters.create") == DEAREST


def test_older_projects_pay_less_for_reading() -> None:
    assert QuotaLedger(ManualClock(NOON), prices=PRICES_BEFORE_2026).price("messages.get") == 5


def test_no_minute_ever_holds_more_units_than_allowed() -> None:
    clock = ManualClock(NOON)
    book = ledger(clock, units_per_minute=300)
    spent: list[tuple[datetime, int]] = []
    for _ in range(100):
        clock.sleep(book.wait_for(100, is_send=True))
        book.spend("messages.send")
        spent.append((clock.now(), 100))
        clock.sleep(SECOND * 7)
    for at, _ in spent:
        assert sum(units for when, units in spent if at - timedelta(minutes=1) < when <= at) <= 300


def test_a_wait_ends_when_enough_units_are_a_minute_old() -> None:
    clock = ManualClock(NOON)
    book = ledger(clock, units_per_minute=250)
    send(book, 1)
    clock.sleep(SECOND * 30)
    send(book, 1)
    assert book.wait_for(50) == timedelta(0)
    assert book.wait_for(100) == SECOND * 31
    assert book.wait_for(200) == SECOND * 61


def test_more_than_a_minute_has_waits_for_an_empty_minute_and_not_for_ever() -> None:
    clock = ManualClock(NOON)
    book = ledger(clock, units_per_minute=250)
    assert book.wait_for(10_000) == timedelta(0)
    send(book, 1)
    assert book.wait_for(10_000) == SECOND * 61


def test_reading_leaves_units_for_sending() -> None:
    book = ledger(units_per_minute=1_000, units_kept_for_sending=400)
    send(book, 6)
    assert book.wait_for(20) > timedelta(0)
    assert book.wait_for(100, is_send=True) == timedelta(0)


@pytest.mark.parametrize(
    ("subject", "kind"),
    [
        ("Q21G.v1::REFEREE::r@x.test::t-1::Q21WARMUPCALL", SendKind.NEW_GAME),
        ("league.v2::REFEREE::r@x.test::t-1::Q21_WARMUP_CALL", SendKind.NEW_GAME),
        ("Q21G.v1::PLAYER::p@x.test::t-1::Q21WARMUPRESPONSE", SendKind.RUNNING_GAME),
        ("Q21G.v1::REFEREE::r@x.test::t-1::Q21SCOREFEEDBACK", SendKind.RUNNING_GAME),
        ("league.v2::REFEREE::r@x.test::t-1::MATCH_RESULT_REPORT", SendKind.RUNNING_GAME),
        ("league.v2::PLAYER::p@x.test::t-1::SEASONREGISTRATIONREQUEST", SendKind.SERVICE),
        ("hello", SendKind.SERVICE),
    ],
)
def test_a_subject_says_what_a_mail_is_for(subject: str, kind: SendKind) -> None:
    assert kind_of(subject) is kind


def test_the_last_sends_belong_to_the_games_that_have_begun() -> None:
    book = ledger(sends_per_day=10, sends_kept_for_running_games=2, sends_kept_from_new_games=5)
    allowed = []
    for _ in range(10):
        allowed.append({kind for kind in SendKind if book.resets_at(kind) is None})
        book.spend("messages.send")
    assert [len(kinds) for kinds in allowed] == [3] * 5 + [2] * 3 + [1] * 2
    assert allowed[-1] == {SendKind.RUNNING_GAME}
    assert not any(book.resets_at(kind) is None for kind in SendKind)
    assert book.sends_left() == 0


def test_a_day_is_the_last_24_hours() -> None:
    clock = ManualClock(NOON)
    book = ledger(clock, sends_per_day=2)
    send(book, 1)
    clock.sleep(timedelta(hours=5))
    send(book, 1)
    resets_at = book.resets_at(SendKind.RUNNING_GAME)
    assert resets_at is not None
    assert NOON + DAY <= resets_at <= NOON + DAY + timedelta(minutes=1)
    clock.advance_to(resets_at)
    assert book.resets_at(SendKind.RUNNING_GAME) is None
    assert book.sends_left() == 1


def test_an_account_whose_whole_budget_is_kept_can_still_send() -> None:
    book = ledger(sends_per_day=5, sends_kept_from_new_games=100)
    assert book.resets_at(SendKind.NEW_GAME) is None


def test_a_restart_forgets_nothing_that_counts() -> None:
    clock = ManualClock(NOON)
    limits = QuotaLimits(sends_per_day=5, units_per_minute=1_000, units_kept_for_sending=0)
    sends = CountsInMemory()
    book = QuotaLedger(clock, limits=limits, sends=sends)
    send(book, 4)
    book.refused("messages.send", no_sends_before=NOON + timedelta(minutes=15))
    state = json.loads(json.dumps(book.dump()))
    again = QuotaLedger(clock, limits=limits, sends=sends, state=state)
    assert again.units_in_last_minute() == 400
    assert again.resets_at(SendKind.RUNNING_GAME) == NOON + timedelta(minutes=15)
    clock.sleep(timedelta(minutes=15))
    assert again.sends_left() == 2


def test_what_gmail_refused_to_send_does_not_count_as_sent() -> None:
    book = ledger(sends_per_day=5)
    send(book, 2)
    book.refused("messages.send")
    assert book.sends_left() == 4
    assert book.refusals == {"messages.send": 1}


@pytest.mark.parametrize(
    "state",
    [
        {"seconds": "no", "minutes": None, "no_sends_before": "tomorrow"},
        {"seconds": [[1], ["a", 2], [True, 1], [10**12, 5]], "minutes": [[10**10, 500]], "no_sends_before": 5},
        {"minutes": [[int(NOON.timestamp()) // 60, -500]], "no_sends_before": "2099-01-01T00:00:00+00:00"},
    ],
)
def test_a_damaged_state_stops_nothing(state: dict[str, object]) -> None:
    book = QuotaLedger(ManualClock(NOON), state=state)
    assert book.sends_left() == 500
    assert book.wait_for(20) == timedelta(0)


def test_the_state_stays_small_over_a_season() -> None:
    clock = ManualClock(NOON)
    book = ledger(clock)
    for _ in range(5_000):
        book.spend("messages.send")
        clock.sleep(SECOND * 40)
    assert len(json.dumps(book.dump())) < 40_000


def test_a_clock_that_is_set_back_disorders_nothing() -> None:
    class SetBack:
        instant = NOON

        def now(self) -> datetime:
            return self.instant

        def sleep(self, duration: timedelta) -> None:
            raise AssertionError

    clock = SetBack()
    book = QuotaLedger(clock, limits=QuotaLimits(units_kept_for_sending=0))
    book.spend("messages.get")
    clock.instant = NOON - timedelta(minutes=5)
    book.spend("messages.get")
    assert book.units_in_last_minute() == 40


def test_a_match_of_nine_sends_fits_the_figure() -> None:
    forecast = ledger(units_per_minute=6_000, sends_per_day=500).forecast(MATCH_MAILS["referee"])
    assert forecast.units == 9 * 100 + 6 * 25
    assert forecast.matches_per_day == 55
    # Looking into the history each 1.5 s, a search each 30 s and after each arrival, a listing each five minutes.
    assert forecast.looking_per_minute == 40 * 2 + 2 * 5 + 1
    assert forecast.matches_per_minute == pytest.approx((6_000 - 91) / (1_050 + 6 * 5))


def test_a_player_has_mail_for_more_matches_than_a_referee() -> None:
    forecast = ledger(sends_per_day=500).forecast(MATCH_MAILS["player"])
    assert (forecast.sends, forecast.matches_per_day) == (4, 125)


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        ({"units_per_minute": 0}, "units_per_minute"),
        ({"sends_per_day": -1}, "sends_per_day"),
        ({"units_kept_for_sending": 6_000}, "units_kept_for_sending"),
        ({"sends_kept_for_running_games": -1}, "sends_kept_for_running_games"),
    ],
)
def test_impossible_limits_are_refused_by_name(limits: dict[str, int], name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        QuotaLimits(**limits)
