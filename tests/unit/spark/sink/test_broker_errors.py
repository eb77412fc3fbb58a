"""Errors of brokers, explained for the author of the query."""

from __future__ import annotations

import pytest

from ottla.client.errors import ClientError, GaveUp, Unreachable, kafka_error
from ottla.protocol.error_codes import ErrorCode
from ottla.spark.sink.broker_errors import explained

WHERE = "Produce to orders-3"


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (ErrorCode.MESSAGE_TOO_LARGE, "lower the option kafka.batch.size"),
        (ErrorCode.NOT_ENOUGH_REPLICAS, "bring brokers back, or lower it"),
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "create it, or change the option"),
        (ErrorCode.PRODUCER_FENCED, "set the option sinkName"),
    ],
)
def test_a_refusal_names_the_partition_and_what_to_do(code: ErrorCode, advice: str) -> None:
    reported = str(explained(kafka_error(code, WHERE)))
    assert reported.startswith(WHERE)
    assert code.name in reported
    assert advice in reported


def test_advice_is_given_for_what_was_tried_until_the_deadline_too() -> None:
    last = kafka_error(ErrorCode.NOT_ENOUGH_REPLICAS, WHERE)
    gave_up = GaveUp("Produce", 120.0, last)
    gave_up.__cause__ = last
    reported = str(explained(gave_up))
    assert "gave up after 120.0 s" in reported
    assert WHERE in reported
    assert "bring brokers back" in reported


def test_an_unreachable_cluster_is_reported_with_its_addresses() -> None:
    reported = str(explained(Unreachable({"localhost:1": "connection refused"})))
    assert "localhost:1: connection refused" in reported
    assert "kafka.bootstrap.servers" in reported


def test_errors_without_advice_are_reported_unchanged() -> None:
    assert str(explained(ClientError("something else"))) == "something else"
