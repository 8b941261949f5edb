"""Who owes what, while a match goes on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from league_agents.app.agents import choose_agent
from league_agents.app.looking import _status_in, open_games, role_status
from league_agents.app.offline import OfflineLeague, OfflineTeam, memory_journal, offline_league, team_of
from league_agents.app.waiting import awaited
from league_agents.config.league_file import read_league_file
from league_agents.config.league_settings import LeagueSettings, RoleSettings
from league_agents.games.q21.rules import PRD
from league_agents.journal.port import Note, OutboxItem, StepCause, StepCommit
from league_agents.journal.sqlite import SqliteJournal
from league_agents.kit.values import evolve
from league_agents.league.machines.events import Command, OperatorCommand
from league_agents.league.machines.manager.manager import Manager
from league_agents.league.machines.manager.state import Attendance, ManagerState, OrderedReplay, SeasonPhase
from league_agents.league.season.schedule import single_game
from league_agents.report.results import results_of
from league_agents.report.secret_texts import SecretTexts
from league_agents.report.status import (
    Awaited,
    OpenGame,
    Owed,
    RegistrationProgress,
    RoleStatus,
    TokenState,
    span,
    status_lines,
)
from league_agents.runner.lock import FileLock

NOON = datetime(2031, 5, 2, 12, 0, tzinfo=UTC)


def league_until(message_type: str, *, player_b: str = "scripted") -> OfflineLeague:
    """A match that stands still after the referee has sent this message."""
    house, a, b = team_of("house"), team_of("player-a"), team_of("player-b")
    league = offline_league(
        [
            OfflineTeam(team=house, player=None, referee=choose_agent("scripted", "referee", rules=PRD, seed=1)),
            OfflineTeam(team=a, player=choose_agent("scripted", "player", rules=PRD, seed=1), referee=None),
            OfflineTeam(team=b, player=choose_agent(player_b, "player", rules=PRD, seed=1), referee=None),
        ],
        single_game(a, b, house, season=1),
        seed=1,
        rules=PRD,
        journal_of=memory_journal,
    )
    journal = league.referees[0].journal
    league.simulation.start()
    league.manager.runner.command(OperatorCommand(command=Command.OPEN_SEASON, nonce="open"))
    for _ in range(1_000):
        if any(item.message_type == message_type for item in journal.outbox()):
            return league
        # One pass at a time: ``run`` would let everybody finish what they have in hand.
        assert league.simulation._pass() or league.simulation._jump()
    raise AssertionError(f"no {message_type} was sent")


def test_a_referee_waits_for_its_players_until_the_written_deadline() -> None:
    league = league_until("Q21ROUNDSTART")
    (game,) = open_games(league.referees[0].runner.state)
    assert game.game_id == "0101001"
    assert [(owed.who, owed.what) for owed in game.owed] == [
        ("player-a@league.test", "Q21QUESTIONSBATCH"),
        ("player-b@league.test", "Q21QUESTIONSBATCH"),
    ]
    assert all(owed.due_at is not None for owed in game.owed)


def test_a_player_that_has_answered_waits_for_the_next_request() -> None:
    league = league_until("Q21WARMUPCALL")
    (game,) = open_games(league.players[0].runner.state)
    assert [(owed.who, owed.what) for owed in game.owed] == [("referee.house@league.test", "Q21ROUNDSTART")]
    assert game.phase == "WARMUP_COMPLETE"


def test_a_league_manager_waits_for_reports_until_the_round_is_over() -> None:
    league = league_until("Q21WARMUPCALL")
    (game,) = open_games(league.manager.runner.state)
    (owed,) = game.owed
    assert (owed.who, owed.what) == ("referee.house@league.test", "MATCH_RESULT_REPORT")
    assert owed.due_at is not None
    league.close()


def manager_status(league: OfflineLeague, state: ManagerState, tmp_path: Path) -> RoleStatus:
    """What the league manager's journal tells in this state."""
    runner, address = league.manager.runner, "league-office@league.test"
    role = RoleSettings(
        role="manager",
        address=address,
        journal=tmp_path / "manager.db",
        token=tmp_path / "token.json",
        participant_id="LM",
    )
    return _status_in(league.manager.journal, role, runner._machine, state, TokenState(), SecretTexts())


