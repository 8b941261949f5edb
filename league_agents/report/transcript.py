"""One match in plain words: who asked what, what was answered, what was guessed, what it was worth, who won.

Rule 1: everything comes from the match's JSON document, so a recorded match reads like one that was just played.
Rule 2: every text in it is somebody else's: it goes through ``printable`` into a ``Text`` and is never markup.
Rule 3: whatever is missing is told in words, because a match may end at any point.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from league_agents.core.printable import of
from league_agents.games.q21.contracts import COMPONENTS
from league_agents.games.q21.model import LETTERS, Choice, Termination
from league_agents.games.q21.rules import RuleSet

LONGEST_LINE = 300
"""Characters of a question, a hint, a sentence. The longest that the rules allow are longer than anybody reads."""

LONGEST_PARAGRAPH = 1600
"""Characters of a justification or of a feedback text: two hundred words and more."""

MOST_QUESTIONS = 200
MOST_STANDINGS = 50
MOST_PLAYERS = 8

_PARTS = {
    "opening_sentence_score": "Opening sentence",
    "sentence_justification_score": "Its justification",
    "associative_word_score": "Associative word",
    "word_justification_score": "Its justification",
}

_ENDS: Mapping[str, str] = {
    Termination.PLAYER_TIMEOUT: "WHO did not send its next message in time",
    Termination.FORMAT_VIOLATION: "WHO kept sending messages that nobody could use",
    Termination.NEW_ROUND_STARTED: "the next round began before the match was over",
    Termination.END_ROUND_RECEIVED: "the round was closed before the match was over",
    Termination.LEAGUE_COMPLETED: "the league ended before the match was over",
    Termination.REFEREE_FAILURE: "the referee could not go on",
    Termination.ABSENT: "WHO was absent from the start",
    Termination.CANCELLED: "no player was there",
    Termination.NO_REPORT: "the referee never reported",
    Termination.CUT_OFF: "the other player's game could not go on",
    Termination.RESET: "the league was reset while the match was open",
}
"""What each termination but ``completed`` means; WHO is the player who caused it."""

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
"""Keys of a row of the standings that are shown, and the headings of their columns."""


def transcript(document: Mapping[str, object], rules: RuleSet) -> RenderableType:
    """The whole match, ready for a rich console of 60 columns or more."""
    players = _players(document)
    return Group(
        *_opening(document, players),
        *(part for seat, player in enumerate(players) for part in _player(player, players[:seat], _cause(document))),
        *_scorecards(players, rules),
        _result(document, players),
    )


def ending(document: Mapping[str, object]) -> str:
    """How the match ended, in words: ``player-a wins with 3 points to 2``. One line."""
    match = _map(document.get("match"))
    players = _players(document)
    points = {_id(player): of(_map(player.get("scorecard")).get("league_points")) or "0" for player in players}
    winner = of(match.get("winner_id"), 60)
    scored = len(players) == 2 and all(player.get("scorecard") is not None for player in players)
    if winner:
        others = [point for name, point in points.items() if name != winner]
        counted = f" with {_points(points.get(winner, '0'))} to {others[0]}" if scored and len(others) == 1 else ""
        return f"{winner} wins{counted}"
    if match.get("status") == Termination.NO_REPORT:
        return "No result: the referee never reported"
    if match.get("status") == "aborted":
        return "The match ended early, nobody wins"
    if match.get("status") == "CANCELLED_ALL_PLAYERS_MALFUNCTION":
        return "The match was cancelled"
    if match.get("is_draw") is True:
        equal = f" with {_points(next(iter(points.values())))} each" if scored else ""
        return f"A draw{equal}"
    return "Nobody wins"


def _points(number: str) -> str:
    return f"{number} point{'' if number == '1' else 's'}"


def _opening(document: Mapping[str, object], players: Sequence[Mapping[str, object]]) -> Iterator[RenderableType]:
    match = _map(document.get("match"))
    brief = _map(match.get("brief"))
    title = f"Match {of(match.get('game_id'), 20)} · rules {of(document.get('rules'), 60)}"
    yield Rule(Text(f"{title} · seed {of(document.get('seed'))}", style="bold"))
    rows = _pairs()
    rows.add_row("Players", Text(" against ".join(_id(player) for player in players)))
    if brief:
        rows.add_row("Book", _text(brief.get("book_name")))
        rows.add_row("Hint", _text(brief.get("book_hint")))
        rows.add_row("Domain", Text.assemble(_text(brief.get("association_word")), (" (of the secret word)", "dim")))
    else:
        rows.add_row("Book", Text("no round was started, so nothing was asked", style="italic"))
    yield rows


def _player(player: Mapping[str, object], told: Sequence[Mapping[str, object]], cause: str) -> Iterator[RenderableType]:
    name = _id(player)
    yield Text()
    yield Rule(Text(name, style="bold"), align="left")
    termination = of(player.get("termination"), 60)
    if termination == Termination.ABSENT:
        yield Text(f"{name} was absent from the start.", style="yellow")
    elif termination != Termination.COMPLETED:
        yield Text(f"The game of {name} ended early: {cause or _told(termination, 'a player')}.", style="yellow")
    questions = _maps(player.get("questions"))[:MOST_QUESTIONS]
    answers = {of(each.get("question_number")): of(each.get("answer"), 20) for each in _maps(player.get("answers"))}
    same = next((one for one in told if _exchange(one) == _exchange(player)), None)
    if questions and same is not None:
        yield Text(f"{name} asked the same {len(questions)} questions as {_id(same)} and got the same answers.")
    elif questions:
        yield from _questions(name, questions, answers)
    else:
        yield Text(f"{name} asked nothing.", style="italic")
    yield from _guess(name, player.get("guess"))


def _exchange(player: Mapping[str, object]) -> tuple[object, object]:
    return player.get("questions"), player.get("answers")


def _questions(
    name: str, questions: Sequence[Mapping[str, object]], answers: Mapping[str, str]
) -> Iterator[RenderableType]:
    options = [_options(question) for question in questions]
    shared = all(each == options[0] for each in options)
    unanswered = "" if answers else ", and none was answered"
    yield Text(f"{name} asked {len(questions)} questions{unanswered}.")
    if shared:
        yield Text(_key(options[0]), style="dim")
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0), expand=True)
    table.add_column(justify="right", no_wrap=True, style="dim", width=3)
    table.add_column(ratio=3, overflow="fold")
    table.add_column(ratio=1, min_width=14, overflow="fold")
    for question, own in zip(questions, options, strict=True):
        number = of(question.get("question_number"))
        asked = _text(question.get("question_text"))
        if not shared:
            asked.append(f"\n{_key(own)}", style="dim")
        table.add_row(Text(number), asked, _answer(answers.get(number), own))
    yield table


def _options(question: Mapping[str, object]) -> tuple[str, ...]:
    options = _map(question.get("options"))
    return tuple(of(options.get(letter), 80) for letter in LETTERS)


def _key(options: Sequence[str]) -> str:
    return " · ".join(f"{letter}: {option}" for letter, option in zip(LETTERS, options, strict=True))


def _answer(answer: str | None, options: Sequence[str]) -> Text:
    if not answer:
        return Text("no answer", style="dim italic")
    if answer == Choice.NOT_RELEVANT:
        return Text("Not relevant", style="dim")
    meaning = options[LETTERS.index(answer)] if answer in LETTERS else ""
    return Text.assemble((f"{answer}:", "bold cyan"), f" {meaning}")


def _guess(name: str, given: object) -> Iterator[RenderableType]:
    guess = _map(given)
    if not guess or not any(guess.get(key) for key in ("opening_sentence", "associative_word")):
        yield Text(f"{name} guessed nothing.", style="italic")
        return
    confidence = guess.get("confidence")
    sure = f", {confidence:.0%} sure" if isinstance(confidence, float | int) and 0 <= confidence <= 1 else ""
    yield Text()
    yield Text(f"{name} guessed{sure}:")
    rows = _pairs()
    rows.add_row("Sentence", _quoted(guess.get("opening_sentence")))
    rows.add_row("", _paragraph(guess.get("sentence_justification")))
    rows.add_row("Word", _quoted(guess.get("associative_word")))
    rows.add_row("", _paragraph(guess.get("word_justification")))
    yield rows


def _scorecards(players: Sequence[Mapping[str, object]], rules: RuleSet) -> Iterator[RenderableType]:
    yield Text()
    yield Rule(Text("Scorecards", style="bold"), align="left")
    cards = [_map(player.get("scorecard")) for player in players]
    if not any(cards):
        yield Text("No guess was scored.\n", style="italic")
        return
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
        table.add_column(Text(_id(player)), justify="right")
    for key, share in zip(COMPONENTS, shares, strict=True):
        points = [_number(_map(card.get("breakdown")).get(key)) for card in cards]
        table.add_row(_PARTS[key], f"{share:.0%}", *points)
    table.add_section()
    table.add_row("Private score", "", *(Text(_number(card.get("private_score")), style="bold") for card in cards))
    table.add_row("League points", "", *(Text(of(card.get("league_points")) or "–", style="bold") for card in cards))
    yield table
    yield Text()
    for player, card in zip(players, cards, strict=True):
        feedback = _map(card.get("feedback"))
        if any(feedback.get(key) for key in ("opening_sentence", "associative_word")):
            yield Text(f"The referee to {_id(player)}:")
            for key in ("opening_sentence", "associative_word"):
                yield Padding(_paragraph(feedback.get(key)), (0, 0, 0, 2))
                yield Text()
        elif card:
            yield Text(f"{_id(player)} got no feedback.\n", style="italic")


def _result(document: Mapping[str, object], players: Sequence[Mapping[str, object]]) -> RenderableType:
    match = _map(document.get("match"))
    target = _map(document.get("target"))
    status = of(match.get("status"), 60)
    rows = _pairs()
    if target:
        rows.add_row("Book", _text(target.get("book_name")))
        rows.add_row("Sentence", _quoted(target.get("opening_sentence"), "the referee never told it"))
        rows.add_row("Word", _quoted(target.get("associative_word"), "the referee never told it"))
    else:
        rows.add_row("Target", Text("none was made known", style="italic"))
    rows.add_row("Match", Text(_STATUS.get(status, status)))
    if cause := _cause(document):
        rows.add_row("Reason", Text(cause))
        rows.add_row("Players", Text("; ".join(f"{_id(player)} {_state(player)}" for player in players)))
    parts: list[RenderableType] = [rows]
    standings = _maps(document.get("standings"))[:MOST_STANDINGS]
    if standings:
        parts += [Text(), _standings(standings)]
    return Panel(Group(*parts), title=Text(ending(document), style="bold green"), box=box.ROUNDED, padding=(0, 1))


def _cause(document: Mapping[str, object]) -> str:
    """Why the match ended early, in words; ``""`` if it did not."""
    reason = of(_map(document.get("match")).get("abort_reason"), LONGEST_LINE)
    word, _, who = reason.partition(":")
    # A player is named by its address there (protocol 4.5.1); its first half is enough to know it by.
    return _told(word, who.partition("@")[0] if "@" in who else "a player", otherwise=reason)


def _told(termination: str, who: str, *, otherwise: str | None = None) -> str:
    return _ENDS.get(termination, termination if otherwise is None else otherwise).replace("WHO", who)


def _state(player: Mapping[str, object]) -> str:
    return {
        Termination.COMPLETED.value: "played to the end",
        Termination.ABSENT.value: "was absent",
        Termination.CUT_OFF.value: "was cut off",
    }.get(of(player.get("termination"), 60), "was stopped")


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


def _pairs() -> Table:
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0), expand=True)
    table.add_column(no_wrap=True, style="dim", width=8)
    table.add_column(ratio=1, overflow="fold")
    return table


def _text(value: object) -> Text:
    return Text(of(value, LONGEST_LINE) or "(empty)")


def _quoted(value: object, missing: str = "(empty)") -> Text:
    shown = of(value, LONGEST_LINE)
    return Text(f"“{shown}”", style="bold") if shown else Text(missing, style="italic")


def _paragraph(value: object) -> Text:
    return Text(of(value, LONGEST_PARAGRAPH) or "(no text)", style="dim")


def _number(value: object) -> str:
    return f"{value:.1f}" if isinstance(value, float | int) and not isinstance(value, bool) else "–"


def _id(player: Mapping[str, object]) -> str:
    return of(player.get("id"), 40) or "?"


def _players(document: Mapping[str, object]) -> list[Mapping[str, object]]:
    return _maps(document.get("players"))[:MOST_PLAYERS]


def _map(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _maps(value: object) -> list[Mapping[str, object]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []
