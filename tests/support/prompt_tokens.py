"""Estimate of the number of tokens of a prompt; ``kit.tokens`` has the rule."""

from __future__ import annotations

import json

from pydantic import BaseModel

from league_agents.kit.tokens import tokens_in
from league_agents.llm.port import Prompt

_FRAME = 12
"""Tokens that a service adds for the roles of a conversation of two messages."""


def prompt_tokens(prompt: Prompt, schema: type[BaseModel] | None = None) -> int:
    """Estimate the number of tokens of a prompt, including the schema of the reply if given."""
    described = tokens_in(json.dumps(schema.model_json_schema())) if schema is not None else 0
    return _FRAME + tokens_in(prompt.system) + tokens_in(prompt.user) + described
