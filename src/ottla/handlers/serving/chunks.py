"""Many items in chunks, after each of which a slice of work may end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")
CHUNK_ITEMS = 16


def chunks(items: Iterable[T]) -> Iterator[list[T]]:
    """Lazily, so that there may be very many items."""
    following = iter(items)
    while chunk := list(islice(following, CHUNK_ITEMS)):
        yield chunk
