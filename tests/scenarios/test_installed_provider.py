"""The provider of ``docs/how-to/providers.md``, installed as a distribution of its own, is used by its name."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from league_agents.local_league.patience import LIMIT_S

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how-to" / "providers.md").read_text(encoding="utf-8")
KEY = "acme-this-key-is-secret-0123456789"

Install = Callable[[Mapping[str, str]], Path]


def example(language: str, name: str) -> str:
    (text,) = re.findall(rf"```{language}\n# {re.escape(name)}\n(.*?)```", PAGE, flags=re.DOTALL)
    return str(text)


@pytest.fixture(scope="module")
def acme(install_distribution: Install) -> Path:
    files = {"pyproject.toml": example("toml", "pyproject.toml"), "acme_models.py": example("python", "acme_models.py")}
    return install_distribution(files)


class Service:
    """What the example speaks to. It writes values of the schema that stands in the prompt."""

    def __init__(self, server: HTTPServer) -> None:
        self.url = server.url_for("").rstrip("/")
        self.asked: list[Any] = []
        server.expect_request("/ask").respond_with_handler(self._answer)

    def _answer(self, request: Request) -> Response:
        if request.headers["Authorization"] != f"Bearer {KEY}":
            return Response("no", status=401)
        body = request.get_json()
        self.asked.append(body)
        form = body["texts"][0].rpartition("valid under this JSON Schema: ")[2]
        text = json.dumps(_value(json.loads(form), json.loads(form).get("$defs", {}))) if "{" in form else "ready"
        return Response(json.dumps({"text": text, "read": 1_000, "written": 100}))


def _value(schema: Any, defined: Any) -> Any:
    if "$ref" in schema:
        return _value(defined[schema["$ref"].rpartition("/")[2]], defined)
    kind = schema.get("type")
    if kind == "object":
        return {name: _value(each, defined) for name, each in schema["properties"].items()}
    if kind == "array":
        return [_value(schema["items"], defined)]
    return 1 if kind in ("integer", "number") else "A page of the book tells of this at some length, and so it is."


@pytest.fixture
def service(httpserver: HTTPServer) -> Service:
    return Service(httpserver)


def league_agents(folder: Path, *arguments: str, site: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LEAGUE_LLM", "LLM_"))}
    kept.update(PYTHONPATH=str(site), LEAGUE_AGENTS_DATA=str(folder / "data"), **variables)
    command = [sys.executable, "-m", "league_agents", *arguments]
    return subprocess.run(command, cwd=folder, env=kept, capture_output=True, text=True, timeout=LIMIT_S, check=False)


def configure(folder: Path, service: Service, key: str = KEY) -> None:
    text = f"LEAGUE_LLM_PROVIDER=acme\nLEAGUE_LLM_BASE_URL={service.url}\nACME_API_KEY={key}\nLLM_MAX_RETRIES=0\n"
    (folder / ".env").write_text(text, encoding="utf-8")


def test_a_match_is_played_with_it_and_its_calls_are_accounted(acme: Path, service: Service, tmp_path: Path) -> None:
    configure(tmp_path, service)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "prices.yaml").write_text('prices: {"acme:*": {input: 1, output: 10}}')
    played = league_agents(
        tmp_path, "run", "--single-game", "--player-a", "llm", "--rules", "course", "--json", site=acme
    )
    assert played.returncode == 0, played.stderr
    assert service.asked
    assert {body["model"] for body in service.asked} == {"acme-1"}
    assert json.loads(played.stdout)["players"][0]["termination"] == "completed"
    shown = league_agents(tmp_path, "costs", "--json", site=acme)
    (cost,) = json.loads(shown.stdout)["costs"]
    assert (cost["name"], cost["calls"], cost["failures"]) == ("acme:acme-1", len(service.asked), 0)
    assert cost["cost_usd"] == pytest.approx(0.002 * len(service.asked))


def test_an_evaluation_asks_it(acme: Path, service: Service, tmp_path: Path) -> None:
    configure(tmp_path, service)
    played = league_agents(
        tmp_path, "evaluate", "player", "llm", "--games", "1", "--rules", "course", "--json", site=acme
    )
    assert played.returncode == 0, played.stderr
    assert json.loads(played.stdout)["settings"]["models"]["player"]["get_questions"] == ["acme:acme-1"]
    assert service.asked


def test_it_is_listed_and_tried_out(acme: Path, service: Service, tmp_path: Path) -> None:
    configure(tmp_path, service)
    shown = league_agents(tmp_path, "config", "providers", site=acme)
    assert shown.returncode == 0, shown.stderr
    assert "acme: Acme's language models (acme-models 1.0)" in shown.stdout.splitlines()
    assert "  key     ACME_API_KEY (ACME_API_KEY is set)" in shown.stdout.splitlines()
    (tmp_path / "league.yaml").write_text(
        "league: {manager_email: office@example.com}\n"
        "roles: {player: {address: me@example.com, group_id: g, agent: llm}}\n"
    )
    tried = league_agents(tmp_path, "run", "--test-connectivity", site=acme)
    assert re.search(r"acme:acme-1 answered within [\d.]+ s", tried.stdout), tried.stdout + tried.stderr


PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "{name}"
version = "2.0"

[project.entry-points."league_agents.providers"]
{points}

[tool.hatch.build.targets.wheel]
include = ["{module}.py"]
"""


@pytest.fixture(scope="module")
def broken(install_distribution: Install) -> Path:
    points = '{0} = "broken_models:PROVIDER"\nnone = "broken_models:NONE"\ngone = "no_such_module:PROVIDER"'
    text = "from league_agents.llm.provider import Provider\nNONE = 1\nPROVIDER = Provider(name='other', title='t',"
    text += " base_url='https://a.example', key_variables=(), connect=print)\n"
    project = PROJECT.format(name="broken-models", module="broken_models", points=points.format("misnamed"))
    return install_distribution({"pyproject.toml": project, "broken_models.py": text})


def test_broken_declarations_are_one_line_each_with_the_remedy(broken: Path, tmp_path: Path) -> None:
    shown = league_agents(tmp_path, "config", "providers", site=broken)
    assert shown.returncode == 3
    assert "openai: OpenAI's chat completions (built in)" in shown.stdout
    lines = dict(zip(("gone", "misnamed", "none"), shown.stderr.splitlines(), strict=True))
    assert "No module named 'no_such_module'" in lines["gone"]
    assert "its name is 'other'; it must be the entry point's" in lines["misnamed"]
    assert "broken_models:NONE is 1, not a Provider" in lines["none"]
    assert all(f"{name} of broken-models 2.0 cannot be used" in line for name, line in lines.items())
    assert all(line.endswith("; repair or uninstall broken-models") for line in lines.values())
    played = league_agents(
        tmp_path, "run", "--single-game", "--player-a", "llm", site=broken,
        LEAGUE_LLM_PROVIDER="gone", LEAGUE_LLM_MODEL="m",
    )  # fmt: skip
    assert (played.returncode, played.stderr) == (3, f"league-agents: {lines['gone']}\n")
