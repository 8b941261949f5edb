"""The daemon's log: one readable line for each thing that happened, or one JSON object a line.

Rule 1: a line says who did what with whom and in which game. What a mail says is not in it: it may hold the target.
Rule 2: whatever is shown has been looked through for secrets, texts of other programs' loggers included.
"""

from __future__ import annotations

import io
import json
import logging
import logging.handlers
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TextIO

from league_agents.journal.port import MODEL_WORK, NOTICE, WARNING, InboxRow, InboxVerdict, Note, OutboxItem
from league_agents.kit.clock import utc_now
from league_agents.kit.errors import ConfigError
from league_agents.kit.printable import of, printable
from league_agents.kit.private_file import open_private
from league_agents.report.models import model_words, steps_of
from league_agents.report.results import MOST_ROWS, points, points_words, standings, standings_words
from league_agents.report.secret_texts import QUOTING, SecretTexts, without_quotations
from league_agents.runner.live import DAEMON
from league_agents.user_code.said import PRINTED

LARGEST_FILE = 10_000_000
KEPT_FILES = 5
LONGEST_TEXT = 600

_VERDICTS = {
    InboxVerdict.PROCESSED: (logging.INFO, "received"),
    InboxVerdict.IGNORED: (logging.DEBUG, "left alone"),
    InboxVerdict.REJECTED: (logging.WARNING, "turned away"),
    InboxVerdict.PARKED: (logging.ERROR, "put aside"),
}
_DAEMON_LEVELS = {
    "role_failed": logging.ERROR,
    "set_aside": logging.ERROR,
    "authorization_needed": logging.ERROR,
    "mailbox_unavailable": logging.WARNING,
    "clock_off": logging.WARNING,
    "clock_set_back": logging.WARNING,
    "journal_changed": logging.WARNING,
}
_SHOWN_FACTS = ("status", "winner_id", "is_draw", "abort_reason", "termination", "league_points", "round_number")
"""Of a record. Everything else in it stays in the journal."""


class DaemonLog:
    """An ``Observer`` of any number of roles. Used by all their threads."""

    def __init__(self, handler: logging.Handler, *, level: str, is_json: bool, secrets: SecretTexts) -> None:
        self.secrets = secrets
        """More of them may be told at any time."""

        self._is_json = is_json
        self._logger = logging.Logger("league_agents", level)
        self._logger.addHandler(handler)
        self.lines = 0
        """How many were written."""

    def received(self, role: str, row: InboxRow) -> None:
        level, verb = _VERDICTS[row.verdict]
        self._line(
            level,
            role,
            f"mail_{row.verdict.value}",
            f"{verb} {row.message_type or 'a mail'} from {row.sender}",
            {
                "message_type": row.message_type,
                "from": row.sender,
                "game_id": row.game_id,
                "message_id": row.message_id,
                "mail_id": row.mail_id,
                "reason": row.reason,
            },
            row.arrived_at,
        )

    def sent(self, role: str, item: OutboxItem) -> None:
        to = ", ".join(item.to[:3]) + (f" and {len(item.to) - 3} more" if len(item.to) > 3 else "")
        self._line(
            logging.INFO,
            role,
            "sent",
            f"sent {item.message_type} to {to}",
            {
                "message_type": item.message_type,
                "to": list(item.to),
                "game_id": item.game_id,
                "transaction_id": item.transaction_id,
                "attempts": item.attempts + 1,
            },
        )

    def noted(self, role: str, note: Note) -> None:
        text = of(note.facts.get("text"), LONGEST_TEXT)
        if role.partition(" ")[0] == "referee" and note.key in QUOTING:
            text = without_quotations(text)
        if note.kind == WARNING:
            # The reason of a mail that was turned away stands in its own line already.
            level = logging.DEBUG if note.key.startswith("mail_") else logging.WARNING
            self._line(level, role, note.key, text, {}, note.at)
        elif note.kind == MODEL_WORK:
            told = {"game_id": note.key, "steps": [step.to_json() for step in steps_of(note)]}
            self._line(logging.INFO, role, note.kind, model_words(note), told, note.at)
        elif note.kind in (DAEMON, NOTICE):
            self._line(_DAEMON_LEVELS.get(note.key, logging.INFO), role, note.key, text, {}, note.at)
        else:
            facts = {name: note.facts[name] for name in _SHOWN_FACTS if name in note.facts}
            said = ", ".join(f"{name} {of(value, 80)}" for name, value in facts.items() if of(value))
            got, rows = points(note.facts), standings(note.facts)[:MOST_ROWS]
            if got:
                said += f", points {points_words(got)}"
                facts["points"] = [each.to_json() for each in got]
            if rows:
                first = " and ".join(row.name for row in rows if row.rank == 1)
                said += f", winner {first}" if note.kind == "season" and first else ""
                said += f", standings {standings_words(rows)}"
                facts["standings"] = [row.to_json() for row in rows]
            said = said.removeprefix(", ")
            ended = f"{note.kind} {note.key} ended"
            self._line(logging.INFO, role, f"{note.kind}_ended", f"{ended}: {said}" if said else ended, facts, note.at)

    def say(self, role: str, text: str, *, level: int = logging.INFO, event: str = "daemon") -> None:
        """A line of the daemon's own."""
        self._line(level, role, event, text, {})

    def close(self) -> None:
        """Release the file, and leave other programs' loggers alone again."""
        root = logging.getLogger()
        for foreign in [each for each in root.handlers if isinstance(each, _Foreign) and each.log is self]:
            root.removeHandler(foreign)
        for handler in self._logger.handlers:
            handler.close()

    def _line(
        self,
        level: int,
        role: str,
        event: str,
        text: str,
        fields: Mapping[str, object],
        at: datetime | None = None,
    ) -> None:
        if not self._logger.isEnabledFor(level):
            return
        self.lines += 1
        now = utc_now()
        if self._is_json:
            document: dict[str, object] = {
                "at": now.isoformat(timespec="milliseconds"),
                "level": logging.getLevelName(level),
                "role": role.partition(" ")[0],
                "event": event,
                "text": printable(self.secrets.hide(text, role), LONGEST_TEXT),
            }
            if " " in role:
                document["name"] = printable(role.partition(" ")[2], LONGEST_TEXT)
            if at is not None:
                document["happened_at"] = at.isoformat(timespec="milliseconds")
            told = {name: self._shown(value, role) for name, value in fields.items() if value not in (None, "")}
            document.update(told)
            line = json.dumps(document, ensure_ascii=True)
        else:
            game = fields.get("game_id")
            words = [text, f"(game {game})" if game else "", f"- {fields['reason']}" if fields.get("reason") else ""]
            said = printable(self.secrets.hide(" ".join(word for word in words if word), role), LONGEST_TEXT)
            mark = "" if level < logging.WARNING else f"{logging.getLevelName(level)} "
            line = f"{now:%Y-%m-%d %H:%M:%S}Z {printable(role, LONGEST_TEXT):<8} {mark}{said}"
        self._logger.log(level, "%s", line)

    def _shown(self, value: object, role: str) -> object:
        if isinstance(value, str):
            return printable(self.secrets.hide(value, role), LONGEST_TEXT)
        if isinstance(value, list):
            return [self._shown(item, role) for item in value[:100]]
        if isinstance(value, Mapping):
            return {str(name): self._shown(item, role) for name, item in value.items()}
        return value


