"""Reading untrusted text as one JSON object.

Rule: an accepted object means the same in every language: no duplicate keys, no NaN or infinity, no lone surrogates,
and size and depth within bounds. Nothing is repaired.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from league_agents.arena.protocol.refusals import Refused, invalid_envelope
from league_agents.kit.errors import shortened

LARGEST = 64 * 1024
"""Bytes of UTF-8 (arena 5.1)."""

MOST_LEVELS = 32
"""Nesting depth of objects and lists, the envelope included."""

_SPELT_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_OPENING = re.compile(r"[\[{]")


def read_object(text: str | bytes | bytearray | Mapping[str, Any]) -> dict[str, Any]:
    """Parse a text as one object. A mapping is checked as if it had been sent as text.

    Raises ``Refused``: ``too_large``, ``malformed_json``, ``duplicate_key``, ``not_an_object``, ``invalid_envelope``.
    """
    if isinstance(text, Mapping):
        text = _written(text)
    if len(text) > LARGEST:
        raise _too_large()
    if isinstance(text, str):
        if not text.isascii():
            try:
                size = len(text.encode())
            except UnicodeEncodeError:
                raise _malformed("it holds half a surrogate pair") from None
            if size > LARGEST:
                raise _too_large()
    else:
        try:
            text = text.decode()
        except UnicodeDecodeError as error:
            raise _malformed(f"byte {error.start} is not UTF-8") from None
    try:
        value = _DECODER.decode(text)
    except _TwiceTheSameKey as error:
        key = shortened(repr(error.key), 80)
        raise Refused("duplicate_key", f"the key {key} is there twice in one object") from None
    except _NotANumber as error:
        raise _malformed(f"{shortened(error.text, 40)} is not a number of JSON") from None
    except json.JSONDecodeError as error:
        raise _malformed(f"{error.msg}, line {error.lineno} column {error.colno}") from None
    except ValueError:  # an integer with more digits than Python parses
        raise _malformed("a number has too many digits") from None
    except RecursionError:
        raise _too_deep() from None
    if not isinstance(value, dict):
        raise Refused("not_an_object", "a message is a JSON object, found another value")
    # Counting the brackets in the text is enough for nearly every message; only the rest needs a walk over the values.
    if len(_OPENING.findall(text)) > MOST_LEVELS and _is_deep(value):
        raise _too_deep()
    if _SPELT_SURROGATE.search(text) and _holds_surrogate(value):
        raise _malformed("it holds half a surrogate pair")
    return value


def _written(fields: Mapping[str, Any]) -> str:
    try:
        return json.dumps(dict(fields), ensure_ascii=False, allow_nan=False)
    except RecursionError:
        raise _too_deep() from None
    except (TypeError, ValueError) as error:
        raise _malformed(f"it holds what JSON cannot say: {shortened(str(error), 80)}") from None


class _TwiceTheSameKey(Exception):
    def __init__(self, key: str) -> None:
        super().__init__()
        self.key = key


class _NotANumber(Exception):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen = set()
        for key, _ in pairs:
            if key in seen:
                raise _TwiceTheSameKey(key)
            seen.add(key)
    return found


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):  # 1e999 is valid JSON, but a peer could not write it back
        raise _NotANumber(text)
    return value


def _constant(text: str) -> None:
    raise _NotANumber(text)


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=_float, parse_constant=_constant)


def _is_deep(value: object) -> bool:
    level, waiting = 0, [value]
    while waiting:
        level += 1
        if level > MOST_LEVELS:
            return True
        deeper: list[object] = []
        for each in waiting:
            inner = each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
            deeper += [child for child in inner if isinstance(child, dict | list)]
        waiting = deeper
    return False


def _holds_surrogate(value: object) -> bool:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            if _SURROGATE.search(each):
                return True
        elif isinstance(each, dict):
            waiting += [*each, *each.values()]
        elif isinstance(each, list):
            waiting += each
    return False


def _malformed(reason: str) -> Refused:
    return Refused("malformed_json", f"the message is not JSON: {reason}")


def _too_large() -> Refused:
    return Refused("too_large", f"a message has at most {LARGEST} bytes", {"most_bytes": LARGEST})


def _too_deep() -> Refused:
    return invalid_envelope([{"path": "", "code": "too_deep", "message": f"has more than {MOST_LEVELS} levels"}])
