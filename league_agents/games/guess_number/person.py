"""Guess number at a terminal: one number a turn, with a few words in phases that others hear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from league_agents.games.game import Action, Event, LegalAction
from league_agents.games.guess_number.actions import GUESS, PASS
from league_agents.games.guess_number.messages import LONGEST_TEXT
from league_agents.games.guess_number.protocol import OBSERVATION, PROPOSAL, STATE_REPORT
from league_agents.games.guess_number.scripted import report_of
from league_agents.games.person import Reader, Unclear, View, number_and_words

_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "step": "Step {step}",
        "right": "{me}: {guess} is right",
        "wrong": "{me}: {guess} is wrong",
        "known_wrong": "Known to be wrong: {numbers}",
        "known_target": "Known to be right: {number}",
        STATE_REPORT: "{me}, which number will you guess, 0 to {most}? Words for the others may follow it. [{usual}] ",
        PROPOSAL: "{me}, which number do you propose? - for none. Words may follow it. [{usual}] ",
        GUESS: "{me}, your guess, 0 to {most}? [{usual}] ",
        "unclear": "Write a number from 0 to {most}.",
        "only": "Write the number alone.",
        "long": "Write at most {most} characters.",
    },
    "zh": {
        "step": "第 {step} 步",
        "right": "{me}：{guess} 是对的",
        "wrong": "{me}：{guess} 不对",
        "known_wrong": "已知不对的：{numbers}",
        "known_target": "已知正确的：{number}",
        STATE_REPORT: "{me}，你打算猜哪个数（0 到 {most}）？后面可以写给其他人的话。[{usual}] ",
        PROPOSAL: "{me}，你建议猜哪个数？- 表示不提。后面可以写理由。[{usual}] ",
        GUESS: "{me}，请猜（0 到 {most}）：[{usual}] ",
        "unclear": "请输入 0 到 {most} 的数。",
        "only": "请只输入一个数。",
        "long": "最多 {most} 个字符。",
    },
}
_MOST_LISTED: Final = 40


def told(event: Event, reader: Reader) -> Sequence[str]:
    """Return the lines of an event."""
    words, data = _WORDS[reader.lang], event.data
    if event.kind == "phase":
        return ("", words["step"].format(step=data["step"])) if data["phase"] == OBSERVATION else ()
    if event.kind == OBSERVATION:
        if reader.sees_all or data["last_guess"] is None:
            return ()
        return (words["right" if data["is_correct"] else "wrong"].format(me=reader.me, guess=data["last_guess"]),)
    if event.kind == GUESS:
        return ()  # the player typed it, and spectators see it when it is judged
    return (event.text,)


def shown(view: View, legal: Sequence[LegalAction], reader: Reader) -> Sequence[str]:
    """Return what the person knows about the number."""
    words, me = _WORDS[reader.lang], view["me"]
    if legal[0].type == PROPOSAL:
        return ()  # the preceding event already shows it
    if me["known_target"] is not None:
        return (words["known_target"].format(number=me["known_target"]),)
    wrong = [str(number) for number in me["known_wrong"]]
    if not wrong:
        return ()
    listed = ", ".join(wrong[:_MOST_LISTED]) + (" …" if len(wrong) > _MOST_LISTED else "")
    return (words["known_wrong"].format(numbers=listed),)


def prompt(view: View, legal: Sequence[LegalAction], advice: Action, reader: Reader) -> str:
    """Return the prompt for a number."""
    usual = _number_of(advice)
    return _WORDS[reader.lang][legal[0].type].format(me=reader.me, most=view["num_choices"] - 1, usual=usual)


def list_of(advice: Action) -> None:
    """Return ``None``: an answer is one line."""


def read(lines: Sequence[str], view: View, legal: Sequence[LegalAction], advice: Action, reader: Reader) -> Action:
    """Return the action for a number with words; an empty line takes the advice."""
    words, most, kind, typed = _WORDS[reader.lang], view["num_choices"] - 1, legal[0].type, lines[0].strip()
    if not typed:
        return advice
    if typed == "-" and any(each.type == PASS for each in legal):
        return Action(type=PASS)
    found = number_and_words(typed)
    if found is None or not 0 <= found[0] <= most:
        raise Unclear(words["unclear"].format(most=most))
    number, said = found
    if kind == GUESS:
        if said:
            raise Unclear(words["only"])
        return Action(type=GUESS, data={"guess": number})
    if len(said) > LONGEST_TEXT:
        raise Unclear(words["long"].format(most=LONGEST_TEXT))
    if kind == STATE_REPORT:
        return Action(type=kind, data={**report_of(view, number), **({"reasoning": said} if said else {})})
    data = {**advice.data, "content": {"next_guess": number}, **({"rationale": said} if said else {})}
    return Action(type=kind, data=data)


def _number_of(advice: Action) -> Any:
    data = advice.data
    return data["guess"] if advice.type == GUESS else data.get("next_guess", data.get("content", {}).get("next_guess"))
