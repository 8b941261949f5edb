"""``arena serve --agent NAME=SPEC``: the operator's own agents on seats that clients choose."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from league_agents.app.arena_server import arena_house
from league_agents.arena.client import Client, ServerRefused
from league_agents.arena.server.limits import ServerLimits
from league_agents.arena.server.serving import ArenaServer
from league_agents.kit.errors import ConfigError
from league_agents.local_league.patience import LIMIT_S
from league_agents.user_code.process import UserProcess

OWN = """
class Calm:
    def act(self, view, legal, deadline):
        return {"type": "submit_price", "data": {"price": 17}}

class Speaker:
    def generate_description(self, *_args, **_more):
        return "Round"

    def vote(self, *_args, **_more):
        return 1
"""

Starter = Callable[..., ArenaServer]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "offered.py").write_text(OWN, encoding="utf-8")


def test_an_own_agent_is_offered_where_it_can_play_and_plays_in_a_process(
    start_server: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_closed = threading.Event()
    close = UserProcess.close

    def noted(process: UserProcess) -> None:
        close(process)
        is_closed.set()

    server = start_server(own_agents={"calm": "offered:Calm", "speaker": "offered:Speaker"})
    monkeypatch.setattr(UserProcess, "close", noted)
    with Client(server.url) as client:
        offered = {game["game"]: game["house"] for game in client.games()}
        assert "calm" in offered["market"]
        assert {name for name, house in offered.items() if "speaker" in house} == {"undercover"}
        match_id = client.create("market", {"max_rounds": 2}, ["open", "calm"])
        seat = client.join(match_id, name="Ann")
        end = seat.play(lambda _state: ("submit_price", {"price": 30}))
        assert end.status == "ended"
        lines = client.transcript(match_id)
        decided = [each for each in lines if each["line"] == "decision" and each["agent"] != seat.agent_id]
        assert len(decided) == 2
        assert [each["cause"] for each in decided] == [None, None], decided
        prices = [each["data"]["prices"] for each in lines if each["line"] == "event" and "prices" in each["data"]]
        assert prices[0][decided[0]["agent"]] == 17, lines
        told = client.match(match_id)
        assert told["seats"][1]["house"] == "calm", "not the place of the operator's file"
    assert is_closed.wait(LIMIT_S), "the match is over"


def test_only_so_many_seats_have_processes(start_server: Starter) -> None:
    limits = ServerLimits(own_agents=1)
    with Client(start_server(limits=limits, own_agents={"calm": "offered:Calm"}).url) as client:
        client.create("market", {}, ["open", "calm"])
        with pytest.raises(ServerRefused, match="this server's own agents"):
            client.create("market", {}, ["open", "calm"])
        client.create("market", {}, ["open", "scripted"])


@pytest.mark.parametrize(
    ("name", "spec", "said"),
    [
        ("scripted", "offered:Calm", "already"),
        ("offline", "offered:Calm", "already"),
        ("a b", "offered:Calm", "letters"),
        ("me", "human", "a person"),
        ("mine", "offered:Nobody", "plays none of the games"),
    ],
)
def test_what_cannot_be_offered_is_said_at_the_start(name: str, spec: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        arena_house(own_agents={name: spec})
