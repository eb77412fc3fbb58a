"""Clients are held to their quotas: answered first, then made to wait."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.paused_collector import paused_collector
from tests.unit.handlers.world import FakeConnection, World

from ottla.handlers.quotas import client_quotas
from ottla.handlers.quotas.request_time import Timed, begin_time
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from ottla.protocol.messages.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest
from ottla.protocol.messages.describe_client_quotas_request import DescribeClientQuotasRequest
from ottla.protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.record import Record

EPHEMERAL = "controller_mutation_rate"


def set_quota(world: World, key: str, value: float | None, **names: str | None) -> None:
    """Names as `user="u"` or `client_id=None`, which is the default."""
    entity = [EntityData(kind.replace("_", "-"), name) for kind, name in names.items()]
    ops = [OpData(key, value or 0.0, value is None)]
    (answer,) = world.ask(AlterClientQuotasRequest([EntryData(entity, ops)]), 1).entries
    assert answer.error_code == 0, answer


def produce_request(size: int, acks: int = 1) -> ProduceRequest:
    batch = build_batch([Record(0, 1_700_000_000_000, None, b"x" * size, ())])
    data = [TopicProduceData("t", partition_data=[PartitionProduceData(0, batch)])]
    return ProduceRequest(None, acks, 1000, data)


def fetch_request(
    bytes_max: int = 10_000_000, *, session_id: int = 0, session_epoch: int = -1
) -> FetchRequest:
    wanted = [FetchTopic("t", partitions=[FetchPartition(0, fetch_offset=0,
              partition_max_bytes=bytes_max)])]  # fmt: skip
    return FetchRequest(
        max_wait_ms=0, min_bytes=0, max_bytes=bytes_max, topics=wanted,
        session_id=session_id, session_epoch=session_epoch,
    )  # fmt: skip


def spend_time(world: World) -> None:
    """Much more of the processor's than there is a quota for."""
    set_quota(world, "request_percentage", 0.001, client_id="test")
    quota = world.broker.parts.quotas.request
    assert quota is not None
    context: Any = SimpleNamespace(peer=world.me.session, client_id="test")
    assert quota.charge(context, 50.0) == 1000


@pytest.fixture
def world() -> Iterator[World]:
    with World() as world:
        world.create_topic("t")
        yield world


def test_without_quotas_nothing_is_measured(world: World) -> None:
    quotas = world.broker.parts.quotas
    assert (quotas.produce, quotas.fetch, quotas.request, quotas.mutation) == (None,) * 4
    set_quota(world, "producer_byte_rate", 1000, user="u")
    assert quotas.produce is not None
    assert quotas.fetch is None
    set_quota(world, "producer_byte_rate", None, user="u")
    assert quotas.produce is None


def test_a_producer_over_its_quota_is_answered_and_then_not_read(world: World) -> None:
    set_quota(world, "producer_byte_rate", 1000, client_id="test")
    first = world.answer(produce_request(5_000), 9)
    assert first.throttle_ms == 0
    second = world.ask(produce_request(15_000), 9)
    assert second.responses[0].partition_responses[0].error_code == 0
    assert 10_000 < second.throttle_time_ms < 11_000
    assert world.answer(produce_request(1), 9).throttle_ms >= second.throttle_time_ms
    world.clock.advance_ms(20_000)
    assert world.answer(produce_request(1), 9).throttle_ms == 0


def test_a_producer_that_wants_no_answer_is_throttled_nevertheless(world: World) -> None:
    set_quota(world, "producer_byte_rate", 1000, client_id=None)
    answer = world.answer(produce_request(50_000, acks=0), 9)
    assert not answer.segments
    assert answer.throttle_ms > 30_000


def test_what_was_used_before_a_quota_was_set_or_set_again_counts(world: World) -> None:
    set_quota(world, "producer_byte_rate", 1000, client_id="another")
    assert world.answer(produce_request(50_000), 9).throttle_ms == 0
    set_quota(world, "producer_byte_rate", 1000, client_id="test")
    assert world.answer(produce_request(1), 9).throttle_ms > 40_000
    for client_id in ("test", "another"):
        set_quota(world, "producer_byte_rate", None, client_id=client_id)
    assert world.answer(produce_request(1), 9).throttle_ms == 0
    set_quota(world, "producer_byte_rate", 1000, client_id="test")
    assert world.answer(produce_request(1), 9).throttle_ms > 40_000


