"""A person who agrees that a program may use their mailbox, without a browser."""

from __future__ import annotations

import urllib.error
import urllib.request
from typing import Any

import pytest

from league_agents.local_league.patience import LIMIT_S


def redirect_of(address: str) -> str:
    """Where the browser of a person who agrees is sent to."""

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None

    opener = urllib.request.build_opener(Stay)
    with pytest.raises(urllib.error.HTTPError) as caught:
        opener.open(address, timeout=LIMIT_S)
    location = caught.value.headers["Location"]
    caught.value.close()
    return str(location)
