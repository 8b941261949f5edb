"""Draws that anybody can repeat."""

from __future__ import annotations

import hashlib

from league_agents.kit.draw import Draw


def test_a_draw_is_the_hash_that_the_module_describes() -> None:
    words = hashlib.sha256(b"7/cards/0").digest()
    assert Draw(7, "cards").below(1 << 64) == int.from_bytes(words[:8], "big")


def test_a_label_may_hold_any_text_that_json_can_spell() -> None:
    assert Draw(7, "\ud800").below(1000) == Draw(7, "\ud800").below(1000)
    drawn = {Draw(7, label).below(1 << 64) for label in ("\ud800", "\ud801", "?", "\ufffd")}
    assert len(drawn) == 4
