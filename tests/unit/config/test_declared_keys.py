"""Every key of the league file is declared once, and is read, documented, shown in the example and refused by name."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from league_agents.cli.league_file_page import DeclaredKey, declared_keys
from league_agents.config import league_keys, model_file
from league_agents.config.league_file import read_league_file
from league_agents.config.league_settings import LeagueSettings
from league_agents.kit.errors import ConfigError
from league_agents.kit.written import WrittenMapping, allowed_in_words

ROOT = Path(__file__).parents[3]
EXAMPLE = (ROOT / "config" / "league.example.yaml").read_text("utf-8")
# A commented line that is a key; prose has no "key:" at its beginning.
WHOLE: dict[str, Any] = yaml.safe_load(
    re.sub(r"(?m)^(\s*)# (?=(?: {2})*(?:- \{|(?:- )?[a-z_0-9]+:(?: |$)))", r"\1", EXAMPLE)
)
SECTIONS = [each for each in declared_keys() if each.inner is not None]
KEYS = [each for each in declared_keys() if each.inner is None]


def path_of(each: DeclaredKey) -> str:
    return f"{each.section}.{each.key}".removeprefix(".").replace("[]", "[0]")


each_key = pytest.mark.parametrize("declared", KEYS, ids=path_of)
each_one = pytest.mark.parametrize("declared", [*SECTIONS, *KEYS], ids=path_of)

OTHERS: dict[str, Any] = {
    "rules": "course",
    "league.manager_email": "office@league.test",
    "gmail.quota.units_per_minute": 9_000,
    "gmail.endpoint": "http://127.0.0.1:8000",
    "gmail.push.topic": "projects/league-two/topics/mail",
    "gmail.push.subscription": "projects/league-two/subscriptions/mail",
    "gmail.push.endpoint": "http://127.0.0.1:8000",
    "gmail.prices": {"messages.get": 3},
    "gmail.price_table": "before_2026",
    "models.use": {"default": ["near"]},
    "season.tie_breaks": ["wins"],
    "season.promoted": 1,
    "season.follows": "WINTER-2030",
    "season.core_only": ["p1@league.test"],
    "log.level": "DEBUG",
    "metrics": "[::1]:9000",
    "models.models[0].provider": "gemini",
    "models.models[0].name": "cleverer",
    "models.models[0].temperature": 0.5,
    "models.models[0].reasoning_effort": "medium",
    "models.models[0].service_tier": "priority",
    "models.models[0].base_url": "https://models.league.test/v1",
}
"""Values besides those of the example, where their type does not say which there are."""

NOT_BESIDE = {"gmail.price_table": "prices", "season.meet_twice": "schedule", "models.models[0].name": "use"}


def around(path: str) -> dict[str, Any]:
    """A league file with the key and what it cannot be without."""
    top, _, below = path.partition(".")
    role = below.partition(".")[0] if top == "roles" and below else "manager" if top == "season" else "referee"
    others = {"season": WHOLE["season"]} if role == "manager" else {"league": WHOLE["league"]}
    found = copy.deepcopy({**others, top: WHOLE[top], "roles": {role: WHOLE["roles"][role]}})
    if path.startswith("roles.manager.teams"):
        found["roles"]["manager"]["teams"] = found["season"].pop("teams")
    elif path == "season.promoted":
        teams = found["season"].pop("teams")
        renamed = json.loads(re.sub(r'"(?=[a-z.]+@|falcons"|otters"|herons")', '"b-', json.dumps(teams)))
        found["roles"]["manager"] = [
            {"name": name, "address": f"{name}@league.test", "teams": each}
            for name, each in (("one", teams), ("two", renamed))
        ]
    return found


def read(folder: Path, mapping: dict[str, Any]) -> LeagueSettings:
    path = folder / "league.yaml"
    path.write_text(json.dumps(mapping), "utf-8")
    return read_league_file(path, {"OPENAI_API_KEY": "k"})


def holder_of(mapping: Any, path: str) -> Any:
    """The mapping that has the last key of a path; made where it is absent."""
    for step in path.split(".")[:-1]:
        name, _, place = step.partition("[")
        mapping = mapping.setdefault(name, [{}] if place else {})
        mapping = mapping[0] if place else mapping
    return mapping


def other(declared: DeclaredKey, path: str, value: Any) -> Any:
    """An allowed value besides this one."""
    if path in OTHERS:
        return OTHERS[path]
    allowed = allowed_in_words(declared.kind, declared.key)
    if allowed == "true or false":
        return not (declared.default if value is None else value)
    if allowed.startswith("one of"):
        return next(word for word in allowed[7:].split(", ") if word not in (value, str(declared.default)))
    if "number" in allowed:
        least = float(re.findall(r"from (\S+) to", allowed)[0])
        return int(least) + 7 if value != int(least) + 7 else int(least) + 8
    return "other@league.test" if "address" in allowed else "other"


def test_every_class_of_keys_belongs_to_the_league_file() -> None:
    kinds = {
        kind
        for module in (league_keys, model_file)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, WrittenMapping)
    }
    # What every role has, and a price file, which is a file of its own.
    apart = {WrittenMapping, league_keys.WrittenRole, model_file.WrittenPrice, model_file.WrittenPrices}
    assert {each.kind for each in declared_keys()} == kinds - apart


@each_key
def test_it_is_read(declared: DeclaredKey, tmp_path: Path) -> None:
    path = path_of(declared)
    mapping = around(path)
    if path in NOT_BESIDE:
        del mapping[path.partition(".")[0]][NOT_BESIDE[path]]
    before = read(tmp_path, mapping)
    holder = holder_of(mapping, path)
    holder[declared.key] = other(declared, path, holder.get(declared.key))
    assert read(tmp_path, mapping) != before


@each_one
def test_a_wrong_value_is_refused_by_its_place(declared: DeclaredKey, tmp_path: Path) -> None:
    path = path_of(declared)
    mapping = around(path)
    holder_of(mapping, path)[declared.key] = [7]
    with pytest.raises(ConfigError) as wrong:
        read(tmp_path, mapping)
    assert wrong.value.path.removeprefix(f"{tmp_path / 'league.yaml'}.").startswith(path)
    assert re.search(r": must (be|have) .+, found ", str(wrong.value))
    assert "\n" not in str(wrong.value)


@each_one
def test_a_typing_error_is_told_the_key_that_was_meant(declared: DeclaredKey, tmp_path: Path) -> None:
    path = path_of(declared)
    mapping = around(path)
    holder = holder_of(mapping, path)
    holder[f"{declared.key}s_"] = holder.pop(declared.key, None) or "other"
    with pytest.raises(ConfigError, match=f"there is no key '{declared.key}s_': did you mean '{declared.key}'"):
        read(tmp_path, mapping)


@each_one
def test_it_stands_in_the_example_and_says_what_it_means(declared: DeclaredKey) -> None:
    assert re.search(rf"\b{declared.key}:", EXAMPLE)
    assert declared.meaning
