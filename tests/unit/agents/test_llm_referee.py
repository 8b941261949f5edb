"""The referee with a model: what the model may add, and what it can never change."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from league_agents.agents.hints import breaks_hint
from league_agents.agents.library import Knowledge
from league_agents.agents.llm_referee import LlmReferee
from league_agents.agents.offline_referee import OfflineReferee
from league_agents.agents.secrecy import canary_of
from league_agents.games.q21.model import Question
from league_agents.games.q21.reading_referee import read_answers, read_round_start_info, read_scorecard
from league_agents.games.q21.rules import COURSE, PRD, RuleSet
from league_agents.kit.clock import ManualClock
from league_agents.kit.errors import LimitExceeded, ModelRefused, ModelUnavailable
from league_agents.kit.model_work import KEY, ModelWorkUse, Why, steps_in
from league_agents.knowledge.documents import make_document
from league_agents.llm.chat import Chat
from league_agents.llm.exchange import Finish, Patience, Reply, Request
from league_agents.llm.port import Usage
from tests.support.scripted_model import Scripted, ScriptedBackend

pytestmark = pytest.mark.usefixtures("slow_time")

YES_NO = ["Yes", "No", "Partially", "Unknown"]
BOTH = pytest.mark.parametrize("rules", [PRD, COURSE], ids=lambda rules: rules.name)


def context(match_id: Any = "0101001", seconds: Any = 120, **dynamic: Any) -> Mapping[str, Any]:
    return {
        "dynamic": {"match_id": match_id, "player_id": "p", **dynamic},
        "service": {"deadline_seconds": seconds},
    }


def played(reply: Mapping[str, object]) -> dict[str, object]:
    """A reply without what it says of the model's work."""
    return {key: value for key, value in reply.items() if key != KEY}


def backend(*script: Scripted | Mapping[str, object]) -> ScriptedBackend:
    return ScriptedBackend([json.dumps(each) if isinstance(each, Mapping) else each for each in script])


def referee(knowledge: Knowledge, model: ScriptedBackend | None, rules: RuleSet = COURSE, **more: Any) -> LlmReferee:
    chat = Chat(model, Patience(retries=0)) if model is not None else None
    return LlmReferee(rules=rules, knowledge=knowledge, seed=7, models=lambda callback: chat, **more)


@pytest.fixture(scope="module")
def secret(knowledge: Knowledge) -> Mapping[str, str]:
    """A passage that begins with somebody and something, and a word of it."""
    volume = knowledge.volume("The Village Book")
    assert volume is not None
    passage = next(each for each in volume.passages if "rose" in each.text and "violin" not in each.text)
    return {
        "book_name": "The Village Book",
        "book_hint": "Somewhere in the first half.",
        "association_word": "flower",
        "actual_opening_sentence": passage.opening_sentence,
        "actual_associative_word": "rose",
    }


def questions(*texts: str, options: list[str] = YES_NO) -> list[dict[str, object]]:
    return [{"question_number": n, "question_text": text, "options": options} for n, text in enumerate(texts, 1)]


def answered(
    knowledge: Knowledge, secret: Mapping[str, str], asked: list[dict[str, object]], rows: list[dict[str, object]]
) -> list[str]:
    agent = referee(knowledge, backend({"answers": rows}))
    reply: Any = agent.get_answers(context(**secret, questions=asked))
    return [each["answer"] for each in reply["answers"]]


# Answers.


