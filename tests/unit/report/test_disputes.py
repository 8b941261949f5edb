"""What the organiser must look at in a season: what each side reported, sent and received."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from league_agents.app.offline import OfflineLeague
from league_agents.journal.port import InboxRow, InboxVerdict, Note, StepCause, StepCommit
from league_agents.report import disputes as module
from league_agents.report.journal_source import JournalSource
from league_agents.report.pages.render import Renderer
from league_agents.report.pages.season_view import SeasonPages
from league_agents.report.records import DisputeKind, DisputeRecord
from league_agents.report.tables import dispute_lines
from tests.support.small_league import journals, league

REPORT = "MATCH_RESULT_REPORT"
HOSTILE = "<script>alert(1)</script>\x1b[31m\n=HYPERLINK(1)"


@pytest.fixture
def played() -> Iterator[OfflineLeague]:
    """Round 1 is judged by the crows, round 3 by the owls' silent referee."""
    made = league(referees={"wrens": "scripted:silent"})
    made.play()
    yield made
    made.close()


def rows_of(made: OfflineLeague) -> list[InboxRow]:
    return [row for row in made.manager.journal.inbox(types=(REPORT,)) if row.game_id]


def referees_row(made: OfflineLeague, game_id: str = "") -> InboxRow:
    return next(
        row for row in rows_of(made) if row.sender.startswith("referee.") and row.game_id and game_id in row.game_id
    )


def takes_in(made: OfflineLeague, row: InboxRow, payload: Mapping[str, Any] | None = None, **changes: Any) -> InboxRow:
    """One more mail in the manager's journal, like this one but for what is changed."""
    number = sum(1 for _ in made.manager.journal.inbox())
    document = {**(row.document or {}), "message_id": f"more-{number}"}
    if payload is not None:
        document["payload"] = {**document["payload"], **payload}  # type: ignore[dict-item]
    if "sender" in changes:
        document["sender"] = {**document["sender"], "email": changes["sender"]}  # type: ignore[dict-item]
    more = msgspec.structs.replace(
        row, mail_id=f"extra-{number}", message_id=f"more-{number}", document=document, **changes
    )
    assert made.manager.journal.commit(
        StepCommit(cause=StepCause.MAIL, key=more.mail_id, at=more.arrived_at, inbox=more)
    )
    return more


def found(made: OfflineLeague, *roles: str) -> list[DisputeRecord]:
    return list(JournalSource(journals(made, *(roles or ("manager",)))).disputes())


def of_kind(disputes: Sequence[DisputeRecord], kind: DisputeKind) -> list[DisputeRecord]:
    return [each for each in disputes if each.kind is kind]


def with_points(row: InboxRow, one: int, two: int) -> dict[str, Any]:
    scores = row.document["payload"]["scores"]  # type: ignore[index]
    changed = [{**each, "league_points": points} for each, points in zip(scores, (one, two), strict=True)]
    return {"scores": changed, "winner_id": scores[0]["participant_id"] if one > two else scores[1]["participant_id"]}


def free_text(made: OfflineLeague) -> InboxRow:
    row = next(row for row in rows_of(made) if row.sender == "owls@league.test")
    document = {**(row.document or {}), "message_type": "FREE_TEXT_RESPONSE", "payload": {"message_text": "noted"}}
    document.pop("game_id", None)
    subject = "league.v2::PLAYER::owls@league.test::t1::FREE_TEXT_RESPONSE"
    return msgspec.structs.replace(
        row, message_type="FREE_TEXT_RESPONSE", subject=subject, game_id=None, document=document
    )


def closed_at(made: OfflineLeague, number: int) -> datetime:
    notes: Iterator[Note] = made.manager.journal.notes(kinds=("round",))
    return next(note.at for note in notes if note.key == str(number))


def test_a_season_in_which_everybody_reports_once_has_none() -> None:
    made = league()
    made.play()
    disputes = found(made)
    made.close()
    assert disputes == []


