"""A whole match with each client that is in the field, through real mail bytes (protocol 10, third item).

Our own machine sits behind every address, and what leaves the mailbox of a counterpart is written as that client writes
it: its subject, its headers, its document. What we send to a counterpart is read the way that client reads. The same
agents must come to the same match, whoever they play with.
"""

from __future__ import annotations

import email
import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.mime.application import MIMEApplication
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from functools import cache
from typing import Any

import pytest

from league_agents.app.agents import choose_agent
from league_agents.app.offline import OfflineLeague, OfflineTeam, memory_journal, offline_league, team_of
from league_agents.games.q21.rules import COURSE
from league_agents.journal.port import InboxVerdict
from league_agents.league.season.schedule import single_game
from league_agents.mail.memory import MemoryMailbox, PostOffice
from league_agents.mail.mime import build, read
from league_agents.mail.port import Mail, OutgoingMail

OFFICE = "league-office@league.test"
REFEREE = "referee.house@league.test"
PLAYER_A, PLAYER_B = "player-a@league.test", "player-b@league.test"
GAME = "0101001"

WARMUP, QUESTIONS, GUESS = "Q21WARMUPRESPONSE", "Q21QUESTIONSBATCH", "Q21GUESSSUBMISSION"
Document = dict[str, Any]
Form = Callable[[OutgoingMail], bytes | None]
"""How a client writes a message; ``None`` for one that it never sends."""


# How the clients write.


def written(
    mail: OutgoingMail,
    subject: Sequence[str],
    document: Document,
    *,
    body: str = "",
    file_name: str = "payload.json",
    names: Callable[[str], str] = str,
) -> bytes:
    message = MIMEMultipart()
    message[names("To")] = ", ".join(mail.to)
    message[names("From")] = mail.sender
    message[names("Subject")] = "::".join(subject)
    message.attach(MIMEText(body, "plain", "utf-8"))
    attachment = MIMEApplication(json.dumps(document, indent=2).encode(), "json")
    attachment.add_header("Content-Disposition", "attachment", filename=file_name)
    message.attach(attachment)
    return message.as_bytes()


def parts_of(mail: OutgoingMail) -> tuple[str, Document, Document]:
    document: Document = json.loads(json.dumps(mail.document))
    return document["message_type"], document, document["payload"]


def only(payload: Document, *keys: str) -> Document:
    return {key: payload[key] for key in keys if key in payload}


def ours(mail: OutgoingMail) -> bytes:
    return build(mail)


def p11(mail: OutgoingMail) -> bytes | None:
    """[P1.1]: a bare payload; who wrote what stands only in the subject."""
    kind, _, payload = parts_of(mail)
    protocol = "Q21G.v1" if kind.startswith("Q21") else "league.v2"
    if kind == "SEASON_REGISTRATION_REQUEST":
        payload = {
            "season_id": payload["season_id"],
            "player_email": mail.sender,
            "player_name": payload["display_name"],
            "machine_state": "READY",
        }
    elif kind == "RESPONSE_GROUP_ASSIGNMENT":
        kind = "GROUP_ASSIGNMENT_RESPONSE"
        payload = only(payload, "season_id", "player_email", "assignments_received") | {"status": "ACKNOWLEDGED"}
    elif kind == WARMUP:
        payload = only(payload, "match_id", "answer")
    elif kind == QUESTIONS:
        payload = only(payload, "match_id", "questions")
    elif kind == GUESS:
        guess = {key: value for key, value in payload.items() if key not in ("match_id", "auth_token")}
        payload = {"match_id": payload["match_id"], "guess": {**guess, "word_variations": []}}
    elif kind == "MATCH_RESULT_REPORT":
        payload = {"message_type": kind, **payload}
    else:
        return None
    transaction_id = str(uuid.uuid5(uuid.NAMESPACE_URL, mail.transaction_id))
    subject = (protocol, "PLAYER", mail.sender, transaction_id, kind)
    return written(mail, subject, {"payload": payload}, names=str.lower)


P10_TYPES = {WARMUP: "Q21_WARMUP_RESPONSE", QUESTIONS: "Q21_QUESTIONS_BATCH", GUESS: "Q21_GUESS_SUBMISSION"}


