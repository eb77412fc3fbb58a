"""Metadata: which topics it returns, by name and by id, and which it creates."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.handlers.world import World

from ottla.base.scheduling.steps import run_blocking
from ottla.handlers.metadata import CREATED_MAX
from ottla.handlers.partitions.topic_answers import VERSIONS_MAX
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic

VERSIONS = range(14)


def ask(world: World, version: int, *names: str, may_create: bool = False, **more: Any) -> Any:
    topics = [MetadataRequestTopic(name=name) for name in names]
    if version >= 4:
        more["allow_auto_topic_creation"] = may_create
    return world.ask(MetadataRequest(topics, **more), version)


def codes(answer: Any) -> dict[str, int]:
    return {topic.name: topic.error_code for topic in answer.topics}


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_tells_brokers_and_topics(world: World, version: int) -> None:
    topic_id = world.create_topic("t", 3)
    answer = ask(world, version, "t")
    (broker,) = answer.brokers
    assert (broker.node_id, broker.host, broker.port) == (1, "127.0.0.1", 9092)
    assert version < 1 or answer.controller_id == 1
    assert version < 2 or answer.cluster_id == world.broker.publisher.image.cluster_id
    (topic,) = answer.topics
    assert [part.partition_index for part in topic.partitions] == [0, 1, 2]
    assert all(part.leader_id == 1 and list(part.isr_nodes) == [1] for part in topic.partitions)
    assert version < 10 or topic.topic_id == topic_id


def test_all_topics_are_an_empty_list_in_version_0_and_null_later(world: World) -> None:
    world.create_topic("a")
    world.create_topic("b")
    assert codes(world.ask(MetadataRequest([]), 0)) == {"a": 0, "b": 0}
    for version in VERSIONS[1:]:
        assert codes(world.ask(MetadataRequest([]), version)) == {}
        assert codes(world.ask(MetadataRequest(None), version)) == {"a": 0, "b": 0}


@pytest.mark.parametrize("version", [0, 4, 13])
def test_asking_for_a_topic_creates_it_where_both_sides_agree(world: World, version: int) -> None:
    answer = ask(world, version, "new", may_create=True)
    assert codes(answer) == {"new": 0}
    assert len(answer.topics[0].partitions) == 1
    if version >= 4:
        assert codes(ask(world, version, "other")) == {
            "other": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        }


def test_nothing_is_created_where_the_broker_forbids_it() -> None:
    with World({"auto.create.topics.enable": "false"}) as world:
        answer = ask(world, 12, "new", may_create=True)
        assert codes(answer) == {"new": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../x", "a/b", "x" * 250, "nul\0", "ž", "new\nline", "a b"]
)
def test_a_name_that_no_topic_can_have_creates_nothing(world: World, name: str) -> None:
    files = set(world.disk.list_directory("/disk/a")) | set(world.disk.list_directory("/disk/b"))
    answer = ask(world, 12, name, may_create=True)
    assert codes(answer) == {name: ErrorCode.INVALID_TOPIC_EXCEPTION}
    now = set(world.disk.list_directory("/disk/a")) | set(world.disk.list_directory("/disk/b"))
    assert now == files
    assert world.disk.list_directory("/disk") == ["a", "b"]


def test_topics_are_found_by_id_from_version_12_on(world: World) -> None:
    topic_id = world.create_topic("t")
    asked = [MetadataRequestTopic(topic_id, None), MetadataRequestTopic(b"\1" * 16, None)]
    found, unknown = world.ask(MetadataRequest(asked), 12).topics
    assert (found.name, found.error_code) == ("t", 0)
    assert (unknown.name, unknown.error_code) == (None, ErrorCode.UNKNOWN_TOPIC_ID)


def test_permissions_are_returned_only_if_asked_for(world: World) -> None:
    world.create_topic("t")
    not_asked = -(2**31)
    quiet = ask(world, 10, "t")
    assert quiet.topics[0].topic_authorized_operations == not_asked
    asked = ask(
        world, 10, "t",
        include_topic_authorized_operations=True, include_cluster_authorized_operations=True,
    )  # fmt: skip
    assert asked.topics[0].topic_authorized_operations != not_asked
    assert asked.cluster_authorized_operations != not_asked


def test_a_kept_answer_follows_its_topic(world: World) -> None:
    from tests.unit.handlers.test_topics import grow

    world.create_topic("t")
    assert len(ask(world, 12, "t").topics[0].partitions) == 1
    assert grow(world, "t", 4) == 0
    assert len(ask(world, 12, "t").topics[0].partitions) == 4


def test_one_request_creates_a_bounded_number_of_topics_and_the_next_continues() -> None:
    with World() as world:
        names = [f"new-{at:03}" for at in range(CREATED_MAX + 20)]
        request = MetadataRequest([MetadataRequestTopic(name=name) for name in names], True)
        first = {topic.name: topic.error_code for topic in world.ask(request, 12).topics}
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert list(first.values()) == [ErrorCode.NONE] * CREATED_MAX + [unknown] * 20
        assert not any(topic.error_code for topic in world.ask(request, 12).topics)


def test_a_description_is_kept_in_a_few_versions_and_not_beyond_a_change() -> None:
    with World() as world:
        world.create_topic("t", 3)
        answers = world.broker.parts.topic_answers
        request = MetadataRequest([MetadataRequestTopic(name="t")], False)
        for version in range(4, 13):
            (topic,) = world.ask(request, version).topics
            assert len(topic.partitions) == 3
        known = world.broker.parts.metadata.topics["t"]
        kept = answers.find(known.id, False)
        assert kept is not None
        assert 0 < len(kept.kept or {}) <= VERSIONS_MAX + 1
        describing = answers.describing(known, True)
        next(describing)
        world.create_topic("other")  # the metadata changes while the answer is put together
        assert len(run_blocking(describing).partitions) == 3
        assert answers.find(known.id, True) is None
