"""The file of records of an offline season: encoded in parts by several processes, chained by one.

Rule: the file is derived from the journals, and written when all divisions are over.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from msgspec import Struct

from league_agents.app.executor import Executor, Here, results
from league_agents.app.records import open_division, open_season
from league_agents.app.season_files import JOURNALS, RECORDS, UNFINISHED
from league_agents.app.season_plan import SeasonPlan
from league_agents.kit.private_file import open_private_bytes
from league_agents.report.records_file import RecordsWriter, encoded_match

MOST_RECORDED = 10_000
"""Matches of a season with such a file: its first line names each of them, and readers bound the length of a line."""


def lacks_records(plan: SeasonPlan, folder: Path) -> bool:
    """Whether the file is still to be written; an existing file is complete."""
    return plan.matches <= MOST_RECORDED and not (folder / RECORDS).exists()


def write_records(plan: SeasonPlan, folder: Path, executor: Executor) -> None:
    """Write the records of all matches. Divisions are encoded in as many parts as there are workers; those that came
    from a cluster are encoded already."""
    if not lacks_records(plan, folder):
        return
    place = folder / UNFINISHED
    place.mkdir(exist_ok=True)
    encoder: Executor = Here() if executor.is_remote else executor
    shares = [
        RecordsShare(folder=str(folder), division=division.name, number=division.number, part=part, parts=encoder.width)
        for division in plan.divisions
        for part in range(encoder.width)
    ]
    missing = {share: None for share in shares if not share.path.exists()}
    encoded = results(encoder, encode_records, ((share,) for share in missing))
    writer = RecordsWriter()
    with open_private_bytes(place / RECORDS, "w") as file, closing(encoded):
        with closing(open_season(folder)) as source:
            file.write(writer.header(source.season(), viewer=source.viewer))
        for share in shares:
            if share in missing:
                next(encoded)
            with share.path.open("rb") as bodies:
                file.writelines(writer.encoded(body.rstrip(b"\n")) for body in bodies)
        file.write(writer.footer())
    (place / RECORDS).replace(folder / RECORDS)


class RecordsShare(Struct, frozen=True, kw_only=True):
    """A part of a division's records."""

    folder: str
    """The season's folder."""

    division: str
    number: int
    part: int = 0
    """From 0."""

    parts: int = 1

    @property
    def path(self) -> Path:
        """The file of the records, one a line, without their hashes. It is complete if it exists."""
        return Path(self.folder) / UNFINISHED / f"{RECORDS}.{self.number}.{self.part}.{self.parts}"


def encode_records(share: RecordsShare) -> None:
    """Write the records of a part of a division's matches."""
    journals = Path(share.folder) / JOURNALS
    place = journals / share.division if share.division else journals
    beside = share.path.with_name(f"{share.path.name}.new")
    with (
        closing(open_division(place, share.division)) as source,
        open_private_bytes(beside, "w") as file,
    ):
        file.writelines(encoded_match(match) + b"\n" for match in source.matches(part=share.part, parts=share.parts))
    beside.replace(share.path)
