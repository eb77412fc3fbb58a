"""After a restart a producer may repeat its last batches, as far back as a MiB of records."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.unit.storage.log_making import Place, append, batch_of

from ottla.base.files.filesystem import File
from ottla.base.files.readers import BLOCKING
from ottla.config.topic_options import TopicConfig
from ottla.protocol.errors import BrokerError
from ottla.storage.log.log import Log
from ottla.storage.producers.producer_replay import REFILL_BYTES, headers_in, ranges_before

KIB = 1024
ONE_SEGMENT = TopicConfig(index_interval_bytes=4 * KIB)
SEVERAL = TopicConfig(segment_bytes=700 * KIB, index_interval_bytes=4 * KIB)
NO_INDEX = TopicConfig(index_interval_bytes=2**31 - 1)


def filled(config: TopicConfig, between_bytes: int) -> tuple[Place, Log, list[bytes]]:
    """Seven batches of one producer, with other records between them."""
    place = Place(config=config)
    log = place.open()
    sent = []
    append(log, bytes(2 * REFILL_BYTES // 3))
    append(log, bytes(2 * REFILL_BYTES // 3))
    for sequence in range(7):
        batch = batch_of(b"v%d" % sequence, producer=(5, 0, sequence))
        sent.append(bytes(batch))
        log.append_as_leader(batch, 0)
        append(log, bytes(between_bytes))
    log.update_high_watermark(log.log_end_offset)
    return place, log, sent


def known(log: Log, sent: list[bytes]) -> list[bool]:
    """Which batches are recognised, the last one first."""
    answers = []
    for batch in reversed(sent):
        try:
            answers.append(log.append_as_leader(bytearray(batch), 0).is_duplicate)
        except BrokerError:
            answers.append(False)
    return answers


def stopped(place: Place, log: Log) -> Log:
    return place.reopen_clean(log)


def killed(place: Place, log: Log) -> Log:
    log.roll()
    append(log, b"later")
    return place.reopen_killed(log.segments.active.base_offset)


RESTARTS = [stopped, killed]


@pytest.mark.parametrize("restart", RESTARTS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("config", [ONE_SEGMENT, SEVERAL], ids=["one segment", "several"])
@pytest.mark.parametrize(
    ("between_bytes", "count"), [(1, 5), (100 * KIB, 5), (190 * KIB, 5), (300 * KIB, 3)]
)
def test_batches_within_the_last_mebibyte_are_known_after_a_restart(
    restart: Callable[[Place, Log], Log], config: TopicConfig, between_bytes: int, count: int
) -> None:
    place, log, sent = filled(config, between_bytes)
    assert known(log, sent) == [True] * 5 + [False] * 2
    found = known(restart(place, log), sent)
    assert found[:count] == [True] * count
    assert found == [True] * sum(found) + [False] * (7 - sum(found)), "without gaps"
    if count < 5:
        assert sum(found) < 5, "more is not read"


def test_without_an_index_the_last_batch_is_known_from_the_snapshot() -> None:
    place, log, sent = filled(NO_INDEX, 1)
    assert known(stopped(place, log), sent)[0]


@pytest.mark.parametrize("config", [ONE_SEGMENT, SEVERAL], ids=["one segment", "several"])
def test_no_more_than_a_mebibyte_of_records_is_walked(config: TopicConfig) -> None:
    _, log, _ = filled(config, 190 * KIB)
    headers = list(headers_in(ranges_before(BLOCKING, log.segments, log.log_end_offset)))
    offsets = [each.base_offset for each in headers]
    assert offsets == list(range(offsets[0], log.log_end_offset))
    size = sum(each.size_bytes for each in headers)
    assert REFILL_BYTES - 200 * KIB < size <= REFILL_BYTES
    middle = log.log_end_offset - 4
    before = [
        each.base_offset for each in headers_in(ranges_before(BLOCKING, log.segments, middle))
    ]
    assert before[-1] == middle - 1


def test_headers_are_read_and_not_the_records() -> None:
    _, log, _ = filled(ONE_SEGMENT, 100 * KIB)
    reads: list[int] = []
    file: File = log.segments.active.open(BLOCKING)
    original = file.read_at
    with pytest.MonkeyPatch.context() as patch:

        def counted(position: int, size: int) -> bytes:
            reads.append(size)
            return original(position, size)

        patch.setattr(type(file), "read_at", lambda _file, position, size: counted(position, size))
        list(headers_in(ranges_before(BLOCKING, log.segments, log.log_end_offset)))
    assert sum(reads) < 300 * KIB
