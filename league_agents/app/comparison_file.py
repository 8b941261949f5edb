"""The file of a comparison's records, which a later run of the same comparison continues.

Rule 1: games are written in their order, so a file that was cut off holds the first of them.
Rule 2: nothing is removed from an existing file but its footer and an incomplete last line.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from copy import copy
from functools import partial
from pathlib import Path
from typing import BinaryIO

from league_agents.kit.errors import ConfigError
from league_agents.kit.private_file import open_private_bytes
from league_agents.report.records import MatchRecord, SeasonRecord
from league_agents.report.records_file import RecordsFile, RecordsWriter
from league_agents.runner.lock import FileLock, Locked


class ComparisonFile:
    """The records of one season's games, locked against another process. ``close`` it."""

    def __init__(self, path: Path, season: SeasonRecord) -> None:
        """Create the file, or continue after the complete games of one with the same season. Raises ``ConfigError``."""
        self._path = path
        self._season = season
        self._kept: dict[str, int] = {}
        """Games of an earlier run -> offset of their line."""

        self._source: RecordsFile | None = None
        self._writer = RecordsWriter()
        self._size = 0
        """Bytes of complete lines."""

        self._lock: FileLock | None = None
        try:
            self._file = self._open()
            if not self._size:
                self._write(partial(RecordsWriter.header, season=season))
        except Locked as error:
            raise ConfigError(str(path), f"{error} writes this file; stop it first, or name another file") from None
        except OSError as error:
            self._release()
            raise self._unwritable(error) from None
        except BaseException:
            self._release()
            raise

    def __contains__(self, game_id: str) -> bool:
        return game_id in self._kept

    def kept(self, game_id: str) -> MatchRecord:
        """A game of an earlier run; ``KeyError`` for any other."""
        assert self._source is not None, "games were kept from a file"
        return self._source.match_at(self._kept[game_id])

    def add(self, match: MatchRecord) -> None:
        """Write a game. Raises ``ConfigError``."""
        self._write(partial(RecordsWriter.match, match=match))

    def close(self) -> None:
        """Write the footer after the games that were written, and close the file. Raises ``ConfigError``."""
        try:
            # An incomplete line from the moment of an interruption.
            self._file.truncate(self._size)
            self._file.write(self._writer.footer())
            self._file.flush()
        except OSError as error:
            raise self._unwritable(error) from None
        finally:
            with contextlib.suppress(OSError):
                self._file.close()
            self._release()

    def _open(self) -> BinaryIO:
        if self._path.exists() and not self._path.is_file():
            raise ConfigError(str(self._path), "is no ordinary file; name another one")
        self._lock = FileLock(self._path)
        if self._is_begun():
            self._take_over()
        with contextlib.suppress(FileNotFoundError):
            os.truncate(self._path, self._size)
        return open_private_bytes(self._path, "a")

    def _is_begun(self) -> bool:
        """Whether the file has the season's header; false if it is empty or ends within it."""
        if not self._path.exists():
            return False
        header = RecordsWriter().header(self._season)
        with self._path.open("rb") as file:
            begun = file.read(len(header))
        if not header.startswith(begun):
            raise self._foreign()
        return begun == header

    def _take_over(self) -> None:
        """Keep the games of an existing file. Raises ``ConfigError`` for one that was changed."""
        self._source = RecordsFile(self._path)
        writer = RecordsWriter()
        size = len(writer.header(self._season))
        for record, line in self._source.whole_matches():
            if writer.match(record) != line:
                raise self._foreign()
            self._kept[record.game_id] = size
            size += len(line)
        self._writer, self._size = writer, size

    def _write(self, line_of: Callable[[RecordsWriter], bytes]) -> None:
        """Write one line. The new size is set last: an interruption before that leaves a line that is cut off."""
        writer = copy(self._writer)
        line = line_of(writer)
        try:
            self._file.write(line)
            self._file.flush()
        except OSError as error:
            raise self._unwritable(error) from None
        self._writer, self._size = writer, self._size + len(line)

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()

    def _unwritable(self, error: OSError) -> ConfigError:
        return ConfigError(str(self._path), f"cannot be written: {error.strerror}; name another file")

    def _foreign(self) -> ConfigError:
        return ConfigError(str(self._path), "holds something else than games of these settings; name another file")
