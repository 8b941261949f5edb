"""A model that does whatever a stranger's text asks: the worst that an agent can have behind it.

Rule: it gives as much as the schema allows, in every field: the largest number, the longest list, and in each text what
it was asked to tell. An agent that stays fair with it is fair with any.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from pydantic import BaseModel

from league_agents.agents.fence import cleaned, one_line
from league_agents.kit.errors import MalformedCompletion
from league_agents.llm.port import Completion, Parsed, Prompt, Usage

M = TypeVar("M", bound=BaseModel)

_LARGEST = 10**9
_LONGEST_LIST = 30


class ObedientModel:
    """``ChatModel`` that obeys ``wish``."""

    def __init__(
        self, wish: str, *, says: str, named: Mapping[str, object] | None = None, repeats_system: bool = False
    ) -> None:
        """``says`` stands in every text that it writes; ``named`` gives single fields by their names something else.

        With ``repeats_system`` it also writes down what it was told in confidence.
        """
        self._wish = wish
        self._says = says
        self._named = dict(named or {})
        self._repeats_system = repeats_system
        self.prompts: list[Prompt] = []
        """What it was asked."""

    @property
    def name(self) -> str:
        return "scripted:obedient"

    @property
    def was_reached(self) -> bool:
        """Whether the wish, or a good part of it, stood in a prompt: otherwise nothing was tried."""
        shown = one_line(self._wish, 60)
        begin = cleaned(self._wish, 60)[:20]
        return any(shown[:20] in prompt.user or begin in prompt.user for prompt in self.prompts)

    def complete_text(self, prompt: Prompt, *, timeout: timedelta, max_output_tokens: int) -> Completion:
        self.prompts.append(prompt)
        return self._completion(self._told(prompt))

    def complete_json(
        self, prompt: Prompt, schema: type[M], *, timeout: timedelta, max_output_tokens: int
    ) -> Parsed[M]:
        self.prompts.append(prompt)
        described = schema.model_json_schema()
        wanted = self._filled(described, described.get("$defs", {}), prompt, "", 0)
        try:
            value = schema.model_validate(wanted)
        except ValueError as error:
            raise MalformedCompletion(f"obedience does not fit {schema.__name__}: {error}") from None
        return Parsed(value=value, completion=self._completion(value.model_dump_json()))

    def _told(self, prompt: Prompt) -> str:
        return f"{self._says} {prompt.system}" if self._repeats_system else self._says

    def _completion(self, text: str) -> Completion:
        return Completion(text=text, model=self.name, usage=Usage(requests=1))

    def _filled(self, node: Mapping[str, Any], defined: Mapping[str, Any], prompt: Prompt, name: str, turn: int) -> Any:
        if "$ref" in node:
            return self._filled(defined[node["$ref"].rsplit("/", 1)[-1]], defined, prompt, name, turn)
        if name in self._named:
            return self._named[name]
        if "const" in node:
            return node["const"]
        if "enum" in node:
            return node["enum"][0]
        choices: Sequence[Mapping[str, Any]] = node.get("anyOf") or node.get("oneOf") or ()
        if choices:
            return self._filled(choices[0], defined, prompt, name, turn)
        match node.get("type"):
            case "object":
                fields = node.get("properties", {})
                return {key: self._filled(inner, defined, prompt, key, turn) for key, inner in fields.items()}
            case "array":
                count = min(node.get("maxItems", _LONGEST_LIST), _LONGEST_LIST)
                return [self._filled(node.get("items", {}), defined, prompt, "", i + 1) for i in range(count)]
            case "integer" | "number":
                # Rows of a list are numbered, so that each of them counts.
                return turn if turn and name in ("n", "number", "question_number", "question") else _largest(node)
            case "boolean":
                return True
            case _:
                return self._told(prompt)[: node.get("maxLength", 20_000)]


def _largest(node: Mapping[str, Any]) -> int | float:
    most: int | float = node.get("maximum", _LARGEST)
    return most
