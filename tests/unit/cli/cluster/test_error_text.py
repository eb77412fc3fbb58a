from __future__ import annotations

from ottla.cli.cluster.connection import error_text


def test_what_librdkafka_says_of_a_partition_is_put_in_words() -> None:
    gone = "orders [2]: desired partition is no longer available (Local: Unknown partition)"
    assert error_text(gone) == "partition 2 of orders no longer exists"
    assert error_text("broker down") == "broker down"
