"""Seasons and matches as journals tell them: whole to those who took part, and nothing secret before it is scored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

import msgspec
import pytest

from league_agents.agents.scripted import ScriptedPlayer
from league_agents.app.offline import OfflineLeague
from league_agents.journal.memory import MemoryJournal
from league_agents.journal.port import BELIEF, Note, Order, StepCause, StepCommit
from league_agents.kit.errors import ConfigError
from league_agents.kit.values import evolve
from league_agents.league.machines.events import Command, OperatorCommand
from league_agents.league.machines.manager.manager import Manager
from league_agents.league.season.orders import SettlementOrder
from league_agents.report import journal_source
from league_agents.report.journal_source import JournalSource
from league_agents.report.records import (
    ANNULLED,
    OPEN,
    OVER,
    PLANNED,
    REPLAYED,
    AuditEntry,
    MatchRecord,
    Viewer,
    visible,
)
from tests.support.small_league import GROUPS, TARGET, journals, league, play_until, was_sent


@pytest.fixture(scope="module")
def played() -> Iterator[OfflineLeague]:
    made = league(wrens="scripted:silent-after-questions")
    made.play()
    yield made
    made.close()


def text(value: object) -> str:
    return msgspec.json.encode(value).decode()


def test_the_manager_s_journal_holds_every_match_with_what_counts(played: OfflineLeague) -> None:
    source = JournalSource(journals(played, "manager"))
    matches = list(source.matches())
    assert [(match.game_id, match.round_number) for match in matches] == [
        ("0101001", 1), ("0102001", 2), ("0103001", 3),
    ]  # fmt: skip
    silent = [match for match in matches if match.player("wrens")]
    assert {match.status for match in silent} == {"aborted"}
    assert {match.abort_reason for match in silent} == {"player_timeout:wrens@league.test"}
    assert all(player.counted_points is not None for match in matches for player in match.players)
    assert {match.absence() for match in silent} == {
        "wrens; by walkover: owls 3, wrens 0",
        "wrens; by walkover: wrens 0, crows 3",
    }
    assert not any(match.is_walkover or match.absence() for match in matches if match not in silent)


def test_standings_after_each_round_are_those_of_the_manager(played: OfflineLeague) -> None:
    season = JournalSource(journals(played, "manager")).season()
    assert sorted(season.standings_after) == [1, 2, 3]
    assert season.is_over
    for row in season.standings():
        assert (row.draws, row.losses) != (None, None)
        assert row.played == row.wins + (row.draws or 0) + (row.losses or 0) == 2
    assert [row.participant_id for row in season.standings()][-1] == "wrens"
    told = JournalSource(journals(played, "owls")).season()
    assert [(row.rank, row.participant_id, row.points) for row in told.standings()] == [
        (row.rank, row.participant_id, row.points) for row in season.standings()
    ]


def test_every_journal_tells_the_same_schedule(played: OfflineLeague) -> None:
    schedules = [
        JournalSource(journals(played, role)).season().schedule for role in ("manager", "owls", "crows", "wrens")
    ]
    # Round results do not say which of the wins were walkovers.
    told = [[evolve(match, is_walkover=False) for match in schedule] for schedule in schedules]
    assert told[0] == told[1] == told[2] == told[3]
    assert {match.status for match in schedules[0]} == {OVER}


def test_a_player_s_own_journal_shows_its_match_whole_and_nothing_of_its_opponent(played: OfflineLeague) -> None:
    whole = {
        match.game_id: match for match in JournalSource(journals(played, "manager", "referees", *GROUPS)).matches()
    }
    source = JournalSource(journals(played, "crows"))
    assert (source.viewer, source.team) == ("player", "crows")
    for match in source.matches(team="crows"):
        if match.referee_id == "crows":
            continue
        own, judged = match.player("crows"), whole[match.game_id].player("crows")
        assert own is not None
        assert judged is not None
        assert (own.questions, own.answers, own.guess) == (judged.questions, judged.answers, judged.guess)
        assert len(own.questions) == len(own.answers) == 20
        assert own.scorecard is not None
        assert judged.scorecard is not None
        assert own.scorecard["feedback"] == judged.scorecard["feedback"]
        assert (match.brief, match.warmup_question) == (
            whole[match.game_id].brief,
            whole[match.game_id].warmup_question,
        )
        assert match.target is None
        assert all(not player.questions for player in match.players if player.participant_id != "crows")


def test_all_journals_together_tell_the_whole_match(played: OfflineLeague) -> None:
    match = JournalSource(journals(played, "manager", "referees", *GROUPS)).match("0101001")
    assert match.target is not None
    assert match.target["opening_sentence"] == TARGET[0]
    assert [len(player.questions) for player in match.players] == [20, 20]
    assert [message.message_type for message in match.messages].count("Q21WARMUPCALL") == 2
    # A player that hears nothing sends its guess again: one message, several mails.
    assert len({(each.sender, each.message_id, each.at) for each in match.messages}) == len(match.messages)
    assert match.started_at is not None
    assert match.ended_at is not None
    assert match.started_at < match.ended_at


def test_the_candidates_that_answers_left_are_shown_after_the_score_to_those_who_know_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left = [float(number) for number in range(20, 0, -1)]
    guess = ScriptedPlayer.get_guess
    monkeypatch.setattr(ScriptedPlayer, "get_guess", lambda self, ctx: {**guess(self, ctx), "candidates_left": left})
    made = league()
    everybody = ("manager", "referees", *GROUPS)
    try:
        players = [each.journal for each in made.players]
        in_play = play_until(made, lambda: any(note.kind == BELIEF for each in players for note in each.notes()))
        for roles in (everybody, *((group,) for group in GROUPS)):
            match = JournalSource(journals(made, *roles)).match(in_play)
            assert match.status == OPEN
            assert not any(player.candidates_left for player in match.players)
        made.simulation.run(lambda: False)
        source = JournalSource(journals(made, *everybody))
        match = source.match(in_play)
        assert [player.candidates_left for player in match.players] == [tuple(left)] * 2
        assert [player.candidates_left for player in visible(match, "public").players] == [tuple(left)] * 2
        one, other = match.players
        known = {each.participant_id: each for each in visible(match, "player", one.participant_id).players}
        assert known[one.participant_id].candidates_left == tuple(left)
        assert known[other.participant_id].candidates_left == ()
        for roles in (("manager",), ("referees",), (other.participant_id,)):
            found = JournalSource(journals(made, *roles)).match(in_play).player(one.participant_id)
            assert found is not None
            assert found.candidates_left == ()
    finally:
        made.close()


def test_a_match_can_be_asked_for_by_round_and_by_team(played: OfflineLeague) -> None:
    source = JournalSource(journals(played, "manager"))
    assert [match.game_id for match in source.matches(round_number=2)] == ["0102001"]
    assert len(list(source.matches(team="owls"))) == 3  # two as a player, one as the referee
    with pytest.raises(ConfigError, match="9999999"):
        source.match("9999999")


READERS: list[tuple[tuple[str, ...], Viewer | None]] = [
    (("manager",), None),
    (("referees",), None),
    (("referees",), "referee"),
    (("manager", "referees", *GROUPS), None),
    *((GROUPS, viewer) for viewer in get_args(Viewer)),
    (("crows",), None),
    (("owls",), None),
]


@pytest.mark.parametrize("until", ["Q21WARMUPCALL", "Q21ROUNDSTART", "Q21ANSWERSBATCH", "Q21SCOREFEEDBACK"])
def test_the_target_of_an_open_match_is_nowhere_to_be_seen(until: str) -> None:
    made = league(wrens="scripted:silent-after-questions")
    in_play = play_until(made, lambda: was_sent(made, until))
    try:
        for roles, viewer in READERS:
            source = JournalSource(journals(made, *roles))
            shown = source.match(in_play)
            shown = shown if viewer is None else visible(shown, viewer, source.team)
            assert shown.status == OPEN
            assert shown.target is None
            # Whoever wrote the guess may read it; it is the feedback to another that could give the target away.
            for player in shown.players:
                if player.participant_id != source.team and player.scorecard is not None:
                    assert "feedback" not in player.scorecard
            if viewer == "public":
                assert not any(secret in text(shown) for secret in (*TARGET, "Moby"))
    finally:
        made.close()


def test_long_seasons_are_read_round_by_round_and_short_ones_at_once(
    played: OfflineLeague, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = list(JournalSource(journals(played, "manager", "referees", *GROUPS)).matches())
    monkeypatch.setattr(journal_source, "MOST_AT_ONCE", 1)
    assert list(JournalSource(journals(played, "manager", "referees", *GROUPS)).matches()) == at_once


def test_a_late_answer_is_told_with_its_lateness() -> None:
    made = league(wrens="scripted:late")
    made.play()
    found = [
        message
        for match in JournalSource(journals(made, "referees")).matches()
        for message in match.messages
        if message.late_by_s is not None
    ]
    made.close()
    assert {message.sender for message in found} == {"wrens@league.test"}
    assert all(message.late_by_s > 0 for message in found if message.late_by_s is not None)


def _with_note(made: OfflineLeague, notes: Sequence[Note]) -> None:
    journal = made.manager.journal
    assert isinstance(journal, MemoryJournal)
    journal.commit(StepCommit(cause=StepCause.COMMAND, key=f"n{len(notes)}", at=notes[0].at, notes=notes))


def test_a_settlement_is_shown_with_its_match_and_in_the_log() -> None:
    made = league()
    made.play()
    journal = made.manager.journal
    at = next(reversed(list(journal.notes()))).at
    journal.order(Order(nonce="x", command="annul", text="the referee slept", at=at))
    facts = {"order": "annul", "why": "the referee slept", "by": "office"}
    facts |= {"before": {"status": "completed"}, "after": {"status": "annulled"}}
    _with_note(made, [Note(at=at, kind="settlement", key="0102001", facts=facts)])
    source = JournalSource(journals(made, "manager"))
    match, season = source.match("0102001"), source.season()
    made.close()
    assert match.status == ANNULLED
    assert [(each.order, each.why) for each in match.settlements] == [("annul", "the referee slept")]
    assert [each.status for each in season.schedule] == [OVER, ANNULLED, OVER]
    kinds = [(entry.kind, entry.text) for entry in season.log if entry.kind in ("waiting", "settlement")]
    assert kinds == [("waiting", "annul: the referee slept"), ("settlement", "annul 0102001: the referee slept")]
    assert isinstance(season.log[0], AuditEntry)


def test_a_team_that_is_withdrawn_is_listed_once_and_other_texts_are_as_they_were_written() -> None:
    made = league()
    in_play = play_until(made, lambda: was_sent(made, "Q21ANSWERSBATCH"))
    group = JournalSource(journals(made, "manager")).match(in_play).players[0].participant_id
    gone = SettlementOrder(about=group, why="no answer").to_text()
    text_of_settlement = SettlementOrder(about="tomorrow", why="at noon").to_text()
    journal = made.manager.journal
    at = made.manager.runner._clock.now()
    journal.order(Order(nonce="x", command="free_text", text=text_of_settlement, at=at))
    made.manager.runner.command(OperatorCommand(command=Command.WITHDRAW, nonce="gone", text=gone))
    source = JournalSource(journals(made, "manager"))
    log, matches = source.season().log, list(source.matches())
    made.close()
    settled = [entry.text for entry in log if entry.kind == "settlement"]
    assert settled == [f"withdraw team {group}: no answer"]
    assert text_of_settlement in [entry.text.removeprefix("free-text: ") for entry in log if entry.kind == "waiting"]
    orders = {each.order for match in matches for each in match.settlements}
    assert orders == {"withdraw"}
    assert all(match.game_id.isdigit() for match in matches)


def test_what_is_said_in_a_match_that_was_annulled_while_it_is_played_stays_secret() -> None:
    made = league(wrens="scripted:silent-after-questions")
    in_play = play_until(made, lambda: was_sent(made, "Q21SCOREFEEDBACK"))
    order = SettlementOrder(about=in_play, why="the referee's room is on fire").to_text()
    made.manager.runner.command(OperatorCommand(command=Command.ANNUL, nonce="annul", text=order))
    everybody = JournalSource(journals(made, "manager", "referees", *GROUPS))
    annulled = everybody.match(in_play)
    assert annulled.status == ANNULLED
    assert [settled.why for settled in annulled.settlements] == ["the referee's room is on fire"]
    assert not any(secret in text(annulled) for secret in (*TARGET, "question_text"))
    made.manager.runner.command(OperatorCommand(command=Command.REINSTATE, nonce="back", text=order))
    # The round was over with its only match.
    back = JournalSource(journals(made, "manager", "referees", *GROUPS)).match(in_play)
    assert back.status == "no_report"
    assert [settled.withdrawn for settled in back.settlements] == [True, False]
    assert "question_text" not in text(back)
    made.simulation.run(lambda: False)
    ended = JournalSource(journals(made, "manager", "referees", *GROUPS)).match(in_play)
    made.close()
    assert ended.status == "aborted"
    assert ended.target is not None
    assert len(ended.players[0].questions) == 20


@pytest.mark.parametrize(("settled", "taken_back"), [("annul", "reinstate"), ("withdraw", "readmit")])
def test_a_match_that_is_reinstated_before_anybody_reported_is_open_again(settled: str, taken_back: str) -> None:
    made = league()
    in_play = play_until(made, lambda: was_sent(made, "Q21ANSWERSBATCH"))
    at = made.manager.runner._clock.now()
    status = "annulled" if settled == "annul" else "walkover"
    annul = {"order": settled, "why": "a mistake", "after": {"status": status}}
    reinstate = {"order": taken_back, "why": "it was none", "after": {}}
    notes = [
        Note(at=at, kind="match", key=in_play, facts={"status": status}),
        Note(at=at, kind="settlement", key=in_play, facts=annul),
        Note(at=at, kind="settlement", key=in_play, facts=reinstate),
    ]
    _with_note(made, notes)
    source = JournalSource(journals(made, "manager", "referees"))
    match, planned = source.match(in_play), source.season().schedule[0]
    assert (match.status, planned.status) == (OPEN, OPEN)
    assert match.target is None
    _with_note(made, [Note(at=at, kind="match", key=in_play, facts={"status": "completed"})])
    reported = JournalSource(journals(made, "manager")).match(in_play)
    made.close()
    assert reported.status == "completed"


def test_what_was_before_a_reset_is_not_shown_as_the_season_s() -> None:
    made = _reset_in_round_two()
    made.manager.runner.command(OperatorCommand(command=Command.OPEN_SEASON, nonce="open2"))
    made.manager.runner.command(OperatorCommand(command=Command.CLOSE_REGISTRATION, nonce="close2"))
    season = JournalSource(journals(made, "manager")).season()
    found: list[MatchRecord] = list(JournalSource(journals(made, "manager")).matches())
    made.close()
    assert season.standings_after == {}
    assert {match.status for match in season.schedule} == {PLANNED}
    assert {match.status for match in found} == {PLANNED}


def test_what_was_played_before_a_reset_stays_readable() -> None:
    made = _reset_in_round_two()
    held = journals(made, "manager", "referees")
    dropped = JournalSource(held, season_id="SEASON_2031-05-02@reset-1")
    season, matches = dropped.season(), list(dropped.matches())
    assert season.season_id == "SEASON_2031-05-02@reset-1"
    assert sum(row.points for row in season.standings()) > 0
    assert [(match.game_id, match.status) for match in matches] == [
        ("0101001", "completed"), ("0102001", "reset"), ("0103001", PLANNED),
    ]  # fmt: skip
    assert matches[0].target is not None
    assert any(f"'show --season {season.season_id}' shows what was played" in entry.text for entry in season.log)
    made.manager.runner.command(OperatorCommand(command=Command.OPEN_SEASON, nonce="open2"))
    made.simulation.run(lambda: False)
    again = JournalSource(held, season_id="SEASON_2031-05-02@reset-1")
    assert next(again.matches()) == matches[0], "the same ids were played again"
    latest = JournalSource(held)
    assert {match.status for match in latest.matches()} == {"completed"}
    with pytest.raises(ConfigError, match="it holds SEASON_2031-05-02@reset-1, SEASON_2031-05-02"):
        JournalSource(held, season_id="spring")
    made.close()


def _reset_in_round_two() -> OfflineLeague:
    made = league()
    play_until(made, lambda: len(made.manager.runner.state.closed) == 1)
    made.manager.runner.command(OperatorCommand(command=Command.RESET, nonce="again", text="a mistake"))
    return made


def test_two_seasons_on_one_journal_are_told_apart() -> None:
    made = league()
    made.play()
    first = JournalSource(journals(made, "manager")).season()
    runner = made.manager.runner
    config = evolve(runner._machine.config, season_id="AUTUMN", season_number=2, season_name="Autumn", schedule=None)
    runner._machine = Manager(config)
    runner._state = runner._machine.load(made.manager.journal.load_parts())
    runner.command(OperatorCommand(command=Command.NEW_SEASON, nonce="autumn"))
    made.simulation.run(lambda: False)
    everybody = ("manager", "referees", *GROUPS)
    second = JournalSource(journals(made, *everybody))
    assert (second.season().season_id, second.season().name, second.season().is_over) == ("AUTUMN", "Autumn", True)
    matches = list(second.matches())
    assert [match.game_id for match in matches] == ["0201001", "0202001", "0203001"]
    assert {match.status for match in matches} == {"completed"}, "referees and players play a second season too"
    former = JournalSource(journals(made, *everybody), season_id=first.season_id)
    # The audit trail is the journal's, of all its seasons.
    assert evolve(former.season(), log=()) == evolve(first, log=())
    assert [match.game_id for match in former.matches()] == ["0101001", "0102001", "0103001"]
    own = JournalSource(journals(made, "owls"))
    assert own.season().season_id == "AUTUMN"
    assert {match.status for match in own.matches(team="owls")} == {"completed"}
    with pytest.raises(ConfigError, match=r"WINTER.*AUTUMN"):
        JournalSource(journals(made, "manager"), season_id="WINTER")
    made.close()


def test_a_match_is_played_again_by_the_real_clients_and_shown_with_its_replay() -> None:
    made = league()
    made.play()
    order = SettlementOrder(about="0101001", why="a wrong book").to_text()
    made.manager.runner.command(OperatorCommand(command=Command.REPLAY, nonce="again", text=order))
    assert not JournalSource(journals(made, "manager")).season().is_over
    made.simulation.run(lambda: False)
    source = JournalSource(journals(made, "manager", "referees", *GROUPS))
    season, first, again = source.season(), source.match("0101001"), source.match("0104001")
    players_source = JournalSource(journals(made, first.players[0].participant_id))
    of_player, players_season = players_source.match("0104001"), players_source.season()
    made.close()
    assert season.is_over
    assert [(each.game_id, each.status, each.replay_of) for each in season.schedule] == [
        ("0101001", REPLAYED, ""), ("0102001", OVER, ""), ("0103001", OVER, ""), ("0104001", OVER, "0101001"),
    ]  # fmt: skip
    assert (first.status, again.status) == (REPLAYED, "completed")
    assert [settled.words for settled in (*first.settlements, *again.settlements)] == ["replay", "replay of 0101001"]
    assert [len(player.questions) for player in again.players] == [20, 20]
    assert again.target is not None
    assert of_player.players[0].private_score is not None
    assert [each.status for each in players_season.schedule] == [REPLAYED, OVER, OVER, OVER]
    assert {row.played for row in season.standings()} == {2}
    log = [entry.text for entry in season.log if entry.kind == "settlement"]
    assert log == ["replay 0101001: a wrong book", "0104001 replays 0101001: a wrong book"]
    assert "no_own_game" not in {entry.text.partition(":")[0] for entry in season.log}


def test_a_match_is_taken_from_its_referee_and_played_under_another() -> None:
    made = league(groups=(*GROUPS, "herons"))
    in_play = play_until(made, lambda: was_sent(made, "Q21ANSWERSBATCH"))
    match = JournalSource(journals(made, "manager")).match(in_play)
    busy = {match.referee_id, *(player.participant_id for player in match.players)}
    (free,) = {*GROUPS, "herons"} - busy
    order = SettlementOrder(about=in_play, referee=free, why="no answer").to_text()
    made.manager.runner.command(OperatorCommand(command=Command.SUBSTITUTE_REFEREE, nonce="sub", text=order))
    made.simulation.run(lambda: False)
    source = JournalSource(journals(made, "manager", "referees"))
    first, again = source.match(in_play), source.match("0104001")
    standings = source.season().standings()
    made.close()
    assert (first.status, first.referee_id) == (REPLAYED, match.referee_id)
    assert (again.status, again.referee_id) == ("completed", free)
    assert {row.played for row in standings} == {3}
