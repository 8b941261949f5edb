"""Guess number as a game: four phases a step, until the number is found or the steps are used up (arena 2.2).

Rule 1: an action is either accepted or refused as a whole.
Rule 2: the game relies on its own record only. Agents' claims are passed on and compared, never trusted.
Rule 3: what anybody but the host may see does not depend on the order in which sealed guesses arrive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from league_agents.games.entry import EntryReader, check_agent_ids
from league_agents.games.game import (
    ALL,
    GAME_VERSION,
    Action,
    AgentId,
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
from league_agents.games.guess_number.actions import (
    ACTION_SCHEMAS,
    GUESS,
    PASS,
    legal_guess,
    legal_guess_without,
    legal_message,
    legal_reasoning,
)
from league_agents.games.guess_number.announcements import (
    ending,
    guesses,
    observations,
    passed,
    phase_opened,
    told_of,
    visible_to_hearers,
)
from league_agents.games.guess_number.config import (
    ANY_WINS,
    CONFIG_SCHEMA,
    MAX_AGENTS,
    MIN_AGENTS,
    Config,
    read_config,
    rounds,
)
from league_agents.games.guess_number.knowledge import contradicts, having_heard, known_wrong
from league_agents.games.guess_number.messages import validate
from league_agents.games.guess_number.protocol import (
    ACTION,
    END,
    PROPOSAL,
    REASONING,
    REPORTING,
    STATE_REPORT,
)
from league_agents.games.guess_number.rules_text import rules_text
from league_agents.games.guess_number.state import (
    FAILURE,
    SUCCESS,
    GuesserRecord,
    State,
    Utterance,
    heard_by_all,
    heard_of,
    shown_of,
)
from league_agents.games.guess_number.stored import dump_state, load_state
from league_agents.games.guess_number.views import progress_of, scores_of, view_of, winners_of
from league_agents.kit.draw import Draw
from league_agents.kit.values import evolve

_IN_PHASE: Final = {REPORTING: (STATE_REPORT,), REASONING: (PROPOSAL, PASS), ACTION: (GUESS,), END: ()}


class GuessNumber:
    """The rules of guess number."""

    code = "guess_number"
    version = GAME_VERSION
    min_agents = MIN_AGENTS
    max_agents = MAX_AGENTS
    config_schema = CONFIG_SCHEMA
    action_schemas = ACTION_SCHEMAS
    protocol = None

    def setup(self, config: JsonObject, agent_ids: Sequence[AgentId], seed: int) -> State:
        agents = check_agent_ids(agent_ids, MIN_AGENTS, MAX_AGENTS)
        chosen = read_config(config, agents)
        target = chosen.target
        if target is None:
            target = Draw(seed, "target").below(chosen.num_choices)
        guessed = chosen.initial_guesses
        seats = tuple(
            GuesserRecord(guesses=(guessed[agent],), feedback=(guessed[agent] == target,), last_guess=guessed[agent])
            if agent in guessed
            else GuesserRecord()
            for agent in agents
        )
        is_won = _is_won(seats, chosen.win)
        nothing = (None,) * len(agents)
        return State(
            config=chosen,
            agent_ids=agents,
            target=target,
            step=0,
            phase=END if is_won else REPORTING,
            owing=() if is_won else agents,
            seats=seats,
            reported=nothing,
            sealed=nothing,
            reason=SUCCESS if is_won else None,
        )

    def opening(self, state: State) -> tuple[Event, ...]:
        if state.reason is not None:
            return (*observations(state), ending(state))
        return (*observations(state), phase_opened(state, REPORTING))

    def pending(self, state: State) -> tuple[AgentId, ...]:
        return state.owing

    def phase_mode(self, state: State) -> Mode:
        return Mode.SEALED if state.phase == ACTION else Mode.SPOKEN

    def legal(self, state: State, agent: AgentId) -> tuple[LegalAction, ...]:
        if agent not in state.owing:
            return ()
        num_choices = state.config.num_choices
        if state.phase == REPORTING:
            return (legal_message(STATE_REPORT, agent, state.step, num_choices),)
        if state.phase == REASONING:
            return legal_reasoning(agent, state.step, num_choices)
        if state.config.reject_known_wrong:
            seat = state.seats[state.agent_ids.index(agent)]
            return (legal_guess_without(known_wrong(seat, num_choices), num_choices),)
        return (legal_guess(num_choices),)

    def apply(
        self, state: State, agent: AgentId, action: Action, heard_by: Sequence[AgentId] | None = None
    ) -> Step[State]:
        kind = action.type
        if agent not in state.owing or kind not in _IN_PHASE[state.phase]:
            raise _untimely(state, agent, kind)
        if action.version != GAME_VERSION and action.version.partition(".")[0] != GAME_VERSION.partition(".")[0]:
            raise IllegalAction(
                "unsupported_game_version", f"this game is version {GAME_VERSION}", {"supported": [GAME_VERSION]}
            )
        if not isinstance(action.data, Mapping):
            raise IllegalAction("invalid_data", "data must be an object", {"errors": []})
        if kind == GUESS:
            return _guess(state, agent, action.data)
        hearers = _hearers(state, agent, heard_by)
        if kind == PASS:
            entry = EntryReader(action.data)
            entry.only(())
            entry.done()
            return _after_turn(state, agent, (passed(state, agent, hearers, None),))
        message = _valid(state, agent, action)
        return (
            _report(state, agent, message, hearers)
            if kind == STATE_REPORT
            else _propose(state, agent, message, hearers)
        )

    def forfeit(self, state: State, agent: AgentId, cause: ForfeitCause) -> Step[State]:
        if agent not in state.owing:
            raise IllegalAction("not_pending", f"{agent} owes no action")
        if state.phase == REPORTING:
            missed = evolve(state, tally=evolve(state.tally, missing_reports=state.tally.missing_reports + 1))
            data = {"step": state.step, "agent_id": agent, "cause": str(cause)}
            told = told_of(state, "report_missing", ALL, data, agent=agent, cause=cause)
            return _after_turn(missed, agent, (told,))
        if state.phase == REASONING:
            return _after_turn(state, agent, (passed(state, agent, None, cause),))
        guess = state.reported[state.agent_ids.index(agent)]
        missing = told_of(
            state,
            "guess_missing",
            (agent,),
            {"step": state.step, "agent_id": agent, "cause": str(cause), "guess": guess},
            name="guess_missing" if guess is None else "guess_fallback",
            agent=agent,
            cause=cause,
            guess=guess,
        )
        return _seal(state, agent, guess, missing)

    def view(self, state: State, viewer: str) -> dict[str, Any]:
        return view_of(state, viewer)

    def info(self, state: State, viewer: str) -> Progress:
        return progress_of(state, viewer)

    def rounds(self, config: JsonObject) -> tuple[str, int]:
        return rounds(config)

    def outcome(self, state: State) -> Outcome | None:
        if state.reason is None:
            return None
        return Outcome(winners=winners_of(state), scores=scores_of(state), reason=state.reason, metrics=_metrics(state))

    def rules_text(self, config: JsonObject, lang: str = "en") -> str:
        return rules_text(Config.read(config), lang)

    def dump(self, state: State) -> dict[str, Any]:
        return dump_state(state)

    def load(self, dumped: JsonObject) -> State:
        return load_state(dumped)


def _untimely(state: State, agent: str, kind: object) -> IllegalAction:
    """Return the refusal for an action at the wrong time."""
    if state.reason is not None:
        return IllegalAction("match_over", "the game is over")
    if kind not in ACTION_SCHEMAS:
        return IllegalAction("unknown_action", f"the actions are {', '.join(ACTION_SCHEMAS)}")
    if kind == STATE_REPORT and any(
        each.sender == agent and each.message["type"] == STATE_REPORT for each in state.said
    ):
        return IllegalAction("already_reported", f"{agent} has sent its report of step {state.step}")
    if agent not in state.owing:
        return IllegalAction("not_pending", f"{agent} owes no action now")
    return IllegalAction("unknown_action", f"{state.phase} asks for {' or '.join(_IN_PHASE[state.phase])}")


def _valid(state: State, agent: str, action: Action) -> JsonObject:
    """Return the message in an action. Raises ``IllegalAction`` (``invalid_data``) with all its errors."""
    checked = validate(
        action.data,
        num_choices=state.config.num_choices,
        agent_ids=state.agent_ids,
        step=state.step,
        sender=agent,
    )
    errors = [each.as_json() for each in checked.errors]
    message = checked.message
    if message is not None and not errors and message["type"] != action.type:
        errors = [{"path": "/type", "code": "type_mismatch", "message": f"must be {action.type}, as the action's type"}]
    if errors or message is None:
        first = errors[0]
        raise IllegalAction("invalid_data", f"{first['path']} {first['message']}".strip(), {"errors": errors})
    return message


def _hearers(state: State, agent: str, heard_by: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the agent's hearers in the order of the agents; ``None`` for everybody."""
    if heard_by is None:
        return None
    found = tuple([each for each in state.agent_ids if each in heard_by and each != agent])
    return None if len(found) == len(state.agent_ids) - 1 else found