@pytest.mark.parametrize(
    ("row", "answer"),
    [
        ({"n": 1, "evidence": "{first three}", "basis": "quote", "answer": "A"}, "A"),
        ({"n": 1, "evidence": "“{FIRST THREE}”", "basis": "quote", "answer": "a)"}, "A"),  # typography is no difference
        ({"n": 1, "evidence": "{first three}", "basis": "quote", "answer": "Yes"}, "A"),
        ({"n": 1, "evidence": "{first three}", "basis": "quote", "answer": "partially"}, "C"),
        ({"n": 1, "evidence": "a whale swam in the sea", "basis": "quote", "answer": "A"}, "D"),  # stands nowhere
        ({"n": 1, "evidence": "", "basis": "quote", "answer": "A"}, "D"),
        ({"n": 1, "evidence": "the", "basis": "quote", "answer": "A"}, "D"),  # stands there and says nothing
        ({"n": 1, "evidence": "feast, banquet, wedding", "basis": "absent", "answer": "B"}, "B"),
        ({"n": 1, "evidence": "banquet, wedding", "basis": "absent", "answer": "B"}, "D"),  # nothing of the question
        ({"n": 1, "evidence": "feast, rose", "basis": "absent", "answer": "B"}, "D"),  # one of them is there
        ({"n": 1, "evidence": "feast, banquet", "basis": "absent", "answer": "A"}, "D"),  # absence shows no yes
        ({"n": 1, "evidence": "", "basis": "none", "answer": "none"}, "D"),
        ({"n": 1, "evidence": "", "basis": "none", "answer": "D"}, "D"),
        ({"n": 1, "evidence": "{first three}", "basis": "quote", "answer": "Not Relevant"}, "D"),
        ({"n": 1, "evidence": "{first three}", "basis": "quote", "answer": "E"}, "D"),
        ({"n": 2, "evidence": "{first three}", "basis": "quote", "answer": "A"}, "D"),  # another question's
        ({"n": -1, "evidence": "{first three}", "basis": "quote", "answer": "A"}, "D"),
        ({"n": 1, "answer": "A"}, "D"),
    ],
)
def test_an_answer_counts_when_its_evidence_stands_up(
    row: dict[str, object], answer: str, knowledge: Knowledge, secret: Mapping[str, str]
) -> None:
    words = " ".join(secret["actual_opening_sentence"].split()[:3])
    evidence = str(row.get("evidence", "")).format(**{"first three": words, "FIRST THREE": words.upper()})
    said = {**row, "evidence": evidence} if "evidence" in row else row
    assert answered(knowledge, secret, questions("Is there a feast of any kind?"), [said]) == [answer]


def test_options_of_substance_need_a_quotation_and_none_of_them_an_absence(
    knowledge: Knowledge, secret: Mapping[str, str]
) -> None:
    options = ["A quarrel about money", "A departure by ship", "A thing that grows", "None of these"]
    asked = questions("What is at the centre of it?", options=options)
    quote = {"n": 1, "evidence": "a rose", "basis": "quote", "answer": "C"}
    absent = {"n": 1, "evidence": "quarrel, money, ship", "basis": "absent", "answer": "D"}
    wrong = {"n": 1, "evidence": "quarrel, money", "basis": "absent", "answer": "C"}
    assert answered(knowledge, secret, asked, [quote]) == ["C"]
    assert answered(knowledge, secret, asked, [absent]) == ["D"]
    assert answered(knowledge, secret, asked, [wrong]) == ["Not Relevant"]


def test_the_model_is_asked_exactly_what_code_declined(knowledge: Knowledge, secret: Mapping[str, str]) -> None:
    told = (
        "Is there a question mark in the opening sentence?",
        "Is the secret word a kind of flower?",
        "Are there digits?",
    )
    declined = ("Is the mood melancholic?", "Is the secret word a wild flower?")
    model = backend({"answers": []})
    asked = questions(told[0], declined[0], told[1], declined[1], told[2])
    reply: Any = referee(knowledge, model).get_answers(context(**secret, questions=asked))
    prompt = model.requests[0].prompt.user
    assert [text in prompt for text in (*told, *declined)] == [False, False, False, True, True]
    answers = [each["answer"] for each in reply["answers"]]
    assert [answers[1], answers[3]] == ["D", "D"]
    assert "D" not in (answers[0], answers[2], answers[4])


def test_what_code_can_tell_is_not_asked_and_cannot_be_answered_otherwise(
    knowledge: Knowledge, secret: Mapping[str, str]
) -> None:
    asked = questions("Does the sentence contain the word 'zebra'?", "Is it a merry scene?")
    words = " ".join(secret["actual_opening_sentence"].split()[:3])
    rows: list[dict[str, object]] = [{"n": n, "evidence": words, "basis": "quote", "answer": "A"} for n in (1, 2)]
    model = backend({"answers": rows})
    reply: Any = referee(knowledge, model).get_answers(context(**secret, questions=asked))
    assert [each["answer"] for each in reply["answers"]] == ["B", "A"]
    assert "zebra" not in model.requests[0].prompt.user
    assert "merry scene" in model.requests[0].prompt.user


