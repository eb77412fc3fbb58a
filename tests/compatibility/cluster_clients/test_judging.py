"""What counts as lost, doubled, unread or torn."""

from __future__ import annotations

from tests.compatibility.cluster_clients.judging import doubled, lost, misread, torn, unread

STORED = {(0, 0): "a", (0, 1): "b", (1, 0): "b"}


def test_what_is_acknowledged_and_missing_is_lost_and_what_is_there_twice_is_doubled() -> None:
    assert lost(["a", "c"], STORED.values()) == {"c"}
    assert doubled(STORED.values()) == {"b"}


def test_a_reader_is_given_each_offset_with_its_value() -> None:
    assert unread(STORED, ["0 0 a", "0 0 a", "1 0 b"]) == {(0, 1)}
    assert misread(STORED, ["0 0 a", "0 1 x", "7 0 a"]) == ["0 1 x", "7 0 a"]


def test_a_transaction_is_seen_whole_or_not_at_all() -> None:
    whole = [f"0-{at}" for at in range(5)]
    reported = {"committed": ["0"], "aborted": ["1"], "unknown": ["2"]}
    assert not torn(reported, whole)
    assert not torn(reported, [*whole, *(f"2-{at}" for at in range(5))])
    assert torn(reported, whole[:4]) == ["committed 0 has 4 records"]
    assert torn(reported, [*whole, "1-0"]) == ["aborted 1 has 1 records"]
    assert torn(reported, [*whole, "2-0"]) == ["unknown 2 has 1 records"]
    assert torn(reported, [*whole, "0-0"]) == ["0-0 is there 2 times"]
