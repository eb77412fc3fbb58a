"""ListTransactions (key 66), versions 0 to 2: the transactional ids that this broker coordinates.

v1 minimum duration · v2 pattern of ids
The response lists unknown states of the request.
"""

from __future__ import annotations

from ottla.base.scheduling.step_scheduler import emptying, set_of
from ottla.base.scheduling.steps import Steps
from ottla.coordinators.patterns import compile_pattern
from ottla.coordinators.transactions.listing import Filter
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.list_transactions_request import ListTransactionsRequest
from ottla.protocol.messages.list_transactions_response import (
    ListTransactionsResponse,
    TransactionState,
)

STATE_BYTES = 32  # of a transaction, besides its id


@handles(ApiKey.LIST_TRANSACTIONS)
def list_transactions(
    request: ListTransactionsRequest, context: Context
) -> Steps[ListTransactionsResponse]:
    pattern = request.transactional_id_pattern
    state_labels = yield from set_of(request.state_filters)
    producer_ids = yield from set_of(request.producer_id_filters)
    wanted = Filter(
        state_labels,
        producer_ids,
        request.duration_filter,
        compile_pattern(pattern, "TransactionalIdPattern") if pattern else None,
    )
    now_ms = context.parts.clock.now_ms()
    unknown = yield from wanted.finding_unknown_states()
    states = []
    for each in context.parts.transactions.all_transactions():
        if wanted.includes(each, now_ms):
            states.append(
                TransactionState(each.transactional_id, each.producer_id, each.state.label)
            )
            yield STATE_BYTES + len(each.transactional_id)
        yield 0
    yield from emptying(state_labels)
    yield from emptying(producer_ids)
    return ListTransactionsResponse(unknown_state_filters=unknown, transaction_states=states)
