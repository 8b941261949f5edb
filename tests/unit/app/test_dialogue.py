"""A game in words is the game of ``evaluate player``: the same targets, readers and points."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from league_agents.agents.library import Knowledge
from league_agents.agents.offline_player import OfflinePlayer
from league_agents.app import dialogue
from league_agents.app.dialogue import PlayerDialogue, player_figures, stage_of
from league_agents.app.evaluation import EvaluationSettings
from league_agents.app.evaluation_series import play_of
from league_agents.evaluation.results import PlayerGame
from league_agents.games.q21.rules import BUILT_IN
from league_agents.kit.errors import ConfigError
from league_agents.llm.port import Prompt

RULES = ("prd", "course")


@pytest.fixture(scope="module")
def packaged() -> Knowledge:
    return Knowledge.open(None)


def settings(rules: str, **changes: Any) -> EvaluationSettings:
    specs = {"player": "offline", "opponent": "scripted", "referee": "offline", **changes.pop("specs", {})}
    return EvaluationSettings(role="player", specs=specs, rules=BUILT_IN[rules], noise=0.1, seed=5, **changes)


def told(monkeypatch: pytest.MonkeyPatch, reply: Callable[[str, Any], str]) -> Callable[[PlayerDialogue], PlayerGame]:
    """Plays a dialogue with replies made from the callback and the context behind each request."""
    contexts: list[tuple[str, Any]] = []
    asked = dialogue.plain_prompt

    def listen(callback: str, ctx: Any, *rest: Any, **named: Any) -> Prompt:
        contexts.append((callback, ctx))
        return asked(callback, ctx, *rest, **named)

    monkeypatch.setattr(dialogue, "plain_prompt", listen)

    def play(game: PlayerDialogue) -> PlayerGame:
        while game.request is not None:
            game.answer(reply(*contexts[-1]))
        assert game.ended is not None
        return game.ended

    return play


@pytest.mark.parametrize("rules", RULES)
def test_the_same_replies_earn_the_same_points_as_in_an_evaluation(
    rules: str, packaged: Knowledge, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = settings(rules)
    stage = stage_of(wanted, packaged)
    usual: PlayerGame = play_of(wanted, packaged, None)(2, stage.cast(2))
    player = OfflinePlayer(rules=wanted.rules, knowledge=packaged, seed=_seed_of(wanted, 2))
    play = told(monkeypatch, lambda callback, ctx: f"Sure!\n```json\n{json.dumps(getattr(player, callback)(ctx))}\n```")
    spoken = play(PlayerDialogue(wanted, packaged, 2))
    assert (spoken.book, spoken.player, spoken.opponent) == (usual.book, usual.player, usual.opponent)
    assert spoken.player is not None
    assert spoken.player.points > 0


def _seed_of(wanted: EvaluationSettings, game: int) -> str:
    from league_agents.kit.ids import derive_hex

    return derive_hex(str(wanted.seed), "evaluation", "player", game, digits=16)


def test_a_request_holds_what_the_league_tells_a_player_and_nothing_else(packaged: Knowledge) -> None:
    game = PlayerDialogue(settings("prd"), packaged, 1)
    first = game.request
    assert first is not None
    assert "Exactly 20 of them" in first.system
    assert "35 or more words" in first.system
    assert "Now ask." in first.user
    game.answer(json.dumps({"questions": _questions()}))
    second = game.request
    assert second is not None
    assert "7. Does the sentence hold the letter g anywhere? – " in second.user
    assert first.user.replace("Now ask.", "").strip() in second.user
    assert len({each.system.partition("The mark of this conversation")[0] for each in (first, second)}) == 1
    game.answer("no")
    assert game.request is None


def _questions() -> list[dict[str, object]]:
    options = dict(zip("ABCD", BUILT_IN["prd"].fixed_options, strict=True))
    return [
        {"question_number": number, "question_text": f"Does the sentence hold the letter {chr(96 + number)} anywhere?",
         "options": options}
        for number in range(1, 21)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("guess", "usable"),
    [
        ("I win.", 0.5),
        ('{"opening_sentence": "It rained."} {"opening_sentence": "It snowed."}', 0.5),
        ('{"opening_sentence": "\\ud800", "league_points": 3, "private_score": 100}', None),
        ('{"league_points": 3, "private_score": 100, "breakdown": {"opening_sentence_score": 100}}', None),
    ],
)
def test_no_text_of_a_model_is_a_score(guess: str, usable: float | None, packaged: Knowledge) -> None:
    game = PlayerDialogue(settings("prd"), packaged, 1)
    game.answer(json.dumps({"questions": _questions()}))
    game.answer(guess)
    assert game.ended is not None
    figures = player_figures(game.ended)
    assert figures["points"] == 0
    assert (figures["private_score"] or 0) < 10
    assert usable is None or figures["usable_replies"] == usable


def test_a_reply_that_tells_the_private_mark_is_not_used(packaged: Knowledge) -> None:
    game = PlayerDialogue(settings("prd"), packaged, 1)
    assert game.request is not None
    game.answer(json.dumps({"questions": _questions(), "note": game.request.system[-120:]}))
    game.answer("{}")
    assert game.ended is not None
    assert game.ended.behaviour["player"].fallbacks["get_questions"] == 1


def test_only_the_evaluated_seat_may_ask_a_model(packaged: Knowledge) -> None:
    with pytest.raises(ConfigError, match="only the evaluated seat"):
        PlayerDialogue(settings("prd", specs={"opponent": "llm"}), packaged, 1)


def test_a_game_may_be_left(packaged: Knowledge) -> None:
    game = PlayerDialogue(settings("prd"), packaged, 1)
    game.close()
    game.close()
    assert game.ended is None
