"""Prompts from files: ``agents/prompts/STEP.md``, one for each step, rendered with Jinja2.

A file has two parts, divided by a line ``--- user ---``: what the model is told to do, and the material. A value that
a template does not get is a mistake of ours and fails at once.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from league_agents.agents.fence import fenced
from league_agents.llm.port import Prompt, Purpose

if TYPE_CHECKING:
    from jinja2 import Template

DIVIDER = "\n--- user ---\n"


def render(purpose: Purpose, **values: object) -> Prompt:
    """The prompt of ``purpose.step``. In a template ``{{ text | fenced("label", 500) }}`` fences a stranger's text."""
    system, user = _template(purpose.step)
    return Prompt(system=system.render(values).strip(), user=user.render(values).strip(), purpose=purpose)


@cache
def _template(step: str) -> tuple[Template, Template]:
    from jinja2 import Environment, StrictUndefined

    text = resources.files(__package__).joinpath("prompts", f"{step}.md").read_text(encoding="utf-8")
    system, divider, user = text.partition(DIVIDER)
    assert divider, f"prompts/{step}.md has no line '{DIVIDER.strip()}'"
    # Prompts are no HTML: escaping would change the material.
    environment = Environment(undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True)  # noqa: S701
    environment.filters["fenced"] = fenced
    return environment.from_string(system), environment.from_string(user)