class _SaysOnce(logging.Handler):
    """Says in one line, once, that it cannot write; the base class prints a traceback for each line of the log."""

    _is_failing = _has_failed = False

    def emit(self, record: logging.LogRecord) -> None:
        self._has_failed = False
        super().emit(record)
        self._is_failing = self._has_failed

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        error = sys.exc_info()[1]
        self._has_failed = True
        if not self._is_failing:
            why = (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
            with suppress(OSError, ValueError):  # stderr may be what cannot be written
                print(f"the log cannot be written: {why}; its lines are lost until it can", file=sys.stderr)


class _Stream(_SaysOnce, logging.StreamHandler[TextIO]):
    """The terminal, or whatever stderr is."""


class _LogFile(_SaysOnce, logging.handlers.RotatingFileHandler):
    """A private file, and a new one when it is full."""

    def _open(self) -> io.TextIOWrapper:
        return open_private(Path(self.baseFilename), "a", errors=self.errors or "strict")


class _Foreign(logging.Handler):
    """What libraries and agents log, and our own modules that have no observer, as lines of ours."""

    def __init__(self, log: DaemonLog) -> None:
        super().__init__(logging.INFO)
        self.log = log

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno < logging.WARNING and record.name != PRINTED.name:
            return
        try:
            text = record.getMessage()
        except Exception:  # a foreign record whose arguments do not fit
            text = str(record.msg)
        is_ours = record.name.partition(".")[0] == __name__.partition(".")[0]
        is_of_role = record.threadName != threading.main_thread().name
        self.log.say(
            (record.threadName or "") if is_of_role else "",
            text if is_ours else f"{record.name}: {text}",
            level=record.levelno,
            event="own_log" if is_ours else "foreign_log",
        )


def open_log(*, level: str, is_json: bool, file: Path | None, secrets: SecretTexts) -> DaemonLog:
    """The log of this process, to a file or to stderr; other programs' loggers end in it too.

    Raises ``ConfigError`` when the file cannot be written.
    """
    handler: logging.Handler
    if file is None:
        handler = _Stream(sys.stderr)
    else:
        try:
            handler = _LogFile(file, maxBytes=LARGEST_FILE, backupCount=KEPT_FILES, errors="backslashreplace")
        except OSError as error:
            raise ConfigError(str(file), f"the log cannot be written: {error.strerror}") from None
    handler.setFormatter(logging.Formatter("%(message)s"))
    log = DaemonLog(handler, level=level, is_json=is_json, secrets=secrets)
    root = logging.getLogger()
    for old in root.handlers[:]:
        if isinstance(old, _Foreign):
            root.removeHandler(old)
    root.addHandler(_Foreign(log))
    return log
