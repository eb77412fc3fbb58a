"""What administrators ask about the cluster: brokers, disks, leaders, moves, features, quotas."""

from __future__ import annotations

import errno
from typing import Any

import pytest
from tests.unit.handlers.asking import produce
from tests.unit.handlers.world import DIRECTORIES, World

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages import (
    alter_client_quotas_request as altering,
)
from ottla.protocol.messages import alter_partition_reassignments_request as reassigning
from ottla.protocol.messages import describe_quorum_request as quorum
from ottla.protocol.messages.describe_client_quotas_request import (
    ComponentData,
    DescribeClientQuotasRequest,
)
from ottla.protocol.messages.describe_cluster_request import DescribeClusterRequest
from ottla.protocol.messages.describe_log_dirs_request import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from ottla.protocol.messages.describe_user_scram_credentials_request import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from ottla.protocol.messages.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from ottla.protocol.messages.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from ottla.protocol.messages.unregister_broker_request import UnregisterBrokerRequest
from ottla.protocol.messages.update_features_request import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
)

EXACT, DEFAULT, ANY = range(3)


@pytest.mark.parametrize("version", range(3))
def test_the_cluster_is_described(world: World, version: int) -> None:
    answer = world.ask(DescribeClusterRequest(), version)
    assert answer.error_code == 0
    assert answer.cluster_id == world.broker.publisher.image.cluster_id
    assert answer.controller_id == 1
    (broker,) = answer.brokers
    assert (broker.broker_id, broker.host, broker.port) == (1, "127.0.0.1", 9092)
    assert answer.cluster_authorized_operations == -(2**31)


def test_controllers_cannot_be_asked_for_here(world: World) -> None:
    answer = world.ask(DescribeClusterRequest(endpoint_type=2), 1)
    assert answer.error_code == ErrorCode.MISMATCHED_ENDPOINT_TYPE
    answer = world.ask(DescribeClusterRequest(endpoint_type=9), 1)
    assert answer.error_code == ErrorCode.UNSUPPORTED_ENDPOINT_TYPE


@pytest.mark.parametrize("version", range(3))
def test_the_metadata_log_has_one_voter_that_is_caught_up(world: World, version: int) -> None:
    asked = quorum.TopicData("__cluster_metadata", [quorum.PartitionData(0)])
    answer = world.ask(quorum.DescribeQuorumRequest([asked]), version)
    (log,) = answer.topics[0].partitions
    (voter,) = log.current_voters
    assert (log.error_code, log.leader_id, voter.replica_id) == (0, 1, 1)
    assert log.high_watermark == voter.log_end_offset == world.broker.publisher.image.offset
    assert voter.last_caught_up_timestamp == (-1 if version == 0 else world.clock.now_ms())
    ports = [each.port for node in answer.nodes for each in node.listeners]
    assert ports == ([9092] if version == 2 else [])


def test_no_other_quorum_is_known(world: World) -> None:
    asked = quorum.TopicData("__cluster_metadata", [quorum.PartitionData(each) for each in (0, 1)])
    answer = world.ask(quorum.DescribeQuorumRequest([asked]), 2)
    codes = [each.error_code for each in answer.topics[0].partitions]
    assert codes == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION] * 2


@pytest.mark.parametrize("version", range(1, 6))
def test_log_directories_contain_their_partitions(world: World, version: int) -> None:
    world.create_topic("t", 4)
    produce(world, "t", 10)
    answer = world.ask(DescribeLogDirsRequest(None), version)
    assert {result.log_dir for result in answer.results} == set(DIRECTORIES)
    sizes = {
        part.partition_index: part.partition_size
        for result in answer.results
        for topic in result.topics
        for part in topic.partitions
    }
    assert set(sizes) == {0, 1, 2, 3}
    assert sizes[0] > 100
    assert version < 4 or all(result.total_bytes > 0 for result in answer.results)
    asked = DescribeLogDirsRequest([DescribableLogDirTopic("t", [0])])
    chosen = [t for result in world.ask(asked, version).results for t in result.topics]
    assert [part.partition_index for topic in chosen for part in topic.partitions] == [0]


def test_a_failed_directory_is_reported_as_such(world: World) -> None:
    world.broker.logs.directories[1].health.failed("a test", OSError(errno.EIO, "broken"))
    codes = {r.log_dir: r.error_code for r in world.ask(DescribeLogDirsRequest(None), 4).results}
    assert codes == {DIRECTORIES[0]: 0, DIRECTORIES[1]: ErrorCode.KAFKA_STORAGE_ERROR}


