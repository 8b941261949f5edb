"""What a server tells, searched for what its hearers may not know.

Rule 1: whatever stands in an event that somebody is not shown is a secret from him, unless he was shown it elsewhere;
so is the seed, and who plays which part.
Rule 2: everything that reaches a seat or a spectator before the end is searched: answers, pushes, states, polls.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from league_agents.arena.agents.random_agent import random_action
from league_agents.arena.protocol.access import Principal
from league_agents.arena.protocol.envelope import OutgoingFrame
from league_agents.arena.protocol.hosting import viewer_of
from league_agents.arena.scenario import scenario_of
from league_agents.arena.server.hall import Hall
from league_agents.arena.server.outbox import SocketOutbox
from league_agents.games.game import HOST, SPECTATOR, Action, is_visible
from league_agents.kit.draw import Draw
from league_agents.turns.match import Match

SECRET_KEYS = frozenset(
    {"role", "roles", "seed", "word_pair", "pair", "word_pairs", "target", "actual_opening_sentence"}
)
"""Keys that hold nothing, wherever they stand, for anybody but the host and a game's referee."""

GAMES: Mapping[str, Sequence[str]] = {
    "undercover": ("agent_1", "agent_2", "agent_3", "agent_4", "agent_5", "agent_6"),
    "q21": ("judge", "ann", "ben"),
    "guess_number": ("agent_0", "agent_1", "agent_2"),
    "market": ("s1", "s2", "s3"),
}
"""The seats at which each is played."""

SHORTEST, SHORTEST_ASCII = 2, 6
"""Characters of a secret that is searched for. The Chinese words of undercover have two; two letters stand anywhere."""


@dataclass(slots=True, kw_only=True)
class Leaks:
    """What was told in one match, and what of it should not have been."""

    match: Match[Any]
    seeds: Sequence[int] = ()
    """Numbers that nobody may learn; the match's own is among them anyway."""

    told: list[tuple[str, str]] = field(default_factory=list)
    """Who was told what before the end, as text."""

    _own: dict[str, list[str]] = field(default_factory=dict)
    """What agents have said themselves."""

    _pending: list[tuple[str, str]] = field(default_factory=list)
    _hidden: dict[str, frozenset[str]] = field(default_factory=dict)

    def tell(self, recipient: str, text: str) -> None:
        """Something has gone out."""
        self._pending.append((viewer_of(recipient), text))

    def say(self, agent_id: str, action: Action) -> None:
        """An agent acts: it may be told what it said."""
        self._own.setdefault(agent_id, []).extend(_texts(action.data))

    def settle(self) -> None:
        """After every action: what went out counts, and is searched, if the match goes on."""
        if self.match.is_over:
            self._pending.clear()
            return
        self.told += self._pending
        self._pending.clear()
        self._hidden = {
            viewer: hidden_from(self.match, viewer, self._own.get(viewer, ()))
            for viewer in (*self.match.agent_ids, SPECTATOR)
        }

    def found(self) -> list[str]:
        """Every leak, in words; nothing where all is well."""
        seeds = {str(seed) for seed in (*self.seeds, self.match.seed)}
        leaks = []
        for viewer, text in self.told:
            secrets = self._hidden.get(viewer, frozenset())
            leaks += [f"{viewer} was told {secret!r}: {text}" for secret in secrets if secret in text]
            leaks += [f"{viewer} was told the seed: {text}" for seed in seeds if seed in text]
            leaks += [f"{viewer} was told {key}: {text}" for key in _keys(json.loads(text)) if not self._may(viewer)]
        return leaks

    def _may(self, viewer: str) -> bool:
        return self.match.game.code == "q21" and viewer == self.match.agent_ids[0]


