"""Q21 around a table: a referee and two players as seats, by the same rules and the same scoring as in the league.

Rule 1: points are computed here from what was said. Nobody reports them, so nobody can argue about them.
Rule 2: what one player asks, is answered and guesses is between that player and the referee until the match is over,
and the order in which the two act changes nothing that anybody else sees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from league_agents.core.entry import check_agent_ids
from league_agents.core.frozen import FrozenDict, FrozenList, frozen
from league_agents.core.game import (
    ALL,
    HOST,
    Action,
    Cause,
    Event,
    IllegalAction,
    JsonObject,
    LegalAction,
    Mode,
    Outcome,
    Progress,
    Step,
)
from league_agents.core.people import people_keys
from league_agents.games.q21.actions import (
    ANNOUNCE,
    ANSWER,
    ASK,
    GUESS,
    announce_schema,
    answer_of,
    answer_schema,
    ask_schema,
    guess_schema,
    read_announcement,
    read_answers,
    read_guess,
    read_questions,
)
from league_agents.games.q21.as_json import breakdown_as_json, feedback_as_json
from league_agents.games.q21.model import UNSCORED, Choice, Scorecard
from league_agents.games.q21.rules import PRD, AnswerKey
from league_agents.games.q21.scoring import score, winner
from league_agents.games.q21.seats import (
    Phase,
    Seat,
    Table,
    answers_of,
    brief_of,
    dump_table,
    guess_of,
    load_table,
    questions_of,
    rules_from,
    table_from,
    target_of,
)
from league_agents.games.q21.telling import rules_text, said
from league_agents.values import evolve

_TURN: Final = {Phase.BRIEF: 1, Phase.QUESTIONS: 2, Phase.ANSWERS: 3, Phase.GUESSES: 4, Phase.OVER: 4}
_STAGE: Final = {Phase.BRIEF: ANNOUNCE, Phase.QUESTIONS: ASK, Phase.ANSWERS: ANSWER, Phase.GUESSES: GUESS}


_CONFIG_SCHEMA: Final[JsonObject] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "rules": {
            "type": ["string", "object"],
            "default": PRD.name,
            "description": "prd, course, or a mapping of rules (league-agents rules shows the keys)",
        },
        **people_keys(),
    },
}
_ACTION_SCHEMAS: Final[Mapping[str, JsonObject]] = {
    ANNOUNCE: announce_schema(PRD),
    ASK: {"type": "object", "required": ["questions"], "properties": {"questions": {"type": "array"}}},
    ANSWER: {
        "type": "object",
        "required": ["player_id", "answers"],
        "properties": {"player_id": {"type": "string"}, "answers": {"type": "array"}},
    },
    GUESS: guess_schema(PRD),
}


class Q21:
    """The game; agents are the referee, then the two players."""

    code = "q21"
    version = "1.0.0"
    min_agents = 3
    max_agents = 3
    config_schema: JsonObject = _CONFIG_SCHEMA
    action_schemas: Mapping[str, JsonObject] = _ACTION_SCHEMAS
    protocol: str | None = None

    def setup(self, config: JsonObject, agent_ids: Sequence[str], seed: int) -> Table:
        """An empty table; nothing is drawn, because the referee chooses. Raises ``ConfigError``."""
        referee, one, two = check_agent_ids(agent_ids, self.min_agents, self.max_agents)
        return table_from(config, referee, one, two)

    def opening(self, state: Table) -> tuple[Event, ...]:
        return (_phase_event(state),)

    def pending(self, state: Table) -> tuple[str, ...]:
        phase = state.phase
        if phase is Phase.BRIEF:
            return (state.referee,)
        if phase is Phase.ANSWERS:
            return (state.referee,)
        if phase is Phase.OVER:
            return ()
        return tuple([seat.agent_id for seat in state.seats if _owes(seat, phase)])

    def phase_mode(self, state: Table) -> Mode:
        """Every phase is sealed: nobody hears what another one says."""
        return Mode.SEALED

    def legal(self, state: Table, agent: str) -> tuple[LegalAction, ...]:
        if agent not in self.pending(state):
            return ()
        rules = state.rules
        if state.phase is Phase.BRIEF:
            return (LegalAction(type=ANNOUNCE, schema=announce_schema(rules)),)
        if state.phase is Phase.QUESTIONS:
            return (LegalAction(type=ASK, schema=ask_schema(rules)),)
        if state.phase is Phase.ANSWERS:
            owed = _unanswered(state)
            return (LegalAction(type=ANSWER, schema=answer_schema(tuple(owed), next(iter(owed.values())))),)
        return (LegalAction(type=GUESS, schema=guess_schema(rules)),)

    def apply(
        self, state: Table, agent: str, action: Action, heard_by: Sequence[str] | None = None
    ) -> Step[Table]:
        if state.phase is Phase.OVER:
            raise IllegalAction("match_over", "The match is over.")
        if agent not in self.pending(state):
            raise IllegalAction("not_pending", "It is not your turn.")
        if action.version.split(".")[0] != self.version.split(".")[0]:
            raise IllegalAction(
                "unsupported_game_version", f"This game speaks version {self.version}.", {"supported": [self.version]}
            )
        if action.type != _STAGE[state.phase]:
            raise IllegalAction("unknown_action", f"Only {_STAGE[state.phase]} is possible now.")
        if state.phase is Phase.BRIEF:
            return self._announce(state, action.data)
        if state.phase is Phase.ANSWERS:
            player, answers = read_answers(action.data, _unanswered(state))
            return self._answered(state, player, answers)
        seat = state.seat_of(agent)
        assert seat is not None, "only players are pending here"
        if state.phase is Phase.QUESTIONS:
            return self._advanced(state, evolve(seat, questions=read_questions(action.data, state.rules)))
        return self._advanced(state, evolve(seat, guess=read_guess(action.data, state.rules)))

    def forfeit(self, state: Table, agent: str, cause: Cause) -> Step[Table]:
        """The referee's brief: the match ends without a winner. Its answers: Not Relevant to every question.

        A player's questions or guess: the player is out, with zero points.
        """
        if agent not in self.pending(state):
            raise IllegalAction("not_pending", "This agent owes nothing.")
        if state.phase is Phase.BRIEF:
            return self._over(evolve(state, reason="no_brief"))
        if state.phase is Phase.ANSWERS:
            player, count = next(iter(_unanswered(state).items()))
            nothing = FrozenList([answer_of(n, Choice.NOT_RELEVANT) for n in range(1, count + 1)])
            return self._answered(evolve(state, unanswered=(*state.unanswered, player)), player, nothing)
        seat = state.seat_of(agent)
        assert seat is not None, "only players are pending here"
        return self._advanced(state, evolve(seat, forfeit=str(cause)))

    def view(self, state: Table, viewer: str) -> dict[str, Any]:
        rules, told, is_over = state.rules, state.announced, state.phase is Phase.OVER
        referee_sees = viewer in (HOST, state.referee)
        view: dict[str, Any] = {
            "phase": str(state.phase),
            "rule_set": rules.name,
            "referee": state.referee,
            "players": list(state.players),
            "brief": None,
            "forfeits": {
                seat.agent_id: seat.forfeit
                for seat in state.seats
                if seat.forfeit is not None and (is_over or not _left_in(seat, state.phase))
            },
            "game_over": is_over,
        }
        if rules.answer_key is AnswerKey.FIXED:
            view["fixed_options"] = list(rules.fixed_options)
        if told is not None:
            view["brief"] = {key: told[key] for key in ("book_name", "book_hint", "association_word")}
        if is_over or referee_sees:
            view["target"] = None if told is None else _target(told)
            view["games"] = {seat.agent_id: _game(state, seat) for seat in state.seats}
        elif (seat := state.seat_of(viewer)) is not None:
            view["me"] = _game(state, seat)
        return view

    def info(self, state: Table, viewer: str) -> Progress:
        pending, phase = self.pending(state), state.phase
        is_seated = viewer == state.referee or viewer in state.players
        stage = "done" if phase is Phase.OVER else "wait" if is_seated else "watch"
        if viewer in pending:
            stage = _STAGE[phase]
        return Progress(
            status="ended" if phase is Phase.OVER else "started",
            phase=str(phase),
            turn=_TURN[phase],
            stage=stage,
            active_agent_ids=pending,
        )

    def outcome(self, state: Table) -> Outcome | None:
        if state.phase is not Phase.OVER:
            return None
        cards: Mapping[str, JsonObject] = state.scores or {}
        points = {player: cards[player]["league_points"] if player in cards else 0 for player in state.players}
        best = max(points.values())
        leaders = [player for player, earned in points.items() if earned == best]
        return Outcome(
            winners=tuple(leaders) if len(leaders) == 1 else (),
            scores={state.referee: 0.0, **{player: float(earned) for player, earned in points.items()}},
            reason=state.reason,
            metrics={
                "private_scores": {player: card["private_score"] for player, card in cards.items()},
                "forfeits": sum(seat.forfeit is not None for seat in state.seats),
                "unanswered_batches": len(state.unanswered),
            },
        )

    def rounds(self, config: JsonObject) -> None:
        """There is no limit: a match has its four phases."""

    def rules_text(self, config: JsonObject, lang: str = "en") -> str:
        rules = rules_from(config)
        return rules_text(rules, lang)

    def dump(self, state: Table) -> dict[str, Any]:
        return dump_table(state)

    def load(self, dumped: JsonObject) -> Table:
        return load_table(dumped)

    def _announce(self, state: Table, data: JsonObject) -> Step[Table]:
        told = read_announcement(data, state.rules)
        after = evolve(state, announced=FrozenDict(told), phase=Phase.QUESTIONS)
        brief = {key: told[key] for key in ("book_name", "book_hint", "association_word")}
        text = said(
            state.lang, "told", book=told["book_name"], hint=told["book_hint"], domain=told["association_word"]
        )
        return Step(
            state=after,
            events=(
                Event(kind="brief", visible_to=ALL, text=text, data=brief),
                Event(kind="target", visible_to=HOST, text=said(state.lang, "target"), data=_target(told)),
                _phase_event(after),
            ),
        )

    def _answered(self, state: Table, player: str, answers: FrozenList) -> Step[Table]:
        seat = state.seat_of(player)
        assert seat is not None, "answers were read for a player of this table"
        after = _with_seat(state, evolve(seat, answers=answers))
        event = Event(
            kind="answers",
            visible_to=(state.referee, player),
            text=said(state.lang, "answered", player=state.called(player)),
            data={"player_id": player, "answers": answers},
        )
        if _unanswered(after):
            return Step(state=after, events=(event,))
        after = evolve(after, phase=Phase.GUESSES)
        return Step(state=after, events=(event, _phase_event(after)))

    def _advanced(self, state: Table, seat: Seat) -> Step[Table]:
        """A player has done its part of a sealed phase: what it was comes out when both have."""
        phase, after = state.phase, _with_seat(state, seat)
        if any(_owes(each, phase) for each in after.seats):
            return Step(state=after)
        # In seat order, so that nobody sees who was first (arena 6).
        events = [
            Event(
                kind="forfeit",
                visible_to=ALL,
                text=said(state.lang, "out", player=state.called(each.agent_id), cause=each.forfeit),
                data={"player_id": each.agent_id, "cause": each.forfeit},
            )
            for each in after.seats
            if _left_in(each, phase)
        ]
        if phase is Phase.QUESTIONS:
            events += [
                Event(
                    kind="questions",
                    visible_to=(state.referee, each.agent_id),
                    text=said(state.lang, "asked", player=state.called(each.agent_id)),
                    data={"player_id": each.agent_id, "questions": each.questions},
                )
                for each in after.seats
                if each.questions is not None
            ]
            if _unanswered(after):
                after = evolve(after, phase=Phase.ANSWERS)
                return Step(state=after, events=(*events, _phase_event(after)))
        last = self._over(evolve(after, reason="completed"))
        guesses = [_guess_event(after, each.agent_id, each.guess) for each in after.seats if each.guess is not None]
        return Step(state=last.state, events=(*events, *guesses, *last.events))

    def _over(self, state: Table) -> Step[Table]:
        """Scores are computed, and everything is told to everybody."""
        cards: dict[str, Scorecard] = {}
        scores: FrozenDict | None = None
        if state.announced is not None:
            for seat in state.seats:
                guess = guess_of(seat)
                cards[seat.agent_id] = (
                    UNSCORED
                    if guess is None
                    else score(
                        guess, target_of(state), brief_of(state), questions_of(seat), answers_of(seat), state.rules
                    )
                )
            scores = frozen({player: _card(card) for player, card in cards.items()})
        after = evolve(state, phase=Phase.OVER, scores=scores)
        won = winner(cards) if cards else None
        told = None if state.announced is None else _target(state.announced)
        lang = state.lang
        text = said(lang, "nobody_wins") if won is None else said(lang, "wins", player=state.called(won))
        if told is not None:
            text += said(lang, "solution", sentence=told["opening_sentence"], word=told["associative_word"])
        result = {"target": told, "scores": scores, "winner": won, "reason": state.reason}
        return Step(
            state=after, events=(_phase_event(after), Event(kind="result", visible_to=ALL, text=text, data=result))
        )


def _left_in(seat: Seat, phase: Phase) -> bool:
    """Whether a player went out in this phase, which is told only when the phase closes."""
    return seat.forfeit is not None and (seat.questions is None) == (phase is Phase.QUESTIONS)


def _owes(seat: Seat, phase: Phase) -> bool:
    if seat.forfeit is not None:
        return False
    return seat.questions is None if phase is Phase.QUESTIONS else seat.guess is None


def _unanswered(state: Table) -> dict[str, int]:
    """Players whose questions wait for answers, with their number."""
    return {
        seat.agent_id: len(seat.questions)
        for seat in state.seats
        if seat.questions is not None and seat.answers is None
    }


def _with_seat(state: Table, seat: Seat) -> Table:
    one, two = state.seats
    return evolve(state, seats=(seat, two) if seat.agent_id == one.agent_id else (one, seat))


def _phase_event(state: Table) -> Event:
    phase = str(state.phase)
    return Event(kind="phase", visible_to=ALL, text=said(state.lang, phase), data={"phase": phase})


def _guess_event(state: Table, player: str, guess: JsonObject) -> Event:
    """What a player guessed, for everybody: with it the match is over."""
    text = said(
        state.lang,
        "guessed",
        player=state.called(player),
        sentence=guess["opening_sentence"],
        word=guess["associative_word"],
    )
    return Event(kind="guess", visible_to=ALL, text=text, data={"player_id": player, "guess": guess})


def _target(told: JsonObject) -> dict[str, str]:
    return {"opening_sentence": told["actual_opening_sentence"], "associative_word": told["actual_associative_word"]}


def _game(state: Table, seat: Seat) -> dict[str, Any]:
    """One player's game for those who may see it."""
    card = None if state.scores is None else state.scores.get(seat.agent_id)
    return {
        "player_id": seat.agent_id,
        "questions": seat.questions,
        "answers": seat.answers,
        "guess": seat.guess,
        "scorecard": card,
    }


def _card(card: Scorecard) -> dict[str, Any]:
    breakdown, feedback = card.breakdown, card.feedback
    return {
        "league_points": card.league_points,
        "private_score": card.private_score,
        "breakdown": None if breakdown is None else breakdown_as_json(breakdown),
        "feedback": None if feedback is None else feedback_as_json(feedback),
    }