def p10(mail: OutgoingMail) -> bytes | None:
    """[P1.0]: ``league.v2`` and underscores on game mail too, ``number``, ``text`` and ``choices``, a flat request."""
    kind, document, payload = parts_of(mail)
    digits = uuid.uuid5(uuid.NAMESPACE_URL, mail.transaction_id).hex[:8]
    if kind == "SEASON_REGISTRATION_REQUEST":
        flat = {
            "protocol": "league.v2",
            "message_type": kind,
            "timestamp": f"{mail.sent_at:%Y-%m-%dT%H:%M:%S}+00:00",
            "leagueid": "configured",
            **only(payload, "season_id", "user_id", "display_name"),
            "participant_role": "PLAYER",
        }
        subject = ("league.v2", "PLAYER", mail.sender, f"sreg-player-{digits}", kind)
        return written(mail, subject, flat, body=f"{kind} response", names=str.lower)
    if kind not in P10_TYPES:
        return None
    if kind == QUESTIONS:
        payload["questions"] = [
            {"number": item["question_number"], "text": item["question_text"], "choices": item["options"]}
            for item in payload["questions"]
        ]
    kind = P10_TYPES[kind]
    del document["correlation_id"]
    document |= {
        "protocol": "league.v2",
        "message_type": kind,
        "match_id": document["game_id"],
        "recipient_id": mail.to[0],
        "sender": {**document["sender"], "email": mail.sender.lower()},
    }
    subject = ("league.v2", "PLAYER", mail.sender, f"tx-{mail.sent_at:%Y%m%d}-{digits}", kind)
    return written(mail, subject, document, body=f"{kind} response", file_name="message.json", names=str.lower)


def r2(mail: OutgoingMail) -> bytes:
    """[R2]: types without underscores in some subjects, few keys, a league id that may be empty."""
    kind, document, payload = parts_of(mail)
    protocol, squeezed = "league.v2", kind
    if kind in ("SEASON_REGISTRATION_REQUEST", "RESPONSE_GROUP_ASSIGNMENT"):
        squeezed = kind.replace("_", "")
        document["league_id"] = ""
    if kind == "SEASON_REGISTRATION_REQUEST":
        document["payload"] = only(payload, "season_id", "user_id", "participant_id") | {"display_name": "Q21 Referee"}
        document["timestamp"] = f"{mail.sent_at:%Y-%m-%dT%H:%M:%S}+00:00"
    elif kind == "MATCH_RESULT_REPORT":
        assert set(payload) == {"match_id", "status", "winner_id", "is_draw", "scores"}
    elif kind.startswith("Q21"):
        protocol = "Q21G.v1"
        payload.pop("book_description", None)
        payload.pop("associative_domain", None)
    return written(mail, (protocol, "REFEREE", mail.sender, mail.transaction_id, squeezed), document)


def lm_obs(mail: OutgoingMail) -> bytes:
    """[LM-obs]: no address of its own, ids only in the payload, two league ids, foreign correlations."""
    kind, document, payload = parts_of(mail)
    broadcast_id = document.pop("broadcast_id", None)
    for key in ("league_id", "season_id", "round_id"):
        document.pop(key, None)
    document["sender"] = {"email": None, "role": "LEAGUEMANAGER", "logical_id": "LM001"}
    if "league_id" in payload:
        payload["league_id"] = "LEAGUE001" if kind == "BROADCAST_START_SEASON" else "Q21G"
    transaction_id = mail.transaction_id
    if kind == "BROADCAST_START_SEASON":
        payload |= {"season_name": payload["season_id"], "game_type": "UNKNOWN", "total_rounds": 0}
        payload["registration_deadline"] = ""
        transaction_id = f"[{broadcast_id}]"
    elif kind == "SEASON_REGISTRATION_RESPONSE":
        document["correlation_id"] = f"req-seasonreg-{uuid.uuid5(uuid.NAMESPACE_URL, transaction_id)}"
        payload |= {"status": "rejected", "reason": "already_registered"}
    else:
        transaction_id = f"[lifecycle-{payload.get('season_id')}-{uuid.uuid5(uuid.NAMESPACE_URL, transaction_id)}]"
    subject = ("league.v2", "LEAGUEMANAGER", mail.sender, transaction_id, kind)
    body = "This mail belongs to a league; the message is attached."
    return written(mail, subject, document, body=body, file_name=f"{kind}.json")