def _report(state: State, agent: str, message: JsonObject, hearers: tuple[str, ...] | None) -> Step[State]:
    place = state.agent_ids.index(agent)
    guess = message["next_guess"]
    tally = state.tally
    if contradicts(message, state.seats[place]):
        tally = evolve(tally, report_mismatches=tally.report_mismatches + 1)
    shown = shown_of(message, state.config)
    private: tuple[Event, ...] = ()
    if shown is not message:
        thought = message["reasoning"]
        data = {"step": state.step, "agent_id": agent, "reasoning": thought}
        private = (told_of(state, "reasoning", (agent,), data, agent=agent, words=thought),)
    said = Utterance(sender=agent, message=message, shown=shown, heard_by=hearers)
    told = told_of(
        state,
        STATE_REPORT,
        visible_to_hearers(agent, hearers),
        {"step": state.step, "message": shown},
        agent=agent,
        guess=guess,
        words=shown.get("reasoning"),
    )
    after = evolve(
        state,
        said=(*state.said, said),
        seats=having_heard(state.seats, state.agent_ids, said),
        reported=_placed(state.reported, place, guess),
        tally=tally,
    )
    return _after_turn(after, agent, (told, *private))


def _propose(state: State, agent: str, message: JsonObject, hearers: tuple[str, ...] | None) -> Step[State]:
    guess = message["content"].get("next_guess")
    told = told_of(
        state,
        PROPOSAL,
        visible_to_hearers(agent, hearers),
        {"step": state.step, "message": message},
        name=PROPOSAL if guess is not None else "proposal_open",
        agent=agent,
        guess=guess,
        words=message.get("rationale"),
    )
    said = Utterance(sender=agent, message=message, shown=message, heard_by=hearers)
    return _after_turn(evolve(state, said=(*state.said, said)), agent, (told,))


