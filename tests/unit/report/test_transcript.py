"""A match in plain words."""

from __future__ import annotations

import copy
import io
from typing import Any

import pytest
from rich.console import Console

from league_agents.games.q21.rules import COURSE, PRD
from league_agents.report.outcome import ending, why
from league_agents.report.transcript import transcript


def document(**changes: object) -> dict[str, Any]:
    """A match that was played to its end."""
    options = {"A": "Yes", "B": "No", "C": "Partially", "D": "Unknown / Not Relevant"}
    guess = {
        "opening_sentence": "Call me Ishmael.",
        "sentence_justification": "Because question 1 was answered yes.",
        "associative_word": "whale",
        "word_justification": "Because question 2 was answered no.",
        "confidence": 0.9,
    }
    card = {
        "private_score": 91.25,
        "league_points": 3,
        "breakdown": {
            "opening_sentence_score": 100.0,
            "sentence_justification_score": 75.5,
            "associative_word_score": 100.0,
            "word_justification_score": 61.5,
        },
        "feedback": {"opening_sentence": "The sentence is right.", "associative_word": "The word is right."},
    }

    def player(name: str, points: int) -> dict[str, Any]:
        return {
            "id": name,
            "termination": "completed",
            "questions": [
                {"question_number": number, "question_text": f"Is it number {number}?", "options": dict(options)}
                for number in range(1, 21)
            ],
            "answers": [
                {"question_number": number, "answer": "C" if number == 7 else "Not Relevant"} for number in range(1, 20)
            ],
            "guess": dict(guess),
            "scorecard": {**copy.deepcopy(card), "league_points": points},
        }

    second = player("player-b", 1)
    second["answers"][0]["answer"] = "A"
    whole: dict[str, Any] = {
        "seed": 7,
        "rules": "prd",
        "match": {
            "game_id": "0101001",
            "status": "completed",
            "winner_id": "player-a",
            "is_draw": False,
            "abort_reason": None,
            "brief": {"book_name": "Moby-Dick", "book_hint": "A long voyage", "association_word": "sea animal"},
        },
        "target": {
            "book_name": "Moby-Dick",
            "opening_sentence": "Call me Ishmael.",
            "associative_word": "whale",
        },
        "players": [player("player-a", 3), second],
        "messages": [],
        "standings": [
            {
                "rank": 1,
                "participant_id": "player-a",
                "display_name": "Player A",
                "total_points": 3,
                "games_played": 1,
                "games_won": 1,
            },
            {"rank": 2, "participant_id": "player-b", "display_name": "Player B", "total_points": 1},
        ],
    }
    return {**whole, **changes}


def shown(match: dict[str, Any], *, width: int = 80, rules: Any = PRD) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width, highlight=False).print(transcript(match, rules))
    return stream.getvalue()


def test_a_match_is_told_from_the_book_to_the_standings() -> None:
    text = shown(document())
    in_order = [
        "rules prd", "seed 7", "Moby-Dick", "A long voyage", "sea animal",
        "player-a asked 20 questions", "A: Yes · B: No · C: Partially", "Is it number 7?", "player-a guessed, 90% sure",
        "Because question 1", "player-b asked 20 questions", "Scorecards", "Opening sentence", "50%", "100.0",
        "Private score", "91.2", "League points", "The referee to player-a", "The sentence is right.",
        "player-a wins with 3 points to 1", "both found the sentence", "Call me Ishmael.", "Points", "player-b",
    ]  # fmt: skip
    place = 0
    for part in in_order:
        place = text.index(part, place)


def test_an_answer_is_a_letter_and_what_it_means() -> None:
    lines = shown(document()).splitlines()
    (seventh, *_) = [line for line in lines if "Is it number 7?" in line]
    (eighth, *_) = [line for line in lines if "Is it number 8?" in line]
    (twentieth, *_) = [line for line in lines if "Is it number 20?" in line]
    assert seventh.split("?")[1].split() == ["C:", "Partially"]
    assert eighth.split("?")[1].split() == ["Not", "relevant"]
    assert twentieth.split("?")[1].split() == ["no", "answer"]


def test_options_of_the_players_own_stand_under_each_question() -> None:
    match = document()
    for number, question in enumerate(match["players"][0]["questions"]):
        question["options"] = {"A": f"first {number}", "B": "second", "C": "third", "D": "fourth"}
    text = shown(match, rules=COURSE)
    assert "A: first 3 · B: second · C: third · D: fourth" in text
    assert "A: Yes · B: No" in text, "the other player's options are alike and stand there once"
    assert text.count("A: Yes · B: No") == 1


