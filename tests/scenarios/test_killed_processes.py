"""SIGKILL, over Gmail's API and journals on disk: the season ends as the undisturbed one does in memory."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

from league_agents.local_league.league import four_seats, unhurried
from tests.support.crash import play_season
from tests.support.killed_season import killed_season

# Points are counted from the start of each life. Odd ones are before, even ones after a write or a call.
KILL_AT = (31, 118, 205, 77, 342, 159, 14, 423)


def test_a_season_that_is_killed_again_and_again_ends_like_the_undisturbed_one(tmp_path: Path) -> None:
    killed = killed_season(tmp_path / "league", teams=4, kill_at=KILL_AT)
    assert killed.kills == len(KILL_AT)
    assert killed.accepted_twice == ()
    assert (killed.unsent, killed.unread, killed.turned_away) == (0, 0, 0)
    whole = play_season(teams=4)
    # The team's name is spelled differently; rank, group and every number must be the same.
    assert [(row[:3], row[4:]) for row in killed.standings] == [(row[:3], row[4:]) for row in whole.standings]
    assert killed.messages == Counter((sender, str(kind)) for sender, kind, *_ in whole.messages)


def test_four_daemons_are_killed_in_the_middle_of_their_match_and_go_on_with_it(tmp_path: Path) -> None:
    with unhurried(tmp_path / "league", four_seats()) as league:
        manager, referee, falcons, otters = league.seats
        league.start_all()
        for seat, words in (
            (manager, "received SEASON_REGISTRATION_REQUEST"),
            (referee, "sent Q21WARMUPCALL"),
            (falcons, "received Q21ROUNDSTART"),
            (otters, "sent Q21QUESTIONSBATCH"),
            (manager, "received MATCH_RESULT_REPORT"),
        ):
            league.wait_for_log(seat, words)
            league.kill(seat)
            league.start(seat)
        league.wait_for_log(manager, "watching", times=3)  # before that it would not know what SIGTERM means here
        league.wait_for_season()
        assert set(league.stop().values()) == {0}
        report: dict[str, Any] = league.sandbox.report()
        assert report["accepted_twice"] == []
        kinds = Counter(
            re.sub(".*::", "", mail.view.header("subject"))
            for seat in league.seats
            for mail in league.sandbox.mail(seat.address, "SENT")
        )
    assert kinds["Q21SCOREFEEDBACK"] == kinds["Q21GUESSSUBMISSION"] == kinds["Q21WARMUPRESPONSE"] == 2
    assert kinds["LEAGUECOMPLETED"] + kinds["LEAGUE_COMPLETED"] == 1
