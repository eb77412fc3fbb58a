"""The batches of one partition on their way."""

from __future__ import annotations

import random

import pytest
from tests.support.raw_client import batch_of

from ottla.base.ids import TopicPartition
from ottla.client.admin.transactions import ProducerIdentity
from ottla.client.producing.partition_window import (
    SEQUENCE_MAX,
    Acknowledged,
    AcknowledgedRange,
    PartitionWindow,
    sequence_after,
)
from ottla.protocol.records.batch import has_valid_checksum, read_header

HERE = TopicPartition("t", 0)
IDENTITY = ProducerIdentity(77, 3)


def window_with(count: int, identity: ProducerIdentity | None = IDENTITY) -> PartitionWindow:
    window = PartitionWindow(HERE, identity)
    for _ in range(count):
        window.add(batch_of(b"a", b"b"))
    return window


def established(count: int) -> PartitionWindow:
    """A window whose first batch is acknowledged already."""
    window = window_with(count + 1)
    window.settle(window.take(), 0)
    return window


def test_batches_are_stamped_with_identity_and_sequence() -> None:
    window = PartitionWindow(HERE, IDENTITY, is_transactional=True)
    for values in ([b"a"], [b"b", b"c"], [b"d"]):
        window.add(batch_of(*values))
    headers = [read_header(each.data) for each in window.waiting]
    assert [header.base_sequence for header in headers] == [0, 1, 3]
    assert all((header.producer_id, header.producer_epoch) == IDENTITY for header in headers)
    assert all(header.is_transactional for header in headers)
    assert all(
        has_valid_checksum(each.data, 0, header)
        for each, header in zip(window.waiting, headers, strict=True)
    )


def test_a_batch_that_carries_the_stamp_already_is_left_as_it_is() -> None:
    window = PartitionWindow(HERE, IDENTITY)
    batch = bytes(batch_of(b"a", producer_id=77, epoch=3, sequence=0))
    assert window.add(batch).data is batch


def test_a_batch_that_cannot_be_changed_is_copied_for_its_stamp() -> None:
    window = PartitionWindow(HERE, IDENTITY)
    batch = bytes(batch_of(b"a"))
    assert read_header(window.add(batch).data).producer_id == 77
    assert read_header(batch).producer_id == -1


def test_without_identity_nothing_is_stamped() -> None:
    (batch,) = window_with(1, identity=None).waiting
    assert read_header(batch.data).base_sequence == -1


@pytest.mark.parametrize("damage", [b"", b"x"])
def test_what_is_not_exactly_one_batch_is_refused(damage: bytes) -> None:
    whole = bytes(batch_of(b"a"))
    data = whole + damage if damage else whole[:-1]
    with pytest.raises(ValueError, match=r"t-0: .* bytes, of which a batch takes"):
        PartitionWindow(HERE, IDENTITY).add(data)


def test_sequences_wrap_to_zero() -> None:
    assert sequence_after(SEQUENCE_MAX, 1) == 0
    assert sequence_after(SEQUENCE_MAX - 1, 5) == 3


def test_the_first_batch_of_all_goes_alone() -> None:
    window = window_with(3)
    first = window.take()
    assert not window.can_send
    window.settle(first, 0)
    assert window.can_send


def test_at_most_five_are_on_their_way() -> None:
    window = established(9)
    while window.can_send:
        window.take()
    assert len(window.in_flight) == 5


def test_what_failed_goes_again_in_order_and_before_anything_newer() -> None:
    window = established(6)
    sent = [window.take() for _ in range(3)]
    window.send_again(sent[1])
    assert not window.can_send
    window.send_again(sent[0])
    window.settle(sent[2], 100)
    assert window.can_send
    assert [window.take() for _ in range(2)] == sent[:2]
    assert window.can_send


def test_a_batch_is_first_when_everything_before_it_is_acknowledged() -> None:
    window = established(3)
    one, two = window.take(), window.take()
    assert window.is_first(one)
    assert not window.is_first(two)
    window.send_again(one)
    assert not window.is_first(two)


def test_adjacent_ranges_are_reported_as_one() -> None:
    acknowledged = Acknowledged()
    for base_offset, records in ((5, 3), (8, 2), (20, 1), (-1, 4)):
        acknowledged.add(base_offset, records)
    assert acknowledged.ranges == [AcknowledgedRange(5, 10), AcknowledgedRange(20, 21)]
    assert (acknowledged.records, acknowledged.batches) == (10, 4)


def test_any_order_of_failures_stores_every_batch_once_and_in_order() -> None:
    """Against a log that detects repetitions as a broker does: by its five newest batches."""
    rng = random.Random(11)
    for _ in range(300):
        window = window_with(20)
        log: list[int] = []
        while not window.is_settled:
            while window.can_send and rng.random() < 0.7:
                window.take()
            failed = False
            for batch in list(window.in_flight):
                # A broker processes requests in order; an answer, or the request, may be lost.
                is_lost = failed or rng.random() < 0.2
                sequence = read_header(batch.data).base_sequence
                if not is_lost or rng.random() < 0.5:
                    if sequence in log[-5:]:
                        pass
                    elif not log or sequence == log[-1] + 2:
                        log.append(sequence)
                    else:
                        is_lost = True  # out of order
                failed = failed or is_lost
                if is_lost:
                    window.send_again(batch)
                else:
                    window.settle(batch, sequence)
        assert log == list(range(0, 40, 2))
