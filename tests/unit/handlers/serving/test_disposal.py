"""Messages of very many items are freed a few at a time."""

from __future__ import annotations

import asyncio
import weakref

from ottla.handlers.serving.disposal import PIECE_ITEMS, PIECES_PER_ITERATION, Disposal, pieces_of
from ottla.protocol.message import Struct

MANY = 10 * PIECE_ITEMS * PIECES_PER_ITERATION


class Item(Struct):
    __slots__ = ("__weakref__", "items_inside", "name")

    def __init__(self, name: str, items_inside: list[Item] | None = None) -> None:
        self.name = name
        self.items_inside = items_inside or []


def freed_by_turns(root: list[Item], items: list[Item]) -> list[int]:
    """How many of the items are freed in each turn after the last reference to the root went."""
    freed = 0

    def note(_reference: object) -> None:
        nonlocal freed
        freed += 1

    references = [weakref.ref(item, note) for item in items]  # each calls when its item goes
    items.clear()

    async def main() -> list[int]:
        disposal = Disposal()
        disposal.take(pieces_of(root.pop()))
        counts = []
        for _ in range(100):
            before = freed
            await asyncio.sleep(0)
            counts.append(freed - before)
        return counts

    counts = asyncio.run(main())
    assert len(references) >= sum(counts)
    return counts


def test_no_turn_frees_more_than_its_pieces() -> None:
    items = [Item(str(at)) for at in range(MANY)]
    counts = freed_by_turns([Item("root", list(items))], items)
    assert 0 < max(counts) <= PIECE_ITEMS * PIECES_PER_ITERATION
    assert sum(counts) == MANY


def test_lists_inside_of_items_are_freed_in_pieces_too() -> None:
    items = [Item(str(at)) for at in range(MANY)]
    counts = freed_by_turns([Item("root", [Item("inner", list(items))])], items)
    assert sum(counts) == MANY
    assert max(counts) <= PIECE_ITEMS * PIECES_PER_ITERATION


def test_whoever_still_has_a_part_of_the_message_keeps_it_whole() -> None:
    async def main() -> list[Item]:
        message = Item("root", [Item(str(at)) for at in range(MANY)])
        kept = message.items_inside
        disposal = Disposal()
        disposal.take(pieces_of(message))
        del message
        for _ in range(20):
            await asyncio.sleep(0)
        return kept

    assert [item.name for item in asyncio.run(main())] == [str(at) for at in range(MANY)]
