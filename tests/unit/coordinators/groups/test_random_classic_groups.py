"""Classic groups with members that join, leave, crash and commit at random.

In every history no member receives the assignment of another generation or of another member,
every request is answered, committed offsets are kept, and the log contains the state in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.coordinators.groups.harness import ClassicClient, Harness, ReplyBox, code_of

from ottla.coordinators.groups.classic.group import ClassicGroup, ClassicGroupState
from ottla.coordinators.groups.classic.member import bytes_of
from ottla.coordinators.groups.shard import GroupShard
from ottla.coordinators.groups.shard_context import GROUP_BYTES, PENDING_BYTES
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.join_group_response import JoinGroupResponse

MEMBERS = 4
DELAY = "group.initial.rebalance.delay.ms=3000"


def stored_of(shard: GroupShard) -> dict[str, Any]:
    """All that must survive a restart."""
    groups = {
        group_id: group.stored
        for group_id, group in shard.groups.items()
        if isinstance(group, ClassicGroup)
    }
    usage = shard.context.usage
    assert usage.member_bytes == sum(
        GROUP_BYTES + each.held_bytes for each in shard.groups.values()
    )
    for group in shard.groups.values():
        assert isinstance(group, ClassicGroup)
        assert group.held_bytes == held_by(group)
    return {
        "offsets": usage.offsets,
        "groups": groups,
        "committed": shard.offsets.committed,
        "pending": {k: v for k, v in shard.offsets.pending.items() if v},
    }


def held_by(group: ClassicGroup) -> int:
    """About what its members, ids that were given away, and assignments take."""
    members = sum(bytes_of(each.member_id, each.protocols) for each in group.members.values())
    assigned = 0 if group.stored is None else sum(len(m.assignment) for m in group.stored.members)
    return members + assigned + len(group.membership.pending) * PENDING_BYTES


class Phase(Enum):
    OUTSIDE = "outside"
    JOINING = "joining"
    SYNCING = "syncing"
    WORKING = "working"


@dataclass
class Walker:
    """A client that does the next step of the protocol at each call."""

    harness: Harness
    name: str
    instance_id: str | None
    committed: dict[tuple[str, int], int]
    client: ClassicClient = field(init=False)
    phase: Phase = Phase.OUTSIDE
    replies: list[ReplyBox] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.crash()

    def crash(self) -> None:
        """Its state is lost, and nothing receives the responses that it waits for."""
        self.client = ClassicClient(self.harness, self.name, instance_id=self.instance_id)
        self.phase = Phase.OUTSIDE

    def leave(self) -> None:
        """Also with an id that it was given, and has not joined with yet."""
        last = self.replies[-1] if self.phase is Phase.JOINING else None
        if last is not None and not last.is_waiting:
            self.client.member_id = last.response.member_id or self.client.member_id
        code_of(self.client.leave)
        self.crash()

    def step(self) -> None:
        match self.phase:
            case Phase.OUTSIDE:
                self.send(Phase.JOINING, self.client.send_join)
            case Phase.WORKING:
                self.work()
            case _ if self.replies[-1].is_waiting:
                pass
            case Phase.JOINING:
                self.on_joined(self.replies[-1])
            case Phase.SYNCING:
                self.on_synced(self.replies[-1])

    def send(self, phase: Phase, request: Callable[[], ReplyBox]) -> None:
        def act() -> ErrorCode:
            self.replies.append(request())
            return ErrorCode.NONE

        self.phase = phase
        if code_of(act) != ErrorCode.NONE:
            self.crash()

    def on_joined(self, reply: ReplyBox) -> None:
        match reply.code:
            case ErrorCode.MEMBER_ID_REQUIRED:
                self.client.member_id = reply.response.member_id
                self.send(Phase.JOINING, self.client.send_join)
            case ErrorCode.REBALANCE_IN_PROGRESS:
                self.send(Phase.JOINING, self.client.send_join)
            case ErrorCode.NONE:
                parts = self.assign(self.client.joined(reply))
                self.send(Phase.SYNCING, lambda: self.client.sync(parts))
            case _:
                self.crash()

    def assign(self, answer: JoinGroupResponse) -> dict[str, bytes]:
        """As a leader: an assignment that names its member and generation."""
        if answer.leader != self.client.member_id or answer.skip_assignment:
            return {}
        members = (each.member_id for each in answer.members)
        return {each: f"{answer.generation_id}/{each}".encode() for each in members}

    def on_synced(self, reply: ReplyBox) -> None:
        match reply.code:
            case ErrorCode.NONE:
                self.check_part(self.client.synced(reply))
                self.phase = Phase.WORKING
            case ErrorCode.REBALANCE_IN_PROGRESS:
                self.phase = Phase.OUTSIDE
            case _:
                self.crash()

    def check_part(self, part: bytes) -> None:
        generation, _, member_id = part.decode().partition("/")
        if part:
            assert int(generation) == self.client.generation
            # A static member keeps the part that it was given under an earlier id.
            assert member_id.startswith(self.instance_id or self.client.member_id)

    def work(self) -> None:
        match self.client.heartbeat():
            case ErrorCode.NONE:
                self.commit()
            case ErrorCode.REBALANCE_IN_PROGRESS:
                self.phase = Phase.OUTSIDE
            case _:
                self.crash()

    def commit(self) -> None:
        where = ("t", 0)
        offset = self.committed.get(where, 0) + 1
        if self.client.commit({where: offset}) == ErrorCode.NONE:
            self.committed[where] = offset


steps = st.lists(
    st.one_of(
        st.tuples(st.just("step"), st.integers(0, MEMBERS - 1)),
        st.tuples(st.just("round"), st.just(0)),
        st.tuples(st.sampled_from(["leave", "crash"]), st.integers(0, MEMBERS - 1)),
        st.tuples(st.just("time"), st.sampled_from([100, 3_000, 10_000, 60_000])),
        st.tuples(st.sampled_from(["restart", "refuse", "accept"]), st.just(0)),
    ),
    max_size=60,
)


@settings(max_examples=150, deadline=None)
@given(steps)
def test_members_at_random(history: list[tuple[str, int]]) -> None:
    harness = Harness(DELAY)
    harness.create_topic("t")
    committed: dict[tuple[str, int], int] = {}
    walkers = [
        Walker(harness, f"m{at}", f"m{at}" if at % 2 else None, committed) for at in range(MEMBERS)
    ]
    for what, value in history:
        match what:
            case "step":
                walkers[value].step()
            case "round":
                for walker in walkers:
                    walker.step()
            case "leave":
                walkers[value].leave()
            case "crash":
                walkers[value].crash()
            case "time":
                harness.advance_ms(value)
            case "restart":
                harness.restart()
            case "refuse":
                harness.refusal = ErrorCode.COORDINATOR_NOT_AVAILABLE
            case "accept":
                harness.refusal = None
        assert stored_of(harness.shard) == stored_of(harness.replayed())
        for where, offset in committed.items():
            assert harness.fetch(*where) == offset
    harness.refusal = None
    harness.advance_ms(3_600_000)
    replies = [reply for walker in walkers for reply in walker.replies]
    assert not any(reply.is_waiting for reply in replies)
    for group in harness.shard.groups.values():
        assert isinstance(group, ClassicGroup)
        assert group.state is ClassicGroupState.EMPTY
        assert group.membership.joining == 0
        assert not group.membership.pending
        assert all(count == 0 for count in group.membership._supported.values())
    assert len(harness.shard.context.timers) == 0


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, MEMBERS - 1), max_size=4))
def test_members_that_stay_end_in_one_stable_generation(lost: list[int]) -> None:
    harness = Harness(DELAY)
    harness.create_topic("t")
    walkers = [Walker(harness, f"m{at}", None, {}) for at in range(MEMBERS)]
    for at in lost:
        walkers[at].step()
        walkers[at].crash()
    for _ in range(40):
        for walker in walkers:
            walker.step()
        harness.advance_ms(2_500)
    group = harness.classic()
    assert group.state is ClassicGroupState.STABLE
    assert {walker.client.generation for walker in walkers} == {group.generation}
    assert {walker.client.member_id for walker in walkers} == set(group.members)
