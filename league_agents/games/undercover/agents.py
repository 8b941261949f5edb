"""Agents that describe and vote, and the adapters that give them a seat.

Rule: an agent decides from its memory and the arguments of the question. It never receives the state.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Protocol

from league_agents.games.game import Action, Event, JsonObject, LegalAction
from league_agents.games.undercover.memory import AgentMemory, learned_from
from league_agents.games.undercover.scripted import Suspect, chosen, next_description
from league_agents.kit.draw import Draw
from league_agents.kit.errors import CallbackInvalid
from league_agents.kit.violation import shown


class DescribesAndVotes(Protocol):
    """The methods that an agent must have. The other methods of ``UndercoverAgent`` are optional."""

    def generate_description(self, round_num: int) -> str: ...

    def vote(
        self, alive_players: list[dict[str, Any]], current_descriptions: list[dict[str, Any]], round_num: int
    ) -> Mapping[str, Any]: ...


class UndercoverAgent:
    """Base class for agents: a memory that is filled automatically, and the agent's knowledge of its own seat."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget everything, for a new match."""
        self.memory = AgentMemory()
        self.player_id = 0
        """The agent's own seat, from 1; 0 before the first question."""

        self.name = ""
        self.word = ""
        self.lang = "zh"
        self.max_description = 200
        self.refusals: list[str] = []
        """Reasons for which the last answers to the open question were refused; empty for a new question."""

    def generate_description(self, round_num: int) -> str:
        """Return a description of ``self.word`` that nobody has made before."""
        raise NotImplementedError

    def vote(
        self, alive_players: list[dict[str, Any]], current_descriptions: list[dict[str, Any]], round_num: int
    ) -> Mapping[str, Any]:
        """Return ``{"reason": str, "vote_number": int}``; ``vote_number`` is the ``player_id`` of one of
        ``alive_players``, or ``None`` to abstain if that is allowed.

        ``alive_players``: ``{player_id, name}`` of the players that can be voted for. ``current_descriptions``:
        ``{round, player_id, name, description}`` of this round, as far as the agent heard them.
        """
        raise NotImplementedError

    def observe(self, event: Event) -> None:
        """Receive an event that this agent may see."""
        self.memory.observe(event)

    def look(self, view: JsonObject, legal: Sequence[LegalAction]) -> None:
        """Update the agent's knowledge of its own seat, before a question."""
        me = view["me"]
        self.player_id, self.name, self.word, self.lang = me["player_id"], me["name"], me["word"], view["lang"]
        if legal and legal[0].type == "describe":
            self.max_description = legal[0].schema["properties"]["description"]["maxLength"]

    def refused(self, code: str, message: str) -> None:
        """Receive the refusal of the last answer; the same question follows."""
        self.refusals.append(f"{code}: {message}")


