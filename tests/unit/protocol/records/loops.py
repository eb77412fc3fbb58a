"""Both implementations of the record loops, and calling them side by side."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from ottla.protocol.errors import InvalidBatch
from ottla.protocol.records import _plain


def implementations() -> list[ModuleType]:
    """The plain loops, and the compiled ones where they could be built."""
    try:
        from ottla.protocol.records import _native
    except ImportError:
        return [_plain]
    return [_plain, _native]


def outcome(function: Callable[..., Any], *arguments: Any) -> object:
    """What a call gives, or how it fails, in a form that can be compared."""
    try:
        return comparable(function(*arguments))
    except InvalidBatch as error:
        return error.code, error.message
    except (ValueError, OverflowError) as error:
        return type(error)


def comparable(found: Any) -> Any:
    if isinstance(found, bytearray):
        return bytes(found)
    if isinstance(found, tuple) and type(found) is tuple:
        return tuple(map(comparable, found))
    return found


def agreed(name: str, *arguments: Any) -> object:
    """The one outcome that all implementations have."""
    first, *others = [outcome(getattr(module, name), *arguments) for module in implementations()]
    for other in others:
        assert other == first
    return first
