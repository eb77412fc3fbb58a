"""What records contain: a name that is unique in its partition, filler, and a checksum of both.

The name is producer and sequence, "p1:17". That of a copy is the name of its source, then copier
and sequence: "p1:17/c2:40". Each attempt to copy a record has a name of its own.
"""

from __future__ import annotations

from zlib import crc32

FILLER = b"0123456789abcdef" * 256


def encode(name: str, size: int = 0) -> bytes:
    """With so many bytes of filler."""
    content = name.encode() + b"|" + FILLER[:size]
    return content + b"|%08x" % crc32(content)


def decode(data: bytes | None) -> str:
    """The name; a text that no client has sent if the checksum is wrong."""
    content, _, checksum = (data or b"").rpartition(b"|")
    if checksum != b"%08x" % crc32(content):
        return f"damaged {(data or b'').hex()[:200]}"
    return content.partition(b"|")[0].decode()


def source_of(name: str) -> str:
    """The record that a copy was made of."""
    return name.rpartition("/")[0]


def copied(name: str, copier: str, sequence: int) -> str:
    return f"{name}/{copier}:{sequence}"
