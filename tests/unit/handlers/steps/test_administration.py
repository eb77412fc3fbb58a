"""However much the broker holds, a iteration of the event loop does the work of a little of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.unit.handlers.steps.counting import LINE_S, CountedWorld, counted_world

from ottla.base.scheduling.step_scheduler import FIRST_SLICE_S, SLICE_S
from ottla.handlers.serving.registry import handler_of
from ottla.handlers.serving.served_apis import SERVED
from ottla.protocol.message import Message
from ottla.protocol.messages.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from ottla.protocol.messages.describe_client_quotas_request import DescribeClientQuotasRequest
from ottla.protocol.messages.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from ottla.protocol.messages.describe_log_dirs_request import DescribeLogDirsRequest
from ottla.protocol.messages.describe_topic_partitions_request import (
    DescribeTopicPartitionsRequest,
)
from ottla.protocol.messages.elect_leaders_request import ElectLeadersRequest
from ottla.protocol.messages.get_telemetry_subscriptions_request import (
    GetTelemetrySubscriptionsRequest,
)
from ottla.protocol.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.protocol.messages.list_config_resources_request import ListConfigResourcesRequest
from ottla.protocol.messages.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
)
from ottla.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic

PARTITIONS = 1000
TOPICS = 200
QUOTAS = 500
SUBSCRIPTIONS = 300
# A slice, and what is done between two yields or does not grow with what the broker holds: the
# settings of one topic take five thousand lines to describe, a partition that is made, or the files
# of eight that go, nearly as many on the disk of the tests.
LINES_MAX = int((FIRST_SLICE_S + SLICE_S) / LINE_S) + 6000
CHECKPOINT_LINES = 10  # for each log


def config_change(kind: int, name: str, setting: str, value: str) -> AlterConfigsResource:
    return AlterConfigsResource(kind, name, [AlterableConfig(setting, 0, value)])


def quota(client_id: str, rate: float) -> EntryData:
    ops = [OpData("producer_byte_rate", rate, False)]
    return EntryData([EntityData("client-id", client_id)], ops)


def fill(world: CountedWorld) -> None:
    topics = [CreatableTopic(f"small-{at}", 1, 1) for at in range(TOPICS)]
    topics.append(CreatableTopic("large", PARTITIONS, 1))
    world.ask(CreateTopicsRequest(topics, 30_000), 7)
    world.ask(AlterClientQuotasRequest([quota(f"c{at}", 1e6) for at in range(QUOTAS)]), 1)
    changes = [config_change(2, f"small-{at}", "retention.ms", "1") for at in range(TOPICS)]
    changes += [config_change(16, f"s{at}", "metrics", f"m{at}") for at in range(SUBSCRIPTIONS)]
    world.ask(IncrementalAlterConfigsRequest(changes), 1)


@pytest.fixture(scope="module")
def world() -> Iterator[CountedWorld]:
    with counted_world() as world:
        for key in SERVED:
            handler_of(key)  # else modules are loaded with the first request
        fill(world)
        yield world


@pytest.mark.parametrize(
    ("request_", "version"),
    [
        (MetadataRequest(None), 13),
        (MetadataRequest([MetadataRequestTopic(name="large")], False), 9),
        (DescribeTopicPartitionsRequest([], 2000), 0),
        (DescribeLogDirsRequest(None), 4),
        (DescribeClientQuotasRequest([], False), 1),
        (ListConfigResourcesRequest([]), 1),
        (ListPartitionReassignmentsRequest(1000, None), 0),
        (ElectLeadersRequest(0, None, 1000), 2),
        (DescribeConfigsRequest([DescribeConfigsResource(2, "large", None)], True, True), 4),
        (GetTelemetrySubscriptionsRequest(), 0),
        (AlterClientQuotasRequest([quota("c1", 5e5)]), 1),
        (IncrementalAlterConfigsRequest([config_change(2, "large", "retention.ms", "9")]), 1),
        (
            IncrementalAlterConfigsRequest([config_change(4, "", "log.retention.ms", "9")]),
            1,
        ),
        (
            IncrementalAlterConfigsRequest(
                [config_change(32, "g", "consumer.session.timeout.ms", "50000")]
            ),
            1,
        ),
        (CreateTopicsRequest([CreatableTopic("new", 1, 1)], 1000), 7),
        (CreateTopicsRequest([CreatableTopic("many", PARTITIONS, 1)], 1000), 7),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_a_turn_does_not_grow_with_what_the_broker_holds(
    world: CountedWorld, request_: Message, version: int
) -> None:
    """In this order: what is deleted last is described before."""
    assert world.steps_of(request_, version) <= LINES_MAX


@pytest.mark.parametrize(
    "names", [["large"], [f"small-{at}" for at in range(TOPICS)]], ids=["large", "many"]
)
def test_what_is_deleted_at_once_goes_in_slices(world: CountedWorld, names: list[str]) -> None:
    """But for the checkpoints of all logs, which are put together in one turn."""
    logs = len(world.broker.logs.logs)
    request = DeleteTopicsRequest([DeleteTopicState(name) for name in names])
    assert world.steps_of(request, 6) <= LINES_MAX + CHECKPOINT_LINES * logs
    assert not set(names) & set(world.broker.parts.metadata.topics)
