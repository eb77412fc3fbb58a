"""Fetch (key 1), versions 4 to 18.

v4 isolation level · v5 log start offset · v7 sessions · v9 leader epochs · v10 zstd · v11 racks ·
v12 flexible encoding, divergence · v13 topics by id · v15 follower's state · v16 leader hints ·
v17 directory ids · v18 follower's high watermark
Records are not read here: an answer holds ranges of files, which the network sends. Where to begin
is looked up on the event loop as long as that is in memory; what is not, a thread reads first.
Where nothing is to be told yet, the answer waits until enough has come or the client's patience is
over. What counts is what the reader may see: for one of committed data, what is below the last
stable offset.
"""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.base.steps import Steps
from ottla.handlers.fetching.large import LargeFetching
from ottla.handlers.fetching.operation import Fetching
from ottla.handlers.fetching.reading import NOTHING
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

# Beyond either a request is served in slices: it may name more than two hundred partitions, or its
# session has more to look at.
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
    """Told for the whole answer where it has a place, and for every partition where names go.

    What is wrong with a session is told for the session alone.
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
        return LargeFetching(request, context).serving()
    fetching = Fetching(request, context)
    wants = fetching.wants
    wants.settle()
    if wants.count > SMALL_LOOK_PARTITIONS:
        large = LargeFetching(request, context)
        large.wants = wants
        return large.serving_settled()
    is_enough = fetching.look_up_all()
    if fetching.missing:
        return fetching.find()
    if not is_enough and fetching.may_park:
        return fetching.begin_wait()
    if fetching.unchecked:
        return fetching.check()
    return fetching.answer()
