"""Many items in small groups: a slice of work may end after each, and few items cost no more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")
CHUNK_ITEMS = 16


def chunks(items: Iterable[T]) -> Iterator[list[T]]:
    """Nothing is copied as a whole, so that very many items may come."""
    following = iter(items)
    while chunk := list(islice(following, CHUNK_ITEMS)):
        yield chunk
