"""AllocateProducerIds: allocates a block of producer ids to a broker."""

from __future__ import annotations

from ottla.config.options import INT64_MAX
from ottla.controller.decision import Decision
from ottla.controller.state import ControllerState
from ottla.metadata.records import ProducerIdsAllocated
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.allocate_producer_ids_request import AllocateProducerIdsRequest
from ottla.protocol.messages.allocate_producer_ids_response import AllocateProducerIdsResponse

BLOCK_SIZE = 1000


def decide_allocate_producer_ids(
    state: ControllerState, request: AllocateProducerIdsRequest
) -> Decision[AllocateProducerIdsResponse]:
    state.check_broker_epoch(request.broker_id, request.broker_epoch)
    first = state.image.next_producer_id
    if first > INT64_MAX - BLOCK_SIZE:
        what = "All producer ids have been given out."
        raise BrokerError(ErrorCode.UNKNOWN_SERVER_ERROR, what)
    record = ProducerIdsAllocated(request.broker_id, request.broker_epoch, first + BLOCK_SIZE)
    answer = AllocateProducerIdsResponse(producer_id_start=first, producer_id_len=BLOCK_SIZE)
    return Decision((record,), answer)
