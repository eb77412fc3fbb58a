"""Background work never takes a core, whatever its interval."""

from __future__ import annotations

import asyncio

import pytest

from ottla.base.scheduling.pacing import PAUSE_MIN_S, REST_MAX_S, pause_s, repeat


def test_work_pauses_as_its_setting_says() -> None:
    assert pause_s(15_000) == 15
    assert pause_s(15_000, took_s=60) == 15


@pytest.mark.parametrize("interval_ms", [-(2**63), -1, 0, 1])
def test_no_setting_leaves_the_pause_out(interval_ms: int) -> None:
    assert pause_s(interval_ms) == PAUSE_MIN_S
    assert pause_s(interval_ms, took_s=0.5) == 0.5
    assert pause_s(interval_ms, took_s=100) == REST_MAX_S


def test_periodic_work_continues_after_an_exception() -> None:
    calls: list[int] = []

    async def work() -> None:
        calls.append(len(calls))
        if len(calls) == 1:
            raise ValueError
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(repeat(work, lambda: 0))
    assert calls == [0, 1]
