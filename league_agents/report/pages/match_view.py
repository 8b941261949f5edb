"""The values of a match's page, from its record.

Rule: a pure function from a record, which ``records.visible`` has narrowed before, to texts. A section whose data the
record lacks is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from league_agents.games.q21.model import COMPONENTS, LETTERS, Choice
from league_agents.kit.json_values import mapping, mappings
from league_agents.kit.model_work import read_steps
from league_agents.report.outcome import cause, document_of, ending, told, why
from league_agents.report.pages.season_values import Link
from league_agents.report.pages.shown import (
    LONGEST_NAME,
    file_name,
    in_division,
    instant,
    name_shown,
    number,
    seconds,
    shown,
)
from league_agents.report.records import MatchRecord, MessageRecord, PlayerRecord
from league_agents.report.scorecards import PARTS

MOST_QUESTIONS, MOST_MESSAGES = 200, 500


class QuestionLine(Struct, frozen=True, kw_only=True):
    """One question and its answer."""

    number: str
    text: str
    options: tuple[tuple[str, str], ...]
    """Letter and text; empty if all questions have the same options."""

    answer: str
    meaning: str
    candidates: str


class ScoreLine(Struct, frozen=True, kw_only=True):
    """One part of a score."""

    name: str
    score: str
    share: float
    """Percentage for the bar."""


class GuessText(Struct, frozen=True, kw_only=True):
    """One half of a guess."""

    name: str
    text: str
    justification: str
    feedback: str


class PlayerView(Struct, frozen=True, kw_only=True):
    """One player's run."""

    name: str
    team: Link
    anchor: str
    facts: tuple[tuple[str, str], ...]
    trouble: str
    warmup_answer: str
    questions: tuple[QuestionLine, ...]
    options: tuple[tuple[str, str], ...]
    """The options of all questions."""

    has_candidates: bool
    guess: tuple[GuessText, ...]
    confidence: str
    scores: tuple[ScoreLine, ...]
    private_score: str
    league_points: str
    counted_points: str
    """Empty unless the league manager counts other points than the referee gave."""

    models: tuple[str, ...]
    notes: tuple[str, ...]


class MessageLine(Struct, frozen=True, kw_only=True):
    """One mail."""

    at: str
    sender: str
    to: str
    message_type: str
    after: str
    """Time since the previous mail."""

    deadline: str
    late: str


class SettlementView(Struct, frozen=True, kw_only=True):
    """One change by the organiser."""

    at: str
    order: str
    why: str
    by: str
    changes: tuple[tuple[str, str, str], ...]
    """Key, before, after."""

    withdrawn: bool


class MatchPage(Struct, frozen=True, kw_only=True):
    """The page of a match."""

    title: str
    season: str
    outcome: str
    reason: str
    is_over: bool
    facts: tuple[tuple[str, str], ...]
    warmup_question: str
    brief: tuple[tuple[str, str], ...]
    target: tuple[tuple[str, str], ...]
    players: tuple[PlayerView, ...]
    clocks: tuple[tuple[str, str, str, str], ...]
    """Player, request, time taken, time left at the arrival of the answer."""

    messages: tuple[MessageLine, ...]
    settlements: tuple[SettlementView, ...]
    models: tuple[str, ...]
    notes: tuple[str, ...]


