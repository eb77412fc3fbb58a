"""InitProducerId for idempotent producers; those of transactions are in `transactions.py`."""

from __future__ import annotations

from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.session import Session

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.init_producer_id_request import InitProducerIdRequest

TIMEOUT_MS = 60_000


@script(ApiKey.INIT_PRODUCER_ID)
def init_producer_id(session: Session) -> None:
    session.ask("new", InitProducerIdRequest(None, TIMEOUT_MS))
    session.ask("another", InitProducerIdRequest(None, TIMEOUT_MS))
    for timeout_ms in (0, -1, 900_000, 900_001, 2**31 - 1, -(2**31)):
        session.ask(f"timeout {timeout_ms}", InitProducerIdRequest(None, timeout_ms))
    session.ask("empty transactional id", InitProducerIdRequest("", TIMEOUT_MS))
    for number in (-1, 0, 5, -2):
        for epoch in (-1, 0, 5, -2, 32767):
            request = InitProducerIdRequest(None, TIMEOUT_MS, number, epoch)
            session.ask(f"id {number}, epoch {epoch}", request)
