"""Which batches of an answer were written by transactions that were aborted."""

from __future__ import annotations

import random

from ottla.client.fetching.aborted_transactions import (
    AbortedProducer,
    aborted_batches,
    wanted_batches,
)
from ottla.protocol.records.batch import iterate_headers, stamp_offset_and_epoch
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.record import Record


def batch(offset: int, producer_id: int = -1, *, is_control: bool = False) -> bytes:
    data = build_batch(
        [Record(0, 1000, b"\0\0\0\0" if is_control else None, b"\0" * 6, ())],
        producer_id=producer_id,
        producer_epoch=0 if producer_id >= 0 else -1,
        base_sequence=-1 if is_control or producer_id < 0 else 0,
        is_transactional=producer_id >= 0,
        is_control=is_control,
    )
    stamp_offset_and_epoch(data, 0, offset, 0)
    return bytes(data)


def test_batches_up_to_the_marker_are_left_out_and_later_ones_are_not() -> None:
    data = (
        batch(0, 7)
        + batch(1, 8)
        + batch(2)
        + batch(3, 7)
        + batch(4, 7, is_control=True)
        + batch(5, 7)
        + batch(6, 8, is_control=True)
    )
    assert aborted_batches(data, [AbortedProducer(7, 0)]) == {0, 3}
    assert aborted_batches(data, [AbortedProducer(8, 1)]) == {1}
    assert aborted_batches(data, []) == frozenset()


def test_an_answer_may_begin_in_the_middle_of_an_aborted_transaction() -> None:
    data = batch(10, 7) + batch(11, 7, is_control=True) + batch(12, 7)
    assert aborted_batches(data, [AbortedProducer(7, 3)]) == {10}


def test_one_producer_may_abort_several_times() -> None:
    data = (
        batch(0, 7)
        + batch(1, 7, is_control=True)
        + batch(2, 7)
        + batch(3, 7, is_control=True)
        + batch(4, 7)
        + batch(5, 7, is_control=True)
    )
    aborted = [AbortedProducer(7, 4), AbortedProducer(7, 0)]
    assert aborted_batches(data, aborted) == {0, 4}


def test_markers_are_never_wanted() -> None:
    data = batch(0, 7) + batch(1, 7, is_control=True)
    is_wanted = wanted_batches(data, [])
    assert [is_wanted(header) for _, header in iterate_headers(data)] == [True, False]


def test_random_transactions_are_sorted_out_from_any_starting_point() -> None:
    """The model knows the fate of every batch; the answer lists what reaches into it."""
    rng = random.Random(5)
    for _ in range(200):
        batches, aborted, wanted = random_log(rng)
        start = rng.randrange(len(batches))
        listed = [each for each, end in aborted if end >= start]
        rng.shuffle(listed)
        data = b"".join(batches[start:])
        is_wanted = wanted_batches(data, listed)
        found = {each.base_offset for _, each in iterate_headers(data) if is_wanted(each)}
        assert found == {offset for offset in wanted if offset >= start}


def random_log(
    rng: random.Random,
) -> tuple[list[bytes], list[tuple[AbortedProducer, int]], set[int]]:
    """Batches, aborted transactions with the offsets of their markers, offsets to be seen."""
    batches: list[bytes] = []
    aborted: list[tuple[AbortedProducer, int]] = []
    wanted: set[int] = set()
    begun: dict[int, list[int]] = {}
    while len(batches) < 40 or begun:
        offset, producer_id = len(batches), rng.randrange(4)
        is_end = producer_id in begun and (rng.random() < 0.3 or offset >= 40)
        if is_end:
            written = begun.pop(producer_id)
            if rng.random() < 0.5:
                aborted.append((AbortedProducer(producer_id, written[0]), offset))
            else:
                wanted.update(written)
            batches.append(batch(offset, producer_id, is_control=True))
        elif offset >= 40 or rng.random() < 0.2:
            batches.append(batch(offset))
            wanted.add(offset)
        else:
            begun.setdefault(producer_id, []).append(offset)
            batches.append(batch(offset, producer_id))
    return batches, aborted, wanted
