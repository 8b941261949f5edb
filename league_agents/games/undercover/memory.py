"""An agent's memory of a match (arena 3.4).

Rule 1: it is filled only from the events that the agent received. A repeated event is stored once.
Rule 2: an eliminated agent receives no more events and keeps its memory.

The guarantee follows from the order of events: a description is announced before the next speaker is asked, so an agent
that must speak remembers all that it heard this round, and one that must vote remembers the whole round.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from league_agents.games.game import Event, JsonObject


class AgentMemory:
    """One agent's memory, for the whole match."""

    def __init__(self) -> None:
        self.all_descriptions: list[dict[str, Any]] = []
        """``{round, player_id, name, description}`` of every description heard, the agent's own included."""

        self.voting_history: list[dict[str, Any]] = []
        """``{round, target_id, target_name, vote_number, reason}`` of the agent's own votes."""

        self.reasoning_history: list[dict[str, Any]] = []
        """``{round, reasoning: {reason, vote_number}}`` of the agent's own votes."""

        self.all_votes_history: list[dict[str, Any]] = []
        """``{round, ballot, votes}`` of every revealed vote."""

        self.player_id: int | None = None
        """The agent's own seat; ``None`` until the word was dealt."""

        self.word: str | None = None
        self.is_out = False
        self.last_seq = 0
        """The number of the newest event in the memory."""

    def add_to_memory(
        self,
        round_num: int,
        descriptions: Iterable[JsonObject] | None = None,
        vote_record: JsonObject | None = None,
        reasoning: JsonObject | None = None,
        all_votes: JsonObject | Sequence[JsonObject] | None = None,
    ) -> None:
        """Add new facts of a round; each argument may be left out.

        ``all_votes`` are the votes of the round, or ``{ballot, votes}`` if there was a revote.
        """
        for entry in descriptions or ():
            kept = {key: entry.get(key) for key in ("player_id", "name", "description")}
            self._add_once(self.all_descriptions, {"round": round_num, **kept}, "player_id")
        if vote_record is not None:
            self.voting_history.append({"round": round_num, **vote_record})
        if reasoning is not None:
            self.reasoning_history.append({"round": round_num, "reasoning": dict(reasoning)})
        if all_votes is not None:
            ballot: JsonObject = all_votes if isinstance(all_votes, Mapping) else {"ballot": 1, "votes": all_votes}
            votes = [dict(vote) for vote in ballot["votes"]]
            entry = {"round": round_num, "ballot": ballot.get("ballot", 1), "votes": votes}
            self._add_once(self.all_votes_history, entry, "ballot")

    def observe(self, event: Event) -> None:
        """Add an event that the agent received."""
        if self.is_out or 0 < event.seq <= self.last_seq:
            return
        self.last_seq = max(self.last_seq, event.seq)
        if event.kind == "word_dealt":
            self.player_id, self.word = event.data["player_id"], event.data["word"]
        learned = learned_from(event)
        if learned is not None:
            self.add_to_memory(**learned)
        if event.kind == "votes_revealed" and event.data["eliminated"] == self.player_id is not None:
            self.is_out = True

    def heard_in(self, round_num: int, *, besides: int | None = None) -> list[str]:
        """Return the descriptions of a round, without silences and without the player ``besides``."""
        return [
            entry["description"]
            for entry in self.all_descriptions
            if entry["round"] == round_num and entry["player_id"] != besides and entry["description"]
        ]

    def as_json(self) -> dict[str, Any]:
        """Return a deep copy of the four histories, as a session shows them under ``memory``."""
        return {
            "all_descriptions": [dict(entry) for entry in self.all_descriptions],
            "voting_history": [dict(entry) for entry in self.voting_history],
            "reasoning_history": [
                {"round": entry["round"], "reasoning": dict(entry["reasoning"])} for entry in self.reasoning_history
            ],
            "all_votes_history": [
                {**entry, "votes": [dict(vote) for vote in entry["votes"]]} for entry in self.all_votes_history
            ],
        }

    @staticmethod
    def _add_once(entries: list[dict[str, Any]], entry: dict[str, Any], key: str) -> None:
        if not any(known["round"] == entry["round"] and known[key] == entry[key] for known in entries):
            entries.append(entry)


def learned_from(event: Event) -> dict[str, Any] | None:
    """Return the arguments of ``add_to_memory`` for an event; ``None`` for one that is not remembered."""
    data = event.data
    if event.kind == "description":
        return {"round_num": data["round"], "descriptions": [data]}
    if event.kind == "vote_accepted" and "cause" not in data:
        target, reason = data["target_id"], data["reason"]
        record = {"target_id": target, "target_name": data["target_name"], "vote_number": target, "reason": reason}
        return {
            "round_num": data["round"],
            "vote_record": record,
            "reasoning": {"reason": reason, "vote_number": target},
        }
    if event.kind == "votes_revealed":
        return {"round_num": data["round"], "all_votes": {"ballot": data["ballot"], "votes": data["votes"]}}
    return None