def test_a_batch_that_code_answers_alone_costs_nothing(knowledge: Knowledge, secret: Mapping[str, str]) -> None:
    model = backend()
    asked = questions("Does the sentence contain the word 'zebra'?", "Does the sentence contain a semicolon?")
    referee(knowledge, model).get_answers(context(**secret, questions=asked))
    assert model.requests == []


def test_of_two_different_answers_to_a_question_none_counts_and_equal_ones_are_one(
    knowledge: Knowledge, secret: Mapping[str, str]
) -> None:
    words = " ".join(secret["actual_opening_sentence"].split()[:3])
    yes: dict[str, object] = {"n": 1, "evidence": words, "basis": "quote", "answer": "A"}
    partly: dict[str, object] = {**yes, "answer": "C"}
    asked = questions("Is it a merry scene?")
    assert answered(knowledge, secret, asked, [yes, partly]) == ["D"]
    assert answered(knowledge, secret, asked, [yes] * 300) == ["A"]


def test_numbers_that_repeat_themselves_are_told_apart(knowledge: Knowledge, secret: Mapping[str, str]) -> None:
    asked = [{**each, "question_number": 5} for each in questions("Is it a merry scene?", "Is it a sad scene?")]
    words = " ".join(secret["actual_opening_sentence"].split()[:3])
    rows: list[dict[str, object]] = [{"n": 2, "evidence": words, "basis": "quote", "answer": "A"}]
    assert answered(knowledge, secret, asked, rows) == ["D", "A"]


def test_the_word_can_be_evidence_and_so_can_a_fact(knowledge: Knowledge) -> None:
    emma = knowledge.work("Emma")
    assert emma is not None
    known = {
        "book_name": "Emma",
        "book_hint": emma.hint,
        "association_word": "profession",
        "actual_opening_sentence": emma.opening_sentence,
        "actual_associative_word": "governess",
    }
    rows = [
        {"n": 1, "evidence": "governess", "basis": "quote", "answer": "A"},
        {"n": 2, "evidence": "The heroine lives at Hartfield", "basis": "quote", "answer": "A"},
    ]
    asked = questions("Would one meet such a person in a nursery?", "Has the heroine a home of some size?")
    agent = referee(knowledge, backend({"answers": rows}), PRD)
    reply: Any = agent.get_answers(context(**known, questions=asked))
    assert [each["answer"] for each in reply["answers"]] == ["A", "A"]


def test_a_monstrous_question_crowds_out_nothing_but_itself(knowledge: Knowledge, secret: Mapping[str, str]) -> None:
    words = " ".join(secret["actual_opening_sentence"].split()[:3])
    texts = ["Is it a merry scene, " + "really " * 2_000 + "?", "Is it a merry scene?"]
    rows: list[dict[str, object]] = [{"n": n, "evidence": words, "basis": "quote", "answer": "A"} for n in (1, 2)]
    assert answered(knowledge, secret, questions(*texts), rows) == ["D", "A"]


# Grades.


def grade(value: int, *remarks: int) -> dict[str, object]:
    return {"uses_answers": value, "leads_to_guess": value, "is_clear": value, "remarks": list(remarks)}


def guess_of(secret: Mapping[str, str], **more: object) -> dict[str, object]:
    return {
        "opening_sentence": secret["actual_opening_sentence"],
        "sentence_justification": "I believe so, because the tone of the page fits what the referee told us before.",
        "associative_word": secret["actual_associative_word"],
        "word_justification": "It is the only flower that I could think of here.",
        "confidence": 0.5,
        **more,
    }


def scored(knowledge: Knowledge, secret: Mapping[str, str], model: ScriptedBackend | None, **guess: object) -> Any:
    played = {
        "questions": questions("Is it a merry scene?"),
        "answers": [{"question_number": 1, "answer": "A"}],
        "player_guess": guess_of(secret, **guess),
    }
    return referee(knowledge, model).get_score_feedback(context(**secret, **played))


