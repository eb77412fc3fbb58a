"""Errors that say where and what to do, and survive the way from an executor."""

from __future__ import annotations

import pickle

import pytest

from ottla.client.errors import (
    ClientError,
    ConnectionLost,
    GaveUp,
    InvalidSetting,
    InvalidTransactionState,
    KafkaError,
    MalformedAnswer,
    OffsetOutOfRange,
    ProducerFenced,
    RequestTimedOut,
    TopicRecreated,
    UnknownTopic,
    Unreachable,
    UnsupportedByBroker,
    code_of,
    kafka_error,
)
from ottla.protocol.error_codes import ErrorCode

EXAMPLES: list[ClientError] = [
    InvalidSetting("acks", "no"),
    Unreachable({"a:1": "refused", "b:2": "no connection in time"}),
    ConnectionLost("a:1", "Fetch", "reset"),
    RequestTimedOut("a:1", "Fetch", 30_000),
    MalformedAnswer("a:1", "Fetch", "too long"),
    UnsupportedByBroker("a:1", "Fetch", range(4, 18), range(0, 3)),
    GaveUp("Fetch of t-0", 60.0, ConnectionLost("a:1", "Fetch", "reset")),
    KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, "CreateTopics of ?", "bad name"),
    UnknownTopic("t"),
    UnknownTopic("t", 3),
    TopicRecreated("t", bytes(16), bytes(range(16))),
    OffsetOutOfRange("t", 1, 5, 10, 20),
    ProducerFenced(ErrorCode.PRODUCER_FENCED, "EndTxn"),
]


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_an_error_survives_pickling(error: ClientError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.__dict__ == error.__dict__


def test_messages_say_where_and_what_to_do() -> None:
    assert "b:2: no connection in time" in str(EXAMPLES[1])
    assert "serves versions 0-2, we need one of 4-17" in str(EXAMPLES[5])
    assert "t-1 at offset 5" in str(EXAMPLES[11])
    assert "the log has offsets 10 up to 20" in str(EXAMPLES[11])
    refused = kafka_error(ErrorCode.UNKNOWN_MEMBER_ID, "OffsetCommit of t-0 for group 'g'")
    assert "use another" in str(refused)


def test_codes_have_types_of_their_own_where_callers_distinguish_them() -> None:
    assert isinstance(kafka_error(ErrorCode.INVALID_PRODUCER_EPOCH, "x"), ProducerFenced)
    assert isinstance(kafka_error(ErrorCode.INVALID_TXN_STATE, "x"), InvalidTransactionState)
    assert type(kafka_error(ErrorCode.INVALID_REQUEST, "x")) is KafkaError


def test_a_code_of_the_future_is_an_unknown_error() -> None:
    assert code_of(4321) == ErrorCode.UNKNOWN_SERVER_ERROR
    assert code_of(6) == ErrorCode.NOT_LEADER_OR_FOLLOWER
