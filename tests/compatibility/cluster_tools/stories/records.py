"""Tools about records and files: offsets, deleting, directories, dumps of every replica, speed."""

from __future__ import annotations

import re
from pathlib import Path

from tests.compatibility.cluster_tools.normalising import sorted_json, without_numbers
from tests.compatibility.cluster_tools.session import ToolSession
from tests.support.java_clients import CLOSE, FLUSH, send

OFFSETS = "GetOffsetShell"
START_MS = 1_700_000_000_000


def records(session: ToolSession) -> None:
    session.topic("kept", "1:2:3,2:3:1,3:1:2")
    sent = [
        send("kept", b"value %d" % at, key=b"%d" % at, timestamp=START_MS + at, partition=at % 3)
        for at in range(30)
    ]
    session.clients.produce("kept", [*sent, FLUSH, CLOSE], {"acks": "all", "linger.ms": "60000"})
    offsets(session)
    kept = [{"topic": "kept", "partition": each, "offset": each} for each in range(3)]
    plan = session.file("delete.json", {"partitions": kept, "version": 1})
    session.show("delete records", "DeleteRecordsCommand", "--offset-json-file", plan,
                 is_ordered=False)  # fmt: skip
    beyond = [{"topic": "kept", "partition": 0, "offset": 1000}]
    plan = session.file("delete-beyond.json", {"partitions": beyond, "version": 1})
    session.show("delete records beyond", "DeleteRecordsCommand", "--offset-json-file", plan)
    session.show("earliest afterwards", OFFSETS, "--topic", "kept", "--time", "earliest")
    files(session)
    speeds(session)


def offsets(session: ToolSession) -> None:
    for time in ("latest", "earliest", "max-timestamp", "1700000000010"):
        session.show(f"offsets {time}", OFFSETS, "--topic", "kept", "--time", time)
    session.show("offsets of some", OFFSETS, "--topic-partitions", "kept:1-3")
    session.show("offsets of nothing", OFFSETS, "--topic", "missing")


def files(session: ToolSession) -> None:
    """Of each of the three replicas: the same."""
    asked = ("--describe", "--topic-list", "kept")
    session.show("directories", "LogDirsCommand", *asked, change=sorted_json)
    some = ("--describe", "--topic-list", "kept", "--broker-list", "2")
    session.show("directories of one", "LogDirsCommand", *some, change=sorted_json)
    unknown = ("--describe", "--broker-list", "2,9")
    session.show("directories of one unknown", "LogDirsCommand", *unknown, change=sorted_json)
    for broker_id in (1, 2, 3):
        (segment,) = (session.trio.log_directory(broker_id) / "kept-0").glob("*.log")
        await_bytes(session, segment)
        dump = ("--files", str(segment), "--deep-iteration", "--print-data-log")
        session.show(f"dump of {broker_id}", "DumpLogSegments", *dump, where="")


def await_bytes(session: ToolSession, segment: Path) -> None:
    """The followers have the records once they are acknowledged with acks=all."""
    assert segment.stat().st_size > 0, segment


def speeds(session: ToolSession) -> None:
    """How these tools end and what they print, but for the numbers."""
    session.topic("fast", "1:2:3,2:3:1,3:1:2")
    written = ("--topic", "fast", "--num-records", "5000", "--record-size", "100", "--throughput",
               "-1", "--command-property", "acks=all")  # fmt: skip
    session.show("producer-perf-test", "ProducerPerformance", *written, change=summary)
    transactional = ("--topic", "fast", "--num-records", "2000", "--record-size", "100",
                     "--throughput", "-1", "--transactional-id", "fast")  # fmt: skip
    session.show("with transactions", "ProducerPerformance", *transactional, change=summary)
    read = ("--topic", "fast", "--num-records", "7000", "--group", "fast", "--timeout", "60000")
    session.show("consumer-perf-test", "ConsumerPerformance", *read, change=consumed)
    session.topic("latency", "2:3:1")
    session.show(
        "e2e-latency", "EndToEndLatency", "--bootstrap-server", session.bootstrap,
        "--topic", "latency", "--num-records", "50", "--producer-acks", "all", "--record-size",
        "100", where="", change=without_numbers,
    )  # fmt: skip


def summary(line: str) -> str:
    """How many were sent is compared, how fast is not."""
    sent = re.match(r"\d+ records sent", line)
    return (sent.group() if sent else "") + without_numbers(line[sent.end() if sent else 0 :])


def consumed(line: str) -> str:
    """The fifth column is the number of records."""
    columns = line.split(", ")
    return line if len(columns) < 5 else ", ".join(["<n>"] * 4 + [columns[4]])
