"""The fetch session of a follower with one leader's broker (KIP-227). Pure.

Owns      the positions from which partitions are fetched, and which of them the leader does not
          know yet: a request names only those. Requests have numbers: a response is for the
          positions of its request, and another one may have been sent since.
Promises  after a lost response or an error of the session, the next request names all partitions.
Leaves    sending to `leader_fetcher.py`, appending to `fetched_records.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.fetch_request import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from ottla.protocol.messages.fetch_response import FetchResponse

NO_SESSION = 0
FIRST_EPOCH = 0
EPOCH_MAX = 2**31 - 1


class PartitionKey(NamedTuple):
    topic_id: bytes
    partition: int


class ReplicaPosition(NamedTuple):
    """What a follower has of a partition."""

    offset: int
    leader_epoch: int
    last_fetched_epoch: int
    log_start_offset: int


class ReplicaFetchLimits(NamedTuple):
    partition_bytes_max: int
    bytes_max: int
    bytes_min: int
    wait_ms_max: int


class ReplicaSession:
    def __init__(self, broker_id: int, limits: ReplicaFetchLimits) -> None:
        self._broker_id = broker_id
        self._limits = limits
        self.next_number = 0  # of the next request
        self._positions: dict[PartitionKey, ReplicaPosition] = {}
        self._since: dict[PartitionKey, int] = {}  # the first request that has the position
        self._changed: dict[PartitionKey, None] = {}
        self._forgotten: dict[PartitionKey, None] = {}
        self._session_id = NO_SESSION
        self._epoch = FIRST_EPOCH

    def __len__(self) -> int:
        return len(self._positions)

    def __contains__(self, key: PartitionKey) -> bool:
        return key in self._positions

    @property
    def has_changes(self) -> bool:
        return bool(self._changed or self._forgotten)

    @property
    def is_open(self) -> bool:
        """Whether the leader knows the session: a request may follow before the last response."""
        return self._session_id != NO_SESSION

    def position(self, key: PartitionKey) -> ReplicaPosition | None:
        """The position from which it was last fetched."""
        return self._positions.get(key)

    def is_for_position(self, key: PartitionKey, number: int) -> bool:
        """Whether the request with this number has fetched from the present position."""
        since = self._since.get(key)
        return since is not None and since <= number

    def put(self, key: PartitionKey, position: ReplicaPosition) -> None:
        """Fetch the partition from here on."""
        self._positions[key] = position
        self._since[key] = self.next_number
        self._changed[key] = None
        self._forgotten.pop(key, None)

    def drop(self, key: PartitionKey) -> None:
        if self._positions.pop(key, None) is not None:
            del self._since[key]
            self._changed.pop(key, None)
            self._forgotten[key] = None

    def reset(self) -> None:
        """The next request opens a new session, with all partitions."""
        self._session_id, self._epoch = NO_SESSION, FIRST_EPOCH

    def next_request(self, broker_epoch: int) -> FetchRequest:
        is_full = not self.is_open
        named: Iterable[PartitionKey] = self._positions if is_full else self._changed
        forgotten: Iterable[PartitionKey] = () if is_full else self._forgotten
        limits = self._limits
        request = FetchRequest(
            replica_state=ReplicaState(self._broker_id, broker_epoch),
            max_wait_ms=limits.wait_ms_max,
            min_bytes=limits.bytes_min,
            max_bytes=limits.bytes_max,
            session_id=self._session_id,
            session_epoch=self._epoch,
            topics=self._topics(named),
            forgotten_topics_data=_forgotten_topics(forgotten),
        )
        self._changed, self._forgotten = {}, {}
        self.next_number += 1
        if not is_full:
            self._epoch = 1 if self._epoch == EPOCH_MAX else self._epoch + 1
        return request

    def accept(self, response: FetchResponse) -> bool:
        """Note the session of a response. False if it was refused: the next request names all."""
        if response.error_code != ErrorCode.NONE:
            self.reset()
            return False
        if response.session_id != self._session_id:
            self._session_id, self._epoch = response.session_id, 1
            if not response.session_id:
                self.reset()
        return True

    def _topics(self, named: Iterable[PartitionKey]) -> list[FetchTopic]:
        topics: dict[bytes, list[FetchPartition]] = {}
        bytes_max = self._limits.partition_bytes_max
        for key in named:
            offset, leader_epoch, last_fetched_epoch, log_start_offset = self._positions[key]
            topics.setdefault(key.topic_id, []).append(
                FetchPartition(
                    key.partition,
                    leader_epoch,
                    offset,
                    last_fetched_epoch,
                    log_start_offset,
                    bytes_max,
                )
            )
        return [FetchTopic("", topic_id, parts) for topic_id, parts in topics.items()]


def _forgotten_topics(keys: Iterable[PartitionKey]) -> list[ForgottenTopic]:
    topics: dict[bytes, list[int]] = {}
    for topic_id, index in keys:
        topics.setdefault(topic_id, []).append(index)
    return [ForgottenTopic("", topic_id, indexes) for topic_id, indexes in topics.items()]