@pytest.mark.parametrize("value", [-5, 0, 2, 4, 10**12])
def test_a_grade_moves_the_private_score_a_little_and_the_points_never(
    value: int, knowledge: Knowledge, secret: Mapping[str, str]
) -> None:
    plain = scored(knowledge, secret, None)
    graded = scored(knowledge, secret, backend({"sentence": grade(value), "word": grade(value)}))
    assert graded["league_points"] == plain["league_points"]
    assert abs(graded["private_score"] - plain["private_score"]) <= 6.01
    assert COURSE.points_for(graded["private_score"]) == graded["league_points"]
    if value == 4:
        assert graded["private_score"] > plain["private_score"]


def test_remarks_are_chosen_by_number_and_said_in_our_words(knowledge: Knowledge, secret: Mapping[str, str]) -> None:
    card = scored(knowledge, secret, backend({"sentence": grade(2, 8, 99, -1, 8), "word": grade(2, 5)}))
    assert (
        "No alternative is considered, so a reader cannot see why this sentence" in card["feedback"]["opening_sentence"]
    )
    assert "The hint is used well." in card["feedback"]["associative_word"]
    assert read_scorecard(card, COURSE).remarks == []


def test_whoever_grades_is_not_told_the_target(knowledge: Knowledge, secret: Mapping[str, str]) -> None:
    model = backend({"sentence": grade(2), "word": grade(2)})
    scored(knowledge, secret, model, opening_sentence="Something else altogether.", associative_word="tulip")
    asked = model.requests[0].prompt
    assert secret["actual_opening_sentence"] not in asked.system + asked.user
    assert "rose" not in (asked.system + asked.user).split()


def test_without_a_justification_nobody_is_asked(knowledge: Knowledge, secret: Mapping[str, str]) -> None:
    model = backend()
    scored(knowledge, secret, model, sentence_justification=" ", word_justification="")
    assert model.requests == []


# Hints.


ISLAND = """# The Lighthouse

The keeper climbed the stairs every evening with a can of oil. He lit the lamp, wound the clockwork and looked out over
the water until the last sail had gone.

In spring a botanist came with the mail boat. She counted mosses on the northern cliffs and filled nine notebooks with
drawings that nobody on the mainland believed.

Later the generals sent a telegraph. Wires were laid across the sound, and for a month soldiers slept in the hay and
quarrelled about cards.

The well ran dry in August. They carried barrels from the mainland, washed in salt water and prayed for a cloud, until
one night it thundered and everybody ran outside with pots.

An old goat was the only one who never left. It stood on the roof of the chapel, chewed the ropes of the bell and was
forgiven every Sunday by the parson himself.
"""


@pytest.fixture(scope="module")
def island() -> Knowledge:
    """A book of five passages, of which each has words of its own."""
    return Knowledge(documents=[make_document(ISLAND, source="island.md", markup="markdown", author="Ada Brine")])


def started(knowledge: Knowledge, *hints: str) -> tuple[Any, Any]:
    """With these proposals, and without a model."""
    agent = referee(knowledge, backend({"hints": list(hints)}))
    plain = OfflineReferee(rules=COURSE, knowledge=knowledge, seed=7)
    return agent.get_round_start_info(context()), plain.get_round_start_info(context())


def test_the_first_proposed_hint_that_leads_to_the_passage_is_used(island: Knowledge) -> None:
    plain: Any = OfflineReferee(rules=COURSE, knowledge=island, seed=7).get_round_start_info(context())
    leading = "Look for the troops, the thunder, the science, the ships or the church there."
    start, _ = started(
        island, "Nothing that any page knows: quasar photon.", leading, "Another one that leads to troops."
    )
    assert start["book_hint"] == leading
    assert start["book_hint"] != plain["book_hint"]
    assert read_round_start_info(start, COURSE).remarks == []


@pytest.mark.parametrize(
    "spoilt",
    [
        "{sentence}",
        "It speaks of {word}, somewhere near {topic}.",
        "It speaks of {word}s, somewhere near {topic}.",
        "{topic}: {backwards}",
        "{topic} 1 2 3 4 5",
        "{topic} " + "and so on " * 10,
        "{topic}",
        "x",
        "",
    ],
)
def test_a_proposed_hint_that_tells_copies_or_rambles_is_not_used(spoilt: str, island: Knowledge) -> None:
    plain = OfflineReferee(rules=COURSE, knowledge=island, seed=7).get_round_start_info(context())
    sentence, word = str(plain["actual_opening_sentence"]), str(plain["actual_associative_word"])
    topic = "zzz" if spoilt == "{topic}" else "troops, thunder, science, ships, church"
    proposal = spoilt.format(sentence=sentence, word=word, topic=topic, backwards=sentence[::-1][:40])
    start, same = started(island, proposal)
    assert start["book_hint"] == same["book_hint"]


