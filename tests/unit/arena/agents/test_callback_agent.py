"""League agents at the table: asked as in the league, read as in the league, told as in the league."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from league_agents.agents.base import PlayerAI, RefereeAI
from league_agents.agents.library import Knowledge
from league_agents.agents.llm_player import LlmPlayer
from league_agents.agents.llm_referee import LlmReferee
from league_agents.agents.offline_player import OfflinePlayer
from league_agents.agents.offline_referee import OfflineReferee
from league_agents.agents.scripted import PLAYERS, REFEREES, ScriptedPlayer
from league_agents.arena.agents.callback_agent import CallbackAgent, callbacks_of
from league_agents.arena.session import Session
from league_agents.games.game import Event, Outcome
from league_agents.games.q21.game import Q21
from league_agents.games.q21.rules import COURSE, PRD, RuleSet
from league_agents.kit.draw import Draw
from league_agents.kit.errors import CallbackInvalid, ModelUnavailable
from league_agents.knowledge.documents import make_document
from league_agents.llm.chat import Chat
from league_agents.llm.exchange import Patience
from league_agents.turns.match import Match
from tests.support.scripted_model import ScriptedBackend

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
SEATS = ("referee", "player_a", "player_b")
BOTH = pytest.mark.parametrize("rules", [PRD, COURSE], ids=lambda rules: rules.name)


@pytest.fixture(scope="module")
def knowledge() -> Knowledge:
    """The bundled catalogue, and one small book."""
    who = ("The miller", "Old Anna", "A sailor", "My brother", "The widow Grant", "Nobody", "Every child", "She")
    did = ("carried", "sold", "forgot", "painted", "buried", "found")
    what = ("a lantern", "the red boat", "two geese", "an iron kettle", "her blue coat", "much bread")
    where = ("by the river", "under the oak", "behind the church", "in the snow", "at the fair")
    draw = Draw(5, "village")

    def paragraph() -> str:
        said = [f"{draw.choice(who)} {draw.choice(did)} {draw.choice(what)} {draw.choice(where)}." for _ in range(3)]
        return f"{said[0]} “Who is there?” asked a voice. {said[1]} Then rain fell, and nobody laughed. {said[2]}"

    text = "# The Village Book\n\n" + "\n\n".join(paragraph() for _ in range(100))
    return Knowledge(documents=[make_document(text, source="village.md", markup="markdown", author="Jo Reed")])


def seated(agent: object, rules: RuleSet = PRD) -> CallbackAgent:
    return CallbackAgent(callbacks_of(agent), rules=rules, match_id="q21-1", now=lambda: NOW)


def match(rules: RuleSet = PRD) -> Match[Any]:
    return Match(Q21(), config={"rules": rules.name}, agent_ids=SEATS, seed=3)


def played(rules: RuleSet, referee: object, one: object, two: object) -> tuple[Outcome, Match[Any]]:
    made = match(rules)
    agents = {seat: seated(agent, rules) for seat, agent in zip(SEATS, (referee, one, two), strict=True)}
    asyncio.run(Session(made, agents).run())
    outcome = made.outcome()
    assert outcome is not None
    return outcome, made


@BOTH
def test_offline_agents_play_a_match(rules: RuleSet, knowledge: Knowledge) -> None:
    outcome, made = played(
        rules,
        OfflineReferee(rules=rules, knowledge=knowledge, seed=1),
        OfflinePlayer(rules=rules, knowledge=knowledge, seed=2),
        OfflinePlayer(rules=rules, knowledge=knowledge, seed=3),
    )
    assert outcome.reason == "completed"
    assert outcome.metrics["forfeits"] == 0
    assert outcome.metrics["unanswered_batches"] == 0
    answers = made.view("host")["games"]["player_a"]["answers"]
    assert {answer["answer"] for answer in answers} >= {"A", "B"}  # somebody looked at the questions


@BOTH
def test_agents_with_a_model_that_is_down_play_a_match(rules: RuleSet, knowledge: Knowledge) -> None:
    backend = ScriptedBackend(lambda _request: ModelUnavailable("down"))
    chat = Chat(backend, Patience(retries=0))
    outcome, _ = played(
        rules,
        LlmReferee(rules=rules, knowledge=knowledge, seed=1, models=lambda _callback: chat),
        LlmPlayer(rules=rules, knowledge=knowledge, seed=2, models=lambda _callback: chat),
        LlmPlayer(rules=rules, knowledge=knowledge, seed=3, models=lambda _callback: chat),
    )
    assert outcome.metrics["forfeits"] == 0
    asked = {request.prompt.purpose.callback for request in backend.requests}
    assert {"get_questions", "get_guess"} <= asked


@BOTH
def test_scripted_league_agents_play_a_match(rules: RuleSet) -> None:
    players = [PLAYERS["fixed"](rules=rules) for _ in range(2)]
    outcome, _ = played(rules, REFEREES["fixed"](rules=rules), *players)
    assert outcome.reason == "completed"


class Noting(ScriptedPlayer):
    """Notes what it is told, and spoils it."""

    def __init__(self, *, rules: RuleSet) -> None:
        super().__init__(rules=rules)
        self.told: dict[str, Any] = {}

    def get_questions(self, ctx: Mapping[str, Any]) -> dict[str, Any]:
        return self._noted("get_questions", ctx, super().get_questions(ctx))

    def get_guess(self, ctx: Mapping[str, Any]) -> dict[str, Any]:
        return self._noted("get_guess", ctx, super().get_guess(ctx))

    def on_score_received(self, ctx: Mapping[str, Any]) -> None:
        self.told["on_score_received"] = ctx

    def _noted(self, callback: str, ctx: Any, reply: Any) -> Any:
        self.told[callback] = {"dynamic": dict(ctx["dynamic"]), "service": dict(ctx["service"])}
        ctx["dynamic"].clear()
        return reply


def test_a_player_is_told_what_the_league_would_tell_it() -> None:
    one, two = Noting(rules=PRD), Noting(rules=PRD)
    outcome, _ = played(PRD, REFEREES["fixed"](rules=PRD), one, two)
    asked = one.told["get_questions"]
    assert asked["dynamic"]["questions_required"] == 20
    assert asked["dynamic"]["match_id"] == asked["service"]["match_id"] == "q21-1"
    assert asked["service"]["name"] == "questions"
    guessed = one.told["get_guess"]["dynamic"]
    assert len(guessed["questions_sent"]) == len(guessed["answers"]) == 20
    assert guessed["book_name"]
    for player, seat in ((one, "player_a"), (two, "player_b")):
        card = player.told["on_score_received"]["dynamic"]
        assert card["private_score"] == outcome.metrics["private_scores"][seat]
        assert card["breakdown"].keys() >= {"opening_sentence_score"}


def test_the_time_that_is_left_is_told() -> None:
    made, player = match(), Noting(rules=PRD)
    made.act("referee", asyncio.run(scripted_announcement(made)))
    view = {**made.view("player_a"), "agent_id": "player_a", "refusal": None}
    seated(player).act(view, made.legal("player_a"), NOW + timedelta(seconds=7))
    assert player.told["get_questions"]["service"]["deadline_seconds"] == 7


async def scripted_announcement(made: Match[Any]) -> Any:
    from league_agents.arena.agents.scripted_agent import ScriptedAgent

    return await ScriptedAgent("q21", seed=1).act(made.view("referee"), made.legal("referee"), None)


class Targetless(RefereeAI):
    """A referee that leaves the target to the league's file."""

    def get_round_start_info(self, ctx: Mapping[str, Any]) -> dict[str, Any]:
        return {"book_name": "Moby-Dick", "book_hint": "A long hunt at sea", "association_word": "animals"}

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    get_warmup_question = get_answers = get_score_feedback = get_round_start_info


