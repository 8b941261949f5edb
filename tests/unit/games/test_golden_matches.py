"""What every game announces, word for word: whole matches of scripted and random agents, once read through.

After a change that is meant, write them anew and read the difference:
``MATCHES_ARE_READ_THROUGH=1 scripts/test tests/unit/games/test_golden_matches.py``
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from league_agents.cli import command_line

FOLDER = Path(__file__).resolve().parents[2] / "golden" / "matches"
MATCHES = {
    "undercover_en": ["undercover", "--lang", "en"],
    "undercover_zh": ["undercover", "--lang", "zh", "--config", "announce_counts=false", "--agents", "random"],
    "undercover_many": ["undercover", "--lang", "en", "--agents", "random", "--seats", "8",
                        "--config", "num_undercover=3", "--config", "announce_counts=false",
                        "--config", "know_own_role=true"],
    "guess_number": ["guess_number"],
    "guess_number_random": ["guess_number", "--agents", "random", "--seats", "3", "--config", "max_steps=4"],
    "market": ["market"],
    "market_random": ["market", "--agents", "random"],
    "q21": ["q21"],
    "q21_course": ["q21", "--config", "rules=course"],
    "q21_random": ["q21", "--agents", "random"],
}  # fmt: skip


@pytest.mark.parametrize("name", MATCHES)
def test_a_match_is_announced_as_it_was(name: str) -> None:
    shown = CliRunner().invoke(command_line, ["arena", "play", *MATCHES[name], "--seed", "1", "--json"])
    assert shown.exit_code == 0, shown.output
    document: dict[str, Any] = json.loads(shown.stdout)
    events = document.pop("events")
    lines = [json.dumps(line, ensure_ascii=False, sort_keys=True) for line in (document, *events)]
    path = FOLDER / f"{name}.jsonl"
    if "MATCHES_ARE_READ_THROUGH" in os.environ:
        path.write_text("\n".join([*lines, ""]), "utf-8")
    assert lines == path.read_text("utf-8").splitlines()
