"""The result of a match and its reason, in words.

Rule: the finders of the sentence and the word follow from the scores, so that the text agrees with the points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from league_agents.games.q21.model import Termination
from league_agents.kit.json_values import mapping, number
from league_agents.kit.printable import of
from league_agents.report.cells import LONGEST_LINE, name_of, players_of, shown_number
from league_agents.report.records import MatchRecord

_ENDS: Mapping[str, str] = {
    Termination.PLAYER_TIMEOUT: "WHO did not send its next message in time",
    Termination.FORMAT_VIOLATION: "WHO kept sending messages that nobody could use",
    Termination.NEW_ROUND_STARTED: "the next round began before the match was over",
    Termination.END_ROUND_RECEIVED: "the round was closed before the match was over",
    Termination.LEAGUE_COMPLETED: "the league ended before the match was over",
    Termination.REFEREE_FAILURE: "the referee could not go on",
    Termination.ABSENT: "WHO was absent from the start",
    Termination.CANCELLED: "no player was there",
    Termination.NO_REPORT: "the referee never reported",
    Termination.WALKOVER: "a team is withdrawn from the season",
    Termination.ANNULLED: "the organiser annulled it",
    Termination.CUT_OFF: "the other player's game could not go on",
    Termination.RESET: "the league was reset while the match was open",
}
"""The meaning of each termination but ``completed``; WHO is the player who caused it."""

_FULL = 99.995
"""Smallest score that is displayed as 100."""

_NEAR = 50.0
"""Smallest score of a sentence that is described as near."""


def document_of(match: MatchRecord) -> dict[str, object]:
    """The match in the form that this module and ``report.transcript`` read."""
    return {
        "rules": match.rules,
        "match": {
            "game_id": match.game_id,
            "status": match.status,
            "winner_id": match.winner_id,
            "is_draw": match.is_draw,
            "abort_reason": match.abort_reason,
            "is_walkover": match.is_walkover,
            "brief": match.brief,
            "notes": list(match.notes),
            "models": list(match.models),
        },
        "target": match.target,
        "players": [
            {
                "id": player.participant_id,
                "termination": player.termination,
                "questions": list(player.questions),
                "answers": list(player.answers),
                "guess": player.guess,
                "scorecard": player.scorecard,
                "counted_points": player.counted_points,
                "notes": list(player.notes),
                "models": list(player.models),
            }
            for player in match.players
        ],
        "messages": [],
        "standings": [],
    }


def ending(document: Mapping[str, object]) -> str:
    """The result of the match: ``player-a wins with 3 points to 2``. One line."""
    match = mapping(document.get("match"))
    players = players_of(document)
    points = {name_of(player): _counted(player) or "0" for player in players}
    winner = of(match.get("winner_id"), 60)
    scored = len(players) == 2 and all(_counted(player) for player in players)
    if winner and mapping(document.get("match")).get("is_walkover") is True:
        return f"{winner} wins by walkover"
    if winner:
        others = [point for name, point in points.items() if name != winner]
        counted = f" with {_points(points.get(winner, '0'))} to {others[0]}" if scored and len(others) == 1 else ""
        return f"{winner} wins{counted}"
    if match.get("status") == Termination.NO_REPORT:
        return "No result: the referee never reported"
    if match.get("status") == "aborted":
        return "The match ended early, nobody wins"
    if match.get("status") == "CANCELLED_ALL_PLAYERS_MALFUNCTION":
        return "The match was cancelled"
    if match.get("is_draw") is True:
        is_equal = scored and len(set(points.values())) == 1
        equal = f" with {_points(next(iter(points.values())))} each" if is_equal else ""
        return f"A draw{equal}"
    return "Nobody wins"


def why(document: Mapping[str, object]) -> str:
    """The reason for the result: ``both found the sentence and the word``; ``""`` if no guess was scored."""
    scored = [player for player in players_of(document) if mapping(player.get("scorecard"))]
    found = [_judged(mapping(player.get("scorecard"))) for player in scored]
    if not scored:
        return ""
    if len(scored) < 2 or len(set(found)) > 1:
        return "; ".join(f"{name_of(player)} {what}" for player, what in zip(scored, found, strict=True))
    same = _NEITHER.get(found[0], f"both {found[0]}")
    counted = all(_counted(player) in ("", _reported(player)) for player in scored)
    if not of(mapping(document.get("match")).get("winner_id")) or not counted:
        return same
    totals = [shown_number(mapping(player.get("scorecard")).get("private_score")) for player in scored]
    return f"{same}; the private scores decide, {' to '.join(totals)}"


def cause(document: Mapping[str, object]) -> str:
    """The reason for an early end, in words; ``""`` if there was none."""
    reason = of(mapping(document.get("match")).get("abort_reason"), LONGEST_LINE)
    word, _, who = reason.partition(":")
    # The value is a player's address (protocol 4.5.1); the part before the @ suffices.
    return told(word, who.partition("@")[0] if "@" in who else "a player", otherwise=reason)


def told(termination: str, who: str, *, otherwise: str | None = None) -> str:
    """The meaning of a termination."""
    return _ENDS.get(termination, termination if otherwise is None else otherwise).replace("WHO", who)


def states(players: Sequence[Mapping[str, object]]) -> str:
    """The end of each player's game, if it is known, in a match that ended early."""
    words = {
        Termination.COMPLETED.value: "played to the end",
        Termination.ABSENT.value: "was absent",
        Termination.PLAYER_TIMEOUT.value: "did not answer in time",
        Termination.FORMAT_VIOLATION.value: "sent what nobody could use",
    }
    known = ((name_of(player), of(player.get("termination"), 60)) for player in players)
    return "; ".join(f"{name} {words.get(end, 'could not play on')}" for name, end in known if end)


_NOTHING = "found neither the sentence nor the word"


_UNJUDGED = "was not judged: the referee's scoring failed, so it has zero points"
_NEITHER = {
    _NOTHING: "neither found the sentence or the word",
    _UNJUDGED: "neither was judged: the referee's scoring failed, so both have zero points",
}


def _judged(card: Mapping[str, object]) -> str:
    if card.get("is_judged") is False:
        return _UNJUDGED
    breakdown = mapping(card.get("breakdown"))
    if breakdown:
        return _found(breakdown)
    return f"got {shown_number(card.get('private_score'))} of 100, and the referee did not say for what"


def _found(breakdown: Mapping[str, object]) -> str:
    sentence, word = (_score(breakdown.get(key)) for key in ("opening_sentence_score", "associative_word_score"))
    if sentence >= _FULL and word >= _FULL:
        return "found the sentence and the word"
    if sentence >= _FULL:
        return "found the sentence, not the word"
    near = f"came near the sentence ({sentence:.0f} of 100)" if sentence >= _NEAR else ""
    if word >= _FULL:
        return f"{near} and found the word" if near else "found the word, not the sentence"
    return f"{near}, not the word" if near else _NOTHING


def _reported(player: Mapping[str, object]) -> str:
    return of(mapping(player.get("scorecard")).get("league_points"))


def _counted(player: Mapping[str, object]) -> str:
    """The points that the league manager counts, of a settled match the organiser's; else those of the referee."""
    counted = number(player.get("counted_points"))
    return _reported(player) if counted is None else f"{counted:g}"


def _score(value: object) -> float:
    return float(value) if isinstance(value, float | int) and not isinstance(value, bool) else 0.0


def _points(counted: str) -> str:
    return f"{counted} point{'' if counted == '1' else 's'}"
