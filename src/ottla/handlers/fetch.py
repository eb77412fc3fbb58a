"""Fetch (key 1), versions 4 to 18.

v4 isolation level · v5 log start offset · v7 sessions · v9 leader epochs · v10 zstd · v11 racks ·
v12 flexible encoding, divergence · v13 topics by id · v15 follower's state · v16 leader hints ·
v17 directory ids · v18 follower's high watermark
Records are not read here: a response holds ranges of files, which the network sends. Positions are
looked up on the event loop if they are in memory; otherwise a thread reads them first. If there is
not enough data yet, the response waits for more, until `max_wait_ms` has passed. Only data that the
reader may see counts: with READ_COMMITTED, what is below the last stable offset.
"""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.base.scheduling.steps import Steps
from ottla.handlers.fetching.large import LargeFetchOperation
from ottla.handlers.fetching.operation import FetchOperation
from ottla.handlers.fetching.partition_read import NOTHING
from ottla.handlers.fetching.requested import TOPIC_IDS_FROM
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.fetch_request import FetchRequest
from ottla.protocol.messages.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)

# A larger request is served in slices: it may name more than two hundred partitions, or its session
# has more to read.
SMALL_REQUEST_BYTES = 8 * 1024
SMALL_LOOK_PARTITIONS = 200

SESSION_ERRORS = (
    ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
    ErrorCode.INVALID_FETCH_SESSION_EPOCH,
    ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
)


def refuse_fetch(
    request: FetchRequest, code: ErrorCode, _message: str, version: int
) -> FetchResponse:
    """The error of the request, and of every partition in versions with topic names.

    Errors of a session have no partitions.
    """
    if version >= TOPIC_IDS_FROM or code in SESSION_ERRORS:
        return FetchResponse(error_code=code)
    topics = [
        FetchableTopicResponse(
            topic.topic,
            partitions=[
                PartitionData(part.partition, code, -1, -1, -1, records=NOTHING)
                for part in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    return FetchResponse(error_code=code, responses=topics)


@handles(ApiKey.FETCH, refuse_in_version=refuse_fetch)
def fetch(
    request: FetchRequest, context: Context
) -> FetchResponse | Awaitable[FetchResponse] | Steps[FetchResponse | Awaitable[FetchResponse]]:
    if context.is_large or context.request_bytes > SMALL_REQUEST_BYTES:
        return LargeFetchOperation(request, context).serving()
    operation = FetchOperation(request, context)
    requested = operation.requested
    requested.update_session()
    if requested.count > SMALL_LOOK_PARTITIONS:
        return LargeFetchOperation(request, context, requested).serving_partitions()
    is_enough = operation.look_up_all()
    if operation.missing:
        return operation.find()
    if not is_enough and operation.may_park:
        return operation.begin_wait()
    if operation.unchecked:
        return operation.check()
    return operation.answer()
