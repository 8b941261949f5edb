"""The post office delivers when it is time, and its accidents are drawn from the seed."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest

from league_agents.kit.clock import ManualClock
from league_agents.kit.errors import AuthorizationExpired, MailboxUnavailable
from league_agents.mail.memory import PostOffice, Weather
from league_agents.mail.port import AmbiguousSend
from league_agents.testing.mailbox_contract import ALICE, BOB, NOON, document, letter, nothing_known

HOUR = timedelta(hours=1)


def arrivals(weather: Weather, seed: int, count: int = 200) -> list[tuple[object, object]]:
    clock = ManualClock(NOON)
    office = PostOffice(clock, seed=seed, weather=weather)
    alice, bob = office.mailbox(ALICE), office.mailbox(BOB)
    for number in range(count):
        alice.send(letter(number))
    clock.sleep(24 * HOUR)
    return [(document(mail), mail.arrived_at) for mail in bob.fetch(10 * count, nothing_known)]


def test_a_mail_is_not_there_before_its_time() -> None:
    clock = ManualClock(NOON)
    office = PostOffice(clock, seed=1, weather=Weather(delay=HOUR))
    alice, bob = office.mailbox(ALICE), office.mailbox(BOB)
    alice.send(letter(1))
    assert bob.fetch(10, nothing_known) == []
    arrival = office.next_arrival()
    assert arrival is not None
    assert NOON < arrival <= NOON + HOUR
    clock.advance_to(arrival)
    (mail,) = bob.fetch(10, nothing_known)
    assert mail.arrived_at == arrival
    assert office.next_arrival() is None


def test_the_same_seed_has_the_same_accidents_and_another_seed_others() -> None:
    storm = Weather(delay=HOUR, reordering=0.2, loss=0.2, duplication=0.2)
    assert arrivals(storm, 1) == arrivals(storm, 1)
    assert arrivals(storm, 1) != arrivals(storm, 2)


def test_mails_are_lost_and_duplicated_about_as_often_as_said() -> None:
    lost = len(arrivals(Weather(loss=0.3), 7, 1000))
    assert 600 < lost < 800
    twice = Counter(str(found) for found, _ in arrivals(Weather(duplication=0.3), 7, 1000))
    assert len(twice) == 1000
    assert 200 < sum(count == 2 for count in twice.values()) < 400


def test_reordering_lets_later_mails_overtake() -> None:
    order = [found for found, _ in arrivals(Weather(reordering=0.5), 3, 50)]
    assert order != [letter(number).document for number in range(50)]
    assert len(order) == 50


def test_a_refused_mail_was_not_sent() -> None:
    clock = ManualClock(NOON)
    office = PostOffice(clock, weather=Weather(refusal=1.0))
    alice, bob = office.mailbox(ALICE), office.mailbox(BOB)
    with pytest.raises(MailboxUnavailable):
        alice.send(letter(1))
    assert not alice.was_sent("m1")
    assert bob.fetch(10, nothing_known) == []


def test_an_ambiguous_mail_was_sent() -> None:
    office = PostOffice(ManualClock(NOON), weather=Weather(ambiguity=1.0))
    alice, bob = office.mailbox(ALICE), office.mailbox(BOB)
    with pytest.raises(AmbiguousSend):
        alice.send(letter(1))
    assert alice.was_sent("m1")
    assert len(bob.fetch(10, nothing_known)) == 1


def test_mail_to_nobody_comes_back_as_a_notice_that_is_no_protocol_mail() -> None:
    office = PostOffice(ManualClock(NOON))
    alice = office.mailbox(ALICE)
    alice.send(letter(1, to=("nobody@league.test",)))
    (notice,) = alice.fetch(10, nothing_known)
    assert notice.documents == ()
    assert "nobody@league.test" in notice.subject


def test_nobody_sends_in_the_name_of_another() -> None:
    office = PostOffice(ManualClock(NOON))
    with pytest.raises(ValueError, match="cannot send in the name of"):
        office.mailbox(BOB).send(letter(1, sender=ALICE))


@pytest.mark.parametrize("chance", [-0.1, 1.1, float("nan")])
def test_a_chance_that_is_none_is_refused(chance: float) -> None:
    with pytest.raises(ValueError, match="chance of loss"):
        Weather(loss=chance)


def failures(weather: Weather, seed: int = 5) -> list[tuple[str, object]]:
    """What a mailbox answers during a day, asked every ten seconds."""
    clock = ManualClock(NOON)
    alice = PostOffice(clock, seed=seed, weather=weather).mailbox(ALICE)
    found: list[tuple[str, object]] = []
    for _ in range(6 * 60 * 24):
        clock.sleep(timedelta(seconds=10))
        try:
            alice.fetch(1, nothing_known)
        except MailboxUnavailable as error:
            found.append(("unavailable", error.retry_after))
        except AuthorizationExpired:
            found.append(("expired", alice.login))
        else:
            found.append(("well", alice.login))
    return found


def test_a_throttled_service_answers_again_when_it_said() -> None:
    day = failures(Weather(throttling=0.5))
    assert failures(Weather(throttling=0.5)) == day != failures(Weather(throttling=0.5), seed=6)
    waits = [wait for kind, wait in day if kind == "unavailable"]
    assert 0.05 < len(waits) / len(day) < 0.25
    assert None in waits
    told = [wait for wait in waits if isinstance(wait, timedelta)]
    assert timedelta(0) < min(told) < max(told) <= timedelta(minutes=1)


def test_a_lapsed_authorization_comes_back_and_its_mark_changes() -> None:
    day = failures(Weather(lapses=0.5))
    kinds = Counter(kind for kind, _ in day)
    assert kinds["expired"] > 500
    assert kinds["well"] > 5000
    assert all((mark is None) == (kind == "well") for kind, mark in day)