def test_clients_that_share_a_quota_pay_together(world: World) -> None:
    set_quota(world, "producer_byte_rate", 1000, user="alice")
    alice, again = (FakeConnection("10.0.0.1", "User:alice") for _ in range(2))
    bob = FakeConnection("10.0.0.2", "User:bob")
    assert world.answer(produce_request(9_000), 9, by=alice, client_id="a").throttle_ms == 0
    assert world.answer(produce_request(9_000), 9, by=again, client_id="b").throttle_ms > 0
    assert world.answer(produce_request(90_000), 9, by=bob).throttle_ms == 0


def test_a_reader_over_its_quota_gets_an_empty_answer_and_waits(world: World) -> None:
    for _ in range(20):
        world.ask(produce_request(1_000), 9)
    set_quota(world, "consumer_byte_rate", 1000, client_id="test")
    # No more records at once than ten seconds bring; with what is around them it is too much.
    first = world.ask(fetch_request(), 12)
    assert not first.responses
    assert first.throttle_time_ms == 58
    world.clock.advance_ms(first.throttle_time_ms)
    second = world.ask(fetch_request(), 12)
    assert len(second.responses[0].partitions[0].records) == 10_000
    assert second.throttle_time_ms == 0
    third = world.ask(fetch_request(), 12)
    assert not third.responses
    assert third.throttle_time_ms == 10_058
    world.clock.advance_ms(third.throttle_time_ms + 1_000)
    assert world.ask(fetch_request(9_000), 12).responses


def test_a_reader_over_its_quota_of_time_gets_an_empty_answer_too(world: World) -> None:
    world.ask(produce_request(1_000), 9)
    spend_time(world)
    answer = world.ask(fetch_request(), 12)
    assert (answer.responses, answer.throttle_time_ms) == ([], 1000)


def test_what_a_request_does_later_is_charged_and_what_it_waits_for_is_not(world: World) -> None:
    set_quota(world, "request_percentage", 1, client_id="test")
    context: Any = SimpleNamespace(parts=world.broker.parts, began_s=None, spent_s=0.0)

    async def work(way_out: asyncio.Event) -> str:
        world.clock.advance_ms(10)
        await way_out.wait()
        world.clock.advance_ms(3)
        with pytest.raises(asyncio.CancelledError):
            await asyncio.Event().wait()
        world.clock.advance_ms(2)
        return "done"

    async def story() -> str:
        way_out = asyncio.Event()
        begin_time(context)
        task = asyncio.ensure_future(Timed(work(way_out), context))
        await asyncio.sleep(0)
        world.clock.advance_ms(1000)
        way_out.set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        world.clock.advance_ms(1000)
        task.cancel()
        return await task

    assert asyncio.run(story()) == "done"
    assert context.spent_s == pytest.approx(0.015)


def test_a_request_that_is_given_up_is_gone_without_a_search_for_garbage(world: World) -> None:
    context: Any = SimpleNamespace(parts=world.broker.parts, began_s=0.0, spent_s=0.0)

    async def story() -> None:
        forever = asyncio.Event()
        task = asyncio.ensure_future(Timed(forever.wait(), context))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])

    with paused_collector():
        before = sys.getrefcount(context)
        asyncio.run(story())
        assert sys.getrefcount(context) == before


def test_what_is_produced_without_an_answer_costs_no_time(world: World) -> None:
    spend_time(world)
    assert world.answer(produce_request(10, acks=0), 9).throttle_ms == 0
    assert world.answer(produce_request(10), 9).throttle_ms == 1000


def test_a_batch_larger_than_the_quota_is_read_after_a_quiet_time(world: World) -> None:
    world.ask(produce_request(50_000), 9)
    set_quota(world, "consumer_byte_rate", 100, client_id="test")
    first = world.ask(fetch_request(), 12)
    assert len(first.responses[0].partitions[0].records) > 50_000
    assert first.throttle_time_ms > 400_000
    assert not world.ask(fetch_request(), 12).responses
    world.clock.advance_ms(first.throttle_time_ms)
    assert world.ask(fetch_request(), 12).responses


def test_a_throttled_session_loses_nothing(world: World) -> None:
    for _ in range(20):
        world.ask(produce_request(1_000), 9)
    set_quota(world, "consumer_byte_rate", 1000, client_id="test")
    first = world.ask(fetch_request(5_000, session_epoch=0), 12)
    assert first.session_id != 0
    asked = fetch_request(session_id=first.session_id, session_epoch=1)
    throttled = world.ask(asked, 12)
    assert (throttled.session_id, throttled.responses) == (first.session_id, [])
    world.clock.advance_ms(60_000)
    again = FetchRequest(
        max_wait_ms=0, min_bytes=0, max_bytes=9_000, session_id=first.session_id, session_epoch=2
    )
    assert world.ask(again, 12).responses[0].partitions[0].records


