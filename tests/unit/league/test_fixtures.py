"""Which games of a participant belong to a round."""

from __future__ import annotations

import pytest

from league_agents.kit.ids import GameId
from league_agents.league.machines.participant.league_state import Fixture, League
from league_agents.league.wire.messages import AssignmentRole


def league(*game_ids: str) -> League:
    return League(
        fixtures=tuple(
            Fixture(
                game_id=GameId(game_id),
                own_role=AssignmentRole.REFEREE,
                referee_email="r@league.test",
                player1_email="a@league.test",
                player1_group="a",
                player2_email="b@league.test",
                player2_group="b",
            )
            for game_id in game_ids
        )
    )


@pytest.mark.parametrize(
    ("game_ids", "round_number", "found"),
    [
        ((), 1, []),
        (("0101001",), 1, ["0101001"]),
        (("0101001",), 2, []),
        (("0101001", "0101999", "0102001", "0110001"), 1, ["0101001", "0101999"]),
        (("0101001", "0102001", "0110001", "0110002"), 10, ["0110001", "0110002"]),
        (("0101001", "0199999"), 99, ["0199999"]),
        (("0101001", "0102001"), 100, []),
        (("0101001", "0103001"), 2, []),
        (("0102001", "0201001", "0202001"), 2, ["0102001", "0202001"]),  # a table may hold two seasons
    ],
)
def test_the_games_of_a_round_are_found_in_their_order(
    game_ids: tuple[str, ...], round_number: int, found: list[str]
) -> None:
    fixtures = league(*game_ids).fixtures_of_round(round_number)
    assert [fixture.game_id for fixture in fixtures] == found
