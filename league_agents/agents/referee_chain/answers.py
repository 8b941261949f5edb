"""Model answers, with their evidence, to the questions that code cannot answer, in one call.

Rule 1: code decides. A row of the model is an answer only if its evidence holds; otherwise the answer is "cannot tell".
Rule 2: a question is untrusted text: its instructions are not followed, and of the model's reply only the chosen letter
is ever sent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from league_agents.agents.asking import CallbackRun
from league_agents.agents.contexts import AskedQuestion
from league_agents.agents.fence import one_line
from league_agents.agents.questions.answer_key import meaning_of
from league_agents.agents.questions.kinds import NO, Options
from league_agents.agents.referee_chain.evidence import Sources, sources_of
from league_agents.agents.targets import Secret
from league_agents.games.q21.information import UNKNOWN
from league_agents.games.q21.model import LETTERS
from league_agents.games.q21.similarity import fold
from league_agents.kit.model_work import ModelWorkUse, Why
from league_agents.kit.tokens import cut_to_tokens, tokens_in

STEP = "referee_answers"
MOST_OUTPUT_TOKENS = 1_700
PASSAGE_TOKENS = 800
FACTS_TOKENS = 320
QUESTIONS_TOKENS = 2_400
_QUESTION_CHARACTERS = 500
_OPTION_CHARACTERS = 160
_MOST_ROWS = 200
_LONGEST_EVIDENCE = 400


class AnswerRow(BaseModel):
    """One answer as a model gives it."""

    # The service keeps to these words where it can; code reads more spellings than it asks for.
    n: int = Field(description="the number of the question", json_schema_extra={"minimum": 1, "maximum": _MOST_ROWS})
    evidence: str = Field(default="", description="words copied from the passage or the facts, or words looked for")
    basis: str = Field(default="none", json_schema_extra={"enum": ["quote", "absent", "none"]})
    answer: str = Field(json_schema_extra={"enum": [*LETTERS, "none"]})


class AnswerRows(BaseModel):
    """All answers as a model gives them."""

    answers: list[AnswerRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestion:
    """A question that code could not answer."""

    number: int
    """Number of the question in this call; independent of the player's number."""

    text: str
    options: Options
    has_own_options: bool
    """Whether the options differ from the usual key."""

    @staticmethod
    def of(asked: AskedQuestion, number: int, options: Options, usual: Options | None) -> OpenQuestion:
        return OpenQuestion(number=number, text=asked.text, options=options, has_own_options=options != usual)

    @property
    def line(self) -> str:
        """The question as one line of the prompt."""
        text = f"{self.number}. {one_line(self.text, _QUESTION_CHARACTERS)}"
        if not self.has_own_options:
            return text
        options = zip(LETTERS, self.options, strict=True)
        return text + "".join(f" | {letter}: {one_line(each, _OPTION_CHARACTERS)}" for letter, each in options)

    @property
    def is_readable(self) -> bool:
        """Whether the whole question fits; the answer to a truncated question may be the opposite."""
        return len(self.text) <= _QUESTION_CHARACTERS and all(len(each) <= _OPTION_CHARACTERS for each in self.options)


def told_by_model(
    turn: CallbackRun, questions: Sequence[OpenQuestion], secret: Secret, usual: Options | None
) -> Mapping[int, int]:
    """Ask the model; return the index of the option by question number, for the answers that hold."""
    shown = _that_fit(questions)
    if not shown:
        turn.not_asked(STEP, Why.NOTHING_TO_ASK if questions else Why.NOT_NEEDED)
        return {}
    if not turn.may_ask(STEP):
        return {}
    sources = sources_of(secret)
    lines = [question.line for question in shown]
    reply = turn.ask(
        STEP,
        AnswerRows,
        max_output_tokens=MOST_OUTPUT_TOKENS,
        sentence=secret.target.opening_sentence,
        passage=cut_to_tokens(sources.passage, PASSAGE_TOKENS),
        facts=_facts_that_fit(sources.facts),
        questions=lines,
        longest=max(map(len, lines)),
        usual=usual,
    )
    if reply is None:
        return {}
    told = held(reply, shown, sources)
    _settle(turn, reply, shown, told)
    return told


