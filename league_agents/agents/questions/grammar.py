"""Recognising our own questions by their wording.

Rule: a text is ours only if the question that is read from it is worded exactly like it. So a recognised question can
be answered by computation, whoever sent it, and one that only looks like ours is treated as a stranger's.
"""

from __future__ import annotations

from league_agents.agents.questions import four_options, yes_no
from league_agents.agents.questions.kinds import Inquiry, Options

_LONGEST = 3_000
_LONGEST_OPTION = 1_000


def recognise(text: str, options: Options) -> Inquiry | None:
    """The question of ours that is worded like this; ``None`` when it is not one of ours."""
    if len(text) > _LONGEST or any(len(option) > _LONGEST_OPTION for option in options):
        return None
    text = " ".join(text.split())
    given: Options = tuple(" ".join(option.split()) for option in options)  # type: ignore[assignment]
    for kind in four_options.KINDS:
        found = kind.recognise(text, given)
        if found is not None and found.text == text and found.options == given:
            return found
    for kind in yes_no.KINDS:
        found = kind.recognise(text, given)
        if found is not None and found.text == text:
            return found
    return None
