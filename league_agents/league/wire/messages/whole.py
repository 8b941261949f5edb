"""What a mail with some rows of a table says of the whole table.

Rule: only members that declared ``OWN_ROWS`` when they registered are sent such mails; every other member is sent the
whole table.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Annotated

import msgspec
from msgspec import Struct

from league_agents.league.wire.declare import ID, ValueKind, integer, read_row, wire, write_row
from league_agents.league.wire.kinds import MessageType

OWN_ROWS = "own_rows"
"""A participant's declaration that it needs the rows of its own games, and of its own rank, only."""


class WholeTable(Struct, frozen=True, kw_only=True):
    """The table of which a mail has some rows."""

    rows: Annotated[int, wire(integer(0), is_required=True)]
    """The rows of the whole table."""

    digest: Annotated[str, wire(ID, absent="")]
    """``sha256:`` and the digest of the lists of the whole table, each as JSON without spaces, in the order of the
    payload."""

    ask_with: Annotated[str, wire(ID, absent="")]
    """The type of the message that the league manager answers with the whole table."""


def whole_table(ask_with: MessageType, rows: int, *lists: Sequence[object]) -> WholeTable:
    """Describe the table with these lists of declared rows."""
    digest = sha256()
    for each in lists:
        digest.update(msgspec.json.encode([write_row(row) for row in each]))
    return WholeTable(rows=rows, digest=f"sha256:{digest.hexdigest()}", ask_with=ask_with.value)


def _find(fields: object, key: str) -> WholeTable | None:
    assert isinstance(fields, dict)
    found = read_row(WholeTable, fields.get(key))
    return found if isinstance(found, WholeTable) else None


WHOLE = ValueKind(find=_find, write=write_row, rule="an object with rows, digest and ask_with")
