"""Every mistake in the keys of a league file, not only the one at which reading it ends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from league_agents.config.mapping_file import read_mapping
from league_agents.kit.errors import ConfigError


def mistakes_in(path: Path) -> Iterator[ConfigError]:
    """Yield what is wrong with each section, also of one that would not be read here. Nothing if it is no mapping."""
    from league_agents.config.league_keys import ROLE_KEYS, ReadBy, WrittenFile, WrittenRoles
    from league_agents.kit.written import WrittenMapping, read_written

    def mistakes(kind: type[WrittenMapping], value: object, where: str) -> Iterator[ConfigError]:
        try:
            read_written(kind, value, where)
        except ConfigError as error:
            yield from (error, *error.others)

    try:
        mapping = read_mapping(path)
    except ConfigError:
        return
    yield from mistakes(WrittenFile, mapping, str(path))
    for name, field in WrittenFile.model_fields.items():
        read_by = next((each for each in field.metadata if isinstance(each, ReadBy)), None)
        section = mapping.get(name)
        if read_by is None or section is None:
            continue
        yield from mistakes(read_by.kind, section, f"{path}.{name}")
        if read_by.kind is not WrittenRoles or not isinstance(section, dict):
            continue
        for role, kind in ROLE_KEYS.items():
            found = section.get(role)
            if isinstance(found, list):
                for place, each in enumerate(found):
                    yield from mistakes(kind, each, f"{path}.{name}.{role}[{place}]")
            elif found is not None:
                yield from mistakes(kind, found, f"{path}.{name}.{role}")
