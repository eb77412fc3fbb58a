"""Kafka Streams counts exactly once with replication factor 3, while brokers are killed.

python -m tests.compatibility.cluster_clients.streams ottla 3 2,3

Three rounds, in each of which brokers 2 and 3 are killed and started again; without brokers nothing
is killed. Where not all counts arrive, the threads of the application and the ends of the logs are
printed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition
from tests.compatibility.cluster_clients.faults import create
from tests.compatibility.cluster_clients.programs_run import CACHE, PROGRAMS, SMALL, run
from tests.compatibility.cluster_tools.trios import Trio, kafka_trio, our_trio
from tests.support.java_process import LOG_LEVEL
from tests.support.kafka_jars import KAFKA_VERSION, locked, pom_text

KEYS, PARTITIONS = 20, 3
PER_SECOND = 400
SECONDS = 20.0
BETWEEN_KILLS_S = 6.0
PATIENCE_S = 60.0  # without another count


def classes() -> str:
    """The class path of the application, which is compiled with Maven's copy of Kafka Streams."""
    folder = CACHE / f"streams-{KAFKA_VERSION}"
    libs = folder / "libs"
    with locked(CACHE / "streams.lock"):
        if not libs.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            pom = folder / "pom.xml"
            pom.write_text(pom_text(KAFKA_VERSION, "kafka-streams"))
            goal = ["dependency:copy-dependencies", f"-DoutputDirectory={folder / 'partial'}"]
            run(["mvn", "--quiet", "--batch-mode", "--file", str(pom), *goal])
            (folder / "partial").rename(libs)
        source = PROGRAMS / "streams" / "Counts.java"
        run(["javac", "-d", str(folder), "-cp", f"{libs}/*", str(source)])
    return f"{folder}:{libs}/*"


def start(bootstrap: str, state: str) -> subprocess.Popen[bytes]:
    level = LOG_LEVEL.format("error")
    command = ["java", *SMALL, level, "-cp", classes(), "Counts", bootstrap, state]
    return subprocess.Popen(command, stdin=subprocess.PIPE)


def produce(bootstrap: str, trio: Trio, ends: Sequence[int]) -> int:
    """How many records were sent while these brokers were killed, one after the other."""
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})
    failed: list[object] = []
    sent, left = 0, list(ends)
    now_s = time.monotonic()
    end_s, kill_s = now_s + SECONDS, now_s + BETWEEN_KILLS_S
    while time.monotonic() < end_s or left:
        for _ in range(PER_SECOND // 20):
            producer.produce(
                "input",
                str(sent),
                key=str(sent % KEYS),
                on_delivery=lambda error, _: failed.append(error) if error else None,
            )
            sent += 1
        producer.poll(0.05)
        if left and time.monotonic() > kill_s:
            broker_id = left.pop(0)
            trio.kill(broker_id)
            trio.start(broker_id)
            kill_s = time.monotonic() + BETWEEN_KILLS_S
            end_s = max(end_s, kill_s)
    assert producer.flush(120) == 0
    assert not failed, failed[:3]
    return sent


def read_counts(bootstrap: str, wanted: int) -> dict[str, list[int]]:
    """By key, in the order of the log; fewer than wanted if there are no more for a while."""
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "judge", "isolation.level": "read_committed"}
    )
    consumer.assign([TopicPartition("output", each, 0) for each in range(PARTITIONS)])
    found: defaultdict[str, list[int]] = defaultdict(list)
    read, last_s = 0, time.monotonic()
    while time.monotonic() < last_s + (PATIENCE_S if read < wanted else 3):  # or more than wanted
        for message in consumer.consume(1000, 1.0):
            assert message.error() is None, message.error()
            found[(message.key() or b"").decode()].append(int(message.value() or b""))
            read, last_s = read + 1, time.monotonic()
    consumer.close()
    return found


def show_state(bootstrap: str, application: subprocess.Popen[bytes]) -> None:
    threads = subprocess.run(["jstack", str(application.pid)], capture_output=True, text=True)
    print(threads.stdout)
    for isolation in ("read_committed", "read_uncommitted"):
        consumer = Consumer(
            {"bootstrap.servers": bootstrap, "group.id": "judge", "isolation.level": isolation}
        )
        for topic in ("input", "output"):
            partitions = [TopicPartition(topic, each) for each in range(PARTITIONS)]
            ends = [consumer.get_watermark_offsets(each, timeout=30)[1] for each in partitions]
            print(f"{topic}, {isolation}: ends {ends}")
        consumer.close()


def play(trio: Trio, ends: Sequence[int]) -> bool:
    """Whether each record was counted once, in order."""
    bootstrap = ",".join(trio.addresses.values())
    create(bootstrap, ["input", "output"])
    with tempfile.TemporaryDirectory(prefix="streams-", ignore_cleanup_errors=True) as state:
        application = start(bootstrap, str(Path(state)))
        try:
            sent = produce(bootstrap, trio, ends)
            counts = read_counts(bootstrap, sent)
            read = sum(map(len, counts.values()))
            is_right = read == sent and all(
                each == list(range(1, len(each) + 1)) for each in counts.values()
            )
            print(
                f"{read} counts of {sent} records: {'right' if is_right else 'wrong'}", flush=True
            )
            if not is_right:
                show_state(bootstrap, application)
            return is_right
        finally:
            application.kill()
            application.wait()


def main(where: str, rounds: str = "1", ends: str = "") -> None:
    killed = [int(each) for each in ends.split(",") if each]
    outcomes = []
    for _ in range(int(rounds)):
        with kafka_trio() if where == "kafka" else our_trio() as trio:
            outcomes.append(play(trio, killed))
    print(f"{sum(outcomes)} of {len(outcomes)} rounds were right")


if __name__ == "__main__":
    main(*sys.argv[1:])
