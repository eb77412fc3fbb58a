from __future__ import annotations

import errno
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.storage.log_making import (
    COORDINATOR,
    SMALL,
    Place,
    append,
    append_many,
    batch_of,
    marker_of,
    placed,
    values_of,
)

from ottla.base.files.readers import BLOCKING
from ottla.base.scheduling.steps import run_blocking
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError, InvalidBatch
from ottla.protocol.records.batch import (
    HEADER_BYTES,
    iterate_headers,
    read_header,
    stamp_checksum,
)
from ottla.protocol.records.building import seal
from ottla.protocol.records.checking import ProduceRules, check_produced
from ottla.protocol.records.compression import Codec, compress
from ottla.protocol.records.reading import iterate_records
from ottla.storage.files.directory_health import StorageUnavailable
from ottla.storage.log.admission import UnexpectedOffset
from ottla.storage.log.append import ProducedBy
from ottla.storage.log.quick_admission import recognise
from ottla.testing.clock import ManualClock

NOW_MS = ManualClock().now_ms()


@pytest.fixture
def place() -> Place:
    return Place()


def test_a_batch_gets_the_next_offsets_and_the_leader_s_epoch_in_place(place: Place) -> None:
    log = place.open()
    append(log, b"a", b"b")
    batch = batch_of(b"c", b"d", b"e")
    appended = log.append_as_leader(batch, 7)
    assert (appended.first_offset, appended.last_offset) == (2, 4)
    assert read_header(batch).base_offset == 2
    assert read_header(batch).partition_leader_epoch == 7
    assert values_of(log) == [b"a", b"b", b"c", b"d", b"e"]
    assert log.epochs.load(BLOCKING).entries == ((0, 0), (7, 2))


def test_bytes_that_cannot_be_changed_are_copied(place: Place) -> None:
    log = place.open()
    append(log, b"a")
    sent = bytes(batch_of(b"b"))
    log.append_as_leader(memoryview(sent), 0)
    assert read_header(sent).base_offset == 0
    assert values_of(log) == [b"a", b"b"]


def test_a_wrong_checksum_is_refused_and_changes_nothing(place: Place) -> None:
    log = place.open()
    append(log, b"a")
    batch = batch_of(b"b")
    batch[-1] ^= 1
    with pytest.raises(InvalidBatch) as raised:
        log.append_as_leader(batch, 0)
    assert raised.value.code is ErrorCode.CORRUPT_MESSAGE
    assert log.log_end_offset == 1
    assert values_of(log) == [b"a"]


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ({"max_message_bytes": 200}, ErrorCode.MESSAGE_TOO_LARGE),
        ({"segment_bytes": 250}, ErrorCode.RECORD_LIST_TOO_LARGE),
    ],
)
def test_too_large_batches_are_refused(limits: dict[str, int], code: ErrorCode) -> None:
    log = Place(config=replace(SMALL, **limits)).open()  # type: ignore[arg-type]
    with pytest.raises(BrokerError) as raised:
        log.append_as_leader(batch_of(bytes(300)), 0)
    assert raised.value.code is code


@pytest.mark.parametrize(("age_ms", "is_allowed"), [(999, True), (1001, False), (-2001, False)])
@pytest.mark.parametrize("codec", [Codec.NONE, Codec.ZSTD])
def test_timestamps_lie_within_the_topic_s_limits(
    age_ms: int, is_allowed: bool, codec: Codec
) -> None:
    config = replace(
        SMALL, message_timestamp_before_max_ms=1000, message_timestamp_after_max_ms=2000
    )
    log = Place(config=config).open()
    batch = batch_of(b"a", timestamp=NOW_MS - age_ms, codec=codec)
    if is_allowed:
        log.append_as_leader(batch, 0)
        return
    with pytest.raises(InvalidBatch) as raised:
        log.append_as_leader(batch, 0)
    assert raised.value.code is ErrorCode.INVALID_TIMESTAMP


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.LZ4])
def test_log_append_time_is_the_broker_s_clock(codec: Codec) -> None:
    place = Place(config=replace(SMALL, message_timestamp_type="LogAppendTime"))
    log = place.open()
    appended = log.append_as_leader(batch_of(b"a", b"b", timestamp=5, codec=codec), 0)
    assert appended.log_append_time_ms == NOW_MS
    assert [
        record.timestamp
        for record in iterate_records(log.read(BLOCKING, 0, 1000, 2).records.read())
    ] == [
        NOW_MS,
        NOW_MS,
    ]


