"""Whose mail comes first is never narrower than what the machines act on."""

from __future__ import annotations

from datetime import timedelta

import pytest

from league_agents.app.peers import game_wait, peers_of
from league_agents.games.q21.rules import COURSE, PRD
from league_agents.kit.ids import GameId
from league_agents.kit.values import evolve
from league_agents.league.machines.effects import Effect
from league_agents.league.machines.events import Identity
from league_agents.league.machines.manager.config import ManagerConfig
from league_agents.league.machines.manager.manager import Manager
from league_agents.league.machines.manager.state import SeasonPhase
from league_agents.league.season.schedule import Team
from league_agents.league.wire.envelope import Envelope
from league_agents.league.wire.messages import Assignment, AssignmentRole
from league_agents.mail.port import Peers
from tests.support.link import (
    GAME,
    MANAGER,
    PLAYER1,
    PLAYER2,
    REFEREE,
    Link,
    league_completed,
    new_round,
    open_link,
    player,
    referee,
    start_season,
    table,
)


class WatchedLink(Link):
    """Nobody gets a message from somebody who is no peer."""

    def tell(self, email: str, envelope: Envelope, arrived_at=None) -> list[Effect]:
        found = peers(self, email)
        assert found.admits_others or envelope.sender.email.lower() in found.addresses, envelope.message_type
        return super().tell(email, envelope, arrived_at)


def peers(link: Link, email: str) -> Peers:
    peer = link.peers[email]
    return peers_of(peer.machine, peer.state)


def test_everybody_who_writes_in_a_match_is_a_peer_of_whom_it_is_written_to() -> None:
    link = WatchedLink(peers=open_link().peers)
    link.mail = {email: open_link().mail[email] for email in link.peers}
    link.tell_all(new_round())
    link.run()
    assert link.peers[REFEREE].records(), "the match was played"
    assert not peers(link, PLAYER1).admits_others


def test_before_a_table_a_player_hears_anybody_and_a_referee_the_office_only() -> None:
    link = Link()
    link.add(referee(), REFEREE)
    link.add(player(), PLAYER1)
    link.tell_all(start_season())
    assert peers(link, REFEREE) == Peers(addresses=frozenset({MANAGER}), shortest_wait=game_wait(COURSE))
    assert peers(link, PLAYER1) == Peers(
        addresses=frozenset({MANAGER}), admits_others=True, shortest_wait=game_wait(COURSE)
    )


def test_the_table_names_the_peers() -> None:
    link = open_link()
    assert peers(link, REFEREE).addresses == {MANAGER, PLAYER1, PLAYER2}
    assert peers(link, PLAYER1).addresses == {MANAGER, REFEREE}
    assert not peers(link, PLAYER1).admits_others


def test_a_table_that_leaves_a_referee_out_lets_a_player_hear_anybody() -> None:
    link = Link()
    link.add(player(), PLAYER1)
    rows = [
        Assignment(role=role, email=email, game_id=GameId(GAME), group_id=group)
        for role, email, group in (
            (AssignmentRole.PLAYER1, PLAYER1, "falcons"),
            (AssignmentRole.PLAYER2, PLAYER2, "otters"),
        )
    ]
    link.tell_all(start_season(), table(rows=rows))
    assert peers(link, PLAYER1).admits_others


def test_nobody_waits_for_a_role_whose_league_is_over() -> None:
    link = open_link()
    assert peers(link, REFEREE).shortest_wait == game_wait(COURSE)
    link.tell_all(league_completed())
    assert [peers(link, email).shortest_wait for email in (REFEREE, PLAYER1)] == [None, None]


@pytest.mark.parametrize(
    ("phase", "wait_s"),
    [
        (SeasonPhase.SETUP, None),
        (SeasonPhase.REGISTRATION, 600),
        (SeasonPhase.ROUND, 120),  # the reports that are awaited when a round ends
        (SeasonPhase.FINISHED, None),
    ],
)
def test_the_peers_of_the_office_are_its_roster(phase: SeasonPhase, wait_s: int | None) -> None:
    teams = tuple(
        Team(group_id=name, player_email=f"{name}@L.test", referee_email=f"r.{name}@L.test", display_name=name)
        for name in ("a", "b", "c")
    )
    machine = Manager(
        config=ManagerConfig(
            identity=Identity(email=MANAGER, participant_id="LM001", seed="s"),
            season_id="S",
            season_name="S",
            league_id="L",
            season_number=1,
            teams=teams,
            rules=PRD,
        )
    )
    state = machine.initial()
    state = evolve(state, season=evolve(state.season, phase=phase))
    found = peers_of(machine, state)
    assert found.addresses == {f"{prefix}{name}@l.test" for name in ("a", "b", "c") for prefix in ("", "r.")}
    assert found.shortest_wait == (None if wait_s is None else timedelta(seconds=wait_s))
    assert not found.admits_others
