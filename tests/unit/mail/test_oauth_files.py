"""Token and client files: what is accepted, what is said about the others, and that no secret is ever said."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from league_agents.kit.errors import AuthorizationExpired, ConfigError
from league_agents.mail.oauth import (
    SCOPES,
    Token,
    load_client_secret,
    load_token,
    missing_scopes,
    save_token,
    token_status,
    wider_mode,
)

NOW = datetime(2031, 5, 2, 12, 0, tzinfo=UTC)
SECRET = "GOCSPX-planted"
FIELDS = {
    "token": "ya29.planted",
    "refresh_token": "1//planted",
    "client_id": "id",
    "client_secret": SECRET,
    "scopes": list(SCOPES),
}


def write(path: Path, content: object) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    path.chmod(0o600)
    return path


def test_a_token_is_written_for_its_owner_only_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "token.json"
    save_token(path, FIELDS)
    assert path.stat().st_mode & 0o777 == 0o600
    assert load_token(path).fields == FIELDS
    assert [file.name for file in tmp_path.iterdir()] == ["token.json"]


def test_a_token_replaces_a_wider_one_and_keeps_the_old_one_when_it_cannot_be_written(tmp_path: Path) -> None:
    path = write(tmp_path / "token.json", FIELDS)
    path.chmod(0o644)
    with pytest.raises(TypeError):
        save_token(path, {"token": object()})
    assert load_token(path).fields == FIELDS
    save_token(path, {**FIELDS, "token": "new"})
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere"):
        save_token(tmp_path / "nowhere" / "token.json", FIELDS)


def test_a_token_does_not_show_itself(tmp_path: Path) -> None:
    shown = repr(Token(path=tmp_path / "token.json", fields=FIELDS))
    assert "planted" not in shown
    assert "token.json" in shown


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "there is no authorization yet"),
        ("", "it is empty"),
        ("{", "it is no JSON"),
        ("[1]", "it is no JSON object"),
        ("[" * 99_999, "it is no JSON"),
        ('"' + "x" * 200_000 + '"', "it is too large"),
        ({**FIELDS, "refresh_token": ""}, "no refresh_token"),
        ({"token": "ya29.planted"}, "no refresh_token and no client_id and no client_secret"),
        ({"installed": {"client_secret": SECRET}}, "this is a client secret, not a token"),
    ],
)
def test_a_token_that_cannot_be_used_says_why_and_what_to_run(tmp_path: Path, content: object, reason: str) -> None:
    path = tmp_path / "token.json"
    if content is not None:
        write(path, content)
    with pytest.raises(AuthorizationExpired) as caught:
        load_token(path, login_command="league-agents auth login --role player")
    message = str(caught.value)
    assert reason in message
    assert "run 'league-agents auth login --role player'" in message
    assert "planted" not in message
    assert "\n" not in message


def test_a_file_that_others_can_read_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "token.json", FIELDS)
    assert wider_mode(path) is None
    path.chmod(0o640)
    warning = wider_mode(path)
    assert warning is not None
    assert "chmod 600" in warning


@pytest.mark.parametrize(
    ("granted", "missing"),
    [
        (list(SCOPES), ()),
        (["https://mail.google.com/"], ()),
        (["https://www.googleapis.com/auth/gmail.readonly", "https://www.googleapis.com/auth/gmail.send"], SCOPES),
        ([*SCOPES, "https://www.googleapis.com/auth/gmail.send"], ()),
        (None, ()),
        ([], SCOPES),
    ],
)
def test_scopes_are_compared_with_what_is_needed(granted: list[str] | None, missing: tuple[str, ...]) -> None:
    assert missing_scopes(granted) == missing


def test_the_age_of_an_authorization_and_its_seven_days_are_told(tmp_path: Path) -> None:
    consented = NOW - timedelta(days=5)
    ends = consented + timedelta(days=7)
    fields = {**FIELDS, "consented_at": consented.isoformat(), "refresh_expires_at": ends.isoformat()}
    status = token_status(write(tmp_path / "token.json", fields), now=NOW)
    assert status.age == timedelta(days=5)
    assert status.expires_at == status.testing_ends_at == ends
    (warning,) = status.warnings
    assert "ends at 2031-05-04 12:00 UTC" in warning
    assert "publish the app" in warning


def test_an_authorization_that_has_ended_is_told_with_the_command(tmp_path: Path) -> None:
    fields = {**FIELDS, "consented_at": "2031-01-01T00:00:00+00:00", "refresh_expires_at": "2031-01-08T00:00:00+00:00"}
    (warning,) = token_status(write(tmp_path / "token.json", fields), now=NOW).warnings
    assert "ended" in warning
    assert "auth login" in warning


def test_the_token_of_a_published_app_has_no_warning(tmp_path: Path) -> None:
    fields = {**FIELDS, "consented_at": "2031-01-01T00:00:00+00:00"}
    status = token_status(write(tmp_path / "token.json", fields), now=NOW)
    assert status.warnings == ()
    assert status.expires_at is None


@pytest.mark.parametrize("consented_at", [None, "yesterday", 5])
def test_a_token_of_another_program_has_an_unknown_age(tmp_path: Path, consented_at: object) -> None:
    status = token_status(write(tmp_path / "token.json", {**FIELDS, "consented_at": consented_at}), now=NOW)
    assert status.age is None
    assert "nobody knows when" in status.warnings[0]


def test_every_warning_about_a_token_is_given(tmp_path: Path) -> None:
    path = write(tmp_path / "token.json", {**FIELDS, "scopes": "openid", "consented_at": NOW.isoformat()})
    path.chmod(0o644)
    first, second = token_status(path, now=NOW).warnings
    assert "mode 0644" in first
    assert SCOPES[0] in second


GOOD_CLIENT = {
    "client_id": "id",
    "client_secret": SECRET,
    "auth_uri": "https://accounts.google.com/o/oauth2/auth",
    "token_uri": "https://oauth2.googleapis.com/token",
}


def test_a_desktop_client_is_accepted(tmp_path: Path) -> None:
    assert load_client_secret(write(tmp_path / "client_secret.json", {"installed": GOOD_CLIENT})) == GOOD_CLIENT


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "there is no such file"),
        ("", "it is empty"),
        ("{", "it is no JSON"),
        ({"web": GOOD_CLIENT}, 'type "Web application"'),
        ({"type": "service_account", "private_key": SECRET}, "service account"),
        (FIELDS, "this is a token"),
        ({"something": 1}, "this is no OAuth client"),
        ({"installed": {**GOOD_CLIENT, "client_id": ""}}, "installed.client_id is missing"),
        ({"installed": {**GOOD_CLIENT, "token_uri": "http://evil.test/token"}}, "installed.token_uri must be an https"),
        ({"installed": {**GOOD_CLIENT, "auth_uri": "file:///x"}}, "installed.auth_uri must be an https"),
    ],
)
def test_a_wrong_client_file_says_what_it_is_and_how_to_get_a_right_one(
    tmp_path: Path, content: object, reason: str
) -> None:
    path = tmp_path / "client_secret.json"
    if content is not None:
        write(path, content)
    with pytest.raises(ConfigError) as caught:
        load_client_secret(path)
    message = str(caught.value)
    assert reason in message
    assert "Desktop app" in message
    assert "planted" not in message
    assert "\n" not in message
