"""Reading ranges of offsets, as record batches in the buffers they were received into.

    for fetched in fetch_range(cluster, TopicPartition("orders", 0), 100, 20_000):
        tables = read_arrow(fetched.data, from_offset=fetched.start_offset,
                            end_offset=fetched.end_offset, is_wanted=fetched.is_wanted)

Promises  every batch of the range once and in order, despite leader changes, broker restarts and
          lost connections; LogTruncated if a new leader lacks records of the old one. The next
          responses arrive while the caller decodes; at most `ANSWERS_AHEAD` + 2 responses of
          `fetch.max.bytes` per broker are in memory. Without progress, GaveUp is raised after
          `default.api.timeout.ms`.
Leaves    the requests to `fetch_session.py`, the sockets to `fetch_stream.py`, which errors are
          retriable to `fetch_errors.py`, how long a reader stays with a replica to
          `read_position.py`.
Threads   one reads (the cluster's); each broker has an internal thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from ottla.base.ids import NO_LEADER_EPOCH, TopicPartition
from ottla.base.uuids import ZERO_UUID
from ottla.client.admin.list_offsets import isolation_number
from ottla.client.cluster.cluster import Cluster
from ottla.client.cluster.retries import Reaction, Retries, reaction_to
from ottla.client.errors import ClientError, ConnectionLost, MalformedAnswer, Unreachable
from ottla.client.fetching.bounded_queue import BoundedQueue
from ottla.client.fetching.fetch_errors import check_topic, classify_error, is_empty_to_end
from ottla.client.fetching.fetch_session import FetchLimits
from ottla.client.fetching.fetch_stream import Delivery, FetchStream
from ottla.client.fetching.fetched_records import FetchedRecords
from ottla.client.fetching.read_position import FetchSource, ReadPosition
from ottla.client.fetching.response_content import FetchProblem, ResponseContent
from ottla.client.fetching.truncation import check_histories
from ottla.client.settings import ClientSettings

__all__ = ["FetchedRecords", "Fetcher", "PartitionRange", "fetch_range", "fetch_ranges"]

ANSWERS_AHEAD = 1  # responses that wait for the caller; one more waits for room, one is sent
WAIT_S = 1.0


@dataclass(frozen=True)
class PartitionRange:
    """Offsets from `start_offset` up to `end_offset` (not included; None: without an end). With a
    topic id, another topic of the same name is detected before the first request. `end_epoch` is
    the epoch of the leader that returned the end: later leaders must have the records before
    it."""

    partition: TopicPartition
    start_offset: int
    end_offset: int | None = None
    topic_id: bytes = ZERO_UUID
    end_epoch: int = NO_LEADER_EPOCH

    @property
    def position(self) -> ReadPosition:
        return ReadPosition(
            self.partition,
            self.topic_id,
            self.start_offset,
            self.end_offset,
            end_epoch=self.end_epoch,
        )


def fetch_range(
    cluster: Cluster,
    partition: TopicPartition,
    start_offset: int,
    end_offset: int | None = None,
    *,
    topic_id: bytes = ZERO_UUID,
    isolation_level: str | None = None,
) -> Iterator[FetchedRecords]:
    """One range. Sizes are those of the cluster's settings (`max.partition.fetch.bytes`)."""
    wanted = PartitionRange(partition, start_offset, end_offset, topic_id)
    with Fetcher(cluster, [wanted], isolation_level=isolation_level) as fetcher:
        yield from fetcher


def fetch_ranges(
    cluster: Cluster, ranges: Iterable[PartitionRange], *, isolation_level: str | None = None
) -> Iterator[FetchedRecords]:
    """Several ranges at once, in order within a partition."""
    with Fetcher(cluster, ranges, isolation_level=isolation_level) as fetcher:
        yield from fetcher


