"""The seven game messages and their older relatives: how their payloads are read and written (protocol 4.4 and 4.6).

Rule: a reader refuses only what leaves nothing to play with. The forms of all deployed players become the same values,
so no machine ever sees which client is on the other side.
"""

from __future__ import annotations

from collections.abc import Mapping

from league_agents.core.violation import Violation, shown
from league_agents.games.q21.model import (
    Answer,
    Breakdown,
    Brief,
    Choice,
    Feedback,
    Guess,
    Question,
    Scorecard,
    answer_of,
)
from league_agents.ids import is_game_id
from league_agents.protocol.league.envelope import Envelope
from league_agents.protocol.league.messages import (
    AnswersBatch,
    BrokenPayload,
    GuessCall,
    GuessSubmission,
    Hints,
    QuestionsBatch,
    QuestionsCall,
    RoundStart,
    ScoreFeedback,
    WarmupCall,
    WarmupResponse,
)
from league_agents.protocol.league.reading import (
    MOST_ITEMS,
    Fields,
    broken,
    first_of,
    first_text,
    id_of,
    instant_of,
    integer_of,
    list_of,
    number_of,
    object_of,
    text_of,
)
from league_agents.protocol.league.writing import Document, check_range, due, present, refuse
from league_agents.values import maker

_new_question = maker(Question)

LONGEST_BOOK_NAME = 255
LONGEST_DOMAIN = 50
"""The columns of [P1.0], which fails for good on longer values (protocol 4.4.3)."""

MOST_POINTS = 3
BEST_SCORE = 100.0

_MOST_VIOLATIONS = 20
_HINT_KEYS = ("book_hint", "book_description", "description", "general_description")
_DOMAIN_KEYS = ("association_word", "associative_domain", "association_topic", "association_domain")
_CHOICES: Mapping[str, Choice] = {choice.value: choice for choice in Choice}
_SQUEEZED_CHOICES: Mapping[str, Choice] = {choice.value.upper().replace(" ", ""): choice for choice in Choice}
_BREAKDOWN_KEYS = (
    "opening_sentence_score",
    "sentence_justification_score",
    "associative_word_score",
    "word_justification_score",
)


def match_id(envelope: Envelope) -> str:
    """The game id, which every game message repeats in its payload (protocol 1.2)."""
    if not is_game_id(envelope.game_id):
        raise refuse(envelope, f"its game_id must be seven digits, not {envelope.game_id!a}")
    return str(envelope.game_id)


def read_warmup_call(fields: Fields) -> WarmupCall:
    return WarmupCall(
        warmup_question=first_text(fields, "warmup_question", "question") or "",
        deadline=instant_of(fields.get("deadline")),
        auth_token=id_of(fields.get("auth_token")),
    )


def write_warmup_call(payload: WarmupCall, envelope: Envelope) -> Document:
    if not payload.warmup_question.strip():
        raise refuse(envelope, "it needs a question")
    return present(
        match_id=match_id(envelope),
        warmup_question=payload.warmup_question,
        deadline=due(envelope, payload.deadline),
        auth_token=payload.auth_token,
    )


def read_warmup_response(fields: Fields) -> WarmupResponse | BrokenPayload:
    if "answer" not in fields:
        return broken("answer", "present", None)
    value = fields["answer"]
    # Any value will do; it is not scored (protocol 4.4.2). A float that is no text is NaN or infinite: no value at all.
    answer = text_of(value)
    if answer is None:
        answer = "" if value is None or isinstance(value, float) else shown(value)
    return WarmupResponse(
        answer=answer,
        auth_token=id_of(fields.get("auth_token")),
    )


def write_warmup_response(payload: WarmupResponse, envelope: Envelope) -> Document:
    return present(match_id=match_id(envelope), answer=payload.answer, auth_token=payload.auth_token)


def read_round_start(fields: Fields) -> RoundStart | BrokenPayload:
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


def write_round_start(payload: RoundStart, envelope: Envelope) -> Document:
    brief = payload.brief
    if not (brief.book_name.strip() and brief.book_hint.strip() and brief.association_domain.strip()):
        raise refuse(envelope, "it needs a book name, a hint and a domain")
    return present(
        match_id=match_id(envelope),
        book_name=brief.book_name[:LONGEST_BOOK_NAME],
        book_hint=brief.book_hint,
        book_description=brief.book_hint,
        association_word=brief.association_domain,
        associative_domain=brief.association_domain[:LONGEST_DOMAIN],
        questions_required=payload.questions_required,
        deadline=due(envelope, payload.deadline),
        auth_token=payload.auth_token,
    )