def held(reply: AnswerRows, questions: Sequence[OpenQuestion], sources: Sources) -> dict[int, int]:
    """Return the answers whose evidence holds; contradictory answers to a question are dropped."""
    asked = _by_question(reply, questions)
    quoted = Counter(
        quote for _, rows in asked.values() for quote in {fold(row.evidence[:_LONGEST_EVIDENCE]) for row in rows}
    )
    found = {
        number: {_place(row, question, sources, quoted) for row in rows} for number, (question, rows) in asked.items()
    }
    return {n: place for n, places in found.items() if len(places) == 1 and (place := places.pop()) is not None}


def _settle(turn: CallbackRun, reply: AnswerRows, shown: Sequence[OpenQuestion], told: Mapping[int, int]) -> None:
    """Record how many questions get the model's reply: its option, or "cannot tell"."""
    rows = _by_question(reply, shown)
    declined = [
        number
        for number, (question, each) in rows.items()
        if all(place_named(row.answer, question.options) is None for row in each)
    ]
    used = len(told) + len(declined)
    if told and used == len(shown):
        turn.settle(STEP, ModelWorkUse.USED, used=used, of=used)
        return
    if not told:
        why = Why.CONTRADICTED if len(declined) < len(rows) else Why.DECLINED if declined else Why.UNUSED
        turn.settle(STEP, ModelWorkUse.REPLACED, why, used=0, of=len(shown))
        return
    why = Why.CONTRADICTED if used < len(rows) else Why.TOO_FEW
    turn.settle(STEP, ModelWorkUse.PARTLY_USED, why, used=used, of=len(shown))


def _by_question(
    reply: AnswerRows, questions: Sequence[OpenQuestion]
) -> dict[int, tuple[OpenQuestion, list[AnswerRow]]]:
    """Group the rows by question; rows about other numbers are dropped."""
    asked = {question.number: question for question in questions}
    found: dict[int, tuple[OpenQuestion, list[AnswerRow]]] = {}
    for row in reply.answers[:_MOST_ROWS]:
        if row.n in asked:
            found.setdefault(row.n, (asked[row.n], []))[1].append(row)
    return found


def _place(row: AnswerRow, question: OpenQuestion, sources: Sources, quoted: Mapping[str, int]) -> int | None:
    place = place_named(row.answer, question.options)
    if place is None:
        return None
    option = question.options[place]
    meaning = meaning_of(option)
    is_shared = quoted[fold(row.evidence[:_LONGEST_EVIDENCE])] > 1
    if meaning == UNKNOWN or sources.hold(row.evidence, f"{question.text} {option}", is_shared=is_shared):
        return place
    says_no = meaning == NO or fold(option).split()[:1] in (["no"], ["none"], ["neither"], ["nothing"], ["nobody"])
    asked = f"{question.text[:_QUESTION_CHARACTERS]} {' '.join(question.options) if question.has_own_options else ''}"
    return place if says_no and sources.lack(row.evidence, asked) else None


def place_named(answer: str, options: Options) -> int | None:
    """Return the index of the option that the model named by its letter or its text."""
    said = answer.strip()[:200]
    letter = said.rstrip(".):").upper()
    if letter in LETTERS:
        return LETTERS.index(letter)
    folded = [fold(option[:200]) for option in options]
    return folded.index(fold(said)) if folded.count(fold(said)) == 1 and fold(said) else None


def _that_fit(questions: Sequence[OpenQuestion]) -> list[OpenQuestion]:
    """Return as many questions as the budget allows, the shortest first, so that a long one displaces no other."""
    used = 0
    found = []
    for question in sorted(questions, key=lambda each: (len(each.text), each.number)):
        cost = tokens_in(question.line[: 4 * _QUESTION_CHARACTERS]) + 1 if question.is_readable else 0
        if question.is_readable and question.text.strip() and used + cost <= QUESTIONS_TOKENS:
            used += cost
            found.append(question)
    return sorted(found, key=lambda each: each.number)


def _facts_that_fit(facts: Sequence[str]) -> list[str]:
    used = 0
    found = []
    for fact in facts:
        used += tokens_in(fact) + 1
        if used > FACTS_TOKENS:
            break
        found.append(fact)
    return found
