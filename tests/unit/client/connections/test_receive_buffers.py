"""Receive buffers are reused, but never while a view of them exists."""

from __future__ import annotations

import random

from ottla.client.connections.receive_buffers import SMALL_BYTES_MAX, BufferPool, is_unused

LARGE = SMALL_BYTES_MAX + 1


def test_a_released_buffer_is_used_again() -> None:
    pool = BufferPool()
    first = pool.take(LARGE)
    memory = first.obj
    first.release()
    assert pool.take(LARGE).obj is memory


def test_a_buffer_that_is_looked_at_is_not_used_again() -> None:
    pool = BufferPool()
    first = pool.take(LARGE)
    part = first[10:20]
    memory = first.obj
    first.release()
    assert pool.take(LARGE).obj is not memory
    assert bytes(part) == bytes(10)


def test_being_unused_changes_nothing_in_a_buffer() -> None:
    buffer = bytearray(b"abc")
    assert is_unused(buffer)
    with memoryview(buffer):
        assert not is_unused(buffer)
    assert buffer == b"abc"


def test_kept_parts_are_never_overwritten_whatever_the_order() -> None:
    rng = random.Random(3)
    pool = BufferPool()
    kept: list[tuple[int, memoryview]] = []
    for number in range(300):
        view = pool.take(rng.choice((10, LARGE, 2 * LARGE, 5 * LARGE)))
        view[:] = bytes([number % 256]) * len(view)
        kept.append((number % 256, view[3:9]))
        rng.shuffle(kept)
        del kept[rng.randrange(1, 9) :]
        assert all(bytes(part) == bytes([mark]) * 6 for mark, part in kept)


def test_memory_does_not_grow_with_the_number_of_answers() -> None:
    pool = BufferPool(buffers_max=3)
    for size in range(LARGE, LARGE + 100):
        pool.take(size).release()
    assert len(pool._buffers) <= 3
