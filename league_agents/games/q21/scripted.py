"""A referee and players for the table without any resources: four famous openings, told apart by length.

Rule: an action depends only on the view, the legal actions and the draw; nothing is remembered.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from league_agents.games.game import Action, LegalAction
from league_agents.games.q21.actions import ANNOUNCE, ANSWER, ASK, GUESS
from league_agents.games.q21.model import LETTERS
from league_agents.kit.draw import Draw

_TARGETS: Final = (
    # Works in the public domain.
    ("Moby-Dick", "A voyage for revenge, told by the last one left", "animals", "Call me Ishmael.", "whale"),
    (
        "Pride and Prejudice",
        "Five daughters and a neighbour with an income",
        "family",
        (
            "It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in "
            "want of a wife."
        ),
        "marriage",
    ),
    (
        "Anna Karenina",
        "A railway station at both ends of a love affair",
        "family",
        "All happy families are alike; every unhappy family is unhappy in its own way.",
        "household",
    ),
    (
        "A Christmas Carol",
        "Three visitors in one winter night",
        "people",
        "Marley was dead: to begin with.",
        "ghost",
    ),
)
_ASKED = re.compile(r"more than (\d{1,3}) words")
OWN_OPTIONS: Final = ("Yes", "No", "Partially", "Unknown")


def scripted(view: Mapping[str, Any], legal: Sequence[LegalAction], draw: Draw) -> Action:
    """Return the action that is due: announce, ask, answer or guess."""
    (action,) = legal
    if action.type == ANNOUNCE:
        return Action(type=ANNOUNCE, data=_announced(draw))
    if action.type == ASK:
        return Action(type=ASK, data={"questions": _questions(action, view)})
    if action.type == ANSWER:
        player = action.schema["properties"]["player_id"]["enum"][0]
        return Action(type=ANSWER, data={"player_id": player, "answers": _answers(view, player)})
    assert action.type == GUESS, f"q21 has no action {action.type}"
    return Action(type=GUESS, data=_guessed(view))


def _announced(draw: Draw) -> dict[str, str]:
    book, hint, domain, sentence, word = draw.choice(_TARGETS)
    return {
        "book_name": book,
        "book_hint": hint,
        "association_word": domain,
        "actual_opening_sentence": sentence,
        "actual_associative_word": word,
    }


def _questions(action: LegalAction, view: Mapping[str, Any]) -> list[dict[str, Any]]:
    count = action.schema["properties"]["questions"]["minItems"]
    options = dict(zip(LETTERS, view.get("fixed_options", OWN_OPTIONS), strict=True))
    return [
        {
            "question_number": number,
            "question_text": f"Does the opening sentence have more than {number + 1} words?",
            "options": dict(options),
        }
        for number in range(1, count + 1)
    ]


def _answers(view: Mapping[str, Any], player: str) -> list[dict[str, Any]]:
    words = len(view["target"]["opening_sentence"].split())
    found = []
    for question in view["games"][player]["questions"]:
        asked = _ASKED.search(question["question_text"])
        answer = "Not Relevant" if asked is None else "A" if words > int(asked[1]) else "B"
        found.append({"question_number": question["question_number"], "answer": answer})
    return found


def _guessed(view: Mapping[str, Any]) -> dict[str, Any]:
    brief, me = view["brief"], view["me"]
    yes = [answer["question_number"] for answer in me["answers"] or () if answer["answer"] == "A"]
    length = max(yes, default=0) + 2

    def distance(target: tuple[str, str, str, str, str]) -> tuple[bool, int]:
        return target[0] != brief["book_name"], abs(len(target[3].split()) - length)

    _, _, _, sentence, word = min(_TARGETS, key=distance)
    known = [
        f"question {answer['question_number']} was answered {answer['answer']}" for answer in (me["answers"] or ())[:4]
    ]
    cited = ", and ".join(known) or "no question was answered"
    reason = (
        f"The answers speak of the length: {cited}. Among the openings that I know, the one that begins with "
        f"{' '.join(sentence.split()[:3])} has {len(sentence.split())} words and fits them best."
    )
    return {
        "opening_sentence": sentence,
        "sentence_justification": reason,
        "associative_word": word,
        "word_justification": f"Of the words in the domain {brief['association_word']} the word {word} goes with this "
        f"book, since {cited}, and nothing in the hint speaks against it as far as I can see.",
        "confidence": 0.5,
    }
