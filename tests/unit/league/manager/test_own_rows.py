"""A large league sends each member that understands it the rows of its own games and rank, and the whole to others."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Any

import pytest

from league_agents.games.q21.rules import PRD
from league_agents.kit.values import evolve
from league_agents.league.machines.config import PlayerConfig, RefereeConfig
from league_agents.league.machines.effects import Effect, Record, Send
from league_agents.league.machines.events import Command, Identity, MessageArrived, OperatorCommand
from league_agents.league.machines.manager.config import LookupTable, RosterMember
from league_agents.league.machines.manager.manager import Manager
from league_agents.league.machines.player.player import PlayerMachine
from league_agents.league.machines.referee.referee import Referee
from league_agents.league.season.schedule import Team
from league_agents.league.wire.decode import decode
from league_agents.league.wire.encode import encode
from league_agents.league.wire.envelope import Envelope, Sender
from league_agents.league.wire.kinds import MessageType, Role, protocol_of
from league_agents.league.wire.messages import (
    OWN_ROWS,
    AssignmentAck,
    AssignmentTable,
    NewRound,
    Payload,
    RegistrationRequest,
    RequestAssignmentTable,
    RoundResults,
)
from league_agents.league.wire.payload import Legacy
from league_agents.league.wire.subject import format_subject

TABLE, ROUND = MessageType.BROADCAST_ASSIGNMENT_TABLE, MessageType.BROADCAST_NEW_LEAGUE_ROUND
RESULTS, END = MessageType.BROADCAST_ROUND_RESULTS, MessageType.BROADCAST_END_LEAGUE_ROUND


@pytest.fixture
def league(office_of: Any, teams_of: Any) -> Any:
    """Eight teams, of which two share a mail of results."""
    return office_of(teams=teams_of(8), part_teams=2).open()


def as_delivered(send: Send) -> Envelope:
    """The message as its receiver decodes it."""
    envelope = send.envelope
    return decode(
        subject=format_subject(envelope),
        from_header=envelope.sender.email,
        documents=[json.loads(json.dumps(encode(envelope)))],
        mail_id="mail-1",
    )


def delivered(sends: Iterable[Send]) -> dict[str, Envelope]:
    """The message that each address got. Fails if one got two."""
    found: dict[str, Envelope] = {}
    for send in sends:
        for address in send.to:
            assert address not in found
            found[address] = as_delivered(send)
    return found


def participant(member: RosterMember) -> Any:
    identity = Identity(email=member.email, participant_id="x", group_id=member.team.group_id, seed="seed")
    if member.role is Role.REFEREE:
        return Referee(config=RefereeConfig(identity=identity, manager_email="league-office@example.com", rules=PRD))
    return PlayerMachine(config=PlayerConfig(identity=identity, manager_email="league-office@example.com", rules=PRD))


def after(member: RosterMember, now: datetime, *envelopes: Envelope) -> tuple[Any, list[Effect]]:
    machine = participant(member)
    state, effects = machine.initial(), []
    for envelope in envelopes:
        event = MessageArrived(envelope=envelope, mail_id=envelope.message_id, arrived_at=now)
        state, caused = machine.step(state, event, now)
        effects += caused
    return state, effects


def test_a_member_learns_as_much_of_its_own_games_from_its_rows_as_from_the_whole_table(league: Any) -> None:
    league.everybody_registers(understands=(OWN_ROWS,))
    own = delivered(league.sent(TABLE))
    assert own.keys() == {member.email for member in league.manager.roster.members}
    member = league.manager.roster.members[0]
    league.mail(member.email, MessageType.REQUEST_ASSIGNMENT_TABLE, RequestAssignmentTable())
    (again,) = league.sent(TABLE)
    whole = as_delivered(again)
    assert isinstance(whole.payload, AssignmentTable)
    assert len(whole.payload.assignments) == 28 * 3
    assert whole.payload.whole is None
    for member in league.manager.roster.members:
        part = own[member.email]
        assert isinstance(part.payload, AssignmentTable)
        assert len(part.payload.assignments) < 45
        from_part, from_whole = (after(member, league.now, each)[0].league for each in (part, whole))
        assert from_part.fixtures == from_whole.fixtures
        assert from_part.fixtures


def test_who_asks_can_check_that_it_got_the_whole_table_of_which_it_had_rows(league: Any) -> None:
    league.everybody_registers(understands=(OWN_ROWS,))
    member = league.manager.roster.members[3]
    part = delivered(league.sent(TABLE))[member.email]
    assert isinstance(part.payload, AssignmentTable)
    stated = part.payload.whole
    assert stated is not None
    league.mail(member.email, MessageType(stated.ask_with), RequestAssignmentTable())
    (again,) = league.sent(TABLE)
    rows: Any = encode(again.envelope)["payload"]
    written = json.dumps(rows["assignments"], separators=(",", ":"), ensure_ascii=False)
    assert stated.digest == f"sha256:{hashlib.sha256(written.encode()).hexdigest()}"
    assert stated.rows == len(rows["assignments"])
    assert part.broadcast_id != again.envelope.broadcast_id  # else the answer looks like a repeat
    (state, _) = after(member, league.now, part, as_delivered(again))
    assert len(state.league.fixtures) == sum(
        member.key in {row.email.lower() for row in game.assignments()} for game in league.state.schedule
    )


def test_a_member_that_declares_nothing_is_sent_the_whole_tables_as_ever(league: Any, office_of: Any) -> None:
    """A mixed league: the deployed clients\' mails are those that they are sent in a league of such clients alone."""
    alone = office_of(teams=league.config.teams, part_teams=2).open().everybody_registers()
    old = {member.email for member in league.manager.roster.members[:5]}
    for member in league.manager.roster.members:
        league.register(member.email, understands=() if member.email in old else (OWN_ROWS,))
    for kind in (TABLE, ROUND, END, RESULTS):
        got, expected = delivered(league.sent(kind)), delivered(alone.sent(kind))
        assert got.keys() == expected.keys()
        for address in old & got.keys():
            assert encode(got[address]) == encode(expected[address]), (kind, address)
        if kind in (TABLE, RESULTS):
            assert all(got[address].payload.whole for address in got.keys() - old)  # type: ignore[attr-defined]
        for office in (league, alone):
            if kind is TABLE:
                office.everybody_acknowledges()
            elif kind is ROUND:
                for game in office.games():
                    office.report(game)
    assert len({send.to for send in alone.sent(RESULTS)}) == 1


