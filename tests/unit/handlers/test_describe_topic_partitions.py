"""DescribeTopicPartitions: topics page by page."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.handlers.world import World

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.describe_topic_partitions_request import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)


def ask(world: World, names: list[str], limit: int = 2000, cursor: Cursor | None = None) -> Any:
    topics = [TopicRequest(name) for name in names]
    return world.ask(DescribeTopicPartitionsRequest(topics, limit, cursor), 0)


@pytest.fixture
def filled(world: World) -> World:
    for name, partitions in (("b", 3), ("a", 2), ("c", 1)):
        world.create_topic(name, partitions)
    return world


def test_without_names_all_topics_come_in_order(filled: World) -> None:
    answer = ask(filled, [])
    assert [topic.name for topic in answer.topics] == ["a", "b", "c"]
    assert answer.next_cursor is None
    (first, *_) = answer.topics[1].partitions
    assert (first.leader_id, list(first.replica_nodes), list(first.isr_nodes)) == (1, [1], [1])


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 6, 7])
def test_pages_follow_on_each_other_without_a_gap(filled: World, limit: int) -> None:
    reported: list[tuple[str, int]] = []
    cursor, pages = None, 0
    while pages == 0 or cursor is not None:
        answer = ask(filled, [], limit, cursor)
        page = [(t.name, p.partition_index) for t in answer.topics for p in t.partitions]
        assert 0 < len(page) <= limit
        reported += page
        found = answer.next_cursor
        cursor = None if found is None else Cursor(found.topic_name, found.partition_index)
        pages += 1
    assert reported == [("a", 0), ("a", 1), ("b", 0), ("b", 1), ("b", 2), ("c", 0)]


def test_a_page_is_never_larger_than_the_broker_allows() -> None:
    with World({"max.request.partition.size.limit": "4"}) as world:
        world.create_topic("t", 10)
        answer = ask(world, ["t"], 2000)
        assert len(answer.topics[0].partitions) == 4
        assert answer.next_cursor.partition_index == 4


def test_named_topics_are_returned_once_also_if_they_are_missing(filled: World) -> None:
    answer = ask(filled, ["c", "missing", "c", "a", "a/b"])
    assert {topic.name: topic.error_code for topic in answer.topics} == {
        "a": 0,
        "a/b": ErrorCode.INVALID_TOPIC_EXCEPTION,
        "c": 0,
        "missing": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }


def test_a_cursor_that_makes_no_sense_is_refused(filled: World) -> None:
    for cursor in (Cursor("b", 0), Cursor("a", -1)):
        answer = ask(filled, ["a"], 10, cursor)
        assert [topic.error_code for topic in answer.topics] == [ErrorCode.INVALID_REQUEST]
    assert not ask(filled, ["a"], 10, Cursor("a", 99)).topics[0].partitions
