"""What GuessNumberGameProtocol says about itself (checklist G-01 to G-03, G-09, G-10)."""

from __future__ import annotations

from league_agents.games.guess_number.protocol import GUESS_NUMBER_PROTOCOL, MESSAGE_TYPES


def test_the_protocol_names_itself() -> None:
    described = GUESS_NUMBER_PROTOCOL
    assert (described.name, described.version) == ("GuessNumberGameProtocol", "1.0")
    assert described.purpose
    assert described.description


def test_there_are_two_message_types_with_their_triggers_and_fields() -> None:
    assert MESSAGE_TYPES == ("state_report", "proposal")
    report, proposal = GUESS_NUMBER_PROTOCOL.message_types
    assert report.triggers == ("after_game_step", "at_round_start")
    assert report.answer_field == "next_guess"
    assert report.required == ("sender", "type", "timestamp", "next_guess")
    assert report.optional == ("content", "reasoning", "confidence")
    assert proposal.triggers == ("communication_phase",)
    assert proposal.required == ("sender", "type", "timestamp", "content")
    assert proposal.optional == ("rationale",)


def test_a_step_has_four_phases_of_one_round_each() -> None:
    told = [(each.name, each.rounds, each.actors, each.mandatory_message) for each in GUESS_NUMBER_PROTOCOL.phases]
    assert told == [
        ("observation", 1, ("env", "agents"), None),
        ("reporting", 1, ("agents",), "state_report"),
        ("reasoning", 1, ("agents", "llm"), None),
        ("action", 1, ("agents",), None),
    ]
