"""When the memories are looked at: at every tick but one that comes late."""

from __future__ import annotations

from random import Random

import pytest

from ottla.network.memory_pressure import LATE_S, MemoryPressure
from ottla.network.request_memory import RequestMemory
from ottla.network.response_memory import ResponseMemory

TICK_S = 0.5


class LookedAt(RequestMemory):
    def __init__(self) -> None:
        super().__init__(1)
        self.at_s: list[float] = []

    def evict(self, now_s: float) -> int:
        self.at_s.append(now_s)
        return super().evict(now_s)


@pytest.mark.parametrize("seed", range(20))
def test_a_tick_is_left_out_only_if_it_is_late_and_the_one_before_was_not(seed: int) -> None:
    rng, memory = Random(seed), LookedAt()
    pressure = MemoryPressure(memory, ResponseMemory(1), TICK_S)
    now_s, was_left_out = 0.0, False
    for number in range(100):
        pause_s = rng.choice((TICK_S, TICK_S + LATE_S, TICK_S + LATE_S + 0.1, 30.0))
        now_s += pause_s
        pressure.tick(now_s)
        is_late = number > 0 and pause_s > TICK_S + LATE_S
        was_left_out = is_late and not was_left_out
        assert (now_s in memory.at_s) == (not was_left_out)
