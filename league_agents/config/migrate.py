"""Convert the settings of the deployed referee and player clients to a league file (protocol 8).

Rule 1: every setting that is not converted is named, with the reason.
Rule 2: unknown keys are tolerated: these files have been edited by hand for years.
Rule 3: a value that the user must still fill in is written as a placeholder of the right form, and listed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from league_agents.config.league_settings import DEFAULT_FILE, command_with
from league_agents.config.mapping_file import read_mapping
from league_agents.kit.errors import ConfigError
from league_agents.kit.printable import printable

_UNKNOWN = "nobody knows this key"
_HERE_JOURNAL = "the journal is a SQLite file"

# Key of the old file, dots between nested ones, to the key of the league file.
_REFEREE_TAKEN = {
    "league_manager_email": "league.manager_email",
    "league_id": "league.league_id",
    "referee_email": "roles.referee.address",
    "referee_id": "roles.referee.id",
    "group_id": "roles.referee.group_id",
    "display_name": "roles.referee.display_name",
    "token_path": "roles.referee.token",
    "actual_opening_sentence": "roles.referee.target.opening_sentence",
    "actual_associative_word": "roles.referee.target.associative_word",
    "assignment_table_id": "roles.referee.assignment_table_id",
    "demo_mode": "demo",
    "poll_interval_seconds": "poll.idle_seconds",
    "credentials_path": "gmail.credentials",
    # One wait for all three steps (protocol 5.3.4).
    "player_response_timeout_seconds": "waits.warmup_seconds waits.questions_seconds waits.guess_seconds",
}
_PLAYER_TAKEN = {
    "league.manager_email": "league.manager_email",
    "league.league_id": "league.league_id",
    "gmail.account": "roles.player.address",
    "player.user_id": "roles.player.id",
    "player.display_name": "roles.player.display_name",
    "gmail.token_path": "roles.player.token",
    "app.demo_mode": "demo",
    "app.poll_interval_sec": "poll.idle_seconds",
    "gmail.credentials_path": "gmail.credentials",
    "app.log_level": "log.level",
}
_MODULE, _CLASS = "app.player_ai_module", "app.player_ai_class"
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
    """Settings that were not converted and why, one line each. Values are not repeated: some are passwords."""

    to_do: list[str] = field(default_factory=list)
    """Values that the user must still fill in."""

    def text(self, source: str) -> str:
        """The league file as YAML, with the remarks at the top."""
        lines = [f"# Converted from {printable(source, 200)}."]
        lines += [f"# To do: {line}" for line in self.to_do]
        lines += [f"# Not taken over: {line}" for line in self.dropped]
        body = yaml.safe_dump(self.settings, sort_keys=False, allow_unicode=True, width=100)
        return "\n".join(lines) + "\n\n" + body


def import_settings(path: Path) -> Imported:
    """Convert a referee's ``config.json`` or a player's ``js/config.json``. Raises ``ConfigError``."""
    found = read_mapping(path)
    if "referee_id" in found or "league_manager_email" in found:
        return _referee(dict(_flat(found)))
    if any(isinstance(found.get(name), Mapping) for name in ("app", "player", "gmail")) or "league" in found:
        if "roles" in found:
            check = command_with(path, "config", "check")
            raise ConfigError(str(path), f"is a league file already; check it with '{check}'")
        return _player(dict(_flat(found)))
    raise ConfigError(
        str(path),
        "is neither a referee's settings (referee_id, league_manager_email) nor a player's (league, app, gmail)",
    )


def import_together(paths: Sequence[Path], *, into: Path = Path(DEFAULT_FILE)) -> Imported:
    """Convert as ``import_settings``; a referee's and a player's file become one league file, with a token for each.

    When both files set a key differently, the first one's value is used, and a remark says so. ``into`` is the path of
    the league file, for the commands in the remarks.
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
    """Add to ``upper`` the keys that only ``lower`` has."""
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
    """Give each role a token, and either role the group of the other if it has none."""
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


def _section(settings: dict[str, object], name: str, *, is_made: bool = False) -> dict[str, object]:
    found = settings.setdefault(name, {}) if is_made else settings.get(name)
    return found if isinstance(found, dict) else {}


def _referee(old: dict[str, object]) -> Imported:
    usual = {"address": MISSING_ADDRESS, "id": "REF001", "agent": "offline", "journal": "referee.db"}
    done = Imported(settings={"league": {"manager_email": MISSING_ADDRESS}, "roles": {"referee": usual}})
    done.to_do.append("roles.referee.agent: name your class, such as my_ai.py:MyRefereeAI, or keep offline")
    return _filled_in(done, old, "referee", _REFEREE_TAKEN, _REFEREE_DROPPED)


def _player(old: dict[str, object]) -> Imported:
    module, name = old.pop(_MODULE, None), old.pop(_CLASS, None)
    usual = {
        "address": MISSING_ADDRESS,
        "group_id": "",
        "agent": f"{module or 'my_player'}:{name or 'MyPlayerAI'}",
        "journal": "player.db",
    }
    done = Imported(settings={"league": {"manager_email": MISSING_ADDRESS}, "roles": {"player": usual}})
    done.to_do.append("roles.player.group_id: the name of your group, as the league office spells it")
    if module or name:
        done.taken.append(f"{_MODULE}, {_CLASS} -> roles.player.agent")
    return _filled_in(done, old, "player", _PLAYER_TAKEN, _PLAYER_DROPPED)


def _filled_in(
    done: Imported, old: Mapping[str, object], role: str, taken: Mapping[str, str], dropped: Mapping[str, str]
) -> Imported:
    """Convert the values of the old keys, as far as they are valid for the league file's keys."""
    for key, value in old.items():
        if value is None or value == "":
            continue
        if key not in taken:
            done.dropped.append(f"{printable(key, 80)} ({dropped.get(key, _UNKNOWN)})")
            continue
        targets = taken[key].split()
        try:
            found = [(new, _value_of(new, value)) for new in targets]
        except ConfigError:
            done.dropped.append(f"{key} (cannot be {targets[0]})")
            continue
        for new, each in found:
            *sections, last = new.split(".")
            holder = done.settings
            for name in sections:
                holder = _section(holder, name, is_made=True)
            holder[last] = each
        done.taken.append(f"{key} -> {', '.join(targets)}")
    for new, what in (
        ("league.manager_email", "the address of the league office"),
        (f"roles.{role}.address", "your mailbox, spelled exactly as Gmail shows it"),
    ):
        holder = done.settings
        for name in new.split(".")[:-1]:
            holder = _section(holder, name)
        if holder[new.rpartition(".")[2]] == MISSING_ADDRESS:
            done.to_do.append(f"{new}: {what}")
    return done


def _value_of(path: str, value: object) -> object:
    """Convert an old value to a key of the league file; old files write numbers and words more freely. Raises
    ``ConfigError``."""
    from league_agents.config.league_keys import declared_at, value_at

    if isinstance(value, bool) and declared_at(path).annotation is not bool:
        raise ConfigError(path, "is no truth value")
    found = value_at(path, value)
    return int(found) if isinstance(found, float) and found == int(found) else found


def _flat(found: Mapping[str, object], before: str = "") -> list[tuple[str, object]]:
    """Flatten nested mappings: keys are joined by dots."""
    flat: list[tuple[str, object]] = []
    for key, value in found.items():
        name = f"{before}{key}"
        if isinstance(value, Mapping) and before.count(".") < 4:
            flat += _flat(value, f"{name}.")
        else:
            is_plain = value is None or isinstance(value, (str, int, float, bool))
            flat.append((name, value if is_plain else type(value).__name__))
    return flat
