"""The target of a large group is planned, divided and written while its members come and go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from tests.unit.coordinators.groups.harness import GROUP, ConsumerClient, Harness

from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.steps import Steps
from ottla.coordinators.groups import target_assignment
from ottla.coordinators.groups.consumer import targets
from ottla.coordinators.groups.consumer.member import LEAVING_EPOCH, STATIC_LEAVING_EPOCH

T = TypeVar("T")
MEMBERS = 5
PARTITIONS = 11
PAUSES = 14  # more than one assignment has


class Interrupted(StepScheduler):
    """Something happens at one of the pauses; threads do nothing else."""

    def __init__(self, harness: Harness, at: int, event: Callable[[], object]) -> None:
        super().__init__(harness.clock)
        self._left = at
        self._event = event

    async def run_later(self, steps: Steps[T]) -> T:
        while True:
            try:
                next(steps)
            except StopIteration as end:
                result: T = end.value
                return result
            self._pause()

    async def in_thread(self, job: Callable[[], T]) -> T:  # type: ignore[override]
        result = job()
        self._pause()
        return result

    def _pause(self) -> None:
        if self._left == 0:
            self._event()
        self._left -= 1


class LargeGroup:
    """Static members, of which the last has just joined: the target is due."""

    def __init__(self) -> None:
        self.harness = Harness("group.consumer.assignment.interval.ms=0")
        self.topic_id = self.harness.create_topic("t", PARTITIONS)
        self.members = [self._joined(f"static-{at}") for at in range(MEMBERS - 1)]
        self.assign()
        self.members.append(self._joined("last"))

    def _joined(self, instance_id: str) -> ConsumerClient:
        client = ConsumerClient(self.harness, instance_id=instance_id)
        client.beat()
        return client

    def assign(self, at: int = -1, event: Callable[[], object] = lambda: None) -> None:
        harness = self.harness
        work = target_assignment.assign_target(
            harness.loaded, GROUP, harness.runtime, Interrupted(harness, at, event)
        )
        with pytest.raises(StopIteration):
            work.send(None)

    def assign_all(self) -> None:
        group = self.harness.consumers()
        while group.target_epoch < group.epoch:
            self.assign()

    # What may happen meanwhile

    def restart_member(self, number: int) -> None:
        """Its client comes back under another member id, and the group's epoch stays."""
        old = self.members[number]
        old.leave(STATIC_LEAVING_EPOCH)
        assert old.instance_id is not None
        self.members[number] = self._joined(old.instance_id)

    def remove_member(self, number: int) -> None:
        self.members.pop(number).leave(LEAVING_EPOCH)

    def add_member(self, number: int) -> None:
        self.members.insert(number, self._joined("new"))


@pytest.mark.parametrize("number", [0, MEMBERS - 1])
@pytest.mark.parametrize(
    "event", [LargeGroup.restart_member, LargeGroup.remove_member, LargeGroup.add_member]
)
def test_in_the_end_every_partition_has_one_member_whatever_happens_meanwhile(
    event: Callable[[LargeGroup, int], None], number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(targets, "MEMBERS_AT_ONCE", 0)
    monkeypatch.setattr(target_assignment, "TARGETS_MAX", 2)
    for at in range(PAUSES):
        large = LargeGroup()
        large.assign(at, lambda large=large: event(large, number))  # type: ignore[misc]
        large.assign_all()
        group: Any
        for group in (large.harness.consumers(), large.harness.replayed().groups[GROUP]):
            assert group.members.keys() == {each.member_id for each in large.members}
            assert group.target.keys() == group.members.keys(), at
            given = [index for each in group.target.values() for index in each[large.topic_id]]
            assert sorted(given) == list(range(PARTITIONS)), at
        while large.members:
            large.remove_member(0)
        large.harness.delete_group()
        assert GROUP not in large.harness.replayed().groups, at
