"""A clock that only a test advances."""


class ManualClock:
    def __init__(self, now_ms: int = 1_700_000_000_000) -> None:
        self._now_ms = now_ms
        self._elapsed_ms = 0

    def now_ms(self) -> int:
        return self._now_ms

    def monotonic_s(self) -> float:
        return self._elapsed_ms / 1000

    cpu_s = monotonic_s

    def advance_ms(self, milliseconds: int) -> None:
        self._now_ms += milliseconds
        self._elapsed_ms += milliseconds
