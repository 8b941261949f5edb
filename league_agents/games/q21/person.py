"""Q21 at a terminal: one line for the brief, the answers and the guess, a list of lines for the questions.

Rule: omitted parts are filled in from the prepared action, and faults in typed text are reported to the person before
the action reaches the game.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from league_agents.games.game import Action, Event, LegalAction
from league_agents.games.person import Reader, Unclear, View
from league_agents.games.q21.actions import ANNOUNCE, ANSWER, ASK, GUESS, LONGEST_JUSTIFICATION
from league_agents.games.q21.model import LETTERS, Choice
from league_agents.games.q21.scripted import OWN_OPTIONS

_BETWEEN: Final = "|"
_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        ANNOUNCE: "{me}: book | hint | domain of the word | opening sentence | word. [a prepared one] ",
        ASK: "{me}, question 1 of {count}? [{count} prepared ones] ",
        ANSWER: "{me}: {count} letters A to D for {player}, - for not relevant; a single - for all of them. ",
        GUESS: "{me}: opening sentence | word | why this sentence | why this word. [a prepared guess] ",
        "ask_how": "Write {count} questions, one a line: question | A | B | C | D.",
        "ask_options": "Without options of their own they have {options}.",
        "ask_fixed": "The options are always {options}.",
        "ask_end": "An empty line ends them, and prepared ones fill what is missing. @FILE reads them from a file, "
        "'edit' opens your editor.",
        "guess_how": "Reasons that you leave out are made from the answers.",
        "target": "The sentence: {sentence} The word: {word}.",
        "not_relevant": "not relevant",
        "points": "{player}: {points} points, {score} of 100",
        "parts": "Write the {count} parts with | between them.",
        "too_long": "Question {number} has more than five parts: question | A | B | C | D.",
        "options": "Question {number} needs all four options, or none.",
        "fixed": "Question {number}: the options are always {options}; write the question alone.",
        "short": "Question {number} must have {least} to {most} characters.",
        "many": "These are {found} questions; {count} are asked.",
        "letters": "Write {count} letters A to D, or - for not relevant; these are {found}.",
        "length": "{what} must have {least} to {most} characters.",
        "sentence": "The sentence",
        "word": "The word",
    },
    "zh": {
        ANNOUNCE: "{me}：书名 | 提示 | 词的领域 | 开头句子 | 词 [用准备好的] ",
        ASK: "{me}，第 1 个问题（共 {count} 个）：[用 {count} 个准备好的] ",
        ANSWER: "{me}：给 {player} 的 {count} 个字母 A 到 D，- 表示无关；单独一个 - 表示全部无关：",
        GUESS: "{me}：开头句子 | 词 | 句子的理由 | 词的理由 [用准备好的] ",
        "ask_how": "请写 {count} 个问题，每行一个：问题 | A | B | C | D。",
        "ask_options": "不写选项时，选项是 {options}。",
        "ask_fixed": "选项固定为 {options}。",
        "ask_end": "空行结束，缺少的用准备好的补足。@文件名 从文件读取，edit 打开编辑器。",
        "guess_how": "没有写的理由由回答补足。",
        "target": "句子：{sentence} 词：{word}。",
        "not_relevant": "无关",
        "points": "{player}：{points} 点，{score} 分（满分 100）",
        "parts": "请写出 {count} 个部分，用 | 隔开。",
        "too_long": "第 {number} 个问题超过五个部分：问题 | A | B | C | D。",
        "options": "第 {number} 个问题须写全四个选项，或都不写。",
        "fixed": "第 {number} 个问题：选项固定为 {options}；请只写问题。",
        "short": "第 {number} 个问题须有 {least} 到 {most} 个字符。",
        "many": "这里有 {found} 个问题，应为 {count} 个。",
        "letters": "请写 {count} 个字母 A 到 D，或 - 表示无关；这里有 {found} 个。",
        "length": "{what}须有 {least} 到 {most} 个字符。",
        "sentence": "句子",
        "word": "词",
    },
}
_BRIEF: Final = ("book_name", "book_hint", "association_word", "actual_opening_sentence", "actual_associative_word")
_REASON: Final = (
    "I take it to be this one because {known}; together with the hint that everybody was told these answers fit it "
    "better than every other one that came to my mind while I was thinking about them."
)
_KNOWN: Final = 4
"""Number of answers that a prepared reason names."""


def told(event: Event, reader: Reader) -> Sequence[str]:
    """Return the lines of an event."""
    words, data = _WORDS[reader.lang], event.data
    if event.kind == "target":
        return (_target_line(data, words),)
    if event.kind == "questions" and reader.sees_all:
        return (event.text, *_question_lines(data["questions"]))
    if event.kind == "answers" and reader.sees_all:
        given = ", ".join(f"{each['question_number']} {_answer(each, words)}" for each in data["answers"])
        return (event.text, f"  {given}")
    if event.kind == "result":
        cards = (data["scores"] or {}).items()
        return (event.text, *(_card_line(reader.called(player), card, words) for player, card in cards))
    return (event.text,)


def shown(view: View, legal: Sequence[LegalAction], reader: Reader) -> Sequence[str]:
    """Return the target and the questions, or the questions and their answers."""
    words, action = _WORDS[reader.lang], legal[0]
    if action.type == ASK:
        key, options = ("ask_fixed", view["fixed_options"]) if "fixed_options" in view else ("ask_options", OWN_OPTIONS)
        told_options = words[key].format(options=", ".join(options))
        return ("", words["ask_how"].format(count=_count(action)), told_options, words["ask_end"])
    if action.type == ANSWER:
        questions = view["games"][_player(action)]["questions"]
        return ("", _target_line(view["target"], words), *_question_lines(questions))
    if action.type == GUESS:
        me = view["me"]
        answers = {each["question_number"]: each for each in me["answers"] or ()}
        lines = (
            f"  {each['question_number']}. {each['question_text']} {_answered(each, answers, words)}"
            for each in me["questions"]
        )
        return ("", *lines, words["guess_how"])
    return ("",)


def prompt(view: View, legal: Sequence[LegalAction], advice: Action, reader: Reader) -> str:  # noqa: ARG001
    """Return the prompt for the due action."""
    action = legal[0]
    return _WORDS[reader.lang][action.type].format(
        me=reader.me,
        count=_count(action) if action.type in (ASK, ANSWER) else 0,
        player=reader.called(_player(action)) if action.type == ANSWER else "",
    )


def list_of(advice: Action) -> Sequence[str] | None:
    """Return the prepared questions."""
    if advice.type != ASK:
        return None
    return [
        f" {_BETWEEN} ".join((each["question_text"], *each["options"].values())) for each in advice.data["questions"]
    ]


def read(lines: Sequence[str], view: View, legal: Sequence[LegalAction], advice: Action, reader: Reader) -> Action:
    """Return the action that the lines mean; empty input takes the prepared action, except for answers."""
    words, action = _WORDS[reader.lang], legal[0]
    typed = lines[0].strip() if lines else ""
    if action.type == ANSWER:
        return Action(type=ANSWER, data={"player_id": _player(action), "answers": _letters(typed, action, words)})
    if not any(line.strip() for line in lines):
        return advice
    if action.type == ASK:
        return Action(type=ASK, data={"questions": _questions(lines, view, action, advice, words)})
    parts = [part.strip() for part in typed.split(_BETWEEN)]
    if action.type == ANNOUNCE:
        if len(parts) != len(_BRIEF) or not all(parts):
            raise Unclear(words["parts"].format(count=len(_BRIEF)))
        return Action(type=ANNOUNCE, data=dict(zip(_BRIEF, parts, strict=True)))
    return Action(type=GUESS, data=_guess(parts, view, action, words))


def _questions(
    lines: Sequence[str], view: View, action: LegalAction, advice: Action, words: Mapping[str, str]
) -> list[dict[str, Any]]:
    prepared = advice.data["questions"]
    written = [line for line in lines if line.strip()]
    if len(written) > len(prepared):
        raise Unclear(words["many"].format(found=len(written), count=len(prepared)))
    schema = action.schema["properties"]["questions"]["prefixItems"][0]["properties"]["question_text"]
    least, most = schema["minLength"], schema["maxLength"]
    found = []
    for number, line in enumerate(written, start=1):
        text, *options = (part.strip() for part in line.split(_BETWEEN))
        if not least <= len(text) <= most:
            raise Unclear(words["short"].format(number=number, least=least, most=most))
        if len(options) > len(LETTERS):
            raise Unclear(words["too_long"].format(number=number))
        if options and (len(options) < len(LETTERS) or not all(options)):
            raise Unclear(words["options"].format(number=number))
        usual = list(prepared[number - 1]["options"].values())
        if options and options != usual and "fixed_options" in view:
            raise Unclear(words["fixed"].format(number=number, options=", ".join(usual)))
        own = options or usual
        found.append(
            {"question_number": number, "question_text": text, "options": dict(zip(LETTERS, own, strict=True))}
        )
    return [*found, *prepared[len(found) :]]


def _letters(typed: str, action: LegalAction, words: Mapping[str, str]) -> list[dict[str, Any]]:
    count = _count(action)
    letters = [letter for letter in typed.upper() if letter not in " ,;.\t"]
    letters = ["-"] * count if letters == ["-"] else letters
    if len(letters) != count or not set(letters) <= {*LETTERS, "-"}:
        raise Unclear(words["letters"].format(count=count, found=len(letters)))
    return [
        {"question_number": number, "answer": str(Choice.NOT_RELEVANT) if letter == "-" else letter}
        for number, letter in enumerate(letters, start=1)
    ]


def _guess(parts: Sequence[str], view: View, action: LegalAction, words: Mapping[str, str]) -> dict[str, Any]:
    if not 2 <= len(parts) <= 4:
        raise Unclear(words["parts"].format(count=4))
    sentence, word, *reasons = parts
    for what, text, key in (("sentence", sentence, "opening_sentence"), ("word", word, "associative_word")):
        schema = action.schema["properties"][key]
        if not schema["minLength"] <= len(text) <= schema["maxLength"]:
            raise Unclear(words["length"].format(what=words[what], least=schema["minLength"], most=schema["maxLength"]))
    answers = (view["me"]["answers"] or ())[:_KNOWN]
    known = ", and ".join(f"question {each['question_number']} was answered {each['answer']}" for each in answers)
    prepared = _REASON.format(known=known or "no question was answered")
    why_sentence, why_word = (reason or prepared for reason in (*reasons, "", "")[:2])
    return {
        "opening_sentence": sentence,
        "sentence_justification": why_sentence[:LONGEST_JUSTIFICATION],
        "associative_word": word,
        "word_justification": why_word[:LONGEST_JUSTIFICATION],
    }


def _count(action: LegalAction) -> int:
    """Return the number of questions to ask or to answer."""
    count: int = action.schema["properties"]["questions" if action.type == ASK else "answers"]["minItems"]
    return count


def _player(action: LegalAction) -> str:
    player: str = action.schema["properties"]["player_id"]["enum"][0]
    return player


def _target_line(target: Mapping[str, Any], words: Mapping[str, str]) -> str:
    return words["target"].format(sentence=target["opening_sentence"], word=target["associative_word"])


def _card_line(name: str, card: Mapping[str, Any], words: Mapping[str, str]) -> str:
    return words["points"].format(player=name, points=card["league_points"], score=f"{card['private_score']:g}")


def _question_lines(questions: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    told_last = ""
    for each in questions:
        options = " ({})".format(", ".join(f"{letter} {text}" for letter, text in each["options"].items()))
        # Nearly all questions of a batch may have the same options.
        yield f"  {each['question_number']}. {each['question_text']}{'' if options == told_last else options}"
        told_last = options


def _answer(answer: Mapping[str, Any], words: Mapping[str, str]) -> str:
    return words["not_relevant"] if answer["answer"] == Choice.NOT_RELEVANT else str(answer["answer"])


def _answered(question: Mapping[str, Any], answers: Mapping[int, Mapping[str, Any]], words: Mapping[str, str]) -> str:
    answer = answers.get(question["question_number"])
    if answer is None or answer["answer"] == Choice.NOT_RELEVANT:
        return words["not_relevant"]
    return f"{answer['answer']} {question['options'][answer['answer']]}"
