"""Groups and kill -9: what was acknowledged is there, and members continue where they were."""

from __future__ import annotations

import threading
from random import Random

import pytest
from tests.compatibility.clients.groups_harness import PARTITIONS, GroupsHarness, rebalance, settle
from tests.compatibility.clients.transactions_harness import settled
from tests.support.raw_client import RawClient
from tests.support.waiting import wait_until

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.testing.broker import RunningBroker

pytestmark = pytest.mark.ci

NONE = ErrorCode.NONE
KILLS = 4


class Committer(threading.Thread):
    """Commits 1, 2, 3, ... to a partition until its connection breaks."""

    def __init__(self, harness: GroupsHarness, partition: int, start: int) -> None:
        super().__init__(daemon=True)
        self.harness, self.partition = harness, partition
        self.begun_at = self.sent = self.acknowledged = start
        self.start()

    @property
    def has_begun(self) -> bool:
        return self.acknowledged > self.begun_at

    def run(self) -> None:
        try:
            with RawClient(self.harness.bootstrap) as client:
                while True:
                    self.sent += 1
                    wanted = OffsetCommitRequestPartition(self.partition, self.sent)
                    topic = OffsetCommitRequestTopic(self.harness.topic, partitions=[wanted])
                    request = OffsetCommitRequest(self.harness.group, topics=[topic])
                    answer = client.ask(request, 8)
                    assert answer.topics[0].partitions[0].error_code == NONE, answer
                    self.acknowledged = self.sent
        except (ConnectionError, TimeoutError):
            pass


def test_committed_offsets_survive_and_never_go_back() -> None:
    random = Random(7)
    with RunningBroker(config={"offsets.topic.num.partitions": "1"}) as broker:
        harness = GroupsHarness(broker.bootstrap_servers)
        offsets = dict.fromkeys(range(PARTITIONS), 0)
        for _ in range(KILLS):
            committers = [Committer(harness, *item) for item in offsets.items()]
            committers[0].join(random.uniform(0.1, 0.4))
            wait_until(lambda: all(each.has_begun for each in committers), "all commit")  # noqa: B023
            broker.kill()
            for committer in committers:
                committer.join()
            broker.start()
            harness.client = harness.connect()
            harness.find_coordinator(harness.group)
            found = settled(lambda: harness.fetch(range(PARTITIONS)), code_of)
            for committer in committers:
                offset = found[committer.partition]
                assert committer.acknowledged <= offset <= committer.sent
                offsets[committer.partition] = offset
        assert all(offset > 0 for offset in offsets.values())
        harness.close()
        assert "Traceback" not in broker.log


def code_of(found: object) -> ErrorCode:
    return found if isinstance(found, ErrorCode) else NONE


@pytest.mark.parametrize("kind", ["classic", "consumer"])
def test_members_keep_their_place(kind: str) -> None:
    with RunningBroker() as broker:
        harness = GroupsHarness(broker.bootstrap_servers)
        old = [harness.classic(session_ms=60_000) for _ in range(2)]
        new = [harness.consumer() for _ in range(2)]
        if kind == "classic":
            rebalance(*old)
        else:
            settle(*new, sizes=[2, 2])
        broker.kill()
        broker.start()
        for member in old:
            member.client = harness.connect()
        for consumer in new:
            consumer.client = harness.connect()
        harness.client = harness.connect()
        harness.find_coordinator(harness.group)
        if kind == "classic":
            # Heartbeats are answered while the group is loaded, as in Kafka; syncs are not.
            synced = [settled(member.sync, lambda answer: answer.error_code) for member in old]
            assert [answer.error_code for answer in synced] == [NONE, NONE]
            assert [settled(member.heartbeat) for member in old] == [NONE, NONE]
            assert sorted(at for member in old for at in member.owned) == list(range(PARTITIONS))
        else:
            had = [member.owned for member in new]
            assert [settled(member.beat) for member in new] == [NONE, NONE]
            assert [member.owned for member in new] == had
        harness.close()
