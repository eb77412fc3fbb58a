"""What goes to tasks with their ranges, and what tasks do for the process they run in."""

from __future__ import annotations

import gc
import pickle

import pytest
from pyspark import TaskContext

from ottla.base.ids import TopicPartition
from ottla.client.cluster.topology import Leader, Topology
from ottla.config.addresses import Address
from ottla.spark import process_model
from ottla.spark.planning.range_splitting import TaskRange
from ottla.spark.planning.read_tasks import KnownLeaders, TaskRanges
from ottla.spark.process_model import freeze_imported_modules

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
ID = b"\1" * 16


def topology() -> Topology:
    known = Topology()
    known.brokers = {1: Address("one", 9092), 2: Address("two", 9092), 3: Address("three", 9092)}
    known.leaders = {A0: Leader(1, 7), A1: Leader(-1, 3), B0: Leader(2, 0)}
    return known


def test_a_task_has_the_leaders_of_its_partitions() -> None:
    ranges = [TaskRange(A0, 0, 1, ID), TaskRange(A1, 0, 1, ID)]
    task = pickle.loads(pickle.dumps(TaskRanges(ranges, KnownLeaders.of(topology(), ranges))))
    assert task.ranges == tuple(ranges)
    there = Topology()
    task.leaders.apply_to(there)
    assert there.leaders == {A0: Leader(1, 7)}
    assert there.brokers == {1: Address("one", 9092)}


def test_a_task_with_a_rack_knows_where_all_brokers_are() -> None:
    ranges = [TaskRange(A0, 0, 1, ID)]
    found = KnownLeaders.of(topology(), ranges, with_all_brokers=True)
    assert found.leaders == {A0: Leader(1, 7)}
    assert found.brokers == topology().brokers


def test_without_a_topic_id_leaders_are_asked_for() -> None:
    assert KnownLeaders.of(topology(), [TaskRange(B0, 0, 1)]) == KnownLeaders()


def test_modules_are_set_apart_in_tasks_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_model, "_is_frozen", False)
    before = gc.get_freeze_count()
    freeze_imported_modules()
    assert gc.get_freeze_count() == before
    monkeypatch.setattr(TaskContext, "get", lambda: object())
    try:
        freeze_imported_modules()
        assert gc.get_freeze_count() > before
    finally:
        gc.unfreeze()
