"""Interaction protocols of the user's own in processes of their own: one that hangs or exits ends in one error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from league_agents.arena import own_protocol
from league_agents.arena.own_protocol import protocol_loader
from league_agents.kit.errors import ConfigError
from league_agents.turns import InteractionError, Message, load_protocol
from league_agents.turns.message import ProtocolFailed
from league_agents.turns.own_turns import OwnTurns
from league_agents.turns.turn_taking import TurnTaking

FILE = '''\
"""Not what is told of the class."""
import os

from league_agents.turns import InteractionProtocol, SequentialHandoff


class Turns:
    """The last one first."""

    def __init__(self, agents, trouble="", flow=None):
        self.order, self.at, self.trouble, self.flow = list(reversed(agents)), 0, trouble, flow
        if trouble == "unmade":
            raise RuntimeError("no licence")

    def _do(self, method):
        if self.trouble == f"hang in {method}":
            while True:
                pass
        if self.trouble == f"exit in {method}":
            os._exit(0)
        if self.trouble == f"raise in {method}":
            raise KeyError("nowhere")

    def get_next_speaker(self):
        self._do("get_next_speaker")
        return self.order[self.at] if self.at < len(self.order) else None

    def get_listeners(self, speaker):
        self._do("get_listeners")
        return set(self.order) - {speaker}

    def advance(self):
        self._do("advance")
        self.at = (self.at + 1) % (len(self.order) + 1)

    def route_message(self, message):
        self._do("route_message")
        assert message.content == {"text": f"from {message.sender}"} and message.metadata == {}

    def should_stop(self):
        self._do("should_stop")
        return False


class Strict(Turns, InteractionProtocol):
    def __init__(self, agents, topology=None, flow=None):
        InteractionProtocol.__init__(self, agents, topology, flow)
        Turns.__init__(self, [name for stage in self.flow.stages for name in stage])


class Silent(Turns):
    get_listeners = None


class Ours(SequentialHandoff):
    pass
'''

METHODS = ("get_next_speaker", "get_listeners", "advance", "route_message", "should_stop")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "turns_of_mine.py").write_text(FILE, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def made(name: str = "Turns", *, in_process: bool = False, **options: Any) -> TurnTaking:
    more: dict[str, Any] = {key: options.pop(key) for key in ("topology", "flow") if key in options}
    return load_protocol(
        {"protocol": {"type": f"turns_of_mine.py:{name}", **options}, **more},
        ("a", "b", "c"),
        load_class=protocol_loader(in_process=in_process),
    )


def one_round(protocol: TurnTaking) -> list[tuple[str, list[str]]]:
    spoken: list[tuple[str, list[str]]] = []
    while not protocol.is_round_over():
        speaker = protocol.get_next_speaker()
        assert speaker is not None
        hearers = protocol.get_listeners(speaker)
        protocol.route_message(Message(speaker, hearers, {"text": f"from {speaker}"}, protocol.current_round))
        protocol.advance()
        spoken.append((speaker, hearers))
    return spoken


def test_a_protocol_plays_in_its_process_as_it_does_here() -> None:
    there, here = made(), made(in_process=True)
    assert one_round(there) == one_round(here) == [("c", ["a", "b"]), ("b", ["a", "c"]), ("a", ["b", "c"])]
    there.advance()
    assert (there.current_round, there.get_next_speaker()) == (1, "c")
    assert there.rule_text() == here.rule_text() == "The last one first."


def test_topology_and_flow_reach_the_constructor_that_takes_them() -> None:
    flow, topology = {"flow_order": ["b", "a", "c"]}, {"edges": [["c", "a"], ["a", "b"], ["b", "a"]]}
    assert [speaker for speaker, _ in one_round(made("Strict", flow=flow, topology=topology))] == ["c", "a", "b"]
    with pytest.raises(ConfigError, match=r"topology.agents: must be the agents"):
        made("Strict", topology={"agents": ["a", "b"]})


@pytest.mark.parametrize("method", METHODS)
def test_a_method_that_ends_its_process_is_named_and_every_later_call_fails_alike(method: str) -> None:
    with pytest.raises(ProtocolFailed) as caught:
        one_round(made(trouble=f"exit in {method}"))
    at = FILE.splitlines().index("            os._exit(0)") + 1
    said = f"turns_of_mine.py:Turns: {method} ended its process with exit code 0 (turns_of_mine.py:{at})"
    assert str(caught.value) == said


def test_a_method_that_never_returns_is_named_and_its_process_is_not_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    protocol = made(trouble="hang in advance")
    assert isinstance(protocol, OwnTurns)
    said = r"advance did not return within 0.5 s; it was at turns_of_mine.py:\d+"
    with monkeypatch.context() as patched:
        patched.setattr(own_protocol, "LIMIT_S", 0.5)  # for the one call that hangs, however slow the machine is
        with pytest.raises(ProtocolFailed, match=said):
            protocol.inner.advance()
    with pytest.raises(ProtocolFailed, match=said):
        protocol.should_stop()


def test_a_method_that_raises_is_told_with_its_place() -> None:
    with pytest.raises(InteractionError, match=r"route_message raised KeyError \(turns_of_mine.py:\d+\): 'nowhere'"):
        one_round(made(trouble="raise in route_message"))


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("Silent", {}, "is no interaction protocol: it lacks get_listeners; add these methods"),
        ("Turns", {"colour": "red"}, "protocol.colour: is no parameter of turns_of_mine.py:Turns; leave it out"),
        ("Turns", {"trouble": "unmade"}, r"its constructor raised RuntimeError \(turns_of_mine.py:\d+\): no licence"),
    ],
)
def test_what_cannot_be_made_is_refused_with_the_reason(name: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        made(name, **options)


def test_an_import_that_ends_its_process_ends_nothing_else(folder: Path) -> None:
    (folder / "turns_of_mine.py").write_text("import os\nos._exit(0)\n", "utf-8")
    with pytest.raises(ConfigError, match=r"ended its process with exit code 0 at turns_of_mine.py:2; importing"):
        made()


def test_a_subclass_of_a_built_in_protocol_runs_here() -> None:
    assert type(made("Ours")).__name__ == "Ours"
