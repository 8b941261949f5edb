"""The lost games of an evaluation for people: a list, then each game whole, with the truth beside wrong answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from league_agents.evaluation.lost_games import AnswerMark, CheckedAnswer, Course, LostGame
from league_agents.games.q21.rules import RuleSet
from league_agents.kit.json_values import mapping, mappings, number
from league_agents.kit.printable import of

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table


def lost_game_pages(losses: Sequence[LostGame], rules: RuleSet) -> Iterator[RenderableType]:
    """The pages of all lost games, in their order."""
    from rich.text import Text

    from league_agents.report.transcript import transcript

    if not losses:
        return
    yield ""
    yield _list(losses)
    for lost in losses:
        yield ""
        yield Text(f"Game {lost.game}, seat {lost.seat}, seed {lost.seed}, lost by {_points(lost)}", style="bold")
        if said := course_in_words(lost):
            yield Text(said)
        yield transcript(lost.record, rules, remarks={"player": _remarks(lost)})


def course_in_words(lost: LostGame) -> str:
    """Describe where the true opening and word stood among the candidates, and when they were lost."""
    if lost.opening is None or lost.word is None:
        return "The target is none of the known candidates, so its place among them is not known."
    return " ".join(
        _course(f"The true {name}", course, lost)
        for name, course in (("opening", lost.opening), ("word", lost.word))
        if course.candidates > 1
    )


def _course(name: str, course: Course, lost: LostGame) -> str:
    if course.first == course.last == 1:
        kept = "they never cost it" if set(course.places) <= {1} else "for a while they cost it"
        return (
            f"{name} was number 1 of {course.candidates:,} by the brief alone and after all answers: {kept} that place."
        )
    said = (
        f"{name} was number {course.first:,} of {course.candidates:,} by the brief alone and number {course.last:,}"
        " after all answers"
    )
    if course.last == 1:
        return f"{said}: they told enough to find it."
    if course.lost_at is None:
        return f"{said}: no answer lowered it, but they did not tell enough."
    mark = next(each.mark for each in lost.answers if each.number == course.lost_at)
    cost = "took its first place" if 1 in (course.first, *course.places) else "lowered it most"
    return f"{said}: answer {course.lost_at} ({_MARKS[mark]}) {cost}."


_MARKS = {
    AnswerMark.RIGHT: "right",
    AnswerMark.WRONG: "the referee was wrong",
    AnswerMark.NOISE: "changed by the noise",
    AnswerMark.DECLINED: "declined",
    AnswerMark.UNCHECKED: "not checked: code cannot decide the question",
    AnswerMark.MISSING: "missing",
}


def _list(losses: Sequence[LostGame]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    for heading in ("Lost", "Points"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("Book")
    table.add_column("Why")
    for heading in ("Opening", "Word"):
        table.add_column(f"{heading}\nwas number", justify="right", no_wrap=True)
    for lost in losses:
        table.add_row(
            str(lost.game),
            _points(lost),
            Text(of(mapping(mapping(lost.record["match"]).get("brief")).get("book_name"), 60)),
            Text(reason_of(lost)),
            *(
                "\N{EN DASH}" if each is None else f"{each.last:,} of {each.candidates:,}"
                for each in (lost.opening, lost.word)
            ),
        )
    return table


def reason_of(lost: LostGame) -> str:
    """Describe why the opponent has more points."""
    from league_agents.report.outcome import why

    return why(lost.record)


def _points(lost: LostGame) -> str:
    points = {of(row.get("id")): mapping(row.get("scorecard")) for row in mappings(lost.record["players"])}
    own, other = (number(points[part].get("league_points")) or 0.0 for part in ("player", "opponent"))
    return f"{own:g} to {other:g}"


def _remarks(lost: LostGame) -> dict[str, str]:
    found = {str(each.number): _fault(each) for each in lost.answers}
    for name, course in (("opening", lost.opening), ("word", lost.word)):
        places = () if course is None else (course.first, *course.places)
        for answer, (before, after) in zip(lost.answers, pairwise(places), strict=False):
            if before != after:
                found[str(answer.number)].append(f"true {name} now number {after:,}")
    return {number: "; ".join(said) for number, said in found.items()}


def _fault(answer: CheckedAnswer) -> list[str]:
    """What is to be said against an answer."""
    said = []
    if answer.mark is AnswerMark.NOISE:
        said.append(f"changed by the noise, the referee sent {answer.given}")
    elif answer.mark not in (AnswerMark.RIGHT, AnswerMark.UNCHECKED):
        said.append(_MARKS[answer.mark])
    if said and answer.truth is not None and answer.truth not in (answer.answer, answer.given):
        said.append(f"true is {answer.truth}")
    return said
