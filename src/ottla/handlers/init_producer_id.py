"""InitProducerId (key 22), versions 0 to 5.

v2 flexible encoding · v3 a producer keeps its id with a new epoch (KIP-360) · v4 PRODUCER_FENCED ·
v5 TRANSACTION_ABORTABLE
Without a transactional id every request gets a new producer id; its other fields are ignored.
"""

from __future__ import annotations

from ottla.base.ids import NO_PRODUCER_EPOCH
from ottla.coordinators.transactions.initialising import InitRequest
from ottla.coordinators.transactions.transaction import ProducerIdAndEpoch
from ottla.handlers.producing.fencing import as_fencing_error
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.init_producer_id_request import InitProducerIdRequest
from ottla.protocol.messages.init_producer_id_response import InitProducerIdResponse
from ottla.protocol.records.batch import NO_PRODUCER_ID

FENCED_ERROR_FROM = 4


def refuse_init_producer_id(
    _request: InitProducerIdRequest, code: ErrorCode, _message: str
) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=code, producer_epoch=NO_PRODUCER_EPOCH)


@handles(ApiKey.INIT_PRODUCER_ID, refuse=refuse_init_producer_id)
async def init_producer_id(
    request: InitProducerIdRequest, context: Context
) -> InitProducerIdResponse:
    expected = expected_producer(request)
    if request.transactional_id is None:
        ids = context.parts.producer_ids
        await ids.ready()
        return InitProducerIdResponse(producer_id=ids.take(), producer_epoch=0)
    wanted = InitRequest(request.transactional_id, request.transaction_timeout_ms, expected)
    try:
        producer = await context.parts.transactions.init_producer_id(wanted)
    except BrokerError as error:
        raise as_fencing_error(error, context.version >= FENCED_ERROR_FROM) from error
    return InitProducerIdResponse(producer_id=producer.producer_id, producer_epoch=producer.epoch)


def expected_producer(request: InitProducerIdRequest) -> ProducerIdAndEpoch | None:
    """The producer's current id and epoch, if it has them."""
    has_id = request.producer_id != NO_PRODUCER_ID
    if has_id != (request.producer_epoch != NO_PRODUCER_EPOCH):
        raise BrokerError(ErrorCode.INVALID_REQUEST, "a producer id without epoch, or without id")
    return ProducerIdAndEpoch(request.producer_id, request.producer_epoch) if has_id else None
