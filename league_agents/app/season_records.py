"""The file of records of an offline season: encoded in parts by several processes, chained by one.

Rule: the file is derived from the journals, and written when all divisions are over.
"""

from __future__ import annotations

from concurrent.futures import Future
from contextlib import closing
from pathlib import Path

from league_agents.app.executor import Executor
from league_agents.app.records import open_division, open_season
from league_agents.app.season_files import JOURNALS, RECORDS, UNFINISHED
from league_agents.app.season_plan import SeasonPlan
from league_agents.kit.private_file import open_private_bytes
from league_agents.report.records_file import RecordsWriter, encoded_match


def write_records(plan: SeasonPlan, folder: Path, executor: Executor, parts: int) -> None:
    """Write the records of all matches; an existing file is complete. Each division is encoded in ``parts``."""
    path = folder / RECORDS
    if path.exists():
        return
    beside = folder / UNFINISHED / RECORDS
    beside.parent.mkdir(exist_ok=True)
    work: list[tuple[Path, Future[None]]] = []
    for division in plan.divisions:
        for part in range(parts):
            bodies = folder / UNFINISHED / f"{RECORDS}.{division.number}.{part}"
            submitted = executor.submit(len(work), encode_records, str(folder), division.name, part, parts, str(bodies))
            work.append((bodies, submitted))
    writer = RecordsWriter()
    with open_private_bytes(beside, "w") as file:
        with closing(open_season(folder)) as source:
            file.write(writer.header(source.season(), viewer=source.viewer))
        for bodies, submitted in work:
            submitted.result()
            with bodies.open("rb") as encoded:
                file.writelines(writer.encoded(body.rstrip(b"\n")) for body in encoded)
        file.write(writer.footer())
    beside.replace(path)


def encode_records(folder: str, division: str, part: int, parts: int, path: str) -> None:
    """Write the records of a part of a division's matches, one a line, without their hashes."""
    place = Path(folder) / JOURNALS
    with (
        closing(open_division(place / division if division else place, division)) as source,
        open_private_bytes(Path(path), "w") as file,
    ):
        file.writelines(encoded_match(match) + b"\n" for match in source.matches(part=part, parts=parts))
