"""What a match costs in a small and in a large league: ``scripts/bench --only size``.

Bytes are those of the mails as they are delivered, once for each recipient. Processor time is that of one process in
which all mailboxes are, with journals in memory; the league manager, all referees and all players are in it.
"""

from __future__ import annotations

import sys
import time
from typing import NamedTuple

from benchmarks.instructions import forgetful_journal
from league_agents.app.agents import choose_agent
from league_agents.app.offline import OfflineTeam, offline_league, team_of
from league_agents.games.q21.rules import PRD
from league_agents.journal.port import InboxRow, Note, OutboxItem
from league_agents.league.season.schedule import round_robin
from league_agents.mail.mime import build
from league_agents.mail.port import OutgoingMail

FEW_TEAMS, MANY_TEAMS = 20, 100


class LeagueCost(NamedTuple):
    """What the matches of one season cost."""

    matches: int
    delivered_bytes: int
    """Of all mails, each counted once for each recipient."""

    manager_sends: int
    """Mails that the league manager sent."""

    cpu_s: float

    @property
    def kilobytes_a_match(self) -> float:
        return self.delivered_bytes / self.matches / 1e3

    @property
    def milliseconds_a_match(self) -> float:
        return self.cpu_s / self.matches * 1e3


class _Scales:
    """An observer that adds up the mails that one mailbox sends."""

    def __init__(self, address: str) -> None:
        self._address = address
        self.delivered = self.sends = 0
        self.cpu_s = 0.0
        """Processor time of the weighing itself."""

    def received(self, role: str, row: InboxRow) -> None:
        pass

    def noted(self, role: str, note: Note) -> None:
        pass

    def sent(self, role: str, item: OutboxItem) -> None:
        begin = time.process_time()
        mail = OutgoingMail(
            sender=self._address,
            to=item.to,
            subject=item.subject,
            document=item.document,
            transaction_id=item.transaction_id,
            sent_at=item.created_at,
            file_name=item.file_name,
        )
        self.sends += 1
        self.delivered += len(build(mail)) * len(item.to)
        self.cpu_s += time.process_time() - begin


def league_cost(teams: int) -> LeagueCost:
    """Play a round robin of scripted teams. Raises ``RuntimeError`` unless every match of it was played."""
    names = [team_of(f"team-{number:03d}") for number in range(1, teams + 1)]
    player = choose_agent("scripted", "player", rules=PRD, seed=0)
    referee = choose_agent("scripted", "referee", rules=PRD, seed=0)
    scales: dict[str, _Scales] = {}

    def watch(participant_id: str) -> _Scales:
        return scales.setdefault(participant_id, _Scales("somebody@league.test"))

    schedule = round_robin(names, season=1)
    league = offline_league(
        [OfflineTeam(team=team, player=player, referee=referee) for team in names],
        schedule,
        seed=0,
        rules=PRD,
        journal_of=forgetful_journal,
        watch=watch,
    )
    begin = time.process_time()
    try:
        league.play()
        cpu_s = time.process_time() - begin
        matches = teams * (teams - 1) // 2
        played = sum(note.kind == "match" for note in league.manager.journal.notes())
    finally:
        league.close()
    if played != matches:
        raise RuntimeError(f"only {played} of {matches} matches were played")
    return LeagueCost(
        matches=matches,
        delivered_bytes=sum(each.delivered for each in scales.values()),
        manager_sends=scales["LM001"].sends,
        cpu_s=cpu_s - sum(each.cpu_s for each in scales.values()),
    )


def main() -> None:
    """Print the cost for each number of teams on the command line."""
    for teams in [int(each) for each in sys.argv[1:]] or [FEW_TEAMS, MANY_TEAMS]:
        cost = league_cost(teams)
        print(
            f"{teams} teams, {cost.matches} matches: {cost.kilobytes_a_match:.1f} kB delivered a match, "
            f"{cost.milliseconds_a_match:.2f} ms a match, {cost.manager_sends} mails of the manager",
            flush=True,
        )


if __name__ == "__main__":
    main()
