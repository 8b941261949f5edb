"""Six teams over local Gmail: everything goes wrong once, and the manager's process is killed after each of it."""

from __future__ import annotations

import base64
import json
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import yaml
from click.testing import CliRunner

from league_agents.cli import command_line
from league_agents.journal.port import OutboxState, StoredJournal
from league_agents.league.machines.manager.state import SeasonPhase
from league_agents.local_league.league import MANAGER, LeagueProcess, LocalLeague, unhurried
from league_agents.mail.mime import build
from league_agents.mail.port import OutgoingMail
from tests.support import ROOT

TEAMS = ("ravens", "falcons", "otters", "wolves", "herons", "badgers")
SILENT_PLAYER, SILENT_REFEREE = "badgers", "wolves"
REPORT = "MATCH_RESULT_REPORT"
A_STEP = timedelta(minutes=3)
"""Longer than a player's wait with its grace, and than the wait for the last reports of a round."""

A_ROUND = timedelta(minutes=31)


class Season:
    """The processes: one for the manager, and one for each team's referee and player."""

    def __init__(self, league: LocalLeague) -> None:
        self.league = league
        self.manager, *others = league.seats
        self.referees = {seat.group: seat for seat in others if seat.role == "referee"}
        self.players = {seat.group: seat for seat in others if seat.role == "player"}
        office = yaml.safe_load(league.config_of(self.manager).read_text("utf-8"))
        office["season"] |= {"schedule": "swiss", "rounds": 2}
        league.config_of(self.manager).write_text(yaml.safe_dump(office), "utf-8")

    def start(self) -> None:
        """Start two processes: one for the roles of all teams, and one for the manager."""
        others = [*self.referees.values(), *self.players.values()]
        files = [str(self.league.config_of(seat)) for seat in others]
        self.league.start(others[0], "tests.support.team_process", *files, guests=others[1:])
        self.league.start(self.manager)
        self.league.until(lambda: all(map(self.has_journal, self.league.seats)), "everybody has a journal")

    def has_journal(self, seat: LeagueProcess) -> bool:
        journal = self.league.look_at_journal(seat)
        if journal is not None:
            journal.close()
        return journal is not None

    def kill_manager(self) -> None:
        self.league.kill(self.manager)
        self.league.start(self.manager)

    @contextmanager
    def journal(self, seat: LeagueProcess | None = None) -> Iterator[StoredJournal]:
        found = self.league.look_at_journal(seat or self.manager)
        assert found is not None
        with closing(found):
            yield found

    def matches(self) -> dict[str, dict[str, Any]]:
        """The facts that the manager has recorded of each match that is over; the latest."""
        with self.journal() as journal:
            return {note.key: dict(note.facts) for note in journal.notes(kinds=("match",))}

    def has_warned(self, code: str) -> bool:
        with self.journal() as journal:
            return any(note.key == code for note in journal.notes(kinds=("warning",)))

    def has_sent(self, seat: LeagueProcess, kind: str, game_id: str) -> bool:
        with self.journal(seat) as journal:
            sent = journal.outbox(types=(kind,), game=game_id)
            return any(item.state is OutboxState.SENT for item in sent)

    def phase(self) -> str:
        with self.journal() as journal:
            found: str = json.loads(journal.load_parts()["season"])["phase"]
            return found

    def rounds(self) -> int:
        with self.journal() as journal:
            return sum(1 for _ in journal.notes(kinds=("round",)))

    def pass_time(self, span: timedelta) -> None:
        assert self.league.clock is not None
        self.league.clock.advance(span)

    def until(self, condition: Callable[[], bool], event: str) -> None:
        self.league.until(condition, event)

    def order(self, *words: str) -> None:
        """Give the manager an order, and wait until it is carried out."""
        config = str(self.league.config_of(self.manager))
        done = CliRunner().invoke(command_line, ["manage", *words, "--config", config, "--wait", "0"])
        assert done.exit_code == 0, done.stderr

        def is_done() -> bool:
            with self.journal() as journal:
                return not journal.open_orders()

        self.until(is_done, f"the manager has carried out {words[0]}")
        assert not self.has_warned("command_refused")

    def report_again(self, referee: LeagueProcess, game_id: str) -> None:
        """The referee's mailbox sends its report once more, with the points of the two players exchanged."""
        with self.journal(referee) as journal:
            (item,) = journal.outbox(types=(REPORT,), game=game_id)
        payload = dict(item.document["payload"])  # type: ignore[call-overload]
        one, two = payload["scores"]
        payload["scores"] = [
            {**one, "league_points": two["league_points"]},
            {**two, "league_points": one["league_points"]},
        ]
        payload["winner_id"] = next(
            each["participant_id"] for each in (one, two) if each["participant_id"] != payload["winner_id"]
        )
        again = "second-thoughts"
        raw = build(
            OutgoingMail(
                sender=referee.address,
                to=(MANAGER,),
                subject=item.subject.replace(item.transaction_id, again),
                document={**item.document, "message_id": again, "payload": payload},
                transaction_id=again,
                sent_at=item.created_at,
            )
        )
        sandbox = self.league.sandbox
        request = urllib.request.Request(
            f"{sandbox.url}/gmail/v1/users/me/messages/send",
            data=json.dumps({"raw": base64.urlsafe_b64encode(raw).decode()}).encode(),
            headers={
                "Authorization": f"Bearer {sandbox.access_token(referee.address)}",
                "Content-Type": "application/json",
            },
        )
        with urllib.request.urlopen(request) as answer:
            assert answer.status == 200


