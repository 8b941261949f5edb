"""Orders from a person to a role, passed through the role's journal, and their outcome.

Rule: only the order is written, so that this is safe while a daemon works on the journal.
"""

from __future__ import annotations

import secrets

from league_agents.app.journals import open_journal
from league_agents.app.storage import STORAGE
from league_agents.config.league_settings import RoleSettings
from league_agents.journal.port import Journal, Note, Order

_REFUSALS = frozenset({"command_refused", "order_refused", "step_failed"})


def new_nonce() -> str:
    """A unique id for an order."""
    return f"order-{secrets.token_hex(8)}"


def give(role: RoleSettings, order: Order) -> int:
    """Write the order to the journal. Return the number of earlier refusals.

    Raises ``JournalError`` and ``ConfigError``.
    """
    journal = open_journal(role, lambda _name, _part: "")
    try:
        before = len(_refusals(journal))
        journal.order(order)
        return before
    finally:
        journal.close()


def outcome_of(role: RoleSettings, order: Order, before: int) -> str | None:
    """``None`` while the order is pending; then the reason of its refusal, or an empty text. Raises ``JournalError``.

    ``before`` is the result of ``give``. Times cannot be compared: the daemon's clock is not this process's.
    """
    journal = STORAGE.look_at_journal(role.journal)
    try:
        if any(each.nonce == order.nonce for each in journal.open_orders()):
            return None
        refusals = _refusals(journal)[before:]
        return str(refusals[0].facts.get("text", "")) if refusals else ""
    finally:
        journal.close()


def _refusals(journal: Journal) -> list[Note]:
    return [note for note in journal.notes() if note.key in _REFUSALS]
