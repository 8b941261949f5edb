"""The outcome of language models' work in a match, from the notes of a journal.

Rule: every note is read with the same bounds; one without a step is ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from league_agents.journal.port import MODEL_WORK, Note
from league_agents.kit.json_values import mapping
from league_agents.kit.model_work import ModelStep, read_steps
from league_agents.kit.printable import of
from league_agents.report.cells import name_of, players_of


def model_steps(notes: Iterable[Note], game_id: str) -> list[dict[str, object]]:
    """The steps of one participant in a match as JSON values, in order. In a referee's, ``player`` names the player."""
    found: list[dict[str, object]] = []
    for note in notes:
        if note.kind == MODEL_WORK and note.key == game_id:
            player = of(note.facts.get("player"), 60)
            found += [step.to_json() | ({"player": player} if player else {}) for step in steps_of(note)]
    return found


def steps_of(note: Note) -> tuple[ModelStep, ...]:
    """The steps in a note."""
    return read_steps(note.facts.get("steps"), callback=of(note.facts.get("callback"), 60))


def model_words(note: Note) -> str:
    """One line: ``get_answers: the model's work was partly used, 7 of 9 (…)``."""
    said = "; ".join(f"the model's work was {step.words()}" for step in steps_of(note))
    player = of(note.facts.get("player"), 60)
    return f"{of(note.facts.get('callback'), 60)}{f' for {player}' if player else ''}: {said}"


def models_of(document: Mapping[str, object]) -> Iterator[tuple[str, tuple[ModelStep, ...]]]:
    """Yield each participant in a match's document that used models, with its steps."""
    parts = [("the referee", mapping(document.get("match")))]
    for who, part in [*parts, *((name_of(player), player) for player in players_of(document))]:
        steps = read_steps(part.get("models"))
        if steps:
            yield who, steps
