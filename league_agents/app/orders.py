"""Orders from a person to a role, passed through the role's journal, and their outcome.

Rule: only the order is written, so that this is safe while a daemon works on the journal.
"""

from __future__ import annotations

import secrets
from contextlib import closing
from datetime import datetime

from league_agents.app.journals import SEED, journals_of, look_at_journal, open_journal, state_in
from league_agents.app.live_machine import machine_of
from league_agents.config.league_settings import LeagueSettings, RoleSettings
from league_agents.journal.port import REFUSALS, WARNING, Order
from league_agents.league.machines.effects import Warn
from league_agents.league.machines.events import OperatorCommand
from league_agents.league.machines.manager.state import ManagerState, SeasonPhase
from league_agents.league.season.orders import command_of


def new_nonce() -> str:
    """A unique id for an order."""
    return f"order-{secrets.token_hex(8)}"


def give(role: RoleSettings, order: Order) -> None:
    """Write the order to the journal. Raises ``JournalError`` and ``ConfigError``."""
    with closing(open_journal(role, lambda _name, _part: "")) as journal:
        journal.order(order)


def outcome_of(role: RoleSettings, order: Order) -> str | None:
    """``None`` while the order waits; then the reason of its refusal, or an empty text. Raises ``JournalError``."""
    with closing(journals_of(role).look()) as journal:
        if any(each.nonce == order.nonce for each in journal.open_orders()):
            return None
        for note in journal.notes(kinds=(WARNING,)):
            if note.key in REFUSALS and note.facts.get("nonce") == order.nonce:
                return str(note.facts.get("text", ""))
        return ""


def is_table_out(settings: LeagueSettings, role: RoleSettings) -> bool:
    """Whether the season waits for acknowledgements of an assignment table. Raises ``JournalError``."""
    with closing(journals_of(role).look()) as journal:
        state = state_in(role, machine_of(settings, role, str(journal.kept(SEED))), journal.load_parts())
    return isinstance(state, ManagerState) and state.season.phase is SeasonPhase.ASSIGNED


def refusal_of(settings: LeagueSettings, role: RoleSettings, order: Order, now: datetime) -> str | None:
    """The reason why a settlement or a reset is impossible in the journal's state after the orders that wait there.

    ``None`` if it is possible, and for every other order, which the start of the manager may make possible. Raises
    ``JournalError`` and ``ConfigError``.
    """
    journal = look_at_journal(role)
    seed, parts, waiting = "", {}, []
    if journal is not None:
        with closing(journal):
            seed, parts, waiting = str(journal.kept(SEED)), journal.load_parts(), journal.open_orders()
    machine = machine_of(settings, role, seed)
    state = state_in(role, machine, parts)
    refusal: str | None = None
    for each in (*waiting, order):
        command = command_of(each.command)
        if command is None:
            continue
        event = OperatorCommand(command=command, nonce=each.nonce, text=each.text)
        state, effects = machine.step(state, event, now)
        refused = (effect.text for effect in effects if isinstance(effect, Warn) and effect.code in REFUSALS)
        refusal = next(refused, None) if command.takes_why else None
    return refusal
