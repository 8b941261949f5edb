"""The base of both environments: a match, its spaces, and the handling of one agent's action.

Rule: the match holds all state of the game. The environment adds numbers for actions, rows of bytes for views, and the
counting of refusals.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
import numpy as np
from gymnasium import logger, spaces

from league_agents.arena.pettingzoo.numbering import NumberSpace, blocks_of, legal_mask, meant
from league_agents.games.entry import check_agent_ids
from league_agents.games.game import HOST, SPECTATOR, Action, ForfeitCause, IllegalAction, LegalAction
from league_agents.games.registry import declared, game_of
from league_agents.kit.draw import Draw
from league_agents.kit.errors import ConfigError
from league_agents.kit.printable import printable
from league_agents.kit.violation import shown
from league_agents.turns import load_protocol
from league_agents.turns.match import Match

_LARGEST_SEED: Final = 2**64 - 1
_TRIES: Final = 32
"""Most candidates drawn for one number until the game accepts one."""

RENDER_MODES: Final = ("ansi", "human")

Observation = dict[str, Any]


class AgentSight(msgspec.Struct, frozen=True, kw_only=True):
    """What one agent sees between two changes of the match; made once however often it is asked for."""

    legal: tuple[LegalAction, ...]
    view: dict[str, Any]
    text: bytes
    """The view as an observation shows it: whoever receives ``view`` may modify it."""

    mask: np.ndarray[Any, np.dtype[np.int8]]


class ArenaTable:
    """Plays one match after the other for an environment."""

    agents: list[str]

    def __init__(
        self,
        game: str,
        *,
        agents: Sequence[str] | int | None = None,
        interaction: Mapping[str, Any] | None = None,
        render_mode: str | None = None,
        max_invalid: int = 2,
        observation_bytes: int | None = None,
        **config: Any,
    ) -> None:
        """See ``raw_env``."""
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ConfigError("render_mode", f"must be None, {' or '.join(RENDER_MODES)}, found {shown(render_mode)}")
        self._game = game_of(game)
        declaration = declared(game)
        self._config = config
        self._interaction = interaction
        self._max_invalid = max_invalid
        self.render_mode = render_mode
        self.metadata = {"name": f"{game}_v1", "render_modes": list(RENDER_MODES), "is_parallelizable": False}
        self.possible_agents = list(_agents_of(game, agents, self._game.min_agents, self._game.max_agents))
        self._seed: int | None = None
        self._resets = 0
        self._match = self._new_match(0)
        self._blocks = blocks_of(self._match, declaration)
        count = self._blocks[-1].start + self._blocks[-1].length
        self._length = observation_bytes or declaration.observation_bytes
        self.action_spaces = {agent: NumberSpace(count) for agent in self.possible_agents}
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(0, 255, (self._length,), np.uint8),
                    "action_mask": spaces.Box(0, 1, (count,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self.state_space = spaces.Box(0, 255, (4 * self._length,), np.uint8)
        self._decision = 0
        self._refusals = dict.fromkeys(self.possible_agents, 0)
        self._sights: dict[str, AgentSight] = {}

    def observation_space(self, agent: str) -> spaces.Space[Observation]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    @property
    def match(self) -> Match[Any]:
        """The current match; do not change it."""
        return self._match

    def _begin(self, seed: int | None) -> None:
        """Start a new match with this seed; ``None`` for the next match after the last given seed.

        Raises ``ConfigError`` for an invalid seed.
        """
        if seed is not None:
            if not 0 <= int(seed) <= _LARGEST_SEED:
                raise ConfigError("seed", f"must be 0 to {_LARGEST_SEED}, found {shown(seed)}")
            self._seed, self._resets = int(seed), 0
        elif self._seed is None:
            self._seed, self._resets = secrets.randbits(63), 0
        else:
            self._resets += 1
        chosen = self._seed if not self._resets else Draw(self._seed, f"match/{self._resets}").below(2**63)
        self._match = self._new_match(chosen)
        self.agents = list(self.possible_agents)
        self._decision = 0
        self._refusals = dict.fromkeys(self.agents, 0)
        self._sights.clear()

    def observe(self, agent: str) -> Observation:
        sight = self._sight(agent)
        return {"observation": _row(sight.text, self._length), "action_mask": sight.mask.copy()}

    def _sight(self, agent: str) -> AgentSight:
        sight = self._sights.get(agent)
        if sight is None:
            legal, view = self._match.legal(agent), self._match.view(agent)
            sight = AgentSight(legal=legal, view=view, text=_text(view), mask=legal_mask(self._blocks, legal))
            self._sights[agent] = sight
        return sight

    def state(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """The host's full view, for centralised training."""
        return _row(_text(self._match.view(HOST)), 4 * self._length)

    def render(self) -> str | None:
        """The events visible to a spectator so far, one a line; printed in the mode ``human``."""
        if self.render_mode is None:
            logger.warn("You are calling render method without specifying any render mode.")
            return None
        told = "\n".join(printable(event.text, 400) for event in self._match.events_for(SPECTATOR) if event.text)
        if self.render_mode == "human":
            print(told)
            return None
        return told

    def close(self) -> None:
        """No-op: holds no resources."""

    def _new_match(self, seed: int) -> Match[Any]:
        given = self._interaction
        protocol = None if given is None else load_protocol(given, self.possible_agents)
        return Match(self._game, config=self._config, agent_ids=self.possible_agents, seed=seed, protocol=protocol)

    def _take(self, agent: str, action: Any) -> dict[str, Any] | None:
        """Take an action. Return the refusal if the agent is asked again; ``None`` if the match went on."""
        if isinstance(action, (int, np.integer)) and not isinstance(action, bool):
            drawn: Iterable[Action] = self._drawn(agent, int(action))
        elif isinstance(action, Action):
            drawn = (action,)
        elif isinstance(action, Mapping):
            data = action.get("data", {})
            drawn = (Action(type=str(action.get("type", "")), data=data if isinstance(data, Mapping) else {}),)
        else:
            raise ConfigError("action", f"must be a number, an Action or {{type, data}}, found {shown(action)}")
        self._sights.clear()
        refused: IllegalAction | None = None
        for chosen in drawn:
            try:
                self._match.act(agent, chosen)
            except IllegalAction as illegal:
                refused = illegal
            else:
                break
        else:
            self._refusals[agent] += 1
            left = self._max_invalid + 1 - self._refusals[agent]
            if left > 0:
                refused = refused or IllegalAction(
                    "unknown_action", f"the number {action} means nothing now; see the action mask"
                )
                told = {"code": refused.code, "message": refused.message, "data": dict(refused.data)}
                return {**told, "attempts_left": left}
            self._match.forfeit(agent, ForfeitCause.INVALID)
        self._decision += 1
        self._refusals[agent] = 0
        return None

    def _drawn(self, agent: str, number: int) -> Iterator[Action]:
        """Yield the actions that are drawn for the number, to be tried one after the other; none if it has none."""
        legal = self._match.legal(agent)
        for attempt in range(_TRIES):
            draw = Draw(self._match.seed, f"pettingzoo/{self._decision}/{agent}/{number}/{attempt}")
            action = meant(self._blocks, number, legal, draw)
            if action is None:
                return
            yield action

    def _meant(self, agent: str, number: int) -> Action | None:
        """The first action drawn for the number that the game accepts, or else the last one drawn."""
        match, found = self._match, None
        for found in self._drawn(agent, number):
            try:
                match.game.apply(match.state, agent, found)
            except IllegalAction:
                continue
            break
        return found


def _agents_of(game: str, wanted: Sequence[str] | int | None, least: int, most: int) -> tuple[str, ...]:
    if wanted is None:
        wanted = len(declared(game).usual_seats)
    if isinstance(wanted, int):
        if not least <= wanted <= most:
            raise ConfigError("agents", f"must be {least} to {most}, found {wanted}")
        roles = declared(game).roles
        each = [roles[min(place, len(roles) - 1)] for place in range(wanted)]
        return tuple([f"{role}_{each[:place].count(role)}" for place, role in enumerate(each)])
    return check_agent_ids(wanted, least, most)


def _text(view: Mapping[str, Any]) -> bytes:
    try:
        return _JSON.encode(view)
    except (TypeError, ValueError, OverflowError):  # half of a surrogate pair, a number of more than 64 bits
        text = json.dumps(view, ensure_ascii=False, separators=(",", ":"), default=dict)
        return text.encode("utf-8", "backslashreplace")


def _row(text: bytes, length: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.frombuffer(bytearray(text[:length].ljust(length, b"\0")), np.uint8)


_JSON = msgspec.json.Encoder(enc_hook=dict)
