"""Members of a group that take turns: each continues where the last one has committed.

Promises  what the broker promises is checked here: a committed offset never goes back, although
          members pause for longer than their session and commit afterwards.
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

from tests.simulation.cluster.client import TOPIC, Client

from ottla.network.channel.errors import ChannelError
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.message import Message
from ottla.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from ottla.protocol.messages.heartbeat_request import HeartbeatRequest
from ottla.protocol.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.protocol.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from ottla.protocol.messages.sync_group_request import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)

GROUP = "g"
SESSION_MS = 2000
COMMIT_S = 0.1
PAUSE_SHARE = 0.02  # of commits
PAUSE_S = 4.0
WITH_NAMES = 9  # versions of OffsetCommit and OffsetFetch
OWNER = b"owner"


class Failed(Exception):
    """Ask again, or join again."""


class Progress:
    """What all members have received."""

    def __init__(self) -> None:
        self.committed = 0

    def found(self, offset: int) -> None:
        assert offset >= self.committed, f"{offset} is committed, and {self.committed} was before"


class GroupMember:
    def __init__(self, client: Client, progress: Progress, rng: Random) -> None:
        self._client = client
        self._progress = progress
        self._rng = rng
        self._member_id = ""
        self._generation = -1
        self._coordinator: int | None = None
        self.commits = 0

    async def run(self) -> None:
        while True:
            try:
                if await self._join():
                    await self._own()
                else:
                    await self._stand_by()
            except (Failed, ChannelError):
                self._coordinator = None
            await asyncio.sleep(COMMIT_S)

    async def _ask(self, request: Message) -> Any:
        if self._coordinator is None:
            found = await self._client.ask_any(FindCoordinatorRequest(coordinator_keys=[GROUP]))
            if found.coordinators[0].error_code:
                raise Failed
            self._coordinator = found.coordinators[0].node_id
        return await self._client.ask(self._coordinator, request, at_most=WITH_NAMES)

    def _require(self, code: int) -> None:
        if code == ErrorCode.UNKNOWN_MEMBER_ID:
            self._member_id = ""
        if code != ErrorCode.NONE:
            raise Failed

    # Taking turns

    async def _join(self) -> bool:
        """Whether it is this member's turn: the first one that joined has everything."""
        request: Message = JoinGroupRequest(
            GROUP, SESSION_MS, SESSION_MS, self._member_id, None, "consumer",
            [JoinGroupRequestProtocol("turns", b"")],
        )  # fmt: skip
        joined = await self._ask(request)
        self._member_id = joined.member_id or self._member_id
        self._require(joined.error_code)
        self._generation = joined.generation_id
        owners = [each.member_id for each in joined.members][:1]
        request = SyncGroupRequest(
            GROUP, self._generation, self._member_id, None, "consumer", "turns",
            [SyncGroupRequestAssignment(each, OWNER) for each in owners],
        )  # fmt: skip
        synced = await self._ask(request)
        self._require(synced.error_code)
        return bytes(synced.assignment) == OWNER

    async def _stand_by(self) -> None:
        while True:
            await self._heartbeat()
            await asyncio.sleep(5 * COMMIT_S)

    async def _heartbeat(self) -> None:
        response = await self._ask(HeartbeatRequest(GROUP, self._generation, self._member_id))
        self._require(response.error_code)

    async def _own(self) -> None:
        offset = await self._committed()
        while True:
            if self._rng.random() < PAUSE_SHARE:
                await asyncio.sleep(PAUSE_S)  # and does not know how long it was away
            offset += 1
            await self._commit(offset)
            await self._heartbeat()
            await asyncio.sleep(COMMIT_S)

    # Offsets

    async def _committed(self) -> int:
        topics = [OffsetFetchRequestTopics(TOPIC, partition_indexes=[0])]
        request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(GROUP, topics=topics)])
        group = (await self._ask(request)).groups[0]
        self._require(group.error_code)
        answer = group.topics[0].partitions[0]
        self._require(answer.error_code)
        offset = max(0, answer.committed_offset)
        self._progress.found(offset)
        return int(offset)

    async def _commit(self, offset: int) -> None:
        topic = OffsetCommitRequestTopic(
            TOPIC, partitions=[OffsetCommitRequestPartition(0, offset)]
        )
        request = OffsetCommitRequest(GROUP, self._generation, self._member_id, topics=[topic])
        response = await self._ask(request)
        self._require(response.topics[0].partitions[0].error_code)
        self.commits += 1
        self._progress.found(offset)
        self._progress.committed = offset
