"""Records per second of compaction, with compiled code and in Python.

    python -m benchmarks.micro.compaction [--records 400000] [--value-bytes 100] [--repeats 3]

Every case cleans the same log in a temporary directory: four records per key, one of which is
retained. Both loops (records and key map) run compiled and in Python, each in its own process; the
best of several repeats counts, in processor time. `map` is the memory per key in bytes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.micro.timing import table

COMPILED = ("ottla.protocol.records._native", "ottla.storage.compaction._key_map")
CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
RECORDS_PER_KEY = 4
SEGMENTS = 4
MAP_BYTES_PER_KEY = 24  # upper bound


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--records", type=int, default=400_000)
    parser.add_argument("--value-bytes", type=int, default=100)
    parser.add_argument("--batch-records", type=int, default=100)
    parser.add_argument("--codecs", nargs="+", default=["none", "lz4", "zstd"], choices=CODECS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        print(json.dumps(run_case(arguments, *arguments.case.split(","))))
        return
    rows = []
    for codec in arguments.codecs:
        found = {loops: start_case(codec, loops) for loops in ("compiled", "plain")}
        for loops, case in found.items():
            ratio = case["records_per_s"] / found["plain"]["records_per_s"]
            rate = f"{case['records_per_s']:,.0f}"
            rows.append(
                (f"{codec}, {loops}", rate, case["mb_per_s"], ratio, case["map_bytes_per_key"])
            )
    columns = ("codec, loops", "records/s", "MB/s read", "ratio", "map")
    print(table(f"{arguments.records} records in {SEGMENTS} segments", columns, rows))


def start_case(codec: str, loops: str) -> dict[str, float]:
    """One case in its own process."""
    command = [sys.executable, "-m", "benchmarks.micro.compaction", *sys.argv[1:]]
    output = subprocess.run([*command, "--case", f"{codec},{loops}"], check=True, stdout=-1).stdout
    found: dict[str, float] = json.loads(output)
    return found


def run_case(arguments: argparse.Namespace, codec: str, loops: str) -> dict[str, float]:
    if loops == "plain":
        for name in COMPILED:
            sys.modules[name] = None  # type: ignore[assignment]  # makes importing it fail
    from ottla.storage.compaction import key_map

    assert key_map.IMPLEMENTATION.startswith(loops), f"there is only {key_map.IMPLEMENTATION}"
    with tempfile.TemporaryDirectory() as directory:
        sizes = write_log(directory, arguments, CODECS[codec])
        best = min(
            (clean_once(directory, sizes, arguments.records) for _ in range(arguments.repeats)),
            key=lambda each: each["seconds"],
        )
    return {
        "records_per_s": arguments.records / best["seconds"],
        "mb_per_s": sum(sizes) / best["seconds"] / 1e6,
        "map_bytes_per_key": best["map_bytes_per_key"],
    }


def write_log(directory: str, arguments: argparse.Namespace, codec: int) -> list[int]:
    """Segment files with equal numbers of records; returns their sizes."""
    from ottla.protocol.records.building import build_batch
    from ottla.protocol.records.record import Record

    keys = arguments.records // RECORDS_PER_KEY
    value = os.urandom(arguments.value_bytes // 2) + bytes(arguments.value_bytes // 2)
    per_segment = arguments.records // SEGMENTS
    sizes = []
    for segment in range(SEGMENTS):
        path = Path(directory) / f"{segment * per_segment:020d}.log"
        with path.open("wb") as file:
            end = (segment + 1) * per_segment
            for base in range(segment * per_segment, end, arguments.batch_records):
                records = [
                    Record(
                        offset, 1_700_000_000_000 + offset, b"key-%010d" % (offset % keys), value
                    )
                    for offset in range(base, min(base + arguments.batch_records, end))
                ]
                file.write(build_batch(records, base_offset=base, codec=codec))
        sizes.append(path.stat().st_size)
    return sizes


def clean_once(directory: str, sizes: list[int], records: int) -> dict[str, float]:
    from ottla.base.files.disk import DiskFileSystem
    from ottla.base.ids import TopicPartition
    from ottla.config.topic_options import TopicConfig
    from ottla.storage.compaction.cleaner import clean
    from ottla.storage.compaction.plan import SegmentSummary
    from ottla.storage.compaction.request import CleaningLimits, CleanRequest, CleanSummary
    from ottla.storage.compaction.throttle import NoThrottle

    per_segment = records // SEGMENTS
    request = CleanRequest(
        partition=TopicPartition("t", 0),
        directory=directory,
        config=TopicConfig(cleanup_policy=("compact",)),
        segments=tuple(
            SegmentSummary(at * per_segment, size, -1, -1) for at, size in enumerate(sizes)
        ),
        first_dirty_offset=0,
        first_uncleanable_offset=per_segment * SEGMENTS,
        now_ms=1_800_000_000_000,
        limits=CleaningLimits(map_bytes_max=MAP_BYTES_PER_KEY * records // RECORDS_PER_KEY),
    )
    began = time.thread_time()
    *_, summary = clean(request, DiskFileSystem(), NoThrottle(), secret=os.urandom(16))
    seconds = time.thread_time() - began
    assert isinstance(summary, CleanSummary)
    counts = summary.counts
    assert counts.records_kept == counts.keys == records // RECORDS_PER_KEY
    return {"seconds": seconds, "map_bytes_per_key": counts.map_bytes / counts.keys}


if __name__ == "__main__":
    main()