def test_a_league_manager_names_who_is_missing_at_registration(tmp_path: Path) -> None:
    league = league_until("SEASON_REGISTRATION_REQUEST")
    machine, state = league.manager.runner._machine, league.manager.runner.state
    assert isinstance(machine, Manager)
    everybody = [member.email for member in machine.roster.members]
    here, absent = Attendance(registered_at=NOON), Attendance(is_heard=True)
    heard = evolve(state, attendance=(here, absent, *(here,) * (len(everybody) - 3), absent))
    season = evolve(state.season, registration_deadline=NOON)
    found = manager_status(league, evolve(heard, season=season), tmp_path).registration
    missing = (everybody[1], everybody[-1])
    assert found == RegistrationProgress(expected=len(everybody), missing=missing, closes_at=NOON)
    paused = manager_status(league, evolve(heard, season=evolve(season, paused_at=NOON)), tmp_path).registration
    assert paused == RegistrationProgress(expected=len(everybody), missing=missing, closes_at=None)
    closed = evolve(heard, season=evolve(season, phase=SeasonPhase.ASSIGNED))
    assert manager_status(league, closed, tmp_path).registration is None
    league.close()


def test_people_and_programs_read_who_is_missing() -> None:
    missing = ("a@league.test", "b\x1b@league.test")
    closes_at = NOON + timedelta(minutes=5)
    found = status(role="manager", registration=RegistrationProgress(expected=6, missing=missing, closes_at=closes_at))
    (line,) = [line for line in status_lines([found], NOON) if "registration" in line]
    assert line.startswith("  registration 4 of 6 are registered; missing: a@league.test, b")
    assert line.endswith("; 5 min left")
    assert "\x1b" not in line
    assert found.to_json(NOON)["registration"] == {
        "expected": 6,
        "missing": list(missing),
        "closes_at": closes_at.isoformat(),
    }
    assert status().to_json(NOON)["registration"] is None


def test_nothing_is_owed_before_the_season() -> None:
    assert open_games(object()) == []


def status(**changes: object) -> RoleStatus:
    values: dict[str, object] = {
        "role": "referee",
        "address": "r@league.test",
        "state": "IN_GAME",
        "is_running": True,
        "pid": 7,
        "polled_at": NOON - timedelta(seconds=2),
        "games": (
            OpenGame(
                game_id="0101001",
                phase="(…)",
                owed=(
                    Owed(who="a@league.test", what="Q21GUESSSUBMISSION", due_at=NOON + timedelta(seconds=90)),
                    Owed(who="b@league.test", what="Q21GUESSSUBMISSION", due_at=NOON - timedelta(minutes=5)),
                    Owed(who="our agent", what="get_answers", due_at=None),
                ),
            ),
        ),
        "outbox": {"sent": 4, "queued": 2},
        "token": TokenState(age=timedelta(days=6), may_end_at=NOON + timedelta(days=1), trouble=("be\x1b[31mware",)),
        **changes,
    }
    return RoleStatus(**values)  # type: ignore[arg-type]


def test_a_person_reads_who_owes_what_and_how_long_is_left() -> None:
    text = "\n".join(status_lines([status()], NOON))
    assert "referee r@league.test: running (process 7), IN_GAME" in text
    assert "a@league.test owes Q21GUESSSUBMISSION, 90 s left" in text
    assert "b@league.test owes Q21GUESSSUBMISSION, overdue for 5 min" in text
    assert "our agent owes get_answers" in text
    assert "last poll 2 s ago, last mail never" in text
    assert "2 queued (4 sent)" in text
    assert "6 days old, ends 2031-05-03 12:00 UTC if the Google Cloud app is in status Testing" in text
    assert "\x1b" not in text


