"""DescribeTransactions (key 65), version 0: the state of transactional ids coordinated here."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping

from ottla.base.scheduling.step_scheduler import emptying
from ottla.base.scheduling.steps import Steps
from ottla.coordinators.replicated_answers import unreplicated
from ottla.coordinators.transactions.shard import LoadedShard
from ottla.coordinators.transactions.transaction import Transaction
from ottla.handlers.serving.chunks import chunks
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.describe_transactions_request import DescribeTransactionsRequest
from ottla.protocol.messages.describe_transactions_response import (
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)

STATE_BYTES = 64  # besides the transactional id
TOPIC_BYTES = 8  # besides its name
PARTITION_BYTES = 4


def refuse_describe(
    request: DescribeTransactionsRequest, code: ErrorCode, _message: str
) -> DescribeTransactionsResponse:
    return DescribeTransactionsResponse(
        transaction_states=[TransactionState(code, each) for each in request.transactional_ids]
    )


@handles(ApiKey.DESCRIBE_TRANSACTIONS, refuse=refuse_describe)
def describe_transactions(
    request: DescribeTransactionsRequest, context: Context
) -> Steps[DescribeTransactionsResponse | Awaitable[DescribeTransactionsResponse]]:
    """Each id is read once, and repeated in the response if the request repeats it."""
    transactions = context.parts.transactions
    states: dict[str, TransactionState] = {}
    sizes: dict[str, int] = {}
    read: dict[LoadedShard, list[str]] = {}
    for each in request.transactional_ids:
        if each not in states:
            try:
                shard, found = transactions.describe(each)
                states[each] = yield from described(found)
                read.setdefault(shard, []).append(each)
            except BrokerError as error:
                states[each] = TransactionState(error.code, each)
            sizes[each] = size_of(states[each])
        yield sizes[each]
    yield from emptying(sizes)
    waiting = unreplicated(read)
    if waiting:
        return respond_later(request, states, read, waiting, context)
    return (yield from responding(request, states))


def responding(
    request: DescribeTransactionsRequest, states: dict[str, TransactionState]
) -> Steps[DescribeTransactionsResponse]:
    responses: list[TransactionState] = []
    for some in chunks(request.transactional_ids):
        responses.extend(map(states.__getitem__, some))
        yield 0
    yield from emptying(states)
    return DescribeTransactionsResponse(transaction_states=responses)


async def respond_later(
    request: DescribeTransactionsRequest,
    states: dict[str, TransactionState],
    read: Mapping[LoadedShard, Iterable[str]],
    waiting: Mapping[LoadedShard, int],
    context: Context,
) -> DescribeTransactionsResponse:
    """Ids whose records cannot be replicated get the error."""
    failed = await context.parts.transactions.all_replicated(waiting)

    def refusing() -> Steps[None]:
        for shard, error in failed.items():
            for each in read[shard]:
                states[each] = TransactionState(error.code, each)
                yield 0

    await context.parts.scheduler.run(refusing())
    return await context.parts.scheduler.run(responding(request, states))


def size_of(state: TransactionState) -> int:
    topics = (
        TOPIC_BYTES + len(each.topic) + PARTITION_BYTES * len(each.partitions)
        for each in state.topics
    )
    return STATE_BYTES + len(state.transactional_id) + sum(topics)


def described(found: Transaction) -> Steps[TransactionState]:
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(found.partitions):
        topics.setdefault(topic, []).append(partition)
        yield 0
    return TransactionState(
        ErrorCode.NONE,
        found.transactional_id,
        found.state.label,
        found.timeout_ms,
        found.start_ms,
        found.producer_id,
        found.epoch,
        [TopicData(topic, partitions) for topic, partitions in topics.items()],
    )
