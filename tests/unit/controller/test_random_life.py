"""A controller through rounds of events at once, some with a disk that fails: who is answered what,
what is published, and what a restart finds."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable
from random import Random

import pytest
from tests.unit.controller.test_controller import Node, setter

from ottla.base.ids import TopicId
from ottla.controller.controller import BATCH_RECORDS_MAX
from ottla.controller.create_topics import decide_create_topics
from ottla.controller.decision import Decision
from ottla.controller.delete_topics import decide_delete_topics
from ottla.controller.state import ControllerState
from ottla.metadata.changes import Changes
from ottla.metadata.image import APPLIED_HERE_MAX, Image
from ottla.metadata.log import AppendFailed
from ottla.metadata.records import ALL_BROKERS, ConfigChanged, TopicCreated, TopicDeleted
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from ottla.testing.filesystem import MemoryDisk

# The fault of the first append of a round, and what those in that append are answered.
FAULTS: dict[str, tuple[str, int, ErrorCode] | None] = {
    "none": None,
    "full": ("write", errno.ENOSPC, ErrorCode.KAFKA_STORAGE_ERROR),
    "write": ("write", errno.EIO, ErrorCode.NOT_CONTROLLER),
    "sync": ("sync", errno.EIO, ErrorCode.NOT_CONTROLLER),
}
ROUNDS = 12


class Life:
    def __init__(self, node: Node, rng: Random) -> None:
        self.node, self.rng = node, rng
        self.decided: list[int] = []  # events whose turn came
        node.publisher.subscribe(self.note)

    def note(self, image: Image, changes: Changes) -> None:
        for resource in changes.configs:
            assert image.config(resource), "what is published is in the image"
        for topic_id in changes.created_topics:
            assert image.topic_by_id(topic_id) is not None
        for topic_id in changes.deleted_topics:
            assert image.topic_by_id(topic_id) is None

    def decision(self, number: int) -> Callable[[ControllerState], Decision[str]]:
        kind = self.rng.choice(("set", "many", "create", "delete", "nothing", "refused"))
        value, count = str(number), self.rng.choice((1, APPLIED_HERE_MAX, APPLIED_HERE_MAX + 1))

        def decide(state: ControllerState) -> Decision[str]:
            self.decided.append(number)
            match kind:
                case "set":
                    return Decision((ConfigChanged(ALL_BROKERS, "x", value),), value)
                case "many":
                    names = [f"x{at}" for at in range(count)]
                    records = [ConfigChanged(ALL_BROKERS, name, value) for name in names]
                    return Decision(tuple(records), value)
                case "create":
                    topics = CreateTopicsRequest([CreatableTopic(f"t{number}", count, 1)])
                    return Decision(decide_create_topics(state, topics).records, value)
                case "delete":
                    named = [DeleteTopicState(name) for name in state.image.topics]
                    deletion = decide_delete_topics(state, DeleteTopicsRequest(named), 6)
                    return Decision(deletion.records, value)
                case "nothing":
                    return Decision((), value)
            raise BrokerError(ErrorCode.POLICY_VIOLATION)

        return decide

    def submit(
        self, number: int, decide: Callable[[ControllerState], Decision[str]]
    ) -> asyncio.Task[str]:
        is_large = self.rng.random() < 0.3
        return asyncio.ensure_future(self.node.controller.decide(decide, is_large=is_large))

    async def round(self, first_number: int, fault: str) -> None:
        """One event whose append is held back, and others that come meanwhile."""
        node, rng = self.node, self.rng
        failure = FAULTS[fault]
        epoch = node.controller.epoch
        if failure is not None:
            node.disk.fail(failure[0], "*.journal", error=failure[1])
        node.gate.open.clear()
        first = asyncio.ensure_future(node.controller.decide(setter(str(first_number))))
        await node.gate.waiting.wait()
        numbers = range(first_number + 1, first_number + 1 + rng.randrange(6))
        others = [self.submit(number, self.decision(number)) for number in numbers]
        await asyncio.sleep(0)
        given_up = {number for number in numbers if rng.random() < 0.2}
        for number, task in zip(numbers, others, strict=True):
            if number in given_up:
                task.cancel()
        await asyncio.sleep(0)
        self.decided.clear()
        node.gate.open.set()
        outcomes = await asyncio.gather(first, *others, return_exceptions=True)
        if failure is None:
            assert outcomes[0] == str(first_number)
        else:
            assert code_of(outcomes[0]) == failure[2]
        if fault in ("none", "full"):
            await self.check_served(numbers, outcomes[1:], given_up)
            assert node.controller.epoch == epoch
        else:
            sent_away = [o for n, o in zip(numbers, outcomes[1:], strict=True) if n not in given_up]
            assert {code_of(each) for each in sent_away} <= {ErrorCode.NOT_CONTROLLER}
            assert not self.decided
            while not node.controller.is_active:
                await asyncio.sleep(0)
            assert node.controller.epoch == epoch + 1
        await self.check_images()

    async def check_served(
        self, numbers: range, outcomes: list[str | BaseException], given_up: set[int]
    ) -> None:
        assert self.decided == [number for number in numbers if number not in given_up]
        for number, outcome in zip(numbers, outcomes, strict=True):
            if number in given_up:
                assert isinstance(outcome, asyncio.CancelledError)
            elif isinstance(outcome, BrokerError):
                assert outcome.code == ErrorCode.POLICY_VIOLATION
            else:
                assert outcome == str(number)

    async def check_images(self) -> None:
        """Decisions are made on what is published, once nothing is under way."""
        await self.node.controller.decide(lambda _state: Decision((), None))
        image = self.node.controller._image
        assert image == self.node.publisher.image
        assert image is not self.node.publisher.image
        assert image is not None
        assert image.offset == self.node.log.end_offset


def code_of(outcome: object) -> ErrorCode:
    assert isinstance(outcome, BrokerError), outcome
    return outcome.code


@pytest.mark.parametrize("seed", range(8))
def test_a_controller_serves_whatever_its_disk_does(seed: int) -> None:
    rng, disk = Random(seed), MemoryDisk()

    async def life() -> Image:
        node = Node(disk)
        await node.start()
        story = Life(node, rng)
        for number in range(ROUNDS):
            await asyncio.wait_for(story.round(100 * number, rng.choice(list(FAULTS))), 300)
        await node.stop()
        return node.publisher.image

    async def restarted() -> Image:
        node = Node(disk)
        await node.start()
        await node.stop()
        return node.publisher.image

    assert asyncio.run(life()) == asyncio.run(restarted())


def test_without_room_nothing_of_the_round_happened() -> None:
    async def whole() -> None:
        node = Node(MemoryDisk())
        await node.start()
        await node.controller.decide(setter("before"))
        node.disk.fail("write", "*.journal", error=errno.ENOSPC, times=2)
        for _ in range(2):
            results = await asyncio.gather(
                node.create("a"), node.create("b"), return_exceptions=True
            )
            assert {code_of(each) for each in results} == {ErrorCode.KAFKA_STORAGE_ERROR}
            assert node.controller.is_active
        answer = await node.create("a")
        assert answer.topics[0].error_code == ErrorCode.NONE, "it is not there already"
        assert set(node.publisher.image.topics) == {"a"}
        await node.stop()

    asyncio.run(whole())


@pytest.mark.parametrize(
    ("counts", "batches"),
    [
        ((BATCH_RECORDS_MAX - 1, 1, 1), [BATCH_RECORDS_MAX, 1]),
        ((BATCH_RECORDS_MAX - 2, 1, 1), [BATCH_RECORDS_MAX]),
        ((BATCH_RECORDS_MAX, 1), [BATCH_RECORDS_MAX, 1]),
    ],
)
def test_a_batch_takes_no_further_event_once_it_is_large(
    counts: tuple[int, ...], batches: list[int]
) -> None:
    async def whole() -> None:
        node = Node(MemoryDisk())
        await node.start()
        await node.controller.decide(setter("warm"))
        start = node.log.end_offset

        def setting(count: int) -> Callable[[ControllerState], Decision[None]]:
            records = tuple(ConfigChanged(ALL_BROKERS, "x", str(at)) for at in range(count))
            return lambda _state: Decision(records, None)

        await asyncio.gather(*(node.controller.decide(setting(count)) for count in counts))
        assert [len(each.records) for each in await node.log.read(start)] == batches
        await node.stop()

    asyncio.run(whole())


@pytest.mark.parametrize("failure", [ValueError("a bug"), OSError("a disk")])
def test_a_snapshot_that_fails_for_any_reason_stops_nothing(failure: Exception) -> None:
    async def whole() -> None:
        node = Node(MemoryDisk())
        await node.start()
        tried: list[Image] = []

        async def fail(image: Image) -> None:
            tried.append(image)
            raise failure

        node.log.write_snapshot = fail  # type: ignore[method-assign]
        epoch = node.controller.epoch
        for number in range(4):
            await node.controller.decide(setter("y" * 1_500_000 + str(number)))
        await node.create("t")
        assert tried
        assert node.controller.epoch == epoch
        await node.stop()

    asyncio.run(whole())


def test_a_snapshot_that_leaves_the_log_in_doubt_makes_it_load_again() -> None:
    async def whole() -> None:
        node = Node(MemoryDisk())
        await node.start()
        write, failures = node.log.write_snapshot, [AppendFailed("in doubt")]

        async def fail(image: Image) -> None:
            if failures:
                raise failures.pop()
            await write(image)

        node.log.write_snapshot = fail  # type: ignore[method-assign]
        epoch = node.controller.epoch
        big = "y" * 1_500_000
        while failures:
            await node.controller.decide(setter(big + str(node.log.end_offset)))
            await asyncio.sleep(0)
        while node.controller.epoch == epoch or not node.controller.is_active:
            await asyncio.sleep(0)
        assert await node.controller.decide(setter("after")) == "after"
        assert node.controller.epoch == epoch + 1
        await node.stop()

    asyncio.run(whole())


def test_much_is_more_records_or_deleted_partitions_than_are_applied_at_once() -> None:
    image, records = Image(), []
    rng = Random(1)
    ids = [TopicId(rng.randbytes(16)) for _ in range(2)]
    few, many = APPLIED_HERE_MAX, APPLIED_HERE_MAX + 1
    setting = ConfigChanged(ALL_BROKERS, "x", "1")
    assert not image.is_long([setting] * few)
    assert image.is_long([setting] * many)

    async def with_topics(*counts: int) -> Image:
        node = Node(MemoryDisk())
        await node.start()
        topics = [CreatableTopic(f"t{at}", count, 1) for at, count in enumerate(counts)]
        request = CreateTopicsRequest(topics)
        await node.controller.decide(lambda state: decide_create_topics(state, request))
        await node.stop()
        return node.publisher.image

    for counts, expected in (
        ((few,), False),
        ((many,), True),
        ((few - 1, 1), False),
        ((few, 1), True),
    ):
        image = asyncio.run(with_topics(*counts))
        records = [TopicDeleted(topic.id) for topic in image.topics.values()]
        assert image.is_long(records) is expected
        assert not image.is_long([TopicCreated(each, "t") for each in ids])
    assert not image.is_long([TopicDeleted(each) for each in ids]), "topics that are not there"
