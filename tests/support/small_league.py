"""A small league in memory, played to its end or stopped in the middle of a match, and the journals of those in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import pytest

from league_agents.app.agents import choose_agent
from league_agents.app.offline import OfflineLeague, OfflineTeam, memory_journal, offline_league, team_of
from league_agents.games.q21.rules import PRD
from league_agents.league.season.schedule import round_robin
from league_agents.report.season_frame import RoleJournal

GROUPS = ("crows", "owls", "wrens")
TARGET = ("Call me Ishmael.", "whale")


def league(
    referees: Mapping[str, str] = MappingProxyType({}), *, groups: Sequence[str] = GROUPS, **players: str
) -> OfflineLeague:
    """Three teams, three rounds of one match each; or other teams."""

    def side(name: str) -> OfflineTeam:
        player = choose_agent(players.get(name, "scripted"), "player", rules=PRD, seed=name)
        referee = choose_agent(referees.get(name, "scripted"), "referee", rules=PRD, seed=name)
        return OfflineTeam(team=team_of(name), player=player, referee=referee)

    sides = [side(name) for name in groups]
    schedule = round_robin([each.team for each in sides], season=1)
    return offline_league(sides, schedule, seed=5, rules=PRD, journal_of=memory_journal)


def journals(made: OfflineLeague, *roles: str) -> list[RoleJournal]:
    """``manager``, ``referees``, or a group for its player."""
    found = []
    if "manager" in roles:
        found.append(RoleJournal(role="manager", address=made.manager.address, journal=made.manager.journal))
    if "referees" in roles:
        found += [RoleJournal(role="referee", address=each.address, journal=each.journal) for each in made.referees]
    for each in made.players:
        if each.participant_id in roles:
            found.append(RoleJournal(role="player", address=each.address, journal=each.journal))
    return found


def was_sent(made: OfflineLeague, kind: str) -> bool:
    """Whether a message of this type is on its way in the first match."""
    return any(
        item.message_type == kind and item.game_id == "0101001"
        for referee in made.referees
        for item in referee.journal.outbox()
    )


def play_until(made: OfflineLeague, is_reached: Callable[[], bool]) -> str:
    """Stop in the middle of a pass: what is in hand is not finished. The match that is in play."""
    from league_agents.league.machines.events import Command, OperatorCommand

    class Reached(Exception):
        pass

    def stop() -> bool:
        if is_reached():
            raise Reached
        return False

    made.simulation.start()
    made.manager.runner.command(OperatorCommand(command=Command.OPEN_SEASON, nonce="open"))
    with pytest.raises(Reached):
        made.simulation.run(stop)
    return "0101001"
