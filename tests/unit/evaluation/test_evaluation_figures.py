"""Games become figures, and figures say what they are worth."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from league_agents.evaluation.calibration import calibration_error, reliability
from league_agents.evaluation.figures import Figure
from league_agents.evaluation.player_report import player_report
from league_agents.evaluation.results import Behaviour, PlayerGame, PlayerSide, Spent
from league_agents.evaluation.results_file import ResultsFile, difference
from league_agents.kit.errors import ConfigError
from league_agents.kit.values import evolve

SETTINGS = {"seed": 1, "agents": {"player": "offline"}}


def side(points: int = 3, *, right: bool | None = True, private: float = 100.0) -> PlayerSide:
    return PlayerSide(
        sentence_right=right,
        similarity=None if right is None else 100.0 * right,
        word_right=right,
        bits_possible=None if right is None else 8.0,
        bits_gained=None if right is None else 7.5,
        understood=None if right is None else 20,
        points=points,
        private_score=private,
        confidence=0.9,
    )


def behaviour(spent: Spent | None = None, **seconds: tuple[float, ...]) -> Behaviour:
    return Behaviour(
        calls={"get_questions": 1, "get_guess": 1},
        fallbacks={},
        broken={},
        complaints=(),
        spent=spent,
        seconds=seconds,
    )


def game(number: int, player: PlayerSide | None, opponent: PlayerSide | None, spent: Spent | None = None) -> PlayerGame:
    return PlayerGame(
        game=number,
        seat=1 + (number - 1) % 2,
        book="Lecture 2: Sorting",
        player=player,
        opponent=opponent,
        behaviour={
            "player": behaviour(spent, get_guess=(number / 100,)),
            "opponent": behaviour(Spent()),
            "referee": behaviour(Spent()),
        },
    )


def figures(games: list[PlayerGame]) -> dict[str, Figure]:
    return {figure.key: figure for figure in player_report(games).figures}


def test_the_bits_possible_of_a_game_are_never_below_0() -> None:
    sides = [replace(side(), bits_possible=bits) for bits in (0.1, 0.1, 9.0)]
    possible = figures([game(i, each, each) for i, each in enumerate(sides, start=1)])["bits_possible"]
    assert possible.own is not None
    assert possible.other is not None
    assert (possible.own.low, possible.other.low) == (0.0, 0.0)


def test_no_interval_promises_more_than_there_is_to_be_had() -> None:
    games = [game(1, side(3), side(0)), game(2, side(3, private=90.0), side(0)), game(3, side(2), side(1))]
    found = figures(games)
    score, points = found["private_score"], found["league_points"]
    assert score.own is not None
    assert score.own.high == 100.0
    assert points.own is not None
    assert points.other is not None
    assert points.difference is not None
    assert (points.own.high, points.other.low, points.difference.high) == (3.0, 0.0, 3.0)


def test_wins_draws_and_losses_are_counted_by_league_points() -> None:
    games = [
        game(1, side(3), side(2)),
        game(2, side(3, private=85.0), side(3, private=99.0)),
        game(3, side(0, right=False, private=10.0), side(3)),
        game(4, side(3), side(0, right=False, private=10.0)),
    ]
    found = figures(games)
    shares = [found["wins"].own, found["draws"].own, found["wins"].other]
    assert [each.value for each in shares if each is not None] == [0.5, 0.25, 0.25]
    assert found["sentence"].own is not None
    assert found["sentence"].own.value == 0.75
    assert found["sentence"].difference is not None
    assert found["sentence"].difference.value == 0.0
    assert found["private_score"].difference is not None
    assert found["private_score"].difference.value == pytest.approx((0 - 14 - 90 + 90) / 4)


def test_the_order_of_the_games_changes_nothing() -> None:
    games = [game(number, side(number % 4), side(3)) for number in range(1, 8)]
    assert player_report(games).figures == player_report(games[::-1]).figures


def test_unknown_money_stays_unknown_and_one_unknown_call_is_enough() -> None:
    known = Spent(calls=2, input_tokens=100, output_tokens=50, nano_usd=2_000_000)
    games = [game(1, side(), side(), known), game(2, side(), side(), replace(known, nano_usd=4_000_000))]
    found = figures(games)
    assert found["cost"].own is not None
    assert found["cost"].own.value == pytest.approx(0.003)
    games.append(game(3, side(), side(), replace(known, unpriced=1)))
    found = figures(games)
    assert (found["cost"].own, found["cost"].note) == (None, "unknown")
    assert found["input_tokens"].own is not None
    games.append(game(4, side(), side(), replace(known, uncounted=1)))
    assert figures(games)["input_tokens"].own is None
    games.append(game(5, side(), side(), None))
    assert figures(games)["model_calls"].note == "not seen from here"


def test_games_without_a_target_or_without_a_referee_are_told() -> None:
    games = [game(1, side(right=None), side(right=None)), game(2, None, None), game(3, side(), side())]
    report = player_report(games)
    assert (report.games, report.aborted) == (3, 1)
    assert "1 game ended before the first question: the referee failed." in report.remarks
    assert any("In 1 game the referee kept the target to itself" in remark for remark in report.remarks)
    found = {figure.key: figure for figure in report.figures}
    assert found["sentence"].own is not None
    assert found["sentence"].own.count == 1
    assert found["league_points"].own is not None
    assert found["league_points"].own.count == 2


def test_it_is_said_how_many_games_would_tell_five_points() -> None:
    games = [game(number, side(3 if number % 2 else 0), side(2, private=80.0 + number % 7)) for number in range(1, 21)]
    said = player_report(games).remarks[0]
    assert said == "20 games tell the share of games won to ±20.1 points of 100; to tell it to ±5 takes about 385."
    assert player_report(games[:1]).remarks[0].startswith("1 game tells the share of games won to ±")


def test_whether_two_players_are_told_apart_is_said() -> None:
    better = [game(number, side(3, private=90.0 + number), side(2, private=70.0)) for number in range(1, 9)]
    assert "The player scores better than the opponent on the same targets." in player_report(better).remarks
    even = [game(number, side(3, private=70.0 + 20 * (number % 2)), side(3, private=80.0)) for number in range(1, 9)]
    (told,) = [remark for remark in player_report(even).remarks if "not told apart" in remark]
    assert told.endswith("to know the difference of their scores to ±5 takes about 18 games.")


def test_games_that_tell_nobody_apart_are_called_too_easy() -> None:
    games = [game(number, side(), side()) for number in range(1, 41)]
    assert any("too easy" in remark for remark in player_report(games).remarks)


def test_results_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    file = ResultsFile(path, PlayerGame, SETTINGS)
    games = [game(1, side(), side(right=None), Spent(calls=1)), game(2, None, None)]
    for each in games:
        file.add(each)
    file.close()
    again = ResultsFile(path, PlayerGame, SETTINGS)
    again.close()
    untimed = [
        evolve(each, behaviour={part: evolve(of, seconds={}) for part, of in each.behaviour.items()}) for each in games
    ]
    assert list(again.games.values()) == untimed


def test_a_torn_last_line_is_cut_off_and_the_file_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    file = ResultsFile(path, PlayerGame, SETTINGS)
    file.add(game(1, side(), side()))
    file.close()
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"game":2,"se')
    again = ResultsFile(path, PlayerGame, SETTINGS)
    again.add(game(2, side(), side()))
    again.close()
    assert path.read_bytes().startswith(whole)
    last = ResultsFile(path, PlayerGame, SETTINGS)
    last.close()
    assert sorted(last.games) == [1, 2]


@pytest.mark.parametrize(
    "content", ["my notes\n", "{}\n", "[1]\n", "no line end", '{"form": "league-agents evaluation"}\n']
)
def test_a_file_of_others_is_refused_and_left_alone(tmp_path: Path, content: str) -> None:
    path = tmp_path / "notes"
    path.write_text(content)
    with pytest.raises(ConfigError, match="is no file of results; name another file"):
        ResultsFile(path, PlayerGame, SETTINGS)
    assert path.read_text() == content


def test_results_of_other_settings_are_refused_by_the_first_that_differs(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    ResultsFile(path, PlayerGame, SETTINGS).close()
    with pytest.raises(ConfigError, match="has results of other settings: seed 1, not 2; name another file"):
        ResultsFile(path, PlayerGame, {**SETTINGS, "seed": 2})


@pytest.mark.parametrize("line", ["x", "{}", '{"game": 1}', "[" * 10_000])
def test_a_line_that_is_no_result_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "games.jsonl"
    ResultsFile(path, PlayerGame, SETTINGS).close()
    with path.open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(ConfigError, match="line 2: is no result of a game"):
        ResultsFile(path, PlayerGame, SETTINGS)


@pytest.mark.parametrize(
    "edit",
    [
        ('"game":1,', '"game":0,'),  # would count as one game more than were wanted
        ('"game":1,', '"game":"1",'),
        ('"game":1,', '"game":1,"note":"",'),
        ('"private_score":100.0', '"private_score":NaN'),
        ('"private_score":100.0', '"private_score":1e999'),
        ('"private_score":100.0', '"private_score":1e+308'),
        ('"seat":1', '"seat":3'),
        ('"get_guess":1', '"get_guess":-1'),
        ('"points":3', '"points":1' + 40 * "0"),
        ('"referee":{', '"judge":{'),
    ],
)
def test_a_line_that_was_changed_into_no_result_is_named(tmp_path: Path, edit: tuple[str, str]) -> None:
    path = tmp_path / "games.jsonl"
    file = ResultsFile(path, PlayerGame, SETTINGS)
    file.add(game(1, side(), side()))
    file.close()
    content = path.read_text()
    assert edit[0] in content
    path.write_text(content.replace(*edit))
    with pytest.raises(ConfigError, match="line 2: is no result of a game"):
        ResultsFile(path, PlayerGame, SETTINGS)


def test_the_first_difference_is_named_down_to_its_key() -> None:
    assert difference(SETTINGS, SETTINGS) is None
    assert difference(SETTINGS, {**SETTINGS, "agents": {"player": "llm"}}) == 'agents.player "offline", not "llm"'
    assert difference({}, {"seed": 3}) == "seed none, not 3"


def confident(confidence: float | None, *, right: bool | None) -> PlayerSide:
    return evolve(side(right=right), confidence=confidence)


def test_stated_confidence_is_compared_with_success_band_by_band() -> None:
    sides = [
        *[confident(0.98, right=True) for _ in range(9)], confident(1.0, right=False),
        confident(0.4, right=True), confident(0.4, right=False), confident(0.01, right=False),
        confident(None, right=True), confident(0.9, right=None),
    ]  # fmt: skip
    bands = reliability(sides)
    assert [(band.low, band.right.count, band.right.value) for band in bands] == [
        (0.0, 1, 0.0),
        (0.3, 2, 0.5),
        (0.95, 10, 0.9),
    ]
    assert bands[-1].stated == pytest.approx(0.982)
    assert calibration_error(bands) == pytest.approx((1 * 0.01 + 2 * 0.1 + 10 * 0.082) / 13)
    assert calibration_error(reliability([confident(None, right=True)])) is None
    report = player_report([game(number, each, side()) for number, each in enumerate(sides, 1)])
    assert report.reliability == bands
    assert any("stated confidence" in remark for remark in report.remarks)
