"""The figures that the project promises, measured: ``scripts/bench``.

Rule: a figure is measured here or it is not claimed. Each is the median of several runs; nothing in the tests depends
on how fast a machine is.

Matches and commands are timed by what they use of a processor: what one core does when it does nothing else, so that a
shared machine comes close to the figure of a machine of one's own. Selections are timed by the clock on the wall.
"""

from __future__ import annotations

import json
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

import click

from benchmarks.arena_engine import WAYS, actions_per_s, thousand_instructions_an_action
from benchmarks.instructions import (
    FEW_OPEN,
    MANY_OPEN,
    MODES,
    forgetful_journal,
    instructions_available,
    millions_a_match,
    millions_a_match_of_many,
    scripted_season,
    trace_of_one_batch,
)
from league_agents.app.offline import JournalMaker, journals_at
from league_agents.evaluation.statistics import wilson
from league_agents.games.q21.rules import COURSE, PRD

MATCHES_A_SEASON = 99
"""A game id has two digits for the round."""

PROCESSES = 2
"""Series of games are played at once on so many cores."""

T = TypeVar("T")


class Size(StrEnum):
    """How much is measured."""

    QUICK = "quick"
    USUAL = "usual"
    """Ten minutes on two cores, no part longer than three."""
    FULL = "full"
    """The figures that ``docs/figures.md`` quotes."""

    def of(self, quick: int, usual: int, full: int) -> int:
        """What belongs to this size."""
        return {Size.QUICK: quick, Size.USUAL: usual, Size.FULL: full}[self]


