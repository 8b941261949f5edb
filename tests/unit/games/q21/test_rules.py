"""Rule sets: the built-in ones, and those that users write."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
import yaml
from msgspec.structs import replace

from league_agents.games.q21.rule_file import rule_set_from
from league_agents.games.q21.rules import (
    BUILT_IN,
    COURSE,
    PRD,
    AbortedPoints,
    AnswerKey,
    CallbackTimeouts,
    RuleSet,
    TargetKind,
    Walkover,
    Weights,
    WordLimit,
    digest,
    rule_set_to,
)
from league_agents.kit.errors import ConfigError

EXAMPLE = Path(__file__).parents[4] / "config" / "rules" / "custom.example.yaml"

OTHER = RuleSet(
    name="other",
    answer_key=AnswerKey.FIXED,
    fixed_options=("Ja", "Nein", "Teils", "Unklar"),
    questions_required=7,
    least_question_characters=3,
    target_kind=TargetKind.PASSAGE_OPENING,
    hint_characters=(5, 80),
    hint_most_words=9,
    sentence_justification=WordLimit(least=0, most=12),
    word_justification=WordLimit(least=3, most=None),
    least_sentence_characters=4,
    feedback=WordLimit(least=10, most=20),
    feedback_penalty=0.1,
    weights=Weights(opening_sentence=0.7, sentence_justification=0.1, associative_word=0.1, word_justification=0.1),
    tiers=((75.0, 3), (25.5, 1)),
    warmup_wait=timedelta(seconds=1.5),
    questions_wait=timedelta(seconds=2),
    guess_wait=timedelta(seconds=3),
    grace=timedelta(0),
    repeats_warmup=False,
    unusable_limit=1,
    callback_timeouts=CallbackTimeouts(get_guess=timedelta(seconds=0.25)),
    absent_points=0,
    walkover=Walkover.AS_REPORTED,
    no_report_points=1,
    aborted_points=AbortedPoints.ZERO,
)


@pytest.mark.parametrize("rules", [PRD, COURSE, OTHER])
def test_a_rule_set_comes_back_equal_from_its_mapping(rules: RuleSet) -> None:
    assert rule_set_from(rule_set_to(rules)) == rules


def test_a_mapping_survives_yaml() -> None:
    assert rule_set_from(yaml.safe_load(yaml.safe_dump(rule_set_to(OTHER)))) == OTHER


@pytest.mark.parametrize(
    ("score", "points"),
    [(100.0, 3), (85.0, 3), (84.99, 2), (70.0, 2), (69.99, 1), (50.0, 1), (49.99, 0), (0.0, 0)],
)
def test_the_built_in_tiers_are_table_a_of_the_protocol(score: float, points: int) -> None:
    assert [rules.points_for(score) for rules in BUILT_IN.values()] == [points, points]


def test_the_example_names_every_key_and_loads() -> None:
    mapping = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    rules = rule_set_from(mapping)
    assert set(mapping) == {"extends", *rule_set_to(PRD)}
    assert rules == replace(
        COURSE,
        name="long-answers",
        sentence_justification=WordLimit(least=30, most=60),
        word_justification=WordLimit(least=20, most=40),
        tiers=((80.0, 3), (60.0, 2), (40.0, 1)),
    )


def test_what_is_left_out_is_as_in_the_set_that_is_extended() -> None:
    rules = rule_set_from({"extends": "course", "sentence_justification": {"most": 70}, "grace_seconds": 0})
    expected = replace(COURSE, name="custom", sentence_justification=WordLimit(least=30, most=70), grace=timedelta(0))
    assert rules == expected


def test_one_timeout_can_be_changed_alone() -> None:
    rules = rule_set_from({"extends": "prd", "callback_timeouts_seconds": {"get_guess": 40}})
    assert rules.callback_timeouts == replace(PRD.callback_timeouts, get_guess=timedelta(seconds=40))


@pytest.mark.parametrize(
    ("key", "least", "most", "step"),
    [
        ("questions_required", 1, 100, 1),
        ("least_question_characters", 1, 200, 1),
        ("hint_most_words", 1, 200, 1),
        ("least_sentence_characters", 1, 200, 1),
        ("unusable_limit", 1, 100, 1),
        ("absent_points", 0, 3, 1),
        ("walkover_points", 0, 3, 1),
        ("no_report_points", 0, 3, 1),
        ("feedback_penalty", 0, 0.5, 0.01),
        ("hint_characters[1]", 10, 1000, 1),
        ("sentence_justification.least", 0, 1000, 1),
        ("sentence_justification.most", 1, 1000, 1),
        ("tiers[0].least", 0, 100, 0.01),
        ("tiers[0].points", 0, 3, 1),
        ("warmup_wait_seconds", 0.001, 604_800, 0.0005),
        ("grace_seconds", 0, 604_800, 0.0005),
        ("callback_timeouts_seconds.get_guess", 0.001, 604_800, 0.0005),
    ],
)
def test_a_number_is_accepted_up_to_its_bounds_and_no_further(key: str, least: float, most: float, step: float) -> None:
    def mapping(value: float) -> dict[str, object]:
        name, _, inner = key.partition(".")
        if name == "tiers[0]":
            return {"tiers": [{"least": 50, "points": 1, inner: value}]}
        if name == "hint_characters[1]":
            return {"hint_characters": [10, value]}
        if name == "sentence_justification":
            return {name: {"least": 0, "most": None, inner: value}}
        return {name: {inner: value} if inner else value}

    for value in (least, most):
        rule_set_from({"extends": "prd", **mapping(value)})
    for value in (least - step, most + step):
        with pytest.raises(ConfigError, match=key.split("[")[0]):
            rule_set_from({"extends": "prd", **mapping(value)})


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"warmup_wait": 3}, "rules: there is no key 'warmup_wait': did you mean 'warmup_wait_seconds'?"),
        ({"grace": 3}, "rules: there is no key 'grace': did you mean 'grace_seconds'?"),
        ({"weights": {"opening": 1}}, "rules.weights: there is no key 'opening': did you mean 'opening_sentence'?"),
        ({7: 1}, "rules: there is no key 7: the keys are extends, name"),
        ({"extends": "corse"}, "rules.extends: must be one of prd, course, found 'corse'; did you mean 'course'?"),
        ({"answer_key": "fix"}, "rules.answer_key: must be one of fixed, own, found 'fix'; did you mean 'fixed'?"),
        ({"fixed_options": [True, False, "a", "b"]}, "rules.fixed_options[0]: must be one line"),  # bare YAML Yes
        ({"fixed_options": ["a", "b", "a", "c"]}, "rules.fixed_options[2]: must be different"),
        ({"fixed_options": "abcd"}, "rules.fixed_options: must be a list of 4 texts"),
        ({"questions_required": 0}, "rules.questions_required: must be a whole number from 1 to 100, found 0"),
        ({"questions_required": True}, "rules.questions_required: must be a whole number"),
        ({"questions_required": "20"}, "rules.questions_required: must be a whole number"),
        ({"questions_required": 20.0}, "rules.questions_required: must be a whole number"),
        ({"questions_required": 10**5000}, "rules.questions_required: must be a whole number"),
        ({"hint_characters": [200, 10]}, "rules.hint_characters: the least must not exceed the most"),
        ({"hint_characters": [10]}, "rules.hint_characters: must be a list of 2 whole numbers"),
        ({"word_justification": {"least": 31}}, "rules.word_justification.most: must be 31 (the least) or more"),
        ({"word_justification": 30}, "rules.word_justification: must be a mapping (least, most"),
        ({"weights": {"opening_sentence": 0.6}}, "rules.weights: the four weights must add up to 1, found 1.1"),
        ({"weights": {"opening_sentence": float("nan")}}, "rules.weights.opening_sentence: must be a number from 0"),
        ({"tiers": []}, "rules.tiers: must be a list of 1 to 10 mappings"),
        ({"tiers": [{"least": 50, "points": 3}, {"least": 60, "points": 1}]}, "rules.tiers[1].least: best first"),
        ({"tiers": [{"least": 50, "points": 1}, {"least": 40, "points": 1}]}, "rules.tiers[1].points: best first"),
        ({"tiers": [{"least": 50, "points": 4}]}, "rules.tiers[0].points: must be a whole number from 0 to 3"),
        ({"tiers": [{"least": 50}]}, "rules.tiers[0].points: is missing"),
        ({"guess_wait_seconds": 0}, "rules.guess_wait_seconds: must be a number from 0.001 to 604800, found 0"),
        ({"guess_wait_seconds": "2m"}, "rules.guess_wait_seconds: must be a number"),
        ({"repeats_warmup": 1}, "rules.repeats_warmup: must be true or false, found 1"),
        ({"feedback_penalty": 0.6}, "rules.feedback_penalty: must be a number from 0 to 0.5"),
        ({"name": "prd"}, "rules.name: 'prd' is the name of a built-in set with other rules"),
        ({"name": " "}, "rules.name: must be one line of 1 to 60 characters"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_key(mapping: dict[object, object], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        rule_set_from({"extends": "course", **mapping})
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
    assert caught.value.path == message.partition(": ")[0]


@pytest.mark.parametrize("key", ["name", "answer_key", "target_kind", "sentence_justification", "word_justification"])
def test_without_a_set_to_extend_the_decisive_keys_are_needed(key: str) -> None:
    mapping = {name: value for name, value in rule_set_to(OTHER).items() if name != key}
    with pytest.raises(ConfigError, match=rf"^rules\.{key}: is missing"):
        rule_set_from(mapping)


@pytest.mark.parametrize("mapping", [None, [], "prd", 3])
def test_a_file_that_is_no_mapping_is_refused(mapping: object) -> None:
    with pytest.raises(ConfigError, match=r"^my\.yaml: must be a mapping"):
        rule_set_from(mapping, path="my.yaml")


def test_the_digest_changes_with_any_rule() -> None:
    assert digest(PRD) == digest(rule_set_from(rule_set_to(PRD)))
    assert len({digest(PRD), digest(COURSE), digest(replace(PRD, grace=timedelta(seconds=31)))}) == 3
