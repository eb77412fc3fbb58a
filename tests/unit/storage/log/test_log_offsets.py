from __future__ import annotations

from random import Random

import pytest

from ottla.storage.log.log_offsets import LogOffsets


def is_consistent(offsets: LogOffsets) -> bool:
    return (
        offsets.start <= offsets.high_watermark <= offsets.end
        and offsets.recovery_point <= offsets.end
    )


@pytest.mark.parametrize("seed", range(50))
def test_offsets_stay_in_order_whatever_happens(seed: int) -> None:
    random = Random(seed)
    offsets = LogOffsets(3, 10, 5)
    for _ in range(200):
        any_offset = random.randrange(offsets.end + 20)
        match random.randrange(7):
            case 0:
                offsets.advance_end(offsets.end + random.randrange(1, 5))
            case 1:
                offsets.set_high_watermark(any_offset)
            case 2:
                offsets.advance_start(random.randint(offsets.start, offsets.high_watermark))
            case 3:
                offsets.advance_recovery_point(any_offset)
            case 4:
                end = random.randrange(offsets.end + 1)
                offsets.lower(random.randrange(end + 1), end)
                offsets.truncate(end)
            case 5:
                offsets.restart(any_offset, any_offset, any_offset)
            case _:
                offsets.lower(any_offset, any_offset)
        assert is_consistent(offsets), offsets


def test_a_start_above_the_high_watermark_is_refused() -> None:
    offsets = LogOffsets(0, 10, 0)
    offsets.set_high_watermark(4)
    with pytest.raises(ValueError, match="cannot start at 5"):
        offsets.advance_start(5)
    offsets.advance_start(4)
    with pytest.raises(ValueError, match="cannot start at 3"):
        offsets.advance_start(3)


@pytest.mark.parametrize(("start", "end", "recovery_point"), [(2, 1, 0), (0, 1, 2)])
def test_offsets_out_of_order_are_refused(start: int, end: int, recovery_point: int) -> None:
    with pytest.raises(ValueError, match="recovery point"):
        LogOffsets(start, end, recovery_point)


def test_a_restart_with_offsets_out_of_order_is_refused() -> None:
    offsets = LogOffsets(0, 10, 0)
    with pytest.raises(ValueError, match="high watermark"):
        offsets.restart(5, 4, high_watermark=4)
    assert (offsets.start, offsets.end, offsets.truncations) == (0, 10, 0)


def test_each_truncation_is_counted() -> None:
    offsets = LogOffsets(0, 10, 10)
    offsets.truncate(8)
    offsets.restart(20, 20, high_watermark=20)
    assert (offsets.truncations, offsets.recovery_point) == (2, 8)


def test_lowering_reports_whether_a_checkpoint_must_be_written() -> None:
    offsets = LogOffsets(2, 10, 6)
    assert not offsets.lower(6, 2)
    assert offsets.lower(5, 2)
    assert offsets.lower(5, 1)
    assert (offsets.recovery_point, offsets.start) == (5, 1)


def test_a_checkpoint_that_begins_may_reach_the_disk() -> None:
    offsets = LogOffsets(0, 10, 3)
    offsets.checkpoint_begins(7)
    offsets.checkpoint_begins(5)
    assert offsets.checkpointed_point == 7
    offsets.checkpoint_written(5)
    assert offsets.checkpointed_point == 5
