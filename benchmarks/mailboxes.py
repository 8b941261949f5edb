"""``python -m benchmarks.mailboxes``: one process that serves hundreds of mailboxes, over the sandbox.

Several leagues of 17 teams are played at once, each in a file of its own with its manager, its referees and its
players. Beside them stand a mailbox whose every call is refused with 429, one whose authorization was taken back, one
that strangers flood, and idle ones. The sandbox is in this process, the daemon in its own.

Rule: the figures are those of the daemon's process and of the sandbox's mail: memory and processor time from the
kernel, latencies from the dates that the sandbox gave the mails.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass
from email.utils import parseaddr
from pathlib import Path
from typing import Any

import click
import yaml

from league_agents.kit.clock import monotonic_s, sleep_s
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.subject import parse_subject
from league_agents.sandbox.faults import Fault, FaultAction
from league_agents.sandbox.mailbox import StoredMail
from league_agents.sandbox.server import Sandbox

DOMAIN = "league.test"
TEAMS = 17
"""Of a league: five matches in a round, with 15 of the teams."""

TROUBLE = ("refused", "revoked", "flooded")
FLOOD = 2_000
REPLIES = {
    MessageType.Q21WARMUPCALL: MessageType.Q21WARMUPRESPONSE,
    MessageType.Q21ROUNDSTART: MessageType.Q21QUESTIONSBATCH,
    MessageType.Q21ANSWERSBATCH: MessageType.Q21GUESSSUBMISSION,
}
"""What a player is sent in a game, and what it replies."""

LOOK_EVERY_S = 2.0
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, kw_only=True)
class Served:
    """What one process did."""

    mailboxes: int
    games: int
    """Games of players that were played to their score."""

    open_at_once: int
    """Most of them at one time."""

    memory_mb: float
    memory_started_mb: float
    """When every mailbox had been looked into, before the first season began to play."""

    cpu_s: float
    cpu_waited_s: float
    """How long threads that had work waited for a processor, summed: what other programs of the machine took."""

    mails: int
    """Sent and taken in."""

    cpu_ms_a_mail: float
    """Polls included."""

    poll_ms: float
    """Processor time of a look that finds nothing."""

    reply_p50_s: float
    reply_p95_s: float
    """From a mail's arrival at a player until its reply is accepted."""

    poll_s: float
    open_files: int
    threads: int
    flood_taken_in: int
    wall_s: float


def entry(kind: str, league: int, team: int, agent: str) -> dict[str, Any]:
    name = f"{kind[0]}{league:02}-{team:02}"
    return {"name": name, "address": f"{name}@{DOMAIN}", "id": name, "group_id": f"g{team:02}", "agent": agent}


def office(league: int) -> str:
    return f"office{league:02}@{DOMAIN}"


def write_leagues(folder: Path, sandbox: Sandbox, *, leagues: int, idle: int, agent: str, poll_s: float) -> list[str]:
    """Write the league files and the tokens. Return the players' addresses."""
    credentials = str(sandbox.client_secret_file(folder))
    players: list[str] = []

    def write(name: str, manager: str, roles: dict[str, Any], **more: Any) -> None:
        document = {
            "league": {"manager_email": manager, "league_id": name},
            "gmail": {"endpoint": sandbox.url, "credentials": credentials},
            "poll": {"active_seconds": poll_s, "idle_seconds": max(15.0, poll_s)},
            "roles": roles,
            **more,
        }
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")
        for kind, section in roles.items():
            for role in section if isinstance(section, list) else [section]:
                token = role.get("token", f"token_{kind}-{role.get('name')}.json")
                sandbox.token_file(role["address"], folder).replace(folder / token)

    for league in range(leagues):
        teams = [{role: entry(role, league, team, agent) for role in ("player", "referee")} for team in range(TEAMS)]
        players += [team["player"]["address"] for team in teams]
        season = {
            "id": f"S{league:02}",
            "schedule": "swiss",
            "rounds": 2,
            "round_seconds": 900,
            "teams": [
                {"group_id": team["player"]["group_id"], "player": team["player"]["address"],
                 "referee": team["referee"]["address"]}
                for team in teams
            ],
        }  # fmt: skip
        roles = {
            "manager": {
                "address": office(league), "journal": f"manager-{league}.db", "token": f"token_manager-{league}.json"
            },
            "referee": [team["referee"] for team in teams],
            "player": [team["player"] for team in teams],
        }  # fmt: skip
        write(f"league-{league:02}", office(league), roles, season=season)
    others = [*TROUBLE, *(f"idle{number:03}" for number in range(idle))]
    write(
        "others",
        f"office-of-others@{DOMAIN}",
        {
            "player": [
                {"name": name, "address": f"{name}@{DOMAIN}", "group_id": name, "agent": agent} for name in others
            ]
        },
    )
    return players


