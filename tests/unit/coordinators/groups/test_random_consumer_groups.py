"""Consumer groups with members that come, go, crash and miss answers, and topics that change.

In every history no partition is read by two members at a time, no member commits for another, the
log contains the state in memory, and once no member changes all partitions are read, evenly.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from types import coroutine
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.coordinators.groups.harness import ConsumerClient, Harness, code_of, settle

from ottla.base.scheduling.steps import Steps
from ottla.coordinators.groups import target_assignment
from ottla.coordinators.groups.consumer import targets
from ottla.coordinators.groups.consumer.group import ConsumerGroup
from ottla.coordinators.groups.shard import GroupShard
from ottla.coordinators.groups.shard_context import GROUP_BYTES
from ottla.coordinators.groups.target_assignment import assign_target
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

MEMBERS = 4
T = TypeVar("T")


def known_of(shard: GroupShard) -> dict[str, Any]:
    """All that must survive a restart."""
    groups = {
        group_id: {**vars(group), "_owns_sets": True}
        for group_id, group in shard.groups.items()
        if isinstance(group, ConsumerGroup)
    }
    usage = shard.context.usage
    assert usage.member_bytes == sum(
        GROUP_BYTES + each.held_bytes for each in shard.groups.values()
    )
    return {"groups": groups, "committed": shard.offsets.committed, "offsets": usage.offsets}


class Crowd:
    def __init__(self) -> None:
        self.harness = Harness()
        self.harness.create_topic("t", 4)
        self.harness.create_topic("u", 3)
        self.clients: list[ConsumerClient | None] = [None] * MEMBERS

    def client(self, at: int) -> ConsumerClient:
        """The client at a place; it begins again if it is not there."""
        found = self.clients[at]
        if found is None:
            static = f"i{at}" if at == 0 else None
            pattern = ".*" if at == 1 else None
            topics = () if at == 1 else ("t", "u") if at == 2 else ("t",)
            found = ConsumerClient(
                self.harness, f"c{at}", topics, pattern, static, rebalance_ms=20_000
            )
            self.clients[at] = found
        return found

    def beat(self, at: int, *, is_lost: bool = False) -> None:
        client = self.client(at)
        client.take_over()
        epoch = client.epoch
        code = client.refusal()
        if code == ErrorCode.NONE and is_lost and epoch:
            client.epoch, client.wanted = epoch, None
        elif code in (ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID):
            client.epoch, client.owned, client.wanted = 0, {}, None  # it has given up everything
        elif code != ErrorCode.NONE and code != ErrorCode.COORDINATOR_NOT_AVAILABLE:
            self.clients[at] = None

    def leave(self, at: int) -> None:
        client = self.clients[at]
        if client is not None and client.epoch:

            def act() -> ErrorCode:
                client.leave(-2 if client.instance_id else -1)
                return ErrorCode.NONE

            code_of(act)
        self.clients[at] = None

    def do(self, what: str, value: int) -> None:
        match what:
            case "beat":
                self.beat(value)
            case "lose":
                self.beat(value, is_lost=True)
            case "round":
                for at in range(MEMBERS):
                    self.beat(at)
            case "leave":
                self.leave(value)
            case "crash":
                self.clients[value] = None
            case "time":
                self.harness.advance_ms(value)
            case "topics":
                self.change_topics(value)
            case "restart":
                self.harness.restart()
            case "refuse":
                self.harness.refusal = ErrorCode.COORDINATOR_NOT_AVAILABLE if value else None

    def change_topics(self, value: int) -> None:
        if self.harness.refusal is not None:
            return
        topic = self.harness.image.topic("u")
        if topic is None:
            self.harness.create_topic("u", value)
        elif value == 1:
            self.harness.delete_topic("u")
        else:
            self.harness.add_partitions("u", min(6, len(topic.partitions) + 1))

    # What must hold

    def alive(self) -> list[ConsumerClient]:
        """Clients that the coordinator regards as members: some may have crashed already."""
        group = self.harness.shard.groups.get("readers")
        known = group.members if isinstance(group, ConsumerGroup) else {}
        return [
            client for client in self.clients if client is not None and client.member_id in known
        ]

    def check(self) -> None:
        assert known_of(self.harness.shard) == known_of(self.harness.replayed())
        read: dict[tuple[bytes, int], str] = {}
        for client in self.alive():
            for topic_id, partitions in client.owned.items():
                for at in partitions:
                    other = read.setdefault((topic_id, at), client.member_id)
                    assert other == client.member_id, "two members read one partition"

    def check_commits(self) -> None:
        """Who does not hold a partition cannot commit in an epoch that is over."""
        group = self.harness.shard.groups.get("readers")
        if not isinstance(group, ConsumerGroup):
            return
        for client in self.clients:
            member = group.members.get(client.member_id) if client is not None else None
            for topic, at in client.partitions if client is not None else ():
                found = self.harness.image.topic(topic)
                holder = group.holder_of(found.id, at) if found is not None else None
                if client is not None and holder not in (None, client.member_id):
                    is_current = member is not None and member.epoch == client.epoch
                    assert is_current or client.commit({(topic, at): 1}) != ErrorCode.NONE


class SlowScheduler:
    """Work beside the event loop that continues by one slice at a time, when a test requests it."""

    async def run_later(self, steps: Steps[T]) -> T:
        while True:
            await one_slice()
            try:
                next(steps)
            except StopIteration as ended:
                result: T = ended.value
                return result

    async def in_thread(self, job: Callable[[], T]) -> T:
        await one_slice()
        return job()


@coroutine
def one_slice() -> Generator[None, None, None]:
    yield


class LargeCrowd(Crowd):
    """A group that counts as large: its targets are made beside everything else."""

    def __init__(self) -> None:
        super().__init__()
        self.work: list[Coroutine[None, None, None]] = []

    def do(self, what: str, value: int) -> None:
        if what == "assign":
            self.assign(value)
            return
        if what == "restart":
            self.stop_work()
        super().do(what, value)
        self.begin_work()

    def beat(self, at: int, *, is_lost: bool = False) -> None:
        super().beat(at, is_lost=is_lost)
        self.begin_work()

    def begin_work(self) -> None:
        context = self.harness.shard.context
        while context.unassigned:
            group_id = context.unassigned.pop()
            assert group_id not in context.assigning, "one task for each group"
            context.assigning.add(group_id)
            scheduler: Any = SlowScheduler()
            self.work.append(
                assign_target(self.harness.loaded, group_id, self.harness.runtime, scheduler)
            )

    def assign(self, slices: int) -> None:
        for _ in range(slices):
            for each in list(self.work):
                size = len(self.harness.log)
                try:
                    each.send(None)
                except StopIteration:
                    self.work.remove(each)
                if len(self.harness.log) != size:
                    self.check()
        if not self.work:
            assert not self.harness.shard.context.assigning

    def stop_work(self) -> None:
        for each in self.work:
            each.close()
        self.work.clear()


places = st.integers(0, MEMBERS - 1)
one_step = st.one_of(
    st.tuples(st.just("beat"), places),
    st.tuples(st.just("round"), st.just(0)),
    st.tuples(st.sampled_from(["lose", "leave", "crash"]), places),
    st.tuples(st.just("time"), st.sampled_from([500, 1_000, 5_000, 20_000, 46_000])),
    st.tuples(st.just("topics"), st.integers(1, 3)),
    st.tuples(st.just("restart"), st.just(0)),
    st.tuples(st.just("refuse"), st.integers(0, 1)),
)
steps = st.lists(one_step, max_size=50)
assign = st.tuples(st.just("assign"), st.integers(1, 12))


@settings(max_examples=40, deadline=None)
@given(steps)
def test_members_and_topics_at_random(history: list[tuple[str, int]]) -> None:
    crowd = Crowd()
    for what, value in history:
        crowd.do(what, value)
        crowd.check()
        crowd.check_commits()
    crowd.harness.refusal = None
    quiet(crowd)


@settings(max_examples=12, deadline=None)
@given(st.lists(one_step | assign, min_size=10, max_size=30))
def test_a_large_group_gets_its_targets_while_anything_happens(
    history: list[tuple[str, int]],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(targets, "MEMBERS_AT_ONCE", 0)
        patch.setattr(target_assignment, "TARGETS_MAX", 2)
        crowd = LargeCrowd()
        for what, value in history:
            crowd.do(what, value)
            crowd.check()
            crowd.check_commits()
        crowd.harness.refusal = None
        quiet(crowd)
        crowd.stop_work()


@pytest.mark.parametrize(
    ("name", "count"),
    [("MEMBERS_AT_ONCE", 2), ("TOPICS_AT_ONCE", 2), ("PARTITIONS_AT_ONCE", 7)],
)
@pytest.mark.parametrize("is_large", [True, False])
def test_beyond_each_limit_a_group_gets_its_target_beside_the_others(
    name: str, count: int, is_large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two members of two topics with seven partitions."""
    monkeypatch.setattr(targets, name, count - is_large)
    crowd = Crowd()
    for at in (2, 3, 2):
        crowd.client(at).topics = ("t", "u")
        crowd.beat(at)
        crowd.harness.advance_ms(5_000)  # between two targets
    assert bool(crowd.harness.shard.context.unassigned) is is_large
    assert (crowd.harness.consumers().target_epoch < crowd.harness.consumers().epoch) is is_large


