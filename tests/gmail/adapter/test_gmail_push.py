"""Notifications through Pub/Sub: the real library against the sandbox, over loopback."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from league_agents.app.push import PushListener
from league_agents.cli import command_line
from league_agents.config.league_file import read_league_file
from league_agents.kit.clock import ManualClock
from league_agents.kit.errors import ConfigError
from league_agents.local_league.patience import LIMIT_S, until
from league_agents.mail.gmail import GmailMailbox
from league_agents.mail.gmail.inbox_watch import RENEW_EVERY, RETRY_AFTER, InboxWatch
from league_agents.mail.gmail.subscription import LARGEST_NOTICE, Subscription, address_in
from league_agents.mail.port import Stopping
from league_agents.runner.pace import Pace
from league_agents.runner.wakeup import Wakeup
from league_agents.sandbox.faults import Fault, FaultAction
from league_agents.sandbox.pubsub import ACK_DEADLINE_S
from league_agents.sandbox.server import Sandbox
from league_agents.testing.mailbox_contract import ALICE, BOB
from tests.support.mailboxes import Heard, entry, read, running, write_file

TOPIC = "projects/league-one/topics/mail"
SUBSCRIPTION = "projects/league-one/subscriptions/mail"
MAIL = b"From: stranger@internet.invalid\r\nSubject: hello\r\n\r\nhello\r\n"

NOON = datetime(2031, 5, 2, 12, 0, tzinfo=UTC)

OpenMailbox = Callable[..., GmailMailbox]


@pytest.fixture
def subscription(sandbox: Sandbox) -> Iterator[Subscription]:
    made = Subscription(SUBSCRIPTION, endpoint=sandbox.url, credentials=None)
    yield made
    made.close()


def watch_of(tell: Callable[[str, bool], object] = lambda _text, _is_trouble: None, **more: Any) -> InboxWatch:
    return InboxWatch(TOPIC, tell=tell, **more)


def test_mail_that_arrives_is_told_by_its_address_and_acknowledged(
    sandbox: Sandbox, open_mailbox: OpenMailbox, subscription: Subscription
) -> None:
    mailbox = open_mailbox(ALICE, watch=watch_of(clock=ManualClock(NOON)))
    mailbox.fetch(10, lambda _mail_id: False)
    assert sandbox.watched_topic(ALICE) == TOPIC
    sandbox.inject(MAIL, to=[ALICE])
    told: list[str] = []
    assert subscription.pull(told.append) == 1
    assert told == [ALICE]
    assert sandbox.notices_waiting(TOPIC) == 0


def test_what_is_no_notification_is_ignored_and_acknowledged(sandbox: Sandbox, subscription: Subscription) -> None:
    named = json.dumps({"emailAddress": BOB}).encode()
    bad = [
        b"", b"\xff\xfe", b"[]", b"null", b"[" * 4_000, b'{"emailAddress": 5}', b'{"emailAddress": ""}',
        json.dumps({"emailAddress": "a" * 400}).encode(), named + b" " * LARGEST_NOTICE,
    ]  # fmt: skip
    for data in (*bad, named, named):
        sandbox.publish(TOPIC, data)
    told: list[str] = []
    assert subscription.pull(told.append) == len(bad) + 2
    assert told == [BOB]  # once
    assert sandbox.notices_waiting(TOPIC) == 0
    assert {address_in(data) for data in bad} == {None}


def test_a_watch_is_renewed_once_a_day_and_only_where_somebody_listens(
    sandbox: Sandbox, open_mailbox: OpenMailbox
) -> None:
    clock, wanted = ManualClock(NOON), threading.Event()
    watch = watch_of(clock=clock, is_wanted=wanted.is_set)
    mailbox = open_mailbox(ALICE, watch=watch)

    def watches() -> int:
        mailbox.fetch(10, lambda _mail_id: False)
        return mailbox.ledger.calls.get("watch", 0)

    assert (watches(), watch.is_on) == (0, False)
    wanted.set()
    assert (watches(), watches(), watch.is_on) == (1, 1, True)
    clock.sleep(RENEW_EVERY)
    assert (watches(), watches()) == (2, 2)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
def test_a_refused_watch_is_said_once_and_mail_is_found_all_the_same(
    sandbox: Sandbox, open_mailbox: OpenMailbox, status: int
) -> None:
    sandbox.add_fault(Fault(action=FaultAction.ERROR, method="watch", status=status, reason="forbidden"))
    clock, said = ManualClock(NOON), []
    watch = watch_of(lambda text, is_trouble: said.append((text, is_trouble)), clock=clock)
    mailbox = open_mailbox(ALICE, watch=watch)
    for _ in range(3):
        mailbox.fetch(10, lambda _mail_id: False)
        clock.sleep(RETRY_AFTER)
    assert [is_trouble for _, is_trouble in said] == [True]
    assert TOPIC in said[0][0]
    assert "\n" not in said[0][0]
    assert not watch.is_on
    sandbox.clear_faults()
    mailbox.fetch(10, lambda _mail_id: False)
    assert [is_trouble for _, is_trouble in said] == [True, False]
    assert watch.is_on


def test_a_watch_does_not_begin_when_the_process_ends() -> None:
    def call(_topic: str) -> None:
        raise Stopping

    with pytest.raises(Stopping):
        watch_of(clock=ManualClock(NOON)).keep(call)


def test_a_notification_that_could_not_be_acknowledged_is_told_again(
    sandbox: Sandbox, subscription: Subscription
) -> None:
    sandbox.add_fault(Fault(action=FaultAction.ERROR, method="subscriptions.acknowledge", status=503))
    sandbox.publish(TOPIC, json.dumps({"emailAddress": BOB}).encode())
    told: list[str] = []
    with pytest.raises(Exception, match="503"):
        subscription.pull(told.append)
    sandbox.clear_faults()
    sandbox.advance(timedelta(seconds=ACK_DEADLINE_S))
    assert subscription.pull(told.append) == 1
    assert told == [BOB, BOB]


def test_who_hears_of_mail_polls_only_to_be_safe() -> None:
    pace = Pace()
    assert pace.pause(is_game_open=True, quiet_for=timedelta(0)) == pace.active
    assert pace.pause(is_game_open=True, quiet_for=timedelta(0), hears_of_mail=True) == pace.idle


def test_a_ring_is_heard_once() -> None:
    wakeup = Wakeup()
    assert not wakeup.was_rung()
    wakeup.ring()
    assert wakeup.was_rung()
    assert not wakeup.was_rung()


class Said:
    """What a listener told, and a way to wait for it."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, bool]] = []
        self.failed, self.recovered = threading.Event(), threading.Event()

    def __call__(self, text: str, is_trouble: bool) -> None:
        self.lines.append((text, is_trouble))
        (self.failed if is_trouble else self.recovered).set()


