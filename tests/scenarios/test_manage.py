"""Orders to the league manager: before its daemon runs, while it runs, after it ended; each is carried out once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from league_agents.app.live import Live, live_roles
from league_agents.app.orders import is_table_out
from league_agents.cli import command_line
from league_agents.config.league_file import read_league_file
from league_agents.league.machines.manager.state import ManagerState
from league_agents.local_league.league import LeagueProcess, LocalLeague, four_seats
from league_agents.local_league.patience import LIMIT_S
from league_agents.mail.mime import read

DAY = timedelta(days=1)


@pytest.fixture
def league(tmp_path: Path) -> Iterator[LocalLeague]:
    seats = four_seats()[:1]
    teams = [*seats, *(LeagueProcess(role="player", group=group) for group in ("house", "falcons", "otters"))]
    with LocalLeague(folder=tmp_path / "league", seats=teams, registration=timedelta(days=1)) as made:
        yield made


@pytest.fixture
def office(league: LocalLeague) -> Path:
    return league.config_of(league.seats[0])


def manage(office: Path, *arguments: str) -> Result:
    return CliRunner().invoke(command_line, ["manage", *arguments, "--config", str(office), "--wait", "0"])


def sent(league: LocalLeague) -> Counter[str]:
    """What the office has written, by type."""
    mails = league.sandbox.mail(league.seats[0].address, "SENT")
    return Counter(str(read(mail.raw).subject).rpartition("::")[2] for mail in mails)


def work(live: Live, league: LocalLeague) -> ManagerState:
    """Turns until there is nothing left to do."""
    while not live.role.turn():
        pass
    state = live.role.state
    assert isinstance(state, ManagerState)
    return state


def test_orders_reach_a_manager_that_runs_and_one_that_is_started_later(league: LocalLeague, office: Path) -> None:
    before = manage(office, "pause", "--text", "The hall is flooded")
    assert (before.exit_code, before.stdout) == (0, "")
    assert "no manager is running" in before.stderr
    with live_roles(read_league_file(office, {})) as (live,):
        state = work(live, league)
        assert state.season.paused_at is not None
        during = manage(office, "continue")
        assert "has not come to it yet" in during.stderr
        assert work(live, league).season.paused_at is None
        assert manage(office, "keep-alive").exit_code == 0
        assert manage(office, "free-text", "--text", "Good luck!").exit_code == 0
        work(live, league)
    kinds = sent(league)
    types = ("CRITICAL_PAUSE", "CRITICAL_CONTINUE", "KEEP_ALIVE", "FREE_TEXT", "START_SEASON")
    assert {kind: kinds[f"BROADCAST_{kind}"] > 0 for kind in types} == dict.fromkeys(types, True)
    with live_roles(read_league_file(office, {})) as (live,):
        work(live, league)
    assert sent(league) == kinds, "an order is carried out once, whatever is started again"


def test_an_order_that_does_not_fit_is_refused_with_its_reason(league: LocalLeague, office: Path) -> None:
    manage(office, "end-round")
    with live_roles(read_league_file(office, {})) as (live,):
        work(live, league)
        refused = [note for note in live.role.wired.journal.notes() if note.key == "command_refused"]
    assert [note.facts["text"] for note in refused] == [
        "end-round: the season is in REGISTRATION; 'close-registration', 'start-round' first"
    ]


def test_a_whole_season_can_be_walked_through_by_hand(league: LocalLeague, office: Path) -> None:
    with live_roles(read_league_file(office, {})) as (live,):
        phases = [work(live, league).season.phase.value]
        settings, out = read_league_file(office, {}), []
        for order in ("close-registration", "start-round", "end-round", "finish-season"):
            manage(office, order)
            phases.append(work(live, league).season.phase.value)
            out.append(is_table_out(settings, settings.roles[0]))
    assert phases == ["registration", "assigned", "round", "closing", "finished"]
    assert out == [True, False, False, False]
    assert sent(league)["LEAGUE_COMPLETED"] > 0


def test_a_reset_of_a_season_that_has_begun_says_why_and_one_that_is_over_stays(
    league: LocalLeague, office: Path
) -> None:
    with live_roles(read_league_file(office, {})) as (live,):
        work(live, league)
    refused = manage(office, "reset")
    assert (refused.exit_code, "it needs a reason: --why" in refused.stderr) == (1, True)
    assert manage(office, "reset", "--text", "a mistake").exit_code == 2
    assert manage(office, "reset", "--why", "the wrong roster").exit_code == 0
    with live_roles(read_league_file(office, {})) as (live,):
        assert work(live, league).season.resets == 1
        manage(office, "open-season")
        manage(office, "finish-season")
        assert work(live, league).season.phase.value == "finished"
    over = manage(office, "reset", "--why", "tidying up")
    assert (over.exit_code, "'next-season'" in over.stderr) == (1, True)


def test_what_the_organiser_settles_is_told_listed_and_survives_a_restart(league: LocalLeague, office: Path) -> None:
    with live_roles(read_league_file(office, {})) as (live,):
        for order in ("close-registration", "start-round"):
            manage(office, order)
            state = work(live, league)
    assert state.schedule is not None
    game = state.schedule.round(1)[0]
    told = sent(league)["BROADCAST_FREE_TEXT"]
    assert manage(office, "correct", game.game_id, "--points", "3", "0", "--why", "agreed by both").exit_code == 0
    assert manage(office, "withdraw", game.player1.group_id, "--why", "they left").exit_code == 0
    with live_roles(read_league_file(office, {})) as (live,):
        work(live, league)
    with live_roles(read_league_file(office, {})) as (live,):
        state = work(live, league)
    assert state.games[0].settled is not None or state.closed[0].games[0].settled is not None
    assert state.season.withdrawn == (game.player1.group_id,)
    assert sent(league)["BROADCAST_FREE_TEXT"] == told + 2
    log = CliRunner().invoke(command_line, ["show", "log", "--config", str(office)])
    assert log.exit_code == 0, log.stderr
    shown = " ".join(log.stdout.split())
    assert f"correct: {game.game_id}: agreed by both" in shown
    assert f"withdraw: {game.player1.group_id}: they left" in shown
    assert shown.count(f"withdraw team {game.player1.group_id}: they left") == 1


def shown_log(office: Path) -> list[tuple[str, str]]:
    """Kinds and texts of the audit trail's orders."""
    listed = CliRunner().invoke(command_line, ["show", "log", "--config", str(office), "--json"])
    assert listed.exit_code == 0, listed.stderr
    entries = json.loads(listed.stdout)
    return [(each["kind"], each["text"]) for each in entries if each["kind"] in ("order", "waiting", "refusal")]