def test_the_last_match_and_the_standings_are_told_to_people_and_programs() -> None:
    ended = {"status": "COMPLETED", "winner_id": "a", "players": [{"id": "a", "league_points": 3}]}
    table = {"standings": [{"rank": 1, "participant_id": "a", "display_name": "Ants", "total_points": 3}]}
    results = results_of(
        Note(at=NOON - timedelta(minutes=5), kind=kind, key=key, facts=facts)
        for kind, key, facts in [("match", "0101001", ended), ("season", "SPRING", table)]
    )
    found = status(results=results)
    lines = list(status_lines([found], NOON))
    assert "  last match   0101001 COMPLETED, points a 3; winner a (5 min ago)" in lines
    assert "  standings    after season SPRING: 1. Ants 3" in lines
    document = found.to_json(NOON)
    assert document["standings"] == [{"rank": 1, "name": "Ants", "points": 3}]
    assert document["standings_after"] == "season SPRING"
    assert isinstance(document["last_match"], dict)
    assert document["last_match"]["winner"] == "a"
    assert status().to_json(NOON)["last_match"] is None


def test_a_program_reads_the_same() -> None:
    document = status(stuck="run auth login").to_json(NOON)
    assert document["needs"] == "run auth login"
    games = document["open_games"]
    assert isinstance(games, list)
    assert [owed["seconds_left"] for owed in games[0]["owed"]] == [90.0, -300.0, None]
    assert (document["last_poll_s_ago"], document["token_age_s"]) == (2.0, 518_400.0)


def test_spans_are_told_in_their_largest_sensible_unit() -> None:
    spans = [span(timedelta(seconds=seconds)) for seconds in (-5, 119, 120, 7_199, 7_200, 172_799, 172_800)]
    assert spans == ["0 s", "119 s", "2 min", "119 min", "2 h", "47 h", "2 days"]


REFEREE = "referee@league.test"


def a_role(folder: Path) -> tuple[LeagueSettings, RoleSettings]:
    """A referee's league file."""
    role = {"address": REFEREE, "journal": "referee.db", "token": "token.json", "id": "REF", "group_id": "g"}
    path = folder / "league.yaml"
    path.write_text(yaml.safe_dump({"league": {"manager_email": "m@league.test"}, "roles": {"referee": role}}))
    settings = read_league_file(path, {})
    return settings, settings.role("referee")


def test_a_message_in_doubt_is_told(tmp_path: Path) -> None:
    settings, role = a_role(tmp_path)
    journal = SqliteJournal(role.journal, role="referee", address=REFEREE, dump=lambda _name, _part: "{}")
    letters = [
        OutboxItem(
            transaction_id=key,
            message_type="Q21ROUNDSTART",
            to=(f"{key}@league.test",),
            subject="s",
            document={},
            file_name="payload.json",
            game_id="0101001",
            created_at=NOON,
        )
        for key in ("a", "b", "c")
    ]
    journal.commit(StepCommit(cause=StepCause.COMMAND, key="1", at=NOON, sends=letters))
    for seconds, item in enumerate(journal.due_sends(NOON, 2)):
        journal.begin_send(item, at=NOON + timedelta(seconds=seconds), monotonic_s=0.0)
    journal.doubt_send("a", error="broken off")
    journal.close()
    now = NOON + timedelta(seconds=31)
    found = role_status(settings, role, now=now, secrets=SecretTexts())
    assert [(each.to, each.tried_at) for each in found.in_doubt] == [
        (("a@league.test",), NOON),
        (("b@league.test",), NOON + timedelta(seconds=1)),
    ]
    lines = list(status_lines([found], now))
    assert (
        "  in doubt     Q21ROUNDSTART to b@league.test may have been sent 30 s ago; it is looked for in Sent" in lines
    )
    document: Any = found.to_json(now)
    assert [(each["message_type"], each["to"], each["tried_s_ago"]) for each in document["in_doubt"]] == [
        ("Q21ROUNDSTART", ["a@league.test"], 31.0),
        ("Q21ROUNDSTART", ["b@league.test"], 30.0),
    ]
    lock = FileLock(role.journal)
    try:
        running = role_status(settings, role, now=now, secrets=SecretTexts())
    finally:
        lock.release()
    assert [each.to for each in running.in_doubt] == [("a@league.test",)], "the other one is being sent"


