"""Our agents over A2A, as the SDK's own client finds them: the referee that assesses, and a player."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.helpers import get_data_parts
from a2a.types import Message, Part, Role, SendMessageRequest, TaskState
from click.testing import CliRunner

from league_agents.app.a2a_assessor import ServedReferee
from league_agents.app.a2a_player import ServedPlayer
from league_agents.app.a2a_server import LARGEST_REQUEST, A2aServer
from league_agents.app.agents import choose_agent
from league_agents.app.offline import play_single_game
from league_agents.cli import command_line
from league_agents.games.q21.rules import PRD
from league_agents.kit.errors import ConfigError
from league_agents.local_league.patience import LIMIT_S
from tests.support.a2a_agents import agent_elsewhere

TOKEN = "a-token-of-twenty-four-letters"


@pytest.fixture
def player() -> Iterator[str]:
    """The address of a player of ours."""
    served = ServedPlayer(choose_agent("scripted", "player", rules=PRD, seed=0), PRD)
    with A2aServer(served) as server:
        yield server.url


@pytest.fixture
def referee() -> Iterator[str]:
    with A2aServer(ServedReferee()) as server:
        yield server.url


class Heard:
    """What a client hears of one task."""

    def __init__(self) -> None:
        self.states: list[str] = []
        self.lines: list[str] = []
        self.documents: list[dict[str, Any]] = []


def send(url: str, request: object, *, version: str = "1.0", headers: dict[str, str] | None = None) -> Heard:
    """Send a request as text, as the clients of AgentBeats do, and listen until the task ends."""
    heard = Heard()

    async def talk() -> None:
        async with httpx.AsyncClient(timeout=60, headers=headers or {}) as http:
            card = await A2ACardResolver(http, url).get_agent_card()
            spoken = [each for each in card.supported_interfaces if each.protocol_version == version]
            del card.supported_interfaces[:]
            card.supported_interfaces.extend(spoken)
            client = ClientFactory(ClientConfig(streaming=True, httpx_client=http)).create(card)
            text = request if isinstance(request, str) else json.dumps(request)
            message = Message(role=Role.ROLE_USER, message_id="m1", parts=[Part(text=text)])
            async for event in client.send_message(SendMessageRequest(message=message)):
                if event.HasField("status_update"):
                    status = event.status_update.status
                    heard.states.append(TaskState.Name(status.state).removeprefix("TASK_STATE_").lower())
                    heard.lines += [part.text for part in status.message.parts if part.text]
                elif event.HasField("artifact_update"):
                    parts = event.artifact_update.artifact.parts
                    heard.lines += [part.text for part in parts if part.text]
                    heard.documents += get_data_parts(parts)

    asyncio.run(talk())
    return heard


@pytest.mark.parametrize("version", ["1.0", "0.3"])
def test_an_assessment_reports_every_game_and_ends_with_an_artifact(version: str, referee: str, player: str) -> None:
    request = {"participants": {"reader": player, "critic": player}, "config": {"referee": "scripted", "seed": 7}}
    heard = send(referee, request, version=version)
    assert heard.states[-1] == "completed"
    assert set(heard.states[:-1]) == {"working"}
    assert [line for line in heard.lines if line.startswith("game ")] == [
        "game 1 of 2: completed; points: reader 3, critic 1",
        "game 2 of 2: completed; points: critic 3, reader 1",
    ]
    (result,) = heard.documents
    assert result["winner"] == "draw"
    assert {role: score["completed"] for role, score in result["scores"].items()} == {"reader": 2, "critic": 2}
    assert [sorted(game["players"]) for game in result["games"]] == [["critic", "reader"]] * 2
    assert any(line.startswith("winner: draw; ") for line in heard.lines)


def test_a_participant_who_is_alone_plays_against_the_house_and_nothing_that_it_writes_is_in_the_result(
    referee: str,
) -> None:
    with agent_elsewhere(lambda *_: "no JSON, but <b>advertisement</b>") as spec:
        heard = send(
            referee,
            {
                "participants": {"reader": spec.partition(":")[2]},
                "config": {"games": 1, "referee": "scripted", "opponent": "scripted"},
            },
        )
    assert heard.states[-1] == "completed"
    assert set(heard.documents[0]["scores"]) == {"reader", "house"}
    assert "advertisement" not in json.dumps([heard.documents, heard.lines])


@pytest.mark.parametrize(
    ("request_", "line"),
    [
        ("play with me", "request: must hold one JSON object: "),
        ({}, "request: must hold one JSON object: "),
        ({"config": {}}, "request.participants: is missing"),
        ({"participants": {}}, "participants: must be one or two players, found 0"),
        ({"participants": {"a b": "http://127.0.0.1:1"}}, "participants: 'a b' is no role"),
        ({"participants": {"a": "file:///etc/passwd"}}, "participants.a: must be a web address"),
        ({"participants": {"a": "http://127.0.0.1:1"}, "config": {"games": 21}}, "request.config.games: "),
        ({"participants": {"a": "http://127.0.0.1:1"}, "config": {"referee": "x:Y"}}, "request.config.referee: "),
        (
            {"participants": {"a": "http://127.0.0.1:1"}, "config": {"rule": "prd"}},
            "request.config: there is no key 'rule': did you mean",
        ),
        ({"participants": {"a": "http://127.0.0.1:1"}}, "http://127.0.0.1:1: cannot be reached: "),
    ],
)
def test_a_wrong_request_is_rejected_in_one_line(request_: object, line: str, referee: str) -> None:
    heard = send(referee, request_)
    assert heard.states[-1] == "rejected"
    assert [said.startswith(line) and "\n" not in said for said in heard.lines] == [True], heard.lines


def test_a_player_of_ours_plays_the_same_on_its_seat_elsewhere(player: str) -> None:
    def players(spec: str) -> object:
        return play_single_game(seed=7, rules=PRD, referee="scripted", player_a=spec, player_b="scripted")["players"]

    assert players(f"a2a:{player}") == players("scripted")


def test_every_command_that_names_agents_takes_one_elsewhere_and_hostile_matches_do_not_confuse_it(
    player: str,
) -> None:
    spec = f"a2a:{player}"
    for arguments in (
        ["check", spec, "--role", "player"],
        ["evaluate", "player", spec, "--games", "2", "--opponent", "scripted", "--referee", "scripted"],
        ["arena", "play", "q21", "--agents", f"scripted,{spec},scripted"],
    ):
        ran = CliRunner().invoke(command_line, arguments)
        assert ran.exit_code == 0, ran.output
        assert "RemoteAgentFailed" not in ran.output


def test_a_player_refuses_what_is_no_callback_of_its_own(player: str) -> None:
    for request, line in [
        ({"callback": "get_answers"}, "callback: must be one of get_warmup_answer, get_questions"),
        ({"callback": "get_guess", "dynamic": []}, "dynamic: must be an object"),
    ]:
        heard = send(player, request)
        assert (heard.states[-1], heard.lines[0].startswith(line)) == ("rejected", True), heard.lines


def test_the_card_is_one_for_clients_of_both_versions(referee: str) -> None:
    card = httpx.get(f"{referee}/.well-known/agent-card.json").json()
    assert [each["protocolVersion"] for each in card["supportedInterfaces"]] == ["1.0", "0.3"]
    assert (card["url"], card["protocolVersion"][:3], card["preferredTransport"]) == (f"{referee}/", "0.3", "JSONRPC")
    assert card["capabilities"]["streaming"]
    assert json.loads(card["skills"][0]["examples"][0])["config"] == {"games": 2, "rules": "prd", "seed": 7}


def test_the_command_serves_until_it_is_told_to_stop(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "league_agents", "a2a", "serve", "--role", "player", "--agent", "scripted"]
    with subprocess.Popen(
        [*command, "--port", "0"], cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        heard = send(url, {"callback": "get_warmup_answer", "dynamic": {"warmup_question": "2 + 2?"}, "service": {}})
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=LIMIT_S)
    assert heard.states[-1] == "completed"
    assert "answer" in heard.documents[0]
    assert (process.returncode, said) == (0, "serving this machine only; stop it with Ctrl-C\nstopped\n")


def test_a_server_takes_requests_of_its_own_people_of_bounded_size() -> None:
    def status(**changed: Any) -> int:
        headers = {"content-type": "application/json", "authorization": f"Bearer {TOKEN}"} | changed.pop("headers", {})
        return httpx.post(f"{server.url}/", headers=headers, **{"content": b"{}", **changed}).status_code

    with A2aServer(ServedReferee(), token=TOKEN) as server:
        assert httpx.get(f"{server.url}/.well-known/agent-card.json").status_code == 200
        assert status() == 200  # an error of JSON-RPC
        assert status(headers={"authorization": "Bearer another"}) == 401
        assert status(headers={"content-type": "text/plain"}) == 415
        assert status(headers={"host": "evil.example"}) == 403
        assert status(headers={"origin": "https://evil.example"}) == 403
        assert status(content=b" " * (LARGEST_REQUEST + 1)) == 413
        assert status(content=iter([b"{}"])) == 411
        assert send(server.url, {}, headers={"authorization": f"Bearer {TOKEN}"}).states[-1] == "rejected"
    with pytest.raises(ConfigError, match="can be reached from outside; add --public"):
        A2aServer(ServedReferee(), host="0.0.0.0")
