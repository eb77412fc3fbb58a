"""What clients have used of their quotas, and how long they wait (KIP-13, KIP-124, KIP-219).

Owns      one meter for each payer of each kind of quota.
Promises  a kind of quota that nobody has costs nothing: its meters are None, and who charges looks
          at that first. Meters are bounded in number, whatever client ids are made up.
Leaves    which quota holds to `payers.py`, the arithmetic to `base/rates.py`, and waiting to the
          network: an answer goes out at once, and the connection is not read for a while.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from ottla.base.clock import Clock
from ottla.base.rates import RateMeter, TokenBucket, Windows
from ottla.config.broker_options import BrokerConfig
from ottla.handlers.context import Context
from ottla.handlers.quotas.payers import Due, Limits, Payer
from ottla.metadata.changes import Changes
from ottla.metadata.image import Image
from ottla.metadata.records import QuotaEntity
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

METERS_MAX = 10_000
LIMITLESS = 2.0**63  # far beyond it sums of limits are no numbers any more
M = TypeVar("M", RateMeter, TokenBucket)
Quotas = Mapping[QuotaEntity, Mapping[str, float]]


class Meters(Generic[M]):
    """By payer; the ones that were asked for longest ago go when there are too many."""

    def __init__(self, make: Callable[[], M], key: str, windows: Windows) -> None:
        self._make: Callable[[], M] = make
        self._key = key
        self._limits = Limits({}, key)
        self._meters: dict[Payer, M] = {}
        self.windows = windows

    def change(self, quotas: Quotas) -> bool:
        """Take over new limits; whether there are any. What was used stays used."""
        self._limits = Limits(quotas, self._key)
        if not self._limits:
            self._meters.clear()
        return bool(self._limits)

    def due(self, context: Context) -> Due | None:
        """None where there is no limit, or one that nobody reaches."""
        found = self._limits.find(context.peer.user, context.client_id or "")
        return None if found is not None and found.limit >= LIMITLESS else found

    def meter(self, payer: Payer) -> M:
        meter = self._meters.pop(payer, None) or self._make()
        self._meters[payer] = meter
        if len(self._meters) > METERS_MAX:
            del self._meters[next(iter(self._meters))]
        return meter

    def __len__(self) -> int:
        return len(self._meters)


class RateQuota:
    """Bytes or processing time a second."""

    def __init__(
        self, key: str, windows: Windows, clock: Clock, wait_ms_max: int | None = None
    ) -> None:
        self.meters = Meters(RateMeter, key, windows)
        self._clock = clock
        self._wait_ms_max = wait_ms_max

    def charge(self, context: Context, amount: float) -> int:
        """Note what was used; how long the client is to wait, in milliseconds."""
        due = self.meters.due(context)
        if due is None:
            return 0
        now_ms, windows = self._now_ms(), self.meters.windows
        meter = self.meters.meter(due.payer)
        meter.record(amount, now_ms, windows)
        wait_ms = meter.wait_ms(due.limit, now_ms, windows)
        return wait_ms if self._wait_ms_max is None else min(wait_ms, self._wait_ms_max)

    def admit(self, context: Context, amount: float) -> tuple[bool, int]:
        """Whether a client may have so much now, and how long it is to wait.

        What is refused is not charged. After a quiet time anything passes, however large: else a
        batch that is larger than the quota would never be read.
        """
        due = self.meters.due(context)
        if due is None:
            return True, 0
        now_ms, windows = self._now_ms(), self.meters.windows
        meter = self.meters.meter(due.payer)
        was_idle = meter.is_idle(now_ms, windows)
        meter.record(amount, now_ms, windows)
        wait_ms = meter.wait_ms(due.limit, now_ms, windows)
        if wait_ms and not was_idle:
            meter.record(-amount, now_ms, windows)
            return False, wait_ms
        return True, wait_ms

    def amount_max(self, context: Context) -> float | None:
        """More than this at once always leads to waiting; None without a quota."""
        due = self.meters.due(context)
        if due is None:
            return None
        windows = self.meters.windows
        return due.limit * (windows.count - 1) * windows.size_ms / 1000

    def _now_ms(self) -> int:
        return int(self._clock.monotonic_s() * 1000)


class MutationQuota:
    """Partitions created and deleted a second (KIP-599)."""

    def __init__(self, key: str, windows: Windows, clock: Clock) -> None:
        self.meters = Meters(TokenBucket, key, windows)
        self._clock = clock

    def charge(self, context: Context, partitions: int, *, is_strict: bool) -> None:
        """Clients that know the error get it once they owe something; the others wait."""
        due = self.meters.due(context)
        if due is None:
            return
        now_ms, windows = int(self._clock.monotonic_s() * 1000), self.meters.windows
        bucket = self.meters.meter(due.payer)
        owed_ms = bucket.wait_ms(due.limit, now_ms, windows)
        if is_strict and owed_ms:
            context.throttle(owed_ms)
            raise BrokerError(
                ErrorCode.THROTTLING_QUOTA_EXCEEDED, "The throttling quota has been exceeded."
            )
        bucket.take(partitions, due.limit, now_ms, windows)
        if not is_strict:
            context.throttle(bucket.wait_ms(due.limit, now_ms, windows))


class ClientQuotas:
    """Each kind is None as long as nobody has such a quota."""

    def __init__(self, image: Image, config: BrokerConfig, clock: Clock) -> None:
        windows = Windows(config.quota_window_num, config.quota_window_size_seconds * 1000)
        mutations = Windows(
            config.controller_quota_window_num, config.controller_quota_window_size_seconds * 1000
        )
        self._produce = RateQuota("producer_byte_rate", windows, clock)
        self._fetch = RateQuota("consumer_byte_rate", windows, clock)
        self._request = RateQuota("request_percentage", windows, clock, windows.size_ms)
        self._mutation = MutationQuota("controller_mutation_rate", mutations, clock)
        self.take_over(image.quotas)

    def changed(self, image: Image, changes: Changes) -> None:
        if changes.quotas:
            self.take_over(image.quotas)

    def take_over(self, quotas: Quotas) -> None:
        self.produce = self._produce if self._produce.meters.change(quotas) else None
        self.fetch = self._fetch if self._fetch.meters.change(quotas) else None
        self.request = self._request if self._request.meters.change(quotas) else None
        self.mutation = self._mutation if self._mutation.meters.change(quotas) else None
