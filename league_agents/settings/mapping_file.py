"""YAML and JSON files that a person wrote: one mapping each, read strictly.

Rule: a file says each thing once. YAML forbids a key that stands twice in a mapping, yet the reader that everybody uses
takes the last one, and whoever changed the first wonders why nothing happens.
"""

from __future__ import annotations

from pathlib import Path

import yaml

from league_agents.errors import ConfigError, shortened

LARGEST_FILE = 1_000_000
"""Bytes. A rule set has about a thousand."""


def read_mapping(path: Path) -> dict[str, object]:
    """A YAML or JSON file that holds one mapping with text keys. Raises ``ConfigError``."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ConfigError(str(path), f"is larger than {LARGEST_FILE} bytes; is it the right file?")
        found = yaml.load(path.read_text(encoding="utf-8-sig"), _OnceLoader)  # noqa: S506  # it is a SafeLoader
    except OSError as error:
        raise ConfigError(str(path), f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(str(path), "is not UTF-8 text; save it as UTF-8") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" in line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
        raise ConfigError(str(path), f"is not valid YAML{where}: {error.problem}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ConfigError(str(path), f"is not valid YAML: {reason}") from None
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
        raise ConfigError(str(path), "must hold keys and values, one 'key: value' a line")
    return found


class _OnceLoader(yaml.SafeLoader):
    """Refuses a key that its mapping has already.

    It looks at what is written, before ``<<`` brings in the keys of another mapping, which may well be there again.
    """

    def compose_mapping_node(self, anchor: str | None) -> yaml.MappingNode:  # type: ignore[override]
        node: yaml.MappingNode = super().compose_mapping_node(anchor)  # type: ignore[arg-type]
        lines: dict[tuple[str, str], int] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            line = lines.get((key.tag, key.value))
            if line is not None:
                problem = f"the key '{shortened(key.value, 80)}' stands in line {line} already; keep one of the two"
                raise yaml.composer.ComposerError(None, None, problem, key.start_mark)
            lines[key.tag, key.value] = key.start_mark.line + 1
        return node
