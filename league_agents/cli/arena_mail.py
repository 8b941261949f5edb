"""``league-agents arena mail-host`` and ``mail-seat``: a match by e-mail, on the Gmail accounts of a league file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from league_agents.cli.numbers import WholeRange
from league_agents.cli.options import CONFIG, ROLE_NAMES
from league_agents.cli.own_code import in_process_option
from league_agents.cli.record_file import FileToWrite
from league_agents.cli.screen import own_stdout
from league_agents.kit.errors import ConfigError

if TYPE_CHECKING:
    from league_agents.app.agent_wanted import Company
    from league_agents.app.arena_mail import LiveHost
    from league_agents.app.live import Live
    from league_agents.cli.logs import DaemonLog
    from league_agents.config.league_settings import LeagueSettings, RoleSettings
    from league_agents.mail.service_clock import ServiceClock


_ACCOUNT = click.option(
    "--account", type=click.Choice(ROLE_NAMES), required=True, help="Whose mailbox of the league file is used."
)
_ONCE = click.option("--once", is_flag=True, help="Deal with what waits, then end; for cron.")


@click.command(name="mail-host")
@click.option("--scenario", type=click.Path(path_type=Path), metavar="FILE", help="The match; without it one goes on.")
@click.option(
    "--seats",
    multiple=True,
    metavar="SEAT=ADDRESS[,…]",
    help="Which seats are mailboxes. Seats that are not named here are played by the scenario's agents.",
)
@click.option(
    "--journal",
    required=True,
    metavar="FILE|URL",
    help="Where the match is kept: a file, or a PostgreSQL database, which holds one match of a mailbox.",
)
@click.option("--seed", type=WholeRange(0, 2**64 - 1), help="Repeats a match; default: drawn.")
@click.option("--record", type=FileToWrite(), help="Write the transcript to this file at the end.")
@CONFIG
@_ACCOUNT
@in_process_option
@_ONCE
def mail_host(
    *,
    scenario: Path | None,
    seats: tuple[str, ...],
    journal: str,
    seed: int | None,
    record: Path | None,
    config: Path | None,
    account: str,
    in_process: bool,
    once: bool,
) -> int:
    """Host a match whose seats are mailboxes.

    Everybody is invited by mail; whoever owes an action is written to. Stop it and start it again as you like: the
    journal knows where the match stands.
    """
    from league_agents.app.arena_mail import addresses_of, host_by_mail
    from league_agents.arena.own_protocol import protocol_loader
    from league_agents.arena.scenario import read_scenario
    from league_agents.cli import Exit
    from league_agents.config.storage_url import journal_place

    if scenario is None and (seats or seed is not None):
        raise click.UsageError("--seats and --seed belong to a new match: give its --scenario too")
    load_class = protocol_loader(in_process=in_process)
    with (
        own_stdout() as out,
        _account(config, account, in_process=in_process) as own,
        host_by_mail(
            own.settings,
            own.role,
            journal_place(journal, "--journal", Path()),
            scenario=None if scenario is None else read_scenario(scenario, load_class),
            addresses=addresses_of(seats),
            seed=seed,
            company=own.company,
            observer=own.log,
            clock=own.clock,
        ) as host,
    ):
        _run(host.live, once=once)
        match_id, table = host.machine.setup.match_id, host.machine.table(host.state)
        if not table.is_over:
            click.echo(f"match {match_id}: waiting for {', '.join(table.match.active())}", file=out)
            return Exit.OK
        if record is not None:
            _write(host, record)
        outcome = table.match.outcome()
        if outcome is None:
            click.echo(f"match {match_id}: abandoned", file=out)
            return Exit.FAILED
        winners = ", ".join(outcome.winners) or "nobody"
        click.echo(f"match {match_id}: won by {winners} ({outcome.reason})", file=out)
    return Exit.OK


def _write(host: LiveHost, path: Path) -> None:
    from league_agents.arena.transcript import TranscriptWriter
    from league_agents.cli.transcript_file import open_record

    scenario, addresses = host.machine.setup.scenario, host.machine.setup.addresses
    names = {seat.id: "mail" if seat.id in addresses else seat.agent for seat in scenario.seats}
    with open_record(path) as file:
        host.machine.write_down(host.state, TranscriptWriter(file, protocol=scenario.interaction, names=names))


@click.command(name="mail-seat")
@click.option("--host", "host_address", required=True, metavar="ADDRESS", help="Who hosts the match.")
@click.option(
    "--agent", "spec", metavar="SPEC", default="scripted", show_default=True, help="As in 'arena play', not human."
)
@click.option("--game", metavar="GAME", required=True, help="What is played ('league-agents arena games').")
@click.option("--match", "match_id", metavar="ID", help="The match, where the mailbox takes part in several.")
@click.option("--seat", "agent_id", metavar="SEAT", help="The seat, where the mailbox has several.")
@click.option("--referee", "is_first", is_flag=True, help="The seat is the match's first: in q21 the referee's.")
@click.option("--seed", type=WholeRange(0, 2**64 - 1), default=0, help="Of what the agent draws.")
@CONFIG
@_ACCOUNT
@in_process_option
@_ONCE
def mail_seat(
    *,
    host_address: str,
    spec: str,
    game: str,
    match_id: str | None,
    agent_id: str | None,
    is_first: bool,
    seed: int,
    config: Path | None,
    account: str,
    in_process: bool,
    once: bool,
) -> int:
    """Play a seat of a match that somebody hosts by mail, until it is over.

    Stop it and start it again as you like: what was answered is kept beside the account's journal.
    """
    from league_agents.app.arena import HUMAN, arena_agent, usual_scenario
    from league_agents.app.arena_mail import seat_by_mail
    from league_agents.arena.scenario import ScenarioSeat
    from league_agents.cli import Exit
    from league_agents.kit.model_work import sentence
    from league_agents.league.wire.address import read_address

    if read_address(host_address) is None:
        raise ConfigError(f"--host {host_address[:80]}", "is no mail address")
    if spec == HUMAN:
        raise ConfigError("--agent human", "plays on the web page of 'arena serve', or writes the mail by hand")
    seated = ScenarioSeat(id=agent_id or "me", name="me", agent=spec)
    scenario = usual_scenario(game)
    with own_stdout() as out, _account(config, account, in_process=in_process) as own:
        agent = partial(
            arena_agent, seated, scenario, own.company, seed=seed, match_id=match_id or "mail", is_first=is_first
        )
        with seat_by_mail(
            own.settings,
            own.role,
            host_address=host_address,
            make_agent=agent,
            game=game,
            match_id=match_id,
            agent_id=agent_id,
            observer=own.log,
            clock=own.clock,
        ) as seat:
            _run(seat.live, once=once)
            playing, steps = seat.game, seat.model_steps()
        if playing is not None and playing.is_over:
            click.echo(f"match {playing.match_id}: won by {', '.join(playing.winners) or 'nobody'}", file=out)
    said = sentence(steps, what="decision")
    if said is not None:
        click.echo(said[0].upper() + said[1:], err=True)
    return Exit.OK


def _run(live: Live, *, once: bool) -> None:
    """Work until nothing is left to be done or somebody wants the end; with ``once``, deal with what waits."""
    from league_agents.cli.daemon import ends_on_signals
    from league_agents.runner.scan import scan
    from league_agents.runner.wakeup import StopRequest
    from league_agents.runner.watch import watch

    if once:
        scan(live.role, live.wakeup.rest)
        return
    stop = StopRequest()
    try:
        with ends_on_signals(stop):
            watch([(live.role, live.wakeup)], stop)
    finally:
        stop.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Account:
    """An account of a league file, and what works on it."""

    settings: LeagueSettings
    role: RoleSettings
    clock: ServiceClock
    log: DaemonLog
    company: Company


@contextmanager
def _account(config: Path | None, account: str, *, in_process: bool) -> Iterator[_Account]:
    from league_agents.app.agent_wanted import Company
    from league_agents.app.models import arena_models
    from league_agents.cli.daemon import log_of
    from league_agents.config.league_file import environment_of, find_league_file, read_league_file
    from league_agents.kit.clock import SystemClock
    from league_agents.knowledge.corpus import default_index_path
    from league_agents.mail.service_clock import ServiceClock

    path = find_league_file(config)
    settings = read_league_file(path, environment_of(path), only=(account,))
    clock = ServiceClock(SystemClock())
    with log_of(settings, in_process=in_process) as log:
        models = partial(arena_models, partial(log.say, account))
        company = Company(models=models, index_path=default_index_path, now=clock.now, in_process=in_process)
        yield _Account(settings=settings, role=settings.role(account), clock=clock, log=log, company=company)
