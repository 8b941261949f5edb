"""Game messages with a few fields of their own, and their older relatives (protocol 4.4 and 4.6).

Rule: a reader refuses only what leaves nothing to play with. The forms of all deployed players become the same values,
so no machine ever sees which client is on the other side.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar

from league_agents.games.q21.model import (
    Brief,
    Guess,
)
from league_agents.kit.violation import shown
from league_agents.league.wire.declare import (
    ID,
    INSTANT,
    MATCH_ID,
    TEXT,
    DerivedKey,
    integer,
    message,
    why_out_of_range,
    wire,
)
from league_agents.league.wire.kinds import MessageType, Role
from league_agents.league.wire.payload import LeagueMessage, Payload
from league_agents.league.wire.reading import (
    Fields,
    broken,
    first_text,
    id_of,
    instant_of,
    integer_of,
    number_of,
    object_of,
    text_of,
)

LONGEST_BOOK_NAME = 255
LONGEST_DOMAIN = 50
"""The columns of [P1.0], which fails for good on longer values (protocol 4.4.3)."""

_HINT_KEYS = ("book_hint", "book_description", "description", "general_description")
_DOMAIN_KEYS = ("association_word", "associative_domain", "association_topic", "association_domain")
_DUE = wire(INSTANT, must="it needs a deadline")
_TOKEN = wire(ID)


@message(MessageType.Q21WARMUPCALL, id_word="warmup")
class WarmupCall(LeagueMessage, frozen=True, kw_only=True):
    """Are you there?"""

    match_id: ClassVar = MATCH_ID
    warmup_question: Annotated[str, wire(TEXT, "warmup_question", "question", absent="")]
    """``""`` when a received call asks nothing: it is a connectivity check, any answer will do."""

    deadline: Annotated[datetime | None, _DUE]
    auth_token: Annotated[str | None, _TOKEN] = None

    def refusal(self) -> str | None:
        return None if self.warmup_question.strip() else "it needs a question"


def _read_warmup_response(fields: Fields, _: Role | None) -> Payload:
    if "answer" not in fields:
        return broken("answer", "present", None)
    value = fields["answer"]
    # Any value will do; it is not scored (protocol 4.4.2). A float that is no text is NaN or infinite: no value at all.
    answer = text_of(value)
    if answer is None:
        answer = "" if value is None or isinstance(value, float) else shown(value)
    return WarmupResponse(answer=answer, auth_token=id_of(fields.get("auth_token")))


@message(MessageType.Q21WARMUPRESPONSE, read=_read_warmup_response)
class WarmupResponse(LeagueMessage, frozen=True, kw_only=True):
    """A player is there."""

    match_id: ClassVar = MATCH_ID
    answer: Annotated[str, wire(TEXT)]
    """May be empty when received."""

    auth_token: Annotated[str | None, _TOKEN] = None


def _read_round_start(fields: Fields, _: Role | None) -> Payload:
    brief = Brief(
        book_name=first_text(fields, "book_name") or "",
        book_hint=first_text(fields, *_HINT_KEYS) or "",
        association_domain=first_text(fields, *_DOMAIN_KEYS) or "",
    )
    if not (brief.book_name or brief.book_hint or brief.association_domain):
        return broken("book_name", "present", fields.get("book_name"))
    return RoundStart(
        brief=brief,
        deadline=instant_of(fields.get("deadline")),
        questions_required=integer_of(fields.get("questions_required"), 1, 100) or 20,
        auth_token=id_of(fields.get("auth_token")),
    )


@message(MessageType.Q21ROUNDSTART, read=_read_round_start, id_word="round-start")
class RoundStart(LeagueMessage, frozen=True, kw_only=True):
    """What the players are told; it also asks for the questions."""

    brief: Brief
    match_id: ClassVar = MATCH_ID
    book_name: ClassVar = DerivedKey(of=lambda start, _: start.brief.book_name[:LONGEST_BOOK_NAME])
    book_hint: ClassVar = DerivedKey(of=lambda start, _: start.brief.book_hint)
    book_description: ClassVar = DerivedKey(of=lambda start, _: start.brief.book_hint)
    association_word: ClassVar = DerivedKey(of=lambda start, _: start.brief.association_domain)
    associative_domain: ClassVar = DerivedKey(of=lambda start, _: start.brief.association_domain[:LONGEST_DOMAIN])
    questions_required: Annotated[int, wire(integer(1, 100))] = 20
    deadline: Annotated[datetime | None, _DUE]
    auth_token: Annotated[str | None, _TOKEN] = None

    def refusal(self) -> str | None:
        brief = self.brief
        if not (brief.book_name.strip() and brief.book_hint.strip() and brief.association_domain.strip()):
            return "it needs a book name, a hint and a domain"
        return None


def _read_guess_submission(fields: Fields, _: Role | None) -> Payload:
    given = object_of(fields.get("guess")) or fields
    sentence = first_text(given, "opening_sentence", "opening_sentence_guess")
    word = first_text(given, "associative_word", "associative_word_guess", "association_word")
    sentence_justification = first_text(given, "sentence_justification")
    word_justification = first_text(given, "word_justification")
    if sentence is None and word is None and sentence_justification is None and word_justification is None:
        return broken("opening_sentence", "present", None)
    return GuessSubmission(
        guess=Guess(
            opening_sentence=sentence or "",
            sentence_justification=sentence_justification or "",
            associative_word=word or "",
            word_justification=word_justification or "",
            confidence=number_of(given.get("confidence"), 0.0, 1.0),
        ),
        auth_token=id_of(fields.get("auth_token")),
    )


@message(MessageType.Q21GUESSSUBMISSION, read=_read_guess_submission)
class GuessSubmission(LeagueMessage, frozen=True, kw_only=True):
    """A player's guess."""

    guess: Guess
    match_id: ClassVar = MATCH_ID
    opening_sentence: ClassVar = DerivedKey(of=lambda submission, _: submission.guess.opening_sentence)
    sentence_justification: ClassVar = DerivedKey(of=lambda submission, _: submission.guess.sentence_justification)
    associative_word: ClassVar = DerivedKey(of=lambda submission, _: submission.guess.associative_word)
    word_justification: ClassVar = DerivedKey(of=lambda submission, _: submission.guess.word_justification)
    confidence: ClassVar = DerivedKey(of=lambda submission, _: submission.guess.confidence)
    auth_token: Annotated[str | None, _TOKEN] = None

    def refusal(self) -> str | None:
        guess = self.guess
        if not (guess.opening_sentence.strip() and guess.associative_word.strip()):
            return "it needs an opening sentence and a word"
        if guess.confidence is not None:
            return why_out_of_range("confidence", guess.confidence, 0.0, 1.0)
        return None


@message(MessageType.Q21_QUESTIONS_CALL, is_sent=False)
class QuestionsCall(LeagueMessage, frozen=True, kw_only=True):
    """A repeat of ``RoundStart`` without its content (4.6)."""

    deadline: Annotated[datetime | None, _DUE]
    auth_token: Annotated[str | None, _TOKEN] = None


@message(MessageType.Q21_GUESS_CALL, is_sent=False)
class GuessCall(LeagueMessage, frozen=True, kw_only=True):
    """The stored guess is wanted once more (4.6)."""

    deadline: Annotated[datetime | None, _DUE]
    auth_token: Annotated[str | None, _TOKEN] = None


@message(MessageType.Q21_HINTS, is_sent=False)
class Hints(LeagueMessage, frozen=True, kw_only=True):
    """Fills in what ``RoundStart`` left out (4.6)."""

    book_hint: Annotated[str | None, wire(TEXT, *_HINT_KEYS)]
    association_domain: Annotated[str | None, wire(TEXT, *_DOMAIN_KEYS)]
    book_name: Annotated[str | None, wire(TEXT)] = None
