"""What the agents ask of a language model, whichever it is.

Rule 1: a call ends before its timeout, with a value or with a ``ModelError``; nothing else comes out.
Rule 2: what a completion says is a stranger's text until it has been validated. A model gives values; code decides.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from league_agents.kit.model_work import ModelWorkUse, Why

if TYPE_CHECKING:
    from pydantic import BaseModel  # not at run time: whoever only names a model need not wait for it

M = TypeVar("M", bound="BaseModel")


@dataclass(frozen=True, slots=True, kw_only=True)
class Purpose:
    """What a prompt is for: the key by which calls are counted and limited."""

    match_id: str
    """Empty outside a match."""

    callback: str
    """The callback that asks, such as ``get_questions``; ``arena.undercover`` for an arena game."""

    step: str
    """The prompt's file name without its suffix."""

    season_id: str = ""
    """Empty outside a season."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One question to a model."""

    system: str
    """What the model is told to do; never holds a stranger's text."""

    user: str
    """The material, with a stranger's text fenced."""

    purpose: Purpose

    @property
    def digest(self) -> str:
        """SHA-256 of both texts: the same question has the same digest, whatever it was for."""
        text = f"{len(self.system)}\n{self.system}\n{self.user}"
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What calls used, as the service counted it."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """Those of the input tokens that the service had cached."""

    requests: int = 0
    """Requests that reached the service, repeated ones too."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            requests=self.requests + other.requests,
        )


Judge = Callable[[ModelWorkUse, Why | None], None]
"""Who keeps books is told what became of a reply, and why when not all of it was used."""


def nobody(_work: ModelWorkUse, _why: Why | None) -> None:
    """A ``Judge`` where nobody keeps books."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A text that a model wrote."""

    text: str
    model: str
    """``provider:model`` of the one that answered."""

    usage: Usage
    """Of all requests that this took."""

    judge: Judge = field(default=nobody, repr=False, compare=False)
    """To be called by the caller when it knows what it can use of the text; the last call counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed(Generic[M]):
    """A value that a model wrote, validated."""

    value: M
    completion: Completion


class ChatModel(Protocol):
    """A language model, or several behind one face."""

    @property
    def name(self) -> str:
        """``provider:model``, or what stands for several."""
        ...

    def complete_text(self, prompt: Prompt, *, timeout: timedelta, max_output_tokens: int) -> Completion:
        """A text. Raises ``ModelUnavailable``, ``ModelRefused`` or ``MalformedCompletion`` (nothing came, or it was
        cut off)."""
        ...

    def complete_json(
        self, prompt: Prompt, schema: type[M], *, timeout: timedelta, max_output_tokens: int
    ) -> Parsed[M]:
        """A value of ``schema``; a completion that is none is asked for once more, with what is wrong with it.

        Raises ``ModelUnavailable``, ``ModelRefused``, ``MalformedCompletion``.
        """
        ...