@pytest.mark.parametrize("version", range(3))
def test_no_other_leader_can_be_elected_where_there_is_one_broker(
    world: World, version: int
) -> None:
    world.create_topic("t")
    wanted = [TopicPartitions("t", [0, 7])]
    answer = world.ask(ElectLeadersRequest(0, wanted, 1000), version)
    (topic,) = answer.replica_election_results
    assert {each.partition_id: each.error_code for each in topic.partition_result} == {
        0: ErrorCode.ELECTION_NOT_NEEDED,
        7: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }


@pytest.mark.parametrize("version", range(2))
def test_replicas_can_only_be_moved_to_brokers_that_exist(world: World, version: int) -> None:
    world.create_topic("t")

    def reassign(replicas: list[int] | None) -> int:
        part = reassigning.ReassignablePartition(0, replicas)
        topic = reassigning.ReassignableTopic("t", [part])
        request = reassigning.AlterPartitionReassignmentsRequest(1000, topics=[topic])
        code: int = world.ask(request, version).responses[0].partitions[0].error_code
        return code

    assert reassign([1]) == 0
    assert reassign([2]) == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert reassign(None) == ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
    for asked in (None, [ListPartitionReassignmentsTopics("t", [0])]):
        assert not world.ask(ListPartitionReassignmentsRequest(1000, asked), 0).topics


@pytest.mark.parametrize("version", range(1, 3))
def test_feature_levels_are_lowered_and_raised(world: World, version: int) -> None:
    def update(name: str, level: int, *, is_upgrade: bool) -> int:
        update = FeatureUpdateKey(name, level)
        update.upgrade_type = 1 if is_upgrade else 2
        answer = world.ask(UpdateFeaturesRequest(1000, [update]), version)
        code: int = answer.error_code
        return code or next((each.error_code for each in answer.results), 0)

    assert update("transaction.version", 1, is_upgrade=False) == 0
    assert world.broker.publisher.image.features["transaction.version"] == 1
    assert update("transaction.version", 2, is_upgrade=True) == 0
    assert update("transaction.version", 99, is_upgrade=True) != 0
    assert update("no.such.feature", 1, is_upgrade=True) != 0


@pytest.mark.parametrize("version", range(2))
def test_quotas_are_set_and_described(world: World, version: int) -> None:
    def alter(entity: list[tuple[str, str | None]], key: str, value: float) -> int:
        named = [altering.EntityData(*each) for each in entity]
        entry = altering.EntryData(named, [altering.OpData(key, value, False)])
        request = altering.AlterClientQuotasRequest([entry])
        code: int = world.ask(request, version).entries[0].error_code
        return code

    def describe(*components: ComponentData, is_strict: bool = False) -> Any:
        return world.ask(DescribeClientQuotasRequest(components, is_strict), version)

    assert alter([("user", "u")], "producer_byte_rate", 1000) == 0
    assert alter([("user", "u"), ("client-id", None)], "consumer_byte_rate", 2000) == 0
    assert alter([("user", "u")], "no_such_quota", 1) == ErrorCode.INVALID_REQUEST
    assert alter([("ip", "10.0.0.1")], "connection_creation_rate", 5) == 0
    found = describe(ComponentData("user", EXACT, "u")).entries
    assert len(found) == 2
    (only,) = describe(ComponentData("user", EXACT, "u"), is_strict=True).entries
    assert [(each.key, each.value) for each in only.values] == [("producer_byte_rate", 1000.0)]
    (default,) = describe(ComponentData("client-id", DEFAULT, None)).entries
    names = {each.entity_type: each.entity_name for each in default.entity}
    assert names == {"user": "u", "client-id": None}
    refused = describe(ComponentData("planet", ANY, None))
    assert refused.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert refused.entries is None


def test_an_unknown_broker_and_the_one_that_is_asked_are_not_unregistered(
    world: World,
) -> None:
    def forget(broker_id: int) -> int:
        code: int = world.ask(UnregisterBrokerRequest(broker_id), 0).error_code
        return code

    assert forget(99) == ErrorCode.BROKER_ID_NOT_REGISTERED
    assert forget(1) == ErrorCode.INVALID_REQUEST
    assert [each.broker_id for each in world.ask(DescribeClusterRequest(), 0).brokers] == [1]


def test_the_answer_about_a_user_with_the_longest_name_fits(world: World) -> None:
    request = DescribeUserScramCredentialsRequest([UserName("é" * 16_383)])
    (result,) = world.ask(request, 0).results
    assert result.error_code == ErrorCode.RESOURCE_NOT_FOUND
