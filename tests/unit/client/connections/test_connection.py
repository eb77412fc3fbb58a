"""One connection, and what a broker may do on it."""

from __future__ import annotations

import socket
import struct

import pytest
from tests.unit.client.scripted import ScriptedBroker, metadata

from ottla.client.connections.connection import highest_common, open_connection
from ottla.client.connections.transport import refuse_itself, unsent
from ottla.client.errors import (
    ConnectionLost,
    MalformedAnswer,
    RequestTimedOut,
    Unreachable,
    UnsupportedByBroker,
)
from ottla.client.settings import ClientSettings
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.api_versions_response import ApiVersion, ApiVersionsResponse
from ottla.protocol.messages.list_transactions_request import ListTransactionsRequest
from ottla.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from ottla.testing.ports import non_ephemeral_port

ASK = MetadataRequest(())


def settings_for(broker: ScriptedBroker, **changes: int) -> ClientSettings:
    return ClientSettings(broker.address, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("theirs", "at_most", "version"),
    [
        (range(0, 8), None, 7),
        (range(0, 20), None, 9),
        (range(0, 20), 5, 5),
        (range(0, 4), None, None),
        (range(10, 20), None, None),
        (range(0, 20), 3, None),
        (None, None, None),
    ],
)
def test_the_highest_common_version_is_used(
    theirs: range | None, at_most: int | None, version: int | None
) -> None:
    assert highest_common(range(4, 10), theirs, at_most) == version


def test_a_broker_too_old_for_our_first_question_is_asked_in_the_oldest_form() -> None:
    answers = iter(
        [
            ApiVersionsResponse(35, [ApiVersion(18, 0, 2)]).encode(0),
            ApiVersionsResponse(0, [ApiVersion(3, 0, 5)]).encode(0),
        ]
    )

    def api_versions(_request: object) -> bytes:
        body = next(answers)
        sent.append(body)
        return struct.pack(">ii", 4 + len(body), len(sent)) + body

    sent: list[bytes] = []
    with ScriptedBroker({ApiKey.API_VERSIONS: api_versions}) as broker:
        settings = settings_for(broker)
        connection = open_connection(settings.addresses[0], settings)
        assert connection.version_of(ApiKey.METADATA) == 5
        connection.close()


def test_an_api_that_the_broker_does_not_serve_is_named() -> None:
    with ScriptedBroker() as broker:
        settings = settings_for(broker)
        connection = open_connection(settings.addresses[0], settings)
        with pytest.raises(UnsupportedByBroker, match=r"ListTransactions at .*does not serve it"):
            connection.ask(ListTransactionsRequest())
        connection.close()


@pytest.mark.parametrize("size", [-1, 2**31 - 1, 1001])
def test_an_absurd_length_is_refused_unread(size: int) -> None:
    with ScriptedBroker({ApiKey.METADATA: lambda _: struct.pack(">i", size)}) as broker:
        settings = settings_for(broker, frame_bytes_max=1000)
        connection = open_connection(settings.addresses[0], settings)
        with pytest.raises(MalformedAnswer, match=rf"Metadata at .*{size} bytes are announced"):
            connection.ask(ASK)
        assert not connection.is_open


def test_an_answer_to_another_question_is_refused() -> None:
    with ScriptedBroker({ApiKey.METADATA: lambda _: struct.pack(">ii", 4, 99)}) as broker:
        settings = settings_for(broker)
        connection = open_connection(settings.addresses[0], settings)
        with pytest.raises(MalformedAnswer):
            connection.ask(ASK)


def test_garbage_is_refused_with_its_place() -> None:
    with ScriptedBroker(
        {ApiKey.METADATA: lambda _: struct.pack(">iib", 20, 2, 0) + bytes(15)}
    ) as broker:
        settings = settings_for(broker)
        connection = open_connection(settings.addresses[0], settings)
        with pytest.raises(MalformedAnswer, match="MetadataResponse"):
            connection.ask(ASK)


def test_a_broker_that_says_nothing_is_not_waited_for_forever() -> None:
    with ScriptedBroker({ApiKey.METADATA: lambda _: b""}) as broker:
        settings = settings_for(broker)
        connection = open_connection(settings.addresses[0], settings)
        with pytest.raises(RequestTimedOut, match="no answer within 50 ms"):
            connection.ask(ASK, timeout_ms=50)


def test_a_broker_that_says_too_little_is_not_waited_for_forever() -> None:
    with ScriptedBroker({ApiKey.METADATA: lambda _: struct.pack(">ii", 100, 2)}) as broker:
        settings = settings_for(broker)
        connection = open_connection(settings.addresses[0], settings)
        with pytest.raises(RequestTimedOut):
            connection.ask(ASK, timeout_ms=50)


def test_a_connection_closed_by_the_broker_has_an_error_of_its_own() -> None:
    with ScriptedBroker({ApiKey.METADATA: lambda _: None}) as broker:
        settings = settings_for(broker)
        connection = open_connection(settings.addresses[0], settings)
        with pytest.raises(ConnectionLost, match="closed by the broker"):
            connection.ask(ASK)


def test_answers_come_in_the_order_of_the_questions() -> None:
    with ScriptedBroker() as broker:
        broker.scripts[ApiKey.METADATA] = lambda request: metadata(
            {1: broker}, 1, topic=request.topics[0].name
        )
        settings = settings_for(broker)
        connection = open_connection(settings.addresses[0], settings)
        for name in "abc":
            connection.send(MetadataRequest([MetadataRequestTopic(name=name)]))
        assert [connection.receive().topics[0].name for _ in range(3)] == ["a", "b", "c"]
        connection.close()


def test_the_error_about_a_refused_connection_names_the_address() -> None:
    port = non_ephemeral_port()
    settings = ClientSettings(f"127.0.0.1:{port}")
    with pytest.raises(Unreachable, match=f"127.0.0.1:{port}: .*refused"):
        open_connection(settings.addresses[0], settings)


def test_a_socket_that_was_connected_to_itself_is_refused() -> None:
    with socket.socket() as itself:
        itself.bind(("127.0.0.1", 0))
        itself.connect(itself.getsockname())
        with pytest.raises(ConnectionRefusedError):
            refuse_itself(itself)


def test_what_the_system_did_not_take_is_sent_next() -> None:
    segments = [memoryview(b"abc"), memoryview(b"de"), memoryview(b"f")]
    rests = [b"".join(unsent(segments, sent)) for sent in range(7)]
    assert rests == [b"abcdef", b"bcdef", b"cdef", b"def", b"ef", b"f", b""]