FORMS: Mapping[str, Form] = {"ours": ours, "P1.1": p11, "P1.0": p10, "R2": r2, "LM-obs": lm_obs}


# How the clients read.


def read_by_player(raw: bytes) -> tuple[str, str, Document]:
    """[P1.1] and [P1.0]: type and sender from the subject, spelled exactly so; one direct attachment ``*.json``."""
    message = email.message_from_bytes(raw)
    subject = dict(message.items())["Subject"].split("::")
    assert len(subject) >= 5
    document = attached(message)
    payload = document.get("payload", document)
    kind = subject[4].upper()
    if kind.startswith("Q21"):
        assert kind == kind.replace("_", "")
        assert payload["match_id"] == GAME
    return kind, subject[2], payload


def read_by_referee(raw: bytes) -> tuple[str, str, Document]:
    """[R2]: the body if it is JSON, else the attachment; type and sender from the document, spelled exactly so."""
    message = email.message_from_bytes(raw)
    body = next(part for part in message.walk() if part.get_content_type() == "text/plain").get_payload(decode=True)
    assert isinstance(body, bytes)
    with pytest.raises(ValueError):  # noqa: PT011 - whatever makes it no JSON
        json.loads(body)
    document = attached(message)
    kind, payload = document["message_type"], document["payload"]
    if kind.startswith("BROADCAST_"):
        assert document["broadcast_id"]
    else:
        assert document.get("game_id", GAME) == GAME
    return kind, document["sender"]["email"], payload


def attached(message: Any) -> Document:
    children = [part for part in message.get_payload() if (part.get_filename() or "").endswith(".json")]
    assert len(children) == 1
    document: Document = json.loads(children[0].get_payload(decode=True))
    return document


OPENING = frozenset(
    {
        "BROADCAST_START_SEASON",
        "SEASON_REGISTRATION_RESPONSE",
        "BROADCAST_ASSIGNMENT_TABLE",
        "BROADCAST_NEW_LEAGUE_ROUND",
        "LEAGUE_COMPLETED",
    }
)
TO_PLAYERS = OPENING | {"Q21WARMUPCALL", "Q21ROUNDSTART", "Q21ANSWERSBATCH", "Q21SCOREFEEDBACK"}
TO_REFEREES = OPENING | {"BROADCAST_END_LEAGUE_ROUND", WARMUP, QUESTIONS, GUESS}


def check_what_is_read(form: str, received: Sequence[tuple[str, bytes]]) -> None:
    """Everything that a counterpart needs was written so that it can read it."""
    understood: dict[str, Document] = {}
    reader = read_by_referee if form == "R2" else read_by_player
    for sender, raw in received:
        kind, named, payload = reader(raw)
        assert named == sender
        understood[kind] = payload
    assert (TO_REFEREES if form == "R2" else TO_PLAYERS) <= set(understood)
    number = understood["BROADCAST_NEW_LEAGUE_ROUND"]["round_number"]
    assert type(number) is int
    for row in understood["BROADCAST_ASSIGNMENT_TABLE"]["assignments"]:
        assert row["role"] in ("player1", "player2", "referee")
        assert row["group_id"]
        assert row["game_id"] == GAME
    if form == "R2":
        assert isinstance(understood[WARMUP]["answer"], str)
        assert len(understood[QUESTIONS]["questions"]) == 20
        assert understood[GUESS]["opening_sentence"]
        return
    start = understood["Q21ROUNDSTART"]
    for kind in ("Q21WARMUPCALL", "Q21ROUNDSTART", "Q21ANSWERSBATCH"):
        assert datetime.fromisoformat(understood[kind]["deadline"]).tzinfo is not None
    assert 0 < len(start["book_name"]) <= 255
    if form == "P1.0":
        assert start["book_description"] == start["book_hint"]
        assert 0 < len(start["associative_domain"]) <= 50
    assert isinstance(understood["Q21SCOREFEEDBACK"]["private_score"], float)


# The league.


