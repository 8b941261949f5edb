"""Texts of Q21 around a table: the rules of a match, and the lines of events.

Rule: a line contains only its event's data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from league_agents.games.q21.rules import AnswerKey, RuleSet
from league_agents.games.q21.words import limit_in_words

_LINES: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "brief": "The referee chooses a book, a sentence and a word.",
        "questions": "Both players ask.",
        "answers": "The referee answers.",
        "guesses": "Both players guess.",
        "over": "The match is over.",
        "told": "{book}: {hint} The word belongs to: {domain}.",
        "target": "The target is chosen.",
        "asked": "{player} asks.",
        "answered": "The referee answers {player}.",
        "guessed": "{player} guesses: {sentence} The word: {word}.",
        "out": "{player} is out ({cause}).",
        "wins": "{player} wins.",
        "nobody_wins": "Nobody wins.",
        "solution": " The sentence: {sentence} The word: {word}.",
    },
    "zh": {
        "brief": "裁判选择一本书、一个句子和一个词。",
        "questions": "两位玩家提问。",
        "answers": "裁判回答。",
        "guesses": "两位玩家猜。",
        "over": "对局结束。",
        "told": "《{book}》：{hint} 词的领域：{domain}。",
        "target": "目标已选定。",
        "asked": "{player}提出问题。",
        "answered": "裁判回答了{player}。",
        "guessed": "{player}猜：{sentence} 词：{word}。",
        "out": "{player}出局（{cause}）。",
        "wins": "{player}获胜。",
        "nobody_wins": "没有人获胜。",
        "solution": "句子：{sentence} 词：{word}。",
    },
}


def said(lang: str, key: str, **values: object) -> str:
    """Return the line ``key`` in a language, with ``values`` filled in."""
    return _LINES[lang][key].format(**values)


def rules_text(rules: RuleSet, lang: str) -> str:
    """Return the rules. Languages: ``en``, ``zh``; any other gives English."""
    return _rules_zh(rules) if lang == "zh" else _rules_en(rules)


def _rules_en(rules: RuleSet) -> str:
    key = (
        f"The letters A to D always mean {', '.join(rules.fixed_options)}."
        if rules.answer_key is AnswerKey.FIXED
        else "Each question has four answers of the player's own, A to D."
    )
    tiers = ", ".join(f"{points} from {least:g}" for least, points in rules.tiers)
    return (
        "The referee chooses a book, one sentence with which it (or a passage of it) begins, and a word that goes with "
        "it. Everybody is told the book, a hint and the domain of the word. Each of the two players asks "
        f"{rules.questions_required} questions at once. {key} The referee answers all of them. Then each player "
        "guesses the sentence and the word and justifies both, the sentence in "
        f"{limit_in_words(rules.sentence_justification)}, "
        f"the word in {limit_in_words(rules.word_justification)}. Points for a score of 0 to 100: {tiers}. "
        "More points win."
    )


def _rules_zh(rules: RuleSet) -> str:
    key = (
        f"选项 A 到 D 固定为:{'、'.join(rules.fixed_options)}。"
        if rules.answer_key is AnswerKey.FIXED
        else "每个问题有玩家自拟的四个选项 A 到 D。"
    )
    tiers = "、".join(f"{least:g} 分起得 {points} 点" for least, points in rules.tiers)
    return (
        "裁判选一本书、书中的一个开头句子和一个与之相关的词。所有人得知书名、提示和该词所属的领域。"
        f"两位玩家各自一次提出 {rules.questions_required} 个问题。{key}裁判逐一回答。"
        "然后每位玩家猜出句子和词并说明理由"
        f"(句子理由不少于 {rules.sentence_justification.least} 个词,"
        f"词的理由不少于 {rules.word_justification.least} 个词)。"
        f"得分 0 到 100:{tiers}。点数多者胜。"
    )
