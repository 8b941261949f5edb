"""A paid evaluation is recorded against a server on loopback, and repeated without one, byte for byte."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from league_agents.cli import command_line
from league_agents.local_league.machine_clock import MachineClock
from league_agents.local_league.patience import LIMIT_S

KEY = "sk-this-key-is-secret-0123456789"
PLAYER = ("evaluate", "player", "llm", "--rules", "course", "--games", "3", "--json")
# The seed: one with which the service fails now and then and is not left alone for a while, which a tape does not hold.
REFEREE = ("evaluate", "referee", "llm", "--rules", "prd", "--games", "2", "--seed", "2", "--json")
VARIABLES = ("LEAGUE_LLM_PROVIDER", "LEAGUE_LLM_MODEL", "LEAGUE_LLM_BASE_URL", "OPENAI_API_KEY", "LLM_MAX_RETRIES")


class Service:
    """Speaks chat completions: writes values of the schema that it is given, and fails now and then.

    What it says follows from the prompt, so that its behaviour can be foreseen; how it fails does too.
    """

    def __init__(self, server: HTTPServer) -> None:
        self._server = server
        self.asked: Counter[str] = Counter()
        server.expect_request(re.compile(".*")).respond_with_handler(self._answer)

    @property
    def url(self) -> str:
        return self._server.url_for("/v1")

    def stop(self) -> None:
        self._server.stop()

    def _answer(self, request: Request) -> Response:
        body: Any = request.get_json()
        digest = hashlib.sha256(json.dumps(body["messages"]).encode()).hexdigest()
        self.asked[digest] += 1
        mood = int(digest[:4], 16) % 8
        if mood == 0 and self.asked[digest] == 1:
            return _response({"error": {"message": "slow down", "type": "error"}}, 429, {"retry-after": "0"})
        if mood == 1:
            return _response({"error": {"message": "broken", "type": "error"}}, 500, {})
        schema = body["response_format"]["json_schema"]["schema"]
        text = json.dumps(_value(schema, schema.get("$defs", {}), digest))
        if mood == 2 and len(body["messages"]) == 2:
            text = text[: len(text) // 2]
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": len(str(body)) // 4, "completion_tokens": len(text) // 4}
        found = {"id": "1", "object": "chat.completion", "choices": [choice]}
        # Some servers do not count.
        return _response(found if mood == 3 else {**found, "usage": usage}, 200, {})


def _response(document: object, status: int, headers: dict[str, str]) -> Response:
    return Response(json.dumps(document), status=status, headers=headers, content_type="application/json")


def _value(schema: Any, defined: Any, salt: str) -> Any:
    if "$ref" in schema:
        return _value(defined[schema["$ref"].rsplit("/", 1)[-1]], defined, salt)
    kinds = schema.get("type")
    if kinds == "object":
        return {name: _value(each, defined, f"{salt}/{name}") for name, each in schema["properties"].items()}
    if kinds == "array":
        return [_value(schema["items"], defined, f"{salt}/{number}") for number in range(3)]
    if kinds in ("integer", "number"):
        return int(hashlib.sha256(salt.encode()).hexdigest()[:2], 16) % 5
    if salt.rsplit("/", 1)[-1] == "answer":
        return "A"
    return f"Question {1 + len(salt) % 9} was answered yes, which points to a page about {salt[:6]}."


@pytest.fixture
def service() -> Iterator[Service]:
    # A server of its own for each test: it is shut down in the middle of it.
    server = HTTPServer(host="127.0.0.1", port=0)
    server.start()
    yield Service(server)
    if server.is_running():
        server.stop()


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LEAGUE_AGENTS_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


def configure(service: Service) -> None:
    values = ("openai", "m", service.url, KEY, "1")
    text = "".join(f"{name}={value}\n" for name, value in zip(VARIABLES, values, strict=True))
    Path(".env").write_text(text, encoding="utf-8")


def league_agents(*arguments: str) -> Result:
    return CliRunner().invoke(command_line, list(arguments))


def recorded(service: Service, *arguments: str) -> bytes:
    configure(service)
    shown = league_agents(*arguments, "--record", "tape")
    assert shown.exit_code == 0, shown.output
    return shown.stdout_bytes


def without_network(service: Service) -> None:
    service.stop()
    Path(".env").unlink()


@pytest.mark.parametrize("arguments", [PLAYER, REFEREE], ids=["player", "referee"])
def test_a_recording_is_played_without_network_or_key_byte_for_byte(
    service: Service, arguments: tuple[str, ...]
) -> None:
    document = recorded(service, *arguments)
    assert sum(service.asked.values()) > 4
    without_network(service)
    played = league_agents(*arguments, "--replay", "tape")
    assert played.exit_code == 0, played.output
    assert played.stdout_bytes == document
    # Once more, with several games at the same time.
    assert league_agents(*arguments, "--replay", "tape", "--workers", "3").stdout_bytes == document


def test_money_is_counted_by_the_prices_of_the_recording(service: Service) -> None:
    Path("data").mkdir()
    Path("data/prices.yaml").write_text('prices: {"openai:m": {input: 2, output: 8}}', encoding="utf-8")
    document = json.loads(recorded(service, *PLAYER))
    calls = document["figures"]["model_calls"]["own"]["value"]
    assert calls * 3 == pytest.approx(sum(service.asked.values()))
    without_network(service)
    Path("data/prices.yaml").unlink()
    assert json.loads(league_agents(*PLAYER, "--replay", "tape").stdout) == document


def test_a_recording_holds_no_key_and_no_address(service: Service) -> None:
    recorded(service, *PLAYER)
    tape = Path("tape").read_text(encoding="utf-8")
    assert KEY not in tape
    assert service.url not in tape
    assert "127.0.0.1" not in tape


def test_what_is_on_the_tape_is_not_paid_for_again(service: Service) -> None:
    few = list(PLAYER)
    few[few.index("--games") + 1] = "2"
    recorded(service, *few)
    asked = service.asked.copy()
    document = recorded(service, *PLAYER)
    both = service.asked
    assert all(both[prompt] == count for prompt, count in asked.items())
    assert sum(both.values()) > sum(asked.values())
    whole = Path("tape").read_bytes()
    without_network(service)
    assert league_agents(*PLAYER, "--replay", "tape").stdout_bytes == document
    assert Path("tape").read_bytes() == whole


def test_a_missing_prompt_is_named_by_its_step_and_its_game(service: Service) -> None:
    recorded(service, *PLAYER)
    lines = Path("tape").read_text(encoding="utf-8").splitlines(keepends=True)
    asked = [json.loads(line) for line in lines]
    gone = next(each["prompt"] for each in asked if each.get("step") == "player_questions")
    Path("cut").write_text("".join(line for line in lines if gone not in line), encoding="utf-8")
    played = league_agents(*PLAYER, "--replay", "cut")
    assert played.exit_code == 3
    assert re.search(r"cut: holds no reply of openai:m to the prompt of step 'player_questions'", played.stderr)
    assert re.search(r"\(get_questions, game 010100[123], digest", played.stderr)
    assert played.stderr.strip().count("\n") == 0


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (("--seed", "2"), "seed 1, not 2"),
        (("--noise", "0.1"), "noise 0.05, not 0.1"),
        (("--opponent", "scripted"), 'agents.opponent "offline", not "scripted"'),
        (("--rules", "prd"), 'rules.name "course", not "prd"'),
    ],
)
def test_a_recording_of_other_settings_is_refused(service: Service, changed: tuple[str, ...], said: str) -> None:
    configure(service)
    few = ("evaluate", "player", "llm", "--rules", "course", "--games", "1", "--json")
    assert league_agents(*few, "--record", "tape").exit_code == 0
    before = Path("tape").read_bytes()
    for way in ("--replay", "--record"):
        shown = league_agents(*few, *changed, way, "tape")
        assert shown.exit_code == 3
        assert f"tape: was recorded under other settings: {said}; use the same" in shown.stderr
    assert Path("tape").read_bytes() == before


def test_a_file_that_is_no_recording_is_refused_and_left_alone(service: Service) -> None:
    configure(service)
    Path("notes.txt").write_text("my notes\n", encoding="utf-8")
    for way in ("--record", "--replay"):
        shown = league_agents(*PLAYER, way, "notes.txt")
        assert shown.exit_code == 3
        assert "notes.txt, line 1: is no recorded exchange" in shown.stderr
    assert Path("notes.txt").read_text(encoding="utf-8") == "my notes\n"
    other = Path("other")
    other.write_text('{"model":"m","prompt":"p","asked_before":0,"reply":"r","finish":"complete"}\n', encoding="utf-8")
    for way in ("--record", "--replay"):
        shown = league_agents(*PLAYER, way, "other")
        assert shown.exit_code == 3
        assert "other: is no recording of an evaluation" in shown.stderr
    assert service.asked == {}


def test_results_that_the_recording_lacks_are_not_mixed_with_it(service: Service) -> None:
    configure(service)
    few = ("evaluate", "player", "llm", "--rules", "course", "--games", "1", "--json", "--out", "games.jsonl")
    assert league_agents(*few).exit_code == 0
    shown = league_agents(*few, "--record", "tape")
    assert shown.exit_code == 3
    assert "games.jsonl: has game 1, which tape has not recorded" in shown.stderr


CHAIN = """
league: {{manager_email: office@example.com}}
roles:
  player: {{address: a@example.com, group_id: g, agent: llm}}
