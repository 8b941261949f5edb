"""How each step of an agent used its language model's work: in full, in part or replaced by code, and why.

Rule 1: a step is created where the agent decides, and travels in the callback's reply under ``KEY``. All displays of it
(match, record, log, evaluation, costs, arena) are derived from the step.
Rule 2: nothing in a game depends on steps. A reply may come from an untrusted agent, so reading skips unknown values
and bounds the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from league_agents.kit.errors import LeagueError, ModelError
from league_agents.kit.printable import printable

KEY = "model_work"
"""The key of a callback's reply that holds its steps, as a list of JSON objects."""

MOST_STEPS = 20
LONGEST_NAME = 60
LONGEST_DETAIL = 240
_LARGEST_COUNT = 10_000


class ModelWorkUse(StrEnum):
    """How one step used the model's work."""

    USED = "used"
    PARTLY_USED = "partly_used"
    REPLACED = "replaced"
    """The model's work was wanted, and code replaced it."""

    NOT_ASKED = "not_asked"
    """The model's work was not wanted."""


class Why(StrEnum):
    """Why a model's work was not used in full. The first six are also the ``reason`` of a ``ModelError``."""

    UNAVAILABLE = "unavailable"
    UNANSWERED = "unanswered"
    REJECTED = "rejected"
    OVER_BUDGET = "over_budget"
    REFUSED = "refused"
    MALFORMED = "malformed"
    NO_TIME = "no_time"
    CUT_SHORT = "cut_short"
    """The model had not finished at the deadline; what was complete is used."""

    DISOBEYED = "disobeyed"
    """The reply shows the prompt's private mark: the model obeyed an injected instruction."""

    BROKE_RULES = "broke_rules"
    CONTRADICTED = "contradicted"
    DECLINED = "declined"
    TOO_FEW = "too_few"
    BOUNDED = "bounded"
    ILLEGAL = "illegal"
    CALLBACK_FAILED = "callback_failed"
    UNUSED = "unused"
    CALLS_SPENT = "calls_spent"
    NOT_NEEDED = "not_needed"
    NOTHING_TO_ASK = "nothing_to_ask"
    NO_MODEL = "no_model"


WORDS: Mapping[Why, str] = MappingProxyType(
    {
        Why.UNAVAILABLE: "the service could not be asked",
        Why.UNANSWERED: "no answer came in time",
        Why.REJECTED: "the service rejects the request",
        Why.OVER_BUDGET: "a limit of your own forbids the call",
        Why.REFUSED: "the model declined",
        Why.MALFORMED: "the reply is not in the form that was asked for",
        Why.NO_TIME: "too little time was left",
        Why.CUT_SHORT: "the time was over before the model had finished",
        Why.DISOBEYED: "the reply obeys somebody else's text",
        Why.BROKE_RULES: "what it wrote breaks the rules",
        Why.CONTRADICTED: "the text does not bear out what it said",
        Why.DECLINED: "it said that it cannot tell",
        Why.TOO_FEW: "too little of the reply can be used",
        Why.BOUNDED: "code bounds what it may change",
        Why.ILLEGAL: "the action is not allowed",
        Why.CALLBACK_FAILED: "the callback failed",
        Why.UNUSED: "nothing of the reply can be used",
        Why.CALLS_SPENT: "the calls that a game may have were made",
        Why.NOT_NEEDED: "code could do all of it",
        Why.NOTHING_TO_ASK: "there was nothing to ask about",
        Why.NO_MODEL: "the settings name no model for it",
    }
)
"""Each reason in words for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStep:
    """One step in which an agent may use a model."""

    step: str
    """The prompt's file name without its suffix."""

    work: ModelWorkUse
    why: Why | None = None
    """Why the work was not used in full; ``None`` if all of it was used."""

    used: int | None = None
    """How many of ``of`` pieces (questions, answers, texts) are the model's; ``None`` if pieces are not counted."""

    of: int | None = None
    detail: str = ""
    """The service's error message in one line; empty if it did not fail."""

    callback: str = ""
    """The name of the callback that took the step; empty inside that callback's own reply."""

    def words(self) -> str:
        """``partly used, 7 of 9 (the text does not bear out what it said)``."""
        said = self.work.value.replace("_", " ")
        if self.used is not None and self.of is not None:
            said += f", {self.used} of {self.of}"
        reason = self.reason()
        return f"{said} ({reason})" if reason else said

    def reason(self) -> str:
        """The reason in words, with the service's message; empty if all of the work was used."""
        if self.why is None:
            return ""
        return f"{WORDS[self.why]}: {self.detail}" if self.detail else WORDS[self.why]

    def to_json(self) -> dict[str, object]:
        """The step as JSON values, without empty fields."""
        found: dict[str, object] = {"callback": self.callback} if self.callback else {}
        found |= {"step": self.step, "work": self.work.value, "why": None if self.why is None else self.why.value}
        if self.used is not None and self.of is not None:
            found |= {"used": self.used, "of": self.of}
        if self.detail:
            found["detail"] = self.detail
        return found