def test_questions_that_both_asked_with_the_same_answers_are_told_once() -> None:
    match = document()
    match["players"][1]["answers"] = match["players"][0]["answers"]
    text = shown(match)
    assert text.count("Is it number 7?") == 1
    assert "player-b asked the same 20 questions as player-a and got the same answers." in text


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_window(width: int) -> None:
    assert max(map(len, shown(document(), width=width).splitlines())) <= width


def test_a_match_that_nobody_reported_is_told_too() -> None:
    match = document(
        match={"game_id": "0101001", "status": "no_report", "winner_id": None, "is_draw": True, "brief": None},
        target=None,
        standings=[],
        players=[
            {"id": name, "termination": "no_report", "questions": [], "answers": [], "guess": None, "scorecard": None}
            for name in ("player-a", "player-b")
        ],
    )
    text = shown(match)
    assert "player-a asked nothing and guessed nothing." in text
    assert "player-b asked nothing and guessed nothing." in text
    assert "No book was announced" in text
    assert not any(line.startswith("Book") for line in text.splitlines())
    assert "No guess was scored." in text
    assert "No result: the referee never reported" in text


def test_a_brief_that_is_hidden_from_this_reader_is_not_said_to_be_missing() -> None:
    match = document()
    match["match"].update(status="open", brief=None, target=None)
    text = shown(match)
    assert "The book is not shown here." in text
    assert "No book was announced" not in text


def test_an_aborted_match_says_why_and_who() -> None:
    match = document()
    match["match"].update(status="aborted", winner_id=None, is_draw=True)
    match["match"]["abort_reason"] = "player_timeout:player-b@league.test"
    for player, termination in zip(match["players"], ("cut_off", "player_timeout"), strict=True):
        player.update(termination=termination, scorecard=None, guess=None)
    text = " ".join(shown(match).replace("│", " ").split())
    assert "Players player-a could not play on; player-b did not answer in time" in text
    assert "Reason player-b did not send its next message in time" in text
    assert "The game of player-a ended early: player-b did not send its next message in time." in text
    assert "The match ended early, nobody wins" in text
    assert "player-a guessed nothing." in text


@pytest.mark.parametrize(
    ("changes", "points", "expected"),
    [
        ({"winner_id": "player-b"}, (0, 1), "player-b wins with 1 point to 0"),
        ({"winner_id": None, "is_draw": True}, (1, 1), "A draw with 1 point each"),
        ({"winner_id": None, "is_draw": False}, (0, 0), "Nobody wins"),  # one present player without a point
        ({"winner_id": "player-a"}, (3, None), "player-a wins"),  # the other was never scored
    ],
)
def test_the_end_in_one_line(changes: dict[str, Any], points: tuple[int, int | None], expected: str) -> None:
    match = document()
    match["match"].update(changes)
    for player, given in zip(match["players"], points, strict=True):
        if given is None:
            player["scorecard"] = None
        elif given == "unjudged":
            player["scorecard"] = {"private_score": 0.0, "league_points": 0, "breakdown": {}, "feedback": {},
                                   "is_judged": False}  # fmt: skip
        elif given == "unsaid":
            player["scorecard"].update(breakdown={}, private_score=91.2 if player["id"] == "player-a" else 71.2)
        else:
            player["scorecard"]["league_points"] = given
    assert ending(match) == expected


def test_hostile_texts_are_neither_markup_nor_escape_sequences() -> None:
    match = document()
    evil = "[bold red]x[/] \x1b[31mred\x1b[0m \u202ereversed\u202c \x07 :smile: [/nonsense]"
    match["match"]["brief"]["book_name"] = evil
    match["target"]["opening_sentence"] = evil
    match["players"][0]["id"] = evil
    match["players"][0]["questions"][0]["question_text"] = evil
    match["players"][0]["guess"]["word_justification"] = evil * 200
    match["standings"][0]["participant_id"] = evil
    text = shown(match)
    assert "[bold red]x[/] red reversed :smile: [/nonsense]" in text
    assert not set("\x1b\u202e\u202c\x07") & set(text)
    assert len(text) < len(shown(document())) + 5000


@pytest.mark.parametrize("key", ["match", "target", "players", "standings"])
@pytest.mark.parametrize("value", [None, [], {}, "text", 7, [None, 3, "x"], [{}], {"brief": 3}])
def test_a_document_with_holes_is_told_without_an_error(key: str, value: object) -> None:
    assert "seed 7" in shown(document(**{key: value}))


def test_long_options_are_told_as_the_letter_and_the_beginning_of_its_meaning() -> None:
    match = document()
    for question in match["players"][0]["questions"]:
        number = question["question_number"]
        question["question_text"] = f"In which of these lists is word {number}: " + "anchor, boat, canoe, dinghy, " * 8
        question["options"] = {letter: f"{letter * 3} {number}, " + "barge, cutter, " * 6 for letter in "ABCD"}
    lines = shown(match, rules=COURSE).splitlines()
    table = lines[lines.index("player-a asked 20 questions.") + 1 :]
    table = table[: table.index("", 1)]
    assert len([line for line in table if line.strip()]) <= 40, "two lines a question"
    assert any("C: CCC 7, barge, cutt" in line for line in table)


