"""Every game that is declared is finished: listed, played by all kinds of agents, replayed, served, documented."""

from __future__ import annotations

import ast
import asyncio
import io
import json
from datetime import UTC, datetime, timedelta
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from league_agents.app.agent_wanted import Company
from league_agents.app.arena import arena_agent, memory_for, session_of, usual_scenario
from league_agents.app.arena_server import arena_house
from league_agents.arena.agents.human_agent import by_person
from league_agents.arena.agents.llm_agent import how_to_play
from league_agents.arena.agents.scripted_agent import script_of
from league_agents.arena.by_mail.letters import dump_part
from league_agents.arena.by_mail.setup import MailSetup
from league_agents.arena.pettingzoo import parallel_env, raw_env
from league_agents.arena.protocol.shapes import schema_documents
from league_agents.arena.scenario import match_of
from league_agents.arena.server.lobby import games_told
from league_agents.arena.server.page_files import page_files
from league_agents.arena.transcript import TranscriptWriter, read_transcript, replay
from league_agents.cli import command_line
from league_agents.games.declaration import faults_of, faults_of_rules
from league_agents.games.people import LANGUAGES
from league_agents.games.registry import BUILT_IN, declared, game_codes, game_of, game_source, part_of
from league_agents.journal.memory import MemoryJournal
from league_agents.kit.clock import ManualClock
from league_agents.kit.draw import Draw
from league_agents.mail.memory import PostOffice
from league_agents.turns.load import PROTOCOL_TYPES
from tests.support.mail_match import RunningHost, RunningSeat

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "league_agents"
KINDS = ("scripted", "random", "llm")

each_game = pytest.mark.parametrize("code", game_codes())


def company() -> Company:
    """Models that are all absent."""
    return Company(models=lambda: lambda _callback: None)


@each_game
def test_its_declaration_is_whole_and_every_part_can_be_loaded(code: str) -> None:
    game, rules = declared(code), game_of(code)
    assert list(faults_of(game, code)) == []
    assert list(faults_of_rules(game, rules)) == []
    assert rules.protocol is None or rules.protocol in PROTOCOL_TYPES
    references = [game.rules, game.scripted, game.person, game.memory, game.agents.make, game.agents.adapter]
    for reference in [*references, *(field.values for field in game.deciding.values())]:
        assert reference is None or callable(part_of(game, reference)) or reference == game.person
    if game.person is not None:
        assert all(callable(getattr(by_person(code), name)) for name in ("told", "shown", "prompt", "list_of", "read"))
    assert how_to_play(game)


@each_game
def test_it_is_listed_and_described(code: str) -> None:
    shown = CliRunner().invoke(command_line, ["arena", "games"])
    assert f"{code}: {declared(code).title['en']}" in shown.output
    listed = json.loads(CliRunner().invoke(command_line, ["arena", "games", "--json", "--lang", "zh"]).output)["games"]
    (told,) = [game for game in listed if game["game"] == code]
    assert told["about"] == declared(code).about["zh"]
    assert all(told[key] for key in ("rules", "config", "actions", "agents", "usual_seats", "source"))


@each_game
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_agent_plays_it_and_the_record_is_replayed(code: str, kind: str) -> None:
    scenario = usual_scenario(code, agents=[kind, "scripted"], lang="en")
    record = io.StringIO()
    session = session_of(scenario, seed=5, company=company(), recorders=[TranscriptWriter(record)])
    asyncio.run(session.run())
    assert session.match.outcome() is not None
    found = replay(read_transcript(record.getvalue().splitlines(keepends=True)), game_of(code), match_of)
    assert found.difference is None
    assert found.decisions > 0


@each_game
def test_agents_that_only_it_has_play_it(code: str) -> None:
    for name in declared(code).agents.names:
        scenario = usual_scenario(code, agents=[name], lang="en")
        seat = scenario.seats[0]
        assert callable(arena_agent(seat, scenario, company(), seed=1, match_id="m", is_first=True).act)  # type: ignore[attr-defined]


@each_game
def test_the_server_offers_it_and_the_page_draws_it(code: str) -> None:
    (told,) = [game for game in games_told(arena_house()) if game["game"] == code]
    assert told["usual_seats"] == list(declared(code).usual_seats)
    assert set(told["rules"]) == set(LANGUAGES)
    files = page_files()
    listed = files["game_list.js"].body.decode()
    entries = json.loads(listed.removeprefix("export const GAMES = ").rstrip(";\n"))
    (entry,) = [each for each in entries if each["code"] == code]
    assert entry["title"] == dict(declared(code).title)
    script = files[f"games/{code}.js"].body.decode()
    assert "export function board(" in script
    # What people are shown has a name: every key of the configuration that strangers may set, every kind of action.
    named = script + (PACKAGE / "arena/server/page/names.js").read_text(encoding="utf-8")
    wanted = {f'"action.{kind}"' for kind in game_of(code).action_schemas}
    assert not {name for name in wanted if name not in named}


