"""Walks through transactions whose producers are old: their epochs are about to run out.

After 32766 comes epoch 0 of another producer id, and who asks again meanwhile is recognised by the
id that it had before.
"""

from __future__ import annotations

from tests.compatibility.differential.scripts.transactional import init
from tests.compatibility.walks.hand import Hand
from tests.compatibility.walks.transactions import draw
from tests.compatibility.walks.transactions_world import SLOTS, Transactions
from tests.compatibility.walks.walk import Area

from ottla.protocol.messages.describe_transactions_request import DescribeTransactionsRequest

EPOCH = 32_763
IN_FLIGHT = 500
VERSION = 4


class LateTransactions(Transactions):
    def __init__(self, hand: Hand) -> None:
        super().__init__(hand)
        talk = hand.talk
        request = init(talk.name("A"))
        first = talk.once_ready(request, VERSION)
        talk.names.define("producer", first.producer_id, "A")
        connection, left = talk.connection("late"), EPOCH
        while left:
            count = min(left, IN_FLIGHT)
            for _ in range(count):
                connection.send(request, VERSION)
            for _ in range(count):
                assert connection.receive_frame() is not None
            left -= count
        states = talk.quietly(DescribeTransactionsRequest([talk.name("A")]), 0).transaction_states
        assert states[0].producer_epoch == EPOCH, states
        for name in ("a", "a'"):
            assert SLOTS[name] == "A"
            self.slots[name].become(first.producer_id, EPOCH)


AREA = Area("transactions_late", draw, LateTransactions)