def read_questions_batch(fields: Fields) -> QuestionsBatch | BrokenPayload:
    items = list_of(fields.get("questions"))
    if items is None:
        return broken("questions", f"a list of at most {MOST_ITEMS} questions", fields.get("questions"))
    questions: list[Question] = []
    violations: list[Violation] = []
    for position, item in enumerate(items):
        if not isinstance(item, dict):
            violations.append(Violation(path=f"questions[{position}]", rule="an object", found=shown(item)))
            continue
        text = text_of(item.get("question_text"))
        if text is None or not text.strip():
            text = first_text(item, "question_text", "text", "question")
        if text is None:
            path = f"questions[{position}].question_text"
            violations.append(Violation(path=path, rule="a text", found=shown(item.get("question_text"))))
            continue
        number = integer_of(item.get("question_number"), 1)
        if number is None:
            number = integer_of(item.get("number"), 1) or integer_of(item.get("id"), 1) or position + 1
        options = item.get("options")
        if options is None:
            options = item.get("choices")
        questions.append(_new_question(number=number, text=text, options=_options_of(options)))
    if violations:
        return BrokenPayload(violations=tuple(violations[:_MOST_VIOLATIONS]))
    return QuestionsBatch(questions=tuple(questions), auth_token=id_of(fields.get("auth_token")))


def _options_of(value: object) -> tuple[str, str, str, str]:
    """The texts of A to D. A letter without a text has an empty one: with a fixed answer key nobody needs them."""
    if isinstance(value, dict):
        get = value.get
        options = (get("A"), get("B"), get("C"), get("D"))
        if None in options:
            options = (get("A", get("a")), get("B", get("b")), get("C", get("c")), get("D", get("d")))
    elif isinstance(value, list):
        options = (*value[:4], None, None, None, None)[:4]
    else:
        return ("", "", "", "")
    a, b, c, d = options
    return (text_of(a) or "", text_of(b) or "", text_of(c) or "", text_of(d) or "")


def write_questions_batch(payload: QuestionsBatch, envelope: Envelope) -> Document:
    questions = payload.questions
    if not questions or len({question.number for question in questions}) != len(questions):
        raise refuse(envelope, "it needs questions with numbers of their own")
    for question in questions:
        if question.number < 1 or not question.text.strip():
            raise refuse(envelope, f"question {question.number} needs a number from 1 and a text")
    return present(
        match_id=match_id(envelope),
        questions=[
            {
                "question_number": question.number,
                "question_text": question.text,
                "options": {"A": a, "B": b, "C": c, "D": d},
            }
            for question in questions
            for a, b, c, d in (question.options,)
        ],
        total_questions=len(questions),
        auth_token=payload.auth_token,
    )


def choice_of(value: object) -> Choice | None:
    """One of the five answers, in any letter case; ``NOT_RELEVANT`` too (protocol 4.4.5)."""
    if not isinstance(value, str) or len(value) > 40:
        return None
    choice = _CHOICES.get(value)
    if choice is None:
        squeezed = value.upper().replace("_", "").replace("-", "").replace(" ", "").strip()
        choice = _SQUEEZED_CHOICES.get(squeezed)
    return choice


def read_answers_batch(fields: Fields) -> AnswersBatch | BrokenPayload:
    stated = first_of(fields, "answers", "opponent_answers")
    items = list_of(stated)
    if items is None:
        return broken("answers", f"a list of at most {MOST_ITEMS} answers", stated)
    answers: list[Answer] = []
    for position, item in enumerate(items, start=1):
        if isinstance(item, dict):
            stated_number, stated_choice = item.get("question_number"), item.get("answer")
            if stated_number is None:
                stated_number = first_of(item, "question_id", "number")
            if stated_choice is None:
                stated_choice = first_of(item, "selected_option", "choice", "selected")
            number = integer_of(stated_number, 1) or position
            choice = choice_of(stated_choice)
        else:
            number, choice = position, choice_of(item)
        # An answer that cannot be read tells nothing; the guess is due all the same.
        if choice is not None:
            answers.append(answer_of(number, choice))
    return AnswersBatch(
        answers=tuple(answers),
        deadline=instant_of(fields.get("deadline")),
        auth_token=id_of(fields.get("auth_token")),
    )


def write_answers_batch(payload: AnswersBatch, envelope: Envelope) -> Document:
    if not payload.answers:
        raise refuse(envelope, "it needs at least one answer")
    return present(
        match_id=match_id(envelope),
        answers=[{"question_number": answer.number, "answer": str(answer.choice)} for answer in payload.answers],
        deadline=due(envelope, payload.deadline),
        auth_token=payload.auth_token,
    )


def read_guess_submission(fields: Fields) -> GuessSubmission | BrokenPayload:
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


