"""Each league file has the variables of its own ``.env``, and agents have those of all."""

from __future__ import annotations

from pathlib import Path

import pytest

from league_agents.app.agent_environment import AgentEnvironment
from league_agents.kit.errors import ConfigError


def league(folder: Path, variables: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / ".env").write_text(variables)
    return folder / "league.yaml"


def added(environment: AgentEnvironment, path: Path) -> dict[str, str]:
    found = environment.of(path)
    environment.add(path, found)
    return found


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_league_file_has_no_variables_of_another_ones_folder(tmp_path: Path) -> None:
    process = {"HOME": "/h"}
    environment = AgentEnvironment(process)
    one = added(environment, league(tmp_path / "a", "LEAGUE_ID=A\nHOME=/x\nONLY_A=1\n"))
    two = added(environment, league(tmp_path / "b", "LEAGUE_ID=B\n"))
    assert (one["LEAGUE_ID"], two) == ("A", {"HOME": "/h", "LEAGUE_ID": "B"})
    assert process == {"HOME": "/h", "LEAGUE_ID": "A", "ONLY_A": "1"}, "what agents read"


def test_a_changed_file_counts_when_it_is_read_again(tmp_path: Path) -> None:
    process: dict[str, str] = {}
    environment = AgentEnvironment(process)
    added(environment, league(tmp_path / "a", "OWN_API_KEY=first-key\nGONE=1\n"))
    assert added(environment, league(tmp_path / "a", "OWN_API_KEY=second-key\n")) == {"OWN_API_KEY": "second-key"}
    assert process == {"OWN_API_KEY": "second-key"}


def test_no_agent_gets_the_key_of_another_league(tmp_path: Path) -> None:
    process: dict[str, str] = {}
    environment = AgentEnvironment(process)
    added(environment, league(tmp_path / "a", "OWN_API_KEY=key-of-a-team\n"))
    added(environment, league(tmp_path / "c", "OWN_API_KEY=key-of-a-team\n"))
    with pytest.raises(ConfigError, match=r"b/\.env: OWN_API_KEY is another one than in .*a/\.env") as caught:
        added(environment, league(tmp_path / "b", "OWN_API_KEY=key-of-b-team\n"))
    assert "key-of" not in str(caught.value)
    assert process == {"OWN_API_KEY": "key-of-a-team"}


def test_a_key_that_changes_for_all_is_no_difference(tmp_path: Path) -> None:
    process: dict[str, str] = {}
    environment = AgentEnvironment(process)
    paths = [league(tmp_path / "a", "ONLY_A=1\n"), league(tmp_path / "b", "")]
    for key in ("first-key", "second-key"):
        (tmp_path / ".env").write_text(f"OWN_API_KEY={key}\n")
        assert [added(environment, path)["OWN_API_KEY"] for path in paths] == [key, key]
        assert process == {"ONLY_A": "1", "OWN_API_KEY": key}
