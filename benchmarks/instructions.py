"""What a match costs in processor instructions: ``scripts/bench --instructions``.

A shared machine's speed swings by up to 1.8 times, instructions of the same work do not. They are counted by valgrind
in a process of its own for each season; the start of Python and of the season is taken off by subtracting a shorter
season.

Rule: only calls are counted in this process; instructions are valgrind's alone.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import click

import league_agents
from league_agents.app.agents import ChosenAgent, choose_agent, offline_host
from league_agents.app.league_mail import LEAGUE_MAIL
from league_agents.app.offline import (
    JournalMaker,
    OfflineLeague,
    OfflineTeam,
    journals_at,
    memory_journal,
    offline_league,
    team_of,
)
from league_agents.games.q21.rules import PRD
from league_agents.journal.memory import MemoryJournal
from league_agents.journal.port import Journal
from league_agents.kit.clock import ManualClock
from league_agents.kit.ids import game_id
from league_agents.league.machines.machine import Machine
from league_agents.league.season.schedule import Pairing, Schedule
from league_agents.league.wire.encode import encode
from league_agents.league.wire.envelope import Envelope
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.subject import format_subject
from league_agents.mail.memory import PostOffice
from league_agents.mail.port import Mail, Mailbox, OutgoingMail
from league_agents.runner.role import RoleRunner
from league_agents.runner.simulation import Simulation
from tests.support import ROOT, link

SHORT, LONG = 5, 45
"""Matches of the two seasons that are compared."""

FEW_OPEN, MANY_OPEN = 10, 200
"""Matches that are open at once."""

MODES = ("memory", "journal", "mime")
"""Mail and journals in memory; SQLite journals; these, and every mail as MIME bytes."""

_COUNTED = re.compile(r"I\s+refs:\s+([0-9,]+)")
_PACKAGE = str(Path(league_agents.__file__).parent) + os.sep


def instructions_available() -> bool:
    """Whether instructions can be counted on this machine."""
    return shutil.which("valgrind") is not None


def scripted_season(
    matches: int,
    journal_of: JournalMaker,
    *,
    through_mime: bool,
    seed: int,
    mailbox_of: Callable[[PostOffice, str], Mailbox] = PostOffice.mailbox,
) -> OfflineLeague:
    """One referee and two players, all scripted, who play one match after the other."""
    house, one, two = team_of("house"), team_of("one"), team_of("two")
    rounds = (
        (Pairing(game_id=game_id(1, number, 1), player1=one, player2=two, referee=house),)
        for number in range(1, matches + 1)
    )
    referee, player = _scripted(seed)
    sides = [
        OfflineTeam(team=house, player=None, referee=referee),
        OfflineTeam(team=one, player=player, referee=None),
        OfflineTeam(team=two, player=player, referee=None),
    ]
    return offline_league(
        sides,
        Schedule(tuple(rounds)),
        seed=seed,
        rules=PRD,
        journal_of=journal_of,
        through_mime=through_mime,
        mailbox_of=mailbox_of,
    )


def _scripted(seed: int) -> tuple[ChosenAgent, ChosenAgent]:
    """A referee and a player."""
    return (
        choose_agent("scripted", "referee", rules=PRD, seed=seed),
        choose_agent("scripted", "player", rules=PRD, seed=seed),
    )


def forgetful_journal(*, role: str, address: str, dump: Callable[[str, object], str]) -> Journal:
    """A journal in memory that stays small."""
    return MemoryJournal(dump=dump, keeps_history=False)


def play(mode: str, matches: int) -> None:
    """Play a season. Raises ``RuntimeError`` unless every match of it was played."""
    with tempfile.TemporaryDirectory() as folder:
        journals: JournalMaker = forgetful_journal if mode == "memory" else journals_at(Path(folder) / "bench.db")
        league = scripted_season(matches, journals, through_mime=mode == "mime", seed=0)
        league.play()
        _check(league.referees[0].journal, matches)
        league.close()


def _check(referee: Journal, matches: int) -> None:
    played = sum(note.kind == "match" for note in referee.notes())
    if played != matches:
        raise RuntimeError(f"only {played} of {matches} matches were played")


def play_at_once(matches: int, open_at_once: int) -> None:
    """Play matches in memory, so many of them at the same time. A league manager of this project gives a referee one
    match a round; nothing keeps another one from giving it all of them."""
    clock = ManualClock(link.START)
    office = PostOffice(clock)
    manager = office.mailbox(link.MANAGER)
    referee_agent, player_agent = _scripted(seed=0)
    runners: list[RoleRunner[Any]] = []
    machines: list[tuple[str, Machine[Any], ChosenAgent]] = [
        (link.REFEREE, link.referee(PRD), referee_agent),
        (link.PLAYER1, link.player(rules=PRD), player_agent),
        (link.PLAYER2, link.player(link.PLAYER2, "otters", PRD), player_agent),
    ]
    journals = []
    for address, machine, agent in machines:
        journal = forgetful_journal(role=machine.role, address=address, dump=machine.dump_part)
        host = offline_host(agent, clock, is_referee=machine.role == "referee")
        runners.append(RoleRunner(machine, office.mailbox(address), journal, host, clock, codec=LEAGUE_MAIL))
        journals.append(journal)

    class Arrivals:
        """When players and referee get mail: nobody reads the league manager's."""

        def next_arrival(self) -> datetime | None:
            mails = manager.fetch(1_000, lambda _: False)
            manager.acknowledge([mail.mail_id for mail in mails])
            return office.next_arrival()

    simulation = Simulation(runners, Arrivals(), clock)
    simulation.start()

    def tell(envelope: Envelope) -> None:
        manager.send(
            OutgoingMail(
                sender=link.MANAGER,
                to=(link.REFEREE, link.PLAYER1, link.PLAYER2),
                subject=format_subject(envelope),
                document=encode(envelope),
                transaction_id=envelope.message_id,
                sent_at=clock.now(),
            )
        )
        simulation.run(lambda: False)

    rounds = range(1, matches // open_at_once + 1)
    games = [game_id(1, number, place) for number in rounds for place in range(1, open_at_once + 1)]
    tell(link.start_season())
    tell(link.registration())
    tell(link.table(*games))
    for number in rounds:
        tell(link.new_round(number))
    _check(journals[0], matches)


def instructions(mode: str, matches: int, open_at_once: int = 1) -> int:
    """The instructions of a process that plays so many matches."""
    return instructions_of("benchmarks.instructions", mode, str(matches), str(open_at_once))


def instructions_of(module: str, *arguments: str) -> int:
    """The instructions of a process that runs this module."""
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    command += [sys.executable, "-m", module, *arguments]
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    found = _COUNTED.search(done.stderr)
    if done.returncode != 0 or found is None:
        raise RuntimeError(f"valgrind counted nothing (exit code {done.returncode}): {done.stderr[-500:]}")
    return int(found[1].replace(",", ""))


def millions_a_match(mode: str) -> float:
    """Instructions of one match more in a season whose matches follow one another."""
    instructions(mode, 1)  # writes the byte code of a fresh checkout, which is then read in both seasons
    return (instructions(mode, LONG) - instructions(mode, SHORT)) / (LONG - SHORT) / 1e6


def millions_a_match_of_many(open_at_once: int) -> float:
    """Instructions of a match of ``MANY_OPEN`` in memory, of which so many are open at the same time."""
    counted = [instructions("at-once", matches, each) for matches, each in ((MANY_OPEN, open_at_once), (1, 1))]
    return (counted[0] - counted[1]) / (MANY_OPEN - 1) / 1e6


class BatchTrace(NamedTuple):
    """What runs of this package while a referee turns a mail with questions into one with answers."""

    files: frozenset[str]
    calls: int
    """Calls that code of this package makes or receives, built-in functions included."""


def trace_of_one_batch() -> BatchTrace:
    """From the mail with a question batch, as the mailbox gives it, to the mail with its answers, as it is sent."""
    files: set[str] = set()
    calls = 0

    def count(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        path = frame.f_code.co_filename
        if event in ("call", "c_call") and path.startswith(_PACKAGE):
            files.add(path)
            calls += 1

    class Watched:
        """The referee's mailbox: counting begins where questions are fetched and ends where their answers are sent."""

        def __init__(self, mailbox: Mailbox) -> None:
            self._mailbox = mailbox
            self.is_done = False

        @property
        def address(self) -> str:
            return self._mailbox.address

        def fetch(self, limit: int, known: Callable[[str], bool]) -> list[Mail]:
            mails = self._mailbox.fetch(min(limit, 1), known)  # one batch at a time
            if not self.is_done and any(MessageType.Q21QUESTIONSBATCH.value in mail.subject for mail in mails):
                sys.setprofile(count)
            return mails

        def acknowledge(self, mail_ids: Sequence[str]) -> None:
            self._mailbox.acknowledge(mail_ids)

        def send(self, mail: OutgoingMail) -> None:
            self._mailbox.send(mail)
            if MessageType.Q21ANSWERSBATCH.value in mail.subject:
                sys.setprofile(None)
                self.is_done = True

        def was_sent(self, transaction_id: str) -> bool:
            return self._mailbox.was_sent(transaction_id)

    def mailbox_of(office: PostOffice, address: str) -> Mailbox:
        mailbox = office.mailbox(address)
        return Watched(mailbox) if address.startswith("referee.") else mailbox

    league = scripted_season(2, memory_journal, through_mime=False, seed=0, mailbox_of=mailbox_of)
    try:
        league.play()
    finally:
        sys.setprofile(None)
        league.close()
    return BatchTrace(frozenset(files), calls)


@click.command(hidden=True)
@click.argument("mode", type=click.Choice([*MODES, "at-once"]))
@click.argument("matches", type=int)
@click.argument("open_at_once", type=int, default=1)
def main(mode: str, matches: int, open_at_once: int) -> None:
    """Play matches: what runs under valgrind."""
    if mode == "at-once":
        play_at_once(matches, open_at_once)
    else:
        play(mode, matches)


if __name__ == "__main__":
    main()