class ScriptedUndercoverAgent(UndercoverAgent):
    """The scripted player with this interface: the same descriptions and the same suspicion, from memory."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self._seed = seed

    def generate_description(self, round_num: int) -> str:
        return next_description(
            self.word,
            [entry["description"] for entry in self.memory.all_descriptions],
            lang=self.lang,
            player_id=self.player_id,
            round_num=round_num,
            most=self.max_description,
            others=self._others(),
            draw=Draw(self._seed, f"describe:{self.player_id}:{round_num}"),
        )

    def vote(
        self, alive_players: list[dict[str, Any]], current_descriptions: list[dict[str, Any]], round_num: int
    ) -> Mapping[str, Any]:
        numbers = {player["player_id"]: player["name"] for player in alive_players}
        others = self._others(numbers)
        candidates = [each for each in others if each.player_id in numbers]
        draw = Draw(self._seed, f"vote:{self.player_id}:{round_num}")
        target, reason = chosen(self.word, candidates, others, self.lang, draw)
        return {"reason": reason, "vote_number": target}

    def _others(self, names: Mapping[int, str] | None = None) -> list[Suspect]:
        known = dict(names or {})
        spoken: dict[int, list[str]] = {player_id: [] for player_id in known}
        for entry in self.memory.all_descriptions:
            if entry["player_id"] != self.player_id:
                known.setdefault(entry["player_id"], entry["name"])
                spoken.setdefault(entry["player_id"], []).append(entry["description"])
        return [
            Suspect(player_id=player_id, name=known[player_id], descriptions=tuple(spoken[player_id]))
            for player_id in sorted(known)
        ]


class Seated:
    """An agent in a seat: called with view, legal actions and draw like a scripted player, and given the events."""

    def __init__(self, agent: DescribesAndVotes) -> None:
        self.agent = agent

    def __call__(self, view: JsonObject, legal: Sequence[LegalAction], draw: Draw) -> Action:
        return ask(self.agent, view, legal)

    def observe(self, event: Event) -> None:
        """Pass an event on to the agent."""
        tell(self.agent, event)

    def reset(self) -> None:
        """Reset the agent for a new match."""
        reset = getattr(self.agent, "reset", None)
        if reset is not None:
            reset()


class UndercoverSeat:
    """Calls the agent's two methods and gives it the events, also through its own memory."""

    def __init__(self, agent: DescribesAndVotes) -> None:
        self._seated = Seated(agent)

    def act(self, view: JsonObject, legal: Sequence[LegalAction], deadline: object) -> Action | Awaitable[Action]:
        """Return the agent's action; its methods may be ``async``. Raises what they raise."""
        agent, refusal = self._seated.agent, view.get("refusal")
        refused, refusals = getattr(agent, "refused", None), getattr(agent, "refusals", None)
        if refusal and callable(refused):
            refused(refusal["code"], refusal["message"])
        elif not refusal and isinstance(refusals, list):
            refusals.clear()  # a new question
        answer: Any = answer_of(agent, view, legal)
        return _awaited(answer, legal) if hasattr(type(answer), "__await__") else action_from(answer, legal)

    def observe(self, event: Event) -> None:
        self._seated.observe(event)

    def reset(self) -> None:
        self._seated.reset()


def ask(agent: DescribesAndVotes, view: JsonObject, legal: Sequence[LegalAction]) -> Action:
    """Return the agent's answer as an action; the game checks whether it is legal. Raises as ``action_from`` does."""
    return action_from(answer_of(agent, view, legal), legal)


def answer_of(agent: DescribesAndVotes, view: JsonObject, legal: Sequence[LegalAction]) -> object:
    """Call the method for the open question and return its result."""
    look = getattr(agent, "look", None)
    if look is not None:
        look(view, legal)
    wanted = legal[0]
    if wanted.type == "describe":
        return agent.generate_description(view["round"])
    choices = wanted.schema["properties"]["vote_number"]["enum"]
    alive = [
        {"player_id": player["player_id"], "name": player["name"]}
        for player in view["players"]
        if player["player_id"] in choices
    ]
    return agent.vote(alive, view["current_descriptions"], view["round"])


def action_from(answer: object, legal: Sequence[LegalAction]) -> Action:
    """Return an answer as an action. Raises ``CallbackInvalid`` for a value of the wrong form."""
    if legal[0].type == "describe":
        return Action(type="describe", data={"description": answer})
    if not isinstance(answer, Mapping):
        raise CallbackInvalid(f"vote must return a mapping with reason and vote_number, found {shown(answer)}")
    return Action(type="vote", data={key: answer[key] for key in ("vote_number", "reason") if key in answer})


async def _awaited(answer: Awaitable[object], legal: Sequence[LegalAction]) -> Action:
    return action_from(await answer, legal)


def tell(agent: DescribesAndVotes, event: Event) -> None:
    """Pass an event to an agent through ``observe``, or through ``add_to_memory`` if it has only that."""
    observe = getattr(agent, "observe", None)
    if observe is not None:
        observe(event)
        return
    add_to_memory, learned = getattr(agent, "add_to_memory", None), learned_from(event)
    if add_to_memory is not None and learned is not None:
        add_to_memory(**learned)
