"""A player without a model: gives hints that fit its word, and votes for the player who fits it least.

Rule: it uses only its view and the legal actions, and its view suffices to avoid refused descriptions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import count
from typing import Any, Final

from msgspec import Struct

from league_agents.games.game import Action, JsonObject, LegalAction
from league_agents.games.undercover.hints import GENERIC, HINTS, NUMBERED, WordHints
from league_agents.games.undercover.own_word import reveals
from league_agents.kit.draw import Draw
from league_agents.kit.likeness import comparable

_AMONG: Final = 3
"""The number of next hints among which one is drawn, so that players with the same word differ."""

_RECENT: Final = 4
"""The number of last rounds that a suspicion considers."""


class Suspect(Struct, frozen=True, kw_only=True):
    """A player that can be voted for."""

    player_id: int
    name: str
    descriptions: tuple[str, ...]
    """Its descriptions that were heard; ``""`` for a round in which it was silent."""

    votes_received: int = 0


def scripted(view: JsonObject, legal: Sequence[LegalAction], draw: Draw) -> Action:
    """Return the scripted player's action."""
    wanted = legal[0]
    me, lang = view["me"], view["lang"]
    others = [player for player in view["players"] if player["player_id"] != me["player_id"]]
    heard = [text for player in view["players"] for text in player["description_history"]]
    everyone = [_suspect(player) for player in others]
    if wanted.type == "describe":
        most = wanted.schema["properties"]["description"]["maxLength"]
        text = next_description(
            me["word"],
            heard,
            lang=lang,
            player_id=me["player_id"],
            round_num=view["round"],
            most=most,
            others=everyone,
            draw=draw,
        )
        return Action(type="describe", data={"description": text})
    choices = wanted.schema["properties"]["vote_number"]["enum"]
    target, reason = chosen(me["word"], [each for each in everyone if each.player_id in choices], everyone, lang, draw)
    return Action(type="vote", data={"vote_number": target, "reason": reason})


def next_description(
    word: str,
    heard: Sequence[str],
    *,
    lang: str,
    player_id: int,
    round_num: int,
    most: int,
    others: Sequence[Suspect],
    draw: Draw,
) -> str:
    """Return a text about the word, of at most ``most`` characters, that does not contain it and does not occur in
    ``heard``. A player who seems to be undercover, judging by ``others``, uses the hints of the other word."""
    keys = {comparable(text) for text in heard}
    hints = _taken_for(word, others)
    sayings = (() if hints is None else hints.shared + hints.own, GENERIC[lang])
    for texts in sayings:
        fitting = [text for text in texts if _may_be_said(text, word, keys, most)]
        if fitting:
            return draw.choice(fitting[:_AMONG])
    fallback = _numbered(lang, player_id, round_num, most)
    return next(text for text in fallback if _may_be_said(text, word, keys, most))


def seems_undercover(word: str, others: Sequence[Suspect]) -> bool:
    """Whether the others' hints fit the other word of the pair more often than this one."""
    hints = HINTS.get(word)
    if hints is None:
        return False
    theirs = sum(any(text in hints.others for text in each.descriptions) for each in others)
    mine = sum(any(text in hints.own for text in each.descriptions) for each in others)
    return theirs > mine + 1


def chosen(
    word: str, candidates: Sequence[Suspect], others: Sequence[Suspect], lang: str, draw: Draw
) -> tuple[int, str]:
    """Return whom to vote for, and why: the player who fits the word least; of several, the one with most votes so far;
    of several, one is drawn."""
    hints = _taken_for(word, others)
    scores = {each.player_id: _suspicion(hints, each, others) for each in others}
    worst = max((scores[each.player_id], each.votes_received) for each in candidates)
    last = [each for each in candidates if (scores[each.player_id], each.votes_received) == worst]
    target = draw.choice(last)
    return target.player_id, _reason(target, others, scores, lang, is_undercover=seems_undercover(word, others))


