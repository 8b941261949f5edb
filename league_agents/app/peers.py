"""The addresses that may write to a role, as its machine knows them (protocol 2.6).

Rule: mail of other addresses is opened last, so this set is never narrower than the machine's.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from league_agents.games.q21.rules import RuleSet
from league_agents.league.machines.machine import Machine
from league_agents.league.machines.manager.config import ManagerConfig
from league_agents.league.machines.manager.manager import Manager
from league_agents.league.machines.manager.state import ManagerState, SeasonPhase
from league_agents.league.machines.player.player import PlayerMachine, PlayerState
from league_agents.league.machines.referee.referee import Referee, RefereeState
from league_agents.league.wire.address import address_key
from league_agents.mail.port import Peers

_QUIET_SEASON = (SeasonPhase.SETUP, SeasonPhase.FINISHED)


def peers_of(machine: Machine[Any], state: object) -> Peers:
    """The peers of a role in this state."""
    match machine, state:
        case Manager(config=config, roster=roster), ManagerState(season=season):
            return Peers(
                addresses=frozenset(member.key for member in roster.members),
                shortest_wait=_office_wait(config, season.phase),
            )
        case Referee(config=config), RefereeState(league=league, matches=matches):
            players = [email for each in league.fixtures for email in (each.player1_email, each.player2_email)]
            players += [seat.email for match in matches.values() for seat in match.seats]
            is_over = league.is_completed and not matches
            return Peers(
                addresses=_keys([config.manager_email, *players]),
                shortest_wait=None if is_over else game_wait(config.rules),
            )
        case PlayerMachine(config=config), PlayerState(league=league, games=games):
            referees = [fixture.referee_email for fixture in league.fixtures]
            referees += [game.referee_email for game in games.values()]
            is_over = league.is_completed and not any(game.is_open for game in games.values())
            return Peers(
                addresses=_keys([config.manager_email, *referees]),
                # Without a table the first sender of a request is the referee of a game (protocol 5.6).
                admits_others=not league.has_table or not all(fixture.referee_email for fixture in league.fixtures),
                shortest_wait=None if is_over else game_wait(config.rules),
            )
    raise TypeError(f"{type(machine).__name__} is no role of a league")


def is_game_open(state: object) -> bool:
    """Whether another participant may be waiting for this role right now."""
    match state:
        case RefereeState(matches=matches):
            return bool(matches)
        case PlayerState(games=games):
            return any(game.is_open for game in games.values())
        case ManagerState(season=season):
            return season.phase not in _QUIET_SEASON
        case _:
            return False


def game_wait(rules: RuleSet) -> timedelta:
    """The shortest wait of one side of a game for the other."""
    return min(rules.warmup_wait, rules.questions_wait, rules.guess_wait)


def _keys(addresses: Iterable[str]) -> frozenset[str]:
    return frozenset(address_key(address) for address in addresses if address)


def _office_wait(config: ManagerConfig, phase: SeasonPhase) -> timedelta | None:
    waits = {
        SeasonPhase.REGISTRATION: (config.registration_wait,),
        SeasonPhase.ASSIGNED: (config.start_delay,),
        SeasonPhase.ROUND: (config.round_wait, config.end_of_round_grace),
        SeasonPhase.CLOSING: (config.end_of_round_grace,),
        SeasonPhase.BETWEEN: (config.round_wait,),
    }.get(phase, ())
    return min((wait for wait in waits if wait), default=None)
