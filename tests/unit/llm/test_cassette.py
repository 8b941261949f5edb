"""Exchanges are recorded and played back, byte for byte, without a network."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from league_agents.kit.errors import ConfigError, ModelUnavailable
from league_agents.llm.cassette import Cassette, CassettePlayer, CassetteRecorder, NotAsked
from league_agents.llm.exchange import Finish, Rejected, Reply, Request, Unanswered
from league_agents.llm.port import Usage
from tests.support.scripted_model import Scripted, ScriptedBackend


def echo(request: Request) -> Scripted:
    return f"you said {request.prompt.user} שלום"


def test_what_was_recorded_is_played_back(tmp_path: Path, request_of: Any) -> None:
    usage = Usage(input_tokens=3)
    cut = Reply(text="cut", finish=Finish.CUT_OFF, usage=usage, model="scripted:model", is_counted=False)
    recorder = CassetteRecorder(ScriptedBackend(["one", cut, "again"]), tmp_path / "tape")
    replies = [recorder.exchange(request_of(user)) for user in ("a", "b", "a")]
    recorder.close()
    player = CassettePlayer(tmp_path / "tape")
    assert player.name == "scripted:model"
    # The same question gets its replies in the order in which they came, whatever is asked in between.
    assert [player.exchange(request_of(user)) for user in ("a", "a", "b")] == [replies[0], replies[2], replies[1]]


def test_failures_are_played_back_too(tmp_path: Path, request_of: Any) -> None:
    errors = [
        ModelUnavailable("busy", retry_after=timedelta(seconds=2.5)),
        Unanswered("no answer"),
        Rejected("no key"),
    ]
    recorder = CassetteRecorder(ScriptedBackend(errors), tmp_path / "tape")
    for error in errors:
        with pytest.raises(type(error)):
            recorder.exchange(request_of())
    recorder.close()
    player = CassettePlayer(tmp_path / "tape")
    for error in errors:
        with pytest.raises(ModelUnavailable) as failed:
            player.exchange(request_of())
        assert type(failed.value) is type(error)
        assert str(failed.value) == str(error)
        assert failed.value.retry_after == error.retry_after


def test_a_prompt_that_was_not_recorded_is_named_by_its_step(tmp_path: Path, request_of: Any) -> None:
    recorder = CassetteRecorder(ScriptedBackend(echo), tmp_path / "tape")
    recorder.exchange(request_of("a"))
    recorder.close()
    player = CassettePlayer(tmp_path / "tape")
    with pytest.raises(ConfigError, match=r"tape: holds no reply of scripted:model .* step 'opinion' \(get_guess"):
        player.exchange(request_of("other"))
    player.exchange(request_of("a"))
    with pytest.raises(ConfigError, match=r"for the 2\. time; record again"):
        player.exchange(request_of("a"))
    assert len(player.missing) == 2


def test_several_models_share_one_recording(tmp_path: Path, request_of: Any) -> None:
    tape = Cassette(tmp_path / "tape")
    for name in ("x:one", "x:two"):
        CassetteRecorder(ScriptedBackend([name], name=name), tape).exchange(request_of())
    tape.close()
    player = CassettePlayer(tmp_path / "tape")
    assert [player.of(name).exchange(request_of()).text for name in ("x:two", "x:one")] == ["x:two", "x:one"]
    assert player.of("x:two").name == "x:two"


def test_the_recording_does_not_depend_on_which_thread_was_first(tmp_path: Path, request_of: Any) -> None:
    def record(path: Path, order: list[int]) -> bytes:
        recorder = CassetteRecorder(ScriptedBackend(echo), path)
        threads = [threading.Thread(target=recorder.exchange, args=(request_of(f"q{number}"),)) for number in order]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        recorder.close()
        return path.read_bytes()

    forth = record(tmp_path / "a", list(range(20)))
    back = record(tmp_path / "b", list(reversed(range(20))))
    assert forth == back
    assert forth.isascii()


def test_what_was_asked_before_a_crash_is_in_the_file(tmp_path: Path, request_of: Any) -> None:
    recorder = CassetteRecorder(ScriptedBackend(echo), tmp_path / "tape")
    recorder.exchange(request_of("a"))
    assert CassettePlayer(tmp_path / "tape").exchange(request_of("a")).text == "you said a שלום"  # nobody closed it
    recorder.close()


def test_prompts_are_not_in_it(tmp_path: Path, request_of: Any) -> None:
    recorder = CassetteRecorder(ScriptedBackend(["yes"]), tmp_path / "tape")
    recorder.exchange(request_of("a secret target"))
    recorder.close()
    assert "secret" not in (tmp_path / "tape").read_text()


@pytest.mark.parametrize("line", ["x", "[]", "{}", '{"model": "m", "prompt": "p", "asked_before": 0}',
    json.dumps({"model": "m", "prompt": "p", "asked_before": 0, "reply": "r", "finish": "other"}),
    json.dumps({"model": "m", "prompt": "p", "asked_before": True, "failure": "refused"}),
    "[" * 100_000])  # fmt: skip
def test_a_line_that_is_no_exchange_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "tape").write_text(f"\n{line}\n")
    with pytest.raises(ConfigError, match="tape, line 2: is no recorded exchange"):
        CassettePlayer(tmp_path / "tape")


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere: cannot be read"):
        CassettePlayer(tmp_path / "nowhere")
    with pytest.raises(ConfigError, match="cannot be written"):
        Cassette(tmp_path / "no" / "folder")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="UTF-8"):
        CassettePlayer(tmp_path / "binary")


def test_what_nobody_waited_for_any_longer_is_not_missing(tmp_path: Path, request_of: Any) -> None:
    tape = Cassette(tmp_path / "tape")
    one = CassetteRecorder(ScriptedBackend([Unanswered("no answer")], name="x:one"), tape)
    with pytest.raises(Unanswered):
        one.exchange(request_of("a"))
    CassetteRecorder(ScriptedBackend(["yes"], name="x:two"), tape).exchange(request_of("b"))
    tape.close()
    player = CassettePlayer(tmp_path / "tape")
    with pytest.raises(Unanswered):
        player.of("x:one").exchange(request_of("a"))
    # After the failure there was no time for a second attempt, and for another prompt this model was left alone.
    for user in ("a", "b"):
        with pytest.raises(NotAsked):
            player.of("x:one").exchange(request_of(user))
    assert player.of("x:two").exchange(request_of("b")).text == "yes"
    assert player.missing == ()


def test_a_recording_goes_on_where_it_stopped_and_asks_nothing_twice(tmp_path: Path, request_of: Any) -> None:
    whole = CassetteRecorder(ScriptedBackend(echo), tmp_path / "whole")
    for user in ("a", "a", "b"):
        whole.exchange(request_of(user))
    whole.close()
    begun = CassetteRecorder(ScriptedBackend(echo), tmp_path / "tape")
    begun.exchange(request_of("a"))
    begun.close()
    with (tmp_path / "tape").open("a") as file:
        file.write('{"model":"scripted:model","pro')  # killed in the middle of a line
    backend = ScriptedBackend(echo)
    goes_on = CassetteRecorder(backend, Cassette(tmp_path / "tape", goes_on=True))
    said = [goes_on.exchange(request_of(user)).text for user in ("a", "a", "b")]
    assert [text[:10] for text in said] == ["you said a", "you said a", "you said b"]
    goes_on.close()
    assert len(backend.requests) == 2
    assert (tmp_path / "tape").read_bytes() == (tmp_path / "whole").read_bytes()


def test_its_owner_may_note_something_down(tmp_path: Path, request_of: Any) -> None:
    tape = Cassette(tmp_path / "tape")
    tape.note("games", {"count": 1})
    tape.note("games", {"count": 2})
    CassetteRecorder(ScriptedBackend(echo), tape).exchange(request_of("a"))
    assert tape.noted("games") == {"count": 2}
    tape.close()
    player = CassettePlayer(tmp_path / "tape")
    assert player.noted("games") == {"count": 2}
    assert player.noted("others") is None
    assert player.name == "scripted:model"
    further = Cassette(tmp_path / "tape", goes_on=True)
    assert further.noted("games") == {"count": 2}
    further.close()


def test_a_missing_prompt_names_its_game(tmp_path: Path, request_of: Any) -> None:
    recorder = CassetteRecorder(ScriptedBackend(echo), tmp_path / "tape")
    recorder.exchange(request_of("a"))
    recorder.close()
    with pytest.raises(ConfigError, match="get_guess, game 0101001"):
        CassettePlayer(tmp_path / "tape").exchange(request_of("b"))
