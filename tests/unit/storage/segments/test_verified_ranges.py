from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ottla.storage.segments.verified_ranges import RANGES_MAX, VerifiedRanges

ranges = st.tuples(st.integers(0, 60), st.integers(0, 20)).map(lambda r: (r[0], r[0] + r[1]))
steps = st.lists(
    st.one_of(
        st.tuples(st.just("add"), ranges),
        st.tuples(st.just("cut"), ranges),
        st.tuples(st.just("clear"), ranges),
    ),
    max_size=30,
)


@given(steps)
def test_a_set_of_positions_says_the_same(steps: list[tuple[str, tuple[int, int]]]) -> None:
    verified, model = VerifiedRanges(), set[int]()
    for kind, (start, end) in steps:
        match kind:
            case "add":
                verified.add(start, end)
                model |= set(range(start, end))
            case "cut":
                verified.cut(start)
                model = {position for position in model if position < start}
            case _:
                verified.clear()
                model.clear()
        for first in range(0, 80, 7):
            for last in range(first + 1, 82, 5):
                assert verified.covers(first, last) == (set(range(first, last)) <= model)
            unverified = next(at for at in range(first, 200) if at not in model)
            assert verified.unverified_from(first) == unverified


def test_random_reads_cost_bounded_memory() -> None:
    verified = VerifiedRanges()
    for number in range(5 * RANGES_MAX):
        verified.add(number * 10, number * 10 + 5)
    assert len(verified._starts) <= RANGES_MAX
    assert verified.covers(50 * RANGES_MAX - 10, 50 * RANGES_MAX - 5)