def _after_turn(state: State, agent: str, events: tuple[Event, ...]) -> Step[State]:
    """Return the state after an agent's turn in a spoken phase; the last turn opens the next phase."""
    owing = tuple([each for each in state.owing if each != agent])
    if owing:
        return _made(evolve(state, owing=owing), events)
    opened: tuple[Event, ...] = ()
    if state.phase == REPORTING:
        opened = (phase_opened(state, REASONING),)
        if state.config.proposals:
            return _made(evolve(state, phase=REASONING, owing=state.agent_ids), events + opened)
    guessing = tuple([each for each, seat in zip(state.agent_ids, state.seats, strict=True) if not seat.is_correct])
    return _made(evolve(state, phase=ACTION, owing=guessing), (*events, *opened, phase_opened(state, ACTION)))


def _guess(state: State, agent: str, data: JsonObject) -> Step[State]:
    most = state.config.num_choices - 1
    entry = EntryReader(data)
    guess = entry.integer("guess")
    entry.only(("guess",))
    entry.done()
    if guess is None:
        raise AssertionError("an entry without faults has its values")
    if not 0 <= guess <= most:
        raise IllegalAction("guess_out_of_range", f"the guess must be 0 to {most}")
    place = state.agent_ids.index(agent)
    if state.config.reject_known_wrong and guess in known_wrong(state.seats[place], most + 1):
        raise IllegalAction("known_wrong", f"{guess} is known to be wrong; guess another number")
    reported = state.reported[place]
    if reported is not None and reported != guess:
        state = evolve(state, tally=evolve(state.tally, deviations=state.tally.deviations + 1))
    made = told_of(
        state, GUESS, (agent,), {"step": state.step, "agent_id": agent, "guess": guess}, agent=agent, guess=guess
    )
    return _seal(state, agent, guess, made)


