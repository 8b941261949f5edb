"""Every interaction protocol that is declared is finished: read, run, listed, explained and documented."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from league_agents import turns as interaction
from league_agents.arena.agents.scripted_agent import script_of
from league_agents.cli import command_line
from league_agents.games.game import Mode
from league_agents.games.registry import game_codes, game_of, usual_ids
from league_agents.kit.draw import Draw
from league_agents.kit.errors import ConfigError
from league_agents.turns.load import PROTOCOL_TYPES, load_protocol
from league_agents.turns.match import Match
from league_agents.turns.turn_taking import TurnTaking

ROOT = Path(__file__).resolve().parents[3]
AGENTS = ("a", "b", "c")

each_type = pytest.mark.parametrize("name", PROTOCOL_TYPES)


def test_every_protocol_of_the_package_is_declared() -> None:
    classes = {each for each in vars(interaction).values() if inspect.isclass(each) and issubclass(each, TurnTaking)}
    assert {each.make for each in PROTOCOL_TYPES.values()} == classes
    assert all(each.make.type == name for name, each in PROTOCOL_TYPES.items())


@each_type
def test_it_is_read_with_every_key_or_says_how_it_is_made(name: str) -> None:
    declared = PROTOCOL_TYPES[name]
    if not declared.is_in_files:
        with pytest.raises(ConfigError, match=f"instantiate the class {declared.make.__name__}"):
            load_protocol({"protocol": {"type": name}}, AGENTS)
        assert declared.make.__name__ in interaction.__all__
        return
    assert type(load_protocol({"protocol": {"type": name}}, AGENTS)) is declared.make
    parameters = inspect.signature(declared.make).parameters
    for key in declared.keys:
        assert key in parameters
        with pytest.raises(ConfigError) as wrong:
            load_protocol({"protocol": {"type": name, key: "no such thing"}}, AGENTS)
        assert wrong.value.path == f"protocol.{key}"
    own = {key for key, each in parameters.items() if each.kind is inspect.Parameter.KEYWORD_ONLY}
    assert own == set(declared.keys)
    with pytest.raises(ConfigError, match="no key"):
        load_protocol({"protocol": {"type": name, "speed": 3}}, AGENTS)


@each_type
def test_it_says_in_both_languages_what_it_does(name: str) -> None:
    protocol = PROTOCOL_TYPES[name].make(AGENTS)
    assert protocol.rule_text("en").isascii()
    assert not protocol.rule_text("zh").isascii()


@each_type
def test_agents_talk_by_it(name: str) -> None:
    protocol = PROTOCOL_TYPES[name].make(AGENTS)
    speaker = protocol.get_next_speaker()
    assert speaker is not None
    protocol.say(speaker, {"price": 20, "speech": "hello"})
    protocol.advance()
    assert protocol.message_count == 1
    assert isinstance(protocol.takes(Mode.SPOKEN), bool)


@each_type
def test_games_that_it_fits_are_played_by_it_to_the_end(name: str) -> None:
    make = PROTOCOL_TYPES[name].make
    wanted = (name, None) if make.is_for_talk else (name,)
    fitting = [code for code in game_codes() if game_of(code).protocol in wanted]
    assert fitting or not PROTOCOL_TYPES[name].is_in_files
    for code in fitting:
        agents = usual_ids(code, max(3, game_of(code).min_agents))
        match = Match(game_of(code), config={}, agent_ids=agents, seed=2, protocol=make(agents))
        script, draw = script_of(code), Draw(2, "play")
        while not match.is_over:
            agent = match.active()[0]
            match.act(agent, script({**match.view(agent), "agent_id": agent}, match.legal(agent), draw))


@each_type
def test_it_is_listed_and_documented(name: str) -> None:
    shown = CliRunner().invoke(command_line, ["arena", "protocols"])
    assert shown.exit_code == 0
    assert name in shown.output
    # What one watches out for, without the marks of a document that the reader does not have.
    assert re.search(r"\(R\d|watch out for nobody", " ".join(shown.output.split())) is None
    listed = json.loads(CliRunner().invoke(command_line, ["arena", "protocols", "--json"]).output)["protocols"]
    (told,) = [each for each in listed if each["type"] == name]
    assert set(told["keys"]) == set(PROTOCOL_TYPES[name].keys)
    page = (ROOT / "docs/reference/games.md").read_text(encoding="utf-8")
    assert f"### {name}\n" in page
    assert all(meaning in page for meaning in PROTOCOL_TYPES[name].keys.values())
