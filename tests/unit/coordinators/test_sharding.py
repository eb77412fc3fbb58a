"""Which partition keeps a group: as Kafka's own rule has it."""

from __future__ import annotations

import pytest

from ottla.coordinators.sharding import shard_of


@pytest.mark.parametrize(
    ("group", "hash_code"),  # as Java's String.hashCode gives it
    [("", 0), ("abc", 96354), ("hello", 99162322), ("Aa", 2112), ("BB", 2112)],
)
def test_the_partition_is_the_hash_modulo_partitions(group: str, hash_code: int) -> None:
    assert [shard_of(group, count) for count in (1, 50, 7)] == [
        hash_code % count for count in (1, 50, 7)
    ]


def test_a_negative_hash_counts_as_its_absolute_value() -> None:
    assert shard_of("consumer-group", 50) == 1738392088 % 50
    assert shard_of("polygenelubricants", 50) == 0, "its hash has no absolute value in 32 bits"
