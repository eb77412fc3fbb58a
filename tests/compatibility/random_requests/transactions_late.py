"""Random requests of transactions whose producers are old: their epochs are about to run out.

After 32766 comes epoch 0 of another producer id, and a repeated request is recognised by the id
before.
"""

from __future__ import annotations

from tests.compatibility.differential.scripts.transactional import init
from tests.compatibility.random_requests.request_sequence import Area
from tests.compatibility.random_requests.step_client import StepClient
from tests.compatibility.random_requests.transactions import draw
from tests.compatibility.random_requests.transactions_model import SLOTS, TransactionsModel

from ottla.protocol.messages.describe_transactions_request import DescribeTransactionsRequest

EPOCH = 32_763
IN_FLIGHT = 500
VERSION = 4


class LateTransactions(TransactionsModel):
    def __init__(self, client: StepClient) -> None:
        super().__init__(client)
        session = client.session
        request = init(session.name("A"))
        first = session.once_ready(request, VERSION)
        session.names.define("producer", first.producer_id, "A")
        connection, left = session.connection("late"), EPOCH
        while left:
            count = min(left, IN_FLIGHT)
            for _ in range(count):
                connection.send(request, VERSION)
            for _ in range(count):
                assert connection.receive_frame() is not None
            left -= count
        states = session.quietly(
            DescribeTransactionsRequest([session.name("A")]), 0
        ).transaction_states
        assert states[0].producer_epoch == EPOCH, states
        for name in ("a", "a'"):
            assert SLOTS[name] == "A"
            self.slots[name].become(first.producer_id, EPOCH)


AREA = Area("transactions_late", draw, LateTransactions)