def test_a_larger_timestamp_than_the_header_says_is_put_right(place: Place) -> None:
    log = place.open()
    batch = batch_of(b"a", timestamp=NOW_MS)
    batch[35:43] = (NOW_MS - 500).to_bytes(8, "big")
    stamp_checksum(batch, 0, len(batch))
    log.append_as_leader(batch, 0)
    assert read_header(log.read(BLOCKING, 0, 1000, 1).records.read()).max_timestamp == NOW_MS
    found = run_blocking(log.finding_max_timestamp())
    assert found is not None
    assert found.timestamp == NOW_MS


@pytest.mark.parametrize("codec", list(Codec))
def test_a_compacted_topic_refuses_records_without_key(codec: Codec) -> None:
    log = Place(config=replace(SMALL, cleanup_policy=("compact",))).open()
    log.append_as_leader(batch_of(b"a", codec=codec), 0)
    with pytest.raises(InvalidBatch) as raised:
        log.append_as_leader(batch_of(b"b", key=None, codec=codec), 0)
    assert raised.value.code is ErrorCode.INVALID_RECORD
    assert log.log_end_offset == 1


@pytest.mark.parametrize("stored", ["uncompressed", "zstd"])
def test_what_is_recompressed_must_hold_the_records_it_claims(stored: str) -> None:
    log = Place(config=replace(SMALL, compression_type=stored)).open()
    data = batch_of(b"one", b"two", codec=Codec.GZIP)
    data[HEADER_BYTES:] = compress(Codec.GZIP, bytes(10))
    seal(data, read_header(data))
    with pytest.raises(InvalidBatch) as raised:
        log.append_as_leader(data, 0)
    assert raised.value.code == ErrorCode.INVALID_RECORD
    assert log.log_end_offset == 0


@pytest.mark.parametrize("stored", ["uncompressed", "gzip", "snappy", "lz4", "zstd"])
@pytest.mark.parametrize("sent", list(Codec))
def test_the_topic_s_codec_replaces_the_producer_s(stored: str, sent: Codec) -> None:
    log = Place(config=replace(SMALL, compression_type=stored)).open()
    log.append_as_leader(batch_of(b"a" * 90, b"b", codec=sent), 0)
    codecs = ["uncompressed", "gzip", "snappy", "lz4", "zstd"]
    assert codecs[read_header(log.read(BLOCKING, 0, 1000, 2).records.read()).codec] == stored
    assert values_of(log) == [b"a" * 90, b"b"]


def test_a_repeated_batch_is_answered_with_its_first_offset(place: Place) -> None:
    log = place.open()
    first = log.append_as_leader(batch_of(b"a", producer=(1, 0, 0)), 0)
    log.append_as_leader(batch_of(b"b", producer=(1, 0, 1)), 0)
    again = log.append_as_leader(batch_of(b"a", producer=(1, 0, 0)), 0)
    assert again.is_duplicate
    assert again.first_offset == first.first_offset == 0
    assert values_of(log) == [b"a", b"b"]


