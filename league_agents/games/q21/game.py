"""Q21 around a table: a referee and two players as seats, by the same rules and the same scoring as in the league.

Rule 1: points are computed here from the submissions. No agent reports them, so no agent can influence them otherwise.
Rule 2: a player's questions, answers and guess are visible to that player and the referee only until the match is over,
and the order in which the two players act changes nothing that others see.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from league_agents.games.entry import check_agent_ids
from league_agents.games.game import (
    HOST,
    Action,
    Event,
    ForfeitCause,
    IllegalAction,
    JsonObject,
    LegalAction,
    Mode,
    Outcome,
    Progress,
    Step,
)
from league_agents.games.q21.actions import (
    ANNOUNCE,
    ANSWER,
    ASK,
    GUESS,
    announce_schema,
    answer_schema,
    ask_schema,
    guess_schema,
    read_announcement,
    read_answers,
    read_guess,
    read_questions,
)
from league_agents.games.q21.as_json import brief_as_json
from league_agents.games.q21.flow import (
    Ask,
    Decided,
    Gave,
    Happened,
    Over,
    PlayerLeft,
    SeatPhase,
    Submitted,
    refereeing,
    winner_of,
    with_run,
)
from league_agents.games.q21.model import Scorecard, Termination
from league_agents.games.q21.rules import PRD, AnswerKey
from league_agents.games.q21.scoring import score
from league_agents.games.q21.seats import (
    TableConfig,
    TableMatch,
    TablePhase,
    TablePlayer,
    dump_table,
    load_table,
    table_from,
)
from league_agents.games.q21.seen import cards_of, events_between, game_seen, is_out_since, phase_event, target_seen
from league_agents.games.q21.telling import rules_text
from league_agents.kit.values import evolve

_TURN: Final = {
    TablePhase.BRIEF: 1,
    TablePhase.QUESTIONS: 2,
    TablePhase.ANSWERS: 3,
    TablePhase.GUESSES: 4,
    TablePhase.OVER: 4,
}
_STAGE: Final = {
    TablePhase.BRIEF: ANNOUNCE,
    TablePhase.QUESTIONS: ASK,
    TablePhase.ANSWERS: ANSWER,
    TablePhase.GUESSES: GUESS,
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
    config_schema: JsonObject = TableConfig.in_json_schema()
    action_schemas: Mapping[str, JsonObject] = _ACTION_SCHEMAS
    protocol: str | None = None

    def setup(self, config: JsonObject, agent_ids: Sequence[str], seed: int) -> TableMatch:
        """Return an empty table; nothing is random, because the referee chooses. Raises ``ConfigError``."""
        referee, one, two = check_agent_ids(agent_ids, self.min_agents, self.max_agents)
        return table_from(config, referee, one, two)

    def opening(self, state: TableMatch) -> tuple[Event, ...]:
        return (phase_event(state),)

    def pending(self, state: TableMatch) -> tuple[str, ...]:
        phase = state.phase
        if phase is TablePhase.BRIEF:
            return (state.referee,)
        if phase is TablePhase.ANSWERS:
            return (state.referee,)
        if phase is TablePhase.OVER:
            return ()
        owing = SeatPhase.STARTED if phase is TablePhase.QUESTIONS else SeatPhase.ANSWERED
        return tuple([seat.agent_id for seat in state.seats if seat.phase is owing])

    def phase_mode(self, state: TableMatch) -> Mode:
        """Return ``SEALED``: no agent hears the others in any phase."""
        return Mode.SEALED

    def legal(self, state: TableMatch, agent: str) -> tuple[LegalAction, ...]:
        if agent not in self.pending(state):
            return ()
        rules = state.rules
        if state.phase is TablePhase.BRIEF:
            return (LegalAction(type=ANNOUNCE, schema=announce_schema(rules)),)
        if state.phase is TablePhase.QUESTIONS:
            return (LegalAction(type=ASK, schema=ask_schema(rules)),)
        if state.phase is TablePhase.ANSWERS:
            owed = _unanswered(state)
            return (LegalAction(type=ANSWER, schema=answer_schema(tuple(owed), next(iter(owed.values())))),)
        return (LegalAction(type=GUESS, schema=guess_schema(rules)),)

    def apply(
        self, state: TableMatch, agent: str, action: Action, heard_by: Sequence[str] | None = None
    ) -> Step[TableMatch]:
        if state.phase is TablePhase.OVER:
            raise IllegalAction("match_over", "The match is over.")
        if agent not in self.pending(state):
            raise IllegalAction("not_pending", "It is not your turn.")
        if action.version.split(".")[0] != self.version.split(".")[0]:
            raise IllegalAction(
                "unsupported_game_version", f"This game speaks version {self.version}.", {"supported": [self.version]}
            )
        if action.type != _STAGE[state.phase]:
            raise IllegalAction("unknown_action", f"Only {_STAGE[state.phase]} is possible now.")
        if state.phase is TablePhase.BRIEF:
            return _went_on(state, Decided(ask=_BRIEF, value=read_announcement(action.data, state.rules)))
        if state.phase is TablePhase.ANSWERS:
            player, answers = read_answers(action.data, _unanswered(state))
            return _went_on(state, Decided(ask=_asking(state, player), value=answers))
        read = read_questions if state.phase is TablePhase.QUESTIONS else read_guess
        place = state.place_of(agent)
        assert place is not None, "only players are pending here"
        return _went_on(state, Submitted(place=place, content=read(action.data, state.rules)))

    def forfeit(self, state: TableMatch, agent: str, cause: ForfeitCause) -> Step[TableMatch]:
        """The referee's brief: the match ends without a winner. Its answers: Not Relevant to every question.

        A player's questions or guess: the player is out, with zero points.
        """
        if agent not in self.pending(state):
            raise IllegalAction("not_pending", "This agent owes nothing.")
        if state.phase is TablePhase.BRIEF:
            return _went_on(state, Gave(ask=_BRIEF, failure=str(cause)))
        if state.phase is TablePhase.ANSWERS:
            player = next(iter(_unanswered(state)))
            state = evolve(state, unanswered=(*state.unanswered, player))
            return _went_on(state, Gave(ask=_asking(state, player), failure=str(cause)))
        place = state.place_of(agent)
        assert place is not None, "only players are pending here"
        state = with_run(state, place, evolve(state.seats[place], forfeit=str(cause)))
        return _went_on(state, PlayerLeft(place=place))

    def view(self, state: TableMatch, viewer: str) -> dict[str, Any]:
        rules, is_over = state.rules, state.phase is TablePhase.OVER
        referee_sees = viewer in (HOST, state.referee)
        view: dict[str, Any] = {
            "phase": str(state.phase),
            "rule_set": rules.name,
            "referee": state.referee,
            "players": list(state.players),
            "brief": None if state.brief is None else brief_as_json(state.brief),
            "forfeits": {
                seat.agent_id: seat.forfeit
                for seat in state.seats
                if seat.forfeit is not None and (is_over or not is_out_since(seat, state.phase))
            },
            "game_over": is_over,
        }
        if rules.answer_key is AnswerKey.FIXED:
            view["fixed_options"] = list(rules.fixed_options)
        if is_over or referee_sees:
            view["target"] = target_seen(state.target)
            view["games"] = {seat.agent_id: game_seen(state, seat) for seat in state.seats}
        elif (place := state.place_of(viewer)) is not None:
            view["me"] = game_seen(state, state.seats[place])
        return view

    def info(self, state: TableMatch, viewer: str) -> Progress:
        pending, phase = self.pending(state), state.phase
        is_seated = viewer == state.referee or viewer in state.players
        stage = "done" if phase is TablePhase.OVER else "wait" if is_seated else "watch"
        if viewer in pending:
            stage = _STAGE[phase]
        return Progress(
            status="ended" if phase is TablePhase.OVER else "started",
            phase=str(phase),
            turn=_TURN[phase],
            stage=stage,
            active_agent_ids=pending,
        )

    def outcome(self, state: TableMatch) -> Outcome | None:
        if state.phase is not TablePhase.OVER:
            return None
        won, cards = winner_of(state), cards_of(state)
        points = {player: cards[player].league_points if player in cards else 0 for player in state.players}
        return Outcome(
            winners=() if won is None else (state.players[won],),
            scores={state.referee: 0.0, **{player: float(earned) for player, earned in points.items()}},
            reason=state.reason,
            metrics={
                "private_scores": {player: card.private_score for player, card in cards.items()},
                "forfeits": sum(seat.forfeit is not None for seat in state.seats),
                "unanswered_batches": len(state.unanswered),
            },
        )

    def rounds(self, config: JsonObject) -> None:
        """Return ``None``: there is no limit, a match has its four phases."""

    def rules_text(self, config: JsonObject, lang: str = "en") -> str:
        rules = TableConfig.read(config).rule_set()
        return rules_text(rules, lang)

    def dump(self, state: TableMatch) -> dict[str, Any]:
        return dump_table(state)

    def load(self, dumped: JsonObject) -> TableMatch:
        return load_table(dumped)


_BRIEF: Final = Ask(callback="get_round_start_info", attempt=2)


def _asking(state: TableMatch, player: str) -> Ask:
    """Return the call that a player's questions make on the referee. At a table there is no second attempt."""
    return Ask(callback="get_answers", place=state.place_of(player), attempt=2)


