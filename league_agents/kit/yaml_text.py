"""YAML (and so JSON) text that a person wrote: one mapping, read strictly.

Rule: a key occurs once in its mapping. YAML forbids duplicate keys, but PyYAML silently takes the last one, so that a
change to the first has no effect.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from league_agents.kit.errors import ConfigError, shortened

if TYPE_CHECKING:
    import yaml

LONGEST_TEXT: Final = 1_000_000
"""Characters of a file. A rule set has about a thousand."""

MOST_VALUES: Final = 200_000
"""Values of a file. Anchors can expand a short text to more values than fit into memory."""


def read_yaml(text: str, path: str) -> dict[str, object]:
    """Read a mapping with text keys; ``path`` names the text in errors. Raises ``ConfigError``."""
    found = read_value(text, path)
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
        raise ConfigError(path, "must hold keys and values, one 'key: value' a line")
    return found


def read_value(text: str, path: str) -> object:
    """Read a value of any type. Raises ``ConfigError``."""
    import yaml

    if len(text) > LONGEST_TEXT:
        raise ConfigError(path, f"has more than {LONGEST_TEXT} characters; is it the right file?")
    try:
        found: object = yaml.load(text, _once_loader())  # noqa: S506  # it is a SafeLoader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" in line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
        raise ConfigError(path, f"is not valid YAML{where}: {error.problem}") from None
    except RecursionError:
        raise ConfigError(path, "is nested too deep") from None
    except (yaml.YAMLError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ConfigError(path, f"is not valid YAML: {reason}") from None
    if not _is_countable(found):
        raise ConfigError(path, f"holds more than {MOST_VALUES} values, or a value that holds itself; write it out")
    return found


def _is_countable(value: object) -> bool:
    waiting = [value]
    count = 0
    while waiting:
        found = waiting.pop()
        inner = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
        count += len(inner)
        if count > MOST_VALUES:
            return False
        waiting.extend(each for each in inner if isinstance(each, (dict, list)))
    return True


@cache
def _once_loader() -> type[yaml.SafeLoader]:
    import yaml

    class OnceLoader(yaml.SafeLoader):
        """Refuse duplicate keys of a mapping.

        The check comes before ``<<`` merges the keys of another mapping, which may repeat keys.
        """

        def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
            node: yaml.MappingNode = super().compose_mapping_node(anchor)
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

    return OnceLoader
