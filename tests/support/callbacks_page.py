"""The reference page of the callbacks: contexts and replies of a match that is played while the page is written."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from functools import partialmethod
from typing import Any

from league_agents.agents.base import PLAYER_CALLBACKS, REFEREE_CALLBACKS, PlayerAI, RefereeAI
from league_agents.agents.scripted import ScriptedPlayer, ScriptedReferee
from league_agents.app.offline import play_single_game
from league_agents.games.q21.rules import PRD

_HEADER = """\
# Callbacks

Written by `scripts/docs` from `league_agents/agents/base.py` and from a match that was played while this page was
written, with scripted agents under the rule set `prd`. Lists are cut after their first item. [Write an
agent](../how-to/agents.md) says how a class is named and where it runs.

A referee is a class with four methods, a player one with four others. Each gets one dict, `{"dynamic": {…},
"service": {…}}`, and returns a dict of JSON values. `dynamic` is the match as this side may know it. `service` names
the call, the keys that the reply needs, and the seconds that are left. Keys may be missing and texts may be hostile
when the other side is: read them with `.get`.

The methods of one instance are never called at the same time. A referee's instance judges one match after the other.
Whether your class inherits from `RefereeAI` or `PlayerAI` makes no difference, and methods may be `async`.

The limits of time below are those of `prd` and `course`; a [rule set](rules.md) may set others.
"""

_FAILURES: Mapping[str, str] = {
    "get_warmup_question": "If it fails, a simple sum is asked instead.",
    "get_round_start_info": "If it fails it is called once more, and if that fails too, the match is aborted.",
    "get_answers": "If it fails it is called once more, and if that fails too, every answer is `Not Relevant`.",
    "get_score_feedback": "If it fails it is called once more, and if that fails too, the player gets zero points.",
    "get_warmup_answer": 'If it fails, the answer is `"0"`.',
    "get_questions": "Questions that can be used are kept, and missing ones are filled in.",
    "get_guess": "What can be used is kept, and justifications are fitted to the word limits. A guess is always sent.",
    "on_score_received": "If it fails, the log says so.",
}
"""What happens if a callback raises, is late, or returns something that cannot be used."""

_calls: dict[str, tuple[Mapping[str, Any], Any]] = {}


def _recorded(kind: type, names: tuple[str, ...]) -> type:
    """A subclass of a scripted agent that keeps the first context and reply of each callback."""

    def recorded(name: str) -> Callable[..., object]:
        def method(self: object, ctx: Mapping[str, Any]) -> object:
            reply = getattr(super(found, self), name)(ctx)
            _calls.setdefault(name, (ctx, reply))
            return reply

        return method

    body: dict[str, Any] = {name: recorded(name) for name in names}
    body["__init__"] = partialmethod(kind.__init__, rules=PRD)  # type: ignore[misc]
    found = type(f"Recorded{kind.__name__}", (kind,), body)
    return found


RecordedReferee = _recorded(ScriptedReferee, REFEREE_CALLBACKS)
RecordedPlayer = _recorded(ScriptedPlayer, PLAYER_CALLBACKS)


def callbacks_page() -> str:
    """The page as Markdown."""
    _calls.clear()
    play_single_game(
        seed=7,
        rules=PRD,
        referee=f"{__name__}:RecordedReferee",
        player_a=f"{__name__}:RecordedPlayer",
        player_b="scripted",
        in_process=True,
    )
    return "\n".join(
        [_HEADER, *_side("Player", PlayerAI, PLAYER_CALLBACKS), *_side("Referee", RefereeAI, REFEREE_CALLBACKS)]
    )


def _side(title: str, kind: type, names: tuple[str, ...]) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    for name in names:
        context, reply = _calls[name]
        seconds = getattr(PRD.callback_timeouts, name).total_seconds()
        yield f"### {name}"
        yield ""
        yield (inspect.getdoc(getattr(kind, name)) or "").replace("``", "`")
        yield ""
        yield f"Limit: {seconds:g} seconds. {_FAILURES[name]}"
        yield ""
        yield from ("Context:", "", "```json", _shown(context), "```", "")
        if reply is not None:
            yield from ("Reply:", "", "```json", _shown(reply), "```", "")


def _shown(value: object) -> str:
    return json.dumps(_cut(value), indent=2, ensure_ascii=False)


def _cut(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _cut(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        rest = [f"… {len(value) - 1} more"] if len(value) > 1 and isinstance(value[0], Mapping) else list(value[1:])
        return [*map(_cut, value[:1]), *rest]
    if isinstance(value, str) and len(value) > 200:
        return value[:200].rstrip() + " …"
    return value
