"""Texts of announcements and refusals, in the match's language.

Rule: a sentence contains only what its recipient may know; players' own texts are inserted as one printable line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from league_agents.games.undercover.state import How, Reason, WordRole

_EN: Final[Mapping[str, str]] = {
    "started": "{players} players sit down; {undercover} of them {verb} undercover.",
    "started_uncounted": "{players} players sit down; some of them are undercover.",
    "dealt": "You are {name}, number {player_id}. Your word is: {word}",
    "dealt_role": "You are {name}, number {player_id}, {role}. Your word is: {word}",
    "round": "Round {round}. They speak in this order: {order}.",
    "described": "{name}: {description}",
    "silent": "{name} says nothing.",
    "voting": "Round {round}: everybody votes.",
    "revoting": "Round {round}: one more vote, between {candidates}.",
    "voted": "Your vote is in: {target}.",
    "abstained": "Your vote is in: nobody.",
    "vote_missed": "Your vote counts as an abstention.",
    "count": "Votes: {tally}. ",
    "no_count": "Nobody has a vote. ",
    "out": "{name} is out.",
    "out_role": "{name} is out; the role was {role}.",
    "out_drawn": "A tie; {name} is drawn and out.",
    "out_drawn_role": "A tie; {name} is drawn and out; the role was {role}.",
    "tie": "A tie; nobody is out.",
    "revote": "A tie; there is one more vote.",
    "nobody": "Nobody is out.",
    "won": "The {side} side wins: {why}.",
    "words": " The civilians' word was {civilian}, the other one {undercover}. Undercover: {names}.",
    "civilian": "civilian",
    "undercover": "undercover",
    "all_undercover_out": "no undercover player is left",
    "parity": "at least as many undercover players as civilians are left",
    "max_rounds": "the last round is over",
    "join": ", ",
    "refused.match_over": "The match is over.",
    "refused.unknown_action": "There is no such action; the actions are describe and vote.",
    "refused.unsupported_game_version": "This match speaks version {version} of the game.",
    "refused.not_a_player": "You have no seat in this match.",
    "refused.dead": "You are out and owe nothing more.",
    "refused.not_now": "You owe no such action now.",
    "refused.empty_description": "The description says nothing.",
    "refused.too_long": "The description must have at most {most} characters.",
    "refused.reveals_own_word": "The description contains your own word.",
    "refused.repeated_description": "You have heard or made this description before.",
    "refused.unknown_target": "vote_number must be one of {choices}.",
    "refused.dead_target": "That player is out; vote_number must be one of {choices}.",
    "refused.self_vote": "Voting for yourself is not allowed; vote_number must be one of {choices}.",
    "refused.not_a_candidate": "This vote is between the tied; vote_number must be one of {choices}.",
    "refused.abstain_not_allowed": "Abstaining is not allowed; vote_number must be one of {choices}.",
    "refused.missing_reason": "A vote needs a reason.",
}

_ZH: Final[Mapping[str, str]] = {
    "started": "{players}名玩家入座，其中{undercover}名是卧底。",
    "started_uncounted": "{players}名玩家入座，其中有卧底。",
    "dealt": "你是{player_id}号{name}，你的词是：{word}",
    "dealt_role": "你是{player_id}号{name}，身份是{role}，你的词是：{word}",
    "round": "第{round}轮，发言顺序：{order}。",
    "described": "{name}：{description}",
    "silent": "{name}没有发言。",
    "voting": "第{round}轮：请所有人投票。",
    "revoting": "第{round}轮：在{candidates}之间重新投票。",
    "voted": "你已投票：{target}。",
    "abstained": "你已弃权。",
    "vote_missed": "你的这一票按弃权计。",
    "count": "票数：{tally}。",
    "no_count": "没有人得票。",
    "out": "{name}出局。",
    "out_role": "{name}出局，身份是{role}。",
    "out_drawn": "平票，抽签决定{name}出局。",
    "out_drawn_role": "平票，抽签决定{name}出局，身份是{role}。",
    "tie": "平票，无人出局。",
    "revote": "平票，重新投票。",
    "nobody": "无人出局。",
    "won": "{side}方获胜：{why}。",
    "words": "平民的词是“{civilian}”，卧底的词是“{undercover}”。卧底：{names}。",
    "civilian": "平民",
    "undercover": "卧底",
    "all_undercover_out": "卧底已全部出局",
    "parity": "剩下的卧底不少于平民",
    "max_rounds": "最后一轮已结束",
    "join": "、",
    "refused.match_over": "本局已经结束。",
    "refused.unknown_action": "没有这种行动；可用的行动是 describe 和 vote。",
    "refused.unsupported_game_version": "本局使用的游戏版本是 {version}。",
    "refused.not_a_player": "你不是本局的玩家。",
    "refused.dead": "你已出局，不用再行动。",
    "refused.not_now": "现在不需要你做这个行动。",
    "refused.empty_description": "描述里什么也没有说。",
    "refused.too_long": "描述最多{most}个字符。",
    "refused.reveals_own_word": "描述中出现了你自己的词。",
    "refused.repeated_description": "这句描述你已经听过或说过了。",
    "refused.unknown_target": "vote_number 只能是：{choices}。",
    "refused.dead_target": "这名玩家已出局；vote_number 只能是：{choices}。",
    "refused.self_vote": "不能投给自己；vote_number 只能是：{choices}。",
    "refused.not_a_candidate": "这一轮只在平票者之间投；vote_number 只能是：{choices}。",
    "refused.abstain_not_allowed": "不允许弃权；vote_number 只能是：{choices}。",
    "refused.missing_reason": "投票必须说明理由。",
}

TEXTS: Final[Mapping[str, Mapping[str, str]]] = {"en": _EN, "zh": _ZH}


def said(lang: str, key: str, **values: object) -> str:
    """Return the sentence ``key`` in a language, with ``values`` filled in."""
    return TEXTS[lang][key].format(**values)


def outcome_of_vote(lang: str, tally: str, how: How, name: str | None, role: WordRole | None) -> str:
    """Return the result of a vote. ``role`` is given only if it is announced."""
    texts = TEXTS[lang]
    count = texts["count"].format(tally=tally) if tally else texts["no_count"]
    if name is None:
        return count + texts[{How.TIE: "tie", How.REVOTE: "revote"}.get(how, "nobody")]
    key = ("out_drawn" if how is How.RANDOM else "out") + ("_role" if role else "")
    return count + texts[key].format(name=name, role=texts[role] if role else "")


def victory(lang: str, winner: WordRole, reason: Reason) -> str:
    """Return which side has won, and why."""
    texts = TEXTS[lang]
    return texts["won"].format(side=texts[winner], why=texts[reason])
