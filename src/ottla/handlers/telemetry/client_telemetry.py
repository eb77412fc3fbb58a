"""The clients that push metrics, and what they pushed.

Owns      the known clients and the subscription of each: in memory, bounded in number.
Promises  a client that pushes too early, too much, or without a current subscription gets an
          error at little cost; pushed data is decompressed in a thread, within bounds.
Leaves    the use of the metrics to `receivers`, which get each set decompressed, as
          OpenTelemetry bytes.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from functools import partial

from ottla.base.clock import Clock
from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.steps import Steps
from ottla.base.uuids import random_uuid
from ottla.handlers.serving.context import Context
from ottla.handlers.telemetry.otlp import OtlpReader
from ottla.handlers.telemetry.subscriptions import (
    ClientSubscription,
    Subscription,
    client_properties,
    client_subscription,
)
from ottla.metadata.changes import Changes
from ottla.metadata.image import Image
from ottla.metadata.records import ConfigResource, ResourceType
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError, InvalidBatch, MalformedMessage
from ottla.protocol.records.compression import decompress

INSTANCES_MAX = 16_384
# Expired clients that each request removes: many may expire at the same moment.
FORGOTTEN_AT_ONCE = 100
KEPT_MS = 60_000  # or three intervals, if that is longer
UNPACKED_FACTOR_MAX = 32  # metrics are text that repeats itself
UNPACKED_BYTES_MAX = 64 * 1024 * 1024  # or `telemetry.max.bytes`, if that is more
Receiver = Callable[[Context, bytes, memoryview], None]
SUBSCRIBE_AGAIN = (ErrorCode.UNKNOWN_SUBSCRIPTION_ID, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)


class Instance:
    """One client, identified by its client instance id."""

    __slots__ = (
        "has_subscribed",
        "is_terminating",
        "last_error",
        "pushed_ms",
        "seen_ms",
        "subscribed_ms",
        "subscription",
        "version",
    )

    def __init__(self, subscription: ClientSubscription, version: int, now_ms: int) -> None:
        self.subscription = subscription
        self.version = version  # of the subscriptions
        self.subscribed_ms = self.pushed_ms = -subscription.interval_ms
        self.has_subscribed = False  # since the last push
        self.seen_ms = now_ms
        self.is_terminating = False
        self.last_error = ErrorCode.NONE

    def is_forgotten(self, now_ms: int) -> bool:
        return now_ms - self.seen_ms > max(KEPT_MS, 3 * self.subscription.interval_ms)

    def may_subscribe(self, now_ms: int) -> bool:
        return now_ms - max(self.subscribed_ms, self.pushed_ms) >= self.subscription.interval_ms

    def may_push(self, now_ms: int) -> bool:
        """The first push after a subscription may be early: clients spread their pushes."""
        return self.has_subscribed or now_ms - self.pushed_ms >= self.subscription.interval_ms


class ClientTelemetry:
    def __init__(
        self, image: Image, bytes_max: int, clock: Clock, scheduler: StepScheduler
    ) -> None:
        self.bytes_max = bytes_max
        self.receivers: list[Receiver] = []
        self.counts: Counter[str] = Counter()  # pushes, bytes, metrics, and refusals by code
        self._clock = clock
        self._scheduler = scheduler
        self._subscriptions: dict[str, Subscription] = {}
        self._version = 0
        # Most recently seen last. The first item of a dict is found in time that grows with the
        # items that were removed before it.
        self._instances: OrderedDict[bytes, Instance] = OrderedDict()
        for resource in image.configs:
            self._read_subscription(image, resource)

    def changed(self, image: Image, changes: Changes) -> Steps[None]:
        for resource in changes.configs:
            self._read_subscription(image, resource)
            yield 0

    def _read_subscription(self, image: Image, resource: ConfigResource) -> None:
        if resource.type != ResourceType.CLIENT_METRICS:
            return
        self._version += 1
        if settings := image.configs.get(resource):
            self._subscriptions[resource.name] = Subscription(resource.name, settings)
        else:
            self._subscriptions.pop(resource.name, None)

    @property
    def has_subscriptions(self) -> bool:
        return bool(self._subscriptions)

    def __len__(self) -> int:
        return len(self._instances)

    # Requests of clients

    async def subscribe(
        self, context: Context, instance_id: bytes
    ) -> tuple[bytes, ClientSubscription]:
        """The subscription of a client. A client without an id gets one.

        After an error that requires it, a client may subscribe at once, but not push at once.
        """
        known_id = instance_id if any(instance_id) else random_uuid()
        now_ms = self._now_ms()
        instance = await self._instance(context, known_id, now_ms)
        if instance.may_subscribe(now_ms):
            instance.subscribed_ms, instance.has_subscribed = now_ms, True
        elif instance.last_error not in SUBSCRIBE_AGAIN:
            raise self._refused(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
        instance.last_error = ErrorCode.NONE
        return known_id, instance.subscription

    async def push(
        self,
        context: Context,
        instance_id: bytes,
        subscription_id: int,
        codec: int,
        data: bytes,
        *,
        is_terminating: bool,
    ) -> None:
        if not any(instance_id[:15]):  # all zero, or the id that Kafka reserves
            raise self._refused(ErrorCode.INVALID_REQUEST)
        now_ms = self._now_ms()
        instance = await self._instance(context, instance_id, now_ms)
        try:
            try:
                self._check(instance, subscription_id, codec, len(data), is_terminating, now_ms)
            finally:
                instance.is_terminating = is_terminating
            await self._receive(context, instance_id, codec, data)
        except BrokerError as error:
            instance.last_error = error.code
            raise
        instance.last_error = ErrorCode.NONE

    def _check(
        self,
        instance: Instance,
        subscription_id: int,
        codec: int,
        size: int,
        is_terminating: bool,
        now_ms: int,
    ) -> None:
        if instance.is_terminating:
            raise self._refused(ErrorCode.INVALID_REQUEST)
        if instance.may_push(now_ms):
            instance.pushed_ms, instance.has_subscribed = now_ms, False
        elif not is_terminating:
            raise self._refused(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
        if subscription_id != instance.subscription.id:
            raise self._refused(ErrorCode.UNKNOWN_SUBSCRIPTION_ID)
        if not 0 <= codec <= 4:
            raise self._refused(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
        if size > self.bytes_max:
            raise self._refused(ErrorCode.TELEMETRY_TOO_LARGE)

    async def _receive(self, context: Context, instance_id: bytes, codec: int, data: bytes) -> None:
        self.counts["pushes"] += 1
        if not len(data):
            return
        try:
            unpacked, metrics = await self._scheduler.in_thread(
                partial(unpack, codec, data, unpacked_bytes_max(self.bytes_max))
            )
        except (InvalidBatch, MalformedMessage) as error:
            raise self._refused(ErrorCode.INVALID_RECORD) from error
        self.counts["bytes"] += len(data)
        self.counts["metrics"] += metrics
        for receive in self.receivers:
            receive(context, instance_id, unpacked)

    def _refused(self, code: ErrorCode) -> BrokerError:
        self.counts[code.name] += 1
        return BrokerError(code)

    # Known clients

    async def _instance(self, context: Context, instance_id: bytes, now_ms: int) -> Instance:
        instance = self._instances.get(instance_id)
        if instance is None or instance.is_forgotten(now_ms) or instance.version != self._version:
            properties = client_properties(context, instance_id)
            version = self._version
            subscription = await self._scheduler.run(
                client_subscription(instance_id, properties, self._subscriptions.values())
            )
            instance = Instance(subscription, version, now_ms)
        instance.seen_ms = now_ms
        self._instances.pop(instance_id, None)
        self._instances[instance_id] = instance
        self._forget_old(now_ms)
        return instance

    def _forget_old(self, now_ms: int) -> None:
        for _ in range(FORGOTTEN_AT_ONCE):
            oldest = next(iter(self._instances.values()))
            if len(self._instances) <= INSTANCES_MAX and not oldest.is_forgotten(now_ms):
                return
            self._instances.popitem(last=False)

    def _now_ms(self) -> int:
        return int(self._clock.monotonic_s() * 1000)


def unpacked_bytes_max(bytes_max: int) -> int:
    return min(UNPACKED_FACTOR_MAX * bytes_max, max(bytes_max, UNPACKED_BYTES_MAX))


def unpack(codec: int, data: bytes, limit: int) -> tuple[memoryview, int]:
    """(the decompressed data, the number of metrics in it)."""
    unpacked = memoryview(decompress(codec, data, limit))
    return unpacked, OtlpReader().count_metrics(unpacked)
