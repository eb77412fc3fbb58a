"""How much goes into a micro-batch."""

from hypothesis import given
from hypothesis import strategies as st

from ottla.base.ids import TopicPartition
from ottla.spark.planning.trigger_limits import Holding, not_beyond, share_out, waiting

A, B, C = (TopicPartition("t", number) for number in range(3))


def test_a_limit_is_shared_by_what_each_partition_has_waiting() -> None:
    assert share_out(10, {A: 0, B: 100}, {A: 75, B: 125}) == {A: 8, B: 102}


def test_what_rounding_leaves_over_is_given_away_as_well() -> None:
    assert share_out(10, {A: 0, B: 0, C: 0}, {A: 9, B: 8, C: 8}) == {A: 4, B: 3, C: 3}


def test_less_than_the_limit_goes_through_whole() -> None:
    assert share_out(10, {A: 0, B: 0}, {A: 4, B: 6}) == {A: 4, B: 6}


def test_a_share_below_one_is_one() -> None:
    starts = {TopicPartition("t", number): 0 for number in range(100)}
    ends = dict.fromkeys(starts, 5)
    assert share_out(10, starts, ends) == dict.fromkeys(starts, 1)


def test_an_end_before_its_start_counts_for_nothing_and_stays() -> None:
    assert share_out(1, {A: 50, B: 0}, {A: 20, B: 9}) == {A: 20, B: 1}


@given(
    st.integers(1, 1000),
    st.lists(st.tuples(st.integers(0, 2**62), st.integers(0, 2**61)), min_size=1, max_size=8),
)
def test_ends_move_towards_the_log_s_end_and_never_beyond(
    limit: int, sizes: list[tuple[int, int]]
) -> None:
    starts = {TopicPartition("t", number): start for number, (start, _) in enumerate(sizes)}
    ends = {TopicPartition("t", n): start + size for n, (start, size) in enumerate(sizes)}
    shared = share_out(limit, starts, ends)
    assert all(starts[place] <= shared[place] <= ends[place] for place in starts)
    assert waiting(starts, shared) <= limit + len(sizes)  # each share may be rounded up
    assert (waiting(starts, shared) > 0) == (waiting(starts, ends) > 0)


def test_a_batch_waits_for_enough_but_not_forever_and_the_first_one_not_at_all() -> None:
    holding = Holding(min_offsets=10, max_delay_ms=500)
    assert holding.must_wait(9, since_last_batch_ms=499)
    assert not holding.must_wait(10, since_last_batch_ms=0)
    assert not holding.must_wait(1, since_last_batch_ms=500)
    assert not holding.must_wait(1, since_last_batch_ms=None)


def test_partitions_newer_than_the_target_are_left_out() -> None:
    assert not_beyond({A: 10, B: 3, C: 7}, {A: 5, B: 8}) == {A: 5, B: 3}
