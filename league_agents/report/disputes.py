"""Contradictory, late, missing and foreign reports of a season, with what each side says about them.

Rule 1: disputes are derived from the league manager's journal; the journals of the others add evidence. Nothing is
decided here.
Rule 2: texts of others are one line of visible characters and bounded, and so is the number of every list.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from league_agents.games.q21.model import Termination
from league_agents.journal.port import InboxRow, InboxVerdict, OutboxState
from league_agents.kit.errors import RemoteProtocolError
from league_agents.kit.json_values import mapping, mappings, whole
from league_agents.kit.printable import of
from league_agents.league.wire.address import address_key, read_mailbox, same_address
from league_agents.league.wire.decode import decode
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import BrokenPayload, FreeTextReply, MatchReport, PlayerReport, ScoreRow
from league_agents.league.wire.payload import Payload
from league_agents.report.match_assembly import MATCH, SETTLEMENT, settlement_of
from league_agents.report.records import DisputeEvidence, DisputeKind, DisputeRecord, ScheduledMatch
from league_agents.report.season_frame import RoleJournal, SeasonFrame

MOST = 1_000
"""Maximal number of disputes of one division."""

MOST_REPORTS, MOST_OBJECTIONS, MOST_MAILS = 20, 20, 30
"""Maximal numbers of pieces of evidence: reports of one match, objections to it, mails in one participant's journal."""

MOST_OF_SENDER = 6
"""Maximal number of reports, and of objections, of one sender among them. The referee and both players have room."""

LONGEST = 300
_REPORT, _REPLY = MessageType.MATCH_RESULT_REPORT.value, MessageType.FREE_TEXT_RESPONSE.value
_GAME_ID = re.compile(r"(?<!\d)\d{7}(?!\d)")
_SAID = {OutboxState.SENT: "sent", OutboxState.FAILED: "could not send"}


def disputes_of(journals: Sequence[RoleJournal], frame: SeasonFrame, *, division: str = "") -> Iterator[DisputeRecord]:
    """The disputes in the order of the schedule; none without the league manager's journal."""
    manager = next((each for each in journals if each.role == "manager"), None)
    if manager is None:
        return
    others = [each for each in journals if each.role != "manager"]
    received = _Received(manager, frame)
    count = 0
    for match in frame.matches.values():
        for kind, text in received.disputes(match):
            count += 1
            if count > MOST:
                return
            evidence = [*received.evidence(match), *_mails(others, frame, match)]
            yield DisputeRecord(
                game_id=match.game_id,
                round_number=match.round_number,
                division=division,
                kind=kind,
                text=of(text, LONGEST),
                counts=received.counts.get(match.game_id, ""),
                settled=received.settled.get(match.game_id, ""),
                evidence=tuple(evidence),
            )


