"""The questions of a player and their answers, one or two lines each.

Rule: long questions and long options are cut for display; the document has them in full.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from league_agents.games.q21.model import LETTERS, Choice
from league_agents.kit.printable import of

LONGEST_QUESTION = 122
LONGEST_BESIDE_OPTIONS = 98
"""Two lines of a window of 80 columns, beside short answers and beside long ones."""

LONGEST_OPTION = 80
LONGEST_KEY = 54
"""A question's own options are shown below it if they fit into one line there."""

LONGEST_MEANING = 20
"""Characters of the chosen option."""


def question_table(
    name: str,
    questions: Sequence[Mapping[str, object]],
    answers: Mapping[str, str],
    remarks: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[RenderableType]:
    """``answers``: question number -> letter; ``remarks``: question number -> a line below the question."""
    options = [_options(question) for question in questions]
    shared = all(each == options[0] for each in options)
    unanswered = "" if answers else ", and none was answered"
    counted = f"{len(questions)} question{'' if len(questions) == 1 else 's'}"
    yield Text(f"{name} asked {counted}{unanswered}.")
    if shared and any(options[0]):
        yield Text(_key(options[0]), style="dim")
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0), expand=True)
    table.add_column(justify="right", no_wrap=True, style="dim", width=3)
    table.add_column(ratio=1, overflow="fold")
    table.add_column(min_width=12, max_width=LONGEST_MEANING + 3, overflow="ellipsis", no_wrap=True)
    for question, own in zip(questions, options, strict=True):
        number = of(question.get("question_number"))
        most = LONGEST_QUESTION if shared else LONGEST_BESIDE_OPTIONS
        asked = Text(_cut(of(question.get("question_text")), most) or "(empty)")
        if not shared and any(own) and len(_key(own)) <= LONGEST_KEY:
            asked.append(f"\n{_key(own)}", style="dim")
        if remark := of(remarks.get(number), LONGEST_QUESTION):
            asked.append(f"\n{remark}", style="yellow")
        table.add_row(Text(number), asked, _answer(answers.get(number), own))
    yield table


def _cut(text: str, most: int) -> str:
    """``text``, without its last words if it is too long."""
    if len(text) <= most:
        return text
    words, _, rest = text[: most - 1].rpartition(" ")
    return f"{words if len(rest) < 20 else text[: most - 1]} …"


def _options(question: Mapping[str, object]) -> tuple[str, ...]:
    given = question.get("options")
    options = given if isinstance(given, Mapping) else {}
    return tuple(of(options.get(letter), LONGEST_OPTION) for letter in LETTERS)


def _key(options: Sequence[str]) -> str:
    return " · ".join(f"{letter}: {option}" for letter, option in zip(LETTERS, options, strict=True))


def _answer(answer: str | None, options: Sequence[str]) -> Text:
    if not answer:
        return Text("no answer", style="dim italic")
    if answer == Choice.NOT_RELEVANT:
        return Text("Not relevant", style="dim")
    # "Unknown / Not Relevant" has two names for one meaning.
    whole = options[LETTERS.index(answer)].partition(" / ")[0] if answer in LETTERS else ""
    meaning = of(whole, LONGEST_MEANING)
    return Text.assemble((f"{answer}:", "bold cyan"), f" {meaning}") if meaning else Text(answer, style="bold cyan")
