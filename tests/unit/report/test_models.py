"""What became of models' work in a match, from its journals to the reader."""

from __future__ import annotations

import io
from datetime import UTC, datetime

from rich.console import Console

from league_agents.games.q21.rules import PRD
from league_agents.journal.memory import MemoryJournal
from league_agents.journal.port import MODEL_WORK, Note, StepCause, StepCommit
from league_agents.kit.model_work import ModelStep, ModelWorkUse, Why
from league_agents.report.match import match_document
from league_agents.report.models import model_steps, models_of
from league_agents.report.traffic import Participant
from league_agents.report.transcript import transcript

NOON = datetime(2031, 5, 2, 12, 0, tzinfo=UTC)
HINT = ModelStep(step="referee_hint", work=ModelWorkUse.USED)
ANSWERS = ModelStep(step="referee_answers", work=ModelWorkUse.REPLACED, why=Why.UNAVAILABLE, detail="m: down")


def note(callback: str, *steps: ModelStep, game: str = "0101001", player: str | None = None) -> Note:
    facts = {"callback": callback, "player": player, "steps": [step.to_json() for step in steps]}
    return Note(at=NOON, kind=MODEL_WORK, key=game, facts=facts)


def participant(name: str, *notes: Note) -> Participant:
    journal = MemoryJournal(dump=lambda _name, part: str(part))
    journal.commit(StepCommit(cause=StepCause.COMMAND, key="1", at=NOON, notes=notes))
    return Participant(participant_id=name, address=f"{name}@league.test", journal=journal)


def test_the_steps_of_a_match_stand_with_whoever_took_them() -> None:
    judge = participant(
        "house",
        note("get_round_start_info", HINT),
        note("get_answers", ANSWERS, player="owls"),
        note("get_answers", HINT, game="0102001"),
    )
    owls = participant("owls", note("get_questions", HINT))
    document = match_document(
        "0101001", seed=1, rules="prd", manager=participant("lm"), referee=judge,
        players=[owls, participant("ravens")],
    )  # fmt: skip
    match, players = document["match"], document["players"]
    assert isinstance(match, dict)
    assert isinstance(players, list)
    assert match["models"] == [
        {"callback": "get_round_start_info", "step": "referee_hint", "work": "used", "why": None},
        {"callback": "get_answers", "step": "referee_answers", "work": "replaced", "why": "unavailable",
         "detail": "m: down", "player": "owls"},
    ]  # fmt: skip
    assert [len(player["models"]) for player in players] == [1, 0]
    assert [who for who, _ in models_of(document)] == ["the referee", "owls"]


def test_a_person_reads_what_became_of_every_step() -> None:
    judge = participant("house", note("get_round_start_info", HINT), note("get_answers", ANSWERS))
    document = match_document(
        "0101001", seed=1, rules="prd", manager=participant("lm"), referee=judge, players=[participant("owls")]
    )
    written = io.StringIO()
    Console(file=written, width=200).print(transcript(document, PRD))
    assert (
        "the referee: the language model's work was used in 1 of 2 steps, replaced by code in 1 (the service could not"
        " be asked: m: down)"
    ) in written.getvalue()
    assert "- get_answers: replaced (the service could not be asked: m: down)" in written.getvalue()


def test_notes_of_any_form_tell_what_they_can() -> None:
    odd = Note(at=NOON, kind=MODEL_WORK, key="0101001", facts={"steps": [3, {"step": 4}], "callback": ["x"]})
    assert model_steps([odd], "0101001") == []
