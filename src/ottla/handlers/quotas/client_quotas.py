"""Usage of client quotas, and the throttle times that follow (KIP-13, KIP-124, KIP-219).

Owns      one meter for each kind of quota and all clients that share it.
Promises  a kind of quota that is not set costs nothing: its meters are None, which callers check
          first. The number of meters is bounded, whatever client ids are used.
Leaves    which quota applies to `quota_limits.py`, the arithmetic to `base/rates.py`, and
          throttling to the network: the response is sent at once, and the connection is not read
          for the time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from ottla.base.clock import Clock
from ottla.base.rates import MS_PER_S, RateMeter, TokenBucket, Windows, full_bucket, windows_of
from ottla.base.scheduling.steps import Steps
from ottla.config.broker_options import BrokerConfig
from ottla.handlers.quotas.quota_limits import AddressLimits, FoundLimit, Limits, MeterKey
from ottla.handlers.serving.context import Context
from ottla.metadata.changes import Changes
from ottla.metadata.image import Image
from ottla.metadata.records import QuotaEntity
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

METERS_MAX = 10_000
M = TypeVar("M", RateMeter, TokenBucket)


class Meters(Generic[M]):
    """Usage by clients that share a quota; the least recently used are dropped if there are too
    many."""

    def __init__(self, make: Callable[[], M], key: str, windows: Windows) -> None:
        self._make: Callable[[], M] = make
        self._limits = Limits(key)
        self._meters: dict[MeterKey, M] = {}
        self.windows = windows

    def change(self, entity: QuotaEntity, limits: Mapping[str, float]) -> None:
        """Apply new limits of an entity. Past usage is kept."""
        self._limits.change(entity, limits)

    @property
    def has_limits(self) -> bool:
        return bool(self._limits)

    def limit_of(self, context: Context) -> FoundLimit:
        return self._limits.find(context.peer.user, context.client_id or "")

    def meter(self, key: MeterKey) -> M:
        meter = self._meters.pop(key, None) or self._make()
        self._meters[key] = meter
        if len(self._meters) > METERS_MAX:
            # The controller's thread may call this, too.
            self._meters.pop(next(iter(self._meters)), None)
        return meter

    def __len__(self) -> int:
        return len(self._meters)


class RateQuota:
    """Bytes or processing time per second."""

    def __init__(
        self, key: str, windows: Windows, clock: Clock, wait_ms_max: int | None = None
    ) -> None:
        self.meters = Meters(RateMeter, key, windows)
        self._clock = clock
        self._wait_ms_max = wait_ms_max

    def charge(self, context: Context, amount: float) -> int:
        """Record usage; returns the throttle time in milliseconds."""
        found = self.meters.limit_of(context)
        now_ms, windows = self._now_ms(), self.meters.windows
        meter = self.meters.meter(found.key)
        meter.record(amount, now_ms, windows)
        wait_ms = meter.wait_ms(found.limit, now_ms, windows)
        return wait_ms if self._wait_ms_max is None else min(wait_ms, self._wait_ms_max)

    def note(self, context: Context, amount: float) -> None:
        """Record usage without throttling; a negative amount is a refund."""
        meter = self.meters.meter(self.meters.limit_of(context).key)
        meter.record(amount, self._now_ms(), self.meters.windows)

    def is_beyond(self, context: Context, amount: float) -> bool:
        """Whether the amount exceeds all windows together, with little other usage in them."""
        key, limit = self.meters.limit_of(context)
        full = full_bucket(limit, self.meters.windows)
        return amount > full and self.meters.meter(key).amount - amount < full / 2

    def amount_max(self, context: Context) -> float:
        """A larger amount is always throttled."""
        windows = self.meters.windows
        return (
            self.meters.limit_of(context).limit * (windows.count - 1) * (windows.size_ms / MS_PER_S)
        )

    def _now_ms(self) -> int:
        return round(self._clock.monotonic_s() * MS_PER_S)


class MutationQuota:
    """Partitions created and deleted per second (KIP-599)."""

    def __init__(self, key: str, windows: Windows, clock: Clock) -> None:
        self.meters = Meters(TokenBucket, key, windows)
        self._clock = clock

    def charge(self, context: Context, partitions: int, *, is_strict: bool) -> None:
        """Over the quota, clients that know the error get it; older ones are throttled."""
        if is_strict:
            context.throttle(self.quota_wait_ms(context))
            self.admit(context, partitions)
        else:
            self._take(context, partitions)
            context.throttle(self.quota_wait_ms(context))

    def admit(self, context: Context, partitions: int) -> None:
        """Record usage within the quota; over it, the error."""
        key, limit = self.meters.limit_of(context)
        if self.meters.meter(key).is_overdrawn(limit, self._now_ms(), self.meters.windows):
            raise BrokerError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
        self._take(context, partitions)

    def quota_wait_ms(self, context: Context) -> int:
        key, limit = self.meters.limit_of(context)
        return self.meters.meter(key).wait_ms(limit, self._now_ms(), self.meters.windows)

    def _take(self, context: Context, partitions: int) -> None:
        key, limit = self.meters.limit_of(context)
        bucket = self.meters.meter(key)
        bucket.take(partitions, limit, self._now_ms(), self.meters.windows)

    def _now_ms(self) -> int:
        return round(self._clock.monotonic_s() * MS_PER_S)


def quota_windows(config: BrokerConfig) -> Windows:
    return windows_of(config.quota_window_num, config.quota_window_size_seconds)


class ClientQuotas:
    """Each kind is None while no such quota is set."""

    def __init__(self, image: Image, config: BrokerConfig, clock: Clock) -> None:
        windows = quota_windows(config)
        mutations = windows_of(
            config.controller_quota_window_num, config.controller_quota_window_size_seconds
        )
        self._produce = RateQuota("producer_byte_rate", windows, clock)
        self._fetch = RateQuota("consumer_byte_rate", windows, clock)
        self._request = RateQuota("request_percentage", windows, clock, windows.size_ms)
        self._mutation = MutationQuota("controller_mutation_rate", mutations, clock)
        self.addresses = AddressLimits()
        for entity, limits in image.quotas.items():
            self._change(entity, limits)
        self._choose()

    def changed(self, image: Image, changes: Changes) -> Steps[None]:
        for entity in changes.quotas:
            self._change(entity, image.quotas.get(entity, {}))
            yield 0
        self._choose()

    def _change(self, entity: QuotaEntity, limits: Mapping[str, float]) -> None:
        for meters in (
            self._produce.meters,
            self._fetch.meters,
            self._request.meters,
            self._mutation.meters,
        ):
            meters.change(entity, limits)
        self.addresses.change(entity, limits)

    def _choose(self) -> None:
        self.produce = self._produce if self._produce.meters.has_limits else None
        self.fetch = self._fetch if self._fetch.meters.has_limits else None
        self.request = self._request if self._request.meters.has_limits else None
        self.mutation = self._mutation if self._mutation.meters.has_limits else None