def _seal(state: State, agent: str, guess: int | None, event: Event) -> Step[State]:
    """Record a guess that nobody sees until all guesses are in."""
    owing = tuple([each for each in state.owing if each != agent])
    sealed = _placed(state.sealed, state.agent_ids.index(agent), guess)
    after = evolve(state, owing=owing, sealed=sealed)
    return _made(after, (event,)) if owing else _resolved(after, event)


def _resolved(state: State, event: Event) -> Step[State]:
    """Judge the guesses once all are in, and go on to the next step or to the end."""
    config, tally, num_choices = state.config, state.tally, state.config.num_choices
    redundant, wrong = 0, []
    seats = []
    for agent, seat, guess in zip(state.agent_ids, state.seats, state.sealed, strict=True):
        after = seat
        if guess is not None:
            is_right = guess == state.target
            redundant += guess in known_wrong(seat, num_choices)
            if not is_right:
                wrong.append(guess)
            after = evolve(seat, guesses=(*seat.guesses, guess), feedback=(*seat.feedback, is_right), last_guess=guess)
        elif not seat.is_correct:
            after = evolve(seat, last_guess=None)
        seats.append(evolve(after, heard=(*seat.heard, *heard_of(state.said, agent))))
    told = guesses(state)
    nothing = (None,) * len(seats)
    is_won = _is_won(seats, config.win)
    is_over = is_won or state.step + 1 >= config.max_steps
    after_step = evolve(
        state,
        step=state.step if is_over else state.step + 1,
        phase=END if is_over else REPORTING,
        owing=() if is_over else state.agent_ids,
        seats=tuple(seats),
        log=state.log + state.said,
        public=(*state.public, *heard_by_all(state.said)),
        said=(),
        reported=nothing,
        sealed=nothing,
        steps_used=state.step + 1,
        reason=None if not is_over else SUCCESS if is_won else FAILURE,
        tally=evolve(
            tally,
            total_guesses=tally.total_guesses + len(told.data["guesses"]),
            redundant_guesses=tally.redundant_guesses + redundant,
            collisions=tally.collisions + len(wrong) - len(set(wrong)),
        ),
    )
    if is_over:
        return _made(after_step, (event, told, ending(after_step)))
    return _made(after_step, (event, told, *observations(after_step), phase_opened(after_step, REPORTING)))


def _is_won(seats: Sequence[GuesserRecord], win: str) -> bool:
    right = [seat.is_correct for seat in seats]
    return any(right) if win == ANY_WINS else all(right)


def _placed(values: tuple[int | None, ...], place: int, value: int | None) -> tuple[int | None, ...]:
    return (*values[:place], value, *values[place + 1 :])


def _made(state: State, events: tuple[Event, ...]) -> Step[State]:
    step: Step[State] = Step(state=state, events=events)
    return step


def _metrics(state: State) -> dict[str, int]:
    tally = state.tally
    return {
        "steps_used": state.steps_used,
        "total_guesses": tally.total_guesses,
        "redundant_guesses": tally.redundant_guesses,
        "collisions": tally.collisions,
        "deviations": tally.deviations,
        "missing_reports": tally.missing_reports,
        "report_mismatches": tally.report_mismatches,
    }
