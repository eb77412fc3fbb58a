"""One key of a declaration: its type, default and explanation, declared with the field it fills.

Owns      the readers of single values: durations, percentages, names, lists.
Promises  a reader returns the value or raises ValueError with what is wrong and what to write.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any

from ottla.config.durations import parse_duration
from ottla.pipelines.declaration.nodes import Node, kind_of, nearest

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
KEY = "key"
REQUIRED = dataclasses.MISSING

Reads = Callable[[Node], Any]


def key(name: str, reads: Reads | type, doc: str, default: Any = REQUIRED, shown: str = "") -> Any:
    """A field of the tree. `reads` is a reader, or the dataclass of a section."""
    metadata = {KEY: name, "reads": reads, "doc": doc, "shown": shown}
    if default is REQUIRED:
        return dataclasses.field(metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def text(node: Node) -> str:
    if not isinstance(node.value, str) or not node.value.strip():
        raise ValueError(f"must be a text, and is {kind_of(node)}")
    return node.value


def name(node: Node) -> str:
    found = text(node)
    if not NAME.fullmatch(found):
        raise ValueError("must be letters, digits, dots, hyphens or underscores, at most 100")
    return found


def topic(node: Node) -> str:
    found = text(node)
    if not TOPIC.fullmatch(found) or found in (".", ".."):
        raise ValueError(f"{found} is no name of a topic: letters, digits, dots, hyphens, "
                         "underscores")  # fmt: skip
    return found


def topics(node: Node) -> tuple[str, ...]:
    """A list of names, or one."""
    if isinstance(node.value, str):
        return (topic(node),)
    if not isinstance(node.value, list) or not node.value:
        raise ValueError(f"must be a list of topics, and is {kind_of(node)}")
    found = tuple(topic(each) for each in node.value)
    if len(set(found)) < len(found):
        raise ValueError("a topic is in the list twice")
    return found


def duration(node: Node) -> int:
    """In milliseconds."""
    found = parse_duration(str(node.value)) if isinstance(node.value, str) else None
    if found is None or found <= 0:
        raise ValueError(f"must be a duration such as 30s, 10m or 2h, and is {kind_of(node)}")
    return found


def share(node: Node) -> float:
    """`1%` is 0.01."""
    written = str(node.value).strip()
    try:
        found = float(written.removesuffix("%")) / (100 if written.endswith("%") else 1)
    except ValueError:
        found = -1.0
    if isinstance(node.value, bool) or not 0 <= found <= 1:
        raise ValueError(f"must be a share such as 1% or 0.01, and is {kind_of(node)}")
    return found


def whole(least: int, most: int) -> Reads:
    def read(node: Node) -> int:
        found = node.value
        if isinstance(found, bool) or not isinstance(found, int) or not least <= found <= most:
            raise ValueError(f"must be a number from {least} to {most}, and is {kind_of(node)}")
        return found

    return read


def one_of(*words: str) -> Reads:
    def read(node: Node) -> str:
        if node.value not in words:
            near = nearest(str(node.value), words)
            found = f"{node.value!r}: did you mean {near}?" if near else kind_of(node)
            raise ValueError(f"must be one of {', '.join(words)}, and is {found}")
        return str(node.value)

    return read


def several_of(*words: str) -> Reads:
    single = one_of(*words)

    def read(node: Node) -> tuple[str, ...]:
        if not isinstance(node.value, list):
            raise ValueError(f"must be a list of {', '.join(words)}, and is {kind_of(node)}")
        return tuple(single(each) for each in node.value)

    return read


def settings(node: Node) -> Mapping[str, str]:
    """Names and values of another program, as texts."""
    if not isinstance(node.value, Mapping):
        raise ValueError(f"must be a mapping, and is {kind_of(node)}")
    return {each: _setting(each, value) for each, value in node.value.items()}


def _setting(setting: str, node: Node) -> str:
    if node.value is None or isinstance(node.value, Mapping | list):
        raise ValueError(f"{setting} must be a text or a number, and is {kind_of(node)}")
    return str(node.value).lower() if isinstance(node.value, bool) else str(node.value)
