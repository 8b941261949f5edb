"""The state diagrams of the league's roles, written from their transition tables: ``docs/reference/states.md``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from league_agents.kit.tables import Transition
from league_agents.league.machines.manager import manager
from league_agents.league.machines.player import player
from league_agents.league.machines.referee import referee
from league_agents.report.markdown import table

_HEADER = """\
# State machines of the league

Written by `scripts/docs` from the transition tables in `league_agents/league`, which the program itself uses: a step
looks up its row, and an event without a row does nothing. A phase that no row names stays as it is. Most code hosts
draw the diagrams, which are in Mermaid's notation; the site shows their source, because it loads no script from
elsewhere.
"""

_ANY = "any"
"""The phase of a row that applies in all phases (``Transition.phase``)."""


def states_page() -> str:
    """The page as Markdown: a Mermaid diagram and a table for each machine."""
    lines = [_HEADER]
    for role, rows in (
        ("Referee", referee.transition_table()),
        ("Player", player.transition_table()),
        ("League manager", manager.transition_table()),
    ):
        lines += [f"## {role}", ""]
        for machine, each in groupby(rows, key=lambda row: row.machine):
            lines += [*_machine(machine, list(each)), ""]
    return "\n".join(lines).rstrip() + "\n"


def _machine(name: str, rows: list[Transition]) -> Iterator[str]:
    yield from (f"### {name[:1].upper()}{name[1:]}", "")
    edges = list(_edges(rows))
    if edges:
        yield from ("```mermaid", "stateDiagram-v2", *edges, "```", "")
    yield from table(
        ("phase", "event", "next", "what happens"),
        ((row.phase, row.event, ", ".join(row.next), row.effects) for row in rows),
    )


def _edges(rows: Iterable[Transition]) -> Iterator[str]:
    """A line for each change of phase, with all the events that cause it."""
    events: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for phase in row.next:
            if row.phase not in (_ANY, phase) and phase != _ANY:
                events.setdefault((row.phase, phase), []).append(row.event)
    for (before, after), causes in events.items():
        yield f"    {_node(before)} --> {_node(after)}: {' / '.join(dict.fromkeys(causes)).replace(':', ' ')}"


def _node(phase: str) -> str:
    return "".join(sign if sign.isalnum() else "_" for sign in phase)