def test_one_subscription_wakes_the_role_whose_mail_arrived_and_no_other(tmp_path: Path) -> None:
    with Sandbox(["p1@league.test", "p2@league.test"], seed="push") as sandbox:
        settings = read(league_file(tmp_path / "leagues", sandbox, [entry("p1"), entry("p2")]))
        one, two, came = Wakeup(), Wakeup(), threading.Event()
        two.listen(came.set)
        said = Said()
        with closing(PushListener(said)) as listener:
            for role, wakeup in zip(settings.roles, (one, two), strict=True):
                listener.begin(settings, role, wakeup)
                assert wakeup.hears_of_mail()
            sandbox.publish(TOPIC, b'{"emailAddress": "stranger@league.test"}')
            sandbox.publish(TOPIC, b'{"emailAddress": "P2@league.test"}')
            assert came.wait(LIMIT_S)
            assert (one.was_rung(), two.was_rung()) == (False, True)
        assert said.lines == []


def test_mail_is_taken_in_long_before_the_next_poll(tmp_path: Path) -> None:
    with Sandbox(["p1@league.test"], seed="push") as sandbox:
        path = league_file(tmp_path / "leagues", sandbox, [entry("p1")])
        with running(path.parent, Heard()):
            until(lambda: sandbox.watched_topic("p1@league.test"), "a watch")
            for _ in range(5):
                # It looks again in an hour unless it is woken.
                looked = looks(sandbox, "p1")
                sandbox.inject(MAIL, to=["p1@league.test"])
                until(lambda before=looked: looks(sandbox, "p1") > before, "a look")  # type: ignore[misc]


