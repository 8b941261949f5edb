"""One match in plain words: the questions, answers, guesses, scores and the winner.

Rule 1: all data is from the match's JSON document, so a recorded match reads like one that was just played.
Rule 2: every text in it is untrusted: it goes through ``printable`` into a ``Text`` and is never markup.
Rule 3: missing data is described in words, because a match may end at any point.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from league_agents.games.q21.model import Termination
from league_agents.games.q21.rules import RuleSet
from league_agents.kit.json_values import mapping, mappings
from league_agents.kit.model_work import sentence
from league_agents.kit.printable import of
from league_agents.report.cells import line, name_of, pairs, paragraph, players_of, quoted
from league_agents.report.models import models_of
from league_agents.report.outcome import cause, ending, states, told, why
from league_agents.report.question_table import question_table
from league_agents.report.records import OPEN
from league_agents.report.scorecards import scorecards

MOST_QUESTIONS = 200
MOST_STANDINGS = 50
MOST_NOTES = 21
LONGEST_NOTE = 500

_STATUS = {
    "completed": "played to the end",
    "aborted": "ended early",
    "COMPLETED_SINGLE_PLAYER": "played by one player alone, the other was absent",
    "CANCELLED_ALL_PLAYERS_MALFUNCTION": "cancelled: no player was there",
    Termination.NO_REPORT: "without a result: the referee never reported",
}

_STANDINGS = {
    "rank": "",
    "participant_id": "Player",
    "display_name": "Name",
    "total_points": "Points",
    "total_score": "Score",
    "games_played": "Played",
    "games_won": "Won",
}
"""Keys of a row of the standings that are shown -> headings of their columns."""


def transcript(
    document: Mapping[str, object], rules: RuleSet, *, remarks: Mapping[str, Mapping[str, str]] = MappingProxyType({})
) -> RenderableType:
    """The whole match, ready for a rich console of 60 columns or more.

    ``remarks``: player's id -> number of a question -> a line below it.
    """
    players = players_of(document)
    return Group(
        *_opening(document, players),
        *(
            part
            for seat, player in enumerate(players)
            for part in _player(player, players[:seat], cause(document), remarks.get(name_of(player), {}))
        ),
        *_models(document),
        *_trouble(document, players),
        *scorecards(players, rules),
        _result(document, players),
    )


def _opening(document: Mapping[str, object], players: Sequence[Mapping[str, object]]) -> Iterator[RenderableType]:
    match = mapping(document.get("match"))
    brief = mapping(match.get("brief"))
    stated = (("Match", match.get("game_id")), ("rules", document.get("rules")), ("seed", document.get("seed")))
    title = " · ".join(f"{name} {of(value, 60)}" for name, value in stated if value not in (None, ""))
    yield Rule(Text(title, style="bold"))
    rows = pairs()
    rows.add_row("Players", Text(" against ".join(name_of(player) for player in players)))
    if brief:
        rows.add_row("Book", line(brief.get("book_name")))
        rows.add_row("Hint", line(brief.get("book_hint")))
        rows.add_row("Domain", Text.assemble(line(brief.get("association_word")), (" (of the secret word)", "dim")))
    yield rows
    if not brief:
        is_hidden = match.get("status") == OPEN  # A match that is over has its brief, if there was one.
        none = (
            "No book was announced, so nothing could be asked."
            if _is_course_known(players)
            else "Which book was announced is not known here."
        )
        yield Text("The book is not shown here." if is_hidden else none, style="italic")


def _is_course_known(players: Sequence[Mapping[str, object]]) -> bool:
    """Whether the record is the referee's or a player's. The league manager's does not say how a game ended."""
    return any(of(player.get("termination")) for player in players)


def _player(
    player: Mapping[str, object],
    before: Sequence[Mapping[str, object]],
    why_early: str,
    remarks: Mapping[str, str],
) -> Iterator[RenderableType]:
    name = name_of(player)
    yield Text()
    yield Rule(Text(name, style="bold"), align="left")
    termination = of(player.get("termination"), 60)
    if termination == Termination.ABSENT:
        yield Text(f"{name} was absent from the start.", style="yellow")
    elif not termination:
        # An open match, or the opponent in a player's own journal.
        yield Text(f"How the game of {name} ended is not known here.", style="italic")
        if not player.get("questions"):
            return
    elif termination != Termination.COMPLETED:
        yield Text(f"The game of {name} ended early: {why_early or told(termination, 'a player')}.", style="yellow")
    questions = mappings(player.get("questions"))[:MOST_QUESTIONS]
    answers = {of(each.get("question_number")): of(each.get("answer"), 20) for each in mappings(player.get("answers"))}
    same = next((one for one in before if _exchange(one) == _exchange(player)), None)
    guess = mapping(player.get("guess"))
    has_guessed = any(guess.get(key) for key in ("opening_sentence", "associative_word"))
    if questions and same is not None and not remarks:
        yield Text(f"{name} asked the same {len(questions)} questions as {name_of(same)} and got the same answers.")
    elif questions:
        yield from question_table(name, questions, answers, remarks)
    else:
        yield Text(f"{name} asked nothing{'' if has_guessed else ' and guessed nothing'}.", style="italic")
    if has_guessed:
        yield from _guess(name, guess, before)
    elif questions:
        yield Text(f"{name} guessed nothing.", style="italic")