def test_a_static_member_that_joins_a_large_group_waits_for_its_first_target() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(targets, "MEMBERS_AT_ONCE", 0)
        crowd = LargeCrowd()
        client = crowd.client(0)
        for _ in range(3):
            assert client.refusal() == ErrorCode.NONE
            assert client.epoch == 0, "there is no target yet"
        other = ConsumerClient(crowd.harness, "other", ("t",), None, client.instance_id)
        assert other.refusal() == ErrorCode.UNRELEASED_INSTANCE_ID
        crowd.begin_work()
        crowd.assign(100)
        assert client.refusal() == ErrorCode.NONE
        client.take_over()
        assert client.epoch == crowd.harness.consumers().epoch
        assert {at for each in client.owned.values() for at in each} == {0, 1, 2, 3}


def quiet(crowd: Crowd) -> None:
    """All clients work, nothing else happens: everything is read, and the group is stable."""
    harness = crowd.harness
    harness.advance_ms(60_000)  # the sessions of crashed members expire
    for _ in range(30):
        for at in range(MEMBERS):
            crowd.beat(at)
            crowd.check()
            if isinstance(crowd, LargeCrowd):
                crowd.assign(100)
        harness.advance_ms(1_000)
    clients = [crowd.client(at) for at in range(MEMBERS)]
    group = harness.consumers()
    assert group.state_name == "Stable"
    assert group.members.keys() == {client.member_id for client in clients}
    everything = {
        (topic.name, at)
        for topic in harness.image.topics.values()
        for at in range(len(topic.partitions))
    }
    assert set().union(*(client.partitions for client in clients)) == everything
    readers_of_t = [len(client.partitions) for client in (clients[0], clients[3])]
    assert abs(readers_of_t[0] - readers_of_t[1]) <= 1
    size = len(harness.log)
    settle(*clients, rounds=3)
    assert len(harness.log) == size


def test_a_crowd_that_nothing_happens_to_comes_to_rest() -> None:
    quiet(Crowd())


def test_refused_writes_change_nothing() -> None:
    crowd = Crowd()
    crowd.do("round", 0)
    before = known_of(crowd.harness.shard)
    crowd.do("refuse", 1)
    crowd.client(3).topics = ("u",)
    with pytest.raises(BrokerError) as refused:
        crowd.client(3).beat(is_full=True)
    assert refused.value.code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert known_of(crowd.harness.shard) == before