def test_a_subscription_that_cannot_be_read_is_said_once_and_polling_goes_on(tmp_path: Path) -> None:
    refused = Fault(action=FaultAction.ERROR, method="subscriptions.pull", status=403, message="User not authorized")
    with Sandbox(["p1@league.test"], seed="push", faults=[refused]) as sandbox:
        path = league_file(tmp_path / "leagues", sandbox, [entry("p1")], active_seconds=0.2)
        heard, said = Heard(), Said()
        with running(path.parent, heard, tell_of_push=said) as _:
            assert said.failed.wait(LIMIT_S)
            before = looks(sandbox, "p1")
            until(lambda: looks(sandbox, "p1") > before + 3, "polls")
            assert [is_trouble for _, is_trouble in said.lines] == [True]
            assert SUBSCRIPTION in said.lines[0][0]
            assert "User not authorized" in said.lines[0][0]
            sandbox.clear_faults()
            sandbox.publish(TOPIC, b"an answer at once")
            assert said.recovered.wait(LIMIT_S)
            assert [is_trouble for _, is_trouble in said.lines] == [True, False]


def test_credentials_that_cannot_be_read_are_said_and_hinder_nothing(tmp_path: Path) -> None:
    with Sandbox(["p1@league.test"]) as sandbox:
        settings = read(league_file(tmp_path / "leagues", sandbox, [entry("p1")], credentials="missing.json"))
        said, wakeup = Said(), Wakeup()
        with closing(PushListener(said)) as listener:
            listener.begin(settings, settings.roles[0], wakeup)
            assert said.failed.wait(LIMIT_S)
            assert not wakeup.hears_of_mail()
        assert "missing.json" in said.lines[0][0]


def test_the_end_does_not_wait_for_a_subscription_nobody_answers() -> None:
    PushListener(Said()).close()


def test_half_of_the_keys_and_names_of_another_kind_are_refused(tmp_path: Path) -> None:
    with Sandbox(["p1@league.test"]) as sandbox:
        for push, key in (
            ({"topic": TOPIC}, "gmail.push.subscription"),
            ({"subscription": SUBSCRIPTION}, "gmail.push.topic"),
            ({"topic": SUBSCRIPTION, "subscription": SUBSCRIPTION}, "gmail.push.topic"),
            ({"topic": TOPIC, "subscription": SUBSCRIPTION, "endpoint": "http://pubsub.test"}, "gmail.push.endpoint"),
        ):
            with pytest.raises(ConfigError, match=key):
                write_file(tmp_path / "l.yaml", sandbox, {"player": entry("p1")}, gmail={"push": push})


def test_the_missing_library_is_one_line_that_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from league_agents.mail.gmail import subscription

    def missing(name: str) -> object:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(subscription, "import_module", missing)
    with pytest.raises(ConfigError, match=r"league\.yaml\.gmail\.push: needs .*pip install 'league-agents\[push\]'$"):
        subscription.refuse_missing_library("league.yaml.gmail.push")


def test_no_process_watches_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google.pubsub_v1", None)
    with Sandbox(["p1@league.test"]) as sandbox:
        path = str(league_file(tmp_path / "leagues", sandbox, [entry("p1")]))
    ended = CliRunner().invoke(command_line, ["run", "--watch", "--config", path])
    assert ended.exit_code == 3
    assert ended.stderr.endswith("gmail.push: needs google-cloud-pubsub: pip install 'league-agents[push]'\n")


def league_file(
    folder: Path, sandbox: Sandbox, players: list[dict[str, Any]], *, active_seconds: float = 3_600, **push: str
) -> Path:
    folder.mkdir()
    gmail = {
        "endpoint": sandbox.url,
        "credentials": str(sandbox.client_secret_file(folder)),
        "push": {"topic": TOPIC, "subscription": SUBSCRIPTION, "endpoint": sandbox.url, **push},
    }
    poll = {"active_seconds": active_seconds, "idle_seconds": 3_600}
    path = write_file(folder / "l.yaml", sandbox, {"player": players}, gmail=gmail, poll=poll)
    assert read_league_file(path, {}).gmail.push is not None
    return path


def looks(sandbox: Sandbox, name: str) -> int:
    """How often a mailbox was looked into."""
    accounts: Any = sandbox.report()["accounts"]
    methods = accounts.get(f"{name}@league.test", {"methods": {}})["methods"]
    return int(methods.get("history.list", {"calls": 0})["calls"])