def test_a_match_that_nobody_reported_is_missing_with_what_both_players_say(played: OfflineLeague) -> None:
    (missing,) = found(played, "manager", "referees", "owls", "crows")
    assert (missing.kind, missing.counts) == (DisputeKind.MISSING, "no_report 3:3")
    assert missing.text.startswith("referee wrens never reported; by their own reports ")
    assert {"crows TERMINATED after INITIALIZED", "owls TERMINATED after INITIALIZED"} <= set(
        missing.text.partition("own reports ")[2].split(", ")
    )
    by = {each.by for each in missing.evidence}
    assert {"player crows", "player owls", "player crows: its journal", "player owls: its journal"} <= by
    sent = [each.text for each in missing.evidence if each.by == "player owls: its journal"]
    assert f"sent {REPORT}" in sent
    assert found(played)[0].evidence  # the manager's journal alone has the reports
    assert all("journal" not in each.by for each in found(played)[0].evidence)


def test_two_reports_that_differ_are_contradictory_and_a_repeat_is_not(played: OfflineLeague) -> None:
    row = referees_row(played)
    takes_in(played, row, arrived_at=row.arrived_at + timedelta(milliseconds=1))
    assert of_kind(found(played), DisputeKind.CONTRADICTORY) == []
    takes_in(played, row, with_points(row, 0, 3), arrived_at=row.arrived_at + timedelta(milliseconds=2))
    (dispute,) = of_kind(found(played), DisputeKind.CONTRADICTORY)
    assert dispute.game_id == row.game_id
    assert dispute.text.startswith("referee crows reported completed ")
    assert ", then completed 0:3 " in dispute.text
    assert [each.by for each in dispute.evidence].count("referee crows") == 3
    assert dispute.counts.startswith("completed ")
    # Each reader of a table gets one line for each piece of evidence.
    lines = list(csv.DictReader(io.StringIO("".join(dispute_lines([dispute])))))
    assert [line["kind"] for line in lines] == ["contradictory"] * len(dispute.evidence)
    assert sum(line["by"] == "referee crows" for line in lines) == 3


def test_a_report_after_the_end_of_the_round_is_late(played: OfflineLeague) -> None:
    (missing,) = found(played)
    row = referees_row(played)
    end = closed_at(played, missing.round_number)
    takes_in(
        played, row, game_id=missing.game_id, sender="referee.wrens@league.test", arrived_at=end + timedelta(seconds=90)
    )
    (late,) = found(played)
    assert (late.kind, late.text) == (DisputeKind.LATE, "referee wrens reported 90 s after the end of the round")


def test_the_report_that_ends_a_round_is_not_late_whatever_the_mail_service_dates_it(played: OfflineLeague) -> None:
    row = referees_row(played)
    end = closed_at(played, int(str(row.game_id)[2:4]))
    assert row.arrived_at <= end
    journal = played.manager.journal
    journal._inbox = [  # type: ignore[attr-defined]
        msgspec.structs.replace(each, arrived_at=end + timedelta(seconds=1)) if each.mail_id == row.mail_id else each
        for each in journal.inbox()
    ]
    assert next(each for each in journal.inbox() if each.mail_id == row.mail_id).arrived_at > end
    assert {each.kind for each in found(played)} == {DisputeKind.MISSING}


@pytest.mark.parametrize(("before_s", "is_late"), [(0, True), (-1, False)])
def test_a_report_of_a_match_that_was_settled_before_the_round_ended_may_be_late(
    played: OfflineLeague, before_s: int, is_late: bool
) -> None:
    row = referees_row(played)
    end = closed_at(played, int(str(row.game_id)[2:4]))
    at = end - timedelta(seconds=before_s)
    facts = {"order": "withdraw", "why": "x", "before": {}, "after": {"status": "walkover"}}
    note = Note(at=at, kind="settlement", key=str(row.game_id), facts=facts)
    played.manager.journal.commit(StepCommit(cause=StepCause.COMMAND, key="w", at=at, notes=[note]))
    journal = played.manager.journal
    journal._inbox = [  # type: ignore[attr-defined]
        msgspec.structs.replace(each, arrived_at=end + timedelta(seconds=9)) if each.mail_id == row.mail_id else each
        for each in journal.inbox()
    ]
    assert (DisputeKind.LATE in {each.kind for each in found(played)}) is is_late


