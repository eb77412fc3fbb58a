"""Snapshots of producers that got lost, and segments that are deleted while they are missing.

What a producer wrote is in the records and in the snapshots. Before the records go, a snapshot must
be there that knows of them; after an unclean stop nothing else does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from tests.unit.storage.log_making import SMALL, Place, append_many, batch_of, names_in

from ottla.base.files.readers import BLOCKING
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.storage.log.flushing import flush
from ottla.storage.log.log import Log
from ottla.storage.log.recovery import Checkpoint
from ottla.storage.producers.producer_snapshot import read_snapshot

PRODUCER, EPOCH = 9, 4


def filled(place: Place) -> tuple[Log, bytes]:
    """Two batches of a producer in the first of several segments; the second one as sent."""
    log = place.open()
    log.append_as_leader(batch_of(b"a", producer=(PRODUCER, EPOCH, 0)), 0)
    last = bytes(batch_of(b"b", b"c", producer=(PRODUCER, EPOCH, 1)))
    log.append_as_leader(bytearray(last), 0)  # which is numbered in place
    append_many(log, 80)
    flush(log)
    assert len(log.segments) > 3
    return log, last


def without_snapshots(place: Place, log: Log) -> Log:
    """The log after an orderly stop, with its snapshots removed."""
    log.close()
    for name in names_in(place.disk, ".snapshot"):
        place.disk.remove(f"{place.path}/{name}")
    return place.open(Checkpoint(log.log_end_offset, log.log_start_offset, is_clean=True))


def by_age(place: Place, log: Log) -> None:
    place.clock.advance_ms(5000)
    log.enforce_retention()


def by_size(place: Place, log: Log) -> None:
    log.update_config(replace(log.config, retention_bytes=log.segments.active.size))
    log.enforce_retention()


def by_deleted_records(place: Place, log: Log) -> None:
    log.advance_log_start(log.segments[2].base_offset)
    log.enforce_retention()


DELETIONS = [by_age, by_size, by_deleted_records]


@pytest.mark.parametrize("delete", DELETIONS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("seed", [None, *range(6)], ids=lambda each: f"power cut {each}")
def test_a_producer_whose_snapshots_were_lost_is_known_after_its_records_went(
    delete: Callable[[Place, Log], None], seed: int | None
) -> None:
    place = Place(config=replace(SMALL, retention_ms=1000))
    log, sent = filled(place)
    log = without_snapshots(place, log)
    delete(place, log)
    assert log.segments[0].base_offset > 3
    assert log.segments[0].base_offset in log.snapshots
    start, end = log.log_start_offset, log.log_end_offset
    if seed is None:
        place.disk.kill()
    else:
        flush(log)  # as the broker does soon after a new segment was begun
        place.disk.crash(Random(seed))
    log = place.open(Checkpoint(end, start))
    assert log.append_as_leader(bytearray(sent), 0).is_duplicate
    with pytest.raises(BrokerError) as raised:
        log.append_as_leader(batch_of(b"x", producer=(PRODUCER, EPOCH, 7)), 0)
    assert raised.value.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    log.append_as_leader(batch_of(b"x", producer=(PRODUCER, EPOCH, 3)), 0)


@pytest.mark.parametrize("delete", DELETIONS[1:], ids=lambda each: each.__name__)
def test_a_transaction_that_began_before_the_start_stays_open_without_its_snapshot(
    delete: Callable[[Place, Log], None],
) -> None:
    """It began in records that are gone, and must hold back what it wrote since."""
    place = Place()
    log = place.open()
    log.append_as_leader(batch_of(b"a", producer=(PRODUCER, EPOCH, 0), is_transactional=True), 0)
    append_many(log, 80)
    flush(log)
    log = without_snapshots(place, log)
    delete(place, log)
    start, end = log.log_start_offset, log.log_end_offset
    place.disk.kill()
    log = place.open(Checkpoint(end, start))
    entry = log.producers.load(BLOCKING).producers[PRODUCER]
    assert (entry.has_open_transaction, entry.transaction_first_offset) == (True, 0)
    assert log.last_stable_offset(BLOCKING) == start


@pytest.mark.parametrize("seed", range(6))
def test_the_snapshot_of_a_new_segment_is_synced_though_no_record_follows(seed: int) -> None:
    """Everything was on disk when the segment was begun, so the recovery point is its start."""
    place = Place()
    log, _ = filled(place)
    log.roll()
    flush(log)
    place.disk.crash(Random(seed))
    assert log.segments.active.base_offset == log.log_end_offset == log.recovery_point
    path = log.snapshots.path(log.log_end_offset)
    assert PRODUCER in read_snapshot(place.disk, path)
