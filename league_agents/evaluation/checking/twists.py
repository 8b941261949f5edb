"""The odd and hostile twists of invented games.

Rule: a counterpart has sent, or can send, each twist. If a deployed client is known for one, its name says so (protocol
6.2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from league_agents.evaluation.checking.games import ORDER, InventedGame, Parts, Twist
from league_agents.evaluation.checking.report import TrialKind
from league_agents.games.q21.model import LETTERS

LONG = 100_000
"""Characters; far more than any text of a match may have."""

HEBREW = "בראשית ברא אלהים את השמים ואת הארץ"
CHINESE = "此开卷第一回也，作者自云曾历过一番梦幻之后"
CONTROL = "Call me\x00 \x1b[31mred\x1b[0m \u202eedoc desrever\u202c\u200b \ud800 Ishmael\r\n\t"

TEXT_KEYS = frozenset(
    [
        *("warmup_question", "warmup_answer", "book_name", "book_hint", "association_word", "question_text", *LETTERS),
        *("opening_sentence", "sentence_justification", "associative_word", "word_justification"),
    ]
)
"""Keys whose texts come from other participants."""


def games_for(role: str, *, valid_only: bool = False) -> tuple[InventedGame, ...]:
    """Return all games for an agent of this role, the valid ones first and last."""
    is_referee = role == "referee"
    valid = _VALID_REFEREE if is_referee else _VALID_PLAYER
    if valid_only:
        return valid
    # A last valid game: the games before must not have damaged the instance.
    last = InventedGame(name="a proper match after all that", kind=TrialKind.VALID)
    return (*valid, *(_REFEREE if is_referee else _PLAYER), *_BOTH, last)


def _dynamic(context: Parts) -> Parts:
    dynamic = context["dynamic"]
    assert isinstance(dynamic, dict)
    return dynamic


def _each_text(value: object, change: Callable[[str], str], key: str = "") -> object:
    if isinstance(value, dict):
        return {name: _each_text(item, change, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_each_text(item, change, key) for item in value]
    return change(value) if isinstance(value, str) and key in TEXT_KEYS else value


def _texts(change: Callable[[str], str]) -> Twist:
    return lambda context: {**context, "dynamic": _each_text(context["dynamic"], change)}


def _always(text: str) -> Callable[[str], str]:
    return lambda _former: text


def _lengthened(text: str) -> str:
    return ((text or "x") * (LONG // max(1, len(text)) + 1))[:LONG]


def _with(values: Parts, *, where: str | None = None) -> Twist:
    """Replace values of ``dynamic`` that are there, in every context or only in those that have the key ``where``."""

    def twist(context: Parts) -> Mapping[str, object]:
        dynamic = _dynamic(context)
        if where is None or where in dynamic:
            dynamic.update({key: value for key, value in values.items() if key in dynamic})
        return context

    return twist


def _items(context: Parts, key: str) -> list[Parts]:
    items = _dynamic(context).get(key)
    return items if isinstance(items, list) else []


def _not_relevant(context: Parts) -> Mapping[str, object]:
    for answer in _items(context, "answers"):
        answer["answer"] = "Not Relevant"
    return context


def _foreign_numbers(context: Parts) -> Mapping[str, object]:
    for key in ("answers", "questions"):
        for number, item in enumerate(_items(context, key), start=101):
            item["question_number"] = number
    return context


def _some_questions(context: Parts) -> Mapping[str, object]:
    del _items(context, "questions")[3:]
    return context


def _absent_player(context: Parts) -> Mapping[str, object]:
    player = _dynamic(context).get("player_b")
    if isinstance(player, dict):
        player["warmup_answer"] = "ABSENT_MALFUNCTION"
    return context


def _no_ids(context: Parts) -> Mapping[str, object]:
    for key in ("match_id", "game_id", "season_id", "league_id", "round_number", "round_id"):
        _dynamic(context).pop(key, None)
    return {**context, "service": {}}


def _flat(context: Parts) -> Mapping[str, object]:
    return _dynamic(context)


def _emptied(_context: Parts) -> Mapping[str, object]:
    return {"dynamic": {}, "service": {}}


def _nothing_known(context: Parts) -> Mapping[str, object]:
    return {**context, "dynamic": dict.fromkeys(_dynamic(context))}


_NO_BOOK: Parts = {"book_hint": "", "association_word": ""}
_NOTHING_GUESSED: Parts = {
    "opening_sentence": "",
    "sentence_justification": "",
    "associative_word": "",
    "word_justification": "",
    "confidence": None,
}

_RESTARTED: Parts = {"actual_opening_sentence": None, "actual_associative_word": None}
_UNSCORED: Parts = {"league_points": 0, "private_score": 0.0, "breakdown": {}, "feedback": {}}
_WRONG_TYPES: Parts = {
    "questions": "Is it a whale?",
    "answers": {"1": "A"},
    "questions_sent": 20,
    "player_guess": "whale",
    "warmup_question": 7,
    "book_name": ["Moby-Dick"],
    "book_hint": 7.5,
    "breakdown": [],
    "feedback": "well done",
    "private_score": "70",
}


def _odd(name: str, twist: Twist) -> InventedGame:
    return InventedGame(name=name, kind=TrialKind.ODD, twist=twist)


def _hostile(name: str, twist: Twist) -> InventedGame:
    return InventedGame(name=name, kind=TrialKind.HOSTILE, twist=twist)


_VALID_REFEREE = (
    InventedGame(name="first match", kind=TrialKind.VALID),
    InventedGame(name="second match", kind=TrialKind.VALID),
)
_VALID_PLAYER = (
    InventedGame(name="as player 1", kind=TrialKind.VALID),
    InventedGame(name="as player 2", kind=TrialKind.VALID, is_second=True),
    InventedGame(name="every answer is Not Relevant", kind=TrialKind.VALID, twist=_not_relevant),
)

_PLAYER = (
    _odd("the oldest clients: no hint, no answers", _with({**_NO_BOOK, "answers": [], "questions_sent": []})),
    _odd(
        "later clients: no book in the guess",
        _with({"book_name": "", **_NO_BOOK, "questions_sent": []}, where="questions_sent"),
    ),
    _odd("a guess that nobody scored", _with(_UNSCORED)),
    _odd("answers to questions that were not asked", _foreign_numbers),
)

_REFEREE = (
    _odd("one player is absent", _absent_player),
    _odd("only three questions", _some_questions),
    _odd("questions with other numbers", _foreign_numbers),
    _odd("an empty guess", _with({"player_guess": _NOTHING_GUESSED})),
    _odd("the target is not handed back", _with(_RESTARTED)),
)

_BOTH = (
    _odd("Hebrew texts", _texts(_always(HEBREW))),
    _odd("Chinese texts", _texts(_always(CHINESE))),
    _odd("empty texts", _texts(_always(""))),
    _odd("no ids, empty service", _no_ids),
    _odd('no "dynamic": the values lie in the context', _flat),
    _hostile("every value is None", _nothing_known),
    _hostile("every key is missing", _emptied),
    _hostile("values of wrong types", _with(_WRONG_TYPES)),
    _hostile("texts of 100,000 characters", _texts(_lengthened)),
    _hostile("control characters, reversed writing", _texts(_always(CONTROL))),
    _hostile("orders in place of texts", _texts(_always(ORDER))),
)