def _went_on(before: TableMatch, happened: Happened) -> Step[TableMatch]:
    """Return the table after the flow handled the event. The flow's effects become the legal actions, except for
    scores, which are computed once both players have guessed."""
    state, wanted = refereeing(before, happened, before.rules)
    if all(seat.phase in (SeatPhase.GUESSED, SeatPhase.SCORED) for seat in state.seats):
        for place, seat in enumerate(state.seats):
            if seat.phase is SeatPhase.GUESSED:
                scored = Decided(ask=Ask(callback="get_score_feedback", place=place), value=_score(state, seat))
                state, wanted = refereeing(state, scored, state.rules)
    over = next((each for each in wanted if isinstance(each, Over)), None)
    if over is not None:
        state = evolve(state, reason="completed" if over.termination is Termination.COMPLETED else "no_brief")
    return Step(state=state, events=tuple(events_between(before, state)))


def _score(state: TableMatch, seat: TablePlayer) -> Scorecard:
    assert seat.guess is not None, "the seat has guessed"
    assert state.target is not None, "an announcement has both"
    assert state.brief is not None, "an announcement has both"
    return score(seat.guess, state.target, state.brief, seat.questions, seat.answers, state.rules)


def _unanswered(state: TableMatch) -> dict[str, int]:
    """Return the players whose questions wait for answers, with the number of questions."""
    return {seat.agent_id: len(seat.questions) for seat in state.seats if seat.phase is SeatPhase.QUESTIONED}
