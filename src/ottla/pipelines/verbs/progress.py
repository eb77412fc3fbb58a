"""What a verb is doing, and how far it is: a line every few seconds, for its user.

    with Progress(print) as progress:
        progress.begin("reading offsets", 5_000_000)
        progress.add(10_000)

Owns      the thread that reports it, from `__enter__` to `__exit__`; otherwise nothing is reported.
Promises  a verb that ends within the first seconds reports nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Self

import pyarrow as pa

EVERY_S = 3.0
JOIN_S = 10.0


class Progress:
    def __init__(
        self,
        report: Callable[[str], None] = print,
        every_s: float = EVERY_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._report = report
        self._clock = clock
        self._every_s = every_s
        self._what = "starting"
        self._done, self._total = 0, 0
        self._since_s = clock()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="progress")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_over.set()
        self._thread.join(JOIN_S)

    def begin(self, what: str, total: int = 0) -> None:
        """`total` is what will be added; 0 if that is not known."""
        self._what, self._done, self._total = what, 0, total
        self._since_s = self._clock()

    def add(self, count: int) -> None:
        self._done += count

    def counting(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same batches; their rows are added."""
        for batch in batches:
            yield batch
            self.add(batch.num_rows)

    def text(self) -> str:
        counted = f": {self._done:,} of {self._total:,}" if self._total else ""
        return f"{self._what}{counted}, {self._clock() - self._since_s:.0f} s"

    def _run(self) -> None:
        while not self._is_over.wait(self._every_s):
            self._report(self.text())
