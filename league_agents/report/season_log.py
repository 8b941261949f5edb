"""The audit trail: orders of the operator, settlements, refusals and warnings."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence

from league_agents.journal.port import NOTICE, REFUSALS, WARNING, Note, Order
from league_agents.kit.ids import is_game_id
from league_agents.kit.printable import of
from league_agents.league.season.orders import OrderSubject, command_of, order_words
from league_agents.report.match_assembly import SETTLEMENT, settlement_of
from league_agents.report.records import AuditEntry
from league_agents.report.season_frame import RESET_MARK, RoleJournal

MOST = 2_000
"""Maximal number of entries of one journal; the latest are kept."""

LONGEST = 500


def log_of(journals: Sequence[RoleJournal], *, division: str = "") -> Iterator[AuditEntry]:
    """Entries of the league manager's journal, oldest first; of all journals if there is no manager's."""
    chosen = [each for each in journals if each.role == "manager"] or list(journals)
    found: list[AuditEntry] = []
    for own in chosen:
        by = f"{own.role} {own.address}" if not division else f"{division}: {own.role} {own.address}"
        found += deque(_entries(own, by), maxlen=MOST)
    yield from sorted(found, key=lambda entry: entry.at)


def _entries(own: RoleJournal, by: str) -> Iterator[AuditEntry]:
    refused: dict[object, str] = {}
    for note in own.journal.notes(kinds=(WARNING,)):
        if note.key in REFUSALS and "nonce" in note.facts:
            refused[note.facts["nonce"]] = str(note.facts.get("text", ""))
    waiting = {order.nonce for order in own.journal.open_orders()}
    given: set[object] = set()
    for order in own.journal.orders():
        given.add(order.nonce)
        text, kind = words_of_order(order), "waiting" if order.nonce in waiting else "order"
        if order.nonce in refused:
            text, kind = f"{refused[order.nonce]} ({text})", "refusal"
        yield AuditEntry(at=order.at, kind=kind, text=of(text, LONGEST), by=by)
    resets: Counter[str] = Counter()
    for note in own.journal.notes(kinds=(WARNING, NOTICE, SETTLEMENT, "round", "season")):
        if note.kind == SETTLEMENT and is_game_id(note.key) and _is_about_a_team(note.facts.get("order")):
            continue  # a walkover of a team whose own settlement is listed
        if note.kind == WARNING and note.facts.get("nonce") in given:
            continue  # the refusal is listed with its order
        text = _text(note)
        if _has_dropped_matches(note):
            resets[note.key] += 1
            text = f"{text}; 'show --season {note.key}{RESET_MARK}{resets[note.key]}' shows what was played"
        yield AuditEntry(at=note.at, kind=_kind(note), text=of(text, LONGEST), by=by)


def _has_dropped_matches(note: Note) -> bool:
    """Whether a season was reset that had a schedule."""
    facts = note.facts
    return note.kind == "season" and facts.get("termination") == "reset" and bool(facts.get("total_rounds"))


def words_of_order(order: Order) -> str:
    """An order in words: ``annul: 0101001: why``."""
    command = command_of(order.command)
    word = order.command.replace("_", "-")
    said = order_words(order.text) if command is not None and command.settles else order.text
    return f"{word}: {said}" if said else word


def _is_about_a_team(order: object) -> bool:
    command = command_of(order) if isinstance(order, str) else None
    return command is not None and command.settles is OrderSubject.TEAM


def _kind(note: Note) -> str:
    return "refusal" if note.kind == WARNING and note.key in REFUSALS else note.kind


def _text(note: Note) -> str:
    facts = note.facts
    if note.kind == SETTLEMENT:
        settled = settlement_of(note)
        said = f"{settled.words} {note.key}: {settled.why}"
        if first := settled.after.get("replay_of"):
            said = f"{note.key} replays {first}: {settled.why}"
        return f"{said} (withdrawn)" if settled.withdrawn else said
    if note.kind == "round":
        return f"round {note.key}: results and standings"
    if note.kind == "season":
        ended = "was reset" if facts.get("termination") == "reset" else "is over"
        return f"season {note.key} {ended}"
    said = str(facts.get("text", ""))
    return said if note.key == "command_refused" else f"{note.key}: {said}"
