"""Background load for `latency.py`: compaction and a reader of uncached data, until standard input
is closed.

    python -m benchmarks.end_to_end.background_work BOOTSTRAP LOG_DIRECTORY

Prints `busy` when both are running, and at the end how much of each was done. Limited in rate, so
that one processor is left for the rest.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from pathlib import Path

from benchmarks.end_to_end.wire import (
    Wire,
    batch_of,
    create_topics,
    fetch_frame,
    produce_frame,
)

COMPACTED, COLD = "background-compacted", "background-cold"
COLD_BATCHES = 100  # of about 1 MB
COLD_RECORDS, KEYED_RECORDS = 900, 400  # per batch
STEP_S = 0.02
SMALL_SEGMENTS = {
    "cleanup.policy": "compact",
    "segment.bytes": str(1024 * 1024),
    "min.cleanable.dirty.ratio": "0.01",
}


def main() -> None:
    bootstrap, directory = sys.argv[1], Path(sys.argv[2])
    create_topics(bootstrap, [COMPACTED], configs=SMALL_SEGMENTS)
    create_topics(bootstrap, [COLD])
    with Wire(bootstrap) as wire:
        if not is_filled(directory):
            fill_cold(wire)
            os.sync()  # only clean pages can be dropped
        work(wire, directory)


def is_filled(directory: Path) -> bool:
    """Whether an earlier round has written the data."""
    found = sum(path.stat().st_size for path in directory.glob(f"{COLD}-*/*.log"))
    return found >= COLD_BATCHES * COLD_RECORDS * 1000


def fill_cold(wire: Wire) -> None:
    frame = produce_frame(COLD, [0], batch_of(1000, COLD_RECORDS))
    for _ in range(COLD_BATCHES):
        wire.send(frame)
        wire.receive()


def work(wire: Wire, directory: Path) -> None:
    batch = batch_of(100, KEYED_RECORDS, key=b"the same")
    keyed = produce_frame(COMPACTED, [0], batch)
    step, read_bytes, start_s, clean = 0, 0, 0.0, 0
    while not start_s or not has_ended():
        at = step % COLD_BATCHES
        if at == 0:
            drop_from_page_cache(directory)
        for frame in (keyed, fetch_frame(COLD, 0, at * COLD_RECORDS)):
            wire.send(frame)
            answer = wire.receive()
        step += 1
        read_bytes += len(answer)
        if not start_s:
            print("busy", flush=True)
            start_s, read_bytes, clean = time.monotonic(), 0, clean_offset(directory)
        time.sleep(STEP_S)
    cleaned = (clean_offset(directory) - clean) / KEYED_RECORDS * len(batch)
    done = {"compacted": cleaned, "read from the cold topic": read_bytes}
    seconds = time.monotonic() - start_s
    print(json.dumps({name: size / seconds / 1e6 for name, size in done.items()}), flush=True)


def clean_offset(directory: Path) -> int:
    """The clean offset of the compacted topic, as written by the broker."""
    path = directory / "cleaner-offset-checkpoint"
    for line in path.read_text().splitlines() if path.exists() else ():
        if line.startswith(f"{COMPACTED} 0 "):
            return int(line.split()[2])
    return 0


def has_ended() -> bool:
    readable, _, _ = select.select([sys.stdin], [], [], 0)
    return bool(readable)


def drop_from_page_cache(directory: Path) -> None:
    for path in directory.glob(f"{COLD}-*/*.log"):
        descriptor = os.open(path, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


if __name__ == "__main__":
    main()
