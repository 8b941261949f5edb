"""Undercover at a terminal: a sentence to describe, a number and a reason to vote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from league_agents.games.game import Action, Event, LegalAction
from league_agents.games.person import Reader, Unclear, View, number_and_words
from league_agents.kit.printable import printable

_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "describe": "{name}, your word is {word}: describe it in one line without naming it. ",
        "vote": "{name}, your word is {word}: who has another one? The number, and why{nobody}. ",
        "nobody": " (0: nobody)",
        "player": "{player_id} {name}: {said}",
        "silent": "nothing yet",
        "empty": "Write what you say, in at most {most} characters.",
        "unclear": "Write one of {choices} and why, for example: {example}",
        "example": "{number} too vague",
        "no_reason": "No reason given.",
        "voted": "{name} votes for {target}: {reason}",
        "abstained": "{name} votes for nobody: {reason}",
        "join": ", ",
        "between": " / ",
    },
    "zh": {
        "describe": "{name}，你的词是“{word}”：用一句话描述它，不要说出这个词。",
        "vote": "{name}，你的词是“{word}”：谁是卧底？请输入号码和理由{nobody}。",
        "nobody": "（0 表示弃权）",
        "player": "{player_id}号 {name}：{said}",
        "silent": "还没有发言",
        "empty": "请输入一句话，最多 {most} 个字符。",
        "unclear": "请输入 {choices} 之一和理由，例如：{example}",
        "example": "{number} 说得太含糊",
        "no_reason": "没有说明理由。",
        "voted": "{name}投给{target}：{reason}",
        "abstained": "{name}弃权：{reason}",
        "join": "、",
        "between": "／",
    },
}


_MOST_REASON: Final = 200
"""Characters of a reason that are shown to spectators."""


def told(event: Event, reader: Reader) -> Sequence[str]:
    """Return the lines of an event."""
    if event.kind == "round_started":
        return ("", event.text)
    if event.kind == "word_dealt":
        return () if reader.sees_all else (event.text,)
    if event.kind == "vote_accepted" and "cause" not in event.data:
        if not reader.sees_all:
            return ()  # the person typed it
        key = "abstained" if event.data["target_name"] is None else "voted"
        reason = printable(event.data["reason"], _MOST_REASON)
        target = event.data["target_name"]
        return (_WORDS[reader.lang][key].format(name=event.data["name"], target=target, reason=reason),)
    return (event.text,)


def shown(view: View, legal: Sequence[LegalAction], reader: Reader) -> Sequence[str]:
    """Return, before a vote, the descriptions of all players that can be voted for."""
    if legal[0].type != "vote":
        return ()
    words, choices = _WORDS[reader.lang], _choices(legal)
    return tuple(
        words["player"].format(
            player_id=player["player_id"],
            name=player["name"],
            said=words["between"].join(text for text in player["description_history"] if text) or words["silent"],
        )
        for player in view["players"]
        if player["player_id"] in choices
    )


def prompt(view: View, legal: Sequence[LegalAction], advice: Action, reader: Reader) -> str:  # noqa: ARG001
    """Return the prompt for a description or a vote."""
    words, kind, me = _WORDS[reader.lang], legal[0].type, view["me"]
    nobody = words["nobody"] if kind == "vote" and None in _choices(legal) else ""
    return words[kind].format(name=me["name"], word=me["word"], nobody=nobody)


def list_of(advice: Action) -> None:
    """Return ``None``: an answer is one line."""


def read(
    lines: Sequence[str],
    view: View,  # noqa: ARG001
    legal: Sequence[LegalAction],
    advice: Action,  # noqa: ARG001  # an empty line must not submit the advice
    reader: Reader,
) -> Action:
    """Return the action for a sentence, or for a number and a reason."""
    words, kind, typed = _WORDS[reader.lang], legal[0].type, lines[0].strip()
    if kind == "describe":
        most = legal[0].schema["properties"]["description"]["maxLength"]
        if not 0 < len(typed) <= most:
            raise Unclear(words["empty"].format(most=most))
        return Action(type=kind, data={"description": typed})
    choices = _choices(legal)
    found = number_and_words(typed)
    number = None if found is None or found[0] == 0 else found[0]
    if found is None or number not in choices:
        numbers = [str(choice or 0) for choice in choices]
        example = words["example"].format(number=numbers[0])
        raise Unclear(words["unclear"].format(choices=words["join"].join(numbers), example=example))
    most = legal[0].schema["properties"]["reason"]["maxLength"]
    return Action(type=kind, data={"vote_number": number, "reason": (found[1] or words["no_reason"])[:most]})


def _choices(legal: Sequence[LegalAction]) -> Sequence[int | None]:
    choices: Sequence[int | None] = legal[0].schema["properties"]["vote_number"]["enum"]
    return choices
