"""AddOffsetsToTxn (key 25), versions 0 to 4: a transaction is about to commit a group's offsets.

v2 PRODUCER_FENCED · v3 flexible encoding · v4 TRANSACTION_ABORTABLE
What is added is the partition of `__consumer_offsets` that holds the group's offsets. Waits for the
end of the producer's last transaction, as AddPartitionsToTxn does.
"""

from __future__ import annotations

from ottla.base.fault_points import FaultPoint, reach
from ottla.coordinators.transactions.transaction import ProducerIdAndEpoch
from ottla.handlers.producing.fencing import as_fencing_error
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from ottla.protocol.messages.add_offsets_to_txn_response import AddOffsetsToTxnResponse

FENCED_ERROR_FROM = 2


@handles(ApiKey.ADD_OFFSETS_TO_TXN)
async def add_offsets_to_txn(
    request: AddOffsetsToTxnRequest, context: Context
) -> AddOffsetsToTxnResponse:
    partition = context.parts.groups.topic.partition_of(request.group_id)
    producer = ProducerIdAndEpoch(request.producer_id, request.producer_epoch)
    transactions = context.parts.transactions
    try:
        if transactions.is_ending(request.transactional_id):
            await transactions.wait_ended(request.transactional_id)
        await transactions.add_partitions(
            request.transactional_id, producer, [partition], client_version=0
        )
    except BrokerError as error:
        raise as_fencing_error(error, context.version >= FENCED_ERROR_FROM) from error
    reach(FaultPoint.GROUP_ENLISTED)
    return AddOffsetsToTxnResponse()
