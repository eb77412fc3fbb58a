"""AssignReplicasToDirs (key 73), version 0, between brokers.

In which directories of a broker partitions are.
"""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.handlers.forwarding.broker_requests import answer_broker
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.message import Message
from ottla.protocol.messages.assign_replicas_to_dirs_request import AssignReplicasToDirsRequest


@handles(ApiKey.ASSIGN_REPLICAS_TO_DIRS)
def assign_replicas_to_dirs(
    request: AssignReplicasToDirsRequest, context: Context
) -> Awaitable[Message]:
    return answer_broker(request, context)
