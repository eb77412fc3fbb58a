"""Which transactions the batches of a log belong to, as compaction scans them.

Owns      the decided transactions around the current position, from the transaction indexes.
Promises  a marker is called idle only when no batch of its transaction was seen: an aborted
          transaction stays in the index for as long as one of its records might be read.
Leaves    what happens to batches and markers to `batch_decisions.py`.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from ottla.protocol.records.batch import BatchHeader
from ottla.protocol.records.control import EndMarker
from ottla.storage.indexes.transaction_index import AbortedTransaction


class SeenTransactions:
    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        # By first offset; the transactions of a producer follow one another.
        self._waiting = [(each.first_offset, each) for each in aborted]
        heapq.heapify(self._waiting)
        self._aborted: dict[int, AbortedTransaction] = {}  # by producer id, those we are inside of
        self._has_batches: set[int] = set()  # producer ids

    def see_data(self, header: BatchHeader) -> bool:
        """Note a data batch; True if it belongs to an aborted transaction."""
        self._begin_up_to(header.last_offset)
        if not header.is_transactional:
            return False
        self._has_batches.add(header.producer_id)
        transaction = self._aborted.get(header.producer_id)
        # No batch after its marker is part of it, even if the marker itself was removed.
        return transaction is not None and header.base_offset < transaction.last_offset

    def see_marker(self, header: BatchHeader, marker: EndMarker | None) -> bool:
        """Note a control batch; True if it is idle: nothing of its transaction is left.

        `marker` is None if the batch is empty, or is no transaction marker.
        """
        self._begin_up_to(header.last_offset)
        if marker is None:
            return header.records_count == 0
        is_idle = header.producer_id not in self._has_batches
        self._has_batches.discard(header.producer_id)
        if not marker.is_commit:
            self._aborted.pop(header.producer_id, None)
        return is_idle

    def aborted_by(self, header: BatchHeader) -> AbortedTransaction | None:
        """The aborted transaction that this marker ends; to be called before `see_marker`."""
        self._begin_up_to(header.last_offset)
        transaction = self._aborted.get(header.producer_id)
        ends_here = transaction is not None and transaction.last_offset == header.base_offset
        return transaction if ends_here else None

    def _begin_up_to(self, offset: int) -> None:
        while self._waiting and self._waiting[0][0] <= offset:
            _, transaction = heapq.heappop(self._waiting)
            self._aborted[transaction.producer_id] = transaction
