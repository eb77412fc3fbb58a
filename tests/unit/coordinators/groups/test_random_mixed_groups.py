"""One group of classic and of new members at random: it turns from one kind to the other and back.

In every history, also with restarts between any two steps, the log contains the state in memory, no
partition of a consumer group is read by two members, committed offsets stay, and once no member
changes everything is read.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from tests.unit.coordinators.groups.harness import (
    ClassicClient,
    ConsumerClient,
    Harness,
    ReplyBox,
    code_of,
)
from tests.unit.coordinators.groups.test_conversion import assigned, subscription

from ottla.coordinators.groups.classic.group import ClassicGroup
from ottla.coordinators.groups.consumer.group import ConsumerGroup
from ottla.coordinators.groups.embedded_protocol import encode_assignment
from ottla.coordinators.groups.shard import GroupShard
from ottla.protocol.error_codes import ErrorCode

STEPS = 70
PARTITIONS = 4
GROUP = "readers"
TRY_AGAIN = {
    ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
}


def known_of(shard: GroupShard) -> dict[str, Any]:
    """All that must survive a restart."""
    return {
        "classic": {n: g.stored for n, g in shard.groups.items() if isinstance(g, ClassicGroup)},
        "consumer": {
            name: {**vars(group), "_owns_sets": True}
            for name, group in shard.groups.items()
            if isinstance(group, ConsumerGroup)
        },
        "committed": shard.offsets.committed,
    }


class Old:
    """A classic client that does the next step of its protocol, in whatever group it finds."""

    def __init__(self, harness: Harness, name: str, instance_id: str | None) -> None:
        self.harness, self.name, self.instance_id = harness, name, instance_id
        self.crash()

    def crash(self) -> None:
        self.client = ClassicClient(self.harness, self.name, self.instance_id)
        self.reply: ReplyBox | None = None
        self.phase = "outside"
        self.owned: set[int] = set()

    def step(self) -> None:
        if self.reply is not None and self.reply.is_waiting:
            return
        getattr(self, self.phase)()

    def send(self, phase: str, act: Any) -> None:
        def sent() -> ErrorCode:
            self.reply = act()
            return ErrorCode.NONE

        self.phase = phase
        if (code := code_of(sent)) != ErrorCode.NONE:
            self.refused(code)

    def outside(self) -> None:
        self.client.protocols = {"range": subscription(sorted(self.owned))}
        self.send("joining", self.client.send_join)

    def joining(self) -> None:
        assert self.reply is not None
        if self.reply.code == ErrorCode.MEMBER_ID_REQUIRED:
            self.client.member_id = self.reply.response.member_id
            self.outside()
        elif self.reply.code == ErrorCode.NONE:
            answer = self.client.joined(self.reply)
            members = [each.member_id for each in answer.members]
            parts = {
                each: encode_assignment({"t": range(at, PARTITIONS, len(members))}, 1)
                for at, each in enumerate(members)
            }
            self.send("syncing", lambda: self.client.sync(parts, protocol="range"))
        else:
            self.refused(self.reply.code)

    def syncing(self) -> None:
        assert self.reply is not None
        if self.reply.code != ErrorCode.NONE:
            self.refused(self.reply.code)
            return
        part = {at for _, at in assigned(self.client.synced(self.reply))}
        has_given_up = bool(self.owned - part)
        self.owned, self.phase = part, "working"
        if has_given_up:
            self.outside()  # and says so

    def working(self) -> None:
        code = self.client.heartbeat()
        if code == ErrorCode.REBALANCE_IN_PROGRESS:
            self.outside()
        elif code != ErrorCode.NONE:
            self.refused(code)

    def refused(self, code: ErrorCode) -> None:
        if code in TRY_AGAIN:
            self.phase, self.reply = "outside", None
        else:
            self.crash()

    def leave(self) -> None:
        code_of(self.client.leave)
        self.crash()

    @property
    def member_id(self) -> str:
        return self.client.member_id


class New:
    """A client of the new protocol."""

    def __init__(self, harness: Harness, name: str, instance_id: str | None) -> None:
        self.harness, self.name, self.instance_id = harness, name, instance_id
        self.crash()

    def crash(self) -> None:
        self.client = ConsumerClient(
            self.harness, self.name, instance_id=self.instance_id, rebalance_ms=20_000
        )

    def step(self) -> None:
        code = self.client.refusal()
        if code in (ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID):
            self.client.epoch, self.client.owned, self.client.wanted = 0, {}, None
        elif code != ErrorCode.NONE:
            self.crash()

    def leave(self) -> None:
        if self.client.epoch:

            def act() -> ErrorCode:
                self.client.leave(-2 if self.instance_id else -1)
                return ErrorCode.NONE

            code_of(act)
        self.crash()

    @property
    def owned(self) -> set[int]:
        return {at for owned in self.client.owned.values() for at in owned}

    @property
    def member_id(self) -> str:
        return self.client.member_id


class Crowd:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.harness = Harness()
        self.harness.create_topic("t", PARTITIONS)
        self.members: list[Old | New] = [
            Old(self.harness, "old", None),
            Old(self.harness, "old-static", "i0"),
            New(self.harness, "new", None),
            New(self.harness, "new-static", "i1"),
        ]
        self.committed = 0
        self.kinds: set[str] = set()

    def do(self) -> None:
        member = self.random.choice(self.members)
        what = self.random.choices(
            ["step", "round", "leave", "crash", "time", "restart", "refuse", "commit"],
            [10, 8, 2, 1, 5, 3, 1, 2],
        )[0]
        match what:
            case "step":
                member.step()
            case "round":
                self.round()
            case "leave":
                member.leave()
            case "crash":
                member.crash()
            case "time":
                self.harness.advance_ms(self.random.choice((500, 3000, 10_000, 46_000)))
            case "restart":
                self.harness.restart()
            case "refuse":
                self.harness.refusal = self.random.choice(
                    (None, ErrorCode.COORDINATOR_NOT_AVAILABLE)
                )
            case "commit":
                self.commit(member)
        self.check()

    def round(self) -> None:
        for each in self.members:
            each.step()

    def commit(self, member: Old | New) -> None:
        if self.harness.refusal is None and member.client.commit(
            {("t", 0): self.committed + 1}
        ) == (ErrorCode.NONE):
            self.committed += 1

    def check(self) -> None:
        assert known_of(self.harness.shard) == known_of(self.harness.replayed())
        found = self.harness.fetch("t", 0)
        assert found == (self.committed or -1)
        group = self.harness.shard.groups.get(GROUP)
        self.kinds.add(type(group).__name__)
        if isinstance(group, ConsumerGroup):
            readers: dict[int, str] = {}
            for each in self.members:
                if each.member_id in group.members:
                    for at in each.owned:
                        other = readers.setdefault(at, each.member_id)
                        assert other == each.member_id, "two members read one partition"

    def quiet(self) -> None:
        self.harness.refusal = None
        self.harness.advance_ms(60_000)
        for _ in range(60):
            self.round()
            self.check()
            self.harness.advance_ms(1000)
        group = self.harness.consumers()
        assert group.state_name == "Stable"
        assert group.members.keys() == {each.member_id for each in self.members}
        assert sorted(at for each in self.members for at in each.owned) == list(range(PARTITIONS))


@pytest.mark.parametrize("seed", range(12))
def test_classic_and_new_members_at_random(seed: int) -> None:
    crowd = Crowd(Random(seed))
    for _ in range(STEPS):
        crowd.do()
    crowd.quiet()


def test_random_operations_convert_groups_in_both_directions() -> None:
    """Else they would show nothing."""
    kinds = set()
    for seed in range(6):
        crowd = Crowd(Random(seed))
        for _ in range(STEPS):
            crowd.do()
        kinds |= crowd.kinds
    assert {"ClassicGroup", "ConsumerGroup"} <= kinds
