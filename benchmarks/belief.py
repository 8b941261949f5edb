"""How often the offline player is right where its books are not the referee's, and how far its confidence can be
believed.

    python -m benchmarks.belief [--part tuned|held_out] [--games N] [--losses]

Four situations: the player has the referee's file of the book (``known``), another edition of it (``other_edition``,
in both directions), or not the book (``unknown``); and books' own openings are played (``openings``), half of them from
the catalogue. Each with 0, 5 and 15 % wrong answers and with both rule sets. The books of the parts are different ones;
``tuned`` was used to choose the constants of the belief, ``held_out`` only to measure.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from benchmarks.editions import COVERS, EDITIONS, edition
from benchmarks.strength import NoisyReferee, PlayedGame, play
from league_agents.agents.library import Knowledge
from league_agents.agents.offline_player import OfflinePlayer
from league_agents.agents.offline_referee import OfflineReferee
from league_agents.evaluation.calibration import calibration_error, reliability_of
from league_agents.evaluation.statistics import wilson
from league_agents.games.q21.rules import COURSE, PRD, RuleSet, TargetKind
from league_agents.kit.errors import LeagueError
from league_agents.kit.values import evolve
from league_agents.knowledge.documents import Document
from league_agents.knowledge.index import KnowledgeIndex
from tests.support.books import cached_books

PARTS = {
    "tuned": ("Emma", "Mansfield Park", "Northanger Abbey", "The Adventures of Sherlock Holmes", "A Christmas Carol"),
    "held_out": (
        "Pride and Prejudice",
        "Moby-Dick",
        "Sense and Sensibility",
        "Persuasion",
        "Adventures of Huckleberry Finn",
        "The Adventures of Tom Sawyer",
    ),
}
NOISES = (0, 5, 15)
SITUATIONS = ("known", "other_edition", "unknown", "openings")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One series of games."""

    situation: str
    rules: RuleSet
    noise: int
    """Percent of wrong answers."""

    @property
    def name(self) -> str:
        return f"{self.situation} {self.rules.name} {self.noise} %"


def cells(situations: Sequence[str], noises: Sequence[int]) -> list[Cell]:
    return [
        Cell(situation=situation, rules=_rules(situation, rules), noise=noise)
        for situation, rules, noise in product(situations, (COURSE, PRD), noises)
        if situation != "openings" or rules is PRD
    ]


def _rules(situation: str, rules: RuleSet) -> RuleSet:
    return rules if situation == "openings" else evolve(rules, target_kind=TargetKind.PASSAGE_OPENING)


class Shelves:
    """The books of the referee and of the player, made once for each edition."""

    def __init__(self, books: Sequence[Document], folder: Path, *, seed: int) -> None:
        self._books = books
        self._folder = folder
        self._seed = seed
        self._kept: dict[str, Knowledge] = {}

    def named(self, name: str) -> Knowledge:
        """The books in one edition; ``package`` as they are, ``none`` without them and without their catalogue."""
        if name not in self._kept:
            self._kept[name] = self._made(name)
        return self._kept[name]

    def _made(self, name: str) -> Knowledge:
        if name == "none":
            titles = {book.title for book in self._books}
            return Knowledge(documents=[]).only(lambda title: title not in titles)
        index = KnowledgeIndex(self._folder / f"{name}.db")
        for i, book in enumerate(self._books):
            cover = i + list(EDITIONS).index(name) if name in EDITIONS else 0
            index.add(book if name == "package" else edition(book, name, seed=self._seed, cover=cover % len(COVERS)))
        return Knowledge(index=index, documents=[])

    def pair(self, situation: str, game: int) -> tuple[str, str]:
        """The shelves of referee and player."""
        if situation in ("known", "unknown"):
            return "package", "none" if situation == "unknown" else "package"
        other = list(EDITIONS)[game // 2 % len(EDITIONS)]
        if situation == "openings" and game % 5 == 4:
            return "package", "none"
        return ("package", other) if game % 2 else (other, "package")


def played(cell: Cell, shelves: Shelves, *, games: int, seed: int) -> Iterator[tuple[tuple[str, str], PlayedGame]]:
    """Yield the shelves of each game and the game."""
    for game in range(games):
        names = shelves.pair(cell.situation, game)
        theirs, ours = map(shelves.named, names)
        referee = OfflineReferee(rules=cell.rules, knowledge=theirs, seed=seed)
        noisy = NoisyReferee(referee, rules=cell.rules, wrong=cell.noise / 100, seed=seed)
        player = OfflinePlayer(rules=cell.rules, knowledge=ours, seed=seed + game)
        yield names, play(noisy, player, match_id=f"{cell.situation}{game:05d}")


def measure(part: str, chosen: Sequence[Cell], *, games: int, seed: int, shows_losses: bool) -> None:
    stated: list[tuple[float, bool]] = []
    with tempfile.TemporaryDirectory(prefix="belief-") as folder:
        shelves = Shelves(cached_books(list(PARTS[part])), Path(folder), seed=seed)
        for cell in chosen:
            found = list(played(cell, shelves, games=games, seed=seed))
            stated += [(game.confidence, game.is_sentence_right) for _, game in found]
            right = wilson(sum(game.is_sentence_right for _, game in found), games)
            near = sum(game.similarity >= NEAR for _, game in found) / games
            mean = sum(game.confidence for _, game in found) / games
            if right is not None:
                interval = f"[{right.low:.2f}, {right.high:.2f}]"
                print(f"{part} {cell.name}: {right.value:.3f} {interval} near {near:.3f} stated {mean:.3f}", flush=True)
            for names, game in found if shows_losses else ():
                if not game.is_sentence_right and cell.situation != "unknown":
                    print(f"  {' / '.join(names)}, {game.book_name}, stated {game.confidence}, {game.similarity}")
                    print(f"    target {game.target!r}\n    guess  {game.guess!r}")
    bands = reliability_of(stated)
    for band in bands:
        right = band.right
        print(f"{part} {band.low:.2f} to {band.high:.2f}: {right.count} games, {band.stated:.3f}, {right.value:.3f}")
    print(f"{part}: expected calibration error {calibration_error(bands):.3f} over {len(stated)} games")


NEAR = 90.0
"""Similarity of sentences that differ in spelling only."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.belief", description=__doc__)
    parser.add_argument("--part", choices=tuple(PARTS), help="only this part")
    parser.add_argument("--games", type=int, default=24, help="games of each cell")
    parser.add_argument("--situation", choices=SITUATIONS, action="append")
    parser.add_argument("--noise", type=int, choices=NOISES, action="append")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--losses", action="store_true", help="show each lost game")
    options = parser.parse_args(arguments)
    chosen = cells(options.situation or SITUATIONS, options.noise or NOISES)
    try:
        for part in [options.part] if options.part else PARTS:
            measure(part, chosen, games=options.games, seed=options.seed, shows_losses=options.losses)
    except LeagueError as error:
        print(f"belief: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
