"""The exceptions that this package raises on purpose.

The docstring of a class is its default message. A message is one line that names the thing and says what to do next; it
never holds a token, a key or a target that is still secret.
"""

from __future__ import annotations

import copyreg
from collections.abc import Sequence
from datetime import datetime, timedelta


class LeagueError(Exception):
    """Something in the league failed."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())

    def __reduce__(self) -> tuple[object, ...]:
        """Pickled without the constructor, whose arguments may be others than ``args``."""
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


class ProtocolError(LeagueError):
    """A protocol message is wrong."""


class LocalProtocolError(ProtocolError):
    """This program tried to send a message that the protocol forbids: a bug here, not at the peer."""


class RemoteProtocolError(ProtocolError):
    """The peer sent a message that the protocol forbids."""

    def __init__(self, message: str | None = None, *, raw: str = "") -> None:
        super().__init__(message)
        self.raw = raw[:2000]
        """The beginning of the text as it arrived, for the record."""


class AgentError(LeagueError):
    """An agent's callback failed."""


class CallbackTimeout(AgentError):
    """An agent's callback did not return in time."""


class CallbackInvalid(AgentError):
    """A callback returned something that its contract forbids."""


class ModelError(LeagueError):
    """A language model gave no usable completion."""

    reason: str = "failed"
    """What went wrong, as one word for records."""

    usage: object = None
    """The attempts' usage, as ``llm.port.Usage``; ``None`` if it was not counted."""


class ModelUnavailable(ModelError):
    """The language model cannot be asked at the moment."""

    reason = "unavailable"

    def __init__(self, message: str | None = None, *, retry_after: timedelta | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """How long the service asks callers to wait; ``None`` if it does not say."""


class ModelRefused(ModelError):
    """The language model declined to answer."""

    reason = "refused"


class MalformedCompletion(ModelError):
    """The language model answered in a form that was not asked for."""

    reason = "malformed"


class MailError(LeagueError):
    """Mail could not be read or sent."""


class MailboxUnavailable(MailError):
    """The mailbox cannot be reached at the moment."""

    def __init__(self, message: str | None = None, *, retry_after: timedelta | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class MailboxUnreachable(MailboxUnavailable):
    """The mail service sent no complete answer: check the connection."""


class AuthorizationExpired(MailError):
    """The mailbox needs a new authorization: run 'league-agents auth login'."""


class QuotaExhausted(MailError):
    """The mailbox's quota is used up."""

    def __init__(self, message: str | None = None, *, resets_at: datetime | None = None) -> None:
        super().__init__(message)
        self.resets_at = resets_at


class LimitExceeded(LeagueError):
    """A limit was exceeded."""

    def __init__(self, kind: str, value: float, limit: float) -> None:
        super().__init__(f"{kind} is {value:g}, the limit is {limit:g}")
        self.kind = kind
        self.value = value
        self.limit = limit


class ConfigError(LeagueError):
    """The configuration is wrong."""

    def __init__(self, path: str, message: str, others: Sequence[ConfigError] = ()) -> None:
        super().__init__(f"{shortened(path)}: {message}")
        self.path = path
        """The file, the key or the option that is wrong, in full."""
        self.message = message
        self.others = tuple(others)
        """Further mistakes that were found with it."""


class JournalError(LeagueError):
    """The journal cannot be read or written."""


class JournalUnusable(JournalError):
    """The journal is damaged, gone or somebody else's: no repetition helps, a person must see to the file."""


class JournalHeld(JournalError):
    """Another process works on the journal. It may end, and then this one can take over."""


class WorkerLost(LeagueError):
    """A worker was killed, perhaps because memory ran out: the same command goes on."""


class ClusterUnavailable(WorkerLost):
    """The cluster cannot be used at the moment: the same command goes on."""


def shortened(name: str, most: int = 200) -> str:
    """Shorten a name for a message: from one of more than ``most`` characters the middle is cut out."""
    if len(name) <= most:
        return name
    return f"{name[: most // 2]}…{name[most // 2 + 1 - most :]}"
