"""One batch of the metadata log as the data of a znode: a line of JSON, then the records.

The line can be read with any ZooKeeper tool; so can the records of a small batch, which are JSON.
Larger ones are compressed. Records that do not fit one znode are in parts, which are written first:
a batch exists as soon as its own znode does.

Promises  a znode that was edited is not decoded: the checksum covers the line and the records.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import cramjam

from ottla.base.checksums import crc32c
from ottla.metadata.codec import (
    MalformedRecord,
    UnknownRecord,
    decode_records,
    encode_records,
)
from ottla.metadata.image import Batch
from ottla.metadata.zookeeper.json_data import decode_object, whole_number
from ottla.metadata.zookeeper.layout import ZNODE_BYTES_MAX

FORMAT = 1
COMPRESSED_FROM_BYTES = 16 * 1024
_COMPRESSIONS = ("none", "zstd")
_NUMBERS = ("offset", "epoch", "records", "controller", "parts", "crc32c")


class BadZnode(ValueError):
    """The data of a znode is not what was written; says what is wrong."""


class NewerZnode(BadZnode):
    """A newer version has written it; says what is unknown."""


@dataclass(frozen=True, slots=True)
class BatchZnodeHeader:
    base_offset: int
    controller_epoch: int
    count: int
    controller_id: int
    nonce: str  # of the write: distinguishes a retry from a batch of another controller
    compression: str
    parts: int  # znodes with the records; 0 if they follow the line
    checksum: int = 0

    @property
    def end_offset(self) -> int:
        return self.base_offset + self.count

    def computed_checksum(self, body: bytes) -> int:
        return int(crc32c(body, crc32c(self.encode_line(with_checksum=False))))

    def encode_line(self, *, with_checksum: bool = True) -> bytes:
        fields: dict[str, Any] = {
            "version": FORMAT,
            "offset": self.base_offset,
            "records": self.count,
            "controller": self.controller_id,
            "epoch": self.controller_epoch,
            "nonce": self.nonce,
            "compression": self.compression,
            "parts": self.parts,
        }
        if with_checksum:
            fields["crc32c"] = self.checksum
        return json.dumps(fields).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class EncodedBatch:
    data: bytes  # of the batch's own znode
    parts: tuple[bytes, ...]


def encode_batch(
    batch: Batch, controller_id: int, nonce: str, part_bytes_max: int = ZNODE_BYTES_MAX
) -> EncodedBatch:
    body, compression = encode_records(batch.records), "none"
    if len(body) > COMPRESSED_FROM_BYTES:
        body, compression = bytes(cramjam.zstd.compress(body)), "zstd"
    parts = split(body, part_bytes_max) if len(body) > part_bytes_max else ()
    header = BatchZnodeHeader(
        batch.base_offset, batch.controller_epoch, len(batch.records),
        controller_id, nonce, compression, len(parts),
    )  # fmt: skip
    header = replace(header, checksum=header.computed_checksum(body))
    return EncodedBatch(header.encode_line() + (b"" if parts else body), parts)


def decode_header(data: bytes) -> tuple[BatchZnodeHeader, bytes]:
    """The header and what follows it. The checksum is compared by `decode_batch`."""
    line, newline, body = data.partition(b"\n")
    try:
        fields = decode_object(line)
        if (version := whole_number(fields, "version")) > FORMAT:
            raise NewerZnode(f"the header is one of format {version}")
        numbers = {name: whole_number(fields, name) for name in _NUMBERS}
        header = BatchZnodeHeader(
            numbers["offset"], numbers["epoch"], numbers["records"], numbers["controller"],
            str(fields["nonce"]), str(fields["compression"]), numbers["parts"], numbers["crc32c"],
        )  # fmt: skip
    except NewerZnode:
        raise
    except (ValueError, KeyError) as error:
        raise BadZnode(f"the data has no header of a batch ({error!r})") from error
    if not newline or header.encode_line() != line + newline:
        raise BadZnode(f"the header is not one of format {FORMAT}")
    return header, body


def decode_batch(header: BatchZnodeHeader, body: bytes) -> Batch:
    """The batch, with its records from `body`. BadZnode unless all of it is as written."""
    if header.compression not in _COMPRESSIONS or header.computed_checksum(body) != header.checksum:
        raise BadZnode("the checksum does not match")
    try:
        payload = body if header.compression == "none" else bytes(cramjam.zstd.decompress(body))
        records = decode_records(payload)
    except UnknownRecord as error:
        raise NewerZnode(str(error)) from error
    except (MalformedRecord, cramjam.DecompressionError) as error:
        raise BadZnode(str(error)) from error
    if len(records) != header.count:
        raise BadZnode(f"{len(records)} records, but the header says {header.count}")
    return Batch(header.base_offset, header.controller_epoch, tuple(records))


def split(data: bytes, part_bytes_max: int) -> tuple[bytes, ...]:
    return tuple(data[at : at + part_bytes_max] for at in range(0, len(data), part_bytes_max))
