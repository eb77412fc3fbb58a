"""Loading a shard: applies all records of its partition's log, in slices."""

from __future__ import annotations

from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.steps import Steps, looking_up, until
from ottla.coordinators.batches import COORDINATOR_ITSELF, Writer
from ottla.coordinators.records import RecordTypes, decode_record
from ottla.coordinators.shard import S, Shard
from ottla.protocol.errors import BrokerError
from ottla.protocol.records.batch import iterate_headers
from ottla.protocol.records.control import read_end_marker
from ottla.protocol.records.reading import iterate_records
from ottla.storage.errors import CorruptLogError, StorageError
from ottla.storage.log.log import Log

LOAD_BYTES = 128 * 1024


async def load(shard: Shard[S], types: RecordTypes, scheduler: StepScheduler) -> None:
    """Apply the whole log, unless the leadership changes meanwhile."""
    offset = shard.partition.log.log_start_offset
    end_offset = shard.log_end_offset
    while offset < end_offset and not shard.is_unloaded:
        partition_log = shard.partition.log
        try:
            data = await scheduler.run(reading_some(partition_log, offset, end_offset))
        except (OSError, BrokerError, StorageError) as error:
            if shard.is_unloaded:
                return  # the log may be closed
            if partition_log is shard.partition.log:
                if isinstance(error, CorruptLogError):
                    shard.partition.report_damage(error)
                raise
            continue  # moved to another directory, with the same records
        offset = await scheduler.run_later(applying(shard, types, data, offset))


def reading_some(partition_log: Log, offset: int, end_offset: int) -> Steps[bytes]:
    found = yield from looking_up(
        lambda reader: partition_log.read(reader, offset, LOAD_BYTES, end_offset)
    )
    if found.check is not None:
        yield found.check.run
        found.check.confirm()
    data: bytes = yield found.records.read
    return data


def applying(shard: Shard[S], types: RecordTypes, data: bytes, offset: int) -> Steps[int]:
    """Apply the complete batches in `data` from `offset` on; returns the next offset.

    Ends when another broker becomes leader: the shard's state is freed then.
    """
    for position, header in iterate_headers(data):
        writer = Writer(header.producer_id, header.producer_epoch)
        if shard.is_unloaded:
            break
        if header.is_control:
            marker = read_end_marker(data, position)
            if marker is not None:
                shard.state.apply_marker(writer, marker.is_commit)
        else:
            writer = writer if header.is_transactional else COORDINATOR_ITSELF
            for record in iterate_records(data, position):
                decoded = decode_record(types, record.key, record.value)
                if decoded is not None and record.offset >= offset:
                    shard.state.apply(decoded, writer, record.offset)
                yield 0
                if shard.is_unloaded:
                    return offset
        offset = header.next_offset
        yield 0
    return offset


def while_leading(shard: Shard[S], slices: Steps[None]) -> Steps[None]:
    """The same steps, ended when this broker loses the leadership of the partition."""
    return until(lambda: shard.is_unloaded, slices)