def test_a_small_league_sends_one_mail_to_everybody(office_of: Any, teams_of: Any) -> None:
    office = office_of(teams=teams_of(8)).open().everybody_registers(understands=(OWN_ROWS,))
    (send,) = office.sent(TABLE)
    assert len(send.to) == 16
    assert send.envelope.payload.whole is None


def test_a_member_can_take_its_declaration_back(league: Any) -> None:
    first = league.manager.roster.members[0]
    league.register(first.email, understands=(OWN_ROWS,))
    league.register(first.email)
    league.command(Command.CLOSE_REGISTRATION)
    table = delivered(league.sent(TABLE))[first.email].payload
    assert isinstance(table, AssignmentTable)
    assert table.whole is None


def test_a_member_is_sent_its_own_results_and_its_neighbours_in_the_standings(league: Any) -> None:
    league.everybody_registers(understands=(OWN_ROWS,)).everybody_acknowledges()
    for place, game in enumerate(league.games()):
        league.report(game, (place % 4, (place + 1) % 4))
    got = delivered(league.sent(RESULTS))
    (record,) = league.records("round")
    order = [row["participant_id"] for row in record.facts["standings"]]
    games = {game.game_id: game for game in league.games(1)}
    for member in league.manager.roster.members:
        payload = got[member.email].payload
        assert isinstance(payload, RoundResults)
        ids = [row.participant_id for row in payload.standings]
        place = order.index(member.team.group_id)
        assert {order[0], *order[max(place - 1, 0) : place + 2]} <= set(ids)
        assert ids == [each for each in order if each in ids]
        assert len(ids) <= 2 + 2 * 2 + 1
        own = {game.game_id for game in games.values() if member.team in (game.player1, game.player2, game.referee)}
        assert own <= {row.game_id for row in payload.results}
        _, effects = after(member, league.now, got[member.email])
        (told,) = [each for each in effects if isinstance(each, Record)]
        assert told.facts["whole"] == {"rows": 8, "digest": payload.whole.digest if payload.whole else ""}


def test_who_asks_for_the_standings_is_sent_all_of_them(league: Any) -> None:
    league.everybody_registers(understands=(OWN_ROWS,)).everybody_acknowledges()
    member = league.manager.roster.members[0]
    ask = (member.email, MessageType.QUERY_STANDINGS_REQUEST, Legacy(fields={}))
    league.mail(*ask)
    assert league.kinds() == ["ERROR_RESPONSE"]  # no round is over
    for game in league.games():
        league.report(game)
    part = delivered(league.sent(RESULTS))[member.email]
    ids = {part.broadcast_id}
    for _ in range(2):
        league.mail(*ask)
        (send,) = league.sent(RESULTS)
        assert send.to == (member.email,)
        whole = as_delivered(send)
        assert isinstance(whole.payload, RoundResults)
        assert (len(whole.payload.standings), len(whole.payload.results)) == (8, 4)
        assert whole.payload.whole is None
        ids.add(whole.broadcast_id)
    assert len(ids) == 3  # each answer is news to its receiver
    for _ in range(league.config.answer_limit):
        league.mail(*ask)
    assert league.warnings() == ["answer_limit"]