def test_a_session_is_not_opened_by_a_throttled_fetch(world: World) -> None:
    for _ in range(20):
        world.ask(produce_request(1_000), 9)
    set_quota(world, "consumer_byte_rate", 1000, client_id="test")
    refused = world.ask(fetch_request(session_epoch=0), 12)
    assert refused.throttle_time_ms > 0
    assert refused.session_id == 0
    assert len(world.broker.parts.fetch_sessions) == 0


def test_processor_time_has_a_quota_and_no_throttle_time_exceeds_a_window(world: World) -> None:
    spend_time(world)
    answer = world.ask(MetadataRequest([]), 12)
    assert answer.throttle_time_ms == 1000


def test_partitions_are_not_changed_without_end(world: World) -> None:
    set_quota(world, EPHEMERAL, 1, user="ANONYMOUS")
    many = CreateTopicsRequest([CreatableTopic("many", 50, 1), CreatableTopic("more", 1, 1)], 1000)
    created = {topic.name: topic.error_code for topic in world.ask(many, 7).topics}
    assert created == {"many": 0, "more": ErrorCode.THROTTLING_QUOTA_EXCEEDED}
    refused = world.ask(DeleteTopicsRequest(topic_names=["many"], timeout_ms=1000), 5)
    assert refused.responses[0].error_code == ErrorCode.THROTTLING_QUOTA_EXCEEDED
    assert refused.throttle_time_ms == 39_000
    more = CreatePartitionsRequest([CreatePartitionsTopic("many", 51, None)], 1000)
    assert world.ask(more, 3).results[0].error_code == ErrorCode.THROTTLING_QUOTA_EXCEEDED
    world.clock.advance_ms(39_000)
    assert world.ask(more, 3).results[0].error_code == 0


@pytest.mark.parametrize("limit", [1e308, float("inf")])
def test_an_infinite_quota_is_kept_and_throttles_no_request(world: World, limit: float) -> None:
    for key in (EPHEMERAL, "request_percentage"):
        set_quota(world, key, limit, user="ANONYMOUS")
    for version in (7, 5):  # refused, or slowed down
        request = CreateTopicsRequest([CreatableTopic(f"many-{version}", 500, 1)], 1000)
        answer = world.ask(request, version)
        assert (answer.topics[0].error_code, answer.throttle_time_ms) == (0, 0)
        world.clock.advance_ms(1)
    everything = world.ask(DescribeClientQuotasRequest([], False), 1).entries
    assert {each.value for each in everything[0].values} == {limit}


def test_topics_that_are_only_asked_for_are_charged_without_a_throttle_time(world: World) -> None:
    set_quota(world, EPHEMERAL, 1, user="ANONYMOUS")
    asked = MetadataRequest([MetadataRequestTopic(name=f"asked-{at}") for at in range(20)])
    answer = world.ask(asked, 12)
    made = [topic.error_code for topic in answer.topics]
    assert made == [0] * 12 + [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION] * 8
    assert answer.throttle_time_ms == 0


def test_older_clients_are_not_refused_but_wait(world: World) -> None:
    set_quota(world, EPHEMERAL, 1, user="ANONYMOUS")
    for name in ("first", "second"):
        request = CreateTopicsRequest([CreatableTopic(name, 50, 1)], 1000)
        answer = world.ask(request, 5)
        assert answer.topics[0].error_code == 0
    assert answer.throttle_time_ms == 89_000


def test_made_up_client_ids_do_not_fill_the_memory(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_quotas, "METERS_MAX", 50)
    set_quota(world, "producer_byte_rate", 1000, client_id=None)
    for at in range(200):
        world.answer(produce_request(1), 9, client_id=f"made-up-{at}")
    assert world.broker.parts.quotas.produce is not None
    assert len(world.broker.parts.quotas.produce.meters) == 50


def test_nor_do_they_make_the_broker_forget_what_a_busy_client_has_used(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_quotas, "METERS_MAX", 5)
    set_quota(world, "producer_byte_rate", 1000, client_id=None)
    for at in range(20):
        world.answer(produce_request(3000), 9, client_id="busy")
        world.answer(produce_request(1), 9, client_id=f"made-up-{at}")
    assert world.answer(produce_request(1), 9, client_id="made-up").throttle_ms == 0
    assert world.answer(produce_request(1), 9, client_id="busy").throttle_ms > 40_000
