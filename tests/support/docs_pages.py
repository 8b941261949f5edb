"""The generated pages of docs/ and the site that is built from them: ``scripts/docs``.

Rule: zensical never runs in the checkout, because it keeps its cache in ``.cache`` beside its configuration and
``.cache`` holds the virtual environment here.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from league_agents.cli.league_file_page import league_file_page
from league_agents.cli.reference import command_page
from league_agents.report.games_page import games_page
from league_agents.report.states_page import states_page
from league_agents.report.wire_page import wire_page
from tests.support.callbacks_page import callbacks_page
from tests.support.python_page import python_page
from tests.support.rules_page import rules_page

ROOT = Path(__file__).resolve().parents[2]
PORT = 8000

PAGES: Mapping[str, Callable[[], str]] = {
    "messages": wire_page,
    "states": states_page,
    "commands": command_page,
    "games": games_page,
    "league-file": league_file_page,
    "rules": rules_page,
    "callbacks": callbacks_page,
    "python": python_page,
}
"""The pages of docs/reference that are written from declarations in the code."""


def build_site(target: Path) -> None:
    """Build the site strictly into ``target``, which is replaced. Raise ``SystemExit`` with the build's complaints."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "docs", Path(folder, "docs"))
        shutil.copy(ROOT / "zensical.toml", folder)
        command = [sys.executable, "-m", "zensical", "build", "--strict"]
        built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if built.returncode:
            said = re.sub(r"\x1b\[[0-9;]*m", "", built.stdout + built.stderr)
            raise SystemExit(said.partition("Traceback")[0])  # --strict ends with an exception
        shutil.rmtree(target, ignore_errors=True)
        shutil.move(Path(folder, "site"), target)


def main() -> None:
    reader = argparse.ArgumentParser(prog="scripts/docs", description="Write the generated pages of docs/.")
    reader.add_argument("--site", action="store_true", help="build the site too, into build/site")
    reader.add_argument("--serve", action="store_true", help="build the site and show it until Ctrl-C")
    wanted = reader.parse_args()
    for name, page in PAGES.items():
        Path(ROOT, "docs", "reference", name + ".md").write_text(page(), "utf-8")
    if not (wanted.site or wanted.serve):
        return
    target = ROOT / "build" / "site"
    build_site(target)
    print(f"The site is in {target.relative_to(ROOT)}.")
    if wanted.serve:
        handler = partial(SimpleHTTPRequestHandler, directory=str(target))
        print(f"http://127.0.0.1:{PORT} shows it; Ctrl-C ends.", flush=True)
        with suppress(KeyboardInterrupt):
            ThreadingHTTPServer(("127.0.0.1", PORT), handler).serve_forever()


if __name__ == "__main__":
    main()
