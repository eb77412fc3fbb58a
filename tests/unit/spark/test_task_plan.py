"""What goes to tasks with their ranges, and what tasks do for the process they run in."""

from __future__ import annotations

import gc
import pickle

import pytest
from pyspark import TaskContext

from ottla.base.ids import TopicPartition
from ottla.client.settings import Address
from ottla.client.topology import Leader, Topology
from ottla.spark import worker_garbage
from ottla.spark.splitting import OffsetRange
from ottla.spark.task_plan import KnownLeaders, TaskRanges
from ottla.spark.worker_garbage import set_modules_apart

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
ID = b"\1" * 16


def topology() -> Topology:
    known = Topology()
    known.brokers = {1: Address("one", 9092), 2: Address("two", 9092), 3: Address("three", 9092)}
    known.leaders = {A0: Leader(1, 7), A1: Leader(-1, 3), B0: Leader(2, 0)}
    return known


def test_a_task_knows_the_leaders_of_its_own_partitions() -> None:
    ranges = [OffsetRange(A0, 0, 1, ID), OffsetRange(A1, 0, 1, ID)]
    task = pickle.loads(pickle.dumps(TaskRanges(ranges, KnownLeaders.of(topology(), ranges))))
    assert task.ranges == tuple(ranges)
    there = Topology()
    task.leaders.tell(there)
    assert there.leaders == {A0: Leader(1, 7)}
    assert there.brokers == {1: Address("one", 9092)}


def test_without_a_topic_id_leaders_are_asked_for() -> None:
    assert KnownLeaders.of(topology(), [OffsetRange(B0, 0, 1)]) == KnownLeaders()


def test_modules_are_set_apart_in_tasks_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_garbage, "_is_done", False)
    before = gc.get_freeze_count()
    set_modules_apart()
    assert gc.get_freeze_count() == before
    monkeypatch.setattr(TaskContext, "get", lambda: object())
    try:
        set_modules_apart()
        assert gc.get_freeze_count() > before
    finally:
        gc.unfreeze()
