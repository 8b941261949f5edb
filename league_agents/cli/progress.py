"""What happens in a match, told while it happens: one line on stderr for each message that leaves a mailbox.

Rule: this only watches. Whatever it cannot put into words is left out or shown as it is called, never an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from rich.console import Console
from rich.table import Table
from rich.text import Text

from league_agents.games.q21.model import Choice
from league_agents.journal.port import MODEL_WORK, WARNING, InboxRow, Note, OutboxItem
from league_agents.kit.model_work import ModelWorkUse, together
from league_agents.kit.printable import of, printable
from league_agents.report.models import model_words, steps_of
from league_agents.report.outcome import cause
from league_agents.report.trouble import plain_warning

LONGEST_QUOTE = 60
LONGEST_LINE = 400
LONGEST_NOTE = 700


class ProgressPrinter:
    """Writes to a console what the participants of one match do."""

    def __init__(self, console: Console, heading: str) -> None:
        """``heading`` is written before the first line, so that a match that cannot start says only why."""
        self._console = console
        self._heading = heading
        self._start: datetime | None = None

    def of(self, participant_id: str) -> ProgressOfOne:
        """The observer of one participant."""
        return ProgressOfOne(self, participant_id)

    def sent(self, role: str, item: OutboxItem) -> None:
        """A message left a mailbox."""
        document = item.document
        payload = document.get("payload")
        message = _Message(payload if isinstance(payload, Mapping) else {}, _recipient(document))
        words = _WORDS.get(item.message_type, f"sends {item.message_type} to {message.whom}")
        told = words if isinstance(words, str) else words(message)
        is_game = item.message_type.startswith("Q21") or item.message_type == "MATCH_RESULT_REPORT"
        self._line(item.created_at, _sender(document, role), told, "" if is_game else "dim")

    def noted(self, role: str, participant_id: str, note: Note) -> None:
        """A machine recorded something or warned."""
        # A message that comes twice is answered twice, which is told anyway.
        if note.kind == WARNING and note.key != "duplicate_message":
            who = self._who(role, participant_id)
            self._line(note.at, who, f"notes: {plain_warning(note)}", "yellow", is_whole=True)
        elif note.kind == MODEL_WORK and together(steps_of(note)) is not ModelWorkUse.NOT_ASKED:
            is_used = together(steps_of(note)) is ModelWorkUse.USED
            said = f"in {model_words(note)}"
            self._line(note.at, self._who(role, participant_id), said, "dim" if is_used else "yellow")

    @staticmethod
    def _who(role: str, participant_id: str) -> str:
        return participant_id if role == "player" and participant_id else _ROLES.get(role, role)

    def _line(self, at: datetime, who: str, told: str, style: str, *, is_whole: bool = False) -> None:
        # The league's own clock: offline it runs ahead of the real one whenever everybody waits.
        if self._start is None:
            self._start = at
            heading = Text(printable(self._heading, LONGEST_LINE), style="bold")
            self._console.print(heading, soft_wrap=not self._console.is_terminal)
        seconds = max(0, int((at - self._start).total_seconds()))
        clock = f"{seconds // 3600:d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
        words = Text.assemble(
            (printable(who, 40), "bold"), " ", printable(told, LONGEST_NOTE if is_whole else LONGEST_LINE)
        )
        words.stylize(style)
        if not self._console.is_terminal:
            self._console.print(Text.assemble((f"{clock:>8}  ", "dim"), words), soft_wrap=True)
            return
        line = Table.grid(expand=True)
        line.add_column(width=10, no_wrap=True)
        line.add_column(ratio=1, no_wrap=not is_whole, overflow="fold" if is_whole else "ellipsis")
        line.add_row(Text(f"{clock:>8}  ", style="dim"), words)
        self._console.print(line)


class ProgressOfOne:
    """An ``Observer`` of the runner that knows whom it watches."""

    def __init__(self, progress: ProgressPrinter, participant_id: str) -> None:
        self._progress = progress
        self._participant_id = participant_id

    def received(self, role: str, row: InboxRow) -> None:
        """Nothing: it was told when it was sent; a mail that was refused is noted."""

    def sent(self, role: str, item: OutboxItem) -> None:
        self._progress.sent(role, item)

    def noted(self, role: str, note: Note) -> None:
        self._progress.noted(role, self._participant_id, note)


_ROLES = {"referee": "The referee", "player": "A player", "manager": "The league manager"}


def _sender(document: Mapping[str, object], role: str) -> str:
    sender = document.get("sender")
    if role != "player" or not isinstance(sender, Mapping):
        return _ROLES.get(role, role)
    # Before it is registered a player has no name yet, only an address.
    return of(sender.get("logical_id"), 40) or _short(of(sender.get("email"), 80)) or _ROLES[role]


def _recipient(document: Mapping[str, object]) -> str:
    named = of(document.get("recipient_id"), 80)
    return {"BROADCAST": "everybody", "LEAGUEMANAGER": "the league manager", "": "somebody"}.get(named, _short(named))


def _short(address: str) -> str:
    return printable(address.partition("@")[0], 40)


def _quoted(value: object) -> str:
    return f"“{of(value, LONGEST_QUOTE)}”"


def _length(value: object) -> int:
    return len(value) if isinstance(value, list | tuple) else 0


@dataclass(frozen=True, slots=True)
class _Message:
    """What a line is made of."""

    payload: Mapping[str, object]
    whom: str

    def quoted(self, key: str) -> str:
        return _quoted(self.payload.get(key))

    def plain(self, key: str) -> str:
        return of(self.payload.get(key), 120) or "?"


def _questions(message: _Message) -> str:
    questions = message.payload.get("questions")
    first = questions[0] if isinstance(questions, list | tuple) and questions else None
    begin = f", the first: {_quoted(first.get('question_text'))}" if isinstance(first, Mapping) else ""
    return f"asks {_length(questions)} questions{begin}"


def _answers(message: _Message) -> str:
    answers = message.payload.get("answers")
    rows = answers[:100] if isinstance(answers, list | tuple) else []
    given = [of(row.get("answer"), 20) for row in rows if isinstance(row, Mapping)]
    letters = " ".join("–" if answer == Choice.NOT_RELEVANT else answer[:1] for answer in given)
    return f"answers {message.whom}: {letters or 'nothing'}"


def _guess(message: _Message) -> str:
    guess = message.payload.get("guess")
    parts = guess if isinstance(guess, Mapping) else message.payload
    return f"guesses {_quoted(parts.get('opening_sentence'))} and the word {_quoted(parts.get('associative_word'))}"


def _score(message: _Message) -> str:
    points = of(message.payload.get("league_points")) or "no"
    unit = "point" if points == "1" else "points"
    return f"gives {message.whom} {points} {unit} (private score {message.plain('private_score')})"


def _report(message: _Message) -> str:
    status = of(message.payload.get("status"), 60)
    if status == "TERMINATED":  # a player's own report (protocol 4.5.2)
        return "reports that its game ended early"
    if status == "aborted":
        reason = cause({"match": message.payload})
        return f"reports that the match ended early{f': {reason}' if reason else ''}"
    if status.casefold() not in ("", "completed"):
        return f"reports how the match ended: {status}"
    if "winner_id" not in message.payload:
        return "reports the end of the match"
    winner = of(message.payload.get("winner_id"), 60)
    return f"reports the result: {f'{winner} wins' if winner else 'a draw'}"


_WORDS: Mapping[str, str | Callable[[_Message], str]] = {
    "BROADCAST_START_SEASON": "opens the season",
    "SEASON_REGISTRATION_REQUEST": "registers",
    "SEASON_REGISTRATION_RESPONSE": lambda message: f"replies to the registration of {message.whom}",
    "BROADCAST_ASSIGNMENT_TABLE": "sends everybody the table of matches",
    "RESPONSE_GROUP_ASSIGNMENT": "has read the table of matches",
    "BROADCAST_NEW_LEAGUE_ROUND": lambda message: f"starts round {message.plain('round_number')}",
    "BROADCAST_END_LEAGUE_ROUND": lambda message: f"ends round {message.plain('round_number')}",
    "BROADCAST_ROUND_RESULTS": lambda message: f"publishes the results of round {message.plain('round_number')}",
    "BROADCAST_END_SEASON": "ends the season",
    "LEAGUE_COMPLETED": "publishes the final standings",
    "Q21WARMUPCALL": lambda message: f"asks {message.whom} to warm up: {message.quoted('warmup_question')}",
    "Q21WARMUPRESPONSE": lambda message: f"answers {message.quoted('answer')}",
    "Q21ROUNDSTART": lambda message: (
        f"tells {message.whom} the book {message.quoted('book_name')} and the hint {message.quoted('book_hint')}"
    ),
    "Q21QUESTIONSBATCH": _questions,
    "Q21ANSWERSBATCH": _answers,
    "Q21GUESSSUBMISSION": _guess,
    "Q21SCOREFEEDBACK": _score,
    "MATCH_RESULT_REPORT": _report,
}
