"""Every admin request of the script is answered as Apache Kafka 4.3.1 answered it.

The answers were recorded once (`record_kafka_answers.py`). Where ours differ on purpose, it is said
here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.support.apache_kafka import PROPERTIES
from tests.unit.controller.admin_script import BROKER, GROUP, METRICS, TOPIC, Step, script
from tests.unit.controller.answers import Plain, plain
from tests.unit.controller.clusters import Cluster

from ottla.base.scheduling.steps import run_blocking
from ottla.config.describe import (
    ConfigEntry,
    GroupDescriptions,
    TopicDescriptions,
    describe_all_brokers,
    describe_broker,
    describe_client_metrics,
)
from ottla.controller.alter_configs import decide_alter_configs, decide_incremental_alter_configs
from ottla.controller.alter_quotas import decide_alter_client_quotas
from ottla.controller.brokers import decide_unregister_broker
from ottla.controller.create_partitions import decide_create_partitions
from ottla.controller.create_topics import decide_create_topics
from ottla.controller.delete_topics import decide_delete_topics
from ottla.controller.elect_leaders import decide_elect_leaders
from ottla.controller.reassignment import (
    decide_alter_partition_reassignments,
    list_partition_reassignments,
)
from ottla.controller.update_features import decide_update_features
from ottla.metadata.quota_filter import describe_client_quotas
from ottla.metadata.records import ConfigResource, ResourceType
from ottla.protocol.errors import BrokerError
from ottla.protocol.message import Message
from ottla.protocol.messages.describe_configs_request import DescribeConfigsRequest
from ottla.protocol.messages.describe_configs_response import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from ottla.protocol.messages.unregister_broker_response import UnregisterBrokerResponse

ANSWERS: dict[str, Plain] = json.loads((Path(__file__).parent / "kafka_answers.json").read_text())
OUR_OWN = ("ottla.", "zookeeper.")
# Settings that differ between the two nodes, and differences that come from defaults.
OTHER_DEFAULTS = {
    "log.dirs",
    "listeners",
    "listener.security.protocol.map",  # fixed while we run
    "node.id",  # Kafka has no default
    "log.dir",
    "max.connections",
    "queued.max.request.bytes",
    "socket.receive.buffer.bytes",  # these two: left to the system
    "socket.send.buffer.bytes",
    "group.coordinator.rebalance.protocols",
    "transaction.state.log.replication.factor",  # these four: of one embedded broker
    "transaction.state.log.min.isr",
    "offsets.topic.replication.factor",
    "group.initial.rebalance.delay.ms",
}


def properties() -> bytes:
    """Those of the node that was recorded, as far as a broker knows them."""
    listeners = {"listeners": "PLAINTEXT://:9092"}
    return "".join(f"{n}={v}\n" for n, v in {**PROPERTIES, **listeners}.items()).encode()


def decisions(cluster: Cluster, step: Step) -> Any:
    state, request, version = cluster.state, step.request, step.version
    deciders: Mapping[str, Callable[[Any], Any]] = {
        "CreateTopicsRequest": lambda r: decide_create_topics(state, r),
        "CreatePartitionsRequest": lambda r: decide_create_partitions(state, r),
        "DeleteTopicsRequest": lambda r: decide_delete_topics(state, r, version),
        "IncrementalAlterConfigsRequest": lambda r: decide_incremental_alter_configs(state, r, 1),
        "AlterConfigsRequest": lambda r: decide_alter_configs(state, r, 1),
        "AlterClientQuotasRequest": lambda r: decide_alter_client_quotas(state, r),
        "UpdateFeaturesRequest": lambda r: decide_update_features(state, r, version),
        "ElectLeadersRequest": lambda r: decide_elect_leaders(state, r),
        "AlterPartitionReassignmentsRequest": lambda r: decide_alter_partition_reassignments(
            state, r
        ),
    }
    decide = deciders.get(type(request).__name__)
    return None if decide is None else decide(request)


def answer(cluster: Cluster, step: Step) -> Message:
    request: Any = step.request
    decision = decisions(cluster, step)
    if decision is not None:
        answered: Message = cluster.carry_out(decision)
        assert getattr(answered, "throttle_time_ms", 0) == 0, "that is for the handler to say"
        return answered
    match type(request).__name__:
        case "ListPartitionReassignmentsRequest":
            return run_blocking(list_partition_reassignments(cluster.image, request))
        case "DescribeClientQuotasRequest":
            return run_blocking(describe_client_quotas(cluster.image, request))
        case "DescribeConfigsRequest":
            return described(cluster, request)
    try:
        cluster.carry_out(decide_unregister_broker(cluster.state, request.broker_id))
    except BrokerError as error:
        return UnregisterBrokerResponse(0, error.code, error.message)
    raise AssertionError(f"no answer to {request}")


def described(cluster: Cluster, request: DescribeConfigsRequest) -> DescribeConfigsResponse:
    (resource,) = request.resources
    overrides = cluster.image.config(
        ConfigResource(ResourceType(resource.resource_type), resource.resource_name)
    )
    layers = cluster.state.layers
    match resource.resource_type, resource.resource_name:
        case (2, _):
            entries = TopicDescriptions(layers).of(overrides)
        case (4, ""):
            entries = describe_all_brokers(layers)
        case (4, _):
            entries = describe_broker(layers)
        case (32, _):
            entries = GroupDescriptions(layers).of(overrides)
        case _:
            entries = describe_client_metrics(overrides)
    results = [reported(entry) for entry in entries]
    result = DescribeConfigsResult(0, "", resource.resource_type, resource.resource_name, results)
    return DescribeConfigsResponse(results=[result])


def reported(entry: ConfigEntry) -> DescribeConfigsResourceResult:
    return DescribeConfigsResourceResult(
        entry.name,
        entry.value,
        entry.is_read_only,
        entry.source,
        entry.is_sensitive,
        [DescribeConfigsSynonym(*synonym) for synonym in entry.synonyms],
        entry.wire_type,
    )


def as_sent(message: Message, version: int) -> Plain:
    """What the version can carry."""
    return plain(type(message).decode(message.encode(version), version))


def without_differences(step: Step, answered: Plain, known: set[str]) -> Plain:
    """Kafka describes settings that we do not have; a few of ours have other values."""
    if not isinstance(step.request, DescribeConfigsRequest):
        return answered
    (result,) = answered["results"]
    result["configs"] = [
        entry
        for entry in result["configs"]
        if entry["name"] in known
        and entry["name"] not in OTHER_DEFAULTS
        and not entry["name"].startswith(OUR_OWN)
    ]
    return answered


@pytest.fixture(scope="module")
def answers() -> dict[str, Plain]:
    cluster = Cluster(properties=properties())
    cluster.add_broker(1)
    return {step.label: as_sent(answer(cluster, step), step.version) for step in script()}


@pytest.mark.parametrize("step", script(), ids=lambda step: step.label[:80])
def test_the_answer_is_kafkas(step: Step, answers: dict[str, Plain]) -> None:
    ours, kafkas = answers[step.label], ANSWERS[step.label]
    if isinstance(step.request, DescribeConfigsRequest):
        known = {entry["name"] for entry in ours["results"][0]["configs"]}
        assert without_differences(step, ours, known) == without_differences(step, kafkas, known)
    else:
        assert ours == kafkas


def test_every_kind_of_resource_is_described_as_in_kafka() -> None:
    described = {
        (step.request.resources[0].resource_type, step.request.resources[0].resource_name)
        for step in script()
        if isinstance(step.request, DescribeConfigsRequest)
    }
    assert {kind for kind, _ in described} == {TOPIC, BROKER, GROUP, METRICS}
