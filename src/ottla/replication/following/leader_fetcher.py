"""Copies partitions from one leader's broker, over one connection and with one fetch session.

Owns      the partitions that follow this leader, their delays after errors, and the requests in
          flight.
Promises  a partition that begins to follow is fetched at once, although the leader holds back the
          fetch of the others. Records count only if they were requested from where the log ends,
          and in the leader epoch of now: the log may have been truncated since a request was sent.
          An error of one partition delays that partition alone.
Leaves    the request to `replica_session.py`, the records to `fetched_records.py`, which partitions
          follow which broker to `leader_fetchers.py`.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ottla.base.log_messages.sparse_log import SparseLog
from ottla.base.scheduling.steps import Driver, Steps
from ottla.network.channel.errors import ChannelError
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError, InvalidBatch
from ottla.protocol.message import Message
from ottla.protocol.messages.fetch_response import FetchResponse, PartitionData
from ottla.replication.following.fetched_records import locating, position_of, taking
from ottla.replication.following.log_restart import restart_log
from ottla.replication.following.lost_leaders import LostLeaders
from ottla.replication.following.replica_session import (
    PartitionKey,
    ReplicaFetchLimits,
    ReplicaPosition,
    ReplicaSession,
)
from ottla.replication.partition import Partition
from ottla.replication.replication_quota import ReplicationQuota
from ottla.storage.errors import CorruptLogError, StorageError
from ottla.storage.files.directory_health import OutOfResources

log = logging.getLogger(__name__)

Request = Callable[[Message], Awaitable[Any]]
RECONNECT_S = 0.02
RECONNECT_MAX_S = 0.5
SOON_S = 0.03
IN_FLIGHT_MAX = 2
ADMITTED_AT_ONCE = 200
# The leader, or this broker, has not seen the latest metadata yet.
SHORT_DELAY = (
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.UNKNOWN_LEADER_EPOCH,
    ErrorCode.UNKNOWN_TOPIC_ID,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.INCONSISTENT_TOPIC_ID,
)


@dataclass(slots=True, eq=False)
class Followed:
    partition: Partition
    leader_epoch: int
    is_behind: bool = True  # it lacks committed records, as far as is known
    first_request: int | None = None  # that has fetched it, in this epoch

    @property
    def is_current(self) -> bool:
        partition = self.partition
        return not partition.is_leader and partition.leader_epoch == self.leader_epoch


class RequestInFlight(NamedTuple):
    """A request in flight."""

    number: int
    response: asyncio.Future[FetchResponse]


class LeaderFetcher:
    def __init__(
        self,
        leader_id: int,
        broker_id: int,
        broker_epoch: Callable[[], int],
        request: Request,
        limits: ReplicaFetchLimits,
        backoff_s: float,
        quota: ReplicationQuota,
        driver: Driver,
        lost_leaders: LostLeaders,
    ) -> None:
        self.leader_id = leader_id
        self._lost_leaders = lost_leaders
        self._has_worked = False  # the connection
        self._broker_id = broker_id
        self._broker_epoch = broker_epoch
        self._request = request
        self._backoff_s = backoff_s
        self._quota = quota
        self._driver = driver
        self._session = ReplicaSession(broker_id, limits)
        self._followed: dict[PartitionKey, Followed] = {}
        self._new: dict[PartitionKey, Followed] = {}  # not in the session yet
        self._in_flight: deque[RequestInFlight] = deque()
        self._wake = asyncio.Event()
        self._reconnect_s = RECONNECT_S
        self._failures = SparseLog(log, logging.WARNING)
        self._storage_failures = SparseLog(log, logging.ERROR)

    def __len__(self) -> int:
        return len(self._followed)

    # Which partitions

    def follow(self, partition: Partition) -> None:
        """Fetch the partition from now on, or again in a new leader epoch."""
        key = key_of(partition)
        followed = Followed(partition, partition.leader_epoch)
        self._followed[key] = self._new[key] = followed
        self._wake.set()

    def unfollow(self, partition: Partition) -> None:
        key = key_of(partition)
        known = self._followed.get(key)
        if known is not None and known.partition is partition:
            del self._followed[key]
            self._new.pop(key, None)
            self._session.drop(key)

    def _delay(self, key: PartitionKey, followed: Followed, delay_s: float) -> None:
        self._session.drop(key)
        asyncio.get_running_loop().call_later(delay_s, self._resume, key, followed)

    def _resume(self, key: PartitionKey, followed: Followed) -> None:
        if self._followed.get(key) is followed:
            self._new[key] = followed
            self._wake.set()

    # Fetching

    async def run(self) -> None:
        """Until cancelled. A bug must not end the copying of all other partitions without a log
        message."""
        while True:
            try:
                await self._fetch()
            except Exception:
                log.exception("copying from broker %d has failed, and begins again", self.leader_id)
                await asyncio.sleep(self._backoff_s)
                self._begin_again()
            finally:
                for each in self._in_flight:
                    each.response.cancel()

    async def _fetch(self) -> None:
        while True:
            await self._admit()
            self._send()
            await self._wake.wait()
            self._wake.clear()
            while self._in_flight and self._in_flight[0].response.done():
                await self._receive(self._in_flight.popleft())

    def _begin_again(self) -> None:
        self._in_flight.clear()
        self._session.reset()
        self._new.update(self._followed)

    async def _admit(self) -> None:
        """Put new partitions into the session: some, so that the others are fetched meanwhile."""
        for _ in range(min(ADMITTED_AT_ONCE, len(self._new))):
            key, followed = self._new.popitem()
            if self._is_held_back(followed):
                self._delay(key, followed, self._quota.wait_ms / 1000)
                continue
            try:
                position = await self._driver.run(locating(followed.partition))
            except (StorageError, BrokerError) as error:
                self._fail_here(key, followed, error)
                continue
            if self._followed.get(key) is not followed or not followed.is_current:
                continue
            if followed.partition.needs_sync(position.offset):  # of what another leader has sent
                self._wait_for_sync(key, followed)
            else:
                self._put(key, followed, position)
        if self._new:
            self._wake.set()

    def _put(self, key: PartitionKey, followed: Followed, position: ReplicaPosition) -> None:
        if followed.first_request is None:
            followed.first_request = self._session.next_number
        self._session.put(key, position)

    def _wait_for_sync(self, key: PartitionKey, followed: Followed) -> None:
        def done(error: Exception | None) -> None:
            if error is None:
                self._resume(key, followed)
            else:
                self._fail_here(key, followed, error)

        followed.partition.when_replica_synced(done)

    def _is_held_back(self, followed: Followed) -> bool:
        """A replica that catches up waits if its throttle requires it: others are fetched."""
        return followed.is_behind and self._quota.holds_back(followed.partition)

    def _send(self) -> None:
        """Send another request, unless one for the same is in flight."""
        if not self._session:
            return
        if self._in_flight and not (
            self._session.has_changes
            and self._session.is_open
            and len(self._in_flight) < IN_FLIGHT_MAX
        ):
            return
        number = self._session.next_number
        request = self._session.next_request(self._broker_epoch())
        future = asyncio.ensure_future(self._request(request))
        self._in_flight.append(RequestInFlight(number, future))
        future.add_done_callback(self._note_done)

    def _note_done(self, _future: asyncio.Future[FetchResponse]) -> None:
        self._wake.set()

    async def _receive(self, sent: RequestInFlight) -> None:
        self._wake.set()  # whatever it is, another request follows
        try:
            response = sent.response.result()
        except ChannelError as error:
            await self._reconnect(error)
            return
        self._reconnect_s = RECONNECT_S
        if not self._has_worked:
            self._has_worked = True
            self._lost_leaders.found([self.leader_id])
        if not self._session.accept(response):
            code = ErrorCode(response.error_code)
            if code not in SESSION_ERRORS:
                log.warning("broker %d refuses to be fetched from: %s", self.leader_id, code.name)
                await asyncio.sleep(self._backoff_s)
            return
        await self._apply(response, sent.number)

    async def _reconnect(self, error: ChannelError) -> None:
        """The broker has ended, or cannot be reached: the metadata will name other leaders."""
        if self._has_worked:
            self._has_worked = False
            self._lost_leaders.lost(self.leader_id)
        for each in self._in_flight:
            each.response.cancel()
        self._in_flight.clear()
        self._session.reset()
        now_s = asyncio.get_running_loop().time()
        self._failures.write(now_s, "nothing can be fetched from %s", error)
        await asyncio.sleep(self._reconnect_s)
        self._reconnect_s = min(2 * self._reconnect_s, RECONNECT_MAX_S)

    # Responses

    async def _apply(self, response: FetchResponse, number: int) -> None:
        out_of_range: list[tuple[PartitionKey, Followed]] = []
        unsynced: list[asyncio.Future[None]] = []
        await self._driver.run(self._applying(response, number, out_of_range, unsynced))
        if unsynced:
            await asyncio.wait(unsynced)
        for key, followed in out_of_range:
            await self._restart(key, followed)

    def _applying(
        self,
        response: FetchResponse,
        number: int,
        out_of_range: list[tuple[PartitionKey, Followed]],
        unsynced: list[asyncio.Future[None]],
    ) -> Steps[None]:
        for topic in response.responses:
            topic_id = bytes(topic.topic_id)
            for answer in topic.partitions:
                key = PartitionKey(topic_id, answer.partition_index)
                followed = self._followed.get(key)
                if followed is None or not followed.is_current or key not in self._session:
                    continue  # it follows another leader by now
                if not self._session.is_for_position(key, number):
                    self._take_offsets(followed, answer, number)
                    continue
                code = ErrorCode(answer.error_code)
                if code == ErrorCode.NONE:
                    yield from self._taking(key, followed, answer, unsynced)
                elif code == ErrorCode.OFFSET_OUT_OF_RANGE:
                    out_of_range.append((key, followed))
                else:
                    self._fail(key, followed, code)

    def _take_offsets(self, followed: Followed, answer: PartitionData, number: int) -> None:
        """The answer was requested from another position than that of now, which another request
        has: its records are there already, or are of a log that was truncated since. The offsets
        are not sent again."""
        is_of_epoch = followed.first_request is not None and followed.first_request <= number
        if is_of_epoch and not answer.error_code and answer.diverging_epoch is None:
            partition = followed.partition
            partition.follow_leader(answer.high_watermark, answer.log_start_offset, 0)

    def _taking(
        self,
        key: PartitionKey,
        followed: Followed,
        answer: PartitionData,
        unsynced: list[asyncio.Future[None]],
    ) -> Steps[None]:
        def is_current() -> bool:
            return self._followed.get(key) is followed and followed.is_current

        try:
            taken = yield from taking(followed.partition, answer, is_current)
        except (StorageError, BrokerError, InvalidBatch) as error:
            if self._followed.get(key) is followed:
                self._fail_here(key, followed, error)
            return
        if taken is None:
            return
        partition, size = followed.partition, len(answer.records or b"")
        followed.is_behind = answer.high_watermark > partition.log.offsets.end
        self._quota.record(partition, size)
        position = position_of(partition)
        if self._is_held_back(followed):
            self._delay(key, followed, self._quota.wait_ms / 1000)
        elif taken.has_content or self._session.position(key) != position:
            self._put(key, followed, position)
        if taken.must_flush:  # last: if it fails, the partition leaves the session
            unsynced.append(self._synced(key, followed))

    def _synced(self, key: PartitionKey, followed: Followed) -> asyncio.Future[None]:
        """Done once all that was appended is on disk. The next fetch acknowledges it to the leader:
        if the sync fails, the partition is not fetched until another one has succeeded."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def done(error: Exception | None) -> None:
            if error is not None:
                self._fail_here(key, followed, error)
            if not future.done():
                future.set_result(None)

        followed.partition.when_replica_synced(done)
        return future

    def _fail_here(self, key: PartitionKey, followed: Followed, error: Exception) -> None:
        """This broker could not store what the leader has sent."""
        self._report(followed, error)
        self._delay(key, followed, self._backoff_s)
        if isinstance(error, OutOfResources):
            followed.partition.report_out_of_resources()
        elif isinstance(error, CorruptLogError):
            followed.partition.report_damage(error)

    def _fail(self, key: PartitionKey, followed: Followed, code: ErrorCode) -> None:
        if code in SHORT_DELAY:
            self._delay(key, followed, SOON_S)
            return
        self._report(followed, BrokerError(code, "the leader answered"))
        self._delay(key, followed, self._backoff_s)

    async def _restart(self, key: PartitionKey, followed: Followed) -> None:
        """The leader's log does not have the offset at which this one ends."""
        partition = followed.partition
        try:
            await restart_log(partition, self._broker_id, self._request, self._driver)
        except (ChannelError, BrokerError, StorageError) as error:
            self._fail_here(key, followed, error)
            return
        if self._followed.get(key) is followed and followed.is_current:
            self._put(key, followed, position_of(partition))

    def _report(self, followed: Followed, error: Exception) -> None:
        now_s = asyncio.get_running_loop().time()
        name = followed.partition.name
        self._storage_failures.write(
            now_s, "%s cannot follow broker %d: %s", name, self.leader_id, error
        )


SESSION_ERRORS = (
    ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
    ErrorCode.INVALID_FETCH_SESSION_EPOCH,
    ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
)


def key_of(partition: Partition) -> PartitionKey:
    return PartitionKey(partition.topic_id, partition.name.partition)
