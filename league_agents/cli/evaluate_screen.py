"""What a person reads of an evaluation, and what a script does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TextIO

from league_agents.cli.screen import UNLIMITED, console
from league_agents.evaluation.figures import EvaluationReport, Figure, Unit
from league_agents.evaluation.model_share import ModelShare
from league_agents.evaluation.statistics import Estimate
from league_agents.kit.model_work import WORDS, ModelWorkUse
from league_agents.kit.printable import printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

    from league_agents.evaluation.calibration import ConfidenceBand

    Part = RenderableType | Callable[[str], Table]

FORM = "league-agents evaluation report"
WIDTH_OF_FILES = 112

DIVIDED = "\n"
"""What is between a figure and its interval where a table would be wider than the screen."""


def document_of(settings: Mapping[str, object], report: EvaluationReport, *, wanted: int) -> dict[str, object]:
    """The report as one JSON document: the same settings give the same bytes, as far as agents do the same."""
    return {
        "form": FORM,
        "version": 1,
        "settings": dict(settings),
        "games": {
            "wanted": wanted,
            "played": report.games,
            "aborted": report.aborted,
            "complete": report.games == wanted,
        },
        "figures": {figure.key: _document(figure, report, settings) for figure in report.figures},
        "models": {part: share.to_json() for part, share in report.models.items()},
        "reliability": [band.to_json() for band in report.reliability],
        "hardness": None if report.hardness is None else report.hardness.to_json(),
        "remarks": list(report.remarks),
    }


def timing_of(settings: Mapping[str, object], report: EvaluationReport) -> dict[str, object]:
    """How long the callbacks of whoever is evaluated took, as one JSON document."""
    return {
        "version": 1,
        "settings": dict(settings),
        "timing": [latency.to_json() for latency in report.latencies],
    }


def print_report(title: str, report: EvaluationReport, *, evaluated: str, stdout: TextIO) -> None:
    """Tables and sentences: the same for the same results."""
    from rich.text import Text

    parts: list[Part] = [
        "", Text(printable(title, 400), style="bold"), partial(_figures, report, evaluated)
    ]  # fmt: skip
    if report.reliability:
        parts += ["", partial(_reliability, report.reliability)]
    if report.models:
        parts += ["", _models(report.models)]
    if report.remarks:
        parts.append("")
    print_parts(stdout, *parts, *(Text(f"- {printable(remark, 400)}") for remark in report.remarks))


def print_timing(report: EvaluationReport, stderr: TextIO) -> None:
    """How long callbacks took, apart from the results; nothing where nothing was measured."""
    if not report.latencies:
        return
    print_parts(stderr, "", _latencies(report))


def print_parts(stream: TextIO, *parts: Part) -> None:
    """Print tables and sentences; a function makes its table with its cells on one line, or divided if that is wider
    than the screen."""
    screen = console(stream)
    if not screen.is_terminal:
        screen.width = WIDTH_OF_FILES
    with screen.capture() as told:
        for part in parts:
            screen.print(_fitted(screen, part) if callable(part) else part)
    # Tables are padded to their width, which is only in the way of whoever compares two files.
    stream.write("".join(f"{line.rstrip()}\n" for line in told.get().splitlines()))
    stream.flush()


def _fitted(screen: Console, make: Callable[[str], Table]) -> Table:
    from rich.measure import Measurement

    table = make(" ")
    natural = Measurement.get(screen, screen.options.update(width=UNLIMITED), table).maximum
    return table if natural <= screen.width else make(DIVIDED)


def _figures(report: EvaluationReport, evaluated: str, between: str) -> Table:
    from rich import box
    from rich.table import Table

    has_opponent = evaluated == "player"
    has_difference = any(figure.difference is not None for figure in report.figures)
    own, other = report.models.get(evaluated), report.models.get("opponent") if has_opponent else None
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    table.add_column("With 95 % intervals", no_wrap=between != DIVIDED)
    headings = [evaluated.title(), *([] if own is None else [BY_MODEL])]
    if has_opponent:
        headings += ["Opponent", *([] if other is None else [BY_MODEL]), *(["Difference"] if has_difference else [])]
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for figure in report.figures:
        if figure.key in _OF_MODELS and _is_nothing(figure.own) and (figure.other is None or _is_nothing(figure.other)):
            continue
        cells = [_cell(figure.own, figure.unit, figure.note, between=between)]
        if own is not None:
            cells.append(_NONE if figure.own is None else _games_of_model(own))
        if has_opponent:
            cells.append(_NONE if figure.other is None else _cell(figure.other, figure.unit, between=between))
            if other is not None:
                cells.append(_NONE if figure.other is None else _games_of_model(other))
            if has_difference:
                cells.append(
                    _NONE
                    if figure.difference is None
                    else _cell(figure.difference, figure.unit, is_signed=True, between=between)
                )
        table.add_row(f"{figure.label}{_UNITS.get(figure.unit, '')}", *cells)
    return table


def _reliability(bands: Sequence[ConfidenceBand], between: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    table.add_column("Confidence, %", no_wrap=True)
    for heading in ("Games", "Stated, %", "Sentence right, %"):
        table.add_column(heading, justify="right", no_wrap=True)
    for band in bands:
        limits = f"{100 * band.low:.0f} to {100 * band.high:.0f}"
        table.add_row(
            limits, f"{band.right.count:,}", f"{100 * band.stated:.1f}", _cell(band.right, Unit.SHARE, between=between)
        )
    return table


_NONE = "\N{EN DASH}"
"""In a cell for which there is no figure."""

BY_MODEL = "Model's\nwork in"


def _games_of_model(share: ModelShare) -> str:
    """``12 of 20``: in how many games at least some of the model's work was used."""
    return f"{share.used:,} of {share.total:,}"


