"""The settings of the deployed referee and player clients, turned into a league file (protocol 8).

Rule 1: nothing is lost in silence. Whatever is not taken over is named, with the reason.
Rule 2: unknown keys are tolerated: these files have been edited by hand for years.
Rule 3: what a person must still fill in is written as it must look like, and said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from league_agents.config.environment import truth_of
from league_agents.config.league_settings import DEFAULT_FILE, command_with
from league_agents.config.mapping_file import read_mapping
from league_agents.kit.errors import ConfigError
from league_agents.kit.printable import printable
from league_agents.league.wire.address import read_address

_UNKNOWN = "nobody knows this key"
_HERE_JOURNAL = "the journal is a SQLite file"

_REFEREE_DROPPED = {
    "log_file": "name one with log.file",
    "season_id": "learnt from the broadcasts",
    "demo_path": "the built-in texts are used",
    "referee_password": "Gmail's API needs no password; take it out of the old file",
    "imap_server": "Gmail's API is used",
    "smtp_server": "Gmail's API is used",
    **dict.fromkeys(
        ("game_id", "match_id", "player1_email", "player1_id", "player2_email", "player2_id"),
        "one game is played with: league-agents run --single-game",
    ),
}
_PLAYER_DROPPED = {
    "league.protocol_version": "always league.v2 and Q21G.v1",
    "player.game_types": "never had an effect",
    "app.auto_register": "a player always registers",
    "app.initial_state": "the journal knows it",
    "app.loop_interval_sec": "replaced by poll.idle_seconds",
    "app.run_mode": "replaced by run --scan and run --watch",
    "app.scan_mode": "replaced by run --scan and run --watch",
    "app.batch_size": "the whole backlog is read, oldest first",
    "gmail.max_messages_per_scan": "the whole backlog is read, oldest first",
    "gmail.attachment_cleanup_age_days": "attachments are not stored as files",
    "paths.attachment_lookup_file": "attachments are not stored as files",
    "broadcast.log_all_broadcasts": "the journal keeps every message",
    "broadcast.max_response_text_words": "the rules say how long texts are",
    **{f"database.{name}": _HERE_JOURNAL for name in ("host", "port", "name", "user", "password")},
    **{
        f"llm.{name}": "for your own agent, which reads the environment"
        for name in ("method", "default_agent", "timeout_sec", "max_retries", "fallback_enabled")
    },
}

MISSING_ADDRESS = "fill.in@example.com"


@dataclass(slots=True, kw_only=True)
class Imported:
    """A converted file."""

    settings: dict[str, object]
    taken: list[str] = field(default_factory=list)
    """``old key -> new key``, one line each."""

    dropped: list[str] = field(default_factory=list)
    """What was not taken over and why, one line each. Values are not repeated: some are passwords."""

    to_do: list[str] = field(default_factory=list)
    """What a person must still fill in."""

    def text(self, source: str) -> str:
        """As YAML with what there is to say at the top."""
        lines = [f"# Converted from {printable(source, 200)}."]
        lines += [f"# To do: {line}" for line in self.to_do]
        lines += [f"# Not taken over: {line}" for line in self.dropped]
        body = yaml.safe_dump(self.settings, sort_keys=False, allow_unicode=True, width=100)
        return "\n".join(lines) + "\n\n" + body


def import_settings(path: Path) -> Imported:
    """Convert a referee's ``config.json`` or a player's ``js/config.json``. Raises ``ConfigError``."""
    found = read_mapping(path)
    if "referee_id" in found or "league_manager_email" in found:
        return _Import(found, path).referee()
    if any(isinstance(found.get(name), Mapping) for name in ("app", "player", "gmail")) or "league" in found:
        if "roles" in found:
            check = command_with(path, "config", "check")
            raise ConfigError(str(path), f"is a league file already; check it with '{check}'")
        return _Import(found, path).player()
    raise ConfigError(
        str(path),
        "is neither a referee's settings (referee_id, league_manager_email) nor a player's (league, app, gmail)",
    )


def import_together(paths: Sequence[Path], *, into: Path = Path(DEFAULT_FILE)) -> Imported:
    """As ``import_settings``; a referee's and a player's file become one league file, with a token for each.

    Where both say something different of the same key the first one's holds, and that is said. ``into`` is the league
    file that will be written, for the commands that are named.
    """
    done = import_settings(paths[0])
    for path in paths[1:]:
        other = import_settings(path)
        twice = _section(done.settings, "roles").keys() & _section(other.settings, "roles").keys()
        if twice:
            raise ConfigError(
                str(path), f"is another {min(twice)}'s settings; one league file has one referee and one player"
            )
        done.taken += other.taken
        done.dropped += other.dropped
        done.to_do = list(dict.fromkeys([*done.to_do, *other.to_do]))
        _lay_under(done, done.settings, other.settings)
    if len(paths) > 1:
        _complete_each_other(done, into)
    return done


def _lay_under(done: Imported, upper: dict[str, object], lower: Mapping[str, object], before: str = "") -> None:
    """Add to ``upper`` what only ``lower`` says."""
    for key, value in lower.items():
        name, mine = f"{before}{key}", upper.get(key)
        if isinstance(mine, dict) and isinstance(value, dict):
            _lay_under(done, mine, value, f"{name}.")
        elif mine is None or mine == MISSING_ADDRESS != value:
            upper[key] = value
            done.to_do = [line for line in done.to_do if not line.startswith(f"{name}: ")]
        elif value == MISSING_ADDRESS != mine:
            done.to_do = [line for line in done.to_do if not line.startswith(f"{name}: ")]
        elif value != mine:
            done.to_do.append(f"{name}: the files do not agree, and the first one's is kept; is it right?")


def _complete_each_other(done: Imported, into: Path) -> None:
    """A token for each role, and the group of the one for the other."""
    roles = {name: role for name, role in _section(done.settings, "roles").items() if isinstance(role, dict)}
    tokens = {Path(str(role.get("token") or f"token_{name}.json")) for name, role in roles.items()}
    if len(tokens) < len(roles):
        for name, role in roles.items():
            role["token"] = f"token_{name}.json"
            done.to_do.append(
                f"roles.{name}.token: both files name the same, and each mailbox needs its own; make it with"
                f" '{command_with(into, 'auth', 'login', '--role', name)}'"
            )
    group = next((role["group_id"] for role in roles.values() if role.get("group_id")), None)
    for name, role in roles.items():
        if group is not None and not role.get("group_id"):
            role["group_id"] = group
            done.to_do = [line for line in done.to_do if not line.startswith(f"roles.{name}.group_id: ")]
            done.to_do.append(f"roles.{name}.group_id: taken from the other file; is it right?")


def _section(settings: Mapping[str, object], name: str) -> dict[str, object]:
    found = settings.get(name)
    return found if isinstance(found, dict) else {}


class _Import:
    """One file on its way over."""

    def __init__(self, found: Mapping[str, object], path: Path) -> None:
        self._old = dict(_flat(found))
        self._path = path
        self._done = Imported(settings={})

    def referee(self) -> Imported:
        role: dict[str, object] = {}
        self._address(role, "referee_email", "roles.referee.address")
        self._text("referee_id", role, "id", "roles.referee")
        for old, new in (("group_id", "group_id"), ("display_name", "display_name")):
            self._text(old, role, new, "roles.referee")
        role.setdefault("id", "REF001")
        role["agent"] = "offline"
        self._done.to_do.append("roles.referee.agent: name your class, such as my_ai.py:MyRefereeAI, or keep offline")
        self._text("token_path", role, "token", "roles.referee")
        role["journal"] = "referee.db"
        target: dict[str, object] = {}
        self._text("actual_opening_sentence", target, "opening_sentence", "roles.referee.target")
        self._text("actual_associative_word", target, "associative_word", "roles.referee.target")
        if target:
            role["target"] = target
        self._text("assignment_table_id", role, "assignment_table_id", "roles.referee")
        league: dict[str, object] = {}
        self._text("league_manager_email", league, "manager_email", "league")
        self._text("league_id", league, "league_id", "league")
        waits = self._number("player_response_timeout_seconds", "waits.*_seconds")
        if waits is not None:
            # One wait for all three steps (protocol 5.3.4).
            steps = ("warmup_seconds", "questions_seconds", "guess_seconds")
            self._done.settings["waits"] = dict.fromkeys(steps, waits)
        return self._end("referee", role, league, "poll_interval_seconds", "credentials_path", "demo_mode",
                         _REFEREE_DROPPED)  # fmt: skip

    def player(self) -> Imported:
        role: dict[str, object] = {}
        self._address(role, "gmail.account", "roles.player.address")
        self._text("player.user_id", role, "id", "roles.player")
        self._text("player.display_name", role, "display_name", "roles.player")
        self._done.to_do.append("roles.player.group_id: the name of your group, as the league office spells it")
        role["group_id"] = ""
        module = self._take("app.player_ai_module")
        name = self._take("app.player_ai_class")
        role["agent"] = f"{module or 'my_player'}:{name or 'MyPlayerAI'}"
        if module or name:
            self._done.taken.append("app.player_ai_module, app.player_ai_class -> roles.player.agent")
        self._text("gmail.token_path", role, "token", "roles.player")
        role["journal"] = "player.db"
        league: dict[str, object] = {}
        self._text("league.manager_email", league, "manager_email", "league")
        self._text("league.league_id", league, "league_id", "league")
        level = self._take("app.log_level")
        if isinstance(level, str) and level.upper() in ("DEBUG", "INFO", "WARNING", "ERROR"):
            self._done.settings["log"] = {"level": level.upper()}
            self._done.taken.append("app.log_level -> log.level")
        return self._end("player", role, league, "app.poll_interval_sec", "gmail.credentials_path", "app.demo_mode",
                         _PLAYER_DROPPED)  # fmt: skip

    def _end(
        self,
        name: str,
        role: dict[str, object],
        league: dict[str, object],
        poll_key: str,
        credentials_key: str,
        demo_key: str,
        known: Mapping[str, str],
    ) -> Imported:
        done = self._done
        if "manager_email" not in league:
            league = {"manager_email": MISSING_ADDRESS, **league}
            done.to_do.append("league.manager_email: the address of the league office")
        gmail: dict[str, object] = {}
        self._text(credentials_key, gmail, "credentials", "gmail")
        poll = self._number(poll_key, "poll.idle_seconds")
        demo = self._take(demo_key)
        settings: dict[str, object] = {"league": league, "roles": {name: role}}
        if demo is not None:
            settings["demo"] = truth_of(demo, f"{self._path}.{demo_key}")
            done.taken.append(f"{demo_key} -> demo")
        if poll is not None:
            settings["poll"] = {"idle_seconds": max(0.2, poll)}
        if gmail:
            settings["gmail"] = gmail
        done.settings = {**settings, **done.settings}
        for key, value in self._old.items():
            if value not in (None, ""):
                done.dropped.append(f"{printable(key, 80)} ({known.get(key, _UNKNOWN)})")
        return done

    def _take(self, key: str) -> object:
        value = self._old.pop(key, None)
        return None if value == "" else value

    def _text(self, old: str, target: dict[str, object], new: str, section: str) -> None:
        value = self._take(old)
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if isinstance(value, str):
            target[new] = value
            self._done.taken.append(f"{old} -> {section}.{new}")
        elif value is not None:
            self._done.dropped.append(f"{old} (is no text)")

    def _number(self, old: str, new: str) -> float | None:
        value = self._take(old)
        try:
            number = float(value) if isinstance(value, (int, float, str)) and not isinstance(value, bool) else None
        except ValueError:
            number = None
        if number is not None and 0 < number < 86_400:
            self._done.taken.append(f"{old} -> {new}")
            return int(number) if number == int(number) else number
        if value is not None:
            self._done.dropped.append(f"{old} (is no number of seconds)")
        return None

    def _address(self, role: dict[str, object], old: str, new: str) -> None:
        value = self._take(old)
        if isinstance(value, str) and read_address(value) == value:
            role["address"] = value
            self._done.taken.append(f"{old} -> {new}")
            return
        role["address"] = MISSING_ADDRESS
        self._done.to_do.append(f"{new}: your mailbox, spelled exactly as Gmail shows it")


def _flat(found: Mapping[str, object], before: str = "") -> list[tuple[str, object]]:
    """Keys of nested mappings with dots between them."""
    flat: list[tuple[str, object]] = []
    for key, value in found.items():
        name = f"{before}{key}"
        if isinstance(value, Mapping) and before.count(".") < 4:
            flat += _flat(value, f"{name}.")
        else:
            is_plain = value is None or isinstance(value, (str, int, float, bool))
            flat.append((name, value if is_plain else type(value).__name__))
    return flat
