"""The frame of a snapshot of an image that may be large.

Promises  no call into C code takes long, so that other threads can run meanwhile.
"""

from __future__ import annotations

from itertools import islice

from ottla.metadata.codec import encode_records
from ottla.metadata.frame import SNAPSHOT, encode_parts
from ottla.metadata.image import Batch, Image

PART_RECORDS = 200


def encode_snapshot(image: Image) -> bytes:
    """May be called in any thread. The image must not change meanwhile."""
    records = image.to_records()
    parts, count = [], 0
    while part := list(islice(records, PART_RECORDS)):
        parts.append(encode_records(part)[1:-1])
        count += len(part)
    payload = b"[" + b",\n".join(parts) + b"]"
    about = Batch(image.offset, image.controller_epoch, ())
    return encode_parts(SNAPSHOT, about, payload, count)
