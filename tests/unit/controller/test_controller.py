"""The controller: order, batches, what is visible when, and what a failed append leaves."""

from __future__ import annotations

import asyncio
import errno
import threading
from collections.abc import Awaitable, Callable
from random import Random
from typing import TypeVar

import pytest
from tests.unit.controller.clusters import CLUSTER_ID, Cluster

from ottla.base.files.filesystem import read_file
from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.steps import Steps
from ottla.base.scheduling.threads import Threads
from ottla.config.load import load_config
from ottla.controller.controller import (
    ANSWERED_AT_ONCE,
    DECIDED_AT_ONCE,
    EVENTS_MAX,
    Controller,
    ControllerSettings,
)
from ottla.controller.create_topics import decide_create_topics
from ottla.controller.decision import Decision
from ottla.controller.new_cluster import decide_new_cluster
from ottla.controller.sole_controller import run_alone
from ottla.controller.state import ControllerState
from ottla.metadata.changes import Changes
from ottla.metadata.continuity import KnownState
from ottla.metadata.file_log import FileMetadataLog
from ottla.metadata.frame import BATCH
from ottla.metadata.image import Batch, Image
from ottla.metadata.journal import open_journal
from ottla.metadata.log import AppendRefused, MetadataLost
from ottla.metadata.publisher import Publisher
from ottla.metadata.records import (
    ALL_BROKERS,
    BrokerRegistered,
    ClusterNamed,
    ConfigChanged,
    Record,
    TopicDeleted,
)
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.create_topics_response import CreateTopicsResponse
from ottla.testing.clock import ManualClock
from ottla.testing.filesystem import MemoryDisk

T = TypeVar("T")
LOADED = load_config()