@dataclass(slots=True)
class Post:
    """Who writes how, how long what takes, and what was written."""

    forms: Mapping[str, str]
    """By address; whoever is not named writes as we do."""

    delays: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """By sender and type, in seconds."""

    written: list[tuple[str, tuple[str, ...], bytes]] = field(default_factory=list)

    boxes: dict[str, MemoryMailbox] = field(default_factory=dict)

    def mailbox(self, office: PostOffice, address: str) -> FieldMailbox:
        box = self.boxes[address] = office.mailbox(address)
        return FieldMailbox(self, box)

    def form_of(self, address: str) -> str:
        return self.forms.get(address, "ours")

    def received_by(self, address: str) -> list[tuple[str, bytes]]:
        return [(sender, raw) for sender, to, raw in self.written if address in to]


class FieldMailbox:
    """The mailbox of one address, whose mail leaves in the form of its client."""

    def __init__(self, post: Post, box: MemoryMailbox) -> None:
        self._post, self._box = post, box
        self._form = post.form_of(box.address)
        self._answered = 0
        self._sent: set[str] = set()

    @property
    def address(self) -> str:
        return self._box.address

    def fetch(self, limit: int, known: Callable[[str], bool]) -> list[Mail]:
        mails = self._box.fetch(limit, known)
        if self._form != "R2" or self._answered == 2:
            return mails
        # [R2] drops a guess without a trace until it has answered the questions of both players (protocol 4.4.6).
        early = [mail.mail_id for mail in mails if "GUESS" in mail.subject]
        self._box.acknowledge(early)
        return [mail for mail in mails if mail.mail_id not in early]

    def acknowledge(self, mail_ids: Sequence[str]) -> None:
        self._box.acknowledge(mail_ids)

    def send(self, mail: OutgoingMail) -> None:
        kind = str(mail.document["message_type"])
        self._answered += kind == "Q21ANSWERSBATCH"
        self._sent.add(mail.transaction_id)
        raw = FORMS[self._form](mail)
        if raw is None:
            return
        self._post.written.append((mail.sender, mail.to, raw))
        wait = timedelta(seconds=self._post.delays.get((mail.sender, kind), 0))
        for address in self._post.boxes.keys() & mail.to:
            self._post.boxes[address].put(read(raw), mail.sent_at + wait)

    def was_sent(self, transaction_id: str) -> bool:
        return transaction_id in self._sent


def play(post: Post) -> OfflineLeague:
    teams = [team_of("house"), team_of("player-a"), team_of("player-b")]
    referee = choose_agent("scripted", "referee", rules=COURSE, seed=1)
    player = choose_agent("scripted", "player", rules=COURSE, seed=1)
    league = offline_league(
        [
            OfflineTeam(team=teams[0], player=None, referee=referee),
            OfflineTeam(team=teams[1], player=player, referee=None),
            OfflineTeam(team=teams[2], player=player, referee=None),
        ],
        single_game(teams[1], teams[2], teams[0], season=1),
        seed=1,
        rules=COURSE,
        journal_of=memory_journal,
        mailbox_of=post.mailbox,
    )
    league.play()
    return league


def match_of(league: OfflineLeague) -> Mapping[str, Any]:
    """What the match came to, for the league manager and for the referee: everything that does not depend on time."""
    (official,) = [note.facts for note in league.manager.journal.notes() if note.kind == "match"]
    (judged,) = [note.facts for note in league.referees[0].journal.notes() if note.kind == "match"]
    shown: Any = official["players"]
    table = [{key: value for key, value in row.items() if key != "own_report"} for row in shown]
    return {
        "status": official["status"],
        "winner": official["winner_id"],
        "table": table,
        "players": judged["players"],
        "scored": [
            [note.facts["scorecard"] for note in player.journal.notes() if note.kind == "game"]
            for player in league.players
        ],
    }


@cache
def expected() -> Mapping[str, Any]:
    """The same match among our own."""
    return match_of(play(Post(forms={})))


def warnings(league: OfflineLeague) -> list[tuple[str, str]]:
    members = (league.manager, *league.referees, *league.players)
    return [
        (member.participant_id, note.key)
        for member in members
        for note in member.journal.notes()
        if note.kind == "warning"
    ]


def check(post: Post, league: OfflineLeague) -> None:
    assert match_of(league) == expected()
    for member in (league.manager, *league.referees, *league.players):
        turned_away = [row.reason for row in member.journal.inbox() if row.verdict is not InboxVerdict.PROCESSED]
        assert turned_away == []
    for address, form in post.forms.items():
        received = post.received_by(address)
        # What two of them make of each other is not ours to answer for.
        if form in ("P1.1", "P1.0", "R2") and all(post.form_of(sender) == "ours" for sender, _ in received):
            check_what_is_read(form, received)


