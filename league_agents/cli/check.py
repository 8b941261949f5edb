"""``league-agents check``: does a class keep the contracts of its role?"""

from __future__ import annotations

import sys
from datetime import timedelta
from typing import TYPE_CHECKING, TextIO

import click

from league_agents.cli.numbers import FiniteRange
from league_agents.cli.own_code import in_process_option
from league_agents.cli.screen import console, mark, own_stdout, print_document
from league_agents.kit.errors import shortened

if TYPE_CHECKING:
    from rich.table import Table

    from league_agents.app.agents import AgentRole, ChosenAgent
    from league_agents.evaluation.checking.report import CallbackReport, CheckReport, ContractFinding
    from league_agents.games.q21.rules import RuleSet

EPILOG = """\b
What is tried, always on one instance and in the real order of the calls:
  valid     proper games, one after the other: everything counts
  odd       what deployed counterparts send: empty hints, answers: [], absent players, other
            scripts, missing ids: an exception counts, a bad result is a warning
  hostile   None everywhere, missing keys, wrong types, 100,000 characters, control
            characters, orders in place of texts: likewise

\b
Verdicts, the same as in a match:
  kept      the results are used as they come
  repaired  they are used with a change: a text is lengthened, a question reworded or dropped
  broken    they cannot be used, and a fallback takes their place

\b
Examples:
  league-agents check my_player:MyPlayerAI
  league-agents check agents/my_referee.py:MyRefereeAI --rules course
  league-agents check my_player:MyPlayerAI --valid-only --time-limit 5
  league-agents check offline --role player

\b
Exit codes: 0 every contract is kept or repaired, 1 one is broken, 3 the class cannot be loaded.
"""

SHORTEST_IMPORT_S = 10.0
"""Starting Python and importing libraries takes seconds on a busy machine, whatever the callbacks may take."""

MOST_FINDINGS = 40
"""Lines of the table. An agent with more of them is mended from the top."""


@click.command(name="check", short_help="Try out your own agent on every callback.", epilog=EPILOG)
@click.argument("spec", metavar="module:Class")
@click.option("--role", type=click.Choice(["referee", "player"]), help="Needed only for a class that could be both.")
@click.option("--rules", metavar="NAME|FILE", default="prd", show_default=True, help="prd, course, or your own file.")
@click.option("--valid-only", is_flag=True, help="Only proper games: fewer calls, for agents whose calls cost money.")
@click.option(
    "--time-limit",
    type=FiniteRange(0.01, 3600),
    metavar="SECONDS",
    help="Allow no callback more than this; the import may take as long, or 10 s if that is longer. The rules' own "
    "limits hold in any case.",
)
@in_process_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document to stdout and nothing else.")
def command(
    *,
    spec: str,
    role: AgentRole | None,
    rules: str,
    valid_only: bool,
    time_limit: float | None,
    in_process: bool,
    as_json: bool,
) -> int:
    """Run a RefereeAI or PlayerAI through every callback and say what a match would make of its results: each contract
    is kept, repaired or broken.

    module:Class is looked for in the current directory and among what is installed; path/to/file.py:Class works too.
    An agent elsewhere is a2a:URL.
    """
    from league_agents.cli import Exit
    from league_agents.config.rules import rules_named
    from league_agents.evaluation.checking.report import ContractVerdict

    chosen_rules = rules_named(rules)
    with own_stdout() as stdout:
        agent, role = _agent(spec, role, chosen_rules, time_limit, in_process=in_process)
        report = _check(agent, role, chosen_rules, time_limit, valid_only=valid_only, is_quiet=as_json)
        if as_json:
            print_document(_document(spec, report), stdout)
        else:
            _print(spec, report, stdout)
    return Exit.FAILED if report.verdict is ContractVerdict.BROKEN else Exit.OK


def _agent(
    spec: str, role: AgentRole | None, rules: RuleSet, time_limit: float | None, *, in_process: bool
) -> tuple[ChosenAgent, AgentRole]:
    from league_agents.app.agents import BUILT_IN_KINDS, choose_agent, own_agent
    from league_agents.user_code.process import LOAD_LIMIT_S

    if role is None and spec.partition(":")[0] in BUILT_IN_KINDS:
        raise click.UsageError(f"{shortened(spec)} exists for both roles; add --role referee or --role player")
    limit_s = LOAD_LIMIT_S if time_limit is None else max(time_limit, SHORTEST_IMPORT_S)
    if role is not None or ":" not in spec:
        role = role or "player"
        agent = choose_agent(spec, role, rules=rules, seed=0, in_process=in_process, load_limit_s=limit_s)
        if agent.check is not None:
            agent.check()
        return agent, role
    return own_agent(spec, ("referee", "player"), in_process=in_process, load_limit_s=limit_s)


def _check(
    agent: ChosenAgent, role: AgentRole, rules: RuleSet, time_limit: float | None, *, valid_only: bool, is_quiet: bool
) -> CheckReport:
    from league_agents.app.trial import TrialRun
    from league_agents.evaluation.checking.check import check_agent
    from league_agents.evaluation.checking.games import InventedGame
    from league_agents.evaluation.checking.report import ContractVerdict

    stderr = console(sys.stderr)

    def told(game: InventedGame, verdict: ContractVerdict) -> None:
        if not is_quiet:
            line = f"{mark(stderr, is_good=verdict is not ContractVerdict.BROKEN)} {game.kind:<7}  {game.name}"
            if verdict is not ContractVerdict.KEPT:
                line = f"{line}: {verdict}"
            stderr.print(line, style="red" if verdict is ContractVerdict.BROKEN else "dim", soft_wrap=True)

    trial = TrialRun(agent.instances)
    try:
        return check_agent(
            role,
            rules,
            trial,
            longest=None if time_limit is None else timedelta(seconds=time_limit),
            valid_only=valid_only,
            told=told,
        )
    finally:
        trial.close()


