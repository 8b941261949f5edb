"""Whole matches through a league manager, a referee and two players: each ends in a named way and can be repeated."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from league_agents.app.agents import choose_agent, scripted_names
from league_agents.app.offline import (
    OfflineSeason,
    OfflineTeam,
    memory_journal,
    offline_league,
    play_single_game,
    team_of,
)
from league_agents.games.q21.rules import COURSE, PRD, RuleSet
from league_agents.games.q21.similarity import fold
from league_agents.journal.port import InboxVerdict
from league_agents.kit.errors import ConfigError
from league_agents.league.season.schedule import round_robin, single_game
from league_agents.mail.memory import Weather

COMPLETED = "completed"
CUT_OFF = "cut_off"
BEFORE_THE_SCORE = ("Q21WARMUPCALL", "Q21ROUNDSTART", "Q21ANSWERSBATCH")


def play(rules: RuleSet = PRD, seed: int = 1, **agents: str) -> dict[str, Any]:
    chosen = {"referee": "scripted", "player_a": "scripted", "player_b": "scripted", **agents}
    return play_single_game(seed=seed, rules=rules, **chosen)  # type: ignore[arg-type]


def ends(document: dict[str, Any]) -> tuple[str, str | None, list[str]]:
    match = document["match"]
    return match["status"], match["abort_reason"], [player["termination"] for player in document["players"]]


BY_PLAYER = {
    "fixed": (COMPLETED, None),
    "babbling": (COMPLETED, None),  # what is wrong is repaired before it is sent
    "raising": (COMPLETED, None),  # a fallback is sent in its place
    "hanging": (COMPLETED, None),
    "stuffing": (COMPLETED, None),
    "injecting": (COMPLETED, None),
    "repeating": (COMPLETED, None),
    "forging": (COMPLETED, None),
    "slow": (COMPLETED, None),  # within the deadlines
    "late": ("aborted", "player_timeout:player-a@league.test"),
    "silent": ("aborted", "player_timeout:player-a@league.test"),
    "silent-after-warmup": ("aborted", "player_timeout:player-a@league.test"),
    "silent-after-questions": ("aborted", "player_timeout:player-a@league.test"),
    "malformed": ("aborted", "format_violation:player-a@league.test"),
    "persistently-malformed": ("aborted", "format_violation:player-a@league.test"),
}

BY_REFEREE = {
    "fixed": (COMPLETED, None),
    "babbling": (COMPLETED, None),
    "unscoring": (COMPLETED, None),
    "hanging": (COMPLETED, None),
    "repeating": (COMPLETED, None),
    "forging": (COMPLETED, None),
    "slow": (COMPLETED, None),
    "raising": ("aborted", "referee_failure:round_start_info"),
    "silent": ("no_report", None),
    # Its report comes when the only round, and with it the season, is over: it is kept as evidence and counts for none.
    "late": ("no_report", None),
}


def test_every_scripted_participant_is_expected_to_end_somehow() -> None:
    assert sorted(BY_PLAYER) == scripted_names("player")
    assert sorted(BY_REFEREE) == scripted_names("referee")


@pytest.mark.parametrize("rules", [PRD, COURSE], ids=["prd", "course"])
@pytest.mark.parametrize("name", sorted(BY_PLAYER))
def test_a_match_with_this_player_ends_in_its_named_way(rules: RuleSet, name: str) -> None:
    document = play(rules, player_a=f"scripted:{name}")
    status, reason, terminations = ends(document)
    assert (status, reason) == BY_PLAYER[name]
    if reason is None:
        assert terminations == [COMPLETED, COMPLETED]
    else:
        # Whoever was scored before the end has played to the end; nobody else is to blame but the one who is named.
        assert terminations[0] == reason.partition(":")[0]
        assert terminations[1] == (CUT_OFF if document["players"][1]["scorecard"] is None else COMPLETED)
    assert len(document["standings"]) == 2


@pytest.mark.parametrize("rules", [PRD, COURSE], ids=["prd", "course"])
@pytest.mark.parametrize("name", sorted(BY_REFEREE))
def test_a_match_with_this_referee_ends_in_its_named_way(rules: RuleSet, name: str) -> None:
    status, reason, _ = ends(play(rules, referee=f"scripted:{name}"))
    assert (status, reason) == BY_REFEREE[name]


@pytest.mark.parametrize("name", ["stuffing", "injecting", "babbling", "raising"])
def test_a_player_that_does_not_really_guess_earns_nothing(name: str) -> None:
    player = play(player_a=f"scripted:{name}")["players"][0]
    assert player["scorecard"]["league_points"] == 0


def test_the_same_match_comes_out_whichever_seat_the_misbehaving_player_has() -> None:
    first = play(player_a="scripted:silent")["match"]["abort_reason"]
    second = play(player_b="scripted:silent")["match"]["abort_reason"]
    assert first.replace("player-a", "player-b") == second


def test_the_document_tells_the_whole_match() -> None:
    document = play(seed=21)
    assert list(document) == ["seed", "rules", "match", "target", "players", "messages", "standings"]
    assert (document["seed"], document["rules"]) == (21, "prd")
    assert document["match"]["winner_id"] == "player-a"
    assert document["target"]["opening_sentence"] == "Call me Ishmael."
    for player in document["players"]:
        assert len(player["questions"]) == len(player["answers"]) == 20
        keys = ["private_score", "league_points", "breakdown", "feedback", "is_judged"]
        assert list(player["scorecard"]) == keys
    kinds = [message["type"] for message in document["messages"]]
    game = [kind for kind in kinds if kind.startswith("Q21")]
    assert len(game) == 14
    assert kinds.index("BROADCAST_START_SEASON") == 0
    assert kinds.index("MATCH_RESULT_REPORT") > kinds.index("Q21SCOREFEEDBACK")
    assert kinds[-1] == "LEAGUE_COMPLETED"
    assert [row["rank"] for row in document["standings"]] == [1, 2]


@pytest.mark.parametrize("agents", [{}, {"referee": "offline", "player_a": "offline", "player_b": "offline"}])
def test_two_runs_with_one_seed_are_the_same_bytes_and_another_seed_is_another_match(agents: dict[str, str]) -> None:
    assert json.dumps(play(seed=5, **agents)) == json.dumps(play(seed=5, **agents))
    assert json.dumps(play(seed=5, **agents)) != json.dumps(play(seed=6, **agents))


def test_the_target_leaves_the_referee_with_no_message_before_the_score() -> None:
    teams = [team_of("house"), team_of("player-a"), team_of("player-b")]
    referee = choose_agent("offline", "referee", rules=PRD, seed=3)
    player = choose_agent("scripted", "player", rules=PRD, seed=3)
    league = offline_league(
        [
            OfflineTeam(team=teams[0], player=None, referee=referee),
            OfflineTeam(team=teams[1], player=player, referee=None),
            OfflineTeam(team=teams[2], player=player, referee=None),
        ],
        single_game(teams[1], teams[2], teams[0], season=1),
        seed=3,
        rules=PRD,
        journal_of=memory_journal,
    )
    league.play()
    journal = league.referees[0].journal
    (record,) = [note for note in journal.notes() if note.kind == "match"]
    target = record.facts["target"]
    assert isinstance(target, dict)
    before = [item for item in journal.outbox() if item.message_type in BEFORE_THE_SCORE]
    assert len(before) == 6
    for item in before:
        for secret in (target["opening_sentence"], target["associative_word"]):
            assert not says(item.document, secret), f"{item.message_type} tells {secret}"


def says(value: object, secret: str) -> bool:
    """Whether the words of ``secret`` stand in any text of ``value``, in whatever case and between whatever marks."""
    if isinstance(value, Mapping):
        return any(says(each, secret) for each in value.values())
    if isinstance(value, list | tuple):
        return any(says(each, secret) for each in value)
    return isinstance(value, str) and f" {fold(secret)} " in f" {fold(value)} "


@pytest.mark.parametrize("text", ["It was a whale.", 'the "WHALE"', "(whale)", "a\nwhale\nor not", "a whale-bone"])
def test_a_secret_word_is_found_between_marks(text: str) -> None:
    assert says({"payload": {"questions": [{"book_hint": text}]}}, "whale")
    assert not says({"payload": {"book_hint": "whales and a narwhale"}}, "whale")


def test_journals_are_kept_beside_each_other_and_never_overwritten(tmp_path: Path) -> None:
    base = tmp_path / "match.db"
    play_single_game(seed=1, rules=PRD, referee="scripted", player_a="scripted", player_b="scripted", journal=base)
    assert len(list(tmp_path.glob("match.*.db"))) == 4
    with pytest.raises(ConfigError, match="holds another match already"):
        play_single_game(seed=1, rules=PRD, referee="scripted", player_a="scripted", player_b="scripted", journal=base)


def season(weather: Weather, seed: int, names: list[str], *, through_mime: bool = False) -> Any:
    """Six teams, every pair once; team n's player and referee behave as the n-th name says."""
    teams = [team_of(f"team-{number}") for number in range(1, 7)]
    rules = replace(PRD, callback_timeouts=PRD.callback_timeouts)
    sides = []
    for number, team in enumerate(teams):
        name = names[number % len(names)]
        player = f"scripted:{name}" if name in scripted_names("player") else "scripted"
        referee = f"scripted:{name}" if name in scripted_names("referee") else "scripted"
        sides.append(
            OfflineTeam(
                team=team,
                player=choose_agent(player, "player", rules=rules, seed=seed),
                referee=choose_agent(referee, "referee", rules=rules, seed=seed),
            )
        )
    schedule = round_robin(teams, season=1)
    league = offline_league(
        sides,
        schedule,
        seed=seed,
        rules=rules,
        journal_of=memory_journal,
        weather=weather,
        through_mime=through_mime,
    )
    league.play()
    return league


