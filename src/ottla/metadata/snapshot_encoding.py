"""The frame of a snapshot, encoded in slices, so that a large image does not stall the loop."""

from __future__ import annotations

import asyncio
from itertools import islice

from ottla.metadata.codec import encode_records
from ottla.metadata.frame import SNAPSHOT, encode_parts
from ottla.metadata.image import Batch, Image

SLICE_RECORDS = 200


async def encode_snapshot(image: Image) -> bytes:
    """The image must not change meanwhile."""
    records = image.to_records()
    parts, count = [], 0
    while part := list(islice(records, SLICE_RECORDS)):
        parts.append(encode_records(part)[1:-1])
        count += len(part)
        await asyncio.sleep(0)
    payload = b"[" + b",\n".join(parts) + b"]"
    about = Batch(image.offset, image.controller_epoch, ())
    return encode_parts(SNAPSHOT, about, payload, count)
