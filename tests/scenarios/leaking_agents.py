"""Agents that shout out everything that they should keep: for the tests of the daemon's log."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import Any

from league_agents.agents.scripted import REFEREES
from league_agents.games.q21.rules import PRD

SENTENCE = "The lighthouse keeper counted his matches twice before the storm."
WORD = "lanternfish"

log = logging.getLogger("leaking")


class LeakingReferee(REFEREES["fixed"]):  # type: ignore[misc]
    """Judges well, and talks too much."""

    def __init__(self) -> None:
        super().__init__(rules=PRD)

    def get_warmup_question(self, ctx: Mapping[str, Any]) -> dict[str, Any]:
        key = os.environ["OPENAI_API_KEY"]
        log.warning("calling the model with %s and Bearer %s", key, "abcdefghijklmnop0123456789")
        raise ValueError(f"the model refused {key} for the target {SENTENCE!r} and {WORD.upper()}")

    def get_round_start_info(self, ctx: Mapping[str, Any]) -> dict[str, Any]:
        started = super().get_round_start_info(ctx)
        return {**started, "actual_opening_sentence": SENTENCE, "actual_associative_word": WORD}

    def get_answers(self, ctx: Mapping[str, Any]) -> dict[str, Any]:
        log.error("still looking for: %s (%s)", SENTENCE.lower(), WORD)
        print("the target:", SENTENCE.upper(), os.environ["OPENAI_API_KEY"])
        os.write(2, f"and {WORD}".encode())  # without the end of a line
        return dict(super().get_answers(ctx))
