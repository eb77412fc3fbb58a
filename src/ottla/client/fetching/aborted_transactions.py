"""Which batches of a Fetch response belong to aborted transactions.

A read_committed response ends at the last stable offset and lists the aborted transactions in it:
the producer id and the first offset. Such a transaction ends at the next marker of its producer, so
one pass over the headers is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from ottla.protocol.records.batch import BatchHeader, Buffer, iterate_headers


class AbortedProducer(NamedTuple):
    producer_id: int
    first_offset: int


def aborted_batches(data: Buffer, aborted: Iterable[AbortedProducer]) -> frozenset[int]:
    """The base offsets of all batches that were written by an aborted transaction."""
    starts = sorted(aborted, key=lambda each: each.first_offset, reverse=True)
    open_producers: set[int] = set()
    found = set()
    for _, header in iterate_headers(data):
        while starts and starts[-1].first_offset <= header.last_offset:
            open_producers.add(starts.pop().producer_id)
        if header.is_control:
            open_producers.discard(header.producer_id)
        elif header.is_transactional and header.producer_id in open_producers:
            found.add(header.base_offset)
    return frozenset(found)


def wanted_batches(
    data: Buffer, aborted: Iterable[AbortedProducer]
) -> Callable[[BatchHeader], bool]:
    """The predicate for `read_arrow`: no control batches, and none of aborted transactions."""
    skipped = aborted_batches(data, aborted) if aborted else frozenset[int]()

    def is_wanted(header: BatchHeader) -> bool:
        return not header.is_control and header.base_offset not in skipped

    return is_wanted