def _document(spec: str, report: CheckReport) -> dict[str, object]:
    return {
        "spec": spec,
        "role": report.role,
        "rules": report.rules,
        "verdict": str(report.verdict),
        "games": list(report.games),
        "unmade": None if report.unmade is None else _finding(report.unmade),
        "callbacks": [
            {
                "callback": each.callback,
                "verdict": str(each.verdict),
                "tried": {
                    str(kind): {"calls": tried.calls, "kept": tried.kept, "skipped": tried.skipped}
                    for kind, tried in each.tried.items()
                },
                "slowest_s": round(each.slowest_s, 3),
                "limit_s": each.limit_s,
                "findings": [_finding(finding) for finding in each.findings],
            }
            for each in report.callbacks
        ],
    }


def _finding(finding: ContractFinding) -> dict[str, object]:
    return {
        "severity": str(finding.severity),
        "game": finding.game,
        "kind": str(finding.kind),
        "path": finding.path,
        "rule": finding.rule,
        "found": finding.found,
        "done": finding.done,
        "where": finding.where,
        "times": finding.times,
    }


def _print(spec: str, report: CheckReport, stdout: TextIO) -> None:
    from rich.text import Text

    from league_agents.evaluation.checking.report import ContractVerdict, mildness
    from league_agents.games.q21.remarks import SEVERITIES, Severity
    from league_agents.kit.printable import printable

    screen = console(stdout)
    screen.print()
    screen.print(Text(f"{printable(spec, 200)} as a {report.role}, rules {report.rules}", style="bold"))
    if report.unmade is not None:
        screen.print(Text(f"No instance could be made: {_told(report.unmade)}", style="red"))
        return
    screen.print(_overview(report))
    findings = [finding for each in report.callbacks for finding in each.findings]
    findings.sort(key=mildness)
    if findings:
        screen.print()
        screen.print(_findings(findings[:MOST_FINDINGS]))
    if len(findings) > MOST_FINDINGS:
        screen.print(Text(f"and {len(findings) - MOST_FINDINGS} more; --json lists them all", style="dim"))
    screen.print()
    counted = ", ".join(
        f"{times} {severity}{'s' if severity is Severity.WARNING and times > 1 else ''}"
        for severity in SEVERITIES
        if (times := sum(finding.severity is severity for finding in findings))
    )
    said, style = {
        ContractVerdict.KEPT: ("Every contract is kept", "bold green"),
        ContractVerdict.REPAIRED: ("Every result can be used, some after a repair", "bold yellow"),
        ContractVerdict.BROKEN: ("Contracts are broken", "bold red"),
    }[report.verdict]
    screen.print(Text(f"{said}: {counted}." if counted else f"{said}.", style=style))


def _overview(report: CheckReport) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from league_agents.evaluation.checking.report import ContractVerdict

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    table.add_column("Callback", no_wrap=True)
    table.add_column("Contract")
    for heading in ("Valid", "Odd", "Hostile", "Slowest"):
        table.add_column(heading, justify="right", no_wrap=True)
    for each in report.callbacks:
        verdict = {
            ContractVerdict.KEPT: Text("kept, warned", style="yellow")
            if each.findings
            else Text("kept", style="green"),
            ContractVerdict.REPAIRED: Text("repaired", style="yellow"),
            ContractVerdict.BROKEN: Text("BROKEN", style="bold red"),
        }[each.verdict]
        share = each.slowest_s / each.limit_s
        slowest = f"{each.slowest_s:.1f} s, {share:.0%}" if each.slowest_s >= 0.05 else "0 s"
        table.add_row(each.callback, verdict, *_counts(each), slowest)
    return table


def _counts(each: CallbackReport) -> list[str]:
    return [
        (f"{tried.kept}/{tried.calls}" + (f" (–{tried.skipped})" if tried.skipped else ""))
        if tried.calls or tried.skipped
        else "–"
        for tried in each.tried.values()
    ]


def _findings(findings: list[ContractFinding]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from league_agents.games.q21.remarks import Severity
    from league_agents.kit.printable import printable

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False, expand=True)
    table.add_column("", no_wrap=True)
    table.add_column("Where", overflow="fold", max_width=34)
    table.add_column("The contract, and what was found", overflow="fold", ratio=1)
    for finding in findings:
        place = Text(finding.callback)
        if finding.path:
            place.append(f"\n{printable(finding.path, 120)}")
        told = Text.assemble(
            ("must be ", "dim"),
            printable(finding.rule, 300),
            ("\nfound ", "dim"),
            (printable(finding.found, 300), "bold"),
        )
        if finding.done:
            told.append(f"\n{printable(finding.done, 300)}")
        if finding.where is not None:
            told.append(f"\nat {printable(finding.where, 200)}")
        times = f", {finding.times} times in all" if finding.times > 1 else ""
        told.append(f"\n{finding.kind} game: {finding.game}{times}", style="dim")
        word = Text(finding.severity, style="bold red" if finding.severity is Severity.BROKEN else "yellow")
        table.add_row(word, place, told, end_section=finding is not findings[-1])
    return table


def _told(finding: ContractFinding) -> str:
    from league_agents.kit.printable import printable

    where = f" (at {printable(finding.where, 200)})" if finding.where is not None else ""
    return f"{printable(finding.found, 300)}{where}; it must be {finding.rule}"