def test_a_referee_that_is_sent_own_rows_knows_who_of_its_own_game_is_absent(office_of: Any, teams_of: Any) -> None:
    league = office_of(teams=teams_of(8), part_teams=2, lookup_table=LookupTable.SEEN).open()
    silent = league.manager.roster.members[0]
    for member in league.manager.roster.members[1:]:
        league.register(member.email, understands=(OWN_ROWS,))
    league.wait(league.config.registration_wait)
    league.wait(league.config.start_delay)
    sends = league.sent(ROUND, league.history)
    whole = {member.email for member in league.manager.roster.members} - {silent.email}
    for send in sends:
        payload = send.envelope.payload
        assert isinstance(payload, NewRound)
        present = set(payload.participant_lookup_table or ())
        assert silent.email not in present
        if send.to == (silent.email,):
            assert present == whole  # it declared nothing
            continue
        assert present < whole
        for game in league.games():
            if game.referee.referee_email in send.to:
                mailboxes = {row.email for row in game.assignments()}
                assert mailboxes - present == mailboxes & {silent.email}


class Traffic:
    """What one round of a large league costs, without its games."""

    def __init__(self, config_of: Any, count: int) -> None:
        teams = tuple(
            Team(group_id=f"team-{n:03}", player_email=f"p{n:03}@example.com", referee_email=f"r{n:03}@example.com")
            for n in range(count)
        )
        self.config = config_of(teams=teams, part_teams=6, lookup_table=LookupTable.SEEN)
        self.manager = Manager(self.config)
        self.state, self.count = self.manager.initial(), 0
        self.bytes: dict[MessageType, int] = defaultdict(int)
        self.now = datetime.fromisoformat("2031-05-02T08:00:00+00:00")

    def feed(self, event: Any) -> None:
        self.state, effects = self.manager.step(self.state, event, self.now)
        for send in effects:
            if isinstance(send, Send):
                size = len(json.dumps(encode(send.envelope))) + sum(len(address) for address in send.to)
                self.bytes[send.envelope.message_type] += size * len(send.to)

    def mail(self, sender: str, kind: MessageType, payload: Payload, **keys: Any) -> None:
        self.count += 1
        envelope = Envelope(
            protocol=protocol_of(kind), message_type=kind, message_id=f"m-{self.count}", timestamp=self.now,
            sender=Sender(email=sender, role=None), recipient_id="LEAGUEMANAGER", payload=payload, **keys,
        )  # fmt: skip
        self.feed(MessageArrived(envelope=envelope, mail_id=f"mail-{self.count}", arrived_at=self.now))

    def play_a_round(self, report_of: Any) -> None:
        self.feed(OperatorCommand(command=Command.OPEN_SEASON, nonce="open"))
        request = RegistrationRequest(display_name="x", participant_role=None, understands=(OWN_ROWS,))
        for member in self.manager.roster.members:
            self.mail(member.email, MessageType.SEASON_REGISTRATION_REQUEST, request)
        for member in self.manager.roster.members:
            ack = AssignmentAck(assignments_received=1)
            self.mail(member.email, MessageType.RESPONSE_GROUP_ASSIGNMENT, ack)
        assert self.state.schedule is not None
        for game in self.state.schedule.round(1):
            payload = report_of(game, (2, 1))
            self.mail(game.referee.referee_email, MessageType.MATCH_RESULT_REPORT, payload, game_id=game.game_id)


def test_the_mail_of_a_match_does_not_grow_with_the_league(config_of: Any, report_of: Any) -> None:
    costs = {}
    for count in (12, 36):
        traffic = Traffic(config_of, count)
        traffic.play_a_round(report_of)
        assert traffic.state.closed
        table_share = count - 1  # the table is sent once, and serves so many rounds
        costs[count] = {
            kind: traffic.bytes[kind] / (count / 2) / (table_share if kind is TABLE else 1)
            for kind in (TABLE, ROUND, RESULTS, END)
        }
    for kind, few in costs[12].items():
        assert costs[36][kind] < 1.5 * few, (kind, costs)


def test_a_declaration_is_kept_with_the_state(league: Any) -> None:
    league.everybody_registers(understands=("something", OWN_ROWS))
    manager = league.manager
    parts = {name: manager.dump_part(name, part) for name, part in manager.parts(league.state).items()}
    assert manager.load(parts) == league.state
    assert all(each.takes_own_rows for each in league.state.attendance)
    assert evolve(league.state.attendance[0], takes_own_rows=False) != league.state.attendance[0]