def test_the_hint_is_asked_for_once_a_match_and_stays(knowledge: Knowledge) -> None:
    model = backend({"hints": ["Nothing that leads anywhere."]})
    agent = referee(knowledge, model)
    first, second = agent.get_round_start_info(context()), agent.get_round_start_info(context())
    assert played(first) == played(second)
    assert len(model.requests) == 1


@BOTH
def test_targets_are_those_of_the_offline_referee_and_no_hint_breaks_the_rules(
    rules: RuleSet, knowledge: Knowledge
) -> None:
    for number in range(6):
        agent = referee(knowledge, backend({"hints": ["People go about their work while seasons pass."]}), rules)
        plain = OfflineReferee(rules=rules, knowledge=knowledge, seed=7)
        start: Any = agent.get_round_start_info(context(f"01{number:02}001"))
        same: Any = plain.get_round_start_info(context(f"01{number:02}001"))
        assert {**played(start), "book_hint": ""} == {**same, "book_hint": ""}
        assert not breaks_hint(start["book_hint"], [start["actual_opening_sentence"], start["book_name"]])


# Whatever the model does.


def cut_off(text: str) -> Reply:
    return Reply(text=text, finish=Finish.CUT_OFF, usage=Usage(requests=1), model="scripted:model")


FAILURES: Mapping[str, Callable[[Request], Scripted]] = {
    "down": lambda request: ModelUnavailable("down"),
    "refusing": lambda request: ModelRefused("no"),
    "declining": lambda request: Reply(text="", finish=Finish.REFUSED, usage=Usage(requests=1), model="m"),
    "over budget": lambda request: ModelUnavailable("the limit of the day is reached"),
    "talking": lambda request: "Certainly! Here are the answers you asked for.",
    "cut off": lambda request: cut_off('{"answers": [{"n": 1, "evidence": "so'),
    "of another form": lambda request: '{"league_points": 3}',
    "a list": lambda request: "[1, 2, 3]",
    "nothing": lambda request: "",
    "null": lambda request: "null",
    "of wrong types": lambda request: '{"answers": {"1": "A"}, "hints": "one", "sentence": 4, "word": []}',
    "deep": lambda request: '{"answers":' * 5_000,
    "empty": lambda request: '{"answers": [], "hints": [], "sentence": {}, "word": {}}',
    "repeating what it was told": lambda request: json.dumps(
        {
            "answers": [{"n": 1, "evidence": request.prompt.system, "basis": "quote", "answer": "A"}],
            "hints": [request.prompt.system],
            "sentence": {**grade(4), "told": request.prompt.system},
            "word": grade(4),
        }
    ),
}


REASONS = {
    "down": [Why.UNAVAILABLE] * 3,
    "refusing": [Why.REFUSED] * 3,
    "declining": [Why.REFUSED] * 3,
    "over budget": [Why.UNAVAILABLE] * 3,
    "empty": [Why.UNUSED, Why.UNUSED, Why.MALFORMED],
    "repeating what it was told": [Why.DISOBEYED] * 3,
}
"""What the referee says of its three steps, where it is not that the form was wrong."""


@BOTH
@pytest.mark.parametrize("failure", FAILURES)
def test_whatever_the_model_does_the_game_is_as_without_it(failure: str, rules: RuleSet, knowledge: Knowledge) -> None:
    def play(agent: OfflineReferee) -> list[Any]:
        start = agent.get_round_start_info(context())
        brief = {**start, "questions": questions("Is it a merry scene?", "Is the sentence a question?")}
        answers = agent.get_answers(context(**brief))
        guess = guess_of({key: str(value) for key, value in start.items()})
        card = agent.get_score_feedback(context(**brief, answers=answers["answers"], player_guess=guess))
        return [start, answers, card]

    model = ScriptedBackend(FAILURES[failure])
    with_model = play(referee(knowledge, model, rules))
    assert len(model.requests) >= 3
    assert [played(reply) for reply in with_model] == play(OfflineReferee(rules=rules, knowledge=knowledge, seed=7))
    steps = [step for reply in with_model for step in steps_in(reply, "c")]
    assert [step.step for step in steps] == ["referee_hint", "referee_answers", "referee_grades"]
    assert {step.work for step in steps} == {ModelWorkUse.REPLACED}
    assert [step.why for step in steps] == REASONS.get(failure, [Why.MALFORMED] * 3)


