"""Warnings of a journal, in words for the owner of the agent.

Rule: call ids and game ids are for machines; people get the failure, its place in the code and the fallback. A
warning of an unknown form is shown unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from league_agents.journal.port import WARNING, Note
from league_agents.kit.printable import of, printable

TROUBLE = frozenset(
    {
        "callback_failed",
        "late_result",
        "result_repaired",
        "send_refused",
        "step_failed",
        "surplus_questions",
        "unusable_message",
    }
)
"""Codes of warnings that need attention. Others report mail that came twice or late, which is usual."""

MOST = 20
"""Maximal number of warnings shown for one match. An agent that fails in every call of a match has eight."""

LONGEST = 500

_CALLED = re.compile(
    r"(?P<callback>\w{1,40}) in game [\w-]{1,40}: (?:(?:raised|timed_out|not_a_dict|unusable|died): )?(?P<what>.+)",
    re.DOTALL,
)
_AFTERWARDS = re.compile(r"[\w-]{1,40}:[^\s:]{1,40}:(?P<callback>\w{1,40}): (?:\w{1,40}: )?(?P<what>.+)", re.DOTALL)
_NOT_AWAITED = re.compile(r"nobody waits for [\w-]{1,40}:[^\s:]{1,40}:(?P<callback>\w{1,40}) any more")
_MAIL = re.compile(r"(?P<kind>[A-Z_0-9]{3,40}) in game [\w-]{1,40}(?P<what>[:,] .+| (?:was|is|came) .+)", re.DOTALL)


def plain_warning(note: Note) -> str:
    """One line: ``get_guess raised KeyError (my_player.py:11): 'dynamc'; a placeholder is guessed``."""
    text = of(note.facts.get("text"), 2_000) or printable(note.key, 80)
    if match := _NOT_AWAITED.fullmatch(text):
        return f"{match['callback']} ended after its game was over, so its result was not used"
    if (match := _MAIL.fullmatch(text)) and match["kind"].isupper():
        return printable(f"{match['kind']}{match['what']}", LONGEST)
    if match := _CALLED.fullmatch(text) or _AFTERWARDS.fullmatch(text):
        callback, what = match["callback"], match["what"]
        return printable(what if callback in what else f"{callback}: {what}", LONGEST)
    return printable(text, LONGEST)


def troubles(notes: Iterable[Note], game_id: str) -> list[str]:
    """The warnings of one participant's journal in a match, in order; empty if there are none."""
    found = [
        plain_warning(note)
        for note in notes
        if note.kind == WARNING and note.key in TROUBLE and game_id in str(note.facts.get("text"))
    ]
    counted = {text: found.count(text) for text in found}
    told = [text if count == 1 else f"{text} ({count} times)" for text, count in counted.items()]
    left = len(told) - MOST
    return [*told[:MOST], f"and {left} more"] if left > 0 else told
