"""The port through which agents use a language model.

Rule 1: a call ends before its timeout, with a value or with a ``ModelError``; it raises nothing else.
Rule 2: a completion is untrusted text until it has been validated. A model gives values; code decides.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from league_agents.kit.model_work import ModelWorkUse, Why

if TYPE_CHECKING:
    from pydantic import BaseModel  # not at run time: importing it is slow, and naming a model does not need it

M = TypeVar("M", bound="BaseModel")


@dataclass(frozen=True, slots=True, kw_only=True)
class Purpose:
    """The purpose of a prompt: the key by which calls are counted and limited."""

    match_id: str
    """Empty outside a match."""

    callback: str
    """The calling callback, such as ``get_questions``; ``arena.undercover`` for an arena game."""

    step: str
    """The prompt's file name without its suffix."""

    season_id: str = ""
    """Empty outside a season."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One request to a model."""

    system: str
    """The instructions; never contains untrusted text."""

    user: str
    """The material, with untrusted text fenced."""

    purpose: Purpose

    stable: int = 0
    """The number of characters of ``system`` that are the same in every game: services cache such a beginning."""

    @property
    def digest(self) -> str:
        """SHA-256 of both texts, independent of the purpose."""
        text = f"{len(self.system)}\n{self.system}\n{self.user}"
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Use of a model, as counted by the service."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """The part of the input tokens that the service had cached."""

    stored_tokens: int = 0
    """The part of the input tokens that the service stored in its cache, where it charges for that."""

    requests: int = 0
    """Requests that reached the service, including repeated ones."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            stored_tokens=self.stored_tokens + other.stored_tokens,
            requests=self.requests + other.requests,
        )


Judge = Callable[[ModelWorkUse, Why | None], None]
"""Receives how much of a reply was used, and why not all of it was."""


def nobody(_work: ModelWorkUse, _why: Why | None) -> None:
    """A ``Judge`` that ignores the judgement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A text written by a model."""

    text: str
    model: str
    """``provider:model`` of the model that answered."""

    usage: Usage
    """Use of all requests for this completion."""

    is_partial: bool = False
    """Whether the model had not finished: the text is the beginning of its reply."""

    judge: Judge = field(default=nobody, repr=False, compare=False)
    """To be called by the caller once it knows how much of the text it can use; the last call counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed(Generic[M]):
    """A validated value written by a model; of a partial completion, its complete items."""

    value: M
    completion: Completion


class ChatModel(Protocol):
    """A language model, or several behind one interface."""

    @property
    def name(self) -> str:
        """``provider:model``, or a name for several models."""
        ...

    def complete_text(self, prompt: Prompt, *, timeout: timedelta, max_output_tokens: int) -> Completion:
        """Return a text. Raises ``ModelUnavailable``, ``ModelRefused``, ``MalformedCompletion`` (empty or cut off)."""
        ...

    def complete_json(
        self, prompt: Prompt, schema: type[M], *, timeout: timedelta, max_output_tokens: int
    ) -> Parsed[M]:
        """Return a value of ``schema``; an invalid completion is requested once more, with a description of its errors.

        Raises ``ModelUnavailable``, ``ModelRefused``, ``MalformedCompletion``.
        """
        ...
