"""A broker that dies at a chosen step of a transaction and comes back, and what must hold then.

Owns      the plan of transactions, the broker's death and return, and the checks afterwards.
Promises  a check fails wherever a transaction is half there, an acknowledged one is gone, an
          aborted one is seen, an offset does not belong to what was committed, or one stays open.
Leaves    sending to the client that a test is about.
"""

from __future__ import annotations

import signal
import threading
import time
from enum import Enum
from types import TracebackType
from typing import NamedTuple, Self

from confluent_kafka import Consumer, TopicPartition
from tests.support.raw_client import RawClient
from tests.support.waiting import pause

from ottla.base.fault_points import VARIABLE, FaultPoint
from ottla.protocol.messages.describe_transactions_request import DescribeTransactionsRequest
from ottla.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from ottla.protocol.messages.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from ottla.protocol.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from ottla.testing.broker import BrokerFailed, RunningBroker
from ottla.testing.ports import non_ephemeral_port

TOPIC = "out"
PARTITIONS = (0, 1)
RECORDS = 3  # of each transaction, in each partition
GROUP = "readers"
ID = "payments"
TRANSACTIONS = 5
ABORTED = frozenset({2})  # which of them are to be aborted
PATIENCE_S = 120.0
SETTINGS = {
    "transaction.state.log.num.partitions": "2",
    "offsets.topic.num.partitions": "2",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "100",
}
FINISHED = ("Empty", "CompleteCommit", "CompleteAbort")

# How often a point is passed until it lies in the middle of the second transaction.
PASSES = {
    FaultPoint.PRODUCER_ID_LOGGED: 1,
    FaultPoint.PARTITIONS_ENLISTED: 3,
    FaultPoint.DATA_APPENDED: 3,
    FaultPoint.FIRST_MARKER_WRITTEN: 4,
}


