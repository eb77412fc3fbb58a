"""Whether producers notice the audit: latencies of single records with and without it.

    python -m benchmarks.spark.audit_beside [--rounds 6] [--long]

One broker gets 10,000 records a second of 100 bytes: a thousand of them one by one, acks=1, the
others in batches over another connection. Windows with and without the audit alternate, and which
comes first does, too. The audit is in a process of its own (`audit_work.py`), as `ottla audit run
--without-spark` is:

    a pass each second      folds what is new, and reports it
    catching up             folds the same million of records again and again, without a pause

A latency is the time from when a record should have been sent to its acknowledgement, so that a
broker that stands still is seen by all records that wait for it; the client's own delays are in
both columns. On two processors an audit that catches up takes one of them from client and broker:
that row shows the machine as much as the broker.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from benchmarks.end_to_end.brokers import BrokerProcess, cpu_s, running
from benchmarks.end_to_end.wire import Wire, batch_of, create_topics, produce_frame
from benchmarks.report import OURS, THEIRS, Report, options, show

SINGLES, LOAD, LOG = "singles", "load", "log"
PARTITIONS = 6
TICK_S = 0.001  # a single record
BATCH_TICKS, BATCH_RECORDS = 10, 90  # and 100 batches of 90 a second: 10,000 records
WINDOW_S, WARM_UP_S = 10.0, 3.0
LOG_RECORDS = 1_000_000  # that an audit has to catch up with
PASSES, CATCHING_UP = "passes", "catching-up"
NAMES = {PASSES: "a pass each second", CATCHING_UP: "catching up"}
HEADS = ("beside the audit", "without")
BESIDE, ALONE = OURS, THEIRS  # the two columns


def main() -> None:
    asked = options(__doc__, rounds=6)
    seconds = WINDOW_S * (3 if asked.is_long else 1)
    latencies = Report("Single records at 10,000 records/s, acks=1, 100 B", True, "us", 0, HEADS)
    broker_cpu = Report("Processor time of the broker", True, "% of a core", 2, HEADS)
    audit_cpu = Report("Processor time of the audit", True, "% of a core", 2, HEADS)
    with running([OURS]) as (broker,):
        create_topics(broker.bootstrap, [SINGLES, LOAD, LOG], PARTITIONS)
        fill(broker)
        produce(broker, WARM_UP_S)
        for kind in (PASSES, CATCHING_UP):
            for number in range(asked.rounds):
                for column in ordered(number):
                    with beside(broker, kind if column == BESIDE else None) as worker:
                        before = used_s(broker, worker)
                        found = produce(broker, seconds)
                        used = [b - a for a, b in zip(before, used_s(broker, worker), strict=True)]
                    note(latencies, kind, column, found)
                    broker_cpu.add(NAMES[kind], column, 100 * used[0] / seconds)
                    if worker is not None:
                        audit_cpu.add(NAMES[kind], column, 100 * used[1] / seconds)
    show(latencies, broker_cpu, audit_cpu)


def ordered(number: int) -> tuple[str, str]:
    return (BESIDE, ALONE) if number % 2 else (ALONE, BESIDE)


def note(report: Report, kind: str, column: str, sorted_us: Sequence[float]) -> None:
    for name, share in (("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)):
        at = min(len(sorted_us) - 1, int(len(sorted_us) * share))
        report.add(f"{NAMES[kind]}, {name}", column, sorted_us[at])


def used_s(broker: BrokerProcess, worker: int | None) -> list[float]:
    return [cpu_s(pid) for pid in (broker.pid, worker) if pid is not None]


def fill(broker: BrokerProcess) -> None:
    records = 5000
    batch = batch_of(100, records)
    frames = [produce_frame(LOG, [number], batch) for number in range(PARTITIONS)]
    with Wire(broker.bootstrap) as wire:
        for number in range(LOG_RECORDS // records):
            wire.send(frames[number % PARTITIONS])
            wire.receive()


def produce(broker: BrokerProcess, seconds: float) -> list[float]:
    """The latencies in microseconds, sorted."""
    single = [produce_frame(SINGLES, [each], batch_of(100)) for each in range(PARTITIONS)]
    batch = batch_of(100, BATCH_RECORDS)
    load = [produce_frame(LOAD, [each], batch) for each in range(PARTITIONS)]
    found = []
    with Wire(broker.bootstrap) as singles, Wire(broker.bootstrap) as batches:
        begin_s = time.perf_counter()
        for tick in range(int(seconds / TICK_S)):
            due_s = begin_s + tick * TICK_S
            if (early_s := due_s - time.perf_counter()) > 0:
                time.sleep(early_s)
            if tick % BATCH_TICKS == 0:
                if tick:
                    batches.receive()  # of the batch before
                batches.send(load[tick // BATCH_TICKS % PARTITIONS])
            singles.send(single[tick % PARTITIONS])
            singles.receive()
            found.append((time.perf_counter() - due_s) * 1e6)
    return sorted(found)


@contextmanager
def beside(broker: BrokerProcess, kind: str | None) -> Iterator[int | None]:
    """While the audit runs, if there is one; the id of its process."""
    if kind is None:
        yield None
        return
    words = ["-m", "benchmarks.spark.audit_work", broker.bootstrap, kind]
    worker = subprocess.Popen(
        [sys.executable, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert worker.stdin is not None
    assert worker.stdout is not None
    if worker.stdout.readline() != b"busy\n":
        raise RuntimeError("the audit did not begin")
    try:
        yield worker.pid
    finally:
        worker.stdin.close()
        done = worker.stdout.readline()
        worker.wait()
        worker.stdout.close()
    folded = json.loads(done)["records"]
    assert folded > 0, "the audit has folded nothing"
    print(f"{NAMES[kind]}: {folded:,} records folded meanwhile", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
