"""Changes that an administrator makes while clients work: leaders and replicas move."""

from __future__ import annotations

import time

from tests.chaos.cluster.asking import ask
from tests.chaos.cluster.topics import PartitionState, states
from tests.chaos.faults.context import Fault, FaultContext
from tests.support.waiting import wait_until

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.protocol.messages.elect_leaders_request import ElectLeadersRequest
from ottla.protocol.messages.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
)

PREFERRED = 0
ADMIN_S = 30.0
ELECT_LEADERS_VERSION = 2


def elect(context: FaultContext) -> str:
    """The preferred leader of every partition."""
    asked = context.pick("any")
    request = ElectLeadersRequest(PREFERRED, None, 20_000)
    answer = ask(context.cluster.address(asked), request, ELECT_LEADERS_VERSION, ADMIN_S)
    count = sum(
        each.error_code == ErrorCode.NONE
        for topic in answer.replica_election_results
        for each in topic.partition_result
    )
    return f"election of preferred leaders, {count} moved"


def reassign(context: FaultContext) -> str:
    """Other preferred leaders; or first fewer replicas, then all of them again."""
    asked = context.pick("any")
    state = context.rng.choice(states(context.cluster, asked, *context.topics))
    replicas = context.rng.sample(list(state.replicas), len(state.replicas))
    moves = [replicas]
    if len(replicas) > 2 and context.rng.random() < 0.7:
        moves.insert(0, replicas[: context.rng.randint(1, 2)])
    for move in moves:
        change(context, asked, state, move)
        time.sleep(context.rng.uniform(0.0, 2.0))
    return f"{state.key} moved from {state.replicas} to {' and then '.join(map(str, moves))}"


def change(context: FaultContext, asked: int, state: PartitionState, replicas: list[int]) -> None:
    """Until it is done."""
    address = context.cluster.address(asked)
    part = ReassignablePartition(state.partition, replicas)
    topic = ReassignableTopic(state.topic, [part])
    request = AlterPartitionReassignmentsRequest(20_000, True, [topic])
    answer = ask(address, request, timeout_s=ADMIN_S)
    codes = {answer.error_code, answer.responses[0].partitions[0].error_code}
    assert codes == {ErrorCode.NONE}, answer

    def is_done() -> bool:
        question = ListPartitionReassignmentsRequest(20_000, None)
        return not ask(address, question, timeout_s=ADMIN_S).topics

    wait_until(is_done, f"the reassignment of {state.key} to {replicas}", 60.0)


ELECT: list[Fault] = [elect]
REASSIGN: list[Fault] = [reassign]
