"""The scores of the guesses, and the beginning of the referee's feedback.

Rule: nothing is repeated. Players with the same guess get nearly the same feedback, so it is shown once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich import box
from rich.console import RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from league_agents.games.q21.model import COMPONENTS
from league_agents.games.q21.rules import RuleSet
from league_agents.kit.json_values import mapping
from league_agents.kit.printable import of
from league_agents.report.cells import beginning, name_of, shown_number

LONGEST_FEEDBACK = 152
"""Characters of each of a referee's two texts: two lines of a window of 80 columns. The document has them in full."""

PARTS = {
    "opening_sentence_score": "Opening sentence",
    "sentence_justification_score": "Its justification",
    "associative_word_score": "Associative word",
    "word_justification_score": "Its justification",
}
_TEXTS = ("opening_sentence", "associative_word")


def scorecards(players: Sequence[Mapping[str, object]], rules: RuleSet) -> Iterator[RenderableType]:
    """The scores side by side, then the feedback."""
    yield Text()
    yield Rule(Text("Scorecards", style="bold"), align="left")
    cards = [mapping(player.get("scorecard")) for player in players]
    if not any(cards):
        yield Text("No guess was scored.\n", style="italic")
        return
    yield _scores(players, cards, rules)
    yield Text()
    is_cut = False
    told: dict[tuple[object, ...], str] = {}
    for player, card in zip(players, cards, strict=True):
        name, feedback = name_of(player), mapping(card.get("feedback"))
        guess = mapping(player.get("guess"))
        said = (*(of(guess.get(key)).casefold() for key in _TEXTS), of(card.get("league_points")))
        if not card:
            continue
        if card.get("is_judged") is False:
            yield Text(f"The referee's scoring failed: {name} has zero points without a judgement.\n", style="yellow")
        elif not any(feedback.get(key) for key in _TEXTS):
            yield Text(f"{name} got no feedback.\n", style="italic")
        elif said in told:
            yield Text(f"{name} guessed the same as {told[said]}: what it was told is left out.\n")
        else:
            told[said] = name
            yield Text(f"The referee to {name}:")
            for key in _TEXTS:
                text, was_cut = beginning(feedback.get(key), LONGEST_FEEDBACK)
                is_cut = is_cut or was_cut
                yield Padding(Text(text or "(no text)", style="dim"), (0, 0, 0, 2))
            yield Text()
    if is_cut:
        yield Text("Feedback is shortened here; the JSON document has it whole.\n", style="dim italic")


def _scores(
    players: Sequence[Mapping[str, object]], cards: Sequence[Mapping[str, object]], rules: RuleSet
) -> RenderableType:
    weights = rules.weights
    shares = (
        weights.opening_sentence,
        weights.sentence_justification,
        weights.associative_word,
        weights.word_justification,
    )
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    table.add_column("")
    table.add_column("Weight", justify="right")
    for player in players:
        table.add_column(Text(name_of(player)), justify="right")
    for key, share in zip(COMPONENTS, shares, strict=True):
        table.add_row(
            PARTS[key], f"{share:.0%}", *(shown_number(mapping(card.get("breakdown")).get(key)) for card in cards)
        )
    table.add_section()
    table.add_row("Private score", "", *(Text(shown_number(card.get("private_score")), style="bold") for card in cards))
    table.add_row("League points", "", *(Text(of(card.get("league_points")) or "–", style="bold") for card in cards))
    return table
