"""The rules in words follow the configuration."""

from __future__ import annotations

from typing import Any

import pytest

from league_agents.games.undercover.game import Undercover
from league_agents.games.undercover.texts import TEXTS
from league_agents.kit.errors import ConfigError

GAME = Undercover()


@pytest.mark.parametrize(
    ("config", "english", "chinese"),
    [
        ({"num_undercover": 2}, "2 are undercover", "2名是卧底"),
        ({"announce_counts": False}, "Some players are undercover", "人数不公开"),
        ({"know_own_role": True}, "and their side", "和身份"),
        ({"max_description": 77}, "1 to 77 characters", "1到77个字符"),
        ({"max_rounds": 1}, "1 round is over", "满1轮"),
        ({"max_rounds": 33}, "33 rounds are over", "满33轮"),
        ({"tie": "random"}, "one is drawn", "抽签决定"),
        ({"tie": "revote"}, "votes once more", "再投一次"),
        ({"speaking_order": "rotate"}, "one living seat later", "后移一位"),
        ({"allow_abstain": False}, "Voting for nobody is not allowed", "不允许弃权"),
        ({"reveal": "role"}, "goes out is announced", "身份会公布"),
    ],
)
def test_a_setting_shows_in_the_rules_of_both_languages(config: dict[str, Any], english: str, chinese: str) -> None:
    assert english in GAME.rules_text(config)
    assert english not in GAME.rules_text({})
    assert chinese in GAME.rules_text(config, "zh")
    assert chinese not in GAME.rules_text({}, "zh")


@pytest.mark.parametrize("switch", ["reject_own_word", "reject_repeats", "reveal_at_end"])
def test_a_rule_that_is_switched_off_is_not_told(switch: str) -> None:
    for lang in ("en", "zh"):
        on, off = (GAME.rules_text({switch: value}, lang).splitlines() for value in (True, False))
        assert len(on) == len(off) + 1


def test_the_words_are_no_part_of_the_rules() -> None:
    for lang in ("en", "zh"):
        assert "w-5f1c" not in GAME.rules_text({"pair": ["w-5f1c", "w-77aa"]}, lang)


def test_an_unknown_language_and_a_wrong_configuration_are_refused() -> None:
    with pytest.raises(ConfigError, match="lang"):
        GAME.rules_text({}, "fr")
    with pytest.raises(ConfigError, match="tie"):
        GAME.rules_text({"tie": "coin"})


def test_both_languages_have_every_sentence() -> None:
    assert set(TEXTS["en"]) == set(TEXTS["zh"])
