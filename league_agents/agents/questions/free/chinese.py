"""The Chinese grammar: the core questions about the sentence. Each character is a token."""

from __future__ import annotations

from functools import cache

from league_agents.agents.questions.free.builders import (
    constant,
    has_words,
    mark_edge,
    same,
    text_edge,
)
from league_agents.agents.questions.free.claims import Of, TextPart
from league_agents.agents.questions.free.counts import CountLimits
from league_agents.agents.questions.free.foreign_things import NumberInPrint, SpeechInPrint, ToldInFirstPerson
from league_agents.agents.questions.free.held import HeldThing, all_of, any_of, without
from league_agents.agents.questions.free.rules import Grammar
from league_agents.agents.questions.free.terminals import TERMINALS
from league_agents.agents.questions.free.things import MARK_NAMES, Mark, Phrase
from league_agents.agents.questions.free.word_claims import WordAt, WordIs

_MARKS = {
    "逗号|逗號": "comma",
    "分号|分號": "semicolon",
    "冒号|冒號": "colon",
    "问号|問號": "question mark",
    "感叹号|感嘆號|惊叹号|驚嘆號|叹号": "exclamation mark",
    "引号|引號": "quotation mark",
    "破折号|破折號": "dash",
    "句号|句號": "full stop",
}
_SENTENCE = (
    "句子|这句话|這句話|第一句话|第一句話|第一句|首句|开头一句|開頭一句|开头的句子|这个句子|句中|这句|開頭的句子|句"
)


@cache
def chinese() -> Grammar:
    """Return the grammar of Chinese questions; its start is QUESTION."""
    grammar = Grammar(terminals=TERMINALS)
    add = grammar.add
    add("PART", f"[在] {_SENTENCE} [里|裏|裡|中|内|內|里面]", constant(TextPart.SENTENCE))
    add("PART", "[在] 段落|这段话|這段話|这一段|本段|文中|文章|全段 [里|裏|裡|中|内|內]", constant(TextPart.PAGE))
    for name, mark in _MARKS.items():
        add("THING", name, constant(Mark(MARK_NAMES[mark])))
        add("MARK", name, constant(MARK_NAMES[mark]))
    add("THING", "数字|數字|数词|數詞", constant(NumberInPrint()))
    add("THING", "对话|對話|直接引语|直接引語|人物对话", constant(SpeechInPrint()))
    add(
        "THING",
        "[词语|词|字|詞|单词] QUOTE [这个词|這個詞|一词|一詞|这个字|這個字|二字|两个字|这个词语|这个名字]",
        Phrase,
    )
    add("HELD", "[任何|一个|一個] THING", HeldThing)
    add("HELD", "LIMIT [个|個] THING", lambda amount, thing: HeldThing(thing, amount))
    add("LIMIT", "超过|超過|多于|多於 NUMBER", lambda n: CountLimits(n + 1, None))
    add("LIMIT", "少于|少於|不到 NUMBER", lambda n: CountLimits(0, n - 1))
    add("LIMIT", "至少|不少于 NUMBER", lambda n: CountLimits(n, None))
    add("HELDS", "HELD", same)
    add("HELDS", "HELD 或|或者|还是 HELDS", any_of)
    add("HELDS", "HELD 和|与|及 HELDS", all_of)
    _add_questions(grammar)
    return grammar


def _add_questions(grammar: Grammar) -> None:
    add = grammar.add
    add("QUESTION", "CLAIM [吗|嗎|么]", same)
    add("QUESTION", "请问 CLAIM [吗|嗎]", same)
    has = ("有|包含|含有|出现|出現|提到|使用|用|包括|有没有|有沒有|是否有|是否包含|是否含有|是否出现|是否提到|"
           "是否包含了|出现了|包含了|用了|提到了|是否使用|是否使用了")  # fmt: skip
    add("CLAIM", f"PART {has} HELDS", lambda part, held: held.at(part))
    add("CLAIM", "PART 没有|沒有|不包含|没有出现 HELDS", without)
    add("CLAIM", "HELDS [是否] 出现|出現|存在 在|于 PART", lambda held, part: held.at(part))
    add("CLAIM", "HELDS [是否] 在 PART 出现|出現", lambda held, part: held.at(part))
    add(
        "CLAIM",
        "PART [是] 是|是否是|是不是 [一] [个] 疑问句|疑問句|问句|問句|问题",
        lambda part: Of(part, "question"),
    )
    add("CLAIM", "PART 是|是否是|是不是 [一] [个] 感叹句|感嘆句", lambda part: Of(part, "exclamation"))
    add(
        "CLAIM",
        "PART 是|是否|是不是|是否是 [以|用|使用] 第一人称|第一人稱 [写|寫|叙述|敘述|写成] [的]",
        ToldInFirstPerson,
    )
    add("CLAIM", "PART 使用|用|采用|是否使用|是否用 [了] 第一人称|第一人稱", ToldInFirstPerson)
    for end, at_end in (("开头|開頭|开始|起头|開始", False), ("结尾|結尾|结束|結束|收尾", True)):
        add(
            "CLAIM",
            f"PART [是] 以|用|是以|是否以|是不是以 [词语|字] QUOTE [这个词|一词|这个字|字] {end} [的]",
            text_edge(at_end),
        )
        add("CLAIM", f"PART [是] 以|用|是以|是否以|是不是以 MARK {end} [的]", mark_edge(at_end))
    add("CLAIM", "AWORD 是|是否是|是不是 QUOTE", WordIs)
    add("AWORD", "PART 的 第一个|第一個|第一 字|词|詞", constant(WordAt(0)))
    add("AWORD", "PART 的 最后一个|最後一個 字|词|詞", constant(WordAt(-1)))
    add("CLAIM", "PART [有|的长度] LIMIT [个|個] 字", has_words)
