"""What commands show on a terminal while they work, and when they are interrupted."""

from __future__ import annotations

import io
import sys

import click
import pytest
from rich.console import Console

from league_agents.cli import CommandLine, command_line
from league_agents.cli.screen import counter


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_counter_shows_round_numbers_on_a_terminal_only(is_terminal: bool) -> None:
    stream = io.StringIO()
    screen = Console(file=stream, force_terminal=is_terminal, width=80)
    with counter(screen, "player p@league.test: rows", every=5) as told:
        for number in range(1, 13):
            told(number)
    shown = stream.getvalue()
    assert ("player p@league.test: rows" in shown, "10" in shown, "12" in shown) == (is_terminal, is_terminal, False)


@pytest.mark.parametrize("place", ["work", "question"])
def test_what_ctrl_c_interrupts_ends_its_line(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        if place == "question":
            click.prompt("Your mailbox", err=True)
        raise KeyboardInterrupt

    def pressed(*_: object, **__: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(CommandLine, "invoke", interrupted)
    monkeypatch.setattr("click.termui.visible_prompt_func", pressed)
    monkeypatch.setattr(sys, "stderr", stream := io.StringIO())
    with pytest.raises(SystemExit):
        command_line.main(["rules"])
    assert stream.getvalue().removeprefix("Your mailbox:") == "\nleague-agents: interrupted\n"
