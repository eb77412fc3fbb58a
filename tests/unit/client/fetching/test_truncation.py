"""Readers whose new leader may lack records of the old one (KIP-320)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.unit.client.cluster.test_leader_hints import HERE, cluster_of, fetched
from tests.unit.client.fetching.test_fetch_session import batches
from tests.unit.client.scripted import TOPIC_ID, VERSIONS, ScriptedBroker, metadata

from ottla.base.ids import NO_LEADER_EPOCH
from ottla.client.admin.leader_epochs import EpochEnd, epoch_ends, replaced_from
from ottla.client.errors import KafkaError, LogTruncated
from ottla.client.fetching.fetcher import Fetcher, PartitionRange, fetch_ranges
from ottla.client.fetching.read_position import KnownEnd, ReadPosition
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages import offset_for_leader_epoch_response as epoch_response
from ottla.protocol.messages.offset_for_leader_epoch_response import OffsetForLeaderEpochResponse
from ottla.protocol.records.batch import stamp_offset_and_epoch

NOT_LEADER, FENCED = 6, 74
OLD, NEW = 3, 5  # leader epochs
PLANNED = PartitionRange(HERE, 0, 10, TOPIC_ID, end_epoch=OLD)


def answered(epoch: int, end_offset: int, code: int = 0) -> OffsetForLeaderEpochResponse:
    part = epoch_response.EpochEndOffset(code, 0, epoch, end_offset)
    return OffsetForLeaderEpochResponse(
        topics=[epoch_response.OffsetForLeaderTopicResult("t", [part])]
    )


def records(first: int, count: int, epoch: int) -> memoryview:
    data = batches(first, count)
    stamp_offset_and_epoch(data, 0, first, epoch)
    return data


def asked_epochs(broker: ScriptedBroker) -> list[tuple[int, int]]:
    """(epoch of the leader, epoch asked for)"""
    return [
        (part.current_leader_epoch, part.leader_epoch)
        for request in broker.requests(ApiKey.OFFSET_FOR_LEADER_EPOCH)
        for topic in request.topics
        for part in topic.partitions
    ]


@contextmanager
def changing_leader(
    versions: dict[ApiKey, tuple[int, int]] | None = None,
) -> Iterator[ScriptedBroker]:
    """One broker, which leads in epoch OLD, and after its first records in epoch NEW."""
    with ScriptedBroker(versions=versions or VERSIONS) as broker:
        epochs = [OLD]

        def fetch(request: Any) -> Any:
            part = request.topics[0].partitions[0]
            if part.current_leader_epoch != epochs[-1]:
                return fetched(b"", FENCED)
            if part.fetch_offset == 0 and epochs[-1] == OLD:
                epochs.append(NEW)
                return fetched(bytearray(records(0, 4, OLD)))
            return fetched(bytearray(records(part.fetch_offset, 10 - part.fetch_offset, NEW)))

        broker.scripts[ApiKey.METADATA] = lambda _: metadata({1: broker}, 1, epochs[-1])
        broker.scripts[ApiKey.FETCH] = fetch
        yield broker


def test_a_reader_that_knows_an_epoch_asks_leaders_of_later_ones() -> None:
    position = ReadPosition(HERE, TOPIC_ID, 4, None)
    assert position.known is None
    assert not position.must_check(NEW)
    position.read_epoch = OLD
    assert position.known == KnownEnd(4, OLD)
    assert [position.must_check(epoch) for epoch in (NO_LEADER_EPOCH, OLD, NEW)] == [
        False,
        False,
        True,
    ]
    position.checked_epoch = NEW
    assert [position.must_check(epoch) for epoch in (NEW, NEW + 1)] == [False, True]
    assert PLANNED.position.known == KnownEnd(10, OLD)


def test_records_are_replaced_where_their_epoch_ends_earlier() -> None:
    assert replaced_from(10, EpochEnd(3, 10)) is None
    assert replaced_from(10, EpochEnd(2, 12)) is None
    assert replaced_from(10, EpochEnd(2, 7)) == 7
    assert replaced_from(10, EpochEnd(-1, -1)) is None, "nothing is known"


def test_a_new_leader_that_has_it_all_is_read_on() -> None:
    with changing_leader() as broker, cluster_of(broker) as cluster:
        broker.scripts[ApiKey.OFFSET_FOR_LEADER_EPOCH] = lambda _: answered(OLD, 4)
        found = list(fetch_ranges(cluster, [PartitionRange(HERE, 0, 10)]))
        assert [(each.start_offset, each.end_offset) for each in found] == [(0, 4), (4, 10)]
        assert asked_epochs(broker) == [(NEW, OLD)], "once"


def test_a_new_leader_that_lacks_what_was_read_is_not_read() -> None:
    with changing_leader() as broker, cluster_of(broker) as cluster:
        broker.scripts[ApiKey.OFFSET_FOR_LEADER_EPOCH] = lambda _: answered(OLD - 1, 2)
        found = []
        with pytest.raises(
            LogTruncated, match=r"t-0 at offset 4: .*records from 2 up to 4"
        ) as reported:
            found += list(fetch_ranges(cluster, [PartitionRange(HERE, 0, 10)]))
        assert (reported.value.replaced_from, reported.value.epoch) == (2, OLD)


@pytest.mark.parametrize(("end", "is_lost"), [(10, False), (8, True)])
def test_the_end_that_was_planned_is_checked_before_the_first_read(end: int, is_lost: bool) -> None:
    with ScriptedBroker() as broker, cluster_of(broker) as cluster:
        broker.scripts[ApiKey.METADATA] = lambda _: metadata({1: broker}, 1, NEW)
        broker.scripts[ApiKey.FETCH] = lambda _: fetched(bytearray(records(0, 10, OLD)))
        broker.scripts[ApiKey.OFFSET_FOR_LEADER_EPOCH] = lambda _: answered(OLD, end)
        if is_lost:
            with pytest.raises(LogTruncated, match="from 8 up to 10"):
                list(fetch_ranges(cluster, [PLANNED]))
            assert broker.requests(ApiKey.FETCH) == []
        else:
            assert len(list(fetch_ranges(cluster, [PLANNED]))) == 1
        assert asked_epochs(broker) == [(NEW, OLD)]


def test_a_leader_older_than_the_plan_is_not_asked() -> None:
    """Metadata of a broker that is cut off; the other one has newer metadata."""
    with ScriptedBroker() as stale, ScriptedBroker() as fresh:
        both = {1: stale, 2: fresh}
        stale.scripts[ApiKey.METADATA] = lambda _: metadata(both, 1, OLD - 1)
        fresh.scripts[ApiKey.METADATA] = lambda _: metadata(both, 2, OLD)
        fresh.scripts[ApiKey.FETCH] = lambda _: fetched(bytearray(records(0, 10, OLD)))
        with cluster_of(stale) as cluster, Fetcher(cluster, [PLANNED]) as fetcher:
            cluster.read_metadata([])  # connects to the stale one
            assert len(list(fetcher)) == 1
        assert stale.requests(ApiKey.FETCH) == []


def test_a_broker_without_this_request_is_read_unchecked() -> None:
    old = dict(VERSIONS)
    del old[ApiKey.OFFSET_FOR_LEADER_EPOCH]
    with changing_leader(old) as broker, cluster_of(broker) as cluster:
        found = list(fetch_ranges(cluster, [PartitionRange(HERE, 0, 10)]))
        assert [(each.start_offset, each.end_offset) for each in found] == [(0, 4), (4, 10)]


def test_an_error_of_the_check_is_raised_unless_it_is_retriable() -> None:
    answers = iter([answered(-1, -1, NOT_LEADER), answered(OLD, 10)])
    with ScriptedBroker() as broker, cluster_of(broker) as cluster:
        broker.scripts[ApiKey.METADATA] = lambda _: metadata({1: broker}, 1, NEW)
        broker.scripts[ApiKey.OFFSET_FOR_LEADER_EPOCH] = lambda _: next(answers)
        assert epoch_ends(cluster, {HERE: OLD}) == {HERE: EpochEnd(OLD, 10, NEW)}
        broker.scripts[ApiKey.OFFSET_FOR_LEADER_EPOCH] = lambda _: answered(-1, -1, 29)
        with pytest.raises(KafkaError, match="TOPIC_AUTHORIZATION"):
            epoch_ends(cluster, {HERE: OLD})
