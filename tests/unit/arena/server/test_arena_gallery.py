"""Who wins how often: what counts, what is left out, and that names of guests prove nothing."""

from __future__ import annotations

from league_agents.arena.server.gallery import boards_told


def test_a_share_comes_with_its_interval_and_with_what_lots_would_give() -> None:
    results = [
        ("market", match_id, contender, won, seats)
        for match_id, first, second in (("m1", 1, 0), ("m2", 1, 0), ("m3", 0, 1), ("m4", 1, 0))
        for contender, won, seats in (("scripted", first, 1), ("open:human", second, 2))
    ]
    (board,) = boards_told([*results, ("market", "m5", "scripted", 1, 3)])
    assert (board["game"], board["matches"], board["left_out"]) == ("market", 4, 1)
    scripted, people = board["rows"]
    assert (scripted["contender"], scripted["is_guest"], scripted["matches"], scripted["seats"]) == (
        "scripted",
        False,
        4,
        4,
    )
    assert scripted["share"] == 0.75
    assert scripted["low"] < 0.75 < scripted["high"]
    assert scripted["expected"] == people["expected"] == 1 / 3
    assert (people["contender"], people["is_guest"], people["seats"], people["won"]) == ("human", True, 8, 1)


def test_one_match_bounds_nothing() -> None:
    (board,) = boards_told([("q21", "m1", "random", 0, 1), ("q21", "m1", "scripted", 1, 2)])
    assert [(row["low"], row["high"]) for row in board["rows"]] == [(None, None)] * 2
    assert board["rows"][0]["contender"] == "scripted"
