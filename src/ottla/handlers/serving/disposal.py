"""Freeing very many objects a few at a time.

`freeing` empties a list in slices, for work that continues afterwards. `Disposal` frees objects in
the following iterations of the event loop, for work that has ended.

The last reference to a message of half a million items frees them all in one C call, which blocks
the event loop and every thread for tens of milliseconds. So the parts of a large message are kept
here when it is dropped, and removed a few at a time.

Promises  the message is not changed: other references to it, or to a part of it, stay valid.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

from ottla.base.scheduling.steps import Steps
from ottla.protocol.message import Struct

FREED_AT_ONCE = 500
PIECE_ITEMS = 200
PIECES_PER_ITERATION = 20  # about half a millisecond

Pieces = list[list[object]]


def freeing(items: list[Any]) -> Steps[None]:
    """Empty a list that has no other users."""
    while items:
        del items[-FREED_AT_ONCE:]
        yield 0


def pieces_of(message: Struct) -> Pieces:
    """Copies of its lists, cut up. For any thread."""
    return list(_pieces_of_struct(message))


def pieces_of_values(values: list[object]) -> Pieces:
    """The same for any objects: of those that are no messages, lists or mappings, nothing. `values`
    is emptied: a thread pool may keep it for longer than the pieces are kept."""
    pieces = [piece for value in values for piece in _pieces_of_value(value)]
    values.clear()
    return pieces


class Disposal:
    """Holds pieces of unused messages, and drops some in each iteration of the event loop."""

    def __init__(self) -> None:
        self._pieces: Pieces = []
        self._is_scheduled = False

    def take(self, pieces: Pieces) -> None:
        """Drop them from the next iteration of the event loop on: by then the caller must not
        reference the message. The list is emptied: the thread that made it may keep it for a
        while."""
        self._pieces += pieces
        pieces.clear()
        self._schedule()

    def _schedule(self) -> None:
        if self._pieces and not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._drop_some)

    def _drop_some(self) -> None:
        self._is_scheduled = False
        del self._pieces[-PIECES_PER_ITERATION:]
        self._schedule()


def _pieces_of_value(value: object) -> Iterator[list[object]]:
    if isinstance(value, Struct):
        yield from _pieces_of_struct(value)
    elif isinstance(value, (list, tuple)):
        yield from _pieces_of_values(value)
    elif isinstance(value, dict):
        yield from _pieces_of_values(list(value.values()))


def _pieces_of_values(items: list[object] | tuple[object, ...]) -> Iterator[list[object]]:
    if items and isinstance(items[0], (Struct, list, tuple, dict)):
        for item in items:
            yield from _pieces_of_value(item)
    if len(items) > PIECE_ITEMS:
        yield from cut_up(items)


def _pieces_of_struct(struct: Struct) -> Iterator[list[object]]:
    names: tuple[str, ...] = struct.__slots__
    for name in names:
        value = getattr(struct, name, None)
        if isinstance(value, (list, tuple)) and value:
            yield from _pieces_of_list(value)
        elif isinstance(value, Struct):
            yield from _pieces_of_struct(value)


def _pieces_of_list(items: list[object] | tuple[object, ...]) -> Iterator[list[object]]:
    if isinstance(items[0], Struct):
        for item in items:
            assert isinstance(item, Struct)
            yield from _pieces_of_struct(item)
    if len(items) > PIECE_ITEMS:
        yield from cut_up(items)


def cut_up(items: Sequence[object]) -> Pieces:
    """Copies of a list of very many objects, in pieces."""
    return [list(items[start : start + PIECE_ITEMS]) for start in range(0, len(items), PIECE_ITEMS)]
