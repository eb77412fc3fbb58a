"""Transactions that are being verified with their coordinator before their first append (KIP-890).

A leader appends the first records of a transaction only after the coordinator confirmed that this
partition takes part in it. Meanwhile a marker may arrive, and even the next transaction begin; so
each verification gets a guard, a number never used twice, that the append must show.

Owns      the guards, and the lowest sequence seen while waiting: a batch that overtook a lower
          one in the verification must not be written first.
Leaves    asking the coordinator to the broker.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

NO_GUARD = 0
PENDING_MAX = 10_000  # in one partition: a producer need not exist to be verified


@dataclass(slots=True)
class PendingVerification:
    guard: int
    started_ms: int
    lowest_sequence: int
    epoch: int
    supports_epoch_bump: bool  # the client bumps its epoch with every transaction (version 2)


class Verifications:
    __slots__ = ("_by_producer", "_guards")

    def __init__(self) -> None:
        self._by_producer: dict[int, PendingVerification] = {}
        self._guards = count(1)

    def __len__(self) -> int:
        return len(self._by_producer)

    def get(self, producer_id: int) -> PendingVerification | None:
        return self._by_producer.get(producer_id)

    def start(
        self, producer_id: int, sequence: int, epoch: int, supports_epoch_bump: bool, now_ms: int
    ) -> int:
        """Begin a verification or join the one in progress; the guard for the append."""
        current = self._by_producer.get(producer_id)
        if current is None:
            if len(self._by_producer) >= PENDING_MAX:
                del self._by_producer[next(iter(self._by_producer))]  # its append will be refused
            guard = next(self._guards)
            self._by_producer[producer_id] = PendingVerification(
                guard, now_ms, sequence, epoch, supports_epoch_bump
            )
            return guard
        if epoch == current.epoch:
            current.lowest_sequence = min(current.lowest_sequence, sequence)
        elif epoch > current.epoch:
            current.epoch, current.lowest_sequence = epoch, sequence
        return current.guard

    def end(self, producer_id: int) -> None:
        """Records or a marker of the transaction are in the log: there is no more to verify."""
        self._by_producer.pop(producer_id, None)

    def marker_written(self, producer_id: int, epoch: int) -> None:
        """A marker ends a verification, except that of the transaction after it.

        Markers of version 2 have the epoch of the producer's next transaction, which may already
        be under verification.
        """
        current = self._by_producer.get(producer_id)
        if current is None or (current.supports_epoch_bump and current.epoch == epoch):
            return
        del self._by_producer[producer_id]

    def expire(self, now_ms: int, expiration_ms: int) -> None:
        old = [
            producer_id
            for producer_id, verification in self._by_producer.items()
            if now_ms - verification.started_ms >= expiration_ms
        ]
        for producer_id in old:
            del self._by_producer[producer_id]
