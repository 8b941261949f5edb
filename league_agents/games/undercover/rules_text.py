"""The rules in words, from the configuration that is in force.

Rule: every sentence follows from a setting or from a fixed rule. The words of the pairs do not occur.
"""

from __future__ import annotations

from league_agents.games.undercover.config import Settings
from league_agents.kit.errors import ConfigError


def rules_text(settings: Settings, lang: str) -> str:
    """Return the rules, one sentence a line. Raises ``ConfigError`` for an unsupported language."""
    if lang == "en":
        return "\n".join(_english(settings))
    if lang == "zh":
        return "\n".join(_chinese(settings))
    raise ConfigError("lang", f"must be one of en, zh, found {lang[:40]!r}")


def _english(settings: Settings) -> list[str]:
    count = settings.num_undercover
    hidden = "Some players are" if not settings.announce_counts else f"{count} {'is' if count == 1 else 'are'}"
    order = {
        "fixed": "in the order of their seats",
        "rotate": "in the order of their seats, beginning one living seat later every round",
        "random": "in an order that is drawn every round",
    }[settings.speaking_order]
    tie = {
        "no_elimination": "Between several with the most votes nobody goes out.",
        "random": "Between several with the most votes one is drawn and goes out.",
        "revote": "Between several with the most votes everybody votes once more; after a second tie nobody goes out.",
    }[settings.tie]
    abstaining = "is allowed (vote_number null)" if settings.allow_abstain else "is not allowed"
    lines = [
        (
            "Every player has a word. The civilians all have the same one; the undercover players have another that is "
            f"close to it. {hidden} undercover."
        ),
        "Players are told their word and their side."
        if settings.know_own_role
        else "Players are told only their own word: neither their side nor the other word.",
        (
            f"A round begins with descriptions: the living describe their word one after the other, {order}, with 1 to "
            f"{settings.max_description} characters."
        ),
    ]
    if settings.reject_own_word:
        lines.append("A description must not contain its speaker's own word.")
    if settings.reject_repeats:
        lines.append("A description must not repeat one that its speaker has heard or made, in any round.")
    lines += [
        (
            "Then all the living vote at the same time, each for the number of the player who seems undercover, with a "
            f"reason. Votes for oneself or for a player who is out are refused. Voting for nobody {abstaining}."
        ),
        (
            "When all votes are in they are shown to everybody, without the reasons. Whoever has the most is out; with "
            f"no votes at all nobody is. {tie}"
        ),
        f"The role of whoever goes out is {'announced' if settings.reveal == 'role' else 'not announced'}.",
        (
            "The civilians win when no undercover player is left. The undercover side wins when it is at least as many "
            f"as the civilians who are left, or when {_rounds(settings.max_rounds)} without a winner. The whole side "
            "wins, also who is out."
        ),
        "Who does not describe in time is silent for the round; who does not vote in time abstains.",
    ]
    if settings.reveal_at_end:
        lines.append("After the end everybody sees the roles, the words and the reasons of all votes.")
    return lines


def _rounds(count: int) -> str:
    return "1 round is over" if count == 1 else f"{count} rounds are over"


def _chinese(settings: Settings) -> list[str]:
    hidden = f"其中{settings.num_undercover}名是卧底" if settings.announce_counts else "卧底的人数不公开"
    order = {
        "fixed": "按座位顺序",
        "rotate": "按座位顺序、每轮起点后移一位在场玩家",
        "random": "按每轮抽签的顺序",
    }[settings.speaking_order]
    tie = {
        "no_elimination": "平票时无人出局。",
        "random": "平票时在平票者中抽签决定一人出局。",
        "revote": "平票时所有人在平票者之间再投一次；再次平票则无人出局。",
    }[settings.tie]
    lines = [
        f"每名玩家有一个词。平民的词都相同，卧底的词与之相近，{hidden}。",
        "每人知道自己的词和身份。" if settings.know_own_role else "每人只知道自己的词，不知道身份，也不知道另一个词。",
        f"每轮先描述：在场的玩家{order}依次描述自己的词，1到{settings.max_description}个字符。",
    ]
    if settings.reject_own_word:
        lines.append("描述中不能出现自己的词。")
    if settings.reject_repeats:
        lines.append("不能重复自己听过或说过的描述，以前各轮的也算。")
    lines += [
        "然后在场的玩家同时投票，写出认为是卧底的玩家编号并说明理由；不能投自己，也不能投已出局的人。"
        + ("可以弃权（vote_number 为 null）。" if settings.allow_abstain else "不允许弃权。"),
        f"票全部投完后公布，理由不公布。得票最多者出局；没有人得票则无人出局。{tie}",
        "出局者的身份会公布。" if settings.reveal == "role" else "出局者的身份不公布。",
        (
            f"卧底全部出局，平民获胜；剩下的卧底不少于平民，或满{settings.max_rounds}轮仍未分胜负，卧底获胜。"
            "胜方全体成员都算获胜，包括已出局的。"
        ),
        "没有按时描述的，本轮视为沉默；没有按时投票的，视为弃权。",
    ]
    if settings.reveal_at_end:
        lines.append("结束后公布所有人的身份、两个词和每一票的理由。")
    return lines