def kind_of(mail: StoredMail) -> MessageType | None:
    subject = parse_subject(mail.view.header("subject"))
    return None if subject is None else subject.message_type


def latencies(sandbox: Sandbox, players: list[str]) -> tuple[list[float], list[tuple[int, int]]]:
    """Seconds from each request to a player until its reply, and beginning and end of each of its games, in ms."""
    took: list[float] = []
    games: list[tuple[int, int]] = []
    for player in players:
        mails = sorted(sandbox.mail(player), key=lambda mail: mail.internal_ms)
        asked: dict[MessageType, int] = {}
        began: int | None = None
        for mail in mails:
            kind = kind_of(mail)
            is_sent = parseaddr(mail.view.header("from"))[1].lower() == player
            if kind in REPLIES and not is_sent:
                asked[REPLIES[kind]] = mail.internal_ms
                began = mail.internal_ms if kind is MessageType.Q21WARMUPCALL else began
            elif kind in asked and is_sent:
                took.append((mail.internal_ms - asked.pop(kind)) / 1000)
            elif kind is MessageType.Q21SCOREFEEDBACK and not is_sent and began is not None:
                games.append((began, mail.internal_ms))
                began = None
    return sorted(took), games


def most_at_once(spans: list[tuple[int, int]]) -> int:
    steps = sorted([(begin, 1) for begin, _ in spans] + [(end, -1) for _, end in spans])
    most = now = 0
    for _, change in steps:
        now += change
        most = max(most, now)
    return most


def memory_mb(pid: int, name: str = "VmHWM") -> float:
    lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    return int(next(line for line in lines if line.startswith(f"{name}:")).split()[1]) / 1024


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def cpu_waited_s(pid: int) -> float:
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text("ascii").split()[1]) for task in tasks) / 1e9


def calls_of(sandbox: Sandbox) -> Counter[str]:
    """Calls by method, without those of the refused mailbox."""
    counts: Counter[str] = Counter()
    accounts: Any = sandbox.report()["accounts"]
    for account, entry_ in accounts.items():
        if not account.startswith("refused@"):
            counts.update({method: each["calls"] for method, each in entry_["methods"].items()})
    return counts


def flood(sandbox: Sandbox, mails: int) -> None:
    to = f"flooded@{DOMAIN}"
    for number in range(mails):
        subject = f"league.v2::LEAGUEMANAGER::x{number}@evil.test::t{number}::BROADCAST_FREE_TEXT"
        raw = f"From: x{number}@evil.test\r\nTo: {to}\r\nSubject: {subject}\r\n\r\nhello\r\n".encode("ascii")
        sandbox.inject(raw, to=[to], sender=f"x{number}@evil.test")


