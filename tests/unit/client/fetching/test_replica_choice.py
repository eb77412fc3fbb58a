"""Readers that a leader sends to a follower in their rack (KIP-392)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from typing import Any

import pytest
from tests.unit.client.cluster.test_leader_hints import HERE, cluster_of, fetched
from tests.unit.client.fetching.test_fetch_session import batches
from tests.unit.client.scripted import TOPIC_ID, ScriptedBroker, metadata

from ottla.client.cluster.cluster import Cluster
from ottla.client.cluster.topology import Leader
from ottla.client.errors import OffsetOutOfRange
from ottla.client.fetching import read_position
from ottla.client.fetching.fetcher import fetch_range
from ottla.client.fetching.read_position import LEADER, STALL_S, FetchSource, ReadPosition
from ottla.client.settings import ClientSettings
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages import list_offsets_response
from ottla.protocol.messages.fetch_response import FetchResponse
from ottla.protocol.messages.list_offsets_response import ListOffsetsResponse

OUT_OF_RANGE, NOT_LEADER, UNKNOWN_EPOCH, NOT_AVAILABLE = 1, 6, 75, 78
RACK = "here"


@contextmanager
def leader_and_follower(**scripts: object) -> Iterator[tuple[ScriptedBroker, ScriptedBroker]]:
    """Broker 1 leads, and names broker 2 to clients that have a rack."""
    with ScriptedBroker() as leader, ScriptedBroker() as follower:
        both = {1: leader, 2: follower}
        for each in both.values():
            each.scripts[ApiKey.METADATA] = lambda _: metadata(both, 1, 3)
        leader.scripts[ApiKey.FETCH] = lambda request: (
            named(2) if request.rack_id else next_of(request)
        )
        yield leader, follower


def named(replica: int) -> FetchResponse:
    answer = fetched(b"")
    answer.responses[0].partitions[0].preferred_read_replica = replica
    return answer


def next_of(request: Any) -> FetchResponse:
    return fetched(bytearray(batches(request.topics[0].partitions[0].fetch_offset, 2)))


def in_rack(broker: ScriptedBroker, **changes: Any) -> Cluster:
    settings = {"client_rack": RACK, "retry_backoff_ms": 1, "default_api_timeout_ms": 10_000}
    return Cluster(ClientSettings(broker.address, **{**settings, **changes}))


def racks(broker: ScriptedBroker) -> list[str]:
    return [each.rack_id for each in broker.requests(ApiKey.FETCH)]


def ranges(cluster: Cluster, end: int) -> list[tuple[int, int]]:
    return [(each.start_offset, each.end_offset) for each in fetch_range(cluster, HERE, 0, end)]


def test_the_follower_is_read_that_the_leader_names() -> None:
    with leader_and_follower() as (leader, follower), in_rack(leader) as cluster:
        follower.scripts[ApiKey.FETCH] = next_of
        assert ranges(cluster, 4) == [(0, 2), (2, 4)]
        assert racks(leader) == [RACK]
        asked = follower.requests(ApiKey.FETCH)
        assert [each.topics[0].partitions[0].current_leader_epoch for each in asked] == [3, 3]


def test_without_a_rack_no_other_replica_is_named() -> None:
    with leader_and_follower() as (leader, follower), cluster_of(leader) as cluster:
        assert ranges(cluster, 4) == [(0, 2), (2, 4)]
        assert set(racks(leader)) == {""}
        assert follower.requests(ApiKey.FETCH) == []


@pytest.mark.parametrize("code", [OUT_OF_RANGE, NOT_LEADER, UNKNOWN_EPOCH, NOT_AVAILABLE])
def test_after_an_error_of_the_follower_the_leader_is_read(code: int) -> None:
    with leader_and_follower() as (leader, follower), in_rack(leader) as cluster:
        follower.scripts[ApiKey.FETCH] = lambda request: (
            next_of(request)
            if request.topics[0].partitions[0].fetch_offset == 0
            else fetched(b"", code)
        )
        assert ranges(cluster, 6) == [(0, 2), (2, 4), (4, 6)]
        assert racks(leader) == [RACK, "", ""]


@pytest.mark.parametrize("is_known", [True, False])
def test_a_follower_that_is_gone_is_left_for_the_leader(is_known: bool) -> None:
    with leader_and_follower() as (leader, follower), in_rack(leader) as cluster:
        if is_known:
            follower.scripts[ApiKey.FETCH] = lambda _: None  # it hangs up
        else:
            for each in (leader, follower):
                each.scripts[ApiKey.METADATA] = lambda _: metadata({1: leader}, 1, 3)
        assert ranges(cluster, 4) == [(0, 2), (2, 4)]
        assert racks(leader) == [RACK, "", ""]


def test_an_offset_that_the_leader_does_not_have_either_is_out_of_range() -> None:
    def offsets(request: Any) -> ListOffsetsResponse:
        part = list_offsets_response.ListOffsetsPartitionResponse(0, 0, -1, 0)
        topic = list_offsets_response.ListOffsetsTopicResponse("t", [part])
        return ListOffsetsResponse(topics=[topic])

    with leader_and_follower() as (leader, follower), in_rack(leader) as cluster:
        follower.scripts[ApiKey.FETCH] = lambda _: fetched(b"", OUT_OF_RANGE)
        leader.scripts[ApiKey.FETCH] = lambda request: (
            named(2) if request.rack_id else fetched(b"", OUT_OF_RANGE)
        )
        leader.scripts[ApiKey.LIST_OFFSETS] = offsets
        with pytest.raises(OffsetOutOfRange):
            list(fetch_range(cluster, HERE, 2, 4))


def test_the_leader_is_asked_again_after_a_time() -> None:
    """And when the time is over that a reader stays with the leader after a failure."""
    with leader_and_follower() as (leader, follower):
        follower.scripts[ApiKey.FETCH] = next_of
        with in_rack(leader, metadata_max_age_ms=0) as cluster:
            assert ranges(cluster, 4) == [(0, 2), (2, 4)]
        assert racks(leader) == [RACK, RACK]


def test_a_follower_that_lacks_the_rest_is_left_for_the_leader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One that is cut off from its leader answers, but has nothing new."""
    monkeypatch.setattr(read_position, "STALL_S", 0.05)
    with leader_and_follower() as (leader, follower), in_rack(leader) as cluster:
        behind = fetched(b"")
        behind.responses[0].partitions[0].high_watermark = 0
        follower.scripts[ApiKey.FETCH] = lambda _: behind
        assert ranges(cluster, 2) == [(0, 2)]
        assert racks(leader) == [RACK, ""]