def match_page(
    match: MatchRecord, *, season: str = "", referee: str = "", has_team: frozenset[str] = frozenset()
) -> MatchPage:
    """The values of the page.

    ``season`` and ``referee`` are display names, ``has_team`` the keys (``in_division``) of teams with a page.
    """
    document = document_of(match)
    names = {player.participant_id: name_shown(player.display_name, player.participant_id) for player in match.players}
    spent = [
        ("Tokens", f"{match.tokens:,}" if match.tokens is not None else ""),
        ("Cost", f"{match.cost_usd:.4f} USD" if match.cost_usd is not None else ""),
    ]
    facts = [
        ("Match", shown(match.game_id, 40)),
        ("Division", shown(match.division, LONGEST_NAME)),
        ("Round", str(match.round_number or "")),
        ("Referee", referee or shown(match.referee_id, LONGEST_NAME)),
        ("Rules", shown(match.rules, LONGEST_NAME)),
        ("Status", shown(match.status, 60).replace("_", " ").lower()),
        ("Absent", _named(shown(match.absence(), 300), names)),
        ("Caused by", names.get(match.caused_by or "") or shown(match.caused_by, LONGEST_NAME)),
        ("Began", instant(match.started_at) if match.started_at else ""),
        ("Ended", instant(match.ended_at) if match.ended_at else ""),
        *spent,
    ]
    return MatchPage(
        title=" against ".join(names.values()) or f"Match {shown(match.game_id, 40)}",
        season=season,
        outcome=_named(ending(document), names) if match.is_over else "This match is not over yet",
        reason=_named(why(document) or cause(document), names) if match.is_over else "",
        is_over=match.is_over,
        facts=_filled(facts),
        warmup_question=shown(match.warmup_question),
        brief=_texts(match.brief, {"book_name": "Book", "book_hint": "Hint", "association_word": "Domain of the word"}),
        target=_texts(
            match.target,
            {"book_name": "Book", "opening_sentence": "Opening sentence", "associative_word": "Associative word"},
        ),
        players=tuple(
            _player(player, place, _named(cause(document), names), _team_page(match, player, has_team))
            for place, player in enumerate(match.players)
        ),
        clocks=tuple(_clocks(match, names)),
        messages=tuple(_messages(match.messages[:MOST_MESSAGES], names)),
        settlements=tuple(
            SettlementView(
                at=instant(each.at),
                order=shown(each.order, 40),
                why=shown(each.why, 600),
                by=shown(each.by, LONGEST_NAME),
                changes=tuple(
                    (shown(key, 60).replace("_", " "), _value(each.before.get(key)), _value(each.after.get(key)))
                    for key in dict.fromkeys((*each.before, *each.after))
                ),
                withdrawn=each.withdrawn,
            )
            for each in match.settlements
        ),
        models=_models(match.models),
        notes=tuple(shown(note, 600) for note in match.notes),
    )


def _named(sentence: str, names: Mapping[str, str]) -> str:
    """A sentence with players' ids replaced by their names."""
    ids = {shown(identity, 40): name for identity, name in names.items() if identity}
    if ids:
        pattern = "|".join(re.escape(identity) for identity in sorted(ids, key=len, reverse=True))
        sentence = re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", lambda found: ids[found[0]], sentence)
    text = shown(sentence, 600)
    return text[:1].upper() + text[1:]


def _team_page(match: MatchRecord, player: PlayerRecord, has_team: frozenset[str]) -> str | None:
    key = in_division(match.division, player.participant_id)
    return f"../{file_name('teams', key)}" if key in has_team else None


def _player(player: PlayerRecord, place: int, why_early: str, team_page: str | None) -> PlayerView:
    name = name_shown(player.display_name, player.participant_id)
    identity = shown(player.participant_id, LONGEST_NAME)
    card = mapping(player.scorecard)
    questions = mappings(player.questions)[:MOST_QUESTIONS]
    options = [_options(question) for question in questions]
    is_shared = len(questions) > 1 and all(each == options[0] for each in options)
    answers = {shown(each.get("question_number"), 20): each for each in mappings(player.answers)}
    guess = mapping(player.guess)
    counted = player.counted_points
    return PlayerView(
        name=name,
        team=Link(text=name, href=team_page),
        anchor=f"p{place}",
        facts=_filled([("Id", identity if identity != name else ""), ("Phase", shown(player.phase, 60))]),
        trouble=_trouble(player, name, why_early),
        warmup_answer=shown(player.warmup_answer),
        questions=tuple(
            _question(
                question, place, () if is_shared else own, answers, own, player.candidates_left[place - 1 : place]
            )
            for place, (question, own) in enumerate(zip(questions, options, strict=True), start=1)
        ),
        options=options[0] if is_shared else (),
        has_candidates=bool(player.candidates_left),
        guess=_guess(guess, mapping(card.get("feedback"))),
        confidence=number(guess.get("confidence")) if isinstance(guess.get("confidence"), int | float) else "",
        scores=_scores(mapping(card.get("breakdown"))),
        private_score=number(player.private_score if player.private_score is not None else card.get("private_score"))
        if card or player.private_score is not None
        else "",
        league_points=number(player.league_points) if player.league_points is not None else "",
        counted_points=number(counted) if counted is not None and counted != player.league_points else "",
        models=_models(player.models),
        notes=tuple(shown(note, 600) for note in player.notes),
    )


def _trouble(player: PlayerRecord, name: str, why_early: str) -> str:
    termination = shown(player.termination, 60)
    if termination in ("", "completed"):
        return ""
    if termination == "absent":
        return f"{name} was absent from the start."
    return f"The game of {name} ended early: {why_early or shown(told(termination, 'a player'), 300)}."