@pytest.mark.parametrize(
    ("sender", "verdict", "text"),
    [
        ("referee.owls@league.test", InboxVerdict.PROCESSED, "referee owls reported a match that referee crows judges"),
        (
            "Mallory <mallory@example.com>",
            InboxVerdict.REJECTED,
            "somebody who is not in the league reported a match that referee crows judges",
        ),
        (
            "referee.crows@league.test",
            InboxVerdict.REJECTED,
            "referee crows reported a match that referee crows judges",
        ),
    ],
)
def test_a_report_of_somebody_who_does_not_judge_the_match_is_listed(
    played: OfflineLeague, sender: str, verdict: InboxVerdict, text: str
) -> None:
    takes_in(played, referees_row(played, "0101001"), sender=sender, verdict=verdict)
    (dispute,) = of_kind(found(played), DisputeKind.NOT_THE_REFEREE)
    assert dispute.text == text
    if "mallory" in sender:
        assert "mallory@example.com" in {each.by for each in dispute.evidence}


def test_a_player_that_states_other_points_than_its_referee_differs(played: OfflineLeague) -> None:
    row = next(row for row in rows_of(played) if row.sender == "owls@league.test" and row.game_id == "0101001")
    points = row.document["payload"]["league_points"]  # type: ignore[index]
    takes_in(played, row, {"league_points": points})
    assert of_kind(found(played), DisputeKind.PLAYER_DIFFERS) == []
    for _ in range(3):
        takes_in(played, row, {"league_points": (points + 1) % 4})
    (dispute,) = of_kind(found(played), DisputeKind.PLAYER_DIFFERS)
    assert dispute.text == f"owls says that it got {(points + 1) % 4}, referee crows says {points}"


def test_a_report_that_cannot_be_read_is_listed_with_the_reason(played: OfflineLeague) -> None:
    row = referees_row(played)
    takes_in(played, row, {"scores": [{"participant_id": HOSTILE, "league_points": 99}]})
    (dispute,) = of_kind(found(played), DisputeKind.UNREADABLE)
    assert "a whole number from 0 to 3" in dispute.text


def test_a_free_text_that_names_a_match_is_an_objection_and_any_other_is_not(played: OfflineLeague) -> None:
    row = free_text(played)
    takes_in(played, row)
    assert of_kind(found(played), DisputeKind.OBJECTION) == []
    takes_in(played, row, {"message_text": f"the word of 0101001 was wrong {HOSTILE}"})
    (dispute,) = of_kind(found(played), DisputeKind.OBJECTION)
    assert (dispute.game_id, dispute.text) == ("0101001", "player owls wrote about the match")
    (wrote,) = [each.text for each in dispute.evidence if each.text.startswith("wrote")]
    assert "\n" not in wrote
    assert "\x1b" not in wrote


def test_what_was_settled_says_so(played: OfflineLeague) -> None:
    row = referees_row(played)
    takes_in(played, row, with_points(row, 0, 3))
    at = row.arrived_at + timedelta(hours=1)
    for place, order in enumerate(("annul", "reinstate")):
        facts = {"order": order, "why": "x", "before": {"status": "completed"}, "after": {"status": order}}
        note = Note(at=at, kind="settlement", key=str(row.game_id), facts=facts)
        step = StepCommit(cause=StepCause.COMMAND, key=f"c{place}", at=at, notes=[note])
        played.manager.journal.commit(step)
        (dispute,) = of_kind(found(played), DisputeKind.CONTRADICTORY)
        assert dispute.settled == ("annul" if order == "annul" else "")