def failed_step(step: str, error: LeagueError) -> ModelStep:
    """A step whose model gave nothing because it was down, slow, refusing, or over its budget."""
    reason = error.reason if isinstance(error, ModelError) else ""
    why = Why(reason) if reason in tuple(Why) else Why.UNAVAILABLE
    return ModelStep(step=step, work=ModelWorkUse.REPLACED, why=why, detail=printable(str(error), LONGEST_DETAIL))


def read_steps(value: object, *, callback: str = "") -> tuple[ModelStep, ...]:
    """The steps in a JSON list. Steps that name no callback get ``callback``; items that are no step are skipped."""
    rows = value[:MOST_STEPS] if isinstance(value, list | tuple) else ()
    found = (_read(row, callback) for row in rows if isinstance(row, Mapping))
    return tuple(step for step in found if step is not None)


def steps_in(reply: object, callback: str) -> tuple[ModelStep, ...]:
    """The steps that a callback's reply contains."""
    return read_steps(reply.get(KEY), callback=callback) if isinstance(reply, dict) else ()


def _read(row: Mapping[object, object], callback: str) -> ModelStep | None:
    step, work, why = row.get("step"), row.get("work"), row.get("why")
    if not isinstance(step, str) or not isinstance(work, str) or work not in tuple(ModelWorkUse):
        return None
    used, of = row.get("used"), row.get("of")
    is_counted = type(used) is int and type(of) is int and 0 <= used <= of <= _LARGEST_COUNT
    named, detail = row.get("callback"), row.get("detail")
    return ModelStep(
        step=printable(step, LONGEST_NAME),
        work=ModelWorkUse(work),
        why=Why(why) if isinstance(why, str) and why in tuple(Why) else None,
        used=used if is_counted and isinstance(used, int) else None,
        of=of if is_counted and isinstance(of, int) else None,
        detail=printable(detail, LONGEST_DETAIL) if isinstance(detail, str) else "",
        callback=printable(named, LONGEST_NAME) if isinstance(named, str) and named else callback,
    )


def together(steps: Iterable[ModelStep]) -> ModelWorkUse | None:
    """How these steps together used the model's work; ``None`` if there are no steps.

    Steps that did not want the model's work count only if there are no others.
    """
    works = {step.work for step in steps}
    wanted = works - {ModelWorkUse.NOT_ASKED}
    if len(wanted) == 1:
        return wanted.pop()
    return ModelWorkUse.PARTLY_USED if wanted else ModelWorkUse.NOT_ASKED if works else None


def counted(steps: Iterable[ModelStep]) -> dict[str, object]:
    """The number of steps per use and per reason, as JSON values."""
    steps = tuple(steps)
    works = Counter(step.work for step in steps)
    reasons = Counter(step.why.value for step in steps if step.why is not None)
    ended = {work.value: works[work] for work in ModelWorkUse}
    return {"steps": len(steps), **ended, "reasons": dict(sorted(reasons.items()))}


def sentence(steps: Sequence[ModelStep], *, what: str = "step") -> str | None:
    """A sentence on how the model's work was used; ``None`` if there are no steps. ``what`` is the noun for a step."""
    if not steps:
        return None
    works = Counter(step.work for step in steps)
    total = len(steps) - works[ModelWorkUse.NOT_ASKED]
    if not total:
        return f"no language model was asked ({_reasons(steps, ModelWorkUse.NOT_ASKED)})"
    plural = what if total == 1 else f"{what}s"
    if works[ModelWorkUse.USED] == total:
        return f"the language model's work was used in {_all(total)}{plural}"
    if works[ModelWorkUse.REPLACED] == total:
        reasons = _reasons(steps, ModelWorkUse.REPLACED)
        return f"nothing of a language model's work was used: code stood in for it in {_all(total)}{plural} ({reasons})"
    said = [f"the language model's work was used in {works[ModelWorkUse.USED]} of {total} {plural}"]
    if works[ModelWorkUse.PARTLY_USED]:
        said.append(f"partly used in {works[ModelWorkUse.PARTLY_USED]} ({_reasons(steps, ModelWorkUse.PARTLY_USED)})")
    if works[ModelWorkUse.REPLACED]:
        said.append(f"replaced by code in {works[ModelWorkUse.REPLACED]} ({_reasons(steps, ModelWorkUse.REPLACED)})")
    return ", ".join(said)


_MOST_REASONS = 3


def _all(count: int) -> str:
    return {1: "the only ", 2: "both "}.get(count, f"all {count} ")


def _reasons(steps: Iterable[ModelStep], work: ModelWorkUse) -> str:
    found = Counter(step.reason() for step in steps if step.work is work and step.why is not None)
    said = [f"{reason}{f', {times} times' if times > 1 else ''}" for reason, times in found.most_common(_MOST_REASONS)]
    return "; ".join(said) or "no reason was given"
