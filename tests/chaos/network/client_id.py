"""The client id in the first request of a connection: who has opened it."""

from __future__ import annotations

import struct

HEADER = struct.Struct(">ihhih")  # length, key, version, correlation id, length of the client id


def client_id(data: bytes) -> str | None:
    """None while its bytes have not arrived."""
    if len(data) < HEADER.size:
        return None
    size = HEADER.unpack_from(data)[-1]
    end = HEADER.size + max(0, size)
    return data[HEADER.size : end].decode(errors="replace") if len(data) >= end else None