def test_a_flood_of_reports_is_bounded_and_hides_neither_the_referee_s_nor_a_player_s(
    played: OfflineLeague, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = referees_row(played, "0101001")
    before = row.arrived_at - timedelta(hours=1)
    # One member, many strangers, and mails that only claim to come from the referee: all before its report.
    floods = ["referee.owls@league.test"] * 30 + [f"m{number}@example.com" for number in range(30)] + [row.sender] * 30
    for number, sender in enumerate(floods):
        verdict = InboxVerdict.PROCESSED if sender.startswith("referee.owls") else InboxVerdict.REJECTED
        points = with_points(row, number % 4, (number + 1) % 4)
        takes_in(played, row, points, sender=sender, verdict=verdict, arrived_at=before)
    (dispute,) = of_kind(found(played), DisputeKind.NOT_THE_REFEREE)
    by = [each.by for each in dispute.evidence]
    assert len(by) == module.MOST_REPORTS
    assert {"referee crows", "player owls", "player wrens"} <= set(by)
    assert by.count("referee owls") == module.MOST_OF_SENDER
    assert row.arrived_at in {each.at for each in dispute.evidence if each.by == "referee crows"}
    assert len(found(played)) > 1
    monkeypatch.setattr(module, "MOST", 1)
    assert len(found(played)) == 1


def test_a_flood_of_objections_does_not_hide_that_of_a_player(played: OfflineLeague) -> None:
    letter = free_text(played)
    text = {"message_text": "0101001 was wrong"}
    senders = ["crows@league.test" if number % 2 else f"m{number}@example.com" for number in range(40)]
    for hours, sender in enumerate([*senders, "owls@league.test"]):
        subject = letter.subject.replace("owls@league.test", sender)
        at = letter.arrived_at + timedelta(hours=hours)
        takes_in(played, letter, text, sender=sender, subject=subject, arrived_at=at)
    (dispute,) = of_kind(found(played), DisputeKind.OBJECTION)
    by = [each.by for each in dispute.evidence if each.text.startswith("wrote: ")]
    assert len(by) == module.MOST_OBJECTIONS
    assert by.count("player owls") == 1
    assert by.count("player crows") == module.MOST_OF_SENDER


def test_without_the_league_manager_s_journal_there_are_none(played: OfflineLeague) -> None:
    assert found(played, "referees", "owls") == []


def test_public_pages_show_what_was_disputed_and_neither_evidence_nor_what_members_wrote(played: OfflineLeague) -> None:
    row = referees_row(played, "0101001")
    takes_in(played, row, {**with_points(row, 0, 3), "abort_reason": HOSTILE, "status": "aborted"})
    source = JournalSource(journals(played, "manager"))
    season = source.season()
    for viewer in ("public", "referee"):
        pages = SeasonPages(season, viewer=viewer, disputes=source.disputes())
        html = "".join(Renderer().season(pages.season_page()))
        assert "contradictory" in html
        assert "<script>" not in html
        assert "&lt;script&gt;" in html
        assert ("Evidence on match" in html) is (viewer == "referee")
        assert "@league.test" not in html


def test_the_reports_of_an_open_match_are_on_no_public_page(played: OfflineLeague) -> None:
    row = referees_row(played, "0101001")
    takes_in(played, row, with_points(row, 0, 3))
    source = JournalSource(journals(played, "manager"))
    season = source.season()
    schedule = tuple(
        msgspec.structs.replace(each, status="open") if each.game_id == "0101001" else each for each in season.schedule
    )
    season = msgspec.structs.replace(season, schedule=schedule)
    for viewer, kinds in (("public", {"missing"}), ("referee", {"contradictory", "missing"})):
        page = SeasonPages(season, viewer=viewer, disputes=source.disputes()).season_page()  # type: ignore[arg-type]
        assert {dispute.kind for dispute in page.disputes} == kinds


def test_a_missing_report_stays_listed_when_the_match_is_settled(played: OfflineLeague) -> None:
    (missing,) = found(played)
    at = closed_at(played, 3)
    facts = {"order": "annul", "why": "x", "before": {"a": 1}, "after": {"status": "annulled"}}
    notes = [
        Note(at=at, kind="settlement", key=missing.game_id, facts=facts),
        Note(at=at, kind="match", key=missing.game_id, facts={"status": "annulled", "players": []}),
    ]
    played.manager.journal.commit(StepCommit(cause=StepCause.COMMAND, key="annul", at=at, notes=notes))
    (settled,) = found(played)
    assert (settled.kind, settled.settled, settled.counts) == (DisputeKind.MISSING, "annul", "annulled")
