"""A request that is passed on counts as that of its client, at the broker that it was sent to."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from tests.unit.handlers.forwarding.brokers import REQUEST_S, Brokers, run

from ottla.handlers.forwarding.relay import (
    BROKER,
    ForwardedAnswer,
    ForwardedClient,
    ForwardedRequest,
)
from ottla.metadata.records import ResourceType
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.headers import decode_response_header, encode_request
from ottla.protocol.message import Message
from ottla.protocol.messages import alter_client_quotas_request as quotas
from ottla.protocol.messages import incremental_alter_configs_request as altering
from ottla.protocol.messages import response_class
from ottla.protocol.messages.alter_configs_request import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.metadata_request import MetadataRequest

SIZE_BYTES = 4
PATIENCE_S = 3600.0  # the quota allows one partition a second
MANY = 40  # partitions, more than a quota of one a second allows for some time
STRICT = 7  # version of CreateTopics; clients of older ones are throttled
MILD = 5


async def limit(brokers: Brokers, kind: str, name: str) -> None:
    change = quotas.OpData("controller_mutation_rate", 1.0, False)
    entry = quotas.EntryData([quotas.EntityData(kind, name)], [change])
    answer = await brokers.ask(brokers.other_id, quotas.AlterClientQuotasRequest([entry]))
    assert answer.entries[0].error_code == 0


def topics(name: str, partitions: int = MANY) -> CreateTopicsRequest:
    return CreateTopicsRequest([CreatableTopic(name, partitions, 1)], timeout_ms=5000)


async def through_other(
    brokers: Brokers, client_id: str, name: str, version: int
) -> tuple[int, int]:
    """(error, throttle time) of creating a topic at a broker that is not the controller."""
    answer = await brokers.ask(brokers.other_id, topics(name), version, client_id=client_id)
    return answer.topics[0].error_code, answer.throttle_time_ms


def test_a_quota_is_charged_to_the_client_of_a_request_that_is_passed_on() -> None:
    async def story(brokers: Brokers) -> None:
        await limit(brokers, "client-id", "greedy")
        assert (await through_other(brokers, "greedy", "first", MILD))[0] == 0
        assert await through_other(brokers, "other", "second", STRICT) == (0, 0)
        code, throttle_ms = await through_other(brokers, "greedy", "third", STRICT)
        assert code == ErrorCode.THROTTLING_QUOTA_EXCEEDED
        assert throttle_ms > 0

    run(story)


def test_an_old_client_waits_at_the_broker_that_it_asked() -> None:
    async def story(brokers: Brokers) -> None:
        await limit(brokers, "client-id", "greedy")
        loop, channel = asyncio.get_running_loop(), brokers.channel(brokers.other_id, "greedy")
        answer = await channel.request(topics("t"), REQUEST_S, at_most=MILD)
        answered_s = loop.time()
        assert answer.topics[0].error_code == 0
        assert answer.throttle_time_ms > 0
        await channel.request(MetadataRequest([]), PATIENCE_S)
        assert loop.time() - answered_s >= answer.throttle_time_ms / 1000
        channel.close()

    run(story)


async def forward(
    brokers: Brokers, client: ForwardedClient, request: Message, version: int
) -> tuple[ForwardedAnswer, Any]:
    key = ApiKey(request.API_KEY)  # type: ignore[attr-defined]  # of all requests
    frame = b"".join(encode_request(key, version, 1, client.client_id, request))[SIZE_BYTES:]
    envelope = ForwardedRequest(frame, client, brokers.other_id).to_envelope()
    response = await brokers.ask(brokers.controller_id, envelope)
    answer = ForwardedAnswer.decode(response.response_data)
    body = memoryview(answer.frame)[SIZE_BYTES:]
    _, at = decode_response_header(key, version, body)
    return answer, response_class(key).decode(body, version, at)


def test_the_principal_of_a_request_that_is_passed_on_is_that_of_its_client() -> None:
    async def story(brokers: Brokers) -> None:
        await limit(brokers, "user", "alice")
        alice, bob = (ForwardedClient(f"User:{name}", "10.0.0.1") for name in ("alice", "bob"))
        await forward(brokers, alice, topics("first"), STRICT)
        for client, name, expected in (
            (alice, "a", ErrorCode.THROTTLING_QUOTA_EXCEEDED),
            (bob, "b", 0),
            (BROKER, "c", 0),  # for an internal topic, say
        ):
            answer, created = await forward(brokers, client, topics(name), STRICT)
            assert created.topics[0].error_code == expected, client
            assert (answer.throttle_ms > 0) == bool(expected)
            assert answer.throttle_ms == created.throttle_time_ms

    run(story)


# Requests of which a part is for the broker itself


def setting(kind: ResourceType, name: str, key: str, value: str) -> altering.AlterConfigsResource:
    change = altering.AlterableConfig(key, 0, value)
    return altering.AlterConfigsResource(kind, name, [change])


def test_the_levels_of_loggers_are_those_of_the_broker_that_was_asked() -> None:
    async def story(brokers: Brokers) -> None:
        asked = brokers.other_id
        await brokers.create_topic("t", {0: [asked]})
        logger = "ottla.broker.control.membership"
        assert logging.getLogger(logger).level == logging.NOTSET
        request = altering.IncrementalAlterConfigsRequest(
            [
                setting(ResourceType.BROKER_LOGGER, str(asked), logger, "DEBUG"),
                setting(ResourceType.TOPIC, "t", "retention.ms", "1000"),
                setting(ResourceType.BROKER_LOGGER, str(brokers.controller_id), logger, "DEBUG"),
                setting(ResourceType.TOPIC, "unknown", "retention.ms", "1000"),
            ]
        )
        answer = await brokers.ask(asked, request)
        assert [(each.resource_name, each.error_code) for each in answer.responses] == [
            (str(asked), 0),
            ("t", 0),
            (str(brokers.controller_id), ErrorCode.INVALID_REQUEST),
            ("unknown", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ]
        assert brokers.image(asked).topic_config("t") == {"retention.ms": "1000"}
        assert logging.getLogger(logger).level == logging.DEBUG
        logging.getLogger(logger).setLevel(logging.NOTSET)

    run(story)


@pytest.mark.parametrize("is_incremental", [False, True])
def test_a_broker_changes_its_own_settings_only(is_incremental: bool) -> None:
    """As Kafka does: not those of the controller, which decides."""

    async def story(brokers: Brokers) -> None:
        asked, controller = brokers.other_id, brokers.controller_id
        for broker_id, expected in ((asked, 0), (controller, ErrorCode.INVALID_REQUEST)):
            key, value = "log.cleaner.threads", "1"
            request: Message = altering.IncrementalAlterConfigsRequest(
                [setting(ResourceType.BROKER, str(broker_id), key, value)]
            )
            if not is_incremental:
                resource = AlterConfigsResource(
                    ResourceType.BROKER, str(broker_id), [AlterableConfig(key, value)]
                )
                request = AlterConfigsRequest([resource])
            answer = await brokers.ask(asked, request)
            assert answer.responses[0].error_code == expected, answer.responses[0].error_message

    run(story)