class Outcome(Enum):
    """The result that the client received."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "unknown"


class Planned(NamedTuple):
    number: int
    is_commit: bool

    @property
    def offset(self) -> int:
        return self.number + 1

    def values(self, partition: int) -> list[bytes]:
        return [b"%d:%d:%d" % (self.number, partition, at) for at in range(RECORDS)]


PLAN = [Planned(number, number not in ABORTED) for number in range(TRANSACTIONS)]


class MortalBroker:
    """Dies at a fault point, and is started again at once, without a fault point."""

    def __init__(self, point: FaultPoint, passes: int | None = None) -> None:
        wanted = f"{point.value}:{passes or PASSES.get(point, 2)}"
        self.point = point
        # A port that no outgoing connection is given while the broker is dead.
        port = non_ephemeral_port()
        self.broker = RunningBroker(config=SETTINGS, port=port, environment={VARIABLE: wanted})
        self.died = threading.Event()
        self._failure: BrokerFailed | None = None
        self._reviver = threading.Thread(target=self._revive, name="reviver")

    @property
    def bootstrap(self) -> str:
        return self.broker.bootstrap_servers

    def __enter__(self) -> Self:
        self.broker.start()
        prepare(self.bootstrap)
        self._reviver.start()
        return self

    def _revive(self) -> None:
        code = self.broker.wait_for_end(600)
        if code != -signal.SIGKILL or VARIABLE not in self.broker.environment:
            return
        self.broker.environment.clear()
        try:
            self.broker.start()
        except BrokerFailed as error:
            self._failure = error
        self.died.set()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.broker.environment.clear()
        self.broker.close()
        self._reviver.join()
        if kind is None:
            assert "Traceback" not in self.broker.log, self.broker.log[-20_000:]

    def wait_revived(self) -> None:
        assert self.died.wait(PATIENCE_S), f"it never came to {self.point.value}"
        if self._failure is not None:
            raise self._failure


def prepare(bootstrap: str) -> None:
    """Make the topics, those of the coordinators included."""
    with RawClient(bootstrap) as client:
        client.create_topic(TOPIC, len(PARTITIONS))
        for key, kind in ((GROUP, 0), (ID, 1)):
            assert client.ask(FindCoordinatorRequest(key, kind), 2).error_code == 0


# What must hold afterwards


def check(bootstrap: str, outcomes: dict[Planned, Outcome]) -> None:
    unknown = [each for each, outcome in outcomes.items() if outcome is Outcome.UNKNOWN]
    assert len(unknown) <= 1, f"one death cannot hide the end of {unknown}"
    with RawClient(bootstrap) as client:
        for partition in PARTITIONS:
            wait_stable(client, partition)
        wait_finished(client)
        seen = read_committed(bootstrap, client)
        visible = [each for each in outcomes if is_visible(each, seen)]
        for planned, outcome in outcomes.items():
            if outcome is not Outcome.UNKNOWN:
                expected = outcome is Outcome.COMMITTED
                assert (planned in visible) is expected, (planned, outcome, seen)
        for partition in PARTITIONS:
            expected_values = [value for each in visible for value in each.values(partition)]
            assert seen[partition] == expected_values
        assert committed_offset(client) == max((each.offset for each in visible), default=-1)


def is_visible(planned: Planned, seen: dict[int, list[bytes]]) -> bool:
    found = {partition: set(planned.values(partition)) & set(seen[partition]) for partition in seen}
    is_whole = [len(found[partition]) == RECORDS for partition in PARTITIONS]
    assert all(is_whole) or not any(found.values()), f"{planned} is half there: {found}"
    return all(is_whole)


def wait_stable(client: RawClient, partition: int) -> None:
    """Until no transaction is open in the partition."""
    began_s = time.monotonic()
    while (stable := end_offset(client, partition, 1)) != (end := end_offset(client, partition, 0)):
        reported = f"partition {partition} is stable to {stable} of {end}"
        assert time.monotonic() - began_s < PATIENCE_S, reported
        pause(began_s)


def wait_finished(client: RawClient) -> None:
    began_s = time.monotonic()
    while (state := state_of_id(client)) not in FINISHED:
        assert time.monotonic() - began_s < PATIENCE_S, f"the transactional id stays in {state}"
        pause(began_s)


def state_of_id(client: RawClient) -> str:
    (found,) = client.ask(DescribeTransactionsRequest([ID]), 0).transaction_states
    return "Empty" if found.error_code else str(found.transaction_state)


def end_offset(client: RawClient, partition: int, isolation: int) -> int:
    topic = ListOffsetsTopic(TOPIC, [ListOffsetsPartition(partition, timestamp=-1)])
    answer = client.ask(ListOffsetsRequest(-1, isolation, [topic]), 5).topics[0].partitions[0]
    assert answer.error_code == 0, answer
    offset: int = answer.offset
    return offset


def read_committed(bootstrap: str, client: RawClient) -> dict[int, list[bytes]]:
    """All values by partition, as a reader of committed data gets them."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "checker",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "enable.auto.commit": False,
        }
    )
    seen: dict[int, list[bytes]] = {partition: [] for partition in PARTITIONS}
    left = {each for each in PARTITIONS if end_offset(client, each, 1) > 0}
    try:
        consumer.assign([TopicPartition(TOPIC, partition, 0) for partition in PARTITIONS])
        while left:
            message = consumer.poll(PATIENCE_S)
            assert message is not None, f"the ends of {left} were not reached"
            if message.error() is not None:
                left.discard(message.partition())
            else:
                seen[message.partition()].append(message.value())
    finally:
        consumer.close()
    return seen


def committed_offset(client: RawClient) -> int:
    wanted = OffsetFetchRequestTopics(TOPIC, partition_indexes=[0])
    group = OffsetFetchRequestGroup(GROUP, topics=[wanted])
    request = OffsetFetchRequest(groups=[group], require_stable=True)
    found = client.ask(request, 8).groups[0].topics[0].partitions[0]
    assert found.error_code == 0, found
    offset: int = found.committed_offset
    return offset
