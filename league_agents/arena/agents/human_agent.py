"""A person at a terminal, who is shown the events and asked for one line a turn.

Rule 1: a person may mistype. An invalid answer is asked for again at once, at no cost.
Rule 2: texts of others are shown in one line each, without terminal control characters.
Rule 3: nobody plays for a person who has left: the match ends.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final, cast

from league_agents.arena.agents.port import View
from league_agents.arena.agents.scripted_agent import script_of
from league_agents.arena.session import GivenUp
from league_agents.games.game import Action, Event, LegalAction
from league_agents.games.person import ByPerson, Reader, Unclear
from league_agents.games.registry import declared, part_of
from league_agents.kit.draw import Draw
from league_agents.kit.errors import ConfigError
from league_agents.kit.printable import printable

LONGEST_LINE: Final = 2000
_LARGEST_FILE: Final = 256 * 1024
_EDIT: Final = "edit"

_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "refused": "Not accepted: {why} ({left} more attempts)",
        "last": "Not accepted: {why} (the last attempt)",
        "until": "until {time}",
        "file": "{name} cannot be read: {why}",
        "editor": "There is no editor here.",
        "unsaved": "Nothing was saved.",
        "gone": "the input has ended, so nobody plays {me}; the match is given up",
    },
    "zh": {
        "refused": "未被接受：{why}（还可尝试 {left} 次）",
        "last": "未被接受：{why}（最后一次机会）",
        "until": "截止 {time}",
        "file": "无法读取 {name}：{why}",
        "editor": "这里没有编辑器。",
        "unsaved": "没有保存任何内容。",
        "gone": "输入已结束，没有人替 {me} 行动；对局终止",
    },
}


def by_person(game: str) -> ByPerson:
    """A game's terminal interface. Raises ``ConfigError`` for a game without one."""
    declaration = declared(game)
    if declaration.person is None:
        raise ConfigError("agent", f"{game} is not played at a terminal; use the web page of 'arena serve'")
    return cast("ByPerson", part_of(declaration, declaration.person))


def told(game: str, event: Event, reader: Reader) -> list[str]:
    """The lines that an event is shown as."""
    if declared(game).person is None:
        return _printable([event.text])
    return _printable(by_person(game).told(event, reader))


@dataclass(slots=True, kw_only=True)
class Terminal:
    """The terminal that all persons of a match share."""

    ask: Callable[[str], str]
    """Shows a question and returns one typed line. Raises ``EOFError`` at the end of input."""

    show: Callable[[str], None]
    edit: Callable[[str], str | None] | None = None
    """Opens an editor with a text and returns the edited text; ``None`` if nothing was saved."""

    turn: AbstractContextManager[object] = field(default_factory=threading.RLock)
    """Held while a person is asked: sealed phases ask everybody at once."""

    told_up_to: int = 0
    """The number of the last event that was shown."""


class HumanAgent:
    """Plays a seat with the actions that a person types."""

    def __init__(self, game: str, terminal: Terminal, reader: Reader, *, seed: int | str = 0) -> None:
        """``seed`` determines the actions offered for an empty line."""
        self._game = game
        self._by_person = by_person(game)
        self._script = script_of(game)
        self._terminal = terminal
        self._reader = reader
        self._words = _WORDS[reader.lang]
        self._draw = Draw(seed, f"human/{reader.viewer}")

    def reset(self) -> None:
        """Reset the terminal for a new match, so that all its events are shown."""
        self._terminal.told_up_to = 0

    def observe(self, event: Event) -> None:
        """Show an event; only once if several persons may see it."""
        if event.seq and event.seq <= self._terminal.told_up_to:
            return
        self._terminal.told_up_to = max(event.seq, self._terminal.told_up_to)
        self._show(self._by_person.told(event, self._reader))

    def act(self, view: View, legal: Sequence[LegalAction], deadline: datetime | None) -> Action:
        """Ask until the answer is valid. Raises ``GivenUp`` at the end of input."""
        with self._terminal.turn:
            try:
                return self._asked(view, legal, deadline)
            except EOFError:
                raise GivenUp(self._words["gone"].format(me=self._reader.me)) from None

    def _asked(self, view: View, legal: Sequence[LegalAction], deadline: datetime | None) -> Action:
        person = self._by_person
        advice = self._script(view, legal, self._draw)
        refusal = view.get("refusal")
        if refusal is None:
            self._show(person.shown(view, legal, self._reader))
        else:
            left = refusal["attempts_left"]
            self._show([self._words["refused" if left > 1 else "last"].format(why=refusal["message"], left=left)])
        if deadline is not None:
            self._show([self._words["until"].format(time=f"{deadline.astimezone():%H:%M:%S}")])
        question = printable(person.prompt(view, legal, advice, self._reader), LONGEST_LINE) + " "

        def read(lines: Sequence[str]) -> Action:
            return person.read(lines, view, legal, advice, self._reader)

        prepared = person.list_of(advice)
        while True:
            try:
                if prepared is None:
                    return read([self._terminal.ask(question)])
                return read(self._list(question, read, prepared))
            except Unclear as why:
                self._show([str(why)])

    def _list(self, question: str, read: Callable[[Sequence[str]], Action], prepared: Sequence[str]) -> Sequence[str]:
        """Lines up to an empty one, each checked when typed; or the lines of a file, or of the editor."""
        first = self._terminal.ask(question)
        if first.startswith("@"):
            return self._file(first[1:].strip())
        if first.strip() == _EDIT:
            return self._edited(prepared)
        read([first])
        typed = [first]
        while first.strip() and len(typed) < len(prepared):
            line = self._terminal.ask(f"{len(typed) + 1}: ")
            if not line.strip():
                break
            try:
                read([*typed, line])
                typed.append(line)
            except Unclear as why:
                self._show([str(why)])
        return typed

    def _file(self, name: str) -> list[str]:
        try:
            with Path(name).expanduser().open("rb") as file:
                found = file.read(_LARGEST_FILE + 1)
            return found[:_LARGEST_FILE].decode("utf-8-sig").splitlines()
        except (OSError, ValueError, RuntimeError) as error:
            why = error.strerror if isinstance(error, OSError) else type(error).__name__
            raise Unclear(self._words["file"].format(name=name, why=why)) from None

    def _edited(self, lines: Iterable[str]) -> list[str]:
        if self._terminal.edit is None:
            raise Unclear(self._words["editor"])
        text = "\n".join(lines) + "\n"
        saved = self._terminal.edit(text)
        if saved is None:
            raise Unclear(self._words["unsaved"])
        return saved.splitlines()

    def _show(self, lines: Iterable[str]) -> None:
        for line in _printable(lines):
            self._terminal.show(line)


def _printable(lines: Iterable[str]) -> list[str]:
    return [line[: len(line) - len(line.lstrip(" "))] + printable(line, LONGEST_LINE) for line in lines]