def at_once(what: str, calls: Mapping[str, Callable[[], T]]) -> dict[str, T]:
    """The results of calls by their names, each call in a process of its own; tells of each that is done."""
    results: dict[str, T] = {}
    with ProcessPoolExecutor(max_workers=PROCESSES) as pool:
        running = {pool.submit(call): name for name, call in calls.items()}
        for done in as_completed(running):
            results[running[done]] = done.result()
            click.echo(f"bench: {what}: {len(results)} of {len(calls)}, {running[done]}", err=True)
    return {name: results[name] for name in calls}


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured number."""

    key: str
    """Dotted path in the JSON document: ``matches_per_s.memory``."""

    value: float
    unit: str
    promised: str
    """What the project promises, in words; empty for a figure that is only reported."""


def matches_per_s(maker: Callable[[Path], JournalMaker], *, through_mime: bool, seasons: int) -> float:
    """The median over ``seasons`` seasons of played matches per second of one core, start and end of the season
    included."""
    speeds = []
    for seed in range(seasons):
        with tempfile.TemporaryDirectory() as folder:
            league = scripted_season(MATCHES_A_SEASON, maker(Path(folder)), through_mime=through_mime, seed=seed)
            begin = time.process_time()
            league.play()
            elapsed = time.process_time() - begin
            played = sum(note.kind == "match" for note in league.referees[0].journal.notes())
            league.close()
        if played != MATCHES_A_SEASON:
            raise RuntimeError(f"only {played} of {MATCHES_A_SEASON} matches were played")
        speeds.append(played / elapsed)
    return statistics.median(speeds)


def _in_memory(_folder: Path) -> JournalMaker:
    return forgetful_journal


def _on_disk(folder: Path) -> JournalMaker:
    return journals_at(folder / "bench.db")


def process_s(*arguments: str, runs: int) -> float:
    """The median processor time of the command as a whole process, its modules compiled."""
    from benchmarks.records import waited_for

    with tempfile.TemporaryDirectory() as folder:
        times = [waited_for(*arguments, compiled_in=folder).cpu_s for _ in range(runs + 1)]
    return statistics.median(times[1:])  # the first run compiles, and fills the caches of the operating system


def select_s(runs: int) -> float:
    """The median time to choose 20 of 80 four-way questions for 400 candidates."""
    import numpy as np

    from league_agents.games.q21.information import select

    times = []
    for seed in range(runs):
        generator = np.random.default_rng(seed)
        predictions = generator.integers(0, 4, size=(400, 80)).astype(np.int8)
        prior = np.full(400, 1 / 400)
        noise = np.full(80, 0.1)
        begin = time.perf_counter()
        chosen = select(predictions, prior, 20, noise)
        times.append(time.perf_counter() - begin)
        if len(set(map(int, chosen))) != 20:
            raise RuntimeError("the selection is not of 20 different questions")
    return statistics.median(times)


def speed_figures(*, size: Size) -> list[Figure]:
    """Everything that is about time."""
    runs = size.of(1, 5, 5)
    return [
        Figure(
            key="matches_per_s.memory",
            value=matches_per_s(_in_memory, through_mime=False, seasons=runs),
            unit="/s",
            promised="at least 600",
        ),
        Figure(
            key="matches_per_s.journal",
            value=matches_per_s(_on_disk, through_mime=False, seasons=runs),
            unit="/s",
            promised="at least 150",
        ),
        Figure(
            key="matches_per_s.mime",
            value=matches_per_s(_on_disk, through_mime=True, seasons=runs),
            unit="/s",
            promised="at least 60",
        ),
        *process_figures(runs),
        Figure(key="select_s", value=select_s(runs), unit="s", promised="at most 0.5"),
    ]


def process_figures(runs: int) -> list[Figure]:
    """Commands that people wait for, as whole processes."""
    return [
        Figure(key="help_s", value=process_s("--help", runs=runs), unit="s", promised="at most 0.1"),
        Figure(
            key="single_game_s",
            value=process_s("run", "--single-game", "--seed", "1", runs=runs),
            unit="s",
            promised="at most 0.6",
        ),
    ]


PROMISED_MILLIONS: Mapping[str, int] = {"memory": 11, "journal": 28, "mime": 60}


def instruction_figures(*, size: Size) -> list[Figure]:
    """What a match costs, in figures that do not depend on how busy the machine is; two commands by the clock."""
    figures = [
        Figure(
            key=f"instructions.{mode}",
            value=millions_a_match(mode),
            unit="million a match",
            promised=f"at most {PROMISED_MILLIONS[mode]}",
        )
        for mode in MODES
    ]
    if size is not Size.QUICK:
        few, many = millions_a_match_of_many(FEW_OPEN), millions_a_match_of_many(MANY_OPEN)
        figures += [
            Figure(key=f"instructions.open_{FEW_OPEN}", value=few, unit="million a match", promised=""),
            Figure(key=f"instructions.open_{MANY_OPEN}", value=many, unit="million a match", promised=""),
            Figure(key="instructions.growth", value=many / few, unit="times", promised="at most 1.3"),
        ]
        figures += [
            Figure(
                key=f"instructions.undercover.{way}",
                value=thousand_instructions_an_action("undercover", way),
                unit="thousand an action",
                promised="",
            )
            for way in WAYS
        ]
    trace = trace_of_one_batch()
    return [
        *figures,
        Figure(key="batch.files", value=len(trace.files), unit="files", promised="at most 20"),
        Figure(key="batch.calls", value=trace.calls, unit="calls", promised="at most 700"),
        *process_figures(size.of(1, 5, 5)),
    ]


PROMISED_STRENGTH: Mapping[tuple[str, int], str] = {
    ("course", 0): "at least 0.99",
    ("course", 5): "at least 0.95",
    ("course", 15): "at least 0.80",
    ("prd", 0): "at least 0.95",
    ("prd", 5): "at least 0.80",
}


def strength_figures(*, size: Size) -> list[Figure]:
    """How often the offline player is right, with its own choice of questions and with two simpler ones."""
    from benchmarks.strength import Strength, measure_strength

    games = size.of(20, 50, 200)
    measured = partial(measure_strength, games=games)
    calls: dict[str, Callable[[], Strength]] = {}
    for rules in (COURSE, PRD):
        for percent in (0, 5, 15):
            # The simpler ways are told apart best by a few wrong answers.
            simpler = ("first20", "random") if size is Size.FULL or percent == 5 else ()
            for way in ("chosen", *simpler):
                key = f"strength.{rules.name}.{percent}.{way}"
                calls[key] = partial(measured, rules=rules, wrong=percent / 100, questions=way)
        # The sentence is measured without hint and domain; the word belongs to a domain, so it is measured as played.
        key = f"strength.word.{rules.name}"
        calls[key] = partial(
            measure_strength, rules=rules, wrong=0.0, questions="chosen", games=games, hides_hint=False
        )
    promised = {f"strength.{rules}.{percent}.chosen": words for (rules, percent), words in PROMISED_STRENGTH.items()}
    return [
        Figure(
            key=key,
            value=result.word_right if key.startswith("strength.word.") else result.sentence_right,
            unit="of games",
            promised=promised.get(key, ""),
        )
        for key, result in at_once("strength", calls).items()
    ]


PROMISED_LLM_STRENGTH: Mapping[tuple[str, int], str] = {
    ("course", 0): "at least 0.95",
    ("course", 5): "at least 0.90",
    ("course", 15): "at least 0.75",
    ("prd", 0): "at least 0.85",
    ("prd", 5): "at least 0.70",
}


def llm_strength_figures(*, size: Size) -> list[Figure]:
    """How often the player with a model is right among 300 candidates, the model an oracle that errs in one of ten
    predictions: as it is played, and with nothing but the oracle's questions (``alone``).
    """
    from benchmarks.oracle import measure_llm_strength

    games = size.of(20, 30, 200)
    calls = {
        f"llm_strength.{rules.name}.{percent}.{way}": partial(
            measure_llm_strength, rules=rules, wrong=percent / 100, alone=way == "alone", games=games
        )
        for rules in (COURSE, PRD)
        for percent in (0, 5, 15)
        for way in ("played", "alone")
        if way == "played" or size is Size.FULL or percent == 5
    }
    promised = {
        f"llm_strength.{rules}.{percent}.played": words for (rules, percent), words in PROMISED_LLM_STRENGTH.items()
    }
    return [
        Figure(key=key, value=result.sentence_right, unit="of games", promised=promised.get(key, ""))
        for key, result in at_once("llm-strength", calls).items()
    ]


def unknown_figures(*, size: Size) -> list[Figure]:
    """Games about books that the player does not have; the parts ``tuned`` and ``held_out``."""
    from benchmarks.unknown_books import PARTS, UnknownPlay, measure_unknown

    calls: dict[str, Callable[[], UnknownPlay]] = {}
    for rules in (COURSE, PRD):
        for part in PARTS if size is Size.FULL else PARTS[1:]:
            for make, is_other_make in (("own", False), ("other", True)):
                key = f"unknown.{rules.name}.{part}.{make}"
                calls[key] = partial(
                    measure_unknown, rules.name, part=part, is_other_make=is_other_make, games=size.of(10, 40, 60)
                )
    figures = []
    for key, result in at_once("unknown", calls).items():
        figures += [
            Figure(key=f"{key}.similarity", value=result.similarity, unit="of 100", promised="above 0"),
            Figure(key=f"{key}.private_score", value=result.private_score, unit="of 100", promised=""),
            Figure(key=f"{key}.word", value=result.word_right, unit="of games", promised=""),
            Figure(key=f"{key}.confidence", value=result.confidence, unit="mean", promised="below 0.15"),
            Figure(key=f"{key}.most_confident", value=result.most_confident, unit="largest", promised=""),
        ]
    return figures + _memory_figures(size=size)


def _memory_figures(*, size: Size) -> list[Figure]:
    """Games about unknown books by a player whose model remembers half of the openings, or is wrong about all."""
    from benchmarks.remembered import MEMORIES, OPENINGS, STEPS, MemoryPlay, measure_memory

    each = {("course", "player_questions"), ("prd", "player_memory")}
    rows = {(rules, step) for rules in OPENINGS for step in STEPS} if size is Size.FULL else each
    calls: dict[str, Callable[[], MemoryPlay]] = {
        f"unknown.{rules}.{step}.{memory}": partial(measure_memory, rules, memory, step=step, games=size.of(6, 20, 40))
        for rules, step in sorted(rows)
        for memory in MEMORIES
    }
    figures = []
    for key, result in at_once("memory", calls).items():
        if result.remembered:
            share = result.won / result.remembered
            figures.append(Figure(key=f"{key}.won", value=share, unit="of those remembered", promised="at least 0.9"))
        figures.append(
            Figure(key=f"{key}.most_confident", value=result.most_confident, unit="largest", promised="below 0.15")
        )
    return figures


def knowledge_figures(*, size: Size) -> list[Figure]:
    """How well hints lead to passages, and how fast books are read and searched."""
    from benchmarks.retrieval import (
        BOOKS,
        FORMATS,
        HINTS,
        measure_catalogue_recall,
        measure_ingestion,
        measure_recall,
        measure_search,
    )
    from league_agents.knowledge.embeddings import Embedder, is_installed
    from tests.support.books import cached_books

    books = cached_books(list(BOOKS))
    figures = []
    for name, maker in HINTS.items():
        for where, knows_book in (("book", True), ("all", False)):
            hints = size.of(10, 100, 100)
            found = measure_recall(books, maker, hints_per_book=hints, knows_book=knows_book)
            figures += [
                Figure(key=f"recall.{name}.{where}.{cut}", value=share, unit="of hints", promised="")
                for cut, share in found.at.items()
            ]
    ways = {"words": None, "meaning": Embedder()} if is_installed() else {"words": None}
    for name, reranker in ways.items():
        figures += [
            Figure(key=f"recall.catalogue.{name}.{cut}", value=share, unit="of hints", promised="")
            for cut, share in measure_catalogue_recall(reranker).at.items()
        ]
    for ending in FORMATS:
        speed = measure_ingestion(books[1], ending, copies=size.of(1, 2, 5))
        key = f"pages_per_min.{ending.removeprefix('.')}"
        figures.append(Figure(key=key, value=speed, unit="/min", promised="at least 1,000"))
    passages = size.of(10_000, 100_000, 100_000)
    middle, slow = measure_search(passage_count=passages, searches=size.of(50, 300, 300))
    figures.append(Figure(key="search_ms.median", value=1000 * middle, unit="ms", promised=""))
    promised = "below 20 in 100,000 passages" if size is Size.QUICK else "below 20"
    figures.append(Figure(key="search_ms.p95", value=1000 * slow, unit="ms", promised=promised))
    return figures


PROMISED_ANSWERS = "at least 0.99"


def answer_figures(*, size: Size) -> list[Figure]:
    """How often the offline referee answers rightly what can be checked on pages of five novels."""
    from benchmarks.answering import PAIRS, measure_answers
    from benchmarks.free_answers import PARTS, measure_free_answers

    free = []
    for part in PARTS:
        found = measure_free_answers(part)
        if found.precision is not None and found.declined_share is not None:
            precision, declined = found.precision.value, found.declined_share.value
            free.append(
                Figure(key=f"free.{part}.precision", value=precision, unit="of answers", promised="at least 0.97")
            )
            free.append(
                Figure(key=f"free.{part}.declined", value=declined, unit="of questions", promised="at most 0.25")
            )
    return free + [
        Figure(
            key=f"answers.{rules.name}",
            value=measure_answers(rules=rules, pairs=size.of(100, PAIRS, PAIRS)).right,
            unit="of answers",
            promised=PROMISED_ANSWERS,
        )
        for rules in (COURSE, PRD)
    ]


def machine() -> str:
    """What the figures were measured on."""
    model = platform.processor() or platform.machine()
    path = Path("/proc/cpuinfo")
    if path.exists():
        names = [line.partition(":")[2].strip() for line in path.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    return f"{model}, {platform.system()}, Python {platform.python_version()}"


def as_document(figures: list[Figure]) -> dict[str, object]:
    """The figures under their dotted keys."""
    document: dict[str, object] = {"machine": machine()}
    for figure in figures:
        *path, last = figure.key.split(".")
        place = document
        for name in path:
            inner = place.setdefault(name, {})
            assert isinstance(inner, dict)
            place = inner
        place[last] = round(figure.value, 4)
    return document


class _Part(Protocol):
    def __call__(self, *, size: Size) -> list[Figure]: ...


def arena_engine_figures(*, size: Size) -> list[Figure]:
    """How fast matches go by themselves and as environments of PettingZoo, in every game of the arena."""
    from league_agents.games.registry import game_codes

    runs, actions = size.of(1, 5, 5), size.of(2_000, 20_000, 20_000)
    figures = []
    for game in game_codes():
        # In turns: both see the same hours of a shared machine.
        pairs = [(actions_per_s(game, actions), actions_per_s(game, actions, way="pettingzoo")) for _ in range(runs)]
        engine, environment = (statistics.median(each) for each in zip(*pairs, strict=True))
        figures += [
            Figure(key=f"arena.actions_per_s.{game}", value=engine, unit="/s", promised="at least 10,000"),
            Figure(key=f"arena.pettingzoo_per_s.{game}", value=environment, unit="/s", promised="at least 8,000"),
            Figure(
                key=f"arena.pettingzoo_share.{game}",
                value=statistics.median(through / alone for alone, through in pairs),
                unit="of the engine",
                promised="",
            ),
        ]
    return figures


def arena_server_figures(*, size: Size) -> list[Figure]:
    """A server of the arena with many matches at once."""
    from tests.support.arena_load import measure_load

    seconds = size.of(20, 150, 600)
    found = measure_load(matches=200, seconds=seconds, actions_per_s=200)
    busy = 100 * found.server_waited_s / found.seconds
    return [
        Figure(key="arena.server.sockets", value=found.most_sockets, unit="at once", promised="1,000"),
        Figure(key="arena.server.actions_per_s", value=found.actions / found.seconds, unit="/s", promised=""),
        Figure(key="arena.server.action_p50_ms", value=found.quantile(found.action_s, 0.5), unit="ms", promised=""),
        Figure(
            key="arena.server.action_p99_ms",
            value=found.quantile(found.action_s, 0.99),
            unit="ms",
            promised="below 100",
        ),
        Figure(key="arena.server.memory_mb", value=found.rss_mb[-1], unit="MB", promised=""),
        Figure(key="arena.server.growth_mb", value=found.growth_mb(), unit="MB", promised="flat"),
        Figure(key="arena.server.waited_percent", value=busy, unit="% waiting for a core", promised=""),
    ]


def records_figures(*, size: Size) -> list[Figure]:
    """Tables of a large season, by whole processes."""
    from benchmarks.records import MATCHES, make_season, waited_for

    with tempfile.TemporaryDirectory() as folder:
        played = make_season(Path(folder), matches=size.of(1_000, MATCHES, MATCHES))
        waited_for("show", "standings", "--from", folder)  # compiles, and fills the caches of the operating system
        found = waited_for("show", "standings", "--from", folder)
    return [
        Figure(key="records.matches", value=played, unit="matches", promised="at least 10,000"),
        Figure(key="records.standings_s", value=found.wall_s, unit="s", promised="below 5"),
        Figure(key="records.standings_cpu_s", value=found.cpu_s, unit="s of processor time", promised=""),
        Figure(key="records.standings_mb", value=found.memory_mb, unit="MB", promised="below 200"),
    ]


def season_figures(*, size: Size) -> list[Figure]:
    """Whole seasons offline. The gain of a second worker is that of one run, and true on an idle machine only."""
    from benchmarks.seasons import named_share, season_cpu_s, speed_up

    is_quick = size is Size.QUICK
    teams = size.of(6, 20, 20)
    cpu_s, is_same = season_cpu_s(teams, runs=size.of(2, 3, 3))
    one = speed_up(teams, workers=2)
    two = speed_up(8 if is_quick else 28, workers=2, divisions=2)
    promised = "" if is_quick else "below 6"
    return [
        Figure(key="season.cpu_s", value=cpu_s, unit="s of one core", promised=promised),
        Figure(key="season.repeats", value=float(is_same), unit="of runs", promised="1"),
        Figure(key="season.heavy_named", value=named_share(teams), unit="of matches", promised="1"),
        Figure(key="season.two_workers", value=one.wall, unit="times one", promised="" if is_quick else "at least 1.7"),
        Figure(key="season.two_workers_cpu", value=one.cpu, unit="times one, by processor time", promised=""),
        Figure(key="season.two_workers_two_divisions", value=two.wall, unit="times one", promised=""),
        Figure(
            key="season.two_workers_two_divisions_cpu", value=two.cpu, unit="times one, by processor time", promised=""
        ),
        Figure(key="season.two_workers_repeat", value=float(one.is_same and two.is_same), unit="of runs", promised="1"),
    ]


def size_figures(*, size: Size) -> list[Figure]:
    """What a match costs in a large league, against one in a small league."""
    from benchmarks.league_size import FEW_TEAMS, MANY_TEAMS, league_cost

    few, many = league_cost(FEW_TEAMS), league_cost(size.of(30, MANY_TEAMS, MANY_TEAMS))
    found = []
    for name, cost in (("few", few), ("many", many)):
        found += [
            Figure(key=f"size.{name}.matches", value=cost.matches, unit="matches", promised=""),
            Figure(key=f"size.{name}.kb", value=cost.kilobytes_a_match, unit="kB delivered a match", promised=""),
            Figure(key=f"size.{name}.cpu_ms", value=cost.milliseconds_a_match, unit="ms a match", promised=""),
            Figure(key=f"size.{name}.sends", value=cost.manager_sends, unit="mails of the manager", promised=""),
        ]
    kb, cpu = (many.kilobytes_a_match / few.kilobytes_a_match, many.milliseconds_a_match / few.milliseconds_a_match)
    return [
        *found,
        Figure(key="size.kb_growth", value=kb, unit="times", promised="at most 1.5"),
        Figure(key="size.cpu_growth", value=cpu, unit="times", promised="at most 1.5"),
    ]


def word_figures(*, size: Size) -> list[Figure]:
    """Names of domains, secret words of own books, hints."""
    from benchmarks.word_pairs import HELD_OUT, OTHER_LANGUAGES, TUNED
    from benchmarks.words import (
        category_counts,
        has_support,
        is_of_the_book,
        made_books,
        own_targets,
        pair_counts,
        says_something,
    )
    from tests.support.books import cached_entries

    found: list[Figure] = []
    for name, pairs in (("tuned", TUNED), ("held_out", HELD_OUT), ("other_languages", OTHER_LANGUAGES)):
        counts = pair_counts(pairs)
        for key, count, promised in (("understood", counts.understood, 0.8), ("found", counts.found, 0.6)):
            found += _share(f"words.{name}.{key}", count, counts.pairs, f"at least {promised}")
    books = [entry.document() for entry in cached_entries()]
    for name, documents in (("seen", books[::2]), ("held_out", books[1::2])):
        secrets = own_targets(documents[: size.of(6, 40, 40)], draws=size.of(1, 2, 4))
        supported, hints = sum(map(has_support, secrets)), sum(map(says_something, secrets))
        found += _share(f"words.books_{name}.supported", supported, len(secrets), "at least 0.95")
        found += _share(f"words.books_{name}.hint_says_something", hints, len(secrets), "at least 0.9")
    for name in ("tuned", "held_out"):
        made = {book.title: book for book in made_books(name)}
        secrets = own_targets(list(made.values()), draws=1)
        supported = sum(map(has_support, secrets))
        hints = sum(is_of_the_book(each, made[each.target.book_name]) for each in secrets)
        found += _share(f"words.documents_{name}.supported", supported, len(secrets), "at least 0.95")
        found += _share(f"words.documents_{name}.hint_of_the_book", hints, len(secrets), "at least 0.9")
    of_categories = category_counts()
    found += _share("words.categories.right", of_categories.right, of_categories.questions, "")
    wrong = of_categories.falsely_yes + of_categories.falsely_no
    found.append(Figure(key="words.categories.wrong", value=wrong, unit="answers", promised="0"))
    return found


def _share(key: str, count: int, of: int, promised: str) -> list[Figure]:
    """Return a share and its 95 % interval."""
    share = wilson(count, of)
    if share is None or share.low is None or share.high is None:
        return []
    return [
        Figure(key=f"{key}.share", value=share.value, unit=f"of {of}", promised=promised),
        Figure(key=f"{key}.low", value=share.low, unit="95 % interval", promised=""),
        Figure(key=f"{key}.high", value=share.high, unit="95 % interval", promised=""),
    ]


_PARTS: Mapping[str, _Part] = {
    "season": season_figures,
    "size": size_figures,
    "speed": speed_figures,
    "strength": strength_figures,
    "llm-strength": llm_strength_figures,
    "unknown": unknown_figures,
    "knowledge": knowledge_figures,
    "words": word_figures,
    "answers": answer_figures,
    "arena-engine": arena_engine_figures,
    "arena-server": arena_server_figures,
    "records": records_figures,
}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of a table.")
@click.option("--only", type=click.Choice(list(_PARTS)), help="Measure one part only.")
@click.option(
    "--instructions",
    "only_instructions",
    is_flag=True,
    help="Count the processor instructions of a match instead, with valgrind: the same on a busy machine.",
)
@click.option("--quick", "size", flag_value=Size.QUICK, help="Few runs and games: a first impression.")
@click.option("--full", "size", flag_value=Size.FULL, help="All games: the figures to quote, an hour long.")
def main(*, as_json: bool, only: str | None, only_instructions: bool, size: str | None) -> None:
    """Measure what the project promises, on this machine; stderr tells how far it is."""
    measured = Size(size or Size.USUAL)
    parts = {name: part for name, part in _PARTS.items() if only in (None, name)}
    if only_instructions:
        if only is not None:
            raise click.UsageError("--instructions is a measure of its own: leave out --only")
        if not instructions_available():
            raise click.ClickException(
                "valgrind is missing, which counts instructions: install it (on Debian or Ubuntu: apt-get install"
                " valgrind), then run this again"
            )
        parts = {"instructions": instruction_figures}
    figures: list[Figure] = []
    for name, figures_of in parts.items():
        click.echo(f"bench: {name} …", err=True)
        begin = time.perf_counter()
        figures += figures_of(size=measured)
        click.echo(f"bench: {name} took {time.perf_counter() - begin:.0f} s", err=True)
    if as_json:
        click.echo(json.dumps(as_document(figures), indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"league_agents on {machine()}", caption=None if measured is Size.FULL else f"{measured} run")
    table.add_column("figure")
    table.add_column("measured", justify="right")
    table.add_column("unit")
    table.add_column("promised")
    for figure in figures:
        table.add_row(figure.key, f"{figure.value:.3g}", figure.unit, figure.promised)
    Console().print(table)


if __name__ == "__main__":
    main()
