"""A log does for a long time whatever may happen to it, and is compared with a plain list.

Each run is one seed: a failing one can be repeated. What is compared is in `check_everything`.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

import pytest
from tests.unit.storage.log_world import (
    CONFIG,
    World,
    aborted_transactions,
    all_records,
    described,
    last_stable_offset,
    replayed,
    verified,
)

from ottla.base.files.readers import BLOCKING
from ottla.base.scheduling.steps import run_blocking
from ottla.config.topic_options import TopicConfig
from ottla.protocol.errors import BrokerError
from ottla.protocol.records.batch import iterate_headers, read_header
from ottla.storage.files.directory_health import StorageUnavailable
from ottla.storage.files.file_names import RECOVERY_POINTS_NAME
from ottla.storage.segments.segment_search import locate

STEPS = 120
LAST_SEQUENCE = 2**31 - 1
LAST_TIME_MS = 2**63 - 1
OFFSETS_OF_A_SEGMENT = 2**31  # an index has 31 bits for them


@dataclass(frozen=True)
class Case:
    """Where a story takes place."""

    config: TopicConfig = CONFIG
    first_sequence: int = 0
    first_offset: int = 0
    gap: int = 7  # that a leader's compaction left
    times_ms: tuple[int, ...] = ()  # of records


class Driver:
    """Chooses what happens next."""

    def __init__(self, seed: int, case: Case) -> None:
        self.world = World(seed, case.config, case.first_sequence, case.times_ms)
        self.random = Random(seed)
        self.case = case
        if case.first_offset:
            self.world.start_at(case.first_offset)
        self.has_deleted = False
        self.has_rotten = False

    def step(self) -> None:
        actions = [
            (30, self.append_plain),
            (14, self.append_idempotent),
            (12, self.append_transactional),
            (8, self.end_transaction),
            (6, self.repeat),
            (4, self.skip_sequence),
            (6, self.replicate),
            (3, self.roll),
            (6, self.flush),
            (4, self.checkpoint),
            (3, self.truncate),
            (1, self.start_over),
            (2, self.delete_records),
            (2, self.retain),
            (3, self.fail_a_write),
            (2, self.fill_the_disk),
            (2, self.close),
            (2, self.kill),
            (3, self.crash),
            (2, self.rot),
            (2, self.lose),
        ]
        weights = [weight for weight, _ in actions]
        action = self.random.choices([each for _, each in actions], weights)[0]
        self.world.clock.advance_ms(self.random.choice((0, 1, 10, 500)))
        action()
        self.catch_up()

    def catch_up(self) -> None:
        """The high watermark lags behind, then jumps over several batches."""
        log = self.world.log
        at_most = self.random.randint(log.high_watermark, log.log_end_offset)
        log.update_high_watermark(self.random.choice((at_most, log.log_end_offset)))

    # What may happen

    def append_plain(self) -> None:
        self.world.append()

    def append_idempotent(self) -> None:
        producer = self.random.choice(self.world.producers)
        if not producer.is_in_transaction:
            self.world.append(producer)

    def append_transactional(self) -> None:
        self.world.append(self.random.choice(self.world.producers), is_transactional=True)

    def end_transaction(self) -> None:
        open_ones = [each for each in self.world.producers if each.is_in_transaction]
        if open_ones:
            self.world.end_transaction(self.random.choice(open_ones), self.random.random() < 0.5)

    def repeat(self) -> None:
        """One of the last five batches comes again, and is answered as it was."""
        producer = self.random.choice(self.world.producers)
        if producer.sent:
            known = 1 if self.has_deleted else 5  # a snapshot keeps one, the records the others
            sent, offset = self.random.choice(producer.sent[-known:])
            appended = self.world.log.append_as_leader(bytearray(sent), self.world.leader_epoch)
            assert appended.is_duplicate
            assert appended.first_offset == offset

    def skip_sequence(self) -> None:
        producer = self.random.choice(self.world.producers)
        expected = producer.sequence
        if producer.sent and not producer.is_in_transaction:
            producer.sequence = (expected + 3) % (LAST_SEQUENCE + 1)
            with pytest.raises(BrokerError, match="sequence"):
                self.world.append(producer)
            producer.sequence = expected

    def replicate(self) -> None:
        self.world.replicate(gap=self.random.choice((0, 0, 0, self.case.gap)))

    def roll(self) -> None:
        self.world.log.roll()

    def flush(self) -> None:
        self.world.flush()

    def checkpoint(self) -> None:
        for _, making in self.world.manager.checkpoint_jobs():
            run_blocking(making).run()

    def truncate(self) -> None:
        log = self.world.log
        log.update_high_watermark(log.log_start_offset)
        self.world.truncate_to(self.random.randint(log.log_start_offset, log.log_end_offset))
        # It was moved back only to allow the cut; what is left had been replicated.
        log.update_high_watermark(log.log_end_offset)

    def start_over(self) -> None:
        self.world.start_at(self.world.log.log_end_offset + self.random.randrange(0, 50))
        self.has_deleted = True

    def delete_records(self) -> None:
        log = self.world.log
        log.advance_log_start(self.random.randint(log.log_start_offset, log.high_watermark))
        self.has_deleted = True

    def retain(self) -> None:
        self.world.clock.advance_ms(self.random.randrange(0, 30_000))
        self.world.log.enforce_retention()
        self.world.drop_before_start()
        for _, removal in self.world.manager.due_removals():
            removal.run()
        self.has_deleted = True

    def fail_a_write(self) -> None:
        """The disk fails permanently: the directory is offline, and the next process recovers."""
        kind, pattern = self.random.choice((("write", "*.log"), ("sync", "*"), ("truncate", "*")))
        self.world.disk.fail(kind, pattern, keep_bytes=self.random.randrange(0, 100), times=None)
        end_offset = self.world.log.log_end_offset
        with pytest.raises(StorageUnavailable):
            self.world.append() if kind == "write" else self._flush_or_truncate(kind)
        with pytest.raises(StorageUnavailable):
            self.world.append()
        self.world.disk.heal()
        assert end_offset == self.world.end_offset
        self.world.crash_and_reopen()

    def _flush_or_truncate(self, kind: str) -> None:
        if kind == "sync":
            self.world.flush()
        else:
            self.world.disk.fail("write", "*.log", keep_bytes=50, times=None)
            self.world.append()

    def fill_the_disk(self) -> None:
        """A full disk refuses, continues serving, and takes records again once there is room."""
        self.world.disk.fail(
            "write", "*.log", error=errno.ENOSPC, keep_bytes=self.random.randrange(0, 100)
        )
        with pytest.raises(StorageUnavailable, match="No space"):
            self.world.append()
        self.world.disk.heal()
        assert self.world.log.log_end_offset == self.world.end_offset
        assert self.world.stored()[-1:] == self.world.batches[-1:]

    def close(self) -> None:
        before, start = self.producers(), self.world.log.log_start_offset
        self.world.close_and_reopen()
        assert self.producers() == before
        assert self.world.log.log_start_offset == start
        assert self.world.log.damage == ()

    def kill(self) -> None:
        before = self.producers()
        self.world.kill_and_reopen()
        if self.has_deleted and self.has_rotten:  # perhaps the one snapshot that knew
            self.world.adopt_producers()
        else:
            assert self.producers() == before
        assert self.world.log.damage == () or self.has_rotten

    def crash(self) -> None:
        self.world.crash_and_reopen()
        assert self.world.log.damage == () or self.has_rotten

    def rot(self) -> None:
        """Bits flip in files that only help to find things: nothing may get lost or look wrong."""
        self.damage_while_stopped(self.flip_a_bit)

    def flip_a_bit(self, path: str) -> None:
        size = self.world.disk.size(path)
        if size:
            bit = self.random.randrange(8)
            self.world.disk.flip_bit(path, self.random.randrange(size), bit)

    def lose(self) -> None:
        """Such files are gone, as a careless hand or a repaired file system leaves them."""
        self.damage_while_stopped(self.remove)

    def remove(self, path: str) -> None:
        # Most segments have no index of aborted transactions: a missing one cannot be detected.
        if self.world.disk.exists(path) and not path.endswith(".txnindex"):
            self.world.disk.remove(path)

    def damage_while_stopped(self, damage: Callable[[str], None]) -> None:
        before, is_clean = self.producers(), self.random.random() < 0.5
        self.world.manager.close() if is_clean else self.world.disk.kill()
        for path in self.random.choices(self.world.helping_files(), k=3):
            # A recovery point has no checksum: a wrong one counts unless the log ends before it.
            if self.case.gap < OFFSETS_OF_A_SEGMENT - 2 or not path.endswith(RECOVERY_POINTS_NAME):
                damage(path)
        self.world.reopen()
        self.checkpoint()  # a power cut on top of a wrong recovery point would be too much
        self.has_rotten = True
        self.check_everything()
        if self.has_deleted:
            self.world.adopt_producers()
        else:
            assert self.producers() == before

    def producers(self) -> dict[int, object]:
        return described(self.world.log.producers.load(BLOCKING), with_windows=not self.has_deleted)

    # What must hold

    def check_everything(self) -> None:
        world, log = self.world, self.world.log
        assert log.log_end_offset == world.end_offset
        assert world.stored() == world.batches
        self.check_reads()
        self.check_times()
        self.check_epochs()
        if not self.has_deleted:
            assert self.producers() == described(replayed(world.batches))
            stable_offset = last_stable_offset(world.batches, log.high_watermark)
            assert log.last_stable_offset(BLOCKING) == max(stable_offset, log.log_start_offset)
        for segment in [] if self.has_rotten else log.segments:
            segment.indexes.offsets.check_entries(BLOCKING, segment.size)

    def check_reads(self) -> None:
        world, log = self.world, self.world.log
        served = []
        for found, offset in world.read_all(self.random.choice((1, 300, 100_000))):
            data = found.records.read()
            headers = [(at, header) for at, header in iterate_headers(data)]
            served += [data[at : at + header.size_bytes] for at, header in headers]
            self.check_aborted(found.aborted, offset, headers[-1][1].next_offset)
        visible = [b for b in world.batches if read_header(b).last_offset >= log.log_start_offset]
        assert served == visible
        for offset in self.some_offsets():
            segment = log.segments.floor(offset)
            assert segment is not None
            expected = next((h for h in world.headers() if h.last_offset >= offset), None)
            place = locate(BLOCKING, segment, offset) if segment.size else None
            if place is not None:
                assert expected is not None
                assert (
                    read_header(segment.open(BLOCKING).read_at(place.position, place.size))
                    == expected
                )

    def check_aborted(self, aborted: object, start: int, end: int) -> None:
        known = aborted_transactions(self.world.batches)
        assert isinstance(aborted, list)
        reported = {(each.producer_id, each.first_offset, each.last_offset) for each in aborted}
        needed = {each for each in known if each[1] < end and each[2] >= start}
        # The list no longer knows where the oldest transactions began; nor does the log know of an
        # entry that was damaged to begin before the log.
        if self.has_deleted or (self.has_rotten and self.case.first_offset):
            assert {each[2] for each in needed} <= {each[2] for each in reported}
        else:
            assert needed <= reported <= set(known)

    def check_times(self) -> None:
        log = self.world.log
        records = [r for r in all_records(self.world.batches) if r.offset >= log.log_start_offset]
        if not records:
            return
        for _ in range(3):
            timestamp = self.random.choice(records).timestamp + self.random.randrange(-1, 2)
            first = next((r for r in records if r.timestamp >= timestamp), None)
            found = run_blocking(log.finding_by_timestamp(timestamp))
            assert (found and found.offset) == (first and first.offset)

    def check_epochs(self) -> None:
        log = self.world.log
        for offset in self.some_offsets():
            header = next((h for h in self.world.headers() if h.last_offset >= offset), None)
            if header is not None and header.base_offset <= offset:
                assert (
                    log.epochs.load(BLOCKING).epoch_for_offset(offset)
                    == header.partition_leader_epoch
                )

    def some_offsets(self) -> list[int]:
        log = self.world.log
        if log.log_start_offset == log.log_end_offset:
            return []
        return [self.random.randrange(log.log_start_offset, log.log_end_offset) for _ in range(5)]


CASES = {
    "plain": Case(),
    "preallocated": Case(replace(CONFIG, preallocate=True)),
    "tiny indexes": Case(replace(CONFIG, segment_index_bytes=40)),
    "one batch a segment": Case(replace(CONFIG, segment_index_bytes=4, segment_bytes=400)),
    "log append time": Case(replace(CONFIG, message_timestamp_type="LogAppendTime")),
    "compressed": Case(replace(CONFIG, compression_type="lz4")),
    "compacted": Case(replace(CONFIG, cleanup_policy=("compact",))),
    "last sequences": Case(first_sequence=LAST_SEQUENCE - 9),
    "offsets above 32 bits": Case(first_offset=2**32 - 20, first_sequence=LAST_SEQUENCE),
    "last offsets": Case(first_offset=2**63 - 10_000),
    "gaps as wide as a segment": Case(gap=OFFSETS_OF_A_SEGMENT - 2),
    "first and last times": Case(
        replace(CONFIG, message_timestamp_after_max_ms=LAST_TIME_MS),
        times_ms=(0, 1, 2**31, 1_700_000_000_000, 2**62, LAST_TIME_MS - 1),
    ),
}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_log_stays_what_the_list_says_whatever_happens(case: Case, seed: int) -> None:
    driver = Driver(seed, case)
    for number in range(STEPS):
        driver.step()
        if number % 4 == 0:
            driver.check_everything()
    driver.check_everything()
    driver.close()
    driver.check_everything()


def test_reading_nothing_is_no_error() -> None:
    world = World()
    assert len(verified(world.log, 0, 100, 0).records) == 0
