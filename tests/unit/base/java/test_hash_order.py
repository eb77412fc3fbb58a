"""Lists that Kafka answers from a hash map come in that map's order."""

from __future__ import annotations

import pytest

from ottla.base.java.hash_order import hash_map_order, java_string_hash


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", 0),
        ("a", 97),
        ("cleanup.policy", 3756979132),
        ("größe", 98762257),
        ("\N{GRINNING FACE}", 1772899),
    ],
)
def test_a_text_has_the_hash_that_java_gives_it(text: str, value: int) -> None:
    assert java_string_hash(text) == value


def test_the_order_does_not_depend_on_the_order_of_insertion_unless_keys_share_a_slot() -> None:
    keys = ["producer_byte_rate", "consumer_byte_rate", "request_percentage"]
    assert hash_map_order(keys) == hash_map_order(reversed(keys))
    assert hash_map_order(["Aa", "BB"]) == ["Aa", "BB"]  # these two have the same hash
    assert hash_map_order(["BB", "Aa"]) == ["BB", "Aa"]


def test_a_map_that_is_made_small_grows_and_orders_by_its_last_size() -> None:
    keys = ["producer_byte_rate", "consumer_byte_rate", "request_percentage"]
    assert hash_map_order(keys) == [
        "request_percentage",
        "producer_byte_rate",
        "consumer_byte_rate",
    ]
    expected = ["consumer_byte_rate", "producer_byte_rate", "request_percentage"]
    assert hash_map_order(keys, slots_min=1) == hash_map_order(keys, slots_min=4) == expected
