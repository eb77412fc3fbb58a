"""Removing records from a batch, for compaction.

Owns      a smaller batch: records are removed; offsets, sequences and producer are unchanged.
Promises  retained records keep their bytes, offset and timestamp; the batch keeps its offset range.
Leaves    the selection to the caller, batches without records to `build_emptied_batch`.
"""

from __future__ import annotations

from ottla.protocol.records import native
from ottla.protocol.records.batch import DELETE_HORIZON_BIT, BatchHeader, Buffer
from ottla.protocol.records.building import assemble


def retain_records(
    header: BatchHeader,
    body: Buffer,
    keep: Buffer,
    *,
    delete_horizon_ms: int | None = None,
    codec: int | None = None,
    level: int | None = None,
) -> bytearray:
    """The batch with the records whose byte in `keep` is not 0; `body` is its decompressed body.

    `delete_horizon_ms` is set, or kept; it replaces the base timestamp, so that relative timestamps
    change. `codec` is the batch's own unless given.
    """
    if delete_horizon_ms is None:
        delete_horizon_ms = header.delete_horizon_ms
    base_timestamp = header.base_timestamp if delete_horizon_ms is None else delete_horizon_ms
    shift = header.base_timestamp - base_timestamp
    chosen = native.select(body, 0, len(body), header.records_count, keep, shift)
    count = len(keep) - bytes(keep).count(0)
    _, most = native.walk(chosen, 0, len(chosen), count, base_timestamp, False, False)
    attributes = header.attributes if codec is None else header.attributes & ~7 | codec
    return assemble(
        header._replace(
            attributes=attributes | (0 if delete_horizon_ms is None else DELETE_HORIZON_BIT),
            base_timestamp=base_timestamp,
            max_timestamp=header.max_timestamp if header.is_log_append_time else most,
            records_count=count,
        ),
        chosen,
        level,
    )