def serve(folder: Path, *, leagues: int, idle: int, agent: str, poll_s: float, patience_s: float) -> Served:
    """Play the leagues. Raises ``RuntimeError`` if they do not end."""
    addresses = [office(league) for league in range(leagues)]
    addresses += [
        entry(kind, league, team, "")["address"]
        for league in range(leagues)
        for team in range(TEAMS)
        for kind in ("player", "referee")
    ]
    addresses += [f"{name}@{DOMAIN}" for name in (*TROUBLE, *(f"idle{number:03}" for number in range(idle)))]
    with Sandbox(addresses) as sandbox:
        leagues_folder = folder / "leagues"
        leagues_folder.mkdir(mode=0o700)
        players = write_leagues(leagues_folder, sandbox, leagues=leagues, idle=idle, agent=agent, poll_s=poll_s)
        sandbox.add_fault(
            Fault(action=FaultAction.ERROR, status=429, reason="rateLimitExceeded", account=f"refused@{DOMAIN}")
        )
        sandbox.withdraw(f"revoked@{DOMAIN}")
        flood(sandbox, FLOOD)
        began_s = monotonic_s()
        command = [sys.executable, "-m", "league_agents", "run", "--watch", "--config", str(leagues_folder)]
        environment = {**os.environ, "LEAGUE_AGENTS_DATA": str(folder / "data")}
        with (folder / "log").open("wb") as log:
            daemon = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=log, env=environment)
        try:
            wait_for(lambda: calls_of(sandbox)["getProfile"] >= len(addresses) - 2, daemon, patience_s)
            started_mb = memory_mb(daemon.pid)
            games = 2 * (TEAMS // 3) * 2 * leagues
            wait_for(lambda: len(latencies(sandbox, players)[1]) >= games, daemon, patience_s)
            quiet_s = settle(sandbox)
            before, cpu_before, waited_s = calls_of(sandbox), cpu_s(daemon.pid), cpu_waited_s(daemon.pid)
            sleep_s(20.0)
            after, cpu_after = calls_of(sandbox), cpu_s(daemon.pid)
            took, spans = latencies(sandbox, players)
            mails = after["messages.send"] + after["messages.get"]
            return Served(
                mailboxes=len(addresses),
                games=len(spans),
                open_at_once=most_at_once(spans),
                memory_mb=memory_mb(daemon.pid),
                memory_started_mb=started_mb,
                cpu_s=cpu_before,
                cpu_waited_s=waited_s,
                mails=mails,
                cpu_ms_a_mail=1000 * cpu_before / mails,
                poll_ms=1000 * (cpu_after - cpu_before) / max(1, after["history.list"] - before["history.list"]),
                reply_p50_s=took[len(took) // 2],
                reply_p95_s=took[int(len(took) * 0.95)],
                poll_s=poll_s,
                open_files=len(list(Path(f"/proc/{daemon.pid}/fd").iterdir())),
                threads=len(list(Path(f"/proc/{daemon.pid}/task").iterdir())),
                flood_taken_in=FLOOD - len(sandbox.mail(f"flooded@{DOMAIN}", "UNREAD")),
                wall_s=monotonic_s() - began_s - quiet_s,
            )
        finally:
            daemon.send_signal(signal.SIGTERM)
            daemon.wait(120)


def settle(sandbox: Sandbox) -> float:
    """Wait until nothing is sent for a while. Return the seconds."""
    began_s = monotonic_s()
    before = -1
    while (now := calls_of(sandbox)["messages.send"]) != before:
        before = now
        sleep_s(10.0)
    return monotonic_s() - began_s


def wait_for(condition: Any, daemon: subprocess.Popen[bytes], patience_s: float) -> None:
    ends_s = monotonic_s() + patience_s
    while not condition():
        if daemon.poll() is not None:
            raise RuntimeError(f"the daemon ended with code {daemon.returncode}")
        if monotonic_s() > ends_s:
            raise RuntimeError(f"not done after {patience_s:.0f} s")
        sleep_s(LOOK_EVERY_S)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--leagues", type=click.IntRange(1, 50), default=14, show_default=True, help="Of 35 mailboxes each.")
@click.option("--idle", type=click.IntRange(0, 1_000), default=7, show_default=True, help="Mailboxes besides.")
@click.option("--agent", default="scripted", show_default=True)
@click.option("--poll", "poll_s", type=click.FloatRange(0.2, 60), default=5.0, show_default=True, help="Seconds.")
@click.option("--patience", "patience_s", type=click.FloatRange(10), default=900.0, show_default=True)
@click.option("--keep", type=click.Path(path_type=Path), help="Keep the files in this folder.")
def main(*, leagues: int, idle: int, agent: str, poll_s: float, patience_s: float, keep: Path | None) -> None:
    """Serve many mailboxes with one process and print what that took, as JSON."""
    with tempfile.TemporaryDirectory(prefix="mailboxes-") as temporary:
        folder = keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        served = serve(folder, leagues=leagues, idle=idle, agent=agent, poll_s=poll_s, patience_s=patience_s)
        click.echo(json.dumps({name: round(value, 2) for name, value in asdict(served).items()}, indent=1))


if __name__ == "__main__":
    main()
