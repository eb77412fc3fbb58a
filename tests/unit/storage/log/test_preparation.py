"""Batches that are opened before they are appended: the same as if they were not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.storage.log_making import SMALL, Place, batch_of, values_of

from ottla.base.files.readers import BLOCKING
from ottla.config.topic_options import TopicConfig
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import InvalidBatch
from ottla.protocol.records.batch import read_header, stamp_checksum
from ottla.protocol.records.compression import DECOMPRESSED_BYTES_MAX, Codec
from ottla.storage.log.admission import append_rules, decompressed_bytes_max
from ottla.storage.log.append import PRODUCE_VERSION_LATEST
from ottla.storage.log.log import Log
from ottla.storage.log.preparation import CLOSED, Prepared, share_of_iteration

PLAIN = replace(SMALL, segment_bytes=10_000_000)
GZIP = replace(PLAIN, compression_type="gzip")
SNAPPY = replace(PLAIN, compression_type="snappy")
COMPACTED = replace(PLAIN, cleanup_policy=("compact",))
VALUES = [b"%06d" % number * 10 for number in range(2000)]
APPEND_TIME = replace(GZIP, message_timestamp_type="LogAppendTime")


def prepared(log: Log, data: bytes | bytearray) -> Prepared:
    found = Prepared(data, log.rules, PRODUCE_VERSION_LATEST, log.context.clock.now_ms())
    found.run()
    return found


def stored_bytes(log: Log) -> bytes:
    return log.segments.active.open(BLOCKING).read_at(0, log.segments.active.size)


@pytest.mark.parametrize("config", [PLAIN, GZIP, COMPACTED, APPEND_TIME])
@pytest.mark.parametrize("codec", list(Codec))
def test_a_prepared_batch_is_stored_as_an_unprepared_one_is(
    config: TopicConfig, codec: Codec
) -> None:
    one, other = Place(config=config).open(), Place(config=config).open()
    data = batch_of(*VALUES, codec=codec)
    expected = one.append_as_leader(bytearray(data), 3)
    assert other.append_as_leader(prepared(other, data), 3) == expected
    assert stored_bytes(other) == stored_bytes(one)
    assert values_of(other) == VALUES


def test_log_append_time_is_that_of_the_append() -> None:
    place = Place(config=APPEND_TIME)
    log = place.open()
    batch = prepared(log, batch_of(*VALUES))
    place.clock.advance_ms(5000)
    appended = log.append_as_leader(batch, 3)
    assert appended.log_append_time_ms == place.clock.now_ms()
    assert read_header(stored_bytes(log)).max_timestamp == place.clock.now_ms()


def test_a_setting_that_changed_meanwhile_counts() -> None:
    log = Place(config=GZIP).open()
    batch = prepared(log, batch_of(*VALUES))
    log.update_config(replace(PLAIN, compression_type="zstd"))
    log.append_as_leader(batch, 3)
    assert read_header(stored_bytes(log)).codec == Codec.ZSTD


def test_a_setting_that_decides_nothing_about_batches_leaves_a_prepared_one_prepared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = Place(config=GZIP).open()
    batch = prepared(log, batch_of(*VALUES))
    log.update_config(replace(GZIP, retention_ms=1))
    monkeypatch.delattr("ottla.storage.log.preparation.admit")  # it is not opened again
    log.append_as_leader(batch, 3)
    assert read_header(stored_bytes(log)).codec == Codec.GZIP


def test_invalid_records_are_refused_when_the_batch_is_appended() -> None:
    log = Place(config=COMPACTED).open()
    without_keys = batch_of(*VALUES, key=None, codec=Codec.GZIP)
    batch = prepared(log, without_keys)
    with pytest.raises(InvalidBatch) as raised:
        log.append_as_leader(batch, 3)
    assert raised.value.code == ErrorCode.INVALID_RECORD
    assert log.log_end_offset == 0


def test_a_batch_damaged_inside_is_refused() -> None:
    log = Place(config=GZIP).open()
    data = batch_of(*VALUES, codec=Codec.ZSTD)
    data[100] ^= 0xFF
    stamp_checksum(data, 0, len(data))
    batch = prepared(log, data)
    with pytest.raises(InvalidBatch):
        log.append_as_leader(batch, 3)
    assert log.log_end_offset == 0


@pytest.mark.parametrize(
    ("config", "codec", "count", "expected"),
    [
        (PLAIN, Codec.GZIP, 2000, False),  # stays closed
        (GZIP, Codec.GZIP, 2000, False),  # is what the topic wants
        (GZIP, Codec.NONE, 2000, True),
        (GZIP, Codec.ZSTD, 2000, True),
        (GZIP, Codec.NONE, 10, False),
        (GZIP, Codec.NONE, 100, True),  # gzip takes long for little
        (SNAPPY, Codec.NONE, 100, False),
        (COMPACTED, Codec.LZ4, 2000, True),
        (COMPACTED, Codec.NONE, 2000, False),  # walked where it is
        (COMPACTED, Codec.LZ4, 10, False),
    ],
)
def test_large_batches_that_must_be_opened_take_more_than_a_turn(
    config: TopicConfig, codec: Codec, count: int, expected: bool
) -> None:
    data = batch_of(*VALUES[:count], codec=codec)
    assert (share_of_iteration(data, append_rules(config)) > 1) is expected


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.LZ4, Codec.ZSTD])
@pytest.mark.parametrize("config", [SNAPPY, COMPACTED])
def test_a_small_batch_that_opens_to_much_is_left_to_a_thread(
    config: TopicConfig, codec: Codec
) -> None:
    log = Place(config=config).open()
    zeros = bytes(100_000)
    data = batch_of(zeros, codec=codec)
    assert share_of_iteration(data, log.rules) < 1, "the header does not show it"
    batch = Prepared(data, log.rules, PRODUCE_VERSION_LATEST, log.context.clock.now_ms())
    assert not batch.run_at_once()
    batch.run()
    log.append_as_leader(batch, 3)
    assert values_of(log) == [zeros]


@pytest.mark.parametrize("config", [SNAPPY, COMPACTED, APPEND_TIME])
@pytest.mark.parametrize("codec", list(Codec))
def test_a_small_batch_is_opened_at_once(config: TopicConfig, codec: Codec) -> None:
    one, other = Place(config=config).open(), Place(config=config).open()
    data = batch_of(*VALUES[:10], codec=codec)
    expected = one.append_as_leader(bytearray(data), 3)
    batch = Prepared(data, other.rules, PRODUCE_VERSION_LATEST, other.context.clock.now_ms())
    assert batch.run_at_once()
    assert other.append_as_leader(batch, 3) == expected
    assert stored_bytes(other) == stored_bytes(one)


def test_bytes_that_are_no_batch_stay_closed() -> None:
    assert share_of_iteration(b"", append_rules(GZIP)) == CLOSED
    assert share_of_iteration(bytes(60), append_rules(GZIP)) == CLOSED


def test_a_topic_with_large_messages_may_open_large_batches() -> None:
    assert decompressed_bytes_max(PLAIN) == DECOMPRESSED_BYTES_MAX
    large = replace(COMPACTED, max_message_bytes=20 << 20, segment_bytes=1 << 30)
    assert decompressed_bytes_max(large) == 160 << 20
    value = bytes(40 << 20)
    log = Place(config=large).open()
    log.append_as_leader(batch_of(value, codec=Codec.GZIP), 0)
    assert log.log_end_offset == 1
    with pytest.raises(InvalidBatch):
        Place(config=COMPACTED).open().append_as_leader(batch_of(value, codec=Codec.GZIP), 0)
