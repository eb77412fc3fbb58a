"""InitProducerId for idempotent producers; those of transactions are in `transactions.py`."""

from __future__ import annotations

from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.talk import Talk

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.init_producer_id_request import InitProducerIdRequest

TIMEOUT_MS = 60_000


@script(ApiKey.INIT_PRODUCER_ID)
def init_producer_id(talk: Talk) -> None:
    talk.ask("new", InitProducerIdRequest(None, TIMEOUT_MS))
    talk.ask("another", InitProducerIdRequest(None, TIMEOUT_MS))
    for timeout_ms in (0, -1, 900_000, 900_001, 2**31 - 1, -(2**31)):
        talk.ask(f"timeout {timeout_ms}", InitProducerIdRequest(None, timeout_ms))
    talk.ask("empty transactional id", InitProducerIdRequest("", TIMEOUT_MS))
    for number in (-1, 0, 5, -2):
        for epoch in (-1, 0, 5, -2, 32767):
            request = InitProducerIdRequest(None, TIMEOUT_MS, number, epoch)
            talk.ask(f"id {number}, epoch {epoch}", request)
