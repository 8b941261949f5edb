"""The recipe of ``docs/how-to/mailboxes.md``: its files and every line of its commands, in a shell."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from league_agents.config.league_file import read_league_file
from league_agents.config.league_settings import LeagueSettings
from league_agents.local_league.patience import LIMIT_S, until
from tests.support.mailboxes import status_of

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "mailboxes.md").read_text("utf-8").partition("## Try it")[2]
FILES: dict[str, str] = dict(re.findall(r"```yaml\n# (try/\w+\.yaml)\n(.*?)```", PAGE, flags=re.DOTALL))
(BLOCK,) = re.findall(r"```sh\n(.*?)```", PAGE, flags=re.DOTALL)


class Shell:
    """A shell that is given one line after another."""

    def __init__(self, folder: Path) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GMAIL_", "LEAGUE_"))}
        self.errors = folder / "errors"
        program = folder / "bin" / "league-agents"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m league_agents "$@"\n', "utf-8")
        program.chmod(0o700)
        path = f"{program.parent}:{os.environ['PATH']}"
        own = {"LEAGUE_AGENTS_DATA": str(folder / "data"), "PATH": path}
        with self.errors.open("wb") as errors:
            self._bash = subprocess.Popen(
                ["bash", "--norc"], cwd=folder, env={**kept, **own}, process_group=0,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
            )  # fmt: skip

    def run(self, line: str, until_line: str) -> list[str]:
        """What is printed until a line that begins so, or, when that is empty, until the command has ended well."""
        assert self._bash.stdin is not None
        assert self._bash.stdout is not None
        end = until_line or "ended with "
        self._bash.stdin.write(f"{line}\n" + ("" if until_line else 'echo "ended with $?"\n'))
        self._bash.stdin.flush()
        found: list[str] = []
        while not found or not found[-1].startswith(end):
            found.append(self._bash.stdout.readline())
            assert found[-1], self.errors.read_text("utf-8")
        assert until_line or found.pop() == "ended with 0\n", (line, self.errors.read_text("utf-8"))
        return found

    def close(self) -> None:
        assert self._bash.stdin is not None
        self._bash.stdin.close()
        assert self._bash.stdout is not None
        try:
            self._bash.wait(LIMIT_S)
        finally:
            # What was started in the background and not stopped by the lines.
            if _is_there(group := self._bash.pid):
                os.killpg(group, signal.SIGKILL)
            self._bash.stdout.close()


def _is_there(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_every_line_of_the_recipe_works_as_it_stands(tmp_path: Path) -> None:
    assert sorted(FILES) == ["try/office.yaml", "try/teams.yaml"]
    (tmp_path / "try").mkdir(mode=0o700)

    def settings_of(name: str) -> LeagueSettings:
        return read_league_file(tmp_path / name, {}, is_one_of_many=True)

    def is_over() -> bool:
        settings = settings_of("try/office.yaml")
        return status_of(settings, settings.roles[0]).state == "FINISHED"

    shell = Shell(tmp_path)
    shown: dict[str, list[str]] = {}
    try:
        for line in BLOCK.splitlines():
            if " sandbox " in line:
                # Another port than that of the page, which may be taken here.
                (url,) = shell.run(line.replace(" sandbox ", " sandbox --port 0 "), "http://")
                for name, text in FILES.items():
                    assert '"http://127.0.0.1:8025"' in text
                    (tmp_path / name).write_text(text.replace("http://127.0.0.1:8025", url.strip()), "utf-8")
                continue
            if "standings" in line:
                until(is_over, "the season is over", story=lambda: shell.errors.read_text("utf-8"))
            shown[line] = shell.run(line, "")
        shell.run("wait", "")
    finally:
        shell.close()
    assert not _is_there(shell._bash.pid)
    (table,) = (lines for line, lines in shown.items() if "standings" in line)
    assert {group for group in ("falcons", "otters", "herons") if any(group in row for row in table)} == {
        *("falcons", "otters", "herons"),
    }
    (checked,) = (lines for line, lines in shown.items() if "config check" in line)
    assert sum(" is right; next: " in line for line in checked) == 2
