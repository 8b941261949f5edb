"""The host by mail: who is heard, what is answered, what counts in time, and what a new host finds."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from league_agents.arena.agents.scripted_agent import ScriptedAgent
from league_agents.arena.by_mail.host import AGAIN, checked_setup, kept_setup
from league_agents.arena.by_mail.letters import LetterHeading, dump_part, format_subject
from league_agents.arena.by_mail.setup import MailSetup, setup_from, setup_to
from league_agents.arena.by_mail.table import ANSWERS_A_DAY
from league_agents.arena.scenario import scenario_of
from league_agents.journal.memory import MemoryJournal
from league_agents.journal.port import StepCause, StepCommit
from league_agents.kit.clock import ManualClock
from league_agents.kit.errors import ConfigError, JournalError
from league_agents.mail.memory import MemoryMailbox, PostOffice
from league_agents.mail.port import Mail, OutgoingMail
from league_agents.turns import SequentialHandoff
from league_agents.turns.message import ProtocolFailed
from tests.support.mail_match import RunningHost

HOST, STRANGER = "table@arena.test", "stranger@arena.test"
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
DAY = timedelta(days=1)
SEATS = {"s1": "ann@arena.test", "s2": "ben@arena.test"}


def setup(addresses: dict[str, str] | None = None, **clock: Any) -> MailSetup:
    scenario = scenario_of(
        {
            "game": "market",
            "config": {"max_rounds": 3},
            "agents": [{"id": "s1"}, {"id": "s2"}],
            "clock": {"turn_timeout_s": 86_400, **clock},
        }
    )
    return MailSetup(scenario=scenario, seed=7, match_id="m-1", host_address=HOST, addresses=addresses or SEATS)


class Desk:
    """A host, and mailboxes whose owners write by hand."""

    def __init__(self, made: MailSetup | None = None, **options: Any) -> None:
        self.clock = ManualClock(START)
        self.office = PostOffice(self.clock, through_mime=True)
        self.journal = MemoryJournal(dump=dump_part)
        self.boxes = {address: self.office.mailbox(address) for address in (*SEATS.values(), HOST, STRANGER)}
        self.setup = made or setup()
        self.options = options
        self.written = 0
        self.host = self.new_host()

    def new_host(self) -> RunningHost:
        host = RunningHost(self.boxes[HOST], self.journal, self.clock, setup=self.setup, **self.options)
        host.start()
        host.tick()
        return host

    def letters(self, address: str) -> list[dict[str, Any]]:
        """What has come since the last time."""
        box: MemoryMailbox = self.boxes[address]
        mails = box.fetch(100, lambda _mail_id: False)
        box.acknowledge([mail.mail_id for mail in mails])
        return [document for mail in mails for document in mail.documents]  # type: ignore[misc]

    def write(self, address: str, document: Any, *, subject: str | None = None, transaction: str = "") -> None:
        self.written += 1
        identity = transaction or f"x-{self.written}"
        self.boxes[address].send(
            OutgoingMail(
                sender=address,
                to=(HOST,),
                subject=subject
                or format_subject(LetterHeading(game="market", match_id="m-1", agent_id="s1"), identity),
                document=document,
                transaction_id=identity,
                sent_at=self.clock.now(),
            )
        )

    def price(self, seat: str, price: Any, **others: Any) -> dict[str, Any]:
        return {
            "version": "1.0.0", "type": "perform_action", "game": "market", "match_id": "m-1", "agent_id": seat,
            "action": {"version": "1.0.0", "type": "submit_price", "data": {"price": price}}, **others,
        }  # fmt: skip

    @property
    def round(self) -> int:
        return self.host.table.match.info("host").turn

    def verdicts(self) -> list[str]:
        return [str(row.verdict) for row in self.journal.inbox()]


def test_an_invitation_holds_the_state_the_address_to_write_to_and_the_envelope_to_send() -> None:
    desk = Desk()
    (letter,) = desk.letters(SEATS["s1"])
    assert letter["kind"] == "invitation"
    assert letter["reply_to"] == HOST
    assert letter["decision"]["reply_by"] == (START + DAY).isoformat()
    assert letter["messages"][-1]["type"] == "get_state_response"
    assert letter["messages"][-1]["state"]["data"]["legal"][0]["type"] == "submit_price"
    template = letter["decision"]["answer_with"]
    template["action"]["data"] = {"price": 20}
    desk.write(SEATS["s1"], template)
    desk.host.tick()
    assert desk.host.table.match.active() == ("s2",)
    assert desk.letters(SEATS["s1"]) == []  # owes nothing, so it gets no mail


def test_what_happened_comes_in_one_letter_with_the_next_turn() -> None:
    desk = Desk()
    for seat, address in SEATS.items():
        desk.letters(address)
        desk.write(address, desk.price(seat, 20))
    desk.host.tick()
    (letter,) = desk.letters(SEATS["s1"])
    kinds = [message["type"] for message in letter["messages"]]
    assert letter["kind"] == "your_turn"
    assert kinds[0] == "perform_action_response"
    assert kinds.count("push_message") >= 1
    assert kinds[-1] == "get_state_response"
    assert letter["lines"]


def test_a_refused_action_comes_back_with_its_reason_and_the_attempts_left() -> None:
    desk = Desk()
    desk.letters(SEATS["s1"])
    desk.write(SEATS["s1"], desk.price("s1", 7))
    desk.host.tick()
    (letter,) = desk.letters(SEATS["s1"])
    assert (letter["kind"], letter["decision"]["attempts_left"]) == ("your_turn", 2)
    assert letter["decision"]["refusal"]["code"] == "price_out_of_range"
    assert letter["messages"][0]["action_response"]["status"] == "error"


def test_the_third_refusal_forfeits_the_decision() -> None:
    desk = Desk()
    for _ in range(3):
        desk.write(SEATS["s1"], desk.price("s1", 7))
        desk.host.tick()
    assert desk.host.table.match.active() == ("s2",)


@pytest.mark.parametrize("transaction", ["x-same", ""])
def test_a_mail_that_arrives_twice_acts_once(transaction: str) -> None:
    desk = Desk()
    request = desk.price("s1", 20, **({} if transaction else {"request_id": "r-1"}))
    desk.write(SEATS["s1"], request, transaction=transaction)
    desk.write(SEATS["s2"], desk.price("s2", 20))
    desk.host.tick()
    assert desk.round == 2
    desk.write(SEATS["s1"], request, transaction=transaction)
    desk.host.tick()
    assert desk.host.table.match.active() == ("s1", "s2")  # the second round waits for both


def test_an_action_of_ones_own_for_each_mail_needs_no_request_id() -> None:
    desk = Desk()
    for number in range(3):
        for seat, address in SEATS.items():
            desk.write(address, desk.price(seat, 20 + number))
        desk.host.tick()
    assert desk.host.is_over
    assert desk.letters(SEATS["s1"])[-1]["kind"] == "over"
    assert desk.host.is_done


def test_a_stranger_is_turned_away_and_gets_no_answer() -> None:
    desk = Desk()
    desk.write(STRANGER, desk.price("s1", 20))
    desk.host.tick()
    assert desk.host.table.match.active() == ("s1", "s2")
    assert desk.letters(STRANGER) == []
    assert desk.verdicts() == ["rejected"]


def test_nobody_acts_for_another_seat() -> None:
    desk = Desk()
    desk.letters(SEATS["s1"])
    desk.write(SEATS["s1"], desk.price("s2", 20))
    desk.host.tick()
    assert desk.host.table.match.active() == ("s1", "s2")
    (letter,) = desk.letters(SEATS["s1"])
    assert letter["kind"] == "answer"
    assert letter["messages"][0]["error"]["data"]["code"] == "forbidden"
    assert desk.letters(SEATS["s2"])[0]["kind"] == "invitation"


class ForgedMail:
    """An intake that finds every mail forged."""

    def refuse(self, mail: Mail) -> str | None:
        return "the mail server did not confirm the sender"

    def came_back(self, mail: Mail) -> str | None:
        return None


def test_a_mail_whose_sender_is_not_confirmed_is_turned_away() -> None:
    desk = Desk()
    desk.write(SEATS["s1"], desk.price("s1", 20))
    host = RunningHost(desk.boxes[HOST], desk.journal, desk.clock, setup=desk.setup, intake=ForgedMail())
    host.start()
    host.tick()
    assert host.table.match.active() == ("s1", "s2")
    assert desk.verdicts() == ["rejected"]


def test_other_mail_is_left_alone_and_unread() -> None:
    desk = Desk()
    desk.write(SEATS["s1"], {"a": 1}, subject="Shall we have lunch?")
    other = format_subject(LetterHeading(game="market", match_id="m-2", agent_id="s1"), "x")
    desk.write(SEATS["s1"], desk.price("s1", 20), subject=other)
    desk.host.tick()
    assert desk.verdicts() == ["ignored", "ignored"]
    assert len(desk.boxes[HOST].fetch(10, lambda _mail_id: False)) == 2


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ({"messages": [{"type": "get_state"}] * 21}, "too_large"),
        ({"type": "nonsense"}, "unknown_type"),
        ({"messages": ["text"]}, "not_an_object"),
        ({"version": "1.0.0", "type": "get_state", "game": "chess", "match_id": "m-1", "agent_id": "s1",
          "state": {"version": "1.0.0"}}, "unknown_game"),
        ({"version": "9.0.0", "type": "get_state", "game": "market", "match_id": "m-1", "agent_id": "s1",
          "state": {"version": "1.0.0"}}, "unsupported_version"),
    ],
)  # fmt: skip
def test_what_is_no_request_is_answered_with_its_fault(document: dict[str, Any], code: str) -> None:
    desk = Desk()
    desk.letters(SEATS["s1"])
    desk.write(SEATS["s1"], document)
    desk.host.tick()
    (letter,) = desk.letters(SEATS["s1"])
    assert letter["messages"][0]["error"]["data"]["code"] == code
    assert desk.host.table.match.active() == ("s1", "s2")


def test_whoever_asks_for_its_state_gets_it() -> None:
    desk = Desk()
    desk.letters(SEATS["s1"])
    desk.write(
        SEATS["s1"],
        {"version": "1.0.0", "type": "get_state", "game": "market", "match_id": "m-1", "agent_id": "s1",
         "state": {"version": "1.0.0"}, "request_id": "q"},
    )  # fmt: skip
    desk.host.tick()
    (letter,) = desk.letters(SEATS["s1"])
    assert letter["messages"][0]["request_id"] == "q"
    assert letter["decision"]["number"] == 1


def test_a_mailbox_that_writes_nonsense_all_day_does_not_use_up_the_hosts_sends() -> None:
    desk = Desk()
    for _ in range(ANSWERS_A_DAY + 20):
        desk.write(SEATS["s1"], {"type": "nonsense"})
    while desk.host.tick():
        pass
    assert len(desk.letters(SEATS["s1"])) == 1 + ANSWERS_A_DAY
    desk.clock.sleep(DAY / 2)
    for seat, address in SEATS.items():
        desk.write(address, desk.price(seat, 20))
    desk.host.tick()
    assert desk.letters(SEATS["s1"])[-1]["kind"] == "your_turn"  # its turn is told all the same


def test_mail_that_the_server_took_in_time_is_in_time() -> None:
    desk = Desk()
    desk.clock.sleep(DAY - timedelta(minutes=1))
    desk.write(SEATS["s1"], desk.price("s1", 20))
    desk.clock.sleep(timedelta(hours=5))  # the host was away
    host = desk.new_host()
    priced = host.table.match.events[-1].data
    assert host.table.match.info("host").turn == 2
    assert json.loads(json.dumps(priced))["prices"] == {"s1": 20, "s2": None}


def test_time_that_is_over_forfeits_and_is_told() -> None:
    desk = Desk()
    assert desk.host.next_wake() == START + DAY
    desk.clock.sleep(DAY)
    assert desk.host.tick()
    assert desk.round == 2
    assert [letter["kind"] for letter in desk.letters(SEATS["s1"])] == ["invitation", "your_turn"]


def test_a_match_in_which_nobody_answers_is_given_up() -> None:
    desk = Desk(setup(max_forfeits=1))
    desk.clock.sleep(DAY)
    desk.host.tick()
    assert desk.host.table.status == "abandoned"
    assert desk.letters(SEATS["s2"])[-1]["messages"][-1]["status"] == "abandoned"
    assert desk.host.next_wake() is None


def test_a_new_host_finds_what_the_old_one_left() -> None:
    desk = Desk()
    desk.write(SEATS["s1"], desk.price("s1", 7))
    desk.host.tick()
    desk.write(SEATS["s1"], desk.price("s1", 30, request_id="r-9"))
    desk.host.tick()
    before = desk.host.table
    after = desk.new_host().table
    assert after.match.game.dump(after.match.state) == before.match.game.dump(before.match.state)
    assert after.decisions.open_decisions == before.decisions.open_decisions
    assert after._held == before._held
    assert after._asked == before._asked


def test_seats_without_a_mailbox_are_played_by_the_host() -> None:
    desk = Desk(
        setup({"s1": SEATS["s1"]}),
        agent_of=lambda made, seat: ScriptedAgent("market", seed=made.seed, agent_id=seat),
    )
    for number in range(3):
        desk.write(SEATS["s1"], desk.price("s1", 20 + number))
        desk.host.tick()
    assert desk.host.is_over
    again = desk.new_host()
    assert again.table.match.outcome() == desk.host.table.match.outcome()


class Failing:
    def act(self, view: object, legal: object, deadline: object) -> object:
        raise RuntimeError("no idea")


class Careless:
    """An agent whose first answer is refused, and that is told why."""

    def __init__(self) -> None:
        self.refusals: list[Any] = []

    def act(self, view: Any, legal: object, deadline: object) -> dict[str, Any]:
        self.refusals.append(view["refusal"] and view["refusal"]["code"])
        return {"type": "submit_price", "data": {"price": 7 if len(self.refusals) == 1 else 11}}


def test_an_agent_of_the_host_that_fails_forfeits() -> None:
    desk = Desk(setup({"s1": SEATS["s1"]}), agent_of=lambda made, seat: Failing())
    assert desk.host.table.match.active() == ("s1",)


def test_an_agent_of_the_host_is_told_why_it_was_refused() -> None:
    agent = Careless()
    desk = Desk(setup({"s1": SEATS["s1"]}), agent_of=lambda made, seat: agent)
    assert agent.refusals == [None, "price_out_of_range"]
    assert desk.host.table.match.active() == ("s1",)


def test_a_warning_says_why_an_agent_of_the_host_forfeits_after_refused_actions() -> None:
    class Hopeless:
        def act(self, view: object, legal: object, deadline: object) -> dict[str, Any]:
            return {"type": "submit_price", "data": {"price": 7}}

    desk = Desk(setup({"s1": SEATS["s1"]}), agent_of=lambda made, seat: Hopeless())
    (warned,) = (note for note in desk.journal.notes() if note.key == "refused_actions")
    assert str(warned.facts["text"]).startswith(
        "agent s2 (submit_price): 3 refused actions, so the decision is forfeited: "
    )


def test_a_bug_puts_one_letter_aside_and_the_match_goes_on() -> None:
    desk = Desk()
    table = desk.host.table
    table._service.handle = lambda *_arguments: 1 / 0  # type: ignore[method-assign,assignment,return-value]
    desk.write(SEATS["s1"], desk.price("s1", 20))
    desk.host.tick()
    assert desk.verdicts() == ["parked"]
    desk.write(SEATS["s1"], desk.price("s1", 20))
    desk.host.tick()
    assert desk.host.table.match.active() == ("s2",)


def test_a_journal_keeps_the_match_that_it_was_made_for() -> None:
    desk = Desk()
    assert kept_setup(desk.journal) == desk.setup
    assert setup_from(json.loads(json.dumps(setup_to(desk.setup)))) == desk.setup
    with pytest.raises(ConfigError, match="another match"):
        checked_setup(kept_setup(desk.journal), setup(max_invalid=9), HOST)
    with pytest.raises(ConfigError, match="this mailbox is"):
        checked_setup(kept_setup(desk.journal), None, STRANGER)


def test_a_journal_of_the_earlier_loop_is_taken_up() -> None:
    desk = Desk()
    made = setup({"s1": SEATS["s1"]})
    journal = MemoryJournal(dump=dump_part)
    start = {"kind": "start", "at": START.isoformat()}
    parts = {"setup": setup_to(made), "step-00000000": start}
    journal.commit(StepCommit(cause=StepCause.COMMAND, key="start", at=START, parts=parts))
    agent = Careless()
    desk.boxes[HOST] = desk.office.mailbox(HOST)
    host = RunningHost(desk.boxes[HOST], journal, desk.clock, setup=made, agent_of=lambda _made, _seat: agent)
    host.start()
    host.tick()
    assert agent.refusals == [None, "price_out_of_range"], "nothing said that it was asked"
    assert host.table.match.active() == ("s1",)
    assert [item.message_type for item in journal.outbox()] == [], "the invitations had left"


def test_an_interaction_protocol_that_fails_is_told_and_tried_again() -> None:
    desk = Desk()
    protocol = desk.host.table.match.protocol
    desk.host.table.match.protocol = Broken()
    desk.clock.sleep(DAY)
    desk.host.tick()
    (warned,) = (note for note in desk.journal.notes() if note.key == "protocol_failed")
    assert "mine: advance" in str(warned.facts["text"])
    assert desk.host.next_wake() == desk.clock.now() + AGAIN
    assert protocol is not desk.host.table.match.protocol, "the match is made anew from its records"
    desk.clock.sleep(AGAIN)
    desk.host.tick()
    assert desk.round == 2


class Broken:
    def __getattr__(self, name: str) -> Any:
        raise ProtocolFailed("mine: advance did not return within 10 s")


class Unopened:
    """A mailbox that turns every mail away by its headers."""

    def __init__(self, box: MemoryMailbox) -> None:
        self._box = box

    def __getattr__(self, name: str) -> Any:
        return getattr(self._box, name)

    def fetch(self, limit: int, known: Callable[[str], bool]) -> list[Mail]:
        return [replace(mail, refusal="a stranger", documents=()) for mail in self._box.fetch(limit, known)]


def test_a_mail_that_was_not_opened_is_marked_as_read_only_if_it_is_of_this_match() -> None:
    desk = Desk()
    desk.boxes[HOST] = Unopened(desk.boxes[HOST])  # type: ignore[assignment]
    host = desk.new_host()
    for match in ("m-1", "m-2"):
        heading = LetterHeading(game="market", match_id=match, agent_id="s1")
        desk.write(STRANGER, {}, subject=format_subject(heading, "x"))
    host.tick()
    assert desk.verdicts() == ["rejected", "ignored"]
    assert len(desk.boxes[HOST].fetch(10, lambda _mail_id: False)) == 1


def test_a_new_journal_needs_a_match() -> None:
    with pytest.raises(ConfigError, match="which match"):
        checked_setup(kept_setup(MemoryJournal(dump=dump_part)), None, HOST)


def test_a_journal_of_something_else_is_refused() -> None:
    journal = MemoryJournal(dump=dump_part)
    journal.commit(StepCommit(cause=StepCause.COMMAND, key="x", at=START, parts={"setup": {"scenario": 3}}))
    with pytest.raises(JournalError, match="no match by mail"):
        kept_setup(journal)


@pytest.mark.parametrize(
    ("addresses", "said"),
    [
        ({}, "at least one seat"),
        ({"s9": "a@arena.test"}, "s9"),
        ({"s1": "nobody"}, "no mail address"),
        ({"s1": "a@arena.test\r\nBcc: b@c.test"}, "no mail address"),
        ({"s1": HOST.upper()}, "host itself"),
    ],
)
def test_seats_that_cannot_be_are_one_line(addresses: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        MailSetup(scenario=setup().scenario, seed=1, match_id="m", host_address=HOST, addresses=addresses)
    assert "\n" not in str(caught.value)


def test_a_journal_keeps_a_protocol_of_the_hosts_own() -> None:
    class Backwards(SequentialHandoff):
        def get_next_speaker(self) -> str | None:
            return super().get_next_speaker()

    scenario = {"game": "guess_number", "agents": [{"id": "a"}, {"id": "b"}], "protocol": {"type": "mine:Backwards"}}
    made = MailSetup(
        scenario=scenario_of(scenario, lambda _spec: Backwards),
        seed=1,
        match_id="m-1",
        host_address=HOST,
        addresses={"a": SEATS["s1"]},
    )
    kept = setup_from(setup_to(made), lambda _spec: Backwards)
    assert kept == made
    assert isinstance(kept.scenario.new_match(1).protocol, Backwards)
    with pytest.raises(ConfigError, match="none is run here"):
        setup_from(setup_to(made))