class _Received:
    """What the league manager received about the matches of a season, and what it made of it."""

    def __init__(self, manager: RoleJournal, frame: SeasonFrame) -> None:
        self._frame = frame
        self._reports: dict[str, list[InboxRow]] = defaultdict(list)
        self._objections: dict[str, list[InboxRow]] = defaultdict(list)
        self._closed: dict[int, datetime] = {}
        """By round: when its results were announced first."""

        self._unreported: set[str] = set()
        """Matches that had no report at the end of their round."""

        self._settled_at: dict[str, datetime] = {}
        """By match: when it was settled first."""

        self.counts: dict[str, str] = {}
        self.settled: dict[str, str] = {}
        for row in manager.journal.inbox(types=(_REPORT, _REPLY)):
            if not frame.lasts_at(row.arrived_at):
                continue
            if row.message_type == _REPLY:
                for game_id in dict.fromkeys(_GAME_ID.findall(_text_of(row))):
                    self._objections[game_id].append(row)
            elif row.game_id is not None:
                self._reports[row.game_id].append(row)
        for note in manager.journal.notes(kinds=(MATCH, SETTLEMENT, "round")):
            if not frame.covers(note):
                continue
            if note.kind == "round":
                self._closed.setdefault(whole(note.facts.get("round_number")) or 0, note.at)
            elif note.kind == SETTLEMENT:
                settled = settlement_of(note)
                if settled.after and "status" not in settled.after:
                    continue  # it is about a team, a referee or a replay, and gives no match a result
                is_open = settled.withdrawn or settled.order == "reinstate" or not settled.after
                self.settled[note.key] = "" if is_open else of(settled.order, 40)
                self._settled_at.setdefault(note.key, note.at)
            else:
                self._take(note.key, note.facts)

    def _take(self, game_id: str, facts: Mapping[str, object]) -> None:
        rows = facts.get("players")
        points = (
            [row.get("counted_points") for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
        )
        status = of(facts.get("status"), 60)
        self.counts[game_id] = " ".join([status, ":".join(of(each, 10) for each in points)]).strip()
        if status == Termination.NO_REPORT:
            self._unreported.add(game_id)

    def disputes(self, match: ScheduledMatch) -> Iterator[tuple[DisputeKind, str]]:
        """The disputes about a match, each with its story in one line."""
        rows = self._reports.get(match.game_id, [])
        own, players, strangers = self._by_sender(match, rows)
        name = f"referee {match.referee}"
        if len(own) > 1:
            said = list(dict.fromkeys(_words(_payload(row), match, self._frame) for row in own))
            if len(said) > 1:
                yield DisputeKind.CONTRADICTORY, f"{name} reported {', then '.join(said[:4])}"
        is_counted = match.game_id in self.counts and match.game_id not in self._unreported
        if not (is_counted and len(own) == 1) and (
            broken := next((row for row in own if isinstance(_payload(row), BrokenPayload)), None)
        ):
            yield DisputeKind.UNREADABLE, f"{name}: {_words(_payload(broken), match, self._frame)}"
        if (late := self._late(match, own)) is not None:
            yield DisputeKind.LATE, f"{name} reported {late.total_seconds():.0f} s after the end of the round"
        if match.game_id in self._unreported and not own:
            claims = [f"{self._frame.group_of(row.sender)} {_claim(row)}" for row in players]
            told = f"; by their own reports {', '.join(claims[:2])}" if claims else ""
            yield DisputeKind.MISSING, f"{name} never reported{told}"
        if strangers:
            names = dict.fromkeys(self._name(row.sender, is_public=True) for row in strangers)
            yield DisputeKind.NOT_THE_REFEREE, f"{', '.join(list(names)[:4])} reported a match that {name} judges"
        differing = dict.fromkeys(self._other_result(row, own, match) for row in players)
        yield from ((DisputeKind.PLAYER_DIFFERS, claim) for claim in differing if claim is not None)
        if objections := self._objections.get(match.game_id, []):
            names = dict.fromkeys(self._name(row.sender, is_public=True) for row in objections)
            yield DisputeKind.OBJECTION, f"{', '.join(list(names)[:4])} wrote about the match"

    def _late(self, match: ScheduledMatch, own: Sequence[InboxRow]) -> timedelta | None:
        """How long after the end of its round the match was reported first; ``None`` if it was in time."""
        closed_at, settled_at = self._closed.get(match.round_number), self._settled_at.get(match.game_id)
        if not own or closed_at is None:
            return None
        after = own[0].arrived_at - closed_at
        if match.game_id in self._unreported:
            return max(after, timedelta(0))
        # A round ends with the last awaited report, whose arrival the mail service may date after that end. Only a
        # round that did not wait for this report can be over before it.
        return after if settled_at is not None and settled_at <= closed_at and after > timedelta(0) else None

    def evidence(self, match: ScheduledMatch) -> list[DisputeEvidence]:
        """The reports and objections that the league manager received about a match, oldest first."""
        found = [
            DisputeEvidence(
                at=row.arrived_at,
                by=self._name(row.sender),
                text=of(f"reported {_words(_payload(row), match, self._frame)}", LONGEST),
            )
            for row in self._chosen(match, self._reports.get(match.game_id, []), MOST_REPORTS)
        ]
        found += [
            DisputeEvidence(at=row.arrived_at, by=self._name(row.sender), text=of(f"wrote: {_text_of(row)}", LONGEST))
            for row in self._chosen(match, self._objections.get(match.game_id, []), MOST_OBJECTIONS)
        ]
        return sorted(found, key=lambda each: each.at)

    def _chosen(self, match: ScheduledMatch, rows: Sequence[InboxRow], most: int) -> Iterator[InboxRow]:
        """At most so many mails: first those of the assigned referee and the players, and few of each sender, so that
        no number of others hides one of them."""
        counts: Counter[str] = Counter()
        for group in self._by_sender(match, sorted(rows, key=lambda row: row.arrived_at)):
            for row in group:
                sender = address_key(read_mailbox(row.sender) or row.sender)
                if counts[sender] < MOST_OF_SENDER and counts.total() < most:
                    counts[sender] += 1
                    yield row

    def _by_sender(
        self, match: ScheduledMatch, rows: Sequence[InboxRow]
    ) -> tuple[list[InboxRow], list[InboxRow], list[InboxRow]]:
        """The reports of the assigned referee, of the two players, and of everybody else."""
        teams = self._frame.teams
        referee = teams[match.referee].referee_email if match.referee in teams else ""
        both = [teams[each].player_email for each in (match.player1, match.player2) if each in teams]
        own: list[InboxRow] = []
        players: list[InboxRow] = []
        strangers: list[InboxRow] = []
        for row in rows:
            is_player = any(same_address(row.sender, each) for each in both)
            if row.verdict is not InboxVerdict.PROCESSED:
                strangers.append(row)  # forged, or refused
            else:
                (own if same_address(row.sender, referee) else players if is_player else strangers).append(row)
        return own, players, strangers

    def _other_result(self, row: InboxRow, own: Sequence[InboxRow], match: ScheduledMatch) -> str | None:
        """What a player says of its result, if its referee says something else."""
        if not own or any(_is_claim_of(row, each) for each in own):
            return None  # the usual case, seen without decoding either
        payload = _payload(row)
        if not isinstance(payload, PlayerReport) or payload.league_points is None:
            return None
        reports = [report for each in own if isinstance(report := _payload(each), MatchReport)]
        stated = [each.league_points for report in reports if (each := _row_of(report, row.sender)) is not None]
        if not stated or payload.league_points in stated:
            return None
        group = self._frame.group_of(row.sender)
        return f"{group} says that it got {payload.league_points}, referee {match.referee} says {stated[-1]}"

    def _name(self, address: str, *, is_public: bool = False) -> str:
        address = read_mailbox(address) or address
        group = self._frame.groups.get(address_key(address))
        if group is None:
            return "somebody who is not in the league" if is_public else of(address, 200)
        team = self._frame.teams.get(group)
        is_referee = team is not None and same_address(address, team.referee_email)
        return of(f"{'referee' if is_referee else 'player'} {group}", 200)


def _mails(others: Sequence[RoleJournal], frame: SeasonFrame, match: ScheduledMatch) -> Iterator[DisputeEvidence]:
    """The mails of the match in the journals of its referee and its players, oldest first."""
    for own in others:
        group = frame.group_of(own.address)
        is_theirs = group == match.referee if own.role == "referee" else group in (match.player1, match.player2)
        if not is_theirs:
            continue
        by = of(f"{own.role} {group}", 160) + ": its journal"
        found = [
            DisputeEvidence(
                at=item.created_at, by=by, text=f"{_SAID.get(item.state, 'has not sent')} {item.message_type}"
            )
            for item in own.journal.outbox(game=match.game_id)
            if item.game_id == match.game_id
        ]
        found += [
            DisputeEvidence(at=row.arrived_at, by=by, text=of(f"received {row.message_type}", LONGEST))
            for row in own.journal.inbox(game=match.game_id)
            if row.game_id == match.game_id
        ]
        yield from sorted(found, key=lambda each: each.at)[:MOST_MAILS]


def _payload(row: InboxRow) -> Payload | None:
    """The content of a stored mail; ``None`` if it cannot be read."""
    try:
        return decode(
            subject=row.subject, from_header=row.sender, documents=[row.document], mail_id=row.mail_id
        ).payload
    except RemoteProtocolError:
        return None


def _text_of(row: InboxRow) -> str:
    payload = _payload(row)
    return of(payload.message_text, 2_000) if isinstance(payload, FreeTextReply) else ""


def _claim(row: InboxRow) -> str:
    payload = _payload(row)
    return f"{payload.status.value} after {payload.phase_at_termination}" if isinstance(payload, PlayerReport) else "?"


def _is_claim_of(claim: InboxRow, report: InboxRow) -> bool:
    """Whether a player claims no points, or those that this report gives it."""
    claimed = mapping(mapping(claim.document).get("payload")).get("league_points")
    scores = mappings(mapping(mapping(report.document).get("payload")).get("scores"))
    given = (row.get("league_points") for row in scores if same_address(str(row.get("email")), claim.sender))
    return claimed is None or claimed in given


def _words(payload: Payload | None, match: ScheduledMatch, frame: SeasonFrame) -> str:
    """A report in words: ``completed 3:0 (90:12.5)``."""
    match payload:
        case MatchReport():
            emails = [frame.teams[each].player_email for each in (match.player1, match.player2) if each in frame.teams]
            rows = [_row_of(payload, email) for email in emails]
            points = ":".join("?" if row is None else str(row.league_points) for row in rows)
            scores = ":".join("?" if row is None else f"{row.private_score:g}" for row in rows)
            reason = f", {payload.abort_reason}" if payload.abort_reason else ""
            winner = f", winner {payload.winner_id}" if payload.winner_id else ""
            return of(f"{payload.status.value} {points} ({scores}){winner}{reason}", 200)
        case PlayerReport():
            got = "" if payload.league_points is None else f", {payload.league_points} points"
            last = f", last sent {payload.last_message_sent}" if payload.last_message_sent else ""
            return of(f"{payload.status.value} after {payload.phase_at_termination}{got}{last}", 200)
        case BrokenPayload():
            return of(f"cannot be read: {payload.violations[0]}", 200)
        case _:
            return "cannot be read"


def _row_of(report: MatchReport, email: str) -> ScoreRow | None:
    return next((row for row in report.scores if same_address(row.email, email)), None)