def test_a_referee_without_a_target_is_told_what_is_missing_and_forfeits() -> None:
    outcome, made = played(PRD, Targetless(), PLAYERS["fixed"](rules=PRD), PLAYERS["fixed"](rules=PRD))
    assert outcome.reason == "no_brief"
    assert made.view("host")["target"] is None


class Babbling(PlayerAI):
    def get_warmup_answer(self, ctx: Mapping[str, Any]) -> dict[str, Any]:
        return {}

    def get_questions(self, ctx: Mapping[str, Any]) -> dict[str, Any]:
        return {"questions": "none"}

    def get_guess(self, ctx: Mapping[str, Any]) -> dict[str, Any]:
        return {}

    def on_score_received(self, ctx: Mapping[str, Any]) -> None:
        raise RuntimeError("not interested")


def test_a_players_result_is_repaired_as_in_the_league() -> None:
    outcome, made = played(PRD, REFEREES["fixed"](rules=PRD), Babbling(), PLAYERS["fixed"](rules=PRD))
    assert outcome.metrics["forfeits"] == 0
    assert len(made.view("host")["games"]["player_a"]["questions"]) == 20
    assert outcome.scores["player_a"] == 0


class Silent(Targetless):
    def get_round_start_info(self, ctx: Mapping[str, Any]) -> dict[str, Any]:
        target = {"actual_opening_sentence": "Call me Ishmael.", "actual_associative_word": "whale"}
        return {**super().get_round_start_info(ctx), **target}

    def get_answers(self, ctx: Mapping[str, Any]) -> dict[str, Any]:
        return {"answers": "none"}


