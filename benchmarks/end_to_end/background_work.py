"""Work beside which `latency.py` measures: compaction and a cold reader, until standard input ends.

    python -m benchmarks.end_to_end.background_work BOOTSTRAP LOG_DIRECTORY

Says `busy` when both are under way. Bounded in speed, so that one processor is left for the rest.
"""

from __future__ import annotations

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
        fill_cold(wire)
        os.sync()  # only clean pages can be dropped
        work(wire, directory)


def fill_cold(wire: Wire) -> None:
    frame = produce_frame(COLD, [0], batch_of(1000, 900))
    for _ in range(COLD_BATCHES):
        wire.send(frame)
        wire.receive()


def work(wire: Wire, directory: Path) -> None:
    keyed = produce_frame(COMPACTED, [0], batch_of(100, 400, key=b"the same"))
    step, is_told = 0, False
    while not is_told or not has_ended():
        at = step % COLD_BATCHES
        if at == 0:
            drop_from_page_cache(directory)
        for frame in (keyed, fetch_frame(COLD, 0, at * 900)):
            wire.send(frame)
            wire.receive()
        step += 1
        if not is_told:
            print("busy", flush=True)
            is_told = True
        time.sleep(STEP_S)


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
