"""Match records as a file: JSON Lines with a hash chain (docs/reference/records.md).

Rule 1: a hash covers the line's own bytes and the hash before it, so a reader in any language checks it without
writing JSON the way this program does. A changed, missing or added line is named by its number and its match.
Rule 2: such a file may come from anybody: sizes are bounded, and every value is read into a declared type.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from league_agents.kit.errors import ConfigError, shortened
from league_agents.kit.printable import of
from league_agents.report.records import RECORD_VERSION, DisputeRecord, MatchRecord, SeasonRecord, Viewer
from league_agents.report.sources import division_meant

FORMAT = "league-agents.records"
HEAD = b'{"format":"league-agents.records",'
"""The first bytes of every such file."""

LONGEST_LINE = 16_000_000
"""Bytes. A match has about 20,000; the header names every match of the schedule, with about 800 for each."""

LARGEST_FILE = 4_000_000_000
MOST_MATCHES = 1_000_000
T = TypeVar("T", bound=Struct)
_HASH = re.compile(rb',"hash":"([0-9a-f]{64})"\}\n?\Z')


class Header(Struct, frozen=True, kw_only=True):
    """The first line."""

    format: str = FORMAT
    version: int = RECORD_VERSION
    viewer: Viewer = "referee"
    """The viewer of the matches: the file omits everything that this viewer may not see."""

    team: str = ""
    season: SeasonRecord


class MatchLine(Struct, frozen=True, kw_only=True):
    """One match."""

    match: MatchRecord


class Footer(Struct, frozen=True, kw_only=True):
    """The last line."""

    matches: int


class _AnyLine(Struct, frozen=True, kw_only=True):
    """A line after the first: a match or the end."""

    match: MatchRecord | None = None
    matches: int | None = None


class _Version(Struct, frozen=True, kw_only=True):
    format: str = ""
    version: int = 0


class RecordsWriter:
    """Produces the lines of a file, one after the other."""

    def __init__(self) -> None:
        self._hash = ""
        self._count = 0

    def header(self, season: SeasonRecord, *, viewer: Viewer = "referee", team: str = "") -> bytes:
        """The first line."""
        return self._line(Header(season=season, viewer=viewer, team=team))

    def match(self, match: MatchRecord) -> bytes:
        """The next match."""
        return self.encoded(encoded_match(match))

    def encoded(self, body: bytes) -> bytes:
        """The next match, from ``encoded_match``."""
        self._count += 1
        return self._chained(body)

    def footer(self) -> bytes:
        """The last line."""
        return self._line(Footer(matches=self._count))

    def _line(self, value: Struct) -> bytes:
        return self._chained(_encoded(value)[:-1])

    def _chained(self, body: bytes) -> bytes:
        self._hash = _digest(self._hash, body)
        return body + b',"hash":"' + self._hash.encode() + b'"}\n'


def encoded_match(match: MatchRecord) -> bytes:
    """The line of a match without its hash. Contains no newline."""
    return _encoded(MatchLine(match=match))[:-1]


def record_lines(
    season: SeasonRecord, matches: Iterable[MatchRecord], *, viewer: Viewer = "referee", team: str = ""
) -> Iterator[bytes]:
    """A whole file, line by line."""
    writer = RecordsWriter()
    yield writer.header(season, viewer=viewer, team=team)
    for match in matches:
        yield writer.match(match)
    yield writer.footer()


class RecordsFile:
    """``SeasonSource`` on a file of records. Each reading checks the chain up to its end."""

    has_reports = False

    def __init__(self, path: Path) -> None:
        """Read the header. Raises ``ConfigError`` for a file of another kind, a too large or a newer one."""
        self._path = path
        self._named = shortened(str(path))
        try:
            if path.stat().st_size > LARGEST_FILE:
                raise ConfigError(self._named, f"is larger than {LARGEST_FILE} bytes")
        except OSError as error:
            raise ConfigError(self._named, f"cannot be read: {error.strerror}") from None
        _, body, _ = next(self._bodies(), (0, b"", b""))
        stated = self._decoded(1, body, _Version)
        if stated.format != FORMAT:
            raise ConfigError(self._named, f"is no file of records: its first line must name the format {FORMAT!r}")
        if stated.version != RECORD_VERSION:
            raise ConfigError(
                self._named, f"has version {stated.version}, and this program reads version {RECORD_VERSION}; update it"
            )
        self._header = self._decoded(1, body, Header)
        self.viewer: Viewer = self._header.viewer
        self.team = self._header.team

    @cached_property
    def is_complete(self) -> bool:
        """Whether the file has its footer and a match for each one of its schedule. The chain is not checked."""
        try:
            with self._path.open("rb") as file:
                file.seek(max(0, self._path.stat().st_size - 400))
                last = file.read().splitlines()[-1]
            count = msgspec.json.decode(last, type=Footer).matches
        except (OSError, IndexError, msgspec.DecodeError, UnicodeDecodeError):
            return False
        return count == len(self._header.season.schedule)

    def season(self) -> SeasonRecord:
        """The season at the time of writing."""
        return self._header.season

    def matches(self, *, round_number: int | None = None, team: str | None = None) -> Iterator[MatchRecord]:
        """The matches in the order of the file. Raises ``ConfigError`` that names the first line that was altered."""
        for match, _ in self._matches():
            names = (match.referee_id, *(player.participant_id for player in match.players))
            if round_number in (None, match.round_number) and (team is None or team in names):
                yield match

    def whole_matches(self) -> Iterator[tuple[MatchRecord, bytes]]:
        """The matches of a file that may have been cut off while it was written, each with its line.

        A last line without its newline is incomplete and left out, as is the footer. Raises ``ConfigError`` for another
        line that was altered.
        """
        end = 0
        try:
            for match, line in self._matches():
                if not line.endswith(b"\n"):
                    return
                end += len(line)
                yield match, line
        except ConfigError:
            if not self._is_torn_after(end):
                raise

    def match_at(self, offset: int) -> MatchRecord:
        """The match whose line begins at this byte. The chain is not checked."""
        try:
            with self._path.open("rb") as file:
                file.seek(offset)
                line = file.readline(LONGEST_LINE)
        except OSError as error:
            raise ConfigError(self._named, f"cannot be read: {error.strerror}") from None
        try:
            return msgspec.json.decode(line, type=MatchLine).match
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise ConfigError(self._named, f"was changed at byte {offset} while it was read") from None

    def match(self, game_id: str) -> MatchRecord:
        """One match; ``north/0101001`` if several divisions have one with this id."""
        written, slash, wanted = game_id.rpartition("/")
        division = division_meant(written, self.season().divisions)
        fits = (each for each in self.matches() if each.game_id == wanted and (not slash or each.division == division))
        found = list(fits)
        if len(found) > 1:
            known = ", ".join(of(f"{each.division}/{each.game_id}", 80) for each in found[:10])
            raise ConfigError(f"match {of(game_id, 60)}", f"is in several divisions; write one of {known}")
        if not found:
            raise ConfigError(f"match {of(game_id, 60)}", "is not in this file; 'show matches' lists those that are")
        return found[0]

    def check(self) -> int:
        """Check the whole file. Return the number of matches. Raises as ``matches`` does."""
        return sum(1 for _ in self.matches())

    def disputes(self, *, with_mails: bool = True) -> Iterator[DisputeRecord]:
        """None: only journals hold reports."""
        return iter(())

    def close(self) -> None:
        """No-op: no file is open between two calls."""

    def _matches(self) -> Iterator[tuple[MatchRecord, bytes]]:
        """All matches, each with its line. Raises ``ConfigError`` for a line that was altered."""
        count, is_ended = 0, False
        for number, body, whole in self._bodies():
            if number == 1:
                continue
            if is_ended:
                raise self._wrong(number, "stands after the last line; it was added later")
            line = self._decoded(number, body, _AnyLine)
            if line.match is not None:
                count += 1
                if count > MOST_MATCHES:
                    raise self._wrong(number, f"is one too many: at most {MOST_MATCHES} matches are read")
                yield line.match, whole
            else:
                is_ended = True
                if line.matches != count:
                    raise self._wrong(number, f"states {line.matches} matches, and the file has {count}")
        if not is_ended:
            raise ConfigError(self._named, f"ends after {count} matches without its last line: a part of it is missing")

    def _is_torn_after(self, matches: int) -> bool:
        """Whether only an incomplete line follows the header and ``matches`` bytes of matches."""
        try:
            with self._path.open("rb") as file:
                header = file.readline(LONGEST_LINE + 1)
                file.seek(len(header) + matches)
                rest = file.read(LONGEST_LINE + 1)
        except OSError as error:
            raise ConfigError(self._named, f"cannot be read: {error.strerror}") from None
        return len(rest) <= LONGEST_LINE and b"\n" not in rest

    def _bodies(self) -> Iterator[tuple[int, bytes, bytes]]:
        """Yield line number, line without its hash, whole line. Raises ``ConfigError`` if a hash is wrong."""
        before = ""
        try:
            with self._path.open("rb") as file:
                for number in range(1, MOST_MATCHES + 4):
                    line = file.readline(LONGEST_LINE + 1)
                    if not line:
                        return
                    if len(line) > LONGEST_LINE:
                        raise self._wrong(number, f"has more than {LONGEST_LINE} bytes")
                    stated = _HASH.search(line[-80:])
                    if stated is None and number == 1 and not line.startswith(HEAD):
                        raise ConfigError(
                            self._named, "is no file of records; name one that 'export', 'compare' or 'season' wrote"
                        )
                    if stated is None:
                        raise self._wrong(number, "has no hash at its end; the file was written or changed by hand")
                    body = line[: len(line) - len(stated[0])]
                    found = _digest(before, body)
                    if found != stated[1].decode():
                        raise self._wrong(number, f"was changed, or a line before it is missing{_game_in(body)}")
                    yield number, body, line
                    before = found
        except OSError as error:
            raise ConfigError(self._named, f"cannot be read: {error.strerror}") from None

    def _decoded(self, number: int, body: bytes, kind: type[T]) -> T:
        try:
            return msgspec.json.decode(body + b"}", type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._wrong(number, f"holds no record: {of(str(error), 200)}") from None

    def _wrong(self, number: int, what: str) -> ConfigError:
        return ConfigError(f"{self._named}, line {number}", what)


def _digest(before: str, body: bytes) -> str:
    return hashlib.sha256(before.encode() + body).hexdigest()


_GAME = re.compile(rb'"game_id":"([0-9A-Za-z_-]{1,40})"')


def _game_in(body: bytes) -> str:
    """The match of an untrusted line, for the message about it."""
    found = _GAME.search(body[:10_000])
    return f" (match {found[1].decode()})" if found and not body.startswith(HEAD) else ""


def _encoded(value: Struct) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        # A lone surrogate, which hostile mail may contain and UTF-8 cannot encode.
        return msgspec.json.encode(_writable(msgspec.to_builtins(value)))


def _writable(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_writable(key): _writable(each) for key, each in value.items()}
    return [_writable(each) for each in value] if isinstance(value, list | tuple) else value
