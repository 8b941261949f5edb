"""The configuration: defaults, bounds and what is refused (arena 3.1)."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from league_agents.games.undercover.config import CONFIG_SCHEMA, Settings
from league_agents.games.undercover.game import Undercover
from league_agents.games.undercover.words import DEFAULT_PAIRS
from league_agents.kit.errors import ConfigError


def test_the_defaults_are_those_of_the_specification() -> None:
    assert Settings.read({}).as_json() == {
        "num_undercover": 1,
        "max_rounds": 10,
        "tie": "no_elimination",
        "reveal": "none",
        "reveal_at_end": True,
        "know_own_role": False,
        "announce_counts": True,
        "speaking_order": "fixed",
        "allow_abstain": True,
        "max_description": 200,
        "reject_repeats": True,
        "reject_own_word": True,
        "lang": "zh",
        "word_pairs": None,
        "pair": None,
        "swap_pair": True,
        "names": {},
    }


def test_the_schemas_are_schemas_and_the_defaults_fit_them() -> None:
    Draft202012Validator.check_schema(CONFIG_SCHEMA)
    Draft202012Validator(CONFIG_SCHEMA).validate(Settings.read({}).as_json())
    for schema in Undercover.action_schemas.values():
        Draft202012Validator.check_schema(schema)
    assert all("default" in rule and "description" in rule for rule in CONFIG_SCHEMA["properties"].values())


def test_what_gives_the_words_away_is_marked_for_the_host_only() -> None:
    secret = {key for key, rule in CONFIG_SCHEMA["properties"].items() if rule.get("x-host-only")}
    assert secret == {"pair", "word_pairs", "swap_pair"}


def test_a_configuration_survives_json_and_reading() -> None:
    config = {"lang": "en", "word_pairs": [["wolf", "fox"], ["sun", "moon"]], "tie": "revote", "names": {"a": "Ann"}}
    settings = Settings.read(config)
    assert Settings.read(json.loads(json.dumps(settings.as_json()))) == settings
    assert settings.pairs == (("wolf", "fox"), ("sun", "moon"))


def test_null_is_the_default() -> None:
    assert Settings.read({"pair": None, "word_pairs": None, "max_rounds": None}) == Settings.read({})


def test_each_language_has_its_twelve_pairs() -> None:
    assert {lang: len(pairs) for lang, pairs in DEFAULT_PAIRS.items()} == {"zh": 12, "en": 12}
    assert Settings.read({"lang": "zh"}).pairs[0] == ("饺子", "馄饨")
    assert Settings.read({"lang": "en"}).pairs[-1] == ("poem", "song")


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ({"rounds": 3}, "configuration"),
        ({"max_rounds": 0}, "max_rounds"),
        ({"max_rounds": 101}, "max_rounds"),
        ({"max_rounds": True}, "max_rounds"),
        ({"max_rounds": 3.0}, "max_rounds"),
        ({"num_undercover": 0}, "num_undercover"),
        ({"max_description": 0}, "max_description"),
        ({"tie": "coin"}, "tie"),
        ({"tie": ["revote"]}, "tie"),
        ({"reveal": True}, "reveal"),
        ({"allow_abstain": 1}, "allow_abstain"),
        ({"lang": "fr"}, "lang"),
        ({"pair": "wolf/fox"}, "pair"),
        ({"pair": ["wolf"]}, "pair"),
        ({"pair": ["wolf", ""]}, "pair[1]"),
        ({"pair": ["wolf", "…"]}, "pair[1]"),  # nothing is left of it to be said
        ({"pair": ["wolf", 7]}, "pair[1]"),
        ({"pair": ["wolf", "f\x07x"]}, "pair[1]"),
        ({"pair": ["wolf", "x" * 61]}, "pair[1]"),
        ({"pair": ["wolf", "Wolf "]}, "pair"),
        ({"pair": ["ice cream", "ice-cream"]}, "pair"),
        ({"pair": ["wolf", "fox"], "word_pairs": [["sun", "moon"]]}, "pair"),
        ({"word_pairs": []}, "word_pairs"),
        ({"word_pairs": [["sun", "moon"], ["sun", "sun"]]}, "word_pairs[1]"),
        ({"word_pairs": {"sun": "moon"}}, "word_pairs"),
        ({"names": ["Ann"]}, "names"),
        ({"names": {f"a{number}": "Ann" for number in range(65)}}, "names"),
        ({"names": {"a": ""}}, "names.a"),
        ({"names": {"a": 3}}, "names.a"),
        ({"names": {"a": "x" * 61}}, "names.a"),
        ({"names": {"a b": "Ann"}}, "names"),
        ({3: 4}, "configuration"),
        ([], "configuration"),
    ],
)
def test_a_wrong_configuration_is_refused_with_its_key(config: Any, path: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Settings.read(config)
    assert caught.value.path == path
    assert re.search(r"\b(must|unknown|twice|same|beside|no agent id|no key)\b", str(caught.value).removeprefix(path))


def test_names_are_one_visible_line() -> None:
    assert Settings.read({"names": {"a": " Ann\u202e \n Lee "}}).names == {"a": "Ann Lee"}