def hidden_from(match: Match[Any], viewer: str, own: Iterable[str] = ()) -> frozenset[str]:
    """The texts of a match that a viewer, who has said ``own``, may not know now."""
    hidden: set[str] = set()
    shown = list(own)
    for event in match.events_for(HOST):
        if is_visible(event, viewer):
            shown += [event.text, *_texts(event.data)]
        else:
            hidden.update(_texts(event.data))
    # Beside its events a game says its rules, with the options of its answers, and who plays.
    rules = [match.game.rules_text(match.config, lang) for lang in ("en", "zh")]
    options = _texts(json.loads(json.dumps([each.schema for agent in match.active() for each in match.legal(agent)])))
    known = "\n".join([*shown, *rules, *match.agent_ids, *options])
    return frozenset(
        each for each in hidden if len(each) >= (SHORTEST_ASCII if each.isascii() else SHORTEST) and each not in known
    )


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def _keys(value: object) -> Iterator[str]:
    """Secret keys that hold something; schemas, which only name them, are left out."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            if key in SECRET_KEYS and each not in (None, [], {}):
                yield key
            if key != "schema":
                yield from _keys(each)
    elif isinstance(value, list):
        for each in value:
            yield from _keys(each)


def leaks_of_hall(hall: Hall, game: str, agents: Sequence[str], *, number: int, most_actions: int = 400) -> list[str]:
    """Play a match at random through a hall, every seat and two spectators connected; what leaked."""
    draw = Draw(number, f"leaks/{game}")
    scenario = scenario_of({"game": game, "agents": [{"id": agent, "agent": "open"} for agent in agents]})
    hosted = hall.open_match(scenario)
    match_id = hosted.match_id
    boxes: dict[str, SocketOutbox] = {}
    for spectator in (hall.watch(match_id)[0], hall.watch(match_id)[0]):
        boxes[spectator] = SocketOutbox(100_000)
    for place, agent in enumerate(agents):
        boxes[agent] = SocketOutbox(100_000)
        hall.attach(match_id, agent, boxes[agent])
        if place == 0:
            for spectator in list(boxes)[:2]:
                hall.attach(match_id, spectator, boxes[spectator])
        hall.join(match_id, agent_id=agent, name=f"{agent} {number}")
    match = hosted.match
    leaks = Leaks(match=match)
    for _ in range(most_actions):
        _collect(leaks, boxes)
        leaks.settle()
        if match.is_over:
            break
        for viewer in boxes:
            _ask(hall, leaks, viewer, _heading(game, match_id, viewer, "get_state") | {"state": {"version": "1.0.0"}})
        actor = draw.choice(match.active())
        action = random_action(match.legal(actor), draw)
        body = {"action": {"version": "1.0.0", "type": action.type, "data": action.data}}
        leaks.say(actor, action)
        _ask(hall, leaks, actor, _heading(game, match_id, actor, "perform_action") | body)
    for viewer, box in boxes.items():
        hall.detach(match_id, viewer, box)
    return leaks.found()


def _heading(game: str, match_id: str, agent_id: str, kind: str) -> dict[str, Any]:
    return {"version": "1.0.0", "type": kind, "game": game, "match_id": match_id, "agent_id": agent_id}


def _ask(hall: Hall, leaks: Leaks, asker: str, envelope: Mapping[str, Any]) -> None:
    def answer(found: OutgoingFrame) -> None:
        leaks.tell(asker, found.text)

    hall.handle(json.dumps(envelope), Principal.of_seat(envelope["match_id"], asker), answer)


def _collect(leaks: Leaks, boxes: Mapping[str, SocketOutbox]) -> None:
    for recipient, box in boxes.items():
        for text in box.drain():
            leaks.tell(recipient, text)


def all_leaks(hall: Hall, games: Iterable[tuple[str, Sequence[str], int]]) -> Iterator[tuple[str, int, list[str]]]:
    """For each game, its seats and a number of matches: the game, which match, and what leaked."""
    for game, agents, count in games:
        for number in range(count):
            yield game, number, leaks_of_hall(hall, game, agents, number=number)
