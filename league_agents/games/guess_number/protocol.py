"""The description of GuessNumberGameProtocol as values at run time (arena 2.1).

Rule: names, triggers and phases are defined only here; checks and texts read them from here.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

STATE_REPORT: Final = "state_report"
PROPOSAL: Final = "proposal"

OBSERVATION: Final = "observation"
REPORTING: Final = "reporting"
REASONING: Final = "reasoning"
ACTION: Final = "action"
END: Final = "end"
"""The game is over. Not a phase of the protocol; it takes the place of the phase after the end."""


class GuessMessageType(Struct, frozen=True, kw_only=True):
    """One kind of message that agents send each other."""

    name: str
    description: str
    triggers: tuple[str, ...]
    """Events that make an agent send it. ``communication_phase`` means reporting and reasoning."""

    answer_field: str | None
    """The field that holds the sender's answer; ``None`` if the message has no answer."""

    required: tuple[str, ...]
    optional: tuple[str, ...]


class StepPhase(Struct, frozen=True, kw_only=True):
    """One part of a step."""

    name: str
    description: str
    rounds: int
    actors: tuple[str, ...]
    mandatory_message: str | None


class ProtocolDescription(Struct, frozen=True, kw_only=True):
    """The protocol as a whole."""

    name: str
    version: str
    purpose: str
    description: str
    message_types: tuple[GuessMessageType, ...]
    phases: tuple[StepPhase, ...]
    """In their order within a step."""

    def message_type(self, name: str) -> GuessMessageType:
        """Return the message type of that name. Raises ``KeyError``."""
        for each in self.message_types:
            if each.name == name:
                return each
        raise KeyError(name)


GUESS_NUMBER_PROTOCOL: Final = ProtocolDescription(
    name="GuessNumberGameProtocol",
    version="1.0",
    purpose="Multi-agent collaborative guessing game with feedback-driven learning",
    description="Agents communicate their state and proposed guesses using a structured message format",
    message_types=(
        GuessMessageType(
            name=STATE_REPORT,
            description="An agent tells where it stands and which number it means to guess next.",
            triggers=("after_game_step", "at_round_start"),
            answer_field="next_guess",
            required=("sender", "type", "timestamp", "next_guess"),
            optional=("content", "reasoning", "confidence"),
        ),
        GuessMessageType(
            name=PROPOSAL,
            description="An agent proposes what to guess next.",
            triggers=("communication_phase",),
            answer_field=None,
            required=("sender", "type", "timestamp", "content"),
            optional=("rationale",),
        ),
    ),
    phases=(
        StepPhase(
            name=OBSERVATION,
            description="Every agent learns whether its own last guess was right.",
            rounds=1,
            actors=("env", "agents"),
            mandatory_message=None,
        ),
        StepPhase(
            name=REPORTING,
            description="Every agent sends its state report.",
            rounds=1,
            actors=("agents",),
            mandatory_message=STATE_REPORT,
        ),
        StepPhase(
            name=REASONING,
            description="Agents think about the reports and may propose a guess.",
            rounds=1,
            actors=("agents", "llm"),
            mandatory_message=None,
        ),
        StepPhase(
            name=ACTION,
            description="The agents that have not found the number guess, all at once.",
            rounds=1,
            actors=("agents",),
            mandatory_message=None,
        ),
    ),
)

MESSAGE_TYPES: Final = tuple(each.name for each in GUESS_NUMBER_PROTOCOL.message_types)