def _models(shares: Mapping[str, ModelShare]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    table.add_column("Language models' work", no_wrap=True)
    for work in ModelWorkUse:
        table.add_column(work.value.replace("_", " ").capitalize(), justify="right", no_wrap=True)
    table.add_column("Mostly because")
    for part, share in shares.items():
        for (callback, step), steps in share.steps.items():
            works = Counter(each.work for each in steps)
            reasons = Counter(WORDS[each.why] for each in steps if each.why is not None)
            reason = reasons.most_common(1)[0][0] if reasons else ""
            named = f"{part}, {callback}" + (f" ({step})" if step else "")
            table.add_row(named, *(f"{works[work]:,}" for work in ModelWorkUse), reason)
    return table


_OF_MODELS = ("model_calls", "input_tokens", "output_tokens", "cost")
_UNITS = {Unit.SHARE: ", %", Unit.USD: ", $"}


def _is_nothing(found: Estimate | None) -> bool:
    return found is not None and found.value == 0 and found.deviation in (None, 0.0)


def _latencies(report: EvaluationReport) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    table.add_column("Time of a callback", no_wrap=True)
    for heading in ("Calls", "Median", "95 %", "Longest"):
        table.add_column(heading, justify="right", no_wrap=True)
    for each in report.latencies:
        seconds = [_seconds(value) for value in (each.median_s, each.late_s, each.longest_s)]
        table.add_row(each.callback, f"{each.calls:,}", *seconds)
    return table


def _cell(found: Estimate | None, unit: Unit, note: str = "", *, is_signed: bool = False, between: str = " ") -> str:
    if found is None:
        return note or "unknown"
    value = _number(found.value, unit, is_signed=is_signed)
    if unit is Unit.RANK:
        return value
    if found.low is None or found.high is None:
        return f"{value}{between}(always)" if found.count > 1 else f"{value}{between}(once)"
    low, high = (_number(each, unit, is_signed=False) for each in (found.low, found.high))
    return f"{value}{between}[{low}, {high}]"


def _number(value: float, unit: Unit, *, is_signed: bool) -> str:
    if unit is Unit.RANK:
        return "beyond 100" if value > 100 else f"{value:.0f}"
    digits = {Unit.USD: 4, Unit.TOKENS: 0, Unit.POINTS: 2, Unit.BITS: 2}.get(unit, 1)
    shown = round(100 * value if unit is Unit.SHARE else value, digits) + 0.0  # the sum makes nothing of minus nothing
    return f"{shown:{'+' if is_signed and shown else ''},.{digits}f}"


def _seconds(value: float) -> str:
    return f"{1000 * value:.1f} ms" if value < 1 else f"{value:.2f} s"


def _document(figure: Figure, report: EvaluationReport, settings: Mapping[str, object]) -> dict[str, object]:
    """A figure, and beside it in how many games it is that of a model at all."""
    document = figure.to_json()
    del document["key"]
    own, other = report.models.get(str(settings.get("evaluated"))), report.models.get("opponent")
    beside = {
        "own": None if own is None else own.share(),
        "opponent": None if other is None or figure.other is None else other.share(),
    }
    return {**document, "models": beside}
