"""AlterPartition (key 56), versions 2 to 3, between brokers.

A leader changes the in-sync replicas of its partitions.
"""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.handlers.forwarding.broker_requests import answer_broker
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.message import Message
from ottla.protocol.messages.alter_partition_request import AlterPartitionRequest


@handles(ApiKey.ALTER_PARTITION)
def alter_partition(request: AlterPartitionRequest, context: Context) -> Awaitable[Message]:
    return answer_broker(request, context)