WAITS: list[tuple[dict[str, Any], str, str]] = [
    ({"phase": SeasonPhase.SETUP}, "the order to invite everybody", "manage open-season"),
    ({"phase": SeasonPhase.REGISTRATION}, "3 of 6 to register", "manage close-registration"),
    ({"phase": SeasonPhase.ROUND, "round_number": 1}, "1 of 1 reports of round 1", "manage end-round"),
    (
        {"phase": SeasonPhase.CLOSING, "round_number": 1},
        "1 late reports of round 1",
        "manage end-round",
    ),
    ({"phase": SeasonPhase.BETWEEN, "round_number": 0}, "round 1 of 1 to begin", "manage start-round"),
    ({"phase": SeasonPhase.BETWEEN, "round_number": 1}, "the order to end the season", "manage finish-season"),
    ({"phase": SeasonPhase.FINISHED}, "nothing: the season is over", ""),
    ({"phase": SeasonPhase.ROUND, "paused_at": NOON}, "the order to go on after the pause", "manage continue"),
    ({"phase": SeasonPhase.FINISHED, "season_id": "WINTER"}, "WINTER is over", "manage new-season"),
]


def test_a_league_manager_says_what_it_waits_for_and_what_goes_on_without_it() -> None:
    league = league_until("Q21WARMUPCALL")
    machine, state = league.manager.runner._machine, league.manager.runner.state
    somebody = (Attendance(registered_at=NOON), Attendance())
    for changes, what, command in WAITS:
        season = evolve(state.season, timers=(), **changes)
        found = awaited(machine, evolve(state, season=season, attendance=somebody * 3))
        assert found is not None
        assert what in found.what
        assert found.command == command
    everybody = (Attendance(registered_at=NOON, has_acknowledged=True),) * 6
    for phase, what, command in (
        (SeasonPhase.REGISTRATION, "everybody has registered", "manage close-registration"),
        (SeasonPhase.ASSIGNED, "everybody has acknowledged the assignment table", "manage start-round"),
        (SeasonPhase.ROUND, "every report of round 1 is in", "manage end-round"),
    ):
        season = evolve(state.season, timers=(), phase=phase, round_number=1)
        found = awaited(machine, evolve(state, season=season, attendance=everybody, awaited=0))
        assert found is not None
        assert (found.what, found.command) == (f"your order: {what}", command)
    assert awaited(league.referees[0].runner._machine, league.referees[0].runner.state) is None
    replays = (OrderedReplay(match="0101001", referee="owls", why="x"),)
    season = evolve(state.season, phase=SeasonPhase.BETWEEN, round_number=1, replays=replays)
    extra = awaited(machine, evolve(state, season=season))
    assert extra is not None
    assert (extra.what, extra.also) == ("round 2 of 2 to begin", "in an extra round 0101001 is played again")
    league.close()


def test_people_read_what_a_league_waits_for_and_for_how_long() -> None:
    due_at = NOON + timedelta(minutes=5)
    waiting = Awaited(what="3 of 6 to register", command="manage start-round", due_at=due_at)
    (line,) = [line for line in status_lines([status(role="manager", awaited=waiting)], NOON) if "waits for" in line]
    assert line == "  waits for    3 of 6 to register, 5 min left; to go on now: league-agents manage start-round"
    told = status(role="manager", awaited=waiting).to_json(NOON)["waits_for"]
    assert isinstance(told, dict)
    assert told["command"] == "league-agents manage start-round"
