"""Members of groups that send exactly what a test asks for, to any broker.

Every step is one request in one version over a connection of the member's own, so that a join can
wait while others continue.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tests.compatibility.clients.transactions_harness import settled
from tests.support.raw_client import RawClient
from tests.support.waiting import pause

from ottla.coordinators.groups.embedded_protocol import decode_assignment, encode_assignment
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.consumer_group_heartbeat_request import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from ottla.protocol.messages.consumer_group_heartbeat_response import (
    ConsumerGroupHeartbeatResponse,
)
from ottla.protocol.messages.consumer_protocol_subscription import (
    ConsumerProtocolSubscription,
    TopicPartition,
)
from ottla.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from ottla.protocol.messages.heartbeat_request import HeartbeatRequest
from ottla.protocol.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.protocol.messages.join_group_response import JoinGroupResponse
from ottla.protocol.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from ottla.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.protocol.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from ottla.protocol.messages.sync_group_request import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)
from ottla.protocol.messages.sync_group_response import SyncGroupResponse

PARTITIONS = 4
SESSION_MS = 60_000
REBALANCE_MS = 120_000
PATIENCE_S = 120.0
numbers = count()


@dataclass
class GroupsHarness:
    """One broker, and names that are unique there."""

    bootstrap: str
    opened: list[RawClient] = field(default_factory=list)

    def __post_init__(self) -> None:
        number = f"{next(numbers)}-{time.time_ns()}"
        self.topic, self.group = f"topic-{number}", f"group-{number}"
        self.client = self.connect()
        self.topic_id = self.client.create_topic(self.topic, PARTITIONS)
        self.find_coordinator(self.group)
        settled(lambda: self.commit({0: 0}, group=f"probe-{number}"))
        self._wait_known(f"probe-{number}")

    def _wait_known(self, probe: str) -> None:
        """Until the coordinator knows the topic: a group gets all of it."""
        group, self.group = self.group, probe
        member = self.consumer()
        settle(member, sizes=[PARTITIONS])
        member.leave()
        self.group = group

    def connect(self, client_id: str = "raw") -> RawClient:
        client = RawClient(self.bootstrap, client_id)
        self.opened.append(client)
        return client

    def close(self) -> None:
        for client in self.opened:
            client.close()

    def find_coordinator(self, group: str) -> None:
        request = FindCoordinatorRequest(group, 0)
        settled(lambda: self.client.ask(request, 2), lambda answer: ErrorCode(answer.error_code))

    def classic(self, name: str = "raw", **fields: Any) -> ClassicMember:
        return ClassicMember(self, self.connect(name), **fields)

    def consumer(self, name: str = "raw", **fields: Any) -> ConsumerMember:
        return ConsumerMember(self, self.connect(name), **fields)

    # Offsets

    def commit(
        self,
        offsets: Mapping[int, int],
        *,
        group: str | None = None,
        epoch: int = -1,
        member_id: str = "",
        instance_id: str | None = None,
        metadata: str | None = "",
        topic: str | None = None,
        topic_id: bytes | None = None,
        version: int = 9,
    ) -> ErrorCode:
        """The code of all partitions, which must be one."""
        partitions = [
            OffsetCommitRequestPartition(index, offset, -1, metadata)
            for index, offset in offsets.items()
        ]
        named = OffsetCommitRequestTopic(
            "" if version >= 10 else topic or self.topic,
            (topic_id or self.topic_id) if version >= 10 else bytes(16),
            partitions,
        )
        request = OffsetCommitRequest(
            self.group if group is None else group, epoch, member_id, topics=[named]
        )
        if version >= 7:
            request.group_instance_id = instance_id
        answer = self.client.ask(request, version)
        [code] = {each.error_code for each in answer.topics[0].partitions}
        return ErrorCode(code)

    def fetch(
        self,
        partitions: Sequence[int] | None = (0,),
        *,
        group: str | None = None,
        version: int = 9,
        member_id: str | None = None,
        epoch: int = -1,
    ) -> dict[int, int] | ErrorCode:
        """Committed offsets by partition; null partitions are all."""
        name = self.group if group is None else group
        if version >= 8:
            answer = self.client.ask(
                self._several(name, partitions, version, member_id, epoch), version
            )
            found = answer.groups[0]
        else:
            topics = (
                None if partitions is None else [OffsetFetchRequestTopic(self.topic, partitions)]
            )
            found = self.client.ask(OffsetFetchRequest(name, topics), version)
        if version >= 2 and found.error_code:
            return ErrorCode(found.error_code)
        return {
            each.partition_index: each.committed_offset if not each.error_code else -each.error_code
            for topic in found.topics
            for each in topic.partitions
        }

    def _several(
        self,
        group: str,
        partitions: Sequence[int] | None,
        version: int,
        member_id: str | None,
        epoch: int,
    ) -> OffsetFetchRequest:
        by_id = version >= 10
        wanted = OffsetFetchRequestTopics(
            "" if by_id else self.topic, self.topic_id if by_id else bytes(16), partitions or ()
        )
        topics = None if partitions is None else [wanted]
        each = OffsetFetchRequestGroup(group, topics=topics)
        if version >= 9:
            each.member_id, each.member_epoch = member_id, epoch
        return OffsetFetchRequest(groups=[each])


def until(ask: Callable[[], ErrorCode], wanted: ErrorCode) -> None:
    """What others have sent takes effect in its own time."""
    began_s = time.monotonic()
    while (code := ask()) != wanted:
        assert time.monotonic() - began_s < PATIENCE_S, code.name
        pause(began_s)


def subscription(topic: str, owned: Iterable[int] = ()) -> bytes:
    partitions = [TopicPartition(topic, sorted(owned))] if owned else []
    return ConsumerProtocolSubscription([topic], None, partitions).encode_prefixed(1)


@dataclass
class ClassicMember:
    harness: GroupsHarness
    client: RawClient
    instance_id: str | None = None
    protocols: Mapping[str, bytes] | None = None
    protocol_type: str = "consumer"
    session_ms: int = SESSION_MS
    rebalance_ms: int = REBALANCE_MS
    version: int = 9  # of JoinGroup
    member_id: str = ""
    generation: int = -1
    leader: str = ""
    protocol: str = "range"
    owned: frozenset[int] = frozenset()
    _joining: JoinGroupRequest | None = None
    _syncing: SyncGroupRequest | None = None

    def send_join(self) -> None:
        offered = self.protocols
        if offered is None:
            offered = {"range": subscription(self.harness.topic, self.owned)}
        request = JoinGroupRequest(
            self.harness.group,
            self.session_ms,
            self.rebalance_ms if self.version >= 1 else -1,
            self.member_id,
            self.instance_id if self.version >= 5 else None,
            self.protocol_type,
            [JoinGroupRequestProtocol(*each) for each in offered.items()],
        )
        self._joining = request
        self.client.send(request, self.version)

    def receive_join(self) -> JoinGroupResponse:
        assert self._joining is not None
        answer = self.client.receive(self._joining, self.version)
        assert isinstance(answer, JoinGroupResponse)
        if answer.error_code == ErrorCode.NONE:
            self.member_id, self.generation = answer.member_id, answer.generation_id
            self.leader, self.protocol = answer.leader, answer.protocol_name or ""
        return answer

    def ask_join(self) -> JoinGroupResponse:
        """One JoinGroup and its answer."""
        self.send_join()
        return self.receive_join()

    def begin_join(self) -> None:
        """Send JoinGroup with a member id, of which there may have to be one first."""
        if self.version >= 4 and not self.member_id and self.instance_id is None:
            answer = self.ask_join()
            assert answer.error_code == ErrorCode.MEMBER_ID_REQUIRED, answer
            self.member_id = answer.member_id
        self.send_join()

    def join(self) -> JoinGroupResponse:
        self.begin_join()
        return self.receive_join()

    def send_sync(self, parts: Mapping[str, Iterable[int]] | None = None, version: int = 5) -> None:
        assignments = [
            SyncGroupRequestAssignment(member_id, encode_assignment({self.harness.topic: each}, 1))
            for member_id, each in (parts or {}).items()
        ]
        request = SyncGroupRequest(
            self.harness.group, self.generation, self.member_id, assignments=assignments
        )
        if version >= 3:
            request.group_instance_id = self.instance_id
        if version >= 5:
            request.protocol_type, request.protocol_name = self.protocol_type, self.protocol
        self._syncing = request
        self.client.send(request, version)

    def receive_sync(self, version: int = 5) -> SyncGroupResponse:
        assert self._syncing is not None
        answer = self.client.receive(self._syncing, version)
        assert isinstance(answer, SyncGroupResponse)
        if answer.error_code == ErrorCode.NONE and answer.assignment:
            topics = decode_assignment(answer.assignment).assigned_partitions
            self.owned = frozenset(at for each in topics for at in each.partitions)
        return answer

    def sync(
        self, parts: Mapping[str, Iterable[int]] | None = None, version: int = 5
    ) -> SyncGroupResponse:
        self.send_sync(parts, version)
        return self.receive_sync(version)

    def heartbeat(self, version: int = 4) -> ErrorCode:
        request = HeartbeatRequest(self.harness.group, self.generation, self.member_id)
        if version >= 3:
            request.group_instance_id = self.instance_id
        return ErrorCode(self.client.ask(request, version).error_code)

    def leave(self, version: int = 5) -> ErrorCode:
        if version < 3:
            request = LeaveGroupRequest(self.harness.group, self.member_id)
            return ErrorCode(self.client.ask(request, version).error_code)
        identity = MemberIdentity(self.member_id, self.instance_id)
        answer = self.client.ask(LeaveGroupRequest(self.harness.group, members=[identity]), version)
        return ErrorCode(answer.error_code or answer.members[0].error_code)

    def commit(self, offsets: Mapping[int, int], version: int = 9) -> ErrorCode:
        return self.harness.commit(
            offsets,
            epoch=self.generation,
            member_id=self.member_id,
            instance_id=self.instance_id,
            version=version,
        )


def rebalance(*members: ClassicMember) -> None:
    """All join and sync; the leader gives each an equal part in the order given here.

    A new group does not wait for more members: its members join again with each that comes.
    """
    for at, new in enumerate(members):
        new.begin_join()
        for member in members[:at]:
            until(member.heartbeat, ErrorCode.REBALANCE_IN_PROGRESS)
            member.begin_join()
        for member in members[: at + 1]:
            answer = member.receive_join()
            assert answer.error_code == ErrorCode.NONE, answer
        sync(members[: at + 1])


def sync(members: Sequence[ClassicMember]) -> None:
    share = PARTITIONS // len(members)
    parts = {
        member.member_id: range(at * share, at * share + share) for at, member in enumerate(members)
    }
    for member in members:
        member.send_sync(parts if member.leader == member.member_id else None)
    for member in members:
        assert member.receive_sync().error_code == ErrorCode.NONE


@dataclass
class ConsumerMember:
    harness: GroupsHarness
    client: RawClient
    topics: Sequence[str] | None = None
    regex: str | None = None
    instance_id: str | None = None
    assignor: str | None = None
    rebalance_ms: int = REBALANCE_MS
    version: int = 1
    member_id: str = ""
    epoch: int = 0
    owned: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        if not self.member_id:
            self.member_id = f"member-{next(numbers)}"
        if self.topics is None and self.regex is None:
            self.topics = [self.harness.topic]

    def ask(self, *, is_full: bool = False) -> ConsumerGroupHeartbeatResponse:
        """One heartbeat, without taking anything over from the answer."""
        is_full |= self.epoch == 0
        has_nothing = self.epoch == 0 or not self.owned
        owned = [] if has_nothing else [TopicPartitions(self.harness.topic_id, sorted(self.owned))]
        request = ConsumerGroupHeartbeatRequest(
            self.harness.group,
            self.member_id,
            self.epoch,
            self.instance_id,
            None,
            self.rebalance_ms if is_full else -1,
            self.topics if is_full else None,
            (self.regex if is_full else None) if self.version >= 1 else None,
            self.assignor if is_full else None,
            owned,
        )
        answer = self.client.ask(request, self.version)
        assert isinstance(answer, ConsumerGroupHeartbeatResponse)
        return answer

    def beat(self, *, is_full: bool = False) -> ErrorCode:
        """One heartbeat; what the answer says is done at once."""
        answer = self.ask(is_full=is_full)
        if answer.error_code == ErrorCode.NONE:
            self.member_id, self.epoch = answer.member_id or "", answer.member_epoch
            if answer.assignment is not None:
                reported = answer.assignment.topic_partitions
                self.owned = frozenset(at for each in reported for at in each.partitions)
        return ErrorCode(answer.error_code)

    def leave(self, epoch: int = -1) -> ErrorCode:
        request = ConsumerGroupHeartbeatRequest(
            self.harness.group, self.member_id, epoch, self.instance_id
        )
        return ErrorCode(self.client.ask(request, self.version).error_code)

    def commit(self, offsets: Mapping[int, int], epoch: int | None = None) -> ErrorCode:
        used = self.epoch if epoch is None else epoch
        return self.harness.commit(offsets, epoch=used, member_id=self.member_id)


def settle(*members: ConsumerMember, sizes: Sequence[int]) -> None:
    """Heartbeats of all, until their numbers of partitions are `sizes`, in any order."""
    give_up_s = time.monotonic() + PATIENCE_S
    while sorted(len(member.owned) for member in members) != sorted(sizes):
        assert time.monotonic() < give_up_s, [sorted(member.owned) for member in members]
        for member in members:
            code = member.beat()
            assert code == ErrorCode.NONE, code.name
        time.sleep(0.1)