def test_an_impossible_settlement_is_refused_at_once_and_a_possible_one_waits(
    league: LocalLeague, office: Path
) -> None:
    fresh = manage(office, "annul", "0101001", "--why", "x")
    assert (fresh.exit_code, fresh.stderr) == (
        1, "annul: there is no match '0101001' in the rounds that have begun; it is not taken down\n"
    )  # fmt: skip
    with live_roles(read_league_file(office, {})) as (live,):
        for order in ("close-registration", "start-round"):
            manage(office, order)
            state = work(live, league)
    assert state.schedule is not None
    team = state.schedule.round(1)[0].player1.group_id
    unknown = manage(office, "annul", "9999999", "--why", "x")
    assert (unknown.exit_code, unknown.stderr.count("annul")) == (1, 1)
    before = manage(office, "readmit", team, "--why", "x")
    assert f"readmit: '{team}' is not withdrawn" in before.stderr
    assert manage(office, "withdraw", team, "--why", "they left").exit_code == 0
    assert manage(office, "readmit", team, "--why", "they are back").exit_code == 0  # after the order that waits
    assert manage(office, "close-registration").exit_code == 0
    waiting = [("waiting", f"withdraw: {team}: they left"), ("waiting", f"readmit: {team}: they are back")]
    assert shown_log(office)[-3:] == [*waiting, ("waiting", "close-registration")]
    status = CliRunner().invoke(command_line, ["status", "--config", str(office)])
    assert f"order        withdraw: {team}: they left (waits until the role is started)" in status.stdout
    with live_roles(read_league_file(office, {})) as (live,):
        work(live, league)
    *_, gone, back, refused = shown_log(office)
    assert [gone, back] == [("order", text) for _, text in waiting]
    assert refused[0] == "refusal"
    assert refused[1].startswith("close-registration: the season is in ")
    assert refused[1].endswith(" (close-registration)")
    status = CliRunner().invoke(command_line, ["status", "--config", str(office)])
    assert "  order " not in status.stdout


