"""Whatever reads a damaged log reports its replica, so that another one can lead."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.unit.handlers.asking import START_MS, produce
from tests.unit.handlers.test_list_offsets import ask
from tests.unit.handlers.world import World

from ottla.base.scheduling.steps import Steps
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.describe_producers_request import (
    DescribeProducersRequest,
    TopicRequest,
)
from ottla.replication.partition import Partition
from ottla.storage.errors import CorruptLogError
from ottla.storage.log.log import Log
from ottla.storage.log.log_producers import LogProducers

DAMAGE = CorruptLogError("t-0/00000000000000000000.log", 7, "no batch")


def producing(world: World) -> int:
    return produce(world, "t", 1).error_code


def searching(world: World) -> int:
    return ask(world, START_MS).error_code


def describing_producers(world: World) -> int:
    request = DescribeProducersRequest([TopicRequest("t", [0])])
    (answer,) = world.ask(request, 0).topics[0].partitions
    return int(answer.error_code)


def fail(*_args: object) -> None:
    raise DAMAGE


def fail_in_steps(*_args: object) -> Steps[None]:
    yield 0
    raise DAMAGE


@pytest.mark.parametrize(
    ("owner", "method", "failing", "request_"),
    [
        (Log, "append_as_leader", fail, producing),
        (Log, "finding_by_timestamp", fail_in_steps, searching),
        (LogProducers, "load", fail, describing_producers),
    ],
    ids=["Produce", "ListOffsets", "DescribeProducers"],
)
def test_a_request_that_finds_damage_reports_it(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    owner: type,
    method: str,
    failing: Callable[..., object],
    request_: Callable[[World], int],
) -> None:
    world.create_topic("t")
    produce(world, "t", 5)
    reported: list[tuple[Partition, Exception]] = []
    monkeypatch.setattr(
        Partition, "report_damage", lambda partition, error: reported.append((partition, error))
    )
    monkeypatch.setattr(owner, method, failing)
    assert request_(world) == ErrorCode.KAFKA_STORAGE_ERROR
    assert reported == [(world.broker.replicas.partition("t", 0), DAMAGE)]