def test_a_model_that_reaches_a_limit_of_the_users_is_done_without(
    knowledge: Knowledge, secret: Mapping[str, str]
) -> None:
    def spent(callback: str) -> Any:
        class Spent:
            name = "spent"

            def complete_json(self, *args: object, **named: object) -> None:
                raise LimitExceeded("money of today", 2.0, 2.0)

        return Spent()

    agent = LlmReferee(rules=COURSE, knowledge=knowledge, seed=7, models=spent)
    reply: Any = agent.get_answers(context(**secret, questions=questions("Is it a merry scene?")))
    assert reply["answers"] == [{"question_number": 1, "answer": "D"}]


@pytest.mark.parametrize(
    ("seconds", "timeout"),
    [(120, 25.0), (40, 25.0), (20, 17.0), (5, 2.0), (3, None), (0, None), (-7, None), ("soon", 25.0), (True, 25.0)],
)
def test_a_model_gets_the_time_that_is_left_less_a_reserve(
    seconds: float, timeout: float | None, knowledge: Knowledge, secret: Mapping[str, str]
) -> None:
    model = ScriptedBackend(lambda request: ModelUnavailable("down"))
    agent = referee(knowledge, model, clock=ManualClock(datetime(2031, 5, 2, tzinfo=UTC)))
    agent.get_answers(context(seconds=seconds, **secret, questions=questions("Is it a merry scene?")))
    given = [request.timeout for request in model.requests]
    if timeout is None:
        assert given == []
    else:
        assert given[0] <= timedelta(seconds=timeout)
        assert given[0] >= timedelta(seconds=timeout - 1.5)


def test_a_callback_without_a_model_is_left_to_code(knowledge: Knowledge, secret: Mapping[str, str]) -> None:
    asked: list[str] = []

    def models(callback: str) -> None:
        asked.append(callback)

    agent = LlmReferee(rules=COURSE, knowledge=knowledge, seed=7, models=models)
    reply = agent.get_answers(context(**secret, questions=questions("Is it a merry scene?")))
    assert played(reply) == {"answers": [{"question_number": 1, "answer": "D"}]}
    assert asked == ["get_answers"]
    (step,) = steps_in(reply, "get_answers")
    assert (step.step, step.work, step.why) == ("referee_answers", ModelWorkUse.NOT_ASKED, Why.NO_MODEL)


@BOTH
def test_every_reply_keeps_its_contract_for_twenty_questions(rules: RuleSet, knowledge: Knowledge) -> None:
    texts = [f"Has the mood of it anything to do with colour chart {n}?" for n in range(1, 21)]
    model = backend(
        {"hints": []},
        {"answers": [{"n": n, "evidence": "x", "basis": "absent", "answer": "B"} for n in range(1, 30)]},
        {"sentence": grade(4, 1, 2), "word": grade(0, 6)},
    )
    agent = referee(knowledge, model, rules)
    start = agent.get_round_start_info(context())
    assert read_round_start_info(start, rules).remarks == []
    asked = questions(*texts)
    brief = {**start, "questions": asked}
    answers: Any = agent.get_answers(context(**brief))
    batch = tuple(Question(number=n, text=text, options=rules.fixed_options) for n, text in enumerate(texts, 1))
    assert read_answers(answers, batch, rules).remarks == []
    guess = guess_of({key: str(value) for key, value in start.items()})
    card = agent.get_score_feedback(context(**brief, answers=answers["answers"], player_guess=guess))
    assert read_scorecard(card, rules).remarks == []
    assert [request.prompt.purpose.step for request in model.requests] == [
        "referee_hint",
        "referee_answers",
        "referee_grades",
    ]
    assert {request.prompt.purpose.match_id for request in model.requests} == {"0101001"}
    assert len({canary_of(request.prompt) for request in model.requests}) == 3