def _options(question: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    given = mapping(question.get("options"))
    return tuple((letter, shown(given.get(letter), 300)) for letter in LETTERS if given.get(letter))


def _question(
    question: Mapping[str, object],
    place: int,
    options: tuple[tuple[str, str], ...],
    answers: Mapping[str, Mapping[str, object]],
    own: tuple[tuple[str, str], ...],
    left: tuple[float, ...],
) -> QuestionLine:
    asked = shown(question.get("question_number"), 20) or str(place)
    answer = answers.get(asked, {})
    letter = shown(answer.get("answer"), 40)
    meaning = "not relevant" if letter == Choice.NOT_RELEVANT else dict(own).get(letter, "")
    return QuestionLine(
        number=asked,
        text=shown(question.get("question_text")) or "(empty)",
        options=options,
        answer="" if letter == Choice.NOT_RELEVANT else letter,
        meaning=meaning if letter else "no answer",
        candidates=number(left[0]) if left else "",
    )


def _guess(guess: Mapping[str, object], feedback: Mapping[str, object]) -> tuple[GuessText, ...]:
    halves = (
        ("Opening sentence", "opening_sentence", "sentence_justification"),
        ("Associative word", "associative_word", "word_justification"),
    )
    found = (
        GuessText(
            name=name,
            text=shown(guess.get(key)),
            justification=shown(guess.get(reason)),
            feedback=shown(feedback.get(key)),
        )
        for name, key, reason in halves
    )
    return tuple(each for each in found if each.text or each.feedback or each.justification)


def _scores(breakdown: Mapping[str, object]) -> tuple[ScoreLine, ...]:
    found = []
    for key in COMPONENTS:
        score = breakdown.get(key)
        if isinstance(score, int | float) and not isinstance(score, bool):
            name = PARTS[key] if not PARTS[key].startswith("Its") else f"Justification of the {_HALF[key]}"
            found.append(ScoreLine(name=name, score=number(score), share=max(0.0, min(100.0, round(float(score), 1)))))
    return tuple(found)


_HALF = {"sentence_justification_score": "sentence", "word_justification_score": "word"}


def _clocks(match: MatchRecord, names: Mapping[str, str]) -> list[tuple[str, str, str, str]]:
    """The time that each player took for each request with a deadline."""
    found = []
    for place, message in enumerate(match.messages):
        for player in match.players:
            ids = {player.participant_id, player.email} - {""}
            if message.deadline is None or ids.isdisjoint(message.to):
                continue
            reply = next((each for each in match.messages[place + 1 :] if each.sender in ids), None)
            asked = shown(message.message_type, 60)
            if reply is None:
                found.append((names[player.participant_id], asked, "no reply", ""))
                continue
            left = (message.deadline - reply.at).total_seconds()
            spare = f"{seconds(left)} left" if left >= 0 else f"{seconds(-left)} late"
            took = seconds((reply.at - message.at).total_seconds())
            found.append((names[player.participant_id], asked, took, spare))
    return found


def _messages(messages: Sequence[MessageRecord], names: Mapping[str, str]) -> list[MessageLine]:
    return [
        MessageLine(
            at=instant(each.at),
            sender=_who(each.sender, names),
            to=", ".join(filter(None, (_who(one, names) for one in each.to))),
            message_type=shown(each.message_type, 60),
            after=seconds(max(0.0, (each.at - before.at).total_seconds())) if before is not None else "",
            deadline=instant(each.deadline) if each.deadline is not None else "",
            late=seconds(each.late_by_s) if each.late_by_s is not None else "",
        )
        for before, each in zip((None, *messages), messages, strict=False)
    ]


def _who(sender: str, names: Mapping[str, str]) -> str:
    return names.get(sender) or shown(sender, LONGEST_NAME)


def _models(models: Sequence[Mapping[str, object]]) -> tuple[str, ...]:
    return tuple(shown(f"{step.callback}: {step.words()}", 600) for step in read_steps(list(models)))


def _texts(source: Mapping[str, object] | None, names: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The values of an object for display, with their names."""
    return _filled([(name, shown(mapping(source).get(key))) for key, name in names.items()])


def _value(value: object) -> str:
    """One value of a settlement. That of each player, in their order: ``3–1``."""
    if isinstance(value, list | tuple):
        both = (number(each) if isinstance(each, int | float) else shown(each, 100) for each in value[:2])
        return "–".join(both) or "–"
    return shown(value, 200) or ("yes" if value is True else "no" if value is False else "–")


def _filled(pairs: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in pairs if value)
