"""The transaction of one step: what of its effects reaches the journal."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from league_agents.app.league_mail import LEAGUE_MAIL
from league_agents.games.q21.model import Termination
from league_agents.journal.port import StepCause
from league_agents.kit.ids import GameId
from league_agents.league.machines.effects import Record, Send, SetDeadline
from league_agents.league.wire.envelope import Envelope, Sender
from league_agents.league.wire.kinds import MessageType, Protocol, Role
from league_agents.league.wire.messages import WarmupResponse
from league_agents.runner.commit import commit_of

NOON = datetime(2031, 5, 2, 12, 0, tzinfo=UTC)
REPLY = Envelope(
    protocol=Protocol.GAME,
    message_type=MessageType.Q21WARMUPRESPONSE,
    message_id="reply",
    timestamp=NOON,
    sender=Sender(email="player@league.test", role=Role.PLAYER),
    recipient_id="REF",
    payload=WarmupResponse(answer="42"),
    game_id=GameId("0302001"),
)


@pytest.mark.parametrize(
    "broken",
    [
        replace(REPLY, recipient_id="R" * 201),
        replace(REPLY, game_id=None),
        replace(REPLY, message_id="two::parts"),
        replace(REPLY, message_id="two\nlines"),
    ],
    ids=["long id", "no game", "id that splits the subject", "id of two lines"],
)
def test_a_message_that_cannot_be_sent_leaves_the_rest_of_its_step_standing(broken: Envelope) -> None:
    effects = [
        Send(envelope=broken, to=("referee@league.test",)),
        Record(kind="match", key="0302001", termination=Termination.COMPLETED, facts={}),
        SetDeadline(name="wait", at=NOON),
        Send(envelope=REPLY, to=("referee@league.test",)),
    ]
    commit = commit_of(
        effects, cause=StepCause.MAIL, key="m", at=NOON, codec=LEAGUE_MAIL, inbox=None, parts={"league": 1}
    )
    assert [item.transaction_id for item in commit.sends] == ["reply"]
    assert [deadline.name for deadline in commit.deadlines] == ["wait"]
    refused, recorded = commit.notes
    assert (refused.kind, refused.key, recorded.kind) == ("warning", "send_refused", "match")
    text = str(refused.facts["text"])
    assert len(text.splitlines()) == 1
    assert len(text) < 400
    assert commit.parts == {"league": 1}


def test_a_message_that_one_deadline_repeats_is_a_mail_of_its_own_each_time() -> None:
    effects = [Send(envelope=REPLY, to=("referee@league.test",), is_repeat=True)]
    commits = [
        commit_of(
            effects, cause=StepCause.DEADLINE, key="resend:0302001:", at=at, codec=LEAGUE_MAIL, inbox=None, parts={}
        )
        for at in (NOON, NOON + timedelta(seconds=15), NOON + timedelta(seconds=30))
    ]
    assert len({commit.sends[0].transaction_id for commit in commits} - {"reply"}) == 3
