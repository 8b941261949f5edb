"""Simulate participants that break the protocol by mail: a wrapper around a mailbox.

An agent's results are repaired before they are sent, so silence, lateness, broken documents and forgery have to be
produced here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta

from league_agents.kit.draw import Draw
from league_agents.kit.values import evolve
from league_agents.mail.port import Mail, Mailbox, OutgoingMail

Conduct = Callable[[OutgoingMail], Iterable[OutgoingMail]]
"""Maps a mail to the mails to send instead: the mail itself, none, or others."""

_GAME_TYPES = ("Q21WARMUPRESPONSE", "Q21QUESTIONSBATCH", "Q21GUESSSUBMISSION")
_REFEREE_TYPES = ("Q21WARMUPCALL", "Q21ROUNDSTART", "Q21ANSWERSBATCH", "Q21SCOREFEEDBACK", "MATCH_RESULT_REPORT")


def _type(mail: OutgoingMail) -> object:
    return mail.document.get("message_type")


def _silent_from(*types: str) -> Conduct:
    def conduct(mail: OutgoingMail) -> Iterable[OutgoingMail]:
        return () if _type(mail) in types else (mail,)

    return conduct


def _delayed(wait: timedelta, *types: str) -> Conduct:
    def conduct(mail: OutgoingMail) -> Iterable[OutgoingMail]:
        return (evolve(mail, sent_at=mail.sent_at + wait),) if _type(mail) in types else (mail,)

    return conduct


def _with_payload(mail: OutgoingMail, payload: Mapping[str, object]) -> OutgoingMail:
    return evolve(mail, document={**mail.document, "payload": payload})


def _malformed(mail: OutgoingMail) -> Iterable[OutgoingMail]:
    """Replace the batch of questions by a value that is no list, and the guess by a number."""
    match _type(mail):
        case "Q21QUESTIONSBATCH":
            return (_with_payload(mail, {"questions": "Is it a whale?"}),)
        case "Q21GUESSSUBMISSION":
            return (_with_payload(mail, {"guess": 21}),)
        case _:
            return (mail,)


def _persistently_malformed(mail: OutgoingMail) -> Iterable[OutgoingMail]:
    """Send the same broken batch three times, each with its own message id."""
    if _type(mail) != "Q21QUESTIONSBATCH":
        return (mail,)
    broken = _with_payload(mail, {"questions": 20})
    return tuple(
        evolve(
            broken,
            document={**broken.document, "message_id": f"{mail.transaction_id}-{copy}"},
            transaction_id=f"{mail.transaction_id}-{copy}",
            subject=mail.subject.replace(mail.transaction_id, f"{mail.transaction_id}-{copy}"),
        )
        for copy in range(3)
    )


def _repeating(mail: OutgoingMail) -> Iterable[OutgoingMail]:
    """Send each mail twice, and once more with a new message id (protocol 10.5)."""
    again = evolve(
        mail,
        document={**mail.document, "message_id": f"{mail.transaction_id}-again"},
        transaction_id=f"{mail.transaction_id}-again",
        subject=mail.subject.replace(mail.transaction_id, f"{mail.transaction_id}-again"),
    )
    return (mail, mail, again)


def _forging(mail: OutgoingMail) -> Iterable[OutgoingMail]:
    """Send with each mail a copy that names another sender."""
    sender = mail.document.get("sender")
    claims = dict(sender) if isinstance(sender, Mapping) else {}
    forged = evolve(mail, document={**mail.document, "sender": {**claims, "email": "somebody.else@league.test"}})
    return (forged, mail)


PLAYER_CONDUCT: Mapping[str, Conduct] = {
    "silent": _silent_from(*_GAME_TYPES),
    "silent-after-warmup": _silent_from(*_GAME_TYPES[1:]),
    "silent-after-questions": _silent_from(_GAME_TYPES[2]),
    "late": _delayed(timedelta(hours=1), *_GAME_TYPES),
    "slow": _delayed(timedelta(seconds=90), *_GAME_TYPES),
    "malformed": _malformed,
    "persistently-malformed": _persistently_malformed,
    "repeating": _repeating,
    "forging": _forging,
}
"""The conduct of each ``scripted:NAME`` as a player."""

REFEREE_CONDUCT: Mapping[str, Conduct] = {
    "silent": _silent_from(*_REFEREE_TYPES),
    "late": _delayed(timedelta(hours=6), *_REFEREE_TYPES),
    "slow": _delayed(timedelta(seconds=90), *_REFEREE_TYPES),
    "repeating": _repeating,
    "forging": _forging,
}
"""The conduct of each ``scripted:NAME`` as a referee."""


class MisbehavingMailbox:
    """``Mailbox`` that sends the mails that ``conduct`` returns for each outgoing mail."""

    def __init__(self, mailbox: Mailbox, conduct: Conduct) -> None:
        self._mailbox = mailbox
        self._conduct = conduct

    @property
    def address(self) -> str:
        return self._mailbox.address

    def fetch(self, limit: int, known: Callable[[str], bool]) -> list[Mail]:
        return self._mailbox.fetch(limit, known)

    def acknowledge(self, mail_ids: Sequence[str]) -> None:
        self._mailbox.acknowledge(mail_ids)

    def send(self, mail: OutgoingMail) -> None:
        for changed in self._conduct(mail):
            self._mailbox.send(changed)

    def was_sent(self, transaction_id: str) -> bool:
        return self._mailbox.was_sent(transaction_id)


def by_chance(chances: Mapping[str, float], known: Mapping[str, Conduct], *, seed: int | str, address: str) -> Conduct:
    """Return a conduct that draws one of the named conducts for each match by the seed; good conduct has the remaining
    chance. Mail outside a match is unchanged. ``known`` has the conducts by name."""

    def conduct(mail: OutgoingMail) -> Iterable[OutgoingMail]:
        game_id = mail.document.get("game_id")
        if not game_id:
            return (mail,)
        left = Draw(seed, f"conduct/{address}/{game_id}").fraction()
        for name, chance in chances.items():
            left -= chance
            if left < 0:
                return known[name](mail)
        return (mail,)

    return conduct
