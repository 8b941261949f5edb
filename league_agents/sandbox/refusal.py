"""Refusals of the sandbox: the words, codes and JSON shape of Google's own services.

Source: the error guide of the Gmail API and the field that its client reads for a retry (``error.errors[0].reason``).
"""

from __future__ import annotations

from league_agents.kit.errors import LeagueError

_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ALREADY_EXISTS",
    411: "INVALID_ARGUMENT",
    413: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    501: "UNIMPLEMENTED",
    503: "UNAVAILABLE",
}

USUAL_REASONS = {
    400: "invalidArgument",
    401: "authError",
    403: "userRateLimitExceeded",
    404: "notFound",
    429: "rateLimitExceeded",
    500: "backendError",
    502: "backendError",
    503: "backendError",
    504: "backendError",
}
"""The reason of a fault whose rule names none."""

_USAGE = frozenset({"rateLimitExceeded", "userRateLimitExceeded", "dailyLimitExceeded", "quotaExceeded"})


class SandboxRefusal(LeagueError):
    """The sandbox refuses a call."""

    def __init__(self, code: int, reason: str, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.retry_after_s = retry_after_s

    def document(self) -> dict[str, object]:
        """Google's error document."""
        message = str(self)
        detail: dict[str, object] = {
            "message": message,
            "domain": "usageLimits" if self.reason in _USAGE else "global",
            "reason": self.reason,
        }
        if self.code == 401:
            detail |= {"location": "Authorization", "locationType": "header"}
        error: dict[str, object] = {"code": self.code, "message": message, "errors": [detail]}
        if self.code in _STATUS:
            error["status"] = _STATUS[self.code]
        return {"error": error}

    def headers(self) -> dict[str, str]:
        """The headers of the answer."""
        headers = {}
        if self.retry_after_s is not None:
            headers["Retry-After"] = f"{max(0, round(self.retry_after_s))}"
        if self.code == 401:
            headers["WWW-Authenticate"] = 'Bearer realm="https://accounts.google.com/", error="invalid_token"'
        return headers


def invalid(message: str) -> SandboxRefusal:
    """The request itself is invalid."""
    return SandboxRefusal(400, "invalidArgument", message)


def not_found() -> SandboxRefusal:
    """The mailbox has nothing with this id; the contents of other mailboxes do not exist for the caller."""
    return SandboxRefusal(404, "notFound", "Requested entity was not found.")


def bad_credentials() -> SandboxRefusal:
    """The access token is missing, unknown, revoked or expired."""
    return SandboxRefusal(
        401,
        "authError",
        "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid"
        " authentication credential.",
    )


def missing_scope() -> SandboxRefusal:
    """The access token is valid, but its scopes do not allow this method."""
    return SandboxRefusal(403, "insufficientPermissions", "Request had insufficient authentication scopes.")
