"""Recognition of this package's questions by their wording.

Rule: a text is recognised only if the question parsed from it has exactly the same wording. So a recognised question
from any sender can be answered by computation, and one that only looks similar is treated as a foreign question.
"""

from __future__ import annotations

from league_agents.agents.questions import four_options, yes_no
from league_agents.agents.questions.kinds import Inquiry, Options

_LONGEST = 3_000
_LONGEST_OPTION = 1_000


def recognise(text: str, options: Options) -> Inquiry | None:
    """Return the question with this wording; ``None`` if it is not one of this package's questions."""
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