def test_a_follower_may_lack_the_rest_for_a_moment() -> None:
    position = ReadPosition(HERE, TOPIC_ID, 0, 10, replica=2, readable_offset=5)
    assert [position.has_stalled(now_s) for now_s in (1.0, 1.0 + STALL_S)] == [False, True]
    position.log_ends(10)
    assert not position.has_stalled(9.0)
    position.log_ends(5)
    assert not position.has_stalled(9.0), "it counts from here again"
    assert not ReadPosition(HERE, TOPIC_ID, 0, None, replica=2).has_stalled(99.0), "without an end"


def test_a_position_goes_from_the_leader_to_a_follower_and_back() -> None:
    position, leader = ReadPosition(HERE, TOPIC_ID, 0, None), Leader(1, 3)
    assert position.source(leader, RACK) == FetchSource(1, RACK)
    assert not position.leave_follower(5.0)
    position.refer_to(2)
    position.move(5.0, 100.0)
    assert (position.source(leader, RACK), position.review_s) == (FetchSource(2), 105.0)
    position.move(105.0, 100.0)
    assert position.source(leader, RACK) == FetchSource(1, RACK)
    position.refer_to(2)
    assert position.leave_follower(7.0)
    assert position.source(leader, RACK) == FetchSource(1), "for a while without asking"
    assert position.review_s == 7.0 + read_position.LEADER_ONLY_S
    position.move(position.review_s, 100.0)
    assert (position.replica, position.review_s) == (LEADER, inf)
