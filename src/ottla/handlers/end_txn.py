"""EndTxn (key 26), versions 0 to 5: commit or abort.

v2 PRODUCER_FENCED · v3 flexible encoding · v4 TRANSACTION_ABORTABLE · v5 the epoch is bumped,
and the response has the producer's new id and epoch (KIP-890)
The response is sent when the decision is replicated; markers are written afterwards.
"""

from __future__ import annotations

from ottla.coordinators.transactions.ending import EndRequest
from ottla.coordinators.transactions.transaction import EPOCH_BUMP_VERSION, ProducerIdAndEpoch
from ottla.handlers.producing.fencing import as_fencing_error
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.end_txn_request import EndTxnRequest
from ottla.protocol.messages.end_txn_response import EndTxnResponse

FENCED_ERROR_FROM = 2
EPOCH_BUMP_FROM = 5


@handles(ApiKey.END_TXN)
async def end_txn(request: EndTxnRequest, context: Context) -> EndTxnResponse:
    bumps_epoch = context.version >= EPOCH_BUMP_FROM
    end = EndRequest(
        ProducerIdAndEpoch(request.producer_id, request.producer_epoch),
        request.committed,
        EPOCH_BUMP_VERSION if bumps_epoch else 0,
    )
    try:
        producer = await context.parts.transactions.end_transaction(request.transactional_id, end)
    except BrokerError as error:
        raise as_fencing_error(error, context.version >= FENCED_ERROR_FROM) from error
    if not bumps_epoch:
        return EndTxnResponse()
    return EndTxnResponse(producer_id=producer.producer_id, producer_epoch=producer.epoch)
