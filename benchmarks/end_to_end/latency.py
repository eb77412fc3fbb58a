"""The time until a single record is acknowledged, with acks=1.

    python -m benchmarks.end_to_end.latency [--rounds 3] [--long] [--only ottla|kafka]

From a plain socket with one request in flight. `alone` is without other load. `beside work` runs
while another process loads the broker (`background_work.py`): it rewrites keys of a compacted topic
with small segments, and reads an old topic that is not in the page cache. It runs for seconds, so
that it includes several rounds of compaction. The background work that the broker completed
meanwhile is in a separate table.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.end_to_end.brokers import BrokerProcess, in_turn, running
from benchmarks.end_to_end.wire import Wire, batch_of, create_topics, produce_frame
from benchmarks.report import Report, options, show

TOPIC = "latency"
WARM_UP_S = 0.1
COMPILING_S = 5.0  # the JVM compiles its code
ALONE_S, BESIDE_S = 2.0, 5.0


def main() -> None:
    asked = options(__doc__)
    report = Report("Single records, acks=1, 100 B", True, "us", 0)
    work = Report("Work done meanwhile", False, "MB/s", 2)
    factor = 4 if asked.is_long else 1
    with running(asked.brokers) as brokers:
        for broker in brokers:
            create_topics(broker.bootstrap, [TOPIC])
            latencies_us(broker, COMPILING_S)
            with busy(broker, Report("not counted", False, "MB/s")):
                latencies_us(broker, COMPILING_S)
        for number in range(asked.rounds):
            for broker in in_turn(brokers, number):
                note("alone", broker, latencies_us(broker, factor * ALONE_S), report)
        for number in range(asked.rounds):
            for broker in in_turn(brokers, number):
                with busy(broker, work):
                    note("beside work", broker, latencies_us(broker, factor * BESIDE_S), report)
    show(report, work)


def note(row: str, broker: BrokerProcess, sorted_us: list[float], report: Report) -> None:
    for name, share in (("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)):
        at = min(len(sorted_us) - 1, int(len(sorted_us) * share))
        report.add(f"{row}, {name}", broker.name, sorted_us[at])


def latencies_us(broker: BrokerProcess, seconds: float) -> list[float]:
    frame, found = produce_frame(TOPIC, [0], batch_of(100)), []
    begin_s = time.perf_counter() + WARM_UP_S
    end_s, end = begin_s + seconds, 0.0
    with Wire(broker.bootstrap) as wire:
        while end <= end_s:
            start = time.perf_counter()
            wire.send(frame)
            wire.receive()
            end = time.perf_counter()
            if start >= begin_s:
                found.append((end - start) * 1e6)
    return sorted(found)


@contextmanager
def busy(broker: BrokerProcess, work: Report) -> Iterator[None]:
    """While another process loads the broker; the amount of work is recorded."""
    words = ["-m", "benchmarks.end_to_end.background_work", broker.bootstrap]
    worker = subprocess.Popen(
        [sys.executable, *words, str(broker.log_directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert worker.stdin is not None
    assert worker.stdout is not None
    if worker.stdout.readline() != b"busy\n":
        raise RuntimeError("the background work did not begin")
    try:
        yield
    finally:
        worker.stdin.close()
        for row, value in json.loads(worker.stdout.readline()).items():
            work.add(row, broker.name, value)
        worker.wait()
        worker.stdout.close()


if __name__ == "__main__":
    main()