def test_a_running_daemon_is_waited_for(tmp_path: Path) -> None:
    with LocalLeague(folder=tmp_path / "league", seats=four_seats(), registration=DAY) as league:
        office = league.seats[0]
        league.start(office)
        league.wait_for_log(office, "watching")
        command = ["manage", "--config", str(league.config_of(office)), "--wait", str(LIMIT_S)]
        done = CliRunner().invoke(command_line, [*command, "close-registration"])
        assert (done.exit_code, done.stderr) == (0, "close-registration: done\n")
        refused = CliRunner().invoke(command_line, [*command, "close-registration"])
        assert refused.exit_code == 1
        assert refused.stderr.startswith("close-registration: the season is in")
        assert league.stop() == {"manager": 0}


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["dance"], 2, "dance"),
        (["continue", "--text", "x"], 2, "says nothing"),
        (["free-text"], 2, "--text"),
        (["pause", "--text", "x" * 3_000], 2, "3000 characters"),
        (["pause", "--config", "none.yaml"], 3, "none.yaml"),
        (["annul", "0101001"], 2, "--why"),
        (["annul", "--why", "x"], 2, "needs the match"),
        (["withdraw", "--why", "x"], 2, "needs the team"),
        (["correct", "0101001", "--why", "x"], 2, "--points"),
        (["annul", "0101001", "--points", "1", "2", "--why", "x"], 2, "--points"),
        (["substitute-referee", "0101001", "--why", "x"], 2, "needs the team whose referee steps in"),
        (["replay", "0101001", "otters", "--why", "x"], 2, "takes no further TEAM: replay 0101001 --why '…'"),
        (["withdraw", "crows", "otters", "--why", "x"], 2, "takes no further TEAM: withdraw TEAM --why '…'"),
        (["correct", "--points", "1", "1", "--why", "x"], 2, "correct 0101001 --points 3 0 --why '…'"),
        (["pause", "0101001", "otters"], 2, "settles nothing"),
        (["extend-round", "--why", "x"], 2, "--minutes"),
        (["annul", "0101001", "--why", "x" * 3_000], 2, "the reason has 3000 characters"),
        (["annul", "0101001", "--why", "x" * 1_001], 2, "the reason has 1001 characters, at most 1000 are sent"),
        (["annul", "0101001", "--why", "x" * 1_000, "--config", "none.yaml"], 3, "none.yaml"),
        (["annul", "0" * 201, "--why", "x"], 2, "ABOUT has 201 characters; no match or team has more than 200"),
        (["substitute-referee", "0101001", "x" * 201, "--why", "x"], 2, "TEAM has 201 characters"),
        (["pause", "0101001"], 2, "settles nothing"),
        (["annul", "0101001", "--scores", "1", "2", "--why", "x"], 2, "--scores is for 'correct'"),
        (["extend-round", "2", "--minutes", "5", "--why", "x"], 2, "the round that is played"),
        (["pause", "--text", "\udcff"], 2, "--text cannot be written as UTF-8"),
        (["annul", "0101001", "--why", "\udcff"], 2, "--why cannot be written as UTF-8"),
        (["annul", "\udcff", "--why", "x"], 2, "ABOUT cannot be written as UTF-8"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, arguments: list[str], code: int, said: str) -> None:
    shown = CliRunner().invoke(command_line, ["manage", *arguments])
    assert shown.exit_code == code
    (line,) = shown.stderr.splitlines()
    assert said in line


def no_client(path: Path) -> None:
    read_league_file(path, {}).role("manager").token.unlink()
    (path.parent / "client_secret.json").unlink()


def no_team(path: Path) -> None:
    path.write_text(path.read_text("utf-8").replace("falcons@league.test", "falcons.player@gmail.com"), "utf-8")


def no_log_folder(path: Path) -> None:
    path.write_text(path.read_text("utf-8") + "\nlog: {file: logs/daemon.log}\n", "utf-8")


def no_journal(path: Path) -> None:
    read_league_file(path, {}).role("manager").journal.write_text("no journal at all" * 100)