class Fetcher:
    """Iterate over it once; close it, or use it in a `with` block. Ranges without an end are read
    until it is closed: `poll` returns None when there are no new records."""

    def __init__(
        self,
        cluster: Cluster,
        ranges: Iterable[PartitionRange],
        *,
        isolation_level: str | None = None,
    ) -> None:
        self._cluster = cluster
        self._limits = limits_of(cluster.settings, isolation_level)
        self._unassigned = [
            each.position
            for each in ranges
            if each.end_offset is None or each.start_offset < each.end_offset
        ]
        for each in self._unassigned:
            if each.end_epoch != NO_LEADER_EPOCH and any(each.topic_id):
                cluster.topology.demand_epoch(each.partition, each.end_epoch)
        self._end_offsets = {each.partition: each.end_offset for each in self._unassigned}
        self._streams: dict[FetchSource, FetchStream] = {}
        self._deliveries: BoundedQueue[Delivery] = BoundedQueue(ANSWERS_AHEAD)
        self._ready: list[FetchedRecords] = []  # the next one last
        self._retries = Retries(_described(self._unassigned), cluster.settings)
        self._has_progress = True
        self._last: ClientError | str = "no answer came"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        self._deliveries.close()
        for stream in self._streams.values():
            stream.stop()
        for stream in self._streams.values():
            stream.join()
        self._streams.clear()
        self._ready.clear()

    def __iter__(self) -> Iterator[FetchedRecords]:
        while not self.is_done:
            fetched = self.poll(WAIT_S)
            if fetched is not None:
                yield fetched
                del fetched  # so that its buffer is free for another response

    @property
    def is_done(self) -> bool:
        return not self._ready and not self._end_offsets

    def poll(self, timeout_s: float) -> FetchedRecords | None:
        """The next records; None if none came in time, or all ranges are read."""
        if not self._ready and self._end_offsets:
            if self._has_progress:  # the time that the caller took does not count
                self._retries.renew()
            self._has_progress = False
            self._step(timeout_s)
        return self._ready.pop() if self._ready else None

    # One step

    def _step(self, timeout_s: float) -> None:
        if self._unassigned:
            self._assign()
        delivery = self._deliveries.get(timeout_s)
        if delivery is None:
            self._leave_silent_brokers()
            self._check_deadline()
            return
        self._take(delivery.content)
        if delivery.error is not None:
            self._handle_loss(delivery.error, delivery.returned)
        self._unassigned.extend(delivery.returned)
        if not self._has_progress:
            self._check_deadline()

    def _take(self, content: ResponseContent) -> None:
        self._ready = content.records[::-1]
        self._has_progress = bool(content.records or content.done)
        if self._has_progress:
            self._retries.note_success()
        self._last = content.waiting or self._last
        for position in content.done:
            del self._end_offsets[position.partition]
        for position in content.gaps:
            self._end_or_retry(position)
        for position in content.moved:
            self._move(position)
        if content.problems:
            self._handle(content.problems)

    def _end_or_retry(self, gap: ReadPosition) -> None:
        if is_empty_to_end(self._cluster, gap):
            del self._end_offsets[gap.partition]
            self._has_progress = True
        else:
            self._unassigned.append(gap)

    def _check_deadline(self) -> None:
        """Ranges without an end may wait for new records for any time."""
        if self._unassigned or any(end is not None for end in self._end_offsets.values()):
            self._retries.check(self._last)
        else:
            self._has_progress = True

    def _move(self, position: ReadPosition) -> None:
        settings = self._cluster.settings
        position.move(self._retries.now_s, settings.metadata_max_age_ms / 1000)
        if position.is_at_follower and position.replica not in self._cluster.topology.brokers:
            self._cluster.read_metadata([position.partition.topic], self._retries)
        self._unassigned.append(position)

    def _assign(self) -> None:
        """Give every position to the broker that it is read from."""
        partitions = [each.partition for each in self._unassigned]
        problem = self._cluster.find_leaders(partitions, self._retries)
        for position in self._unassigned:
            check_topic(self._cluster, position)
        check_histories(self._cluster, self._unassigned)
        waiting, shares = [], dict[FetchSource, list[ReadPosition]]()
        for position in self._unassigned:
            leader = self._cluster.leader_of(position.partition)
            if leader is None or position.must_check(leader.epoch):  # it has just changed
                waiting.append(position)
            else:
                position.led_by(leader.epoch)
                source = position.source(leader, self._cluster.settings.client_rack)
                shares.setdefault(source, []).append(position)
        self._unassigned = waiting
        for source, positions in shares.items():
            self._give(source, positions)
        if self._unassigned:
            self._last = problem or self._last
            self._retries.pause(self._last)

    def _give(self, source: FetchSource, positions: list[ReadPosition]) -> None:
        stream = self._streams.get(source)
        if stream is not None:
            positions = [each for each in positions if not stream.add(each)]
        if not positions:
            return
        try:
            connect = self._cluster.connector(source.broker_id)
        except Unreachable as error:
            self._handle_loss(error, positions)
            self._unassigned.extend(positions)
            return
        stream = FetchStream(
            source.broker_id, connect, self._limits, self._deliveries, positions, source.rack
        )
        self._streams[source] = stream
        stream.start()

    # Silent brokers

    def _leave_silent_brokers(self) -> None:
        """A broker that is paused or partitioned keeps its connections, while other brokers may
        lead its partitions. A follower is left in any case."""
        for stream in self._streams.values():
            if not stream.is_silent(self._retries.now_s):
                continue
            positions = stream.positions
            self._cluster.avoid(stream.broker_id)
            names = sorted({each.partition.topic for each in positions})
            self._cluster.read_metadata(names, self._retries)
            if any(map(self._is_elsewhere, positions)):
                stream.give_up()

    def _is_elsewhere(self, position: ReadPosition) -> bool:
        leader = self._cluster.leader_of(position.partition)
        is_led = leader is not None and leader.epoch > position.leader_epoch
        return is_led or position.is_at_follower

    def _handle(self, problems: list[FetchProblem]) -> None:
        is_pause_due = False
        for position, code, leader, endpoints in problems:
            self._unassigned.append(position)
            has_hint = self._cluster.topology.note_hint(position.partition, leader, endpoints)
            was_at_follower = position.leave_follower(self._retries.now_s)
            if has_hint:
                continue
            if not was_at_follower:
                self._last = classify_error(self._cluster, position, code)
                is_pause_due = True
            if reaction_to(code) is not Reaction.RETRY:
                self._cluster.forget_leaders([position.partition])
        if is_pause_due and not self._ready:
            self._retries.pause(self._last)

    def _handle_loss(self, error: Exception, returned: list[ReadPosition]) -> None:
        if isinstance(error, MalformedAnswer) or not isinstance(
            error, ConnectionLost | Unreachable
        ):
            raise error
        self._last = error
        now_s = self._retries.now_s
        at_leader = [each.partition for each in returned if not each.leave_follower(now_s)]
        self._cluster.forget_leaders(at_leader)
        if at_leader and not self._ready:
            self._retries.pause(error)


def limits_of(settings: ClientSettings, isolation_level: str | None) -> FetchLimits:
    return FetchLimits(
        settings.fetch_max_bytes,
        settings.max_partition_fetch_bytes,
        settings.fetch_max_wait_ms,
        settings.fetch_min_bytes,
        isolation_number(isolation_level or settings.isolation_level),
    )


def _described(positions: list[ReadPosition]) -> str:
    names = [f"{each.partition} from offset {each.offset}" for each in positions[:3]]
    more = len(positions) - len(names)
    return "Fetch of " + ", ".join(names) + (f" and {more} more" if more else "")
