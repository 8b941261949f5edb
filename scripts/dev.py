"""Set-up, tests and pages of a clone where there is no bash: Windows without WSL.

    python scripts/dev.py setup            .venv with everything that is pinned, as scripts/setup --dev makes it
    python scripts/dev.py test [pytest options]   ruff, mypy --strict, then the tests
    python scripts/dev.py docs             the pages of docs/reference, as scripts/docs

It was tried on Linux only. Many tests start processes by means that Windows lacks and fail there; WSL runs them all.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
USAGE = "python scripts/dev.py setup | test [pytest options] | docs"


def plan(words: list[str], *, is_windows: bool) -> list[list[str]]:
    """The commands to run, in their order; empty for words that mean nothing."""
    programs = Path(".venv", "Scripts" if is_windows else "bin")
    python = str(programs / "python")
    pip = [python, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", "--no-deps"]
    match words:
        case ["setup"]:
            locked = ["--require-hashes", "--only-binary", ":all:", "--requirement", "requirements-dev.txt"]
            return [
                [sys.executable, "-m", "venv", ".venv"],
                [*pip, *locked],
                [*pip, "--no-build-isolation", "--editable", "."],
            ]
        case ["test", *options]:
            return [
                [python, "-m", "ruff", "check", "--quiet", "."],
                [python, "-m", "ruff", "format", "--quiet", "--check", "."],
                [python, "-m", "mypy", "--strict", "--no-error-summary"],
                [python, "-m", "pytest", *options],
            ]
        case ["docs"]:
            return [[python, "-m", "tests.support.docs_pages"]]
        case _:
            return []


def main(words: list[str]) -> int:
    """Run the commands up to the first that fails. The exit code."""
    commands = plan(words, is_windows=os.name == "nt")
    if not commands:
        print(USAGE, file=sys.stderr)
        return 2
    for command in commands:
        code = subprocess.run(command, cwd=ROOT, check=False).returncode  # noqa: S603 - our own
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