def test_several_games_of_a_mailbox_are_played_in_one_round_by_mail() -> None:
    teams = [team_of(f"t{number}") for number in range(5)]
    player, referee = (choose_agent("scripted", role, rules=PRD, seed=1) for role in ("player", "referee"))
    league = offline_league(
        [OfflineTeam(team=team, player=player, referee=referee) for team in teams],
        round_robin(teams, season=1, games_at_once=4),
        seed=3,
        rules=PRD,
        journal_of=memory_journal,
        through_mime=True,
        season=OfflineSeason(games_at_once=4),
    )
    league.play()
    matches = {note.key: note.facts["status"] for note in league.manager.journal.notes() if note.kind == "match"}
    assert list(matches.values()) == [COMPLETED] * 10
    assert {game_id[:4] for game_id in matches} == {"0101", "0102"}


STORM = Weather(delay=timedelta(seconds=20), reordering=0.05, loss=0.01, duplication=0.1, refusal=0.05, ambiguity=0.05)


@pytest.mark.parametrize("seed", range(4))
def test_a_season_in_bad_weather_among_bad_players_gives_every_match_a_named_end(seed: int) -> None:
    league = season(STORM, seed, ["fixed", "raising", "late", "fixed", "repeating", "silent"])
    records = [note for note in league.manager.journal.notes() if note.kind == "match"]
    assert len({note.key for note in records}) == 15
    known = {"completed", "aborted", "no_report", "CANCELLED_ALL_PLAYERS_MALFUNCTION", "COMPLETED_SINGLE_PLAYER"}
    assert {note.facts["status"] for note in records} <= known
    for member in (league.manager, *league.referees, *league.players):
        parked = [row.reason for row in member.journal.inbox() if row.verdict is InboxVerdict.PARKED]
        assert parked == []
        failed = [note.facts for note in member.journal.notes() if note.key == "step_failed"]
        assert failed == []


def test_in_fine_weather_every_match_of_a_season_is_completed() -> None:
    league = season(Weather(), 1, ["fixed"], through_mime=True)
    records = [note for note in league.manager.journal.notes() if note.kind == "match"]
    assert [note.facts["status"] for note in records] == [COMPLETED] * 15
    assert not any(note.kind == "warning" for note in league.manager.journal.notes())


@pytest.mark.parametrize("spec", ["ofline", "scripted:lat", "nobody:Nothing", "", "scripted:"])
def test_an_agent_that_is_none_is_answered_with_what_may_be_written(spec: str) -> None:
    if spec == "scripted:":
        assert ends(play(player_a=spec))[0] == COMPLETED
        return
    with pytest.raises(ConfigError):
        play(player_a=spec)
