"""Turn the effects of one step into one transaction of journal rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from league_agents.journal.port import (
    BELIEF,
    MODEL_WORK,
    NOTICE,
    REFUSALS,
    WARNING,
    Deadline,
    InboxRow,
    Note,
    OutboxItem,
    PendingCall,
    StepCause,
    StepCommit,
)
from league_agents.kit.candidates_left import CANDIDATES_LEFT, read_candidates_left
from league_agents.kit.errors import LocalProtocolError
from league_agents.kit.model_work import steps_in
from league_agents.league.machines.effects import (
    Call,
    ClearDeadline,
    Notice,
    Record,
    ReleaseAgent,
    SetDeadline,
    Warn,
)
from league_agents.league.machines.events import CallbackFailed, CallbackReturned
from league_agents.runner.codec import MailCodec


def commit_of(
    effects: Sequence[object],
    *,
    cause: StepCause,
    key: str,
    at: datetime,
    codec: MailCodec,
    inbox: InboxRow | None,
    parts: Mapping[str, object | None],
    first: Sequence[Note] = (),
) -> StepCommit:
    """Return the transaction of one step. Effects keep their order; of two for one deadline the later counts. ``first``
    holds notes to write before those of the effects.

    An outgoing message that would break the protocol is replaced by a warning; the rest of the step is kept.
    """
    sends: list[OutboxItem] = []
    calls: list[PendingCall] = []
    deadlines: dict[str, datetime | None] = {}
    notes: list[Note] = [*first]
    for effect in effects:
        match effect:
            case Call():
                calls.append(
                    PendingCall(
                        call_id=effect.call_id,
                        callback=effect.callback,
                        context=effect.context,
                        timeout=effect.timeout,
                        game_id=effect.game_id,
                    )
                )
            case SetDeadline():
                deadlines[effect.name] = effect.at
            case ClearDeadline():
                deadlines[effect.name] = None
            case Record():
                facts = {"termination": effect.termination, **effect.facts}
                notes.append(Note(at=at, kind=effect.kind, key=effect.key, facts=facts))
            case Warn():
                notes.append(warning(at, effect.code, effect.text, nonce=key if cause is StepCause.COMMAND else ""))
            case Notice():
                notes.append(Note(at=at, kind=NOTICE, key=effect.code, facts={"text": effect.text}))
            case ReleaseAgent():
                pass  # not stored: after a restart no instance serves any game
            case _:
                try:
                    sends.append(codec.encode(effect, at=at, occasion=f"{cause}/{key}"))
                except LocalProtocolError as error:
                    notes.append(warning(at, "send_refused", str(error)))
    return StepCommit(
        cause=cause,
        key=key,
        at=at,
        inbox=inbox,
        parts=parts,
        sends=sends,
        calls=calls,
        deadlines=[Deadline(name=name, at=instant) for name, instant in deadlines.items() if instant is not None],
        cleared=[name for name, instant in deadlines.items() if instant is None],
        notes=notes,
    )


def model_work(at: datetime, call: PendingCall, outcome: CallbackReturned | CallbackFailed) -> list[Note]:
    """Return the note on how a callback used a language model's replies; empty if its result mentions no model."""
    steps = steps_in(outcome.result, call.callback) if isinstance(outcome, CallbackReturned) else ()
    if not steps:
        return []
    told = call.context.get("dynamic")
    player = told.get("player_id") if isinstance(told, Mapping) else None
    facts = {
        "callback": call.callback,
        "player": player if isinstance(player, str) else None,
        "steps": [step.to_json() for step in steps],
    }
    return [Note(at=at, kind=MODEL_WORK, key=call.game_id, facts=facts)]


def belief(at: datetime, call: PendingCall, outcome: CallbackReturned | CallbackFailed) -> list[Note]:
    """Return the note on the candidates that a player's agent had after each answer; empty if it states none."""
    told = outcome.result.get(CANDIDATES_LEFT) if isinstance(outcome, CallbackReturned) else None
    left = read_candidates_left(told)
    return [Note(at=at, kind=BELIEF, key=call.game_id, facts={CANDIDATES_LEFT: list(left)})] if left else []


def warning(at: datetime, code: str, text: str, *, nonce: str = "") -> Note:
    """Return a warning as a note. ``nonce`` is that of the order, if an order caused it."""
    facts = {"text": text, "nonce": nonce} if nonce and code in REFUSALS else {"text": text}
    return Note(at=at, kind=WARNING, key=code, facts=facts)