models:
  models:
    - {{name: slow, provider: openai, model: s, base_url: "{url}", retries: 2, timeout_seconds: 1}}
    - {{name: sound, provider: openai, model: m, base_url: "{url}", retries: 1}}
  use: {{default: [slow, sound], get_guess: [sound]}}
"""


class HangingService(Service):
    """One of its models does not answer."""

    stopped = threading.Event()

    def _answer(self, request: Request) -> Response:
        if request.get_json()["model"] == "s":
            self.stopped.wait(LIMIT_S)
        return super()._answer(request)


def test_a_chain_whose_first_model_is_slow_is_played_without_waiting_as_it_was_recorded() -> None:
    server = HTTPServer(host="127.0.0.1", port=0, threaded=True)
    server.start()
    service = HangingService(server)
    Path("league.yaml").write_text(CHAIN.format(url=service.url), encoding="utf-8")
    try:
        shown = league_agents(*PLAYER, "--config", "league.yaml", "--record", "tape")
        assert shown.exit_code == 0, shown.output
    finally:
        service.stopped.set()
        service.stop()
    Path("league.yaml").unlink()
    document = json.loads(shown.stdout)
    assert document["settings"]["models"]["player"]["get_questions"] == ["openai:s", "openai:m"]
    # What a request cost that nobody waited for is unknown.
    assert document["figures"]["input_tokens"]["own"] is None
    with MachineClock(Path.cwd(), rate=0).here():  # whoever waited would wait for ever
        played = league_agents(*PLAYER, "--replay", "tape")
    assert played.stdout_bytes == shown.stdout_bytes, played.output
    calls = [json.loads(line) for line in Path("tape").read_text(encoding="utf-8").splitlines()]
    assert {call["failure"] for call in calls if call.get("model") == "openai:s"} == {"unanswered"}
    assert any("reply" in call for call in calls if call.get("model") == "openai:m")
