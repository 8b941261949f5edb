"""An HTTP client that stops reading an answer at a limit, follows no redirect and uses no proxy."""

from __future__ import annotations

import httpx

from league_agents.llm.responses import limit_body_later


def bounded_client(*, token: str | None, timeout_s: float) -> httpx.AsyncClient:
    """A client for requests to one server, which gets the token. Nothing is read from the environment.

    Its requests raise ``llm.responses.UnreadableBody`` for answers that are too large, packed or redirected.
    """
    headers = {"accept-encoding": "identity"}
    if token is not None:
        headers["authorization"] = f"Bearer {token}"
    return httpx.AsyncClient(
        timeout=timeout_s,
        headers=headers,
        follow_redirects=False,
        trust_env=False,
        event_hooks={"response": [limit_body_later]},
    )
