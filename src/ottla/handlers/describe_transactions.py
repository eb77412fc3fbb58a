"""DescribeTransactions (key 65), version 0: what is known of transactional ids coordinated here."""

from __future__ import annotations

from collections import defaultdict

from ottla.handlers.context import Context
from ottla.handlers.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.describe_transactions_request import DescribeTransactionsRequest
from ottla.protocol.messages.describe_transactions_response import (
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)


def refuse_describe(
    request: DescribeTransactionsRequest, code: ErrorCode, _message: str
) -> DescribeTransactionsResponse:
    return DescribeTransactionsResponse(
        transaction_states=[TransactionState(code, each) for each in request.transactional_ids]
    )


@handles(ApiKey.DESCRIBE_TRANSACTIONS, versions=range(0, 1), refuse=refuse_describe)
async def describe_transactions(
    request: DescribeTransactionsRequest, context: Context
) -> DescribeTransactionsResponse:
    return DescribeTransactionsResponse(
        transaction_states=[await describe(each, context) for each in request.transactional_ids]
    )


async def describe(transactional_id: str, context: Context) -> TransactionState:
    try:
        found = await context.parts.transactions.describe(transactional_id)
    except BrokerError as error:
        return TransactionState(error.code, transactional_id)
    topics: defaultdict[str, list[int]] = defaultdict(list)
    for topic, partition in sorted(found.partitions):
        topics[topic].append(partition)
    return TransactionState(
        ErrorCode.NONE,
        transactional_id,
        found.state.label,
        found.timeout_ms,
        found.start_ms,
        found.producer_id,
        found.epoch,
        [TopicData(topic, partitions) for topic, partitions in topics.items()],
    )
