"""What a browser may do at a server, and what a page of somebody else's may not."""

from __future__ import annotations

import pytest
from websockets.exceptions import InvalidStatus

from league_agents.arena.server.serving import ArenaServer
from tests.support.arena_wire import Wire


@pytest.fixture
def wire(arena: ArenaServer) -> Wire:
    return Wire(arena.url)


def test_the_page_may_load_nothing_from_elsewhere(wire: Wire) -> None:
    page = wire.send("GET", "/")
    policy = page.headers["content-security-policy"]
    assert page.headers["content-type"].startswith("text/html")
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy and "http" not in policy  # noqa: PT018
    assert page.headers["x-content-type-options"] == "nosniff"
    again = wire.send("GET", "/", headers={"if-none-match": page.headers["etag"]})
    assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize(
    "path", ["/hall.py", "/..%2fhall.py", "/page/../hall.py", "/%2e%2e/hall.py", "//etc/passwd", "/x"]
)
def test_only_the_files_of_the_page_are_served(wire: Wire, path: str) -> None:
    answer = wire.send("GET", path)
    assert answer.status == 404
    assert b"import" not in answer.body


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "http://127.0.0.1:1", "null", "file://", "http://localhost.evil.example", "http://["],
)
def test_a_page_of_another_site_may_not_act(wire: Wire, origin: str) -> None:
    headers = {"origin": origin}
    assert wire.send("POST", "/matches", {"game": "market"}, headers=headers).status == 403
    assert wire.send("POST", "/protocol", "{}", headers=headers).status == 403
    with pytest.raises(InvalidStatus) as refused, wire.socket(additional_headers=headers):
        pass
    assert refused.value.response.status_code == 403


def test_the_servers_own_page_may(wire: Wire) -> None:
    headers = {"origin": wire.url}
    assert wire.send("POST", "/matches", {"game": "market"}, headers=headers).status == 201
    with wire.socket(additional_headers=headers) as socket:
        assert socket.ask("{}")["type"] == "error"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "192.168.1.2", "a b"])
def test_a_strange_name_that_leads_to_loopback_is_no_name_of_the_server(wire: Wire, host: str) -> None:
    answer = wire.send("GET", "/games", headers={"host": host})
    assert answer.status == 403


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:99", "127.0.0.1", "[::1]:8765", "127.0.0.2"])
def test_loopback_has_several_names(wire: Wire, host: str) -> None:
    assert wire.send("GET", "/games", headers={"host": host}).status == 200


def test_a_route_that_is_none_is_told_as_json(wire: Wire) -> None:
    answer = wire.send("DELETE", "/matches")
    assert answer.status == 405
    assert answer.code == "no_such_route"
    assert wire.send("POST", "/matches/", {}).status in (404, 405)
