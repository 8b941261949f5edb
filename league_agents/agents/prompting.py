"""Prompt templates: ``agents/prompts/STEP.md``, one per step, rendered with Jinja2.

A file has two parts, divided by a line ``--- user ---``: the instructions with a worked example, which are the same in
every game under the same rules, so that services can cache them, and the material. A missing value of a
template is a programming error and raises at once. Every system prompt ends with a private mark (``secrecy``): a
completion that contains it repeats its instructions and is discarded.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from league_agents.agents.fence import fenced, fenced_lines, one_line
from league_agents.agents.secrecy import canary_line
from league_agents.llm.port import Prompt, Purpose

if TYPE_CHECKING:
    from jinja2 import Template

DIVIDER = "\n--- user ---\n"


def render(purpose: Purpose, *, key: int | str = "", **values: object) -> Prompt:
    """Return the prompt of ``purpose.step``. ``key`` is unknown to the other side, such as an agent's seed.

    In a template ``{{ text | fenced("label", 500) }}`` fences an untrusted text and ``{{ texts |
    fenced_lines("label") }}`` several texts at once; ``one_line`` only cleans.
    """
    return render_file(purpose.step, purpose, key, values)


def render_file(name: str, purpose: Purpose, key: int | str, values: Mapping[str, object]) -> Prompt:
    """Return the prompt of a file that several steps share; see ``render``."""
    system, user = (template.render(values).strip() for template in _template(name))
    whole = f"{system}\n\n{canary_line(key, system, user)}"
    return Prompt(system=whole, user=user, purpose=purpose, stable=len(system))


@cache
def _template(step: str) -> tuple[Template, Template]:
    from jinja2 import Environment, StrictUndefined

    text = resources.files(__package__).joinpath("prompts", f"{step}.md").read_text(encoding="utf-8")
    system, divider, user = text.partition(DIVIDER)
    assert divider, f"prompts/{step}.md has no line '{DIVIDER.strip()}'"
    # Prompts are not HTML: escaping would change the material.
    environment = Environment(undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True)  # noqa: S701
    environment.filters.update(fenced=fenced, fenced_lines=fenced_lines, one_line=one_line)
    return environment.from_string(system), environment.from_string(user)
