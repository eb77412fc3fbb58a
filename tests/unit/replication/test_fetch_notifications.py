"""Very many fetches that wait for one partition."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from tests.unit.storage.log_making import Place

from ottla.replication.fetch_notifications import NOTIFIED_AT_ONCE, FetchNotifications
from ottla.replication.fetch_waiters import OF_MANY_AT_ONCE


class Waiting:
    def __init__(self) -> None:
        self.bytes = 0
        self.is_woken = False

    def data_arrived(self, size: int, *, is_stable: bool) -> None:
        self.bytes += size

    def wake(self) -> None:
        self.is_woken = True


@pytest.mark.parametrize("size", [100, None])
def test_they_are_notified_a_few_in_each_iteration_of_the_loop(size: int | None) -> None:
    async def run() -> None:
        fetches, log = FetchNotifications(), Place().open()
        waiting = [Waiting() for _ in range(3 * NOTIFIED_AT_ONCE)]
        for each in waiting:
            fetches.watchers[each] = None
        counts = [0]
        fetches.announce(log, size)
        while counts[-1] < len(waiting):
            await asyncio.sleep(0)
            counts.append(sum(each.bytes > 0 or each.is_woken for each in waiting))
            assert 0 < counts[-1] - counts[-2] <= OF_MANY_AT_ONCE
            first = waiting[: counts[-1]]
            assert all(each.bytes or each.is_woken for each in first)  # in their order

    asyncio.run(run())


def test_what_is_appended_meanwhile_is_counted_once_for_each() -> None:
    async def run() -> None:
        fetches, log = FetchNotifications(), Place().open()
        waiting = [Waiting() for _ in range(2 * NOTIFIED_AT_ONCE)]
        for each in waiting:
            fetches.watchers[each] = None
        for _ in range(30):
            fetches.announce(log, 10)
            await asyncio.sleep(0)
        for _ in range(200):
            await asyncio.sleep(0)
        assert Counter(each.bytes for each in waiting) == {300: len(waiting)}
        for each in waiting[10:]:
            del fetches.watchers[each]
        fetches.announce(log, 7)  # at once: they are few
        assert [each.bytes for each in waiting[:11]] == [307] * 10 + [300]

    asyncio.run(run())
