"""One match as one JSON document, from the journals of its participants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from league_agents.games.q21.model import Termination
from league_agents.journal.port import Note
from league_agents.kit.json_values import mappings
from league_agents.report.models import model_steps
from league_agents.report.traffic import Participant, SentMessage, sent_messages
from league_agents.report.trouble import troubles

MATCH_RECORD = "match"
"""The kind of note in which a referee records a match, its target included."""


def match_document(
    game_id: str,
    *,
    seed: int,
    rules: str,
    manager: Participant,
    referee: Participant,
    players: Sequence[Participant],
) -> dict[str, object]:
    """The match with its questions, answers, guesses, target, mails and the standings.

    ``notes`` are warnings in plain words, and ``models`` the outcome of language models' work, step by step: the
    referee's is in the match, each player's in the player.

    JSON values only, keys in a fixed order. The target is included because the match is over; a match without a
    report has none.
    """
    facts = _facts(referee.journal.notes(), game_id)
    # The league manager's record counts: a report that it never received does not.
    official = _facts(manager.journal.notes(), game_id) or facts
    mails = sent_messages([manager, referee, *players])
    by_id = {str(row["id"]): row for row in mappings(facts.get("players"))}
    return {
        "seed": seed,
        "rules": rules,
        "match": {
            "game_id": game_id,
            "status": official.get("status", Termination.NO_REPORT.value),
            "winner_id": official.get("winner_id"),
            "is_draw": official.get("is_draw", True),
            "abort_reason": official.get("abort_reason"),
            "brief": facts.get("brief"),
            "notes": troubles(referee.journal.notes(), game_id),
            "models": model_steps(referee.journal.notes(), game_id),
        },
        "target": facts.get("target"),
        "players": [
            _player(
                player.participant_id,
                by_id.get(player.participant_id, {}),
                is_reported=official.get("status") != Termination.NO_REPORT.value,
                notes=troubles(player.journal.notes(), game_id),
                models=model_steps(player.journal.notes(), game_id),
            )
            for player in players
        ],
        "messages": [_message(mail) for mail in mails],
        "standings": _standings(mails),
    }


def _facts(notes: Iterable[Note], game_id: str) -> Mapping[str, object]:
    found = [note.facts for note in notes if note.kind == MATCH_RECORD and note.key == game_id]
    return found[-1] if found else {}


def _player(
    participant_id: str,
    row: Mapping[str, object],
    *,
    is_reported: bool,
    notes: list[str],
    models: list[dict[str, object]],
) -> dict[str, object]:
    card = row.get("scorecard")
    scorecard = None
    if isinstance(card, Mapping):
        scorecard = {key: card.get(key) for key in ("private_score", "league_points", "breakdown", "feedback")}
        scorecard["is_judged"] = card.get("is_judged", True)
    return {
        "id": participant_id,
        "termination": row.get("termination") if is_reported and row else Termination.NO_REPORT.value,
        "questions": row.get("questions", []),
        "answers": row.get("answers", []),
        "guess": row.get("guess"),
        "scorecard": scorecard,
        "notes": notes,
        "models": models,
    }


def _message(mail: SentMessage) -> dict[str, object]:
    return {
        "at": mail.at.isoformat(),
        "from": mail.sender,
        "to": list(mail.to),
        "type": mail.message_type,
        "message_id": mail.message_id,
        "subject": mail.subject,
    }


def _standings(mails: Sequence[SentMessage]) -> list[Mapping[str, object]]:
    """The final standings as the league manager sent them; empty when the league did not end."""
    for mail in reversed(mails):
        payload = mail.document.get("payload")
        if mail.message_type == "LEAGUE_COMPLETED" and isinstance(payload, Mapping):
            return mappings(payload.get("final_standings"))
    return []