@pytest.mark.parametrize(
    ("producer", "code"),
    [
        ((1, 0, 5), ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
        ((1, 1, 3), ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
        ((2, 0, 0), ErrorCode.INVALID_PRODUCER_EPOCH),
    ],
)
def test_producers_out_of_order_are_refused(
    place: Place, producer: tuple[int, int, int], code: ErrorCode
) -> None:
    log = place.open()
    log.append_as_leader(batch_of(b"a", producer=(1, 0, 0)), 0)
    log.append_as_leader(batch_of(b"a", producer=(2, 4, 0)), 0)
    with pytest.raises(BrokerError) as raised:
        log.append_as_leader(batch_of(b"b", producer=producer), 0)
    assert raised.value.code is code
    assert log.log_end_offset == 2


def test_an_abort_marker_puts_its_transaction_into_the_index(place: Place) -> None:
    log = place.open()
    append(log, b"before")
    log.append_as_leader(batch_of(b"t", producer=(5, 0, 0), is_transactional=True), 0)
    append(log, b"between")
    assert log.last_stable_offset(BLOCKING) == 1
    log.append_as_leader(marker_of(5), 0, COORDINATOR)
    log.update_high_watermark(log.log_end_offset)
    assert log.last_stable_offset(BLOCKING) == 4
    aborted = log.read(BLOCKING, 0, 1 << 20, 4, with_aborted=True).aborted
    assert aborted == [(5, 1, 3, 4)]


def test_unverified_transactions_are_refused_where_that_is_asked_for(place: Place) -> None:
    log = place.open()
    log.context.verify_transactions(True)
    batch = bytes(batch_of(b"t", producer=(5, 0, 0), is_transactional=True))
    with pytest.raises(BrokerError) as raised:
        log.append_as_leader(batch, 0)
    assert raised.value.code is ErrorCode.INVALID_TXN_STATE
    guard = log.producers.load(BLOCKING).start_verification(5, 0, 0, False, NOW_MS)
    assert log.append_as_leader(batch, 0, ProducedBy(guard=guard)).first_offset == 0


def test_a_control_batch_is_for_coordinators_only(place: Place) -> None:
    log = place.open()
    with pytest.raises(InvalidBatch):
        log.append_as_leader(marker_of(5), 0)
    log.append_as_leader(marker_of(5, is_commit=True), 0, COORDINATOR)
    assert log.log_end_offset == 1


# Following


def test_a_follower_takes_offsets_and_epochs_as_they_are(place: Place) -> None:
    log = place.open()
    data = placed(batch_of(b"a", b"b"), 0, 3) + placed(batch_of(b"c"), 2, 5)
    appended = log.append_as_follower(data)
    assert (appended.first_offset, appended.last_offset) == (0, 2)
    assert values_of(log) == [b"a", b"b", b"c"]
    assert log.epochs.load(BLOCKING).entries == ((3, 0), (5, 2))


def test_the_cut_off_end_of_a_fetched_batch_is_left_out(place: Place) -> None:
    log = place.open()
    whole, cut = placed(batch_of(b"a"), 0), placed(batch_of(b"b"), 1)
    log.append_as_follower(whole + cut[:-3])
    assert values_of(log) == [b"a"]
    log.append_as_follower(cut)
    assert values_of(log) == [b"a", b"b"]


def test_offsets_of_a_compacted_log_may_have_gaps(place: Place) -> None:
    log = place.open()
    log.append_as_follower(placed(batch_of(b"a"), 10) + placed(batch_of(b"b"), 20))
    assert log.log_end_offset == 21
    assert values_of(log, 11) == [b"b"]


def test_records_that_do_not_follow_on_the_end_are_refused(place: Place) -> None:
    log = place.open()
    append_many(log, 3)
    with pytest.raises(UnexpectedOffset) as raised:
        log.append_as_follower(placed(batch_of(b"x"), 1))
    assert (raised.value.first_offset, raised.value.log_end_offset) == (1, 3)


def test_a_damaged_fetch_is_refused_as_a_whole(place: Place) -> None:
    log = place.open()
    damaged = bytearray(placed(batch_of(b"a"), 0) + placed(batch_of(b"b"), 1))
    damaged[-1] ^= 1
    with pytest.raises(InvalidBatch):
        log.append_as_follower(damaged)
    assert log.log_end_offset == 0


def test_a_large_fetch_fills_several_segments(place: Place) -> None:
    log = place.open()
    batches = [placed(batch_of(bytes(200)), offset) for offset in range(20)]
    log.append_as_follower(b"".join(batches))
    assert len(log.segments) > 3
    assert all(segment.size <= SMALL.segment_bytes for segment in log.segments)
    assert len(values_of(log)) == 20


def test_an_offset_too_far_away_begins_a_segment(place: Place) -> None:
    log = place.open()
    append(log, b"a")
    log.append_as_follower(placed(batch_of(b"b"), 2**31 + 5))
    assert len(log.segments) == 2
    assert values_of(log) == [b"a", b"b"]
    assert values_of(place.reopen_killed()) == [b"a", b"b"]


# Failing


@pytest.mark.parametrize("kept", [0, 30, 10_000])
def test_a_full_disk_refuses_and_the_next_append_takes_the_place(place: Place, kept: int) -> None:
    log = place.open()
    append(log, b"a")
    place.disk.fail("write", "*.log", error=errno.ENOSPC, keep_bytes=kept)
    with pytest.raises(StorageUnavailable) as raised:
        append(log, b"lost" * 20)
    assert raised.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert log.log_end_offset == 1
    assert log.health.is_online
    append(log, b"b")
    assert values_of(log) == [b"a", b"b"]
    assert values_of(place.reopen_killed()) == [b"a", b"b"]


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
def test_without_descriptors_an_append_is_refused_and_nothing_is_to_be_undone(
    place: Place, number: int
) -> None:
    log = place.open()
    append(log, b"a")
    place.disk.fail(["write", "truncate", "sync"], "*.log", error=number, times=None)
    with pytest.raises(StorageUnavailable):
        append(log, b"b")
    assert log.health.is_online
    place.disk.heal()
    append(log, b"c")
    assert values_of(log) == [b"a", b"c"]


@pytest.mark.parametrize("as_follower", [False, True])
def test_a_log_whose_files_cannot_be_opened_refuses_appends_and_stays_online(
    place: Place, as_follower: bool
) -> None:
    append_many(place.open(), 3)
    log = place.reopen_killed()
    log.segments.active.close()
    log.segments.active.is_prepared = False
    place.disk.fail("open", "*", error=errno.EMFILE, times=None)
    data = placed(batch_of(b"3"), 3)
    with pytest.raises(StorageUnavailable):
        log.append_as_follower(data) if as_follower else append(log, b"3")
    assert log.health.is_online
    place.disk.heal()
    append(log, b"3")
    assert values_of(log) == [b"0", b"1", b"2", b"3"]


def test_a_failing_disk_takes_the_directory_offline(place: Place) -> None:
    log = place.open()
    append(log, b"a")
    place.disk.fail("write", "*.log", keep_bytes=50)
    with pytest.raises(StorageUnavailable):
        append(log, b"b")
    with pytest.raises(StorageUnavailable, match="offline"):
        append(log, b"c")
    assert not log.health.is_online
    assert values_of(place.reopen_killed()) == [b"a"]


def test_a_marker_that_cannot_be_indexed_is_not_written(place: Place) -> None:
    log = place.open()
    log.append_as_leader(batch_of(b"t", producer=(5, 0, 0), is_transactional=True), 0)
    place.disk.fail("write", "*.txnindex", error=errno.ENOSPC)
    with pytest.raises(StorageUnavailable):
        log.append_as_leader(marker_of(5), 0, COORDINATOR)
    assert log.log_end_offset == 1
    assert log.producers.load(BLOCKING).has_open_transaction(5, 0)
    log.append_as_leader(marker_of(5), 0, COORDINATOR)
    log.update_high_watermark(2)
    assert log.read(BLOCKING, 0, 1 << 20, 2, with_aborted=True).aborted == [(5, 0, 1, 2)]


@pytest.mark.parametrize("decided", [0, 1, 3])
def test_a_marker_that_is_refused_holds_back_nothing_that_was_committed(
    place: Place, decided: int
) -> None:
    log = place.open()
    for producer_id in range(decided + 1):
        batch = batch_of(b"t", producer=(producer_id, 0, 0), is_transactional=True)
        log.append_as_leader(batch, 0)
        if producer_id < decided:
            log.append_as_leader(marker_of(producer_id, is_commit=True), 0, COORDINATOR)
        log.update_high_watermark(log.log_end_offset)
    stable_offset = log.last_stable_offset(BLOCKING)
    assert stable_offset == 2 * decided  # where the open one begins
    place.disk.fail("write", "*.txnindex", error=errno.ENOSPC)
    with pytest.raises(StorageUnavailable):
        log.append_as_leader(marker_of(decided), 0, COORDINATOR)
    assert log.last_stable_offset(BLOCKING) == stable_offset
    log.append_as_leader(marker_of(decided), 0, COORDINATOR)
    log.update_high_watermark(log.log_end_offset)
    log.producers.unload()
    assert log.last_stable_offset(BLOCKING) == log.high_watermark == log.log_end_offset


def test_an_index_that_cannot_be_written_costs_no_records() -> None:
    place = Place(config=replace(SMALL, segment_bytes=1 << 20))
    log = place.open()
    place.disk.fail("write", "*index", error=errno.ENOSPC, times=None)
    append_many(log, 200)
    assert values_of(log, 100)[:2] == [b"100", b"101"]


# Recognising usual batches


@st.composite
def perhaps_good_batches(draw: st.DrawFn) -> bytes:
    batch = batch_of(
        *draw(st.lists(st.binary(max_size=20), min_size=1, max_size=4)),
        timestamp=NOW_MS + draw(st.sampled_from([0, -1, -(10**9), 10**9])),
        key=draw(st.sampled_from([b"k", None])),
        codec=draw(st.sampled_from(list(Codec))),
        producer=draw(st.sampled_from([None, (1, 0, 0), (-1, 5, 5), (4, -1, 0), (4, 0, -1)])),
        is_transactional=draw(st.booleans()),
    )
    for at in draw(st.lists(st.integers(0, len(batch) - 1), max_size=2)):
        batch[at] ^= 1 << draw(st.integers(0, 7))
    if draw(st.booleans()) and next(iterate_headers_safely(batch), None):
        stamp_checksum(batch, 0, len(batch))
    return bytes(batch) + draw(st.sampled_from([b"", b"x"]))


def iterate_headers_safely(batch: bytearray):  # type: ignore[no-untyped-def]
    try:
        yield from iterate_headers(batch)
    except InvalidBatch:
        return


@given(
    perhaps_good_batches(),
    st.booleans(),
    st.booleans(),
    st.sampled_from([3, 13]),
    st.sampled_from([10**6, 100]),
)
def test_what_is_recognised_quickly_passes_every_check(
    data: bytes, is_compacted: bool, is_log_append_time: bool, version: int, bytes_max: int
) -> None:
    rules = ProduceRules(
        message_bytes_max=bytes_max,
        is_compacted=is_compacted,
        is_log_append_time=is_log_append_time,
    )
    quick = recognise(data, rules, version, NOW_MS)
    if quick is not None:
        assert quick == check_produced(data, rules, produce_version=version, now_ms=NOW_MS)


@pytest.mark.parametrize("codec", list(Codec))
def test_usual_batches_are_recognised(codec: Codec) -> None:
    for producer in (None, (1, 0, 0)):
        batch = batch_of(b"a", b"b", codec=codec, producer=producer)
        assert recognise(batch, ProduceRules(), 13, NOW_MS) is not None


@pytest.mark.parametrize(
    ("spare_bytes", "flipped", "code"),
    [
        (0, 0, ErrorCode.NONE),
        (0, 1, ErrorCode.CORRUPT_MESSAGE),
        (-1, 0, ErrorCode.MESSAGE_TOO_LARGE),
    ],
)
def test_a_coordinator_s_batch_is_checked_as_any_other(
    spare_bytes: int, flipped: int, code: ErrorCode
) -> None:
    batch = bytearray(batch_of(b"offsets" * 10))
    log = Place(config=replace(SMALL, max_message_bytes=len(batch) + spare_bytes)).open()
    batch[-1] ^= flipped
    if code is ErrorCode.NONE:
        log.append_as_leader(batch, 0, COORDINATOR)
        return
    with pytest.raises(BrokerError) as refused:
        log.append_as_leader(batch, 0, COORDINATOR)
    assert (refused.value.code, log.log_end_offset) == (code, 0)
