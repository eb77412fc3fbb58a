"""The kinds of anomalies, and which of them a broker must never cause.

The names are those of Jepsen's workload for Kafka, so that results can be compared. Those from
`PHANTOM` on are checks of our own.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Anomaly(Enum):
    INCONSISTENT_OFFSETS = "inconsistent-offsets"  # one offset of a key has two values
    DUPLICATE = "duplicate"  # one value at two offsets; legal without idempotence
    LOST_WRITE = "lost-write"  # acknowledged, this offset or a higher one polled, the value never
    UNSEEN = "unseen"  # acknowledged, and not polled by the end
    ABORTED_READ = "G1a"  # a polled value whose writer is known to have failed
    PRECOMMITTED_READ = "precommitted-read"  # a transaction polls what it has sent itself
    READ_CYCLE = "G1c"  # transactions that polled each other's values, in a cycle
    INTERNAL_POLL_SKIP = "int-poll-skip"  # within one operation a value is left out
    INTERNAL_NONMONOTONIC_POLL = "int-nonmonotonic-poll"  # within one operation the order is wrong
    POLL_SKIP = "poll-skip"  # values are left out between two operations of one consumer
    NONMONOTONIC_POLL = "nonmonotonic-poll"  # the next operation starts at or before the last value
    NONMONOTONIC_SEND = "nonmonotonic-send"  # successive operations of one process in wrong order
    INTERNAL_NONMONOTONIC_SEND = "int-nonmonotonic-send"  # the same within one operation
    INTERNAL_SEND_SKIP = "int-send-skip"  # values of others between two sends of one transaction
    WRITE_CYCLE = "G0"  # transactions whose writes alternate
    PHANTOM = "phantom"  # a polled value that no client has sent
    HIGH_WATERMARK_BACK = "high-watermark-back"
    LAST_STABLE_OFFSET_BACK = "last-stable-offset-back"
    LEADER_EPOCH_BACK = "leader-epoch-back"
    COMMITTED_OFFSET_BACK = "committed-offset-back"
    GROUP_SKIP = "group-skip"  # a value that others have polled, but no member of a group
    COPY_DUPLICATE = "copy-duplicate"  # two committed copies of one record
    COPY_LOST = "copy-lost"  # no committed copy of a record
    COPY_ORDER = "copy-order"  # copies in another order than their records
    DIVERGED = "diverged"  # two replicas have different bytes below the high watermark

    @property
    def is_legal(self) -> bool:
        """Writes are not isolated from each other: neither in Kafka, nor here."""
        return self in (Anomaly.INTERNAL_SEND_SKIP, Anomaly.WRITE_CYCLE)


class Finding(NamedTuple):
    """One case of an anomaly, with what is needed to look it up in the history."""

    anomaly: Anomaly
    key: str
    text: str

    def __str__(self) -> str:
        return f"{self.anomaly.value} {self.key}: {self.text}"
