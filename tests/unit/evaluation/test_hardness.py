"""How hard the games of an evaluation are, from open and tellable bits."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from league_agents.evaluation.hardness import hardness
from league_agents.evaluation.results import PlayerGame


def games(*bits: float | None) -> list[PlayerGame]:
    return [cast(PlayerGame, SimpleNamespace(player=SimpleNamespace(bits_possible=each))) for each in bits]


@pytest.mark.parametrize(
    ("open_bits", "noise", "grade"),
    [
        (7.1, 0.05, "easy"),  # 20 answers tell 32.7 bits
        (7.1, 0.35, "medium"),  # 10.2
        (7.1, 0.45, "hard"),  # 5.9
        (3.3, 0.75, "hard"),  # nothing
        (20.0, 0.0, "medium"),  # 40
    ],
)
def test_games_are_graded_by_what_their_answers_can_tell(open_bits: float, noise: float, grade: str) -> None:
    found = hardness(games(open_bits - 1, None, open_bits + 1), questions=20, noise=noise)
    assert found is not None
    assert found.open_bits == pytest.approx(open_bits)
    assert found.grade == grade
    assert f"are {grade}:" in found.words()


def test_games_without_a_known_target_have_no_grade() -> None:
    assert hardness(games(None), questions=20, noise=0.1) is None