def seats() -> list[LeagueProcess]:
    found = [LeagueProcess(role="manager", group="")]
    for group in TEAMS:
        for role, silent in (("referee", SILENT_REFEREE), ("player", SILENT_PLAYER)):
            agent = "scripted:silent" if group == silent else "scripted"
            found.append(LeagueProcess(role=role, group=group, agent=agent))
    return found


# By hand, with the rules "prd". Scripted player 1 finds sentence and word, player 2 the sentence alone: 3:1 in each
# match that is played.
#
#          round 1         round 2          replay        sum  won
# ravens   - falcons (b)   3 badgers (d)    3 falcons (e)   6    2
# wolves   3 otters (c)    3 herons                         6    2
# herons   3 badgers (a)   1 wolves                         4    1
# otters   1 wolves (c)    3 falcons                        4    1
# falcons  - ravens (b)    1 otters         1 ravens (e)    2    0
# badgers  0 herons (a)    0 ravens (d)                     0    0
#
# (a) the badgers' player is silent: a win for the herons, by walkover
# (b) the wolves' referee is silent: 3 points each, and nobody has won, until (e)
# (c) the falcons' referee reports 3:1, and then 1:3: the first report counts
# (d) the badgers are withdrawn while their player is silent once more: a walkover
# (e) the match of (b) is played again under the otters' referee: 3:1 counts instead
STANDINGS = {
    "ravens": (6, 2, 2),
    "wolves": (6, 2, 2),
    "herons": (4, 1, 2),
    "otters": (4, 1, 2),
    "falcons": (2, 0, 2),
    "badgers": (0, 0, 2),
}
"""Points, wins and games."""


def test_the_standings_are_those_computed_by_hand(tmp_path: Path) -> None:
    with unhurried(tmp_path / "league", seats(), environment={"PYTHONPATH": str(ROOT)}) as league:
        season = Season(league)
        season.start()
        season.until(
            lambda: season.has_sent(season.players["herons"], "Q21WARMUPRESPONSE", "0101003"),
            "the herons have answered the warm-up, and the badgers have not",
        )
        season.until(lambda: "0101002" in season.matches(), "the wolves and the otters have played")
        season.pass_time(A_STEP)
        season.until(lambda: "0101003" in season.matches(), "the badgers' silence is reported")
        assert season.matches()["0101003"]["absent"] == ["player2"]
        season.kill_manager()

        season.report_again(season.referees["falcons"], "0101002")
        season.until(lambda: season.has_warned("report_conflict"), "two reports contradict each other")
        season.kill_manager()

        season.pass_time(A_ROUND)
        season.until(lambda: season.phase() == SeasonPhase.CLOSING, "the time of round 1 is over")
        season.pass_time(A_STEP)
        season.until(lambda: season.rounds() == 1, "round 1 is closed without the wolves' referee")
        assert season.matches()["0101001"]["absent"] == ["referee"]
        season.kill_manager()

        # The badgers' match keeps the round open for as long as nobody moves the clock.
        season.until(lambda: {"0102001", "0102002"} <= set(season.matches()), "the other matches of round 2 are over")
        season.order("replay", "0101001", "--why", "nobody judged it")
        season.order("substitute-referee", "0101001", "otters", "--why", "the wolves' referee does not answer")
        season.kill_manager()

        season.order("withdraw", "badgers", "--why", "they do not answer")
        season.kill_manager()

        season.until(
            lambda: season.has_warned("settled_report"), "the herons' referee reports what it had to break off"
        )
        over = league.wait_for_season()
        assert set(league.stop().values()) == {0}
        report: dict[str, Any] = league.sandbox.report()
        assert report["accepted_twice"] == []
        rows: Any = over.facts["standings"]
        keys = ("total_points", "games_won", "games_played")
        assert {row["participant_id"]: tuple(row[key] for key in keys) for row in rows} == STANDINGS
        assert [row["rank"] for row in rows] == [1, 2, 3, 4, 5, 6]  # equal points are parted by wins, then by scores

        ended = {key: facts["termination"] for key, facts in season.matches().items()}
        assert ended == {
            "0101001": "annulled",  # it is played again
            "0101002": "completed",
            "0101003": "player_timeout",
            "0102001": "completed",
            "0102002": "completed",
            "0102003": "walkover",
            "0103001": "completed",
        }
        disputes = shown("disputes", league.folder)
        assert {(each["game_id"], each["kind"], each["settled"]) for each in disputes} == {
            ("0101001", "missing", "replay"),
            ("0101002", "contradictory", ""),
            ("0102003", "late", "withdraw"),  # the herons' referee breaks off when the withdrawal ends the round
        }
        evidence = {each["by"] for dispute in disputes for each in dispute["evidence"]}
        assert {"referee falcons", "player wolves: its journal", "player otters: its journal"} <= evidence
        told = {match["game_id"]: match for match in shown("matches", league.folder)}
        assert told["0102003"]["absent"] == ["player1"]
        assert told["0102003"]["winner_id"] == "ravens"


def shown(what: str, folder: Path) -> list[dict[str, Any]]:
    done = CliRunner().invoke(command_line, ["show", what, "--from", str(folder), "--json"])
    assert done.exit_code == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found