def write_guess_submission(payload: GuessSubmission, envelope: Envelope) -> Document:
    guess = payload.guess
    if not (guess.opening_sentence.strip() and guess.associative_word.strip()):
        raise refuse(envelope, "it needs an opening sentence and a word")
    if guess.confidence is not None:
        check_range(envelope, "confidence", guess.confidence, 0.0, 1.0)
    return present(
        match_id=match_id(envelope),
        opening_sentence=guess.opening_sentence,
        sentence_justification=guess.sentence_justification,
        associative_word=guess.associative_word,
        word_justification=guess.word_justification,
        confidence=guess.confidence,
        auth_token=payload.auth_token,
    )


def read_breakdown(value: object) -> Breakdown | None:
    """The four component scores, or ``None`` unless all are there."""
    fields = object_of(value)
    if not fields:
        return None
    scores = [number_of(fields.get(key), 0.0, BEST_SCORE) for key in _BREAKDOWN_KEYS]
    sentence, sentence_why, word, word_why = scores
    if sentence is None or sentence_why is None or word is None or word_why is None:
        return None
    return Breakdown(
        opening_sentence_score=sentence,
        sentence_justification_score=sentence_why,
        associative_word_score=word,
        word_justification_score=word_why,
    )


def write_breakdown(breakdown: Breakdown, envelope: Envelope) -> Document:
    scores = (
        breakdown.opening_sentence_score,
        breakdown.sentence_justification_score,
        breakdown.associative_word_score,
        breakdown.word_justification_score,
    )
    for key, score in zip(_BREAKDOWN_KEYS, scores, strict=True):
        check_range(envelope, key, score, 0.0, BEST_SCORE)
    return dict(zip(_BREAKDOWN_KEYS, scores, strict=True))


def read_feedback(value: object) -> Feedback | None:
    """Both texts; ``None`` when neither is there."""
    fields = object_of(value)
    if fields is None:
        return None
    sentence, word = text_of(fields.get("opening_sentence")), text_of(fields.get("associative_word"))
    if sentence is None and word is None:
        return None
    return Feedback(opening_sentence=sentence or "", associative_word=word or "")


def write_feedback(feedback: Feedback) -> Document:
    return {"opening_sentence": feedback.opening_sentence, "associative_word": feedback.associative_word}


def check_points(envelope: Envelope, league_points: int, private_score: float) -> None:
    """Raises ``LocalProtocolError`` when a score is outside its range (protocol 4.4.7)."""
    check_range(envelope, "league_points", league_points, 0, MOST_POINTS)
    check_range(envelope, "private_score", private_score, 0.0, BEST_SCORE)


def read_score_feedback(fields: Fields) -> ScoreFeedback | BrokenPayload:
    stated_points = fields.get("league_points")
    points = 0 if stated_points is None else integer_of(stated_points, 0, MOST_POINTS)
    if points is None:
        return broken("league_points", f"a whole number from 0 to {MOST_POINTS}", stated_points)
    stated_score = first_of(fields, "private_score", "total_score")
    score = 0.0 if stated_score is None else number_of(stated_score, 0.0, BEST_SCORE)
    if score is None:
        return broken("private_score", f"a number from 0 to {BEST_SCORE:g}", stated_score)
    feedback = read_feedback(fields.get("feedback")) or read_feedback(
        {
            "opening_sentence": fields.get("opening_sentence_feedback"),
            "associative_word": fields.get("word_feedback"),
        }
    )
    return ScoreFeedback(
        scorecard=Scorecard(
            league_points=points,
            private_score=score,
            # The older Q21_GUESS_RESULT has the four scores flat (protocol 4.6).
            breakdown=read_breakdown(fields.get("breakdown")) or read_breakdown(fields),
            feedback=feedback,
        )
    )


def write_score_feedback(payload: ScoreFeedback, envelope: Envelope) -> Document:
    card = payload.scorecard
    check_points(envelope, card.league_points, card.private_score)
    return present(
        match_id=match_id(envelope),
        league_points=card.league_points,
        private_score=card.private_score,
        breakdown={} if card.breakdown is None else write_breakdown(card.breakdown, envelope),
        feedback=None if card.feedback is None else write_feedback(card.feedback),
    )


def read_questions_call(fields: Fields) -> QuestionsCall:
    return QuestionsCall(deadline=instant_of(fields.get("deadline")), auth_token=id_of(fields.get("auth_token")))


def read_guess_call(fields: Fields) -> GuessCall:
    return GuessCall(deadline=instant_of(fields.get("deadline")), auth_token=id_of(fields.get("auth_token")))


def read_hints(fields: Fields) -> Hints:
    return Hints(
        book_hint=first_text(fields, *_HINT_KEYS),
        association_domain=first_text(fields, *_DOMAIN_KEYS),
        book_name=first_text(fields, "book_name"),
    )
