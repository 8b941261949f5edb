"""A message that is declared is finished: it can be read, written, acted on and looked up.

Each test names the class or type that lacks something, so that it says what is left to do for a new message.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from league_agents.league.machines.manager.manager import transition_table as manager_table
from league_agents.league.machines.player.player import transition_table as player_table
from league_agents.league.machines.referee.referee import transition_table as referee_table
from league_agents.league.wire.catalogue import CANONICAL_TYPES, DECLARATIONS, DECLARED
from league_agents.league.wire.declare import Declaration, WireField, layout
from league_agents.league.wire.kinds import BROADCAST_TYPES, MessageType

ROOT = Path(__file__).resolve().parents[4]
each_declaration = pytest.mark.parametrize("declaration", DECLARED, ids=lambda item: item.kind.__name__)


@each_declaration
def test_a_declared_message_says_what_it_is(declaration: Declaration) -> None:
    own = declaration.kind.__dict__.get("__doc__") or ""
    assert own, "it needs a docstring"
    assert not own.startswith(f"{declaration.kind.__name__}("), "the docstring is the one that dataclass writes"


@each_declaration
def test_every_field_is_read_from_the_wire(declaration: Declaration) -> None:
    on_the_wire = {name for name, entry in layout(declaration.kind) if isinstance(entry, WireField)}
    fields = set(declaration.kind.__struct_fields__)
    assert declaration.own_reader is not None or fields == on_the_wire


def test_every_type_has_one_reader() -> None:
    types = [kind for item in DECLARED for kind in item.read_as]
    assert sorted(types) == sorted(set(types))
    assert sorted(DECLARATIONS) == sorted(types)
    assert set(CANONICAL_TYPES.values()) <= set(types)


def test_every_broadcast_has_a_word_for_its_ids() -> None:
    nameless = {kind for kind, item in DECLARATIONS.items() if kind in BROADCAST_TYPES and not item.id_word}
    # The end of a season is only heard: this league manager says LEAGUE_COMPLETED.
    assert nameless == {MessageType.BROADCAST_END_SEASON}


def test_every_declared_type_has_a_row_in_a_machine() -> None:
    rows = [*manager_table(), *referee_table(), *player_table()]
    # The rows of a match name events with a condition: "Q21GUESSSUBMISSION, unusable".
    events = {row.event.partition(",")[0] for row in rows}
    assert {kind.value for kind in DECLARATIONS} - events == set()