class Gate:
    """Holds work on the disk back while it is shut."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.open.set()
        self.waiting = asyncio.Event()

    async def __call__(self, work: Callable[[], T]) -> T:
        self.waiting.set()
        await self.open.wait()
        self.waiting.clear()
        return work()


class Node:
    """A controller over a disk in memory, running."""

    def __init__(self, disk: MemoryDisk) -> None:
        self.disk = disk
        self.gate = Gate()
        self.log = FileMetadataLog(disk, "/m", self.gate)
        self.clock = ManualClock()
        self.publisher = Publisher(Image(), StepScheduler(self.clock))
        dice = Random(1)
        settings = ControllerSettings(
            1, LOADED.config, LOADED.layers, dice, lambda: dice.randbytes(16)
        )
        self.controller = Controller(self.log, self.publisher, settings, Threads())
        self.running: asyncio.Task[None] | None = None

    async def start(self) -> None:
        image = await self.log.load(KnownState())
        self.publisher.replace(image.copy())
        self.controller.activate(image, image.controller_epoch + 1)
        self.running = asyncio.create_task(run_alone(self.controller, self.log, self.publisher))
        if not image.cluster_id:
            await self.controller.decide(lambda _state: first_records())

    async def stop(self) -> None:
        assert self.running is not None
        self.running.cancel()
        await asyncio.wait([self.running])
        await self.log.close()

    async def create(self, *names: str) -> CreateTopicsResponse:
        request = CreateTopicsRequest([CreatableTopic(name, 1, 1) for name in names])
        return await self.controller.decide(lambda state: decide_create_topics(state, request))


def first_records() -> Decision[None]:
    broker = BrokerRegistered(1, 1, b"i" * 16, (), is_fenced=False)
    return Decision((*decide_new_cluster(CLUSTER_ID, LOADED.layers), broker), None)


def run(story: Callable[[Node], Awaitable[None]], disk: MemoryDisk | None = None) -> None:
    async def whole() -> None:
        node = Node(disk or MemoryDisk())
        await node.start()
        try:
            await asyncio.wait_for(story(node), 300)
        finally:
            await node.stop()

    asyncio.run(whole())


def setting(value: str) -> Decision[str]:
    return Decision((ConfigChanged(ALL_BROKERS, "x", value),), value)


def setter(value: str) -> Callable[[ControllerState], Decision[str]]:
    return lambda _state: setting(value)


def test_an_answer_comes_when_the_topic_is_durable_and_in_the_published_image() -> None:
    async def story(node: Node) -> None:
        answer = await node.create("t")
        assert answer.topics[0].error_code == 0
        assert node.publisher.image.topic("t") is not None
        assert node.log.end_offset == node.publisher.image.offset

    run(story)


def test_nothing_is_published_before_it_is_durable() -> None:
    async def story(node: Node) -> None:
        node.gate.open.clear()
        creating = asyncio.ensure_future(node.create("t"))
        await node.gate.waiting.wait()
        assert not creating.done()
        assert node.publisher.image.topic("t") is None
        node.gate.open.set()
        await creating
        assert node.publisher.image.topic("t") is not None

    run(story)


def test_an_answer_waits_for_all_who_react_to_the_published_image() -> None:
    """A client that has created a topic may use it at once."""

    async def story(node: Node) -> None:
        seen: list[bool] = []

        def slowly(image: Image, _changes: Changes) -> Steps[None]:
            for _ in range(5):
                node.clock.advance_ms(10)  # a slice of its own
                seen.append(image.topic("t") is not None and not creating.done())
                yield 0

        node.publisher.subscribe(slowly)
        creating = asyncio.ensure_future(node.create("t"))
        await creating
        assert seen == [True] * 5

    run(story)


def test_events_that_came_during_an_append_go_into_one_batch() -> None:
    async def story(node: Node) -> None:
        start = node.log.end_offset
        node.gate.open.clear()
        first = asyncio.ensure_future(node.create("a"))
        await node.gate.waiting.wait()
        others = [asyncio.ensure_future(node.create(name)) for name in ("b", "c", "d")]
        await asyncio.sleep(0)
        node.gate.open.set()
        await asyncio.gather(first, *others)
        batches = await node.log.read(start)
        assert [len(batch.records) for batch in batches] == [2, 6]

    run(story)


def test_an_event_sees_what_those_before_it_decided_in_the_same_batch() -> None:
    async def story(node: Node) -> None:
        first, second = await asyncio.gather(node.create("t"), node.create("t"))
        assert first.topics[0].error_code == 0
        assert second.topics[0].error_code == ErrorCode.TOPIC_ALREADY_EXISTS

    run(story)


def test_events_are_decided_in_the_order_in_which_they_came() -> None:
    async def story(node: Node) -> None:
        decided: list[str] = []

        def decide(value: str) -> Callable[[ControllerState], Decision[str]]:
            def note(_state: ControllerState) -> Decision[str]:
                decided.append(value)
                return setting(value)

            return note

        values = [str(number) for number in range(50)]
        answers = await asyncio.gather(*(node.controller.decide(decide(v)) for v in values))
        assert decided == values == list(answers)
        assert node.publisher.image.broker_config(None)["x"] == "49"

    run(story)


def test_a_large_event_is_decided_in_a_thread_and_keeps_its_place() -> None:
    async def story(node: Node) -> None:
        order: list[str] = []
        threads: set[int] = set()

        def noting(name: str) -> Callable[[ControllerState], Decision[None]]:
            def decide(_state: ControllerState) -> Decision[None]:
                order.append(name)
                threads.add(threading.get_ident())
                return Decision((), None)

            return decide

        await asyncio.gather(
            node.controller.decide(noting("small")),
            node.controller.decide(noting("large"), is_large=True),
            node.controller.decide(noting("last")),
        )
        assert order == ["small", "large", "last"]
        assert len(threads) == 2

    run(story)


def test_what_a_large_event_raises_is_its_own_answer() -> None:
    async def story(node: Node) -> None:
        def refuse(_state: ControllerState) -> Decision[None]:
            raise BrokerError(ErrorCode.POLICY_VIOLATION)

        with pytest.raises(BrokerError):
            await node.controller.decide(refuse, is_large=True)
        assert await node.create("after") is not None

    run(story)


def test_an_event_that_cannot_be_decided_does_not_touch_the_others() -> None:
    async def story(node: Node) -> None:
        def broken(_state: ControllerState) -> Decision[None]:
            raise BrokerError(ErrorCode.STALE_BROKER_EPOCH, "no")

        results = await asyncio.gather(
            node.create("a"),
            node.controller.decide(broken),
            node.create("b"),
            return_exceptions=True,
        )
        assert isinstance(results[1], BrokerError)
        assert set(node.publisher.image.topics) == {"a", "b"}

    run(story)


def test_a_decision_without_records_is_answered_without_a_write() -> None:
    async def story(node: Node) -> None:
        before = node.log.end_offset
        answer = await node.controller.decide(lambda state: Decision((), state.image.cluster_id))
        assert answer == CLUSTER_ID
        assert node.log.end_offset == before

    run(story)


@pytest.mark.parametrize("confirmed", [(True, False), (False, True), (True, True)])
def test_an_answer_is_confirmed_whatever_else_is_decided_with_it(
    confirmed: tuple[bool, bool],
) -> None:
    """The state of a controller that was replaced may be outdated."""

    async def story(node: Node) -> None:
        async def refuse() -> None:
            raise AppendRefused("another broker was elected")

        node.log.confirm = refuse  # type: ignore[method-assign]
        answers = await asyncio.gather(
            *(
                node.controller.decide(lambda _state: Decision((), None), is_confirmed=each)
                for each in confirmed
            ),
            return_exceptions=True,
        )
        codes = [each.code for each in answers if isinstance(each, BrokerError)]
        assert codes == 2 * [ErrorCode.NOT_CONTROLLER]

    run(story)


@pytest.mark.parametrize("kind", ["write", "sync"])
def test_after_a_failed_append_no_event_succeeds_and_the_controller_continues(kind: str) -> None:
    async def story(node: Node) -> None:
        await node.create("before")
        node.disk.fail(kind, "*.journal", error=errno.EIO)
        with pytest.raises(BrokerError) as raised:
            await node.create("t")
        assert raised.value.code is ErrorCode.NOT_CONTROLLER
        answer = await retried(node, "t")
        # Whether the failed batch was kept is for the log to say; both are one story.
        kept = answer.topics[0].error_code == ErrorCode.TOPIC_ALREADY_EXISTS
        assert kept == (kind == "sync")
        assert set(node.publisher.image.topics) == {"before", "t"}

    run(story)


async def retried(node: Node, name: str) -> CreateTopicsResponse:
    """As a client does it: until there is a controller again."""
    while True:
        try:
            return await node.create(name)
        except BrokerError as error:
            if error.code is not ErrorCode.NOT_CONTROLLER:
                raise
            await asyncio.sleep(0)


def test_a_failed_append_takes_a_new_epoch() -> None:
    async def story(node: Node) -> None:
        before = node.controller.epoch
        node.disk.fail("write", "*.journal")
        with pytest.raises(BrokerError):
            await node.create("t")
        await retried(node, "t")
        assert node.controller.epoch == before + 1
        assert node.publisher.image.controller_epoch == before + 1

    run(story)


def test_events_that_waited_behind_a_failed_append_are_sent_away_undecided() -> None:
    async def story(node: Node) -> None:
        node.gate.open.clear()
        node.disk.fail("write", "*.journal")
        first = asyncio.ensure_future(node.create("a"))
        await node.gate.waiting.wait()
        second = asyncio.ensure_future(node.create("b"))
        await asyncio.sleep(0)
        node.gate.open.set()
        for waiting in (first, second):
            with pytest.raises(BrokerError) as raised:
                await waiting
            assert raised.value.code is ErrorCode.NOT_CONTROLLER
        await retried(node, "c")
        assert set(node.publisher.image.topics) == {"c"}

    run(story)


@pytest.mark.parametrize(
    "record",
    [
        TopicDeleted(b"an unknown topic"),  # type: ignore[arg-type]
        ConfigChanged(ALL_BROKERS, "x", object()),  # type: ignore[arg-type]  # in no file
        object(),  # in no image
    ],
    ids=["a record that does not fit", "one that cannot be written", "one that is none"],
)
def test_a_bug_in_a_decision_changes_nothing(record: Record) -> None:
    async def story(node: Node) -> None:
        await node.create("before")

        def bug(_state: ControllerState) -> Decision[None]:
            return Decision((record,), None)

        with pytest.raises(BrokerError):
            await node.controller.decide(bug)
        await retried(node, "after")
        assert set(node.publisher.image.topics) == {"before", "after"}

    run(story)


def test_when_the_log_cannot_even_be_loaded_again_the_controller_ends() -> None:
    async def whole() -> None:
        node = Node(MemoryDisk())
        await node.start()
        node.disk.fail({"write", "open", "create", "sync"}, times=None)
        with pytest.raises(BrokerError):
            await node.create("t")
        assert node.running is not None
        with pytest.raises(MetadataLost, match=r"cannot be loaded: .*Input/output error"):
            await node.running
        assert not node.controller.is_active
        with pytest.raises(BrokerError) as raised:
            await node.create("t")
        assert raised.value.code is ErrorCode.NOT_CONTROLLER

    asyncio.run(whole())


def moved_away(disk: MemoryDisk) -> None:
    disk.rename("/m", "/elsewhere")


def emptied(disk: MemoryDisk) -> None:
    for name in disk.list_directory("/m"):
        disk.remove(f"/m/{name}")


def removed(disk: MemoryDisk) -> None:
    disk.remove_directory("/m")


def replaced_by_a_file(disk: MemoryDisk) -> None:
    disk.rename("/m", "/elsewhere")
    disk.open("/m", create=True)


def replaced_by_another_cluster(disk: MemoryDisk) -> None:
    disk.rename("/m", "/elsewhere")
    journal, _ = open_journal(disk, "/m", KnownState())
    journal.append(Batch(0, 9, (ClusterNamed("another"),) * 50))
    journal.close(is_clean=False)


def cut(disk: MemoryDisk) -> None:
    (name,) = (name for name in disk.list_directory("/m") if name.endswith(".journal"))
    disk.open(f"/m/{name}").truncate(disk.size(f"/m/{name}") // 2)


def replaced_by_an_older_copy(disk: MemoryDisk) -> None:
    """The same directory as it was after its first batch."""
    (name,) = (name for name in disk.list_directory("/m") if name.endswith(".journal"))
    content = read_file(disk, f"/m/{name}")
    disk.rename("/m", "/elsewhere")
    disk.make_directory("/m")
    copy = disk.open(f"/m/{name}", create=True)
    copy.write_at(0, content[: content.index(BATCH, 1)])


def tree(disk: MemoryDisk, path: str) -> dict[str, bytes]:
    if not disk.is_directory(path):
        return {}
    return {name: read_file(disk, f"{path}/{name}") for name in disk.list_directory(path)}


DAMAGES = [
    moved_away,
    emptied,
    removed,
    replaced_by_a_file,
    replaced_by_another_cluster,
    cut,
    replaced_by_an_older_copy,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_log_that_is_lost_ends_the_controller_and_nothing_is_published(
    damage: Callable[[MemoryDisk], None],
) -> None:
    async def whole() -> None:
        node = Node(MemoryDisk())
        await node.start()
        await node.create("before")
        damage(node.disk)
        found = tree(node.disk, "/m")
        heard: list[object] = []
        node.publisher.subscribe(lambda _image, changes: heard.append(changes))
        with pytest.raises(BrokerError):
            await node.create("t")
        assert node.running is not None
        with pytest.raises(MetadataLost, match="the metadata log /m cannot be used"):
            await node.running
        assert set(node.publisher.image.topics) == {"before"}
        assert not heard
        await node.log.close()
        left = tree(node.disk, "/m")
        if damage is not cut:  # there it is our own file, which may hold what was written last
            assert left == found

    asyncio.run(whole())


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_log_that_is_lost_is_noticed_without_an_append(
    damage: Callable[[MemoryDisk], None],
) -> None:
    async def story(node: Node) -> None:
        await node.create("before")
        await node.log.check()
        damage(node.disk)
        with pytest.raises(MetadataLost):
            await node.log.check()

    run(story)


def test_what_was_acknowledged_is_there_once_a_lost_directory_is_restored() -> None:
    disk = MemoryDisk()

    async def first() -> None:
        node = Node(disk)
        await node.start()
        await node.create("before")
        moved_away(disk)
        with pytest.raises(BrokerError):
            await node.create("t")
        assert node.running is not None
        await asyncio.wait([node.running])
        assert node.running.exception() is not None
        await node.log.close()

    asyncio.run(first())
    disk.rename("/elsewhere", "/m")

    async def story(node: Node) -> None:
        assert "before" in node.publisher.image.topics

    run(story, disk)


def test_a_cancelled_event_is_not_decided() -> None:
    async def story(node: Node) -> None:
        node.gate.open.clear()
        first = asyncio.ensure_future(node.create("a"))
        await node.gate.waiting.wait()
        second = asyncio.ensure_future(node.create("b"))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.wait([second])
        node.gate.open.set()
        await first
        await node.create("c")
        assert set(node.publisher.image.topics) == {"a", "c"}

    run(story)


def test_when_it_is_stopped_all_waiting_events_fail() -> None:
    async def whole() -> None:
        node = Node(MemoryDisk())
        await node.start()
        node.gate.open.clear()
        waiting = [asyncio.ensure_future(node.create(name)) for name in ("a", "b")]
        await node.gate.waiting.wait()
        assert node.running is not None
        node.running.cancel()
        await asyncio.wait([node.running])
        node.gate.open.set()
        for each in waiting:
            with pytest.raises(BrokerError):
                await each
        await node.log.close()

    asyncio.run(whole())


def test_events_that_wait_for_the_queue_fail_too() -> None:
    async def whole() -> None:
        node = Node(MemoryDisk())
        await node.start()
        node.gate.open.clear()
        waiting = [asyncio.ensure_future(node.controller.decide(setter("first")))]
        await node.gate.waiting.wait()
        waiting += [
            asyncio.ensure_future(node.controller.decide(setter(str(number))))
            for number in range(EVENTS_MAX + 5)
        ]
        await asyncio.sleep(0)
        assert node.running is not None
        node.running.cancel()
        await asyncio.wait([node.running])
        node.gate.open.set()
        results = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 300)
        assert all(isinstance(result, BrokerError) for result in results)
        await node.log.close()

    asyncio.run(whole())


def test_few_of_very_many_events_are_decided_and_answered_in_an_iteration_of_the_loop() -> None:
    async def story(node: Node) -> None:
        decided: list[int] = []
        answered: list[int] = []

        async def ask(number: int) -> None:
            def decide(_state: ControllerState) -> Decision[int]:
                decided.append(number)
                return Decision((), number)

            answered.append(await node.controller.decide(decide))

        node.gate.open.clear()
        first = asyncio.ensure_future(node.controller.decide(setter("first")))
        await node.gate.waiting.wait()
        waiting = [asyncio.ensure_future(ask(number)) for number in range(EVENTS_MAX)]
        await asyncio.sleep(0)
        node.gate.open.set()
        while len(answered) < EVENTS_MAX:
            before = len(decided), len(answered)
            await asyncio.sleep(0)
            assert len(decided) - before[0] <= DECIDED_AT_ONCE
            assert len(answered) - before[1] <= ANSWERED_AT_ONCE
        assert decided == answered == list(range(EVENTS_MAX))
        await asyncio.gather(first, *waiting)

    run(story)


def test_a_controller_that_is_cancelled_while_it_answers_answers_all_that_is_decided() -> None:
    async def story(node: Node) -> None:
        node.gate.open.clear()
        first = asyncio.ensure_future(node.controller.decide(setter("first")))
        await node.gate.waiting.wait()
        count = 3 * ANSWERED_AT_ONCE
        waiting = [
            asyncio.ensure_future(node.controller.decide(setter(str(number))))
            for number in range(count)
        ]
        await asyncio.sleep(0)
        node.gate.open.set()
        while not any(each.done() for each in waiting):
            await asyncio.sleep(0)
        assert not all(each.done() for each in waiting)
        assert node.running is not None
        node.running.cancel()
        await asyncio.wait([node.running])
        assert await asyncio.gather(first, *waiting) == ["first", *map(str, range(count))]

    run(story)


def test_events_that_failed_while_waiting_are_not_decided_later() -> None:
    async def story(node: Node) -> None:
        decided: list[int] = []

        def noting(number: int) -> Callable[[ControllerState], Decision[str]]:
            def decide(_state: ControllerState) -> Decision[str]:
                decided.append(number)
                return setting(str(number))

            return decide

        node.gate.open.clear()
        node.disk.fail("sync", "/m/*.journal")
        waiting = [asyncio.ensure_future(node.controller.decide(setter("first")))]
        await node.gate.waiting.wait()
        waiting += [
            asyncio.ensure_future(node.controller.decide(noting(number)))
            for number in range(EVENTS_MAX + 5)
        ]
        await asyncio.sleep(0)
        node.gate.open.set()
        results = await asyncio.gather(*waiting, return_exceptions=True)
        assert all(isinstance(result, BrokerError) for result in results)
        while not node.controller.is_active:
            await asyncio.sleep(0)
        assert await node.controller.decide(setter("last")) == "last"
        assert decided == []

    run(story)


def test_a_journal_that_has_grown_is_replaced_by_a_snapshot_while_events_go_on() -> None:
    async def story(node: Node) -> None:
        big = "y" * 1_500_000
        for number in range(4):
            await node.controller.decide(setter(big + str(number)))
        names = [name for name in node.disk.list_directory("/m") if name.endswith(".snapshot")]
        assert names != [f"{0:020}.snapshot"]
        await node.create("t")
        assert node.publisher.image.topic("t") is not None

    run(story)


def test_a_snapshot_that_cannot_be_written_stops_nothing() -> None:
    async def story(node: Node) -> None:
        node.disk.fail("write", "*.snapshot*", error=errno.ENOSPC, times=None)
        for number in range(4):
            await node.controller.decide(setter("y" * 1_500_000 + str(number)))
        await node.create("t")
        assert node.publisher.image.topic("t") is not None

    run(story)


def test_what_was_answered_is_there_after_any_crash() -> None:
    for seed in range(25):
        disk = MemoryDisk()
        answered: list[str] = []

        async def life(
            disk: MemoryDisk = disk, answered: list[str] = answered, seed: int = seed
        ) -> None:
            node = Node(disk)
            await node.start()
            rng = Random(seed)
            disk.fail({"write", "sync", "rename"}, skip=rng.randrange(30), times=None)
            try:
                for number in range(20):
                    await node.create(f"t{number}")
                    answered.append(f"t{number}")
            except BrokerError:
                pass
            assert node.running is not None
            node.running.cancel()
            await asyncio.wait([node.running])
            if not node.running.cancelled():
                node.running.exception()

        asyncio.run(life())
        disk.heal()
        disk.crash(Random(seed))

        async def check(disk: MemoryDisk = disk, answered: list[str] = answered) -> None:
            node = Node(disk)
            await node.start()
            assert set(answered) <= set(node.publisher.image.topics)
            assert len(node.publisher.image.topics) <= len(answered) + 1
            await node.stop()

        asyncio.run(check())


def test_the_decisions_image_and_the_published_one_are_the_same_in_the_end() -> None:
    cluster = Cluster()
    cluster.add_broker(1)
    copy = Image()
    copy.load(cluster.image.to_records(), cluster.image.offset, cluster.image.controller_epoch)
    decision = decide_create_topics(cluster.state, CreateTopicsRequest([CreatableTopic("t", 3, 1)]))
    batch = Batch(copy.offset, 1, decision.records)
    copy.apply(batch)
    cluster.carry_out(decision)
    assert copy == cluster.image


# Cancelled during an append


def test_a_decision_that_is_being_appended_is_answered_although_the_controller_is_cancelled() -> (
    None
):
    async def story(node: Node) -> None:
        node.gate.open.clear()
        creating = asyncio.create_task(node.create("t"))
        await node.gate.waiting.wait()
        assert node.running is not None
        node.running.cancel()
        await asyncio.sleep(0)
        node.gate.open.set()
        answer = await creating
        assert answer.topics[0].error_code == ErrorCode.NONE
        assert node.publisher.image.topic("t") is not None
        await asyncio.wait([node.running])
        assert node.running.cancelled()

    run(story)


@pytest.mark.parametrize("is_failing", [True, False])
def test_a_cancelled_controller_ends_if_its_append_fails_or_does_not_end(
    monkeypatch: pytest.MonkeyPatch, is_failing: bool
) -> None:
    monkeypatch.setattr("ottla.controller.controller.FINISHING_S", 60.0 if is_failing else 0.01)

    async def story(node: Node) -> None:
        node.gate.open.clear()
        creating = asyncio.create_task(node.create("t"))
        await node.gate.waiting.wait()
        assert node.running is not None
        if is_failing:
            node.disk.fail("write", "/m/*", error=errno.EIO)
        node.running.cancel()
        await asyncio.sleep(0)
        if is_failing:
            node.gate.open.set()
        await asyncio.wait([node.running])
        assert node.running.cancelled()
        with pytest.raises(BrokerError, match="not the correct controller"):
            await creating
        assert node.publisher.image.topic("t") is None
        node.gate.open.set()

    run(story)
