"""Consumer groups with members that come, go, crash and miss answers, and topics that change.

Whatever happens: no partition is read by two members at a time, nobody commits for another, the log
tells the same as memory, and when all is quiet everything is read, evenly.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.coordinators.groups.harness import ConsumerClient, Harness, code_of, settle

from ottla.coordinators.groups.consumer.group import ConsumerGroup
from ottla.coordinators.groups.shard import GroupShard
from ottla.coordinators.groups.shared import GROUP_BYTES
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

MEMBERS = 4


def known_of(shard: GroupShard) -> dict[str, Any]:
    """All that must survive a restart."""
    groups = {
        group_id: {**vars(group), "_owns_sets": True}
        for group_id, group in shard.groups.items()
        if isinstance(group, ConsumerGroup)
    }
    usage = shard.shared.usage
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
        """The client at a place; it begins anew if it is not there."""
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
        """Clients that the coordinator takes for members: others know nothing of their end yet."""
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


places = st.integers(0, MEMBERS - 1)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("beat"), places),
        st.tuples(st.just("round"), st.just(0)),
        st.tuples(st.sampled_from(["lose", "leave", "crash"]), places),
        st.tuples(st.just("time"), st.sampled_from([500, 1_000, 5_000, 20_000, 46_000])),
        st.tuples(st.just("topics"), st.integers(1, 3)),
        st.tuples(st.just("restart"), st.just(0)),
        st.tuples(st.just("refuse"), st.integers(0, 1)),
    ),
    max_size=50,
)


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


def quiet(crowd: Crowd) -> None:
    """All clients work, nothing else happens: everything is read, and the group is at rest."""
    harness = crowd.harness
    harness.advance_ms(60_000)  # whoever crashed is forgotten
    for _ in range(30):
        for at in range(MEMBERS):
            crowd.beat(at)
            crowd.check()
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