def test_a_match_of_two_good_players_fits_on_three_screens() -> None:
    match = document()
    for player in match["players"]:
        player["guess"]["sentence_justification"] = "word " * 50
        player["guess"]["word_justification"] = "word " * 30
        player["scorecard"]["feedback"] = {
            "opening_sentence": "The sentence is right. " * 30,
            "associative_word": "The word is right. " * 30,
        }
        for question in player["questions"][4:]:
            question["question_text"] += " one of the words of the list" * 3
    assert len(shown(match).splitlines()) <= 150


def test_the_same_guess_gets_its_feedback_once_and_shortened() -> None:
    match = document()
    match["players"][1]["scorecard"]["league_points"] = 3
    for player in match["players"]:
        player["scorecard"]["feedback"]["opening_sentence"] = "It is exactly right. " * 40 + "The end."
    text = shown(match)
    assert text.count("The word is right.") == 1
    assert "player-b guessed the same as player-a: what it was told is left out." in text
    assert "The end." not in text
    assert "the JSON document has it whole" in text
    match["players"][1]["guess"]["associative_word"] = "cod"
    assert shown(match).count("The word is right.") == 2


def test_what_went_wrong_in_an_agent_is_told() -> None:
    match = document()
    assert "Notes on" not in shown(match)
    match["players"][0]["notes"] = ["get_guess raised KeyError (my_player.py:11): 'dynamc'; a placeholder is guessed"]
    match["match"]["notes"] = ["get_answers did not return within 30 s; it is called once more", 7, None]
    text = " ".join(shown(match).split())
    assert "the referee: get_answers did not return within 30 s; it is called once more" in text
    assert "player-a: get_guess raised KeyError (my_player.py:11): 'dynamc'; a placeholder is guessed" in text


UNJUDGED = "was not judged: the referee's scoring failed, so it has zero points"
UNSAID = "and the referee did not say for what"


@pytest.mark.parametrize(
    ("scores", "winner", "expected"),
    [
        (((100, 100), (100, 100)), None, "both found the sentence and the word"),
        (((100, 100), (100, 100)), "player-a",
         "both found the sentence and the word; the private scores decide, 91.2 to 91.2"),
        (((100, 100), (100, 0)), "player-a",
         "player-a found the sentence and the word; player-b found the sentence, not the word"),
        (((0, 100), (72.4, 0)), None,
         "player-a found the word, not the sentence; player-b came near the sentence (72 of 100), not the word"),
        (((0, 0), (10, 0)), None, "neither found the sentence or the word"),
        (((0, 0), "unjudged"), "player-a",
         f"player-a found neither the sentence nor the word; player-b {UNJUDGED}"),
        (("unjudged", "unjudged"), None,
         "neither was judged: the referee's scoring failed, so both have zero points"),
        (("unsaid", "unsaid"), "player-a", f"player-a got 91.2 of 100, {UNSAID}; player-b got 71.2 of 100, {UNSAID}"),
        (((100, 100), None), "player-a", "player-a found the sentence and the word"),
        ((None, None), None, ""),
    ],
)  # fmt: skip
def test_the_result_says_who_found_what(scores: Any, winner: str | None, expected: str) -> None:
    match = document()
    match["match"]["winner_id"] = winner
    for player, given in zip(match["players"], scores, strict=True):
        if given is None:
            player["scorecard"] = None
        elif given == "unjudged":
            player["scorecard"] = {"private_score": 0.0, "league_points": 0, "breakdown": {}, "feedback": {},
                                   "is_judged": False}  # fmt: skip
        elif given == "unsaid":
            player["scorecard"].update(breakdown={}, private_score=91.2 if player["id"] == "player-a" else 71.2)
        else:
            player["scorecard"]["breakdown"].update(
                opening_sentence_score=float(given[0]), associative_word_score=float(given[1])
            )
    assert why(match) == expected


def test_a_failed_scoring_is_no_judgement() -> None:
    match = document()
    match["players"][0]["scorecard"] = {
        "private_score": 0.0, "league_points": 0, "breakdown": {}, "feedback": {}, "is_judged": False
    }  # fmt: skip
    text = " ".join(shown(match).split())
    assert "The referee's scoring failed: player-a has zero points without a judgement." in text
    assert "player-a found neither" not in text
    assert "player-a got no feedback" not in text


def test_one_question_is_one_question() -> None:
    match = document()
    del match["players"][0]["questions"][1:]
    assert "player-a asked 1 question." in shown(match)
