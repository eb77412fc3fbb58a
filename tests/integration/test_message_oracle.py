"""The oracle for message codecs: what it says, how it refuses, and how much it can be asked."""

from __future__ import annotations

import math

import pytest
from tests.support.message_oracle import MessageOracle
from tests.support.oracle import Json, Oracle, OracleDied, Refused, to_base64

pytestmark = pytest.mark.java

MESSAGES = "org.apache.kafka.common.message."
HEADER = MESSAGES + "RequestHeaderData"
PRODUCE = MESSAGES + "ProduceRequestData"
FETCH_RESPONSE = MESSAGES + "FetchResponseData"
QUOTAS = MESSAGES + "DescribeClientQuotasResponseData"
HEADER_JSON = {
    "requestApiKey": 18,
    "requestApiVersion": 3,
    "correlationId": 7,
    "clientId": "me",
}


@pytest.fixture(scope="session")
def messages(oracle: Oracle) -> MessageOracle:
    return MessageOracle(oracle)


def produce_json(records: bytes) -> Json:
    partition = {"index": 0, "records": to_base64(records)}
    return {
        "transactionalId": None,
        "acks": -1,
        "timeoutMs": 1000,
        "topicData": [{"name": "t", "partitionData": [partition]}],
    }


def test_json_becomes_the_bytes_of_the_wire(messages: MessageOracle) -> None:
    plain = b"\x00\x12\x00\x03\x00\x00\x00\x07\x00\x02me"
    assert messages.encode(HEADER, 1, HEADER_JSON) == plain
    assert messages.encode(HEADER, 2, HEADER_JSON) == plain + b"\x00"


def test_bytes_become_json_and_what_is_left_over_is_counted(messages: MessageOracle) -> None:
    decoded = messages.decode(HEADER, 2, b"\x00\x12\x00\x03\x00\x00\x00\x07\x00\x02me\x00rest")
    assert decoded.json == HEADER_JSON
    assert decoded.unread_bytes == 4


def test_records_are_base64_in_both_directions(messages: MessageOracle) -> None:
    data = messages.encode(PRODUCE, 9, produce_json(b"\x00\x01\x02"))
    assert b"\x04\x00\x01\x02" in data
    assert messages.decode(PRODUCE, 9, data).json == produce_json(b"\x00\x01\x02")


def test_a_tagged_field_appears_where_it_differs_from_its_default(messages: MessageOracle) -> None:
    body = {"throttleTimeMs": 0, "errorCode": 0, "sessionId": 0, "responses": []}
    endpoints = [{"nodeId": 1, "host": "h", "port": 9, "rack": None}]
    reported = body | {"nodeEndpoints": endpoints}
    assert (
        messages.decode(FETCH_RESPONSE, 16, messages.encode(FETCH_RESPONSE, 16, body)).json == body
    )
    assert (
        messages.decode(FETCH_RESPONSE, 16, messages.encode(FETCH_RESPONSE, 16, reported)).json
        == reported
    )


def test_floats_keep_their_value_also_where_json_has_none(messages: MessageOracle) -> None:
    for value in (1.0, -0.25, math.inf):
        body = quota_json(value)
        assert messages.decode(QUOTAS, 1, messages.encode(QUOTAS, 1, body)).json == body
    body = messages.decode(QUOTAS, 1, messages.encode(QUOTAS, 1, quota_json(math.nan))).json
    assert math.isnan(body["entries"][0]["values"][0]["value"])


def quota_json(value: float) -> Json:
    entry = {"entity": [], "values": [{"key": "producer_byte_rate", "value": value}]}
    return {"throttleTimeMs": 0, "errorCode": 0, "errorMessage": None, "entries": [entry]}


def test_a_refusal_is_an_answer_and_the_next_question_is_served(messages: MessageOracle) -> None:
    missing = {"requestApiKey": 1}
    answers = messages.encode_many([(HEADER, 2, missing), (HEADER, 9, HEADER_JSON), ("x.Y", 0, {})])
    assert [answer.type for answer in answers if isinstance(answer, Refused)] == [
        "java.lang.RuntimeException",
        "org.apache.kafka.common.errors.UnsupportedVersionException",
        "java.lang.ClassNotFoundException",
    ]
    assert messages.encode(HEADER, 2, HEADER_JSON)


def test_bytes_that_end_too_soon_are_refused(messages: MessageOracle) -> None:
    data = messages.encode(PRODUCE, 9, produce_json(b"\x00\x01\x02"))
    cut = messages.decode_many([(PRODUCE, 9, data[:size]) for size in range(len(data))])
    assert all(isinstance(answer, Refused) for answer in cut)


def test_an_unknown_question_is_refused(oracle: Oracle) -> None:
    with pytest.raises(Refused, match=r"'message\.guess'"):
        oracle.ask("message.guess")


def test_the_classes_of_every_part_of_kafka_are_known(messages: MessageOracle) -> None:
    known = {found.name: found for found in messages.classes()}
    assert {
        MESSAGES + "FetchRequestData",
        "org.apache.kafka.coordinator.group.generated.OffsetCommitValue",
        "org.apache.kafka.coordinator.transaction.generated.TransactionLogValue",
        "org.apache.kafka.coordinator.share.generated.ShareSnapshotValue",
        "org.apache.kafka.common.metadata.PartitionRecord",
        "org.apache.kafka.server.log.remote.metadata.storage.generated.ProducerSnapshot",
    } <= known.keys()
    assert (known[HEADER].lowest, known[HEADER].highest) == (1, 2)


def test_more_than_the_pipes_hold_can_be_asked_at_once(messages: MessageOracle) -> None:
    data = messages.encode(PRODUCE, 9, produce_json(bytes(500)))
    decoded = messages.decode_many([(PRODUCE, 9, data)] * 2000)
    encoded = messages.encode_many(
        (PRODUCE, 9, answer.json) for answer in decoded if not isinstance(answer, Refused)
    )
    assert encoded == [data] * 2000


def test_an_oracle_that_dies_says_so(tmp_path_factory: pytest.TempPathFactory) -> None:
    with Oracle(tmp_path_factory.mktemp("dying") / "oracle.log") as dying:
        dying.ask_many([])
        dying._process.kill()
        with pytest.raises(OracleDied):
            dying.ask("message.classes")
