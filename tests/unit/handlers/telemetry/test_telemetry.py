"""Clients ask which metrics are wanted, and push them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

import pytest
from tests.unit.handlers.world import FakeConnection, World

from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.steps import run_blocking
from ottla.config.resource_options import CLIENT_PROPERTIES
from ottla.handlers.telemetry import client_telemetry
from ottla.handlers.telemetry.otlp import FIELDS_MAX, OtlpReader
from ottla.handlers.telemetry.subscriptions import client_subscription
from ottla.metadata.image import Batch, Image
from ottla.metadata.records import ConfigChanged, ConfigResource, ResourceType
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import MalformedMessage
from ottla.protocol.messages.api_versions_request import ApiVersionsRequest
from ottla.protocol.messages.get_telemetry_subscriptions_request import (
    GetTelemetrySubscriptionsRequest,
)
from ottla.protocol.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.protocol.messages.push_telemetry_request import PushTelemetryRequest
from ottla.protocol.records.compression import Codec, compress
from ottla.testing.clock import ManualClock

CLIENT_METRICS = 16
MINUTE_MS = 60_000


def field(number: int, content: bytes) -> bytes:
    """A field of a protobuf message that holds another message."""
    assert len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content


# One resource with a scope of two metrics; a name and a double beside them.
METRICS = field(1, field(1, b"") + field(2, field(2, field(1, b"a")) + field(2, b"")) + b"\x10\x05")


@pytest.fixture
def world() -> Iterator[World]:
    with World() as world:
        yield world


def subscribe(world: World, name: str, settings: Mapping[str, str | None]) -> None:
    configs = [
        AlterableConfig(key, 0 if value is not None else 1, value)
        for key, value in settings.items()
    ]
    resource = AlterConfigsResource(CLIENT_METRICS, name, configs)
    (answer,) = world.ask(IncrementalAlterConfigsRequest([resource]), 1).responses
    assert answer.error_code == 0, answer


def ask(world: World, instance_id: bytes = bytes(16), **who: Any) -> Any:
    return world.ask(GetTelemetrySubscriptionsRequest(instance_id), 0, **who)


def push(
    world: World,
    wanted: Any,
    data: bytes = METRICS,
    codec: int = 0,
    *,
    is_terminating: bool = False,
    subscription_id: int | None = None,
) -> int:
    request = PushTelemetryRequest(
        wanted.client_instance_id,
        wanted.subscription_id if subscription_id is None else subscription_id,
        is_terminating,
        codec,
        data,
    )
    code: int = world.ask(request, 0).error_code
    return code


def test_without_subscriptions_clients_are_asked_for_nothing(world: World) -> None:
    answer = ask(world)
    assert any(answer.client_instance_id)
    assert list(answer.requested_metrics) == []
    assert answer.push_interval_ms == 5 * MINUTE_MS
    assert list(answer.accepted_compression_types) == [4, 3, 1, 2]
    assert answer.telemetry_max_bytes == 1024 * 1024


def test_telemetry_is_announced_while_somebody_wants_it(world: World) -> None:
    def announced() -> set[int]:
        return {each.api_key for each in world.ask(ApiVersionsRequest("a", "1"), 4).api_keys}

    assert not announced() & {71, 72}
    subscribe(world, "one", {"metrics": "a."})
    assert announced() >= {71, 72}


def stored_telemetry(*settings: tuple[str, str, str]) -> client_telemetry.ClientTelemetry:
    records = [
        ConfigChanged(ConfigResource(ResourceType.CLIENT_METRICS, name), key, text)
        for name, key, text in settings
    ]
    image = Image()
    image.apply(Batch(0, 1, tuple(records)))
    return client_telemetry.ClientTelemetry(
        image, 1000, ManualClock(), StepScheduler(ManualClock())
    )


def wished(telemetry: client_telemetry.ClientTelemetry) -> tuple[str, ...]:
    properties = dict.fromkeys(CLIENT_PROPERTIES, "a")
    subscriptions = telemetry._subscriptions.values()
    return run_blocking(client_subscription(bytes(16), properties, subscriptions)).metrics


@pytest.mark.parametrize("pattern", ["[", "(a)\\1", "(?!a).*", "a" * 5000, "(?:a|bc){999}" * 3])
def test_stored_patterns_that_cannot_be_compiled_match_no_client_and_are_reported_once(
    caplog: pytest.LogCaptureFixture, pattern: str
) -> None:
    telemetry = stored_telemetry(
        ("one", "metrics", "a.,"),
        ("two", "metrics", "b."),
        ("two", "match", f"client_id={pattern}"),
    )
    assert not caplog.records
    assert wished(telemetry) == ("a.",)
    assert wished(telemetry) == ("a.",)
    (record,) = caplog.records
    assert record.getMessage().startswith("client metrics two applies to no client")


def test_a_pattern_is_matched_in_linear_time_whatever_it_repeats(world: World) -> None:
    subscribe(world, "one", {"metrics": "a.", "match": "client_id=(x+x+)+y"})
    assert list(ask(world, client_id="x" * 255).requested_metrics) == []
    assert list(ask(world, client_id="x" * 254 + "y").requested_metrics) == ["a."]


@pytest.mark.parametrize(
    "pattern", ["(a)\\1", "(?=a)b", "(" * 300, "a{1000}{1000}", "a" * 5000, "(?:a|bc){999}" * 3]
)
def test_a_pattern_that_is_no_pattern_of_re2_is_refused(world: World, pattern: str) -> None:
    configs = [AlterableConfig("match", 0, f"client_id={pattern}")]
    resource = AlterConfigsResource(CLIENT_METRICS, "one", configs)
    (answer,) = world.ask(IncrementalAlterConfigsRequest([resource]), 1).responses
    assert answer.error_code == ErrorCode.INVALID_CONFIG
    assert "Illegal client matching pattern" in answer.error_message
    assert len(answer.error_message) < 1000


def test_all_patterns_of_a_subscription_are_bounded_together(world: World) -> None:
    text = ",".join(f"client_id={'a' * 1000}" for _ in range(5))
    resource = AlterConfigsResource(CLIENT_METRICS, "one", [AlterableConfig("match", 0, text)])
    (answer,) = world.ask(IncrementalAlterConfigsRequest([resource]), 1).responses
    assert answer.error_code == 0  # five times the same element is one
    text = ",".join(f"client_id={each * 1000}" for each in "abcde")
    resource = AlterConfigsResource(CLIENT_METRICS, "one", [AlterableConfig("match", 0, text)])
    (answer,) = world.ask(IncrementalAlterConfigsRequest([resource]), 1).responses
    assert answer.error_code == ErrorCode.INVALID_CONFIG


def test_a_client_is_asked_for_all_that_its_subscriptions_want(world: World) -> None:
    subscribe(world, "one", {"metrics": "b.,a.", "interval.ms": "60000"})
    subscribe(world, "two", {"metrics": "b.,c.", "interval.ms": "1000", "match": "client_id=te.*"})
    subscribe(world, "not", {"metrics": "d.", "match": "client_software_name=another"})
    answer = ask(world)
    assert list(answer.requested_metrics) == ["a.", "b.", "c."]
    assert answer.push_interval_ms == 1000
    other = ask(world, client_id="other")
    assert list(other.requested_metrics) == ["a.", "b."]
    subscribe(world, "all", {"metrics": "*"})
    assert list(ask(world).requested_metrics) == ["*"]


def test_patterns_hold_for_the_whole_property(world: World) -> None:
    pattern = "client_source_address=10\\.0\\.0\\.[0-9]+,client_source_port=5.*"
    subscribe(world, "address", {"metrics": "*", "match": pattern})
    assert list(ask(world, by=FakeConnection("10.0.0.7")).requested_metrics) == ["*"]
    assert list(ask(world, by=FakeConnection("110.0.0.7")).requested_metrics) == []


@pytest.mark.parametrize("codec", list(Codec))
def test_metrics_are_taken_with_every_codec(world: World, codec: Codec) -> None:
    subscribe(world, "all", {"metrics": "*"})
    received: list[bytes] = []
    telemetry = world.broker.parts.telemetry
    telemetry.receivers.append(lambda _context, _instance, data: received.append(bytes(data)))
    wanted = ask(world)
    data = METRICS if codec is Codec.NONE else compress(codec, METRICS)
    assert push(world, wanted, data, codec) == 0
    assert received == [METRICS]
    assert telemetry.counts["metrics"] == 2
    assert telemetry.counts["bytes"] == len(data)


def test_telemetry_requests_that_are_too_early_are_refused(world: World) -> None:
    subscribe(world, "all", {"metrics": "*", "interval.ms": "60000"})
    wanted = ask(world)
    early = ErrorCode.THROTTLING_QUOTA_EXCEEDED
    assert ask(world, wanted.client_instance_id).error_code == early
    assert push(world, wanted) == 0  # the first may come early
    assert push(world, wanted) == early
    world.clock.advance_ms(MINUTE_MS)
    assert push(world, wanted) == 0
    assert push(world, wanted, is_terminating=True) == 0  # the last one too
    assert push(world, wanted) == ErrorCode.INVALID_REQUEST


def test_a_changed_subscription_is_noticed_by_the_next_push(world: World) -> None:
    subscribe(world, "some", {"metrics": "a.", "interval.ms": "60000"})
    wanted = ask(world)
    subscribe(world, "some", {"metrics": "b."})
    assert push(world, wanted) == ErrorCode.UNKNOWN_SUBSCRIPTION_ID
    again = ask(world, wanted.client_instance_id)
    assert (again.error_code, list(again.requested_metrics)) == (0, ["b."])
    assert push(world, again) == ErrorCode.THROTTLING_QUOTA_EXCEEDED
    world.clock.advance_ms(60_000)
    assert push(world, again) == 0
    subscribe(world, "some", {"metrics": None, "interval.ms": None})
    assert push(world, again) == ErrorCode.UNKNOWN_SUBSCRIPTION_ID
    assert list(ask(world, wanted.client_instance_id).requested_metrics) == []


def test_what_cannot_be_taken_is_refused(world: World) -> None:
    subscribe(world, "all", {"metrics": "*", "interval.ms": "100"})
    wanted = ask(world)
    for data, codec, code in (
        (METRICS, 9, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
        (b"x" * (1024 * 1024 + 1), 0, ErrorCode.TELEMETRY_TOO_LARGE),
        (b"\xff" * 20, 0, ErrorCode.INVALID_RECORD),
        (b"no gzip", 1, ErrorCode.INVALID_RECORD),
        (compress(Codec.ZSTD, bytes(100 * 1024 * 1024)), Codec.ZSTD, ErrorCode.INVALID_RECORD),
        (b"", 0, ErrorCode.NONE),
    ):
        world.clock.advance_ms(1000)
        assert push(world, wanted, data, codec) == code
    wanted.client_instance_id = bytes(16)
    assert push(world, wanted) == ErrorCode.INVALID_REQUEST


def test_made_up_clients_do_not_fill_the_memory(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_telemetry, "INSTANCES_MAX", 20)
    for _ in range(100):
        ask(world)
    assert len(world.broker.parts.telemetry) == 20
    for _ in range(30):
        world.clock.advance_ms(16 * MINUTE_MS)
        ask(world)
    assert len(world.broker.parts.telemetry) == 1


def test_clients_that_are_silent_since_the_same_moment_are_forgotten_some_at_a_time(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_telemetry, "FORGOTTEN_AT_ONCE", 10)
    for _ in range(35):
        ask(world)
    world.clock.advance_ms(16 * MINUTE_MS)
    left = []
    for _ in range(4):
        ask(world)
        left.append(len(world.broker.parts.telemetry))
    assert left == [26, 17, 8, 4]


def test_broken_messages_are_noticed_wherever_they_break() -> None:
    """Cut anywhere, or with any byte changed: counted, or refused, and nothing else."""
    assert OtlpReader().count_metrics(memoryview(METRICS)) == 2
    random = Random(3)
    for _ in range(2000):
        data = bytearray(METRICS[: random.randint(0, len(METRICS))])
        if data:
            data[random.randrange(len(data))] = random.randrange(256)
        try:
            assert OtlpReader().count_metrics(memoryview(data)) >= 0
        except MalformedMessage:
            pass


def test_a_message_of_too_many_fields_is_refused_whatever_it_was_packed_to(world: World) -> None:
    wanted = ask(world)
    many = b"\x08\x01" * (FIELDS_MAX + 1)
    assert push(world, wanted, compress(Codec.ZSTD, many), Codec.ZSTD) == ErrorCode.INVALID_RECORD
    assert OtlpReader().count_metrics(memoryview(many)[2:]) == 0


@pytest.mark.parametrize(
    ("bytes_max", "unpacked"),
    [(1000, 32_000), (2**20, 2**25), (2**25, 2**26), (2**31 - 1, 2**31 - 1)],
)
def test_what_a_push_unpacks_to_is_bounded_whatever_may_be_pushed(
    bytes_max: int, unpacked: int
) -> None:
    assert client_telemetry.unpacked_bytes_max(bytes_max) == unpacked
