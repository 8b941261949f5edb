"""What runs the program as a service: the image, the composed services and the unit are as safe as they say."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from league_agents.cli import Exit
from league_agents.config.examples import SYSTEMD_UNIT, example_text
from league_agents.local_league.patience import LIMIT_S

ROOT = Path(__file__).resolve().parents[2]
TOOLS = Path(sys.executable).parent
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
SECRETS = re.compile(r"PASSWORD|TOKEN|KEY|SECRET")

MOST_EXPOSED = 20
"""Tenths of the points of ``systemd-analyze security``: a service without any protection has 96 of them."""


def instructions(name: str) -> list[str]:
    """The arguments of each instruction of the last stage of the image."""
    last = re.sub(r"\\\n\s*", "", DOCKERFILE.rsplit("\nFROM ", 1)[1])
    return [line.split(maxsplit=1)[1] for line in last.splitlines() if line.startswith(f"{name} ")]


def names_in(requirements: str) -> set[str]:
    return set(re.findall(r"^([\w.-]+)(?:\[[\w, ]+\])?==", requirements, flags=re.MULTILINE))


def unit() -> configparser.RawConfigParser:
    parsed = configparser.RawConfigParser(strict=False)
    parsed.optionxform = str  # type: ignore[assignment, method-assign]
    parsed.read_string(example_text(SYSTEMD_UNIT))
    return parsed


def checked(*command: str) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_image_keeps_to_the_rules_of_its_linter() -> None:
    checked(str(TOOLS / "hadolint"), "Dockerfile")


def test_the_composed_services_keep_to_the_rules_of_their_linter() -> None:
    options = ("--quiet", "--strict-config", "--no-env", "--fail-on", "low")
    checked(str(TOOLS / "compose-lint"), "check", *options, "compose.yaml")


def test_the_image_runs_as_nobody_and_says_how_it_is() -> None:
    (user,) = instructions("USER")
    assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", user)
    (health,) = instructions("HEALTHCHECK")
    assert "127.0.0.1:9464/healthz" in health
    assert instructions("STOPSIGNAL") == ["SIGTERM"]
    assert instructions("ENTRYPOINT") == ['["league-agents"]']
    assert instructions("COPY") == ["--from=build /opt/league-agents /opt/league-agents"]


def test_no_secret_gets_into_a_layer() -> None:
    ignored = [line for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line[:1] not in ("", "#")]
    assert ignored[0] == "*"
    allowed = {line[1:] for line in ignored[1:] if line.startswith("!")}
    assert allowed == {
        "requirements.txt", "requirements-dev.txt", "pyproject.toml", "README.md", "LICENSE", ".env.example",
        "config", "league_agents",
    }  # fmt: skip
    assert not any(SECRETS.search(line) for line in DOCKERFILE.splitlines() if line.startswith(("ARG", "ENV")))


def test_the_image_has_every_package_of_its_extras_with_its_hash(tmp_path: Path) -> None:
    (selection,) = re.findall(r"(awk '.*?' requirements-dev\.txt)", DOCKERFILE)
    shown = subprocess.run(["sh", "-c", selection], cwd=ROOT, capture_output=True, text=True, check=True)
    locked = names_in((ROOT / "requirements.txt").read_text("utf-8")) | names_in(shown.stdout)
    (extras,) = re.findall(r"'\.\[([\w,]+)\]'", DOCKERFILE)
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    wanted = {re.split(r"[\[<>=]", each)[0] for extra in extras.split(",") for each in declared[extra]}
    assert {"psycopg", "prometheus-client", "uvicorn"} <= wanted
    assert wanted | {"psycopg-binary", "psycopg-pool"} <= locked
    assert shown.stdout.count("--hash=sha256:") > shown.stdout.count("==") > 3


def services() -> Mapping[str, Mapping[str, Any]]:
    composed: Mapping[str, Mapping[str, Mapping[str, Any]]] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
    return composed["services"]


@pytest.mark.parametrize("name", ["daemon", "dashboard", "db"])
def test_a_composed_service_writes_nowhere_but_to_what_is_mounted(name: str) -> None:
    service = services()[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["user"] not in ("", "root", "0")
    assert {"cpus", "memory"} == set(service["deploy"]["resources"]["limits"])
    assert name == "daemon" or "healthcheck" in service  # the daemon's is the image's


def test_the_composed_services_hold_no_secret_and_open_no_port_to_others() -> None:
    for service in services().values():
        for key, value in service["environment"].items():
            if SECRETS.search(key):
                assert re.fullmatch(r"\$\{\w+:\?[^}]+\}", value), key
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
    assert services()["db"]["networks"] == ["journals"]


def test_the_commands_of_the_services_are_known() -> None:
    from league_agents.cli import command_line

    for name in ("daemon", "dashboard"):
        first, *options = services()[name]["command"]
        command = command_line.get_command(command_line.make_context("x", ["--help"], resilient_parsing=True), first)
        assert command is not None
        known = {each for option in command.params for each in option.opts}
        assert {each for each in options if each.startswith("--")} <= known


def test_the_unit_starts_nothing_again_that_needs_a_person() -> None:
    service = unit()["Service"]
    stays_down = {Exit(int(code)) for code in service["RestartPreventExitStatus"].split()}
    assert stays_down == {Exit.CONFIGURATION, Exit.AUTHORIZATION}
    assert (service["Type"], service["Restart"], service["WatchdogSec"]) == ("notify", "on-failure", "5min")


@pytest.fixture
def analyzed(tmp_path: Path) -> Path:
    """The unit with a program that exists here, where systemd-analyze can look at it."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip(
            "!!! THE UNIT OF SYSTEMD WAS NOT CHECKED: there is no systemd-analyze (Debian: apt-get install systemd)"
        )
    text = example_text(SYSTEMD_UNIT)
    assert "ExecStart=/opt/league-agents/bin/league-agents run --watch\n" in text
    path = tmp_path / "league-agents.service"
    path.write_text(text.replace("/opt/league-agents/bin/league-agents", str(TOOLS / "league-agents")), "utf-8")
    return path


def test_systemd_understands_the_unit(analyzed: Path) -> None:
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(analyzed)],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    # Complaints about other units of this machine are none of ours.
    ours = [line for line in (done.stdout + done.stderr).splitlines() if "league-agents.service" in line]
    assert ours == []


def test_systemd_finds_the_service_well_shut_in(analyzed: Path) -> None:
    checked("systemd-analyze", "security", "--offline=true", "--no-pager", f"--threshold={MOST_EXPOSED}", str(analyzed))
