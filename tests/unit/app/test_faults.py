"""What goes wrong in an offline season, by name or by file."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from league_agents.app.faults import PROFILES, FaultProfile, faults_named
from league_agents.kit.errors import ConfigError
from league_agents.mail.misconduct import PLAYER_CONDUCT, REFEREE_CONDUCT


@pytest.mark.parametrize("profile", PROFILES.values(), ids=list(PROFILES))
def test_a_named_profile_can_be_carried_out(profile: FaultProfile) -> None:
    assert faults_named(profile.name) is profile
    assert profile.mail.delay == timedelta(seconds=profile.delay_s)
    assert set(profile.players) <= set(PLAYER_CONDUCT)
    assert set(profile.referees) <= set(REFEREE_CONDUCT)


def test_a_file_says_what_goes_wrong(tmp_path: Path) -> None:
    path = tmp_path / "storm.yaml"
    path.write_text(
        "weather: {delay_seconds: 30, loss: 0.1}\nplayers: {silent-after-warmup: 0.2, late: 1}\ntimeouts: 0.5\n",
        "utf-8",
    )
    with pytest.raises(ConfigError, match=r"add up to 1\.2"):
        faults_named(str(path))
    path.write_text(path.read_text("utf-8").replace("late: 1", "late: 0.1"), "utf-8")
    profile = faults_named(str(path))
    assert profile == FaultProfile(
        name="storm",
        delay_s=30,
        weather={"loss": 0.1},
        players={"silent-after-warmup": 0.2, "late": 0.1},
        timeouts=0.5,
    )
    assert profile.mail.loss == 0.1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("weather: {rain: 0.5}", "rain"),
        ("weather: {loss: 1.5}", "loss"),
        ("players: {sleepy: 0.5}", "sleepy"),
        ("timeouts: often", "timeouts"),
    ],
)
def test_a_key_that_cannot_be_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "storm.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=message):
        faults_named(str(path))


def test_a_name_that_is_neither_says_which_there_are() -> None:
    with pytest.raises(ConfigError, match="none, light, heavy"):
        faults_named("stormy")