def test_answers_that_are_none_are_forfeited() -> None:
    outcome, _ = played(PRD, Silent(), PLAYERS["fixed"](rules=PRD), PLAYERS["fixed"](rules=PRD))
    assert outcome.reason == "completed"
    assert outcome.metrics["unanswered_batches"] == 2
    made = match()
    agent = seated(Silent())
    for seat in SEATS:
        view = {**made.view(seat), "agent_id": seat, "refusal": None}
        chosen = agent if seat == "referee" else seated(PLAYERS["fixed"](rules=PRD))
        made.act(seat, chosen.act(view, made.legal(seat), None))
    with pytest.raises(CallbackInvalid):
        agent.act({**made.view("referee"), "agent_id": "referee", "refusal": None}, made.legal("referee"), None)


class Stumbling(RefereeAI):
    """Fails in the first call of every callback."""

    def __init__(self) -> None:
        self._inner, self.calls = REFEREES["fixed"](rules=PRD), Counter[str]()

    def get_warmup_question(self, ctx: Mapping[str, Any]) -> dict[str, Any]:
        raise AssertionError("a table has no warm-up")

    get_score_feedback = get_warmup_question

    def get_round_start_info(self, ctx: Mapping[str, Any]) -> dict[str, Any]:
        self.calls["get_round_start_info"] += 1
        if self.calls["get_round_start_info"] == 1:
            raise RuntimeError("not yet")
        return self._inner.get_round_start_info(ctx)

    def get_answers(self, ctx: Mapping[str, Any]) -> dict[str, Any]:
        self.calls["get_answers"] += 1
        return self._inner.get_answers(ctx) if self.calls["get_answers"] != 1 else {"answers": "none"}


def test_a_referee_that_fails_is_called_once_more_as_in_the_league(caplog: pytest.LogCaptureFixture) -> None:
    referee = Stumbling()
    outcome, _ = played(PRD, referee, PLAYERS["fixed"](rules=PRD), PLAYERS["fixed"](rules=PRD))
    assert outcome.reason == "completed"
    assert (outcome.metrics["forfeits"], outcome.metrics["unanswered_batches"]) == (0, 0)
    assert referee.calls == {"get_round_start_info": 2, "get_answers": 3}
    assert "get_round_start_info: RuntimeError: not yet; it is called once more" in caplog.text


def test_a_referee_is_told_no_score() -> None:
    class Listening(Targetless):
        def on_score_received(self, ctx: object) -> None:
            raise AssertionError("a referee has no score")

    agent = seated(Listening())
    agent.observe(Event(kind="result", visible_to="all", text="", data={"scores": {"player_a": {}}}))
    agent.observe(Event(kind="result", visible_to="all", text="", data={"scores": None}))
    agent.observe(Event(kind="phase", visible_to="all", text=""))