def slow(address: str, seconds: int, *kinds: str) -> dict[tuple[str, str], int]:
    return {(address, kind): seconds for kind in kinds}


ORDERS: Mapping[str, Mapping[tuple[str, str], int]] = {
    "together": {},
    "a after b": slow(PLAYER_A, 10, WARMUP, QUESTIONS, GUESS),
    "b after a": slow(PLAYER_B, 10, WARMUP, QUESTIONS, GUESS),
    "a warms up first, b asks first, a guesses first": {
        **slow(PLAYER_B, 10, WARMUP, GUESS),
        **slow(PLAYER_A, 10, QUESTIONS),
    },
    "a guesses before b asks": slow(PLAYER_B, 50, QUESTIONS),
    "b guesses before a asks": slow(PLAYER_A, 50, QUESTIONS),
}
"""Which player's mail takes how long."""

in_every_order = pytest.mark.parametrize("order", ORDERS)


def test_the_match_among_our_own_is_one_that_can_be_compared() -> None:
    match = expected()
    assert (match["status"], match["winner"]) == ("completed", "player-a")
    assert [row["league_points"] for row in match["table"]] == [3, 1]
    assert all(len(player["questions"]) == len(player["answers"]) == 20 for player in match["players"])


@in_every_order
@pytest.mark.parametrize("first", ["ours", "P1.1", "P1.0"])
@pytest.mark.parametrize("second", ["ours", "P1.1", "P1.0"])
def test_our_referee_judges_every_pair_of_players_alike(first: str, second: str, order: str) -> None:
    post = Post(forms={PLAYER_A: first, PLAYER_B: second}, delays=ORDERS[order])
    league = play(post)
    check(post, league)
    assert warnings(league) == []
    arrivals = [(row.sender, row.message_type) for row in league.referees[0].journal.inbox()]
    is_early = "guesses before" in order
    quick, late = (PLAYER_A, PLAYER_B) if order.startswith("a") else (PLAYER_B, PLAYER_A)
    assert is_early == (arrivals.index((quick, GUESS)) < arrivals.index((late, QUESTIONS)))


@in_every_order
def test_our_players_play_with_a_referee_of_the_field(order: str) -> None:
    post = Post(forms={REFEREE: "R2"}, delays=ORDERS[order])
    league = play(post)
    check(post, league)
    assert warnings(league) == []
    quick = PLAYER_A if order.startswith("a") else PLAYER_B
    kinds = [read_by_referee(raw)[0] for sender, raw in post.received_by(REFEREE) if sender == quick]
    is_sent_again = kinds.count(GUESS) > 1
    assert is_sent_again == ("guesses before" in order), "a guess that was dropped comes until there is a score"


@pytest.mark.parametrize("forms", [{}, {PLAYER_A: "P1.1"}, {PLAYER_A: "P1.0", PLAYER_B: "P1.1"}, {REFEREE: "R2"}])
@pytest.mark.parametrize("order", ["together", "b guesses before a asks"])
def test_a_match_is_played_under_a_league_manager_of_the_field(forms: Mapping[str, str], order: str) -> None:
    post = Post(forms={**forms, OFFICE: "LM-obs"}, delays=ORDERS[order])
    league = play(post)
    check(post, league)
    assert warnings(league) == []


def test_our_league_manager_hears_every_form() -> None:
    post = Post(forms={REFEREE: "R2", PLAYER_A: "P1.1", PLAYER_B: "P1.0"})
    league = play(post)
    check(post, league)
    heard = {(row.sender, row.message_type) for row in league.manager.journal.inbox()}
    assert heard == {
        (REFEREE, "SEASON_REGISTRATION_REQUEST"),
        (REFEREE, "RESPONSE_GROUP_ASSIGNMENT"),
        (REFEREE, "MATCH_RESULT_REPORT"),
        (PLAYER_A, "SEASON_REGISTRATION_REQUEST"),
        (PLAYER_A, "RESPONSE_GROUP_ASSIGNMENT"),
        (PLAYER_A, "MATCH_RESULT_REPORT"),
        (PLAYER_B, "SEASON_REGISTRATION_REQUEST"),
    }