def _exchange(player: Mapping[str, object]) -> tuple[object, object]:
    return player.get("questions"), player.get("answers")


def _guess(name: str, guess: Mapping[str, object], before: Sequence[Mapping[str, object]]) -> Iterator[RenderableType]:
    confidence = guess.get("confidence")
    sure = f", {confidence:.0%} sure" if isinstance(confidence, float | int) and 0 <= confidence <= 1 else ""
    yield Text()
    yield Text(f"{name} guessed{sure}:")
    rows = pairs()
    for label, key, reason in (
        ("Sentence", "opening_sentence", "sentence_justification"),
        ("Word", "associative_word", "word_justification"),
    ):
        said = of(guess.get(key))
        twin = next((one for one in before if said and of(mapping(one.get("guess")).get(key)) == said), None)
        is_long = len(said) > 60
        rows.add_row(label, Text(f"the same as {name_of(twin)}") if twin and is_long else quoted(guess.get(key)))
        rows.add_row("", paragraph(guess.get(reason)))
    yield rows


def _models(document: Mapping[str, object]) -> Iterator[RenderableType]:
    """The participants whose language models' work was used, by callback, and the fallbacks."""
    asked = list(models_of(document))
    if not asked:
        return
    yield Text()
    yield Rule(Text("Language models", style="bold"), align="left")
    for who, steps in asked:
        yield Text.assemble((f"{who}: ", "bold"), of(sentence(steps), LONGEST_NOTE))
        for step in steps:
            yield Text(f"- {of(step.callback, 40)}: {of(step.words(), LONGEST_NOTE)}")


def _trouble(document: Mapping[str, object], players: Sequence[Mapping[str, object]]) -> Iterator[RenderableType]:
    """The failures of each agent, and the changes to its results."""
    noted = [("the referee", mapping(document.get("match")).get("notes"))]
    noted += [(name_of(player), player.get("notes")) for player in players]
    lines = [
        Text.assemble((f"{who}: ", "bold"), of(note, LONGEST_NOTE))
        for who, notes in noted
        if isinstance(notes, list | tuple)
        for note in notes[:MOST_NOTES]
        if of(note)
    ]
    if lines:
        yield Text()
        yield Rule(Text("Notes on the agents", style="bold yellow"), align="left")
        yield from lines


def _result(document: Mapping[str, object], players: Sequence[Mapping[str, object]]) -> RenderableType:
    match = mapping(document.get("match"))
    target = mapping(document.get("target"))
    status = of(match.get("status"), 60)
    rows = pairs()
    if reason := why(document):
        rows.add_row("Why", Text(reason))
    if target:
        rows.add_row("Book", line(target.get("book_name")))
        rows.add_row("Sentence", quoted(target.get("opening_sentence"), "the referee never told it"))
        rows.add_row("Word", quoted(target.get("associative_word"), "the referee never told it"))
    else:
        missing = "none was made known" if _is_course_known(players) else "not known here"
        rows.add_row("Target", Text(missing, style="italic"))
    rows.add_row("Match", Text(_STATUS.get(status, status)))
    if early := cause(document):
        rows.add_row("Reason", Text(early))
        if ends := states(players):
            rows.add_row("Players", Text(ends))
    parts: list[RenderableType] = [rows]
    standings = mappings(document.get("standings"))[:MOST_STANDINGS]
    if standings:
        parts += [Text(), _standings(standings)]
    return Panel(Group(*parts), title=Text(ending(document), style="bold green"), box=box.ROUNDED, padding=(0, 1))


def _standings(rows: Sequence[Mapping[str, object]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    keys = [key for key in _STANDINGS if any(row.get(key) is not None for row in rows)]
    if "participant_id" in keys and all(_is_same(row.get("display_name"), row.get("participant_id")) for row in rows):
        keys = [key for key in keys if key != "display_name"]
    for key in keys:
        is_name = key in ("participant_id", "display_name")
        table.add_column(_STANDINGS[key], justify="left" if is_name else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(of(row.get(key), 40)) for key in keys))
    return table


def _is_same(name: object, identifier: object) -> bool:
    return of(name, 80).casefold().replace(" ", "-") == of(identifier, 80).casefold()
