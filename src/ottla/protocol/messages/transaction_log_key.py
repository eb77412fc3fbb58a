"""Generated from schemas/data/transaction_log_key.schema: TransactionLogKey, versions 0. Do not edit."""

from __future__ import annotations


from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_string,
    write_string,
)



class TransactionLogKey(Message):
    __slots__ = ("transactional_id",)
    RECORD_TYPE = 0
    VERSIONS = range(0, 1)

    def __init__(
        self,
        transactional_id: str = "",
    ) -> None:
        self.transactional_id = transactional_id


def _read_transaction_log_key_v0(data: memoryview, at: int) -> tuple[TransactionLogKey, int]:
    transactional_id, at = read_string(data, at)
    return TransactionLogKey(transactional_id), at


def _write_transaction_log_key_v0(item: TransactionLogKey, out: bytearray) -> None:
    write_string(item.transactional_id, out)


TransactionLogKey.DECODERS = {
    0: _read_transaction_log_key_v0,
}
TransactionLogKey.ENCODERS = {
    0: _write_transaction_log_key_v0,
}
