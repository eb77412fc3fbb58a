"""When a replica without room asks to leave the in-sync ones, and what it asks for."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from tests.support.virtual_time import run_in_virtual_time
from tests.unit.replication.test_in_sync_changes import LoopClock

from ottla.base.ids import TopicId
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.alter_partition_request import TopicData
from ottla.replication.leadership import Leadership
from ottla.replication.withdrawals import AGAIN_S_MAX, Withdrawals

TOPIC_ID = TopicId(b"sixteen bytes ID")
ME = 1
STATE = Leadership(ME, 4, 7, (1, 2, 3), (1, 2, 3))


class Sent:
    """The requests to the controller, which may not answer."""

    def __init__(self) -> None:
        self.requests: list[list[TopicData]] = []
        self.is_gone = False

    async def send(self, topics: list[TopicData]) -> None:
        self.requests.append(topics)
        if self.is_gone:
            raise BrokerError(ErrorCode.NOT_CONTROLLER)

    def times(self) -> int:
        return len(self.requests)


async def reported(sent: Sent, state: Leadership, times: int, every_s: float) -> None:
    withdrawals = Withdrawals(ME, sent.send, LoopClock())
    running = asyncio.create_task(withdrawals.run())
    for _ in range(times):
        for index in (0, 1):
            withdrawals.out_of_resources(TOPIC_ID, index, state)
        await asyncio.sleep(every_s)
    running.cancel()


def test_a_request_has_all_replicas_that_leave_and_the_epochs_that_are_known() -> None:
    sent = Sent()
    run_in_virtual_time(reported(sent, STATE, 1, 1))
    ((topic,),) = sent.requests
    assert topic.topic_id == TOPIC_ID
    assert [each.partition_index for each in topic.partitions] == [0, 1]
    for each in topic.partitions:
        assert (each.leader_epoch, each.partition_epoch) == (4, 7)
        assert [other.broker_id for other in each.new_isr_with_epochs] == [2, 3]


def test_the_only_replica_and_one_that_has_left_stay_quiet() -> None:
    sent = Sent()
    for in_sync in ((ME,), (2, 3), ()):
        run_in_virtual_time(reported(sent, replace(STATE, in_sync_replicas=in_sync), 3, 2))
    assert sent.times() == 0


def test_what_was_not_answered_is_asked_again() -> None:
    sent = Sent()
    sent.is_gone = True
    run_in_virtual_time(reported(sent, STATE, 2, 2))
    assert sent.times() == 2


def test_the_more_often_a_replica_leaves_the_longer_it_stays() -> None:
    sent = Sent()
    run_in_virtual_time(reported(sent, STATE, 600, 0.1))
    assert sent.times() == 6, "after 0, 1, 3, 7, 15 and 31 s"
    sent = Sent()
    run_in_virtual_time(reported(sent, STATE, 3, 3 * AGAIN_S_MAX))
    assert sent.times() == 3
