"""A YAML writer for documents of JSON types.

Promises  the output has the same meaning as the JSON of the document.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

# Strings without quotes: nothing that YAML reads as a number, a date, a boolean or syntax.
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_UNPRINTABLE = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_WORDS = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}


def to_yaml(document: Any) -> str:
    return "\n".join(_lines(document))


def _lines(value: Any) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _entry(f"{_scalar(str(key))}:", item)
    elif isinstance(value, list | tuple) and value:
        for item in value:
            first, *rest = _lines(item)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)
    else:
        yield _scalar(value)


def _entry(key: str, item: Any) -> Iterator[str]:
    if isinstance(item, dict | list | tuple) and item:
        yield key
        yield from (f"  {line}" for line in _lines(item))
    else:
        yield f"{key} {_scalar(item)}"


def _scalar(value: Any) -> str:
    is_plain = isinstance(value, str) and _PLAIN.fullmatch(value) is not None
    if is_plain and value.casefold() not in _WORDS:
        return str(value)
    text = json.dumps(
        value, ensure_ascii=False
    )  # JSON's scalars are valid YAML, except for these characters
    return _UNPRINTABLE.sub(lambda found: f"\\U{ord(found[0]):08x}", text)