def _suspect(player: Mapping[str, Any]) -> Suspect:
    return Suspect(
        player_id=player["player_id"],
        name=player["name"],
        descriptions=tuple(player["description_history"]),
        votes_received=player["votes_received"],
    )


def _taken_for(word: str, others: Sequence[Suspect]) -> WordHints | None:
    """Return the hints of the majority's supposed word: the other word if this player seems to be undercover."""
    hints = HINTS.get(word)
    if hints is None or not seems_undercover(word, others):
        return hints
    return WordHints(shared=hints.shared, own=hints.others, others=hints.own)


def _suspicion(hints: WordHints | None, suspect: Suspect, others: Sequence[Suspect]) -> float:
    score = 0.0
    for text in suspect.descriptions[-_RECENT:]:
        if not text:
            score += 1.0
        elif hints is not None and text in hints.others:
            score += 3.0
        elif hints is not None and text in hints.own:
            score -= 2.0
        elif hints is None or text not in hints.shared:
            score -= _likeness(text, suspect, others)
    return round(score, 3)


def _likeness(text: str, suspect: Suspect, others: Sequence[Suspect]) -> float:
    """Return the similarity, 0 to 1, of a description to the nearest one of another player."""
    pieces = _pieces(text)
    best = 0.0
    for other in others:
        if other is suspect:
            continue
        for heard in other.descriptions[-_RECENT:]:
            both = _pieces(heard)
            if pieces and both:
                best = max(best, len(pieces & both) / len(pieces | both))
    return best


@lru_cache(maxsize=4096)
def _pieces(text: str) -> frozenset[str]:
    key = comparable(text)
    return frozenset(key[i : i + 2] for i in range(len(key) - 1))


def _may_be_said(text: str, word: str, keys: set[str], most: int) -> bool:
    return len(text) <= most and comparable(text) not in keys and not reveals(word, text)


def _numbered(lang: str, player_id: int, round_num: int, most: int) -> Iterator[str]:
    for remark in range(1, 4):
        yield NUMBERED[lang].format(player_id=player_id, round=round_num, count=remark)
    # Needed if descriptions must be very short or the word is very common: single characters, meaningless but legal.
    for number in range(1, 1000):
        yield str(number)[-most:]
    for code in count(0x4E00):
        yield chr(code)


def _reason(
    target: Suspect, others: Sequence[Suspect], scores: Mapping[int, float], lang: str, *, is_undercover: bool
) -> str:
    words = _WORDS[lang]
    lines = []
    for each in others:
        spoken = [text for text in each.descriptions if text]
        quoted = words["quote"].format(text=spoken[-1][:60]) if spoken else words["silence"]
        score = scores[each.player_id]
        judged = words["fits" if score < 0 else "odd" if score > 0 else "plain"]
        lines.append(words["player"].format(player_id=each.player_id, said=quoted, judged=judged))
    lines.append(words["undercover" if is_undercover else "civilian"])
    lines.append(words["vote"].format(player_id=target.player_id))
    return words["join"].join(lines)


_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "zh": {
        "quote": "说“{text}”",
        "silence": "什么也没说",
        "fits": "和我的词比较接近",
        "odd": "和我的词不太像",
        "plain": "听不出是哪个词",
        "player": "{player_id}号{said}，{judged}。",
        "civilian": "我多半是平民。",
        "undercover": "我自己可能是卧底。",
        "vote": "我投{player_id}号。",
        "join": "",
    },
    "en": {
        "quote": "said “{text}”",
        "silence": "said nothing",
        "fits": "which is close to my word",
        "odd": "which does not fit my word well",
        "plain": "which could mean anything",
        "player": "Number {player_id} {said}, {judged}.",
        "civilian": "I am probably a civilian.",
        "undercover": "I may be undercover myself.",
        "vote": "I vote for number {player_id}.",
        "join": " ",
    },
}