@each_game
def test_it_is_a_pettingzoo_environment(code: str) -> None:
    assert raw_env(code).possible_agents
    table = parallel_env(code)
    observed, _ = table.reset(seed=3)
    for _ in range(400):
        if not table.agents:
            break
        actions = {agent: table.action_space(agent).sample(observed[agent]["action_mask"]) for agent in table.agents}
        observed, _, _, _, infos = table.step(actions)
        assert set(infos) == set(observed)


class Watching:
    """The scripted baseline, which keeps the views that it was shown."""

    def __init__(self, code: str, seat: str) -> None:
        self.script, self.draw = script_of(code), Draw(1, seat)
        self.views: list[Any] = []

    def act(self, view: Any, legal: Any, deadline: Any) -> Any:
        self.views.append(view)
        return self.script(view, legal, self.draw)


@each_game
def test_its_seats_can_be_mailboxes_and_all_agents_have_the_memory_of_the_game(code: str) -> None:
    scenario = usual_scenario(code, lang="en")
    agents = {seat: Watching(code, seat) for seat in scenario.agent_ids}
    remote = scenario.agent_ids[-1]
    made = MailSetup(
        scenario=scenario, seed=3, match_id="m-1", host_address="table@arena.test", addresses={remote: "a@arena.test"}
    )
    clock = ManualClock(datetime(2026, 3, 2, 9, 0, tzinfo=UTC))
    office = PostOffice(clock, through_mime=True)
    host = RunningHost(
        office.mailbox(made.host_address),
        MemoryJournal(dump=dump_part),
        clock,
        setup=made,
        agent_of=lambda _setup, seat: agents[seat],
        memory_for=memory_for,
    )
    seat = RunningSeat(
        agents[remote],
        office.mailbox("a@arena.test"),
        MemoryJournal(dump=dump_part),
        made.host_address,
        clock=clock,
        memory=memory_for(code),
    )
    host.start()
    for _ in range(400):
        if host.is_done and seat.is_over:
            break
        host.tick()
        seat.tick()
        clock.advance_to(clock.now() + timedelta(seconds=1))
    assert host.table.match.outcome() is not None
    assert seat.is_over
    views = [view for agent in agents.values() for view in agent.views]
    assert views
    assert all(("memory" in view) == (declared(code).memory is not None) for view in views)


@pytest.mark.parametrize("code", [code for code in game_codes() if game_source(code) == BUILT_IN])
def test_its_actions_are_published_as_schemas(code: str) -> None:
    folder = resources.files("league_agents.arena.protocol") / "schemas" / "1.0.0"
    for name, text in schema_documents([game_of(code)]).items():
        if name.startswith("action."):
            assert (folder / name).read_text(encoding="utf-8") == text, name


# The message check of guess-number is a command of its own; the market's protocol has its name from the specification,
# and settles its rounds as the game does.
_MAY_NAME_ONE = {
    *("cli/validate.py", "games/entry.py", "turns/load.py", "turns/market.py", "turns/message.py"),
}
# The league is Q21's; these are the two places where the arena meets its agents.
_LEAGUE_AT_THE_TABLE = {"arena/agents/callback_agent.py", "app/league_seat.py"}
_OF_ANY_GAME = ("arena/", "cli/arena", "turns/", "app/arena")


def test_nothing_outside_a_game_s_package_names_it() -> None:
    codes = set(game_codes())
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        where = path.relative_to(PACKAGE).as_posix()
        if where.startswith("games/") or where in _MAY_NAME_ONE | _LEAGUE_AT_THE_TABLE:
            continue
        text = path.read_text(encoding="utf-8")
        if not any(code in text for code in codes):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and node.value in codes:
                found.append(f"{where}:{node.lineno} says {node.value}")
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("league_agents.games."):
                code = (node.module or "").split(".")[2]
                if code in codes - {"q21"} or (code == "q21" and where.startswith(_OF_ANY_GAME)):
                    found.append(f"{where}:{node.lineno} imports {code}")
    for path in sorted((PACKAGE / "arena/server/page").glob("*.js")):
        text = path.read_text(encoding="utf-8")
        found += [f"{path.name} says {code}" for code in codes if f'"{code}"' in text or f"{code}." in text]
    assert found == []