@pytest.mark.parametrize("befall", [no_client, no_team, no_log_folder, no_journal])
def test_a_league_file_that_the_check_rejects_takes_no_orders(tmp_path: Path, befall: Callable[[Path], None]) -> None:
    seats = [four_seats()[0], *(LeagueProcess(role="player", group=group) for group in ("house", "falcons", "otters"))]
    with LocalLeague(folder=tmp_path / "league", seats=seats) as league:
        office = league.config_of(league.seats[0])
    assert manage(office, "pause").exit_code == 0
    befall(office)
    checked = CliRunner().invoke(command_line, ["config", "check", "--config", str(office)])
    assert checked.exit_code == 3
    refused = manage(office, "pause")
    assert (refused.exit_code, refused.stdout, refused.stderr) == (3, "", checked.stderr)


def test_a_league_file_without_a_manager_takes_no_orders(tmp_path: Path) -> None:
    with LocalLeague(folder=tmp_path / "league", seats=four_seats()) as league:
        player = league.config_of(league.seats[2])
    shown = manage(player, "pause")
    assert shown.exit_code == 3
    assert "manager" in shown.stderr


def test_a_new_season_begins_on_the_journal_of_the_last_one(league: LocalLeague, office: Path) -> None:
    with live_roles(read_league_file(office, {})) as (live,):
        work(live, league)
        for order in ("close-registration", "finish-season"):
            manage(office, order)
            work(live, league)
    document = yaml.safe_load(office.read_text("utf-8"))
    former = document["season"]["id"]
    document["season"] |= {"id": "AUTUMN", "number": document["season"].get("number", 1) + 1}
    office.write_text(yaml.safe_dump(document), "utf-8")
    with live_roles(read_league_file(office, {})) as (live,):
        assert work(live, league).season.season_id == former, "nothing begins by itself"
        told = CliRunner().invoke(command_line, ["status", "--config", str(office)]).stdout
        assert f"{former} is over; to go on now: league-agents manage new-season" in told
        assert manage(office, "new-season").exit_code == 0
        season = work(live, league).season
        assert (season.season_id, season.phase.value) == ("AUTUMN", "registration")
    assert sent(league)["BROADCAST_START_SEASON"] == 2
    with live_roles(read_league_file(office, {})) as (live,):
        assert work(live, league).season.label == "REGISTRATION"
        warned = [note.key for note in live.role.wired.journal.notes() if note.kind == "warning"]
        assert "command_refused" not in warned
    trail = json.loads(CliRunner().invoke(command_line, ["show", "log", "--config", str(office), "--json"]).stdout)
    orders = [entry["text"] for entry in trail if entry["kind"] == "order"]
    assert orders == ["close-registration", "finish-season", "new-season"]


def test_next_season_writes_the_season_that_the_manager_begins_when_it_is_started(
    league: LocalLeague, office: Path
) -> None:
    with live_roles(read_league_file(office, {})) as (live,):
        work(live, league)
        refused = manage(office, "next-season", "AUTUMN")
        assert (refused.exit_code, "is not over: manager is at REGISTRATION" in refused.stderr) == (3, True)
        for order in ("close-registration", "finish-season"):
            manage(office, order)
            work(live, league)
    before = office.read_text("utf-8")
    assert manage(office, "next-season").exit_code == 0
    assert office.read_text("utf-8") == before, "without an id it only shows"
    assert "needs another id" in manage(office, "next-season", "LOCAL-1").stderr
    made = manage(office, "next-season", "AUTUMN", "--text", "Autumn league")
    assert (made.exit_code, "begins season AUTUMN when it is started again" in made.stderr) == (0, True)
    was, document = yaml.safe_load(before), yaml.safe_load(office.read_text("utf-8"))
    was["season"] |= {"id": "AUTUMN", "number": 2, "name": "Autumn league", "follows": "LOCAL-1"}
    assert document == was
    for _ in range(2):
        with live_roles(read_league_file(office, {})) as (live,):
            season = work(live, league).season
            assert (season.season_id, season.phase.value) == ("AUTUMN", "registration")
    assert sent(league)["BROADCAST_START_SEASON"] == 2
    assert "season AUTUMN has begun" in manage(office, "next-season", "AUTUMN").stderr
