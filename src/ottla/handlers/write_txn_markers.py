"""WriteTxnMarkers (key 27), versions 1 and 2: ends transactions in partitions led here.

v1 flexible encoding · v2 the version of the transaction (KIP-1228)
Coordinators send it to leaders, and tools to abort a hanging transaction.
"""

from __future__ import annotations

from ottla.handlers.quotas.request_time import exempt_time
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.write_txn_markers_request import (
    WritableTxnMarker,
    WriteTxnMarkersRequest,
)
from ottla.protocol.messages.write_txn_markers_response import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersResponse,
)


def refuse_markers(
    request: WriteTxnMarkersRequest, code: ErrorCode, _message: str
) -> WriteTxnMarkersResponse:
    return WriteTxnMarkersResponse([refused(marker, code) for marker in request.markers])


@handles(ApiKey.WRITE_TXN_MARKERS, refuse=refuse_markers)
async def write_txn_markers(
    request: WriteTxnMarkersRequest, context: Context
) -> WriteTxnMarkersResponse:
    exempt_time(context)
    return WriteTxnMarkersResponse(await context.parts.markers.write(request.markers))


def refused(marker: WritableTxnMarker, code: ErrorCode) -> WritableTxnMarkerResult:
    return WritableTxnMarkerResult(
        marker.producer_id,
        [
            WritableTxnMarkerTopicResult(
                topic.name,
                [WritableTxnMarkerPartitionResult(each, code) for each in topic.partition_indexes],
            )
            for topic in marker.topics
        ],
    )
