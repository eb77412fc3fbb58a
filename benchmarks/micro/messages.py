"""The cost of decoding a request and encoding a response, compared with two other codecs; and
imports.

    python -m benchmarks.micro.messages

Every case creates the objects that it encodes. Microseconds of processor time, best of several
repeats: compare the columns of one run. The goals are for one idle core.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from benchmarks.micro.timing import REPEATS, best_of, table

RECORDS = os.urandom(16 * 1024)
MEGABYTE = memoryview(bytearray(1024 * 1024))
TOPIC_ID = UUID(int=7)
NO_TIME = timedelta(0)

CODECS = ("ottla", "kio", "kafka-python")

Run = Callable[[], object]


@dataclass(frozen=True)
class Case:
    name: str
    goal_us: float | None
    runs: dict[str, Run]  # by codec


def main() -> None:
    if sys.argv[1:2] == ["--imports"]:
        print(json.dumps(import_times(sys.argv[2])))
        return
    print(codec_table())
    print(import_table())


# Codecs


def codec_table() -> str:
    cases = (produce_request, produce_answer, fetch_request, fetch_answer, metadata_answer)
    rows = [case_row(case()) for case in (*cases, kept_metadata_answer)]
    columns = ("", "goal", *CODECS, "kio / ottla", "kafka-python / ottla")
    return table("Messages, us a call", columns, rows)


def case_row(case: Case) -> tuple[object, ...]:
    best = {codec: best_of(run) * 1e6 for codec, run in case.runs.items()}
    others = [best.get(codec) for codec in CODECS[1:]]
    ratios = [f"{us / best['ottla']:.1f}" if us else "" for us in others]
    goal = case.goal_us if case.goal_us is not None else ""
    return case.name, goal, best["ottla"], *(us or "" for us in others), *ratios


def produce_request() -> Case:
    from kafka.protocol.producer import ProduceRequest as TheirRequest

    from ottla.protocol.messages import produce_request as ours

    data = ours.PartitionProduceData(0, RECORDS)
    topic = ours.TopicProduceData("topic-a", partition_data=[data])
    frame = ours.ProduceRequest(None, 1, 30000, [topic]).encode(9)
    kio_read = kio_reader(0, 9)
    return Case(
        "decode Produce 9, 16 KiB of records",
        4.0,
        {
            "ottla": lambda: ours.ProduceRequest.decode(frame, 9),
            "kio": lambda: kio_read(frame, 0),
            "kafka-python": lambda: TheirRequest.decode(frame, version=9),
        },
    )


def produce_answer() -> Case:
    from kafka.protocol.producer import ProduceResponse as TheirResponse
    from kio.schema.errors import ErrorCode
    from kio.schema.produce.v9 import response as kio
    from kio.serial import entity_writer

    from ottla.protocol.messages import produce_response as ours

    write = entity_writer(kio.ProduceResponse)
    theirs = TheirResponse.TopicProduceResponse

    def kio_encode() -> bytes:
        partition = kio.PartitionProduceResponse(
            index=0, error_code=ErrorCode.none, base_offset=12345, log_append_time=None,
            log_start_offset=0, record_errors=(),
        )  # fmt: skip
        topic = kio.TopicProduceResponse(name="topic-a", partition_responses=(partition,))
        out = io.BytesIO()
        write(out, kio.ProduceResponse(responses=(topic,), throttle_time=NO_TIME))
        return out.getvalue()

    def kafka_python_encode() -> bytes:
        partition = theirs.PartitionProduceResponse(
            version=9, index=0, error_code=0, base_offset=12345, log_append_time_ms=-1,
            log_start_offset=0, record_errors=[], error_message=None,
        )  # fmt: skip
        topic = theirs(version=9, name="topic-a", partition_responses=[partition])
        answer = TheirResponse(version=9, responses=[topic], throttle_time_ms=0)
        return bytes(answer.encode(version=9))

    def encode() -> list[Any]:
        partition = ours.PartitionProduceResponse(0, 0, 12345, -1, 0)
        topic = ours.TopicProduceResponse("topic-a", partition_responses=[partition])
        return ours.ProduceResponse([topic], 0).encode_segments(9, bytearray(8))

    assert b"".join(encode())[8:] == kio_encode() == kafka_python_encode()
    runs: dict[str, Run] = {"ottla": encode, "kio": kio_encode, "kafka-python": kafka_python_encode}
    return Case("build and encode a Produce answer 9", 3.0, runs)


def fetch_request() -> Case:
    from kafka.protocol.consumer import FetchRequest as TheirRequest

    from ottla.protocol.messages import fetch_request as ours

    partitions = [ours.FetchPartition(at, 1, 5, 0, 0, 1000) for at in range(10)]
    topics = [ours.FetchTopic(f"t{number}", partitions=partitions) for number in range(10)]
    frame = ours.FetchRequest(max_wait_ms=5, topics=topics).encode(12)
    kio_read = kio_reader(1, 12)
    return Case(
        "decode Fetch 12, 10 topics of 10",
        None,
        {
            "ottla": lambda: ours.FetchRequest.decode(frame, 12),
            "kio": lambda: kio_read(frame, 0),
            "kafka-python": lambda: TheirRequest.decode(frame, version=12),
        },
    )


def fetch_answer() -> Case:
    from kafka.protocol.consumer import FetchResponse as TheirResponse
    from kio.schema.errors import ErrorCode
    from kio.schema.fetch.v12 import response as kio
    from kio.serial import entity_writer

    from ottla.protocol.messages import fetch_response as ours

    write = entity_writer(kio.FetchResponse)
    records = bytes(MEGABYTE)
    theirs = TheirResponse.FetchableTopicResponse

    def kio_encode() -> bytes:
        partition = kio.PartitionData(
            partition_index=0, error_code=ErrorCode.none, high_watermark=100,
            last_stable_offset=100, log_start_offset=0, aborted_transactions=None,
            preferred_read_replica=-1, records=records,
        )  # fmt: skip
        topic = kio.FetchableTopicResponse(topic="topic-a", partitions=(partition,))
        out = io.BytesIO()
        answer = kio.FetchResponse(
            throttle_time=NO_TIME, error_code=ErrorCode.none, session_id=0, responses=(topic,)
        )
        write(out, answer)
        return out.getvalue()

    def kafka_python_encode() -> bytes:
        partition = theirs.PartitionData(
            version=12, partition_index=0, error_code=0, high_watermark=100,
            last_stable_offset=100, log_start_offset=0, aborted_transactions=None,
            preferred_read_replica=-1, records=records,
        )  # fmt: skip
        topic = theirs(version=12, topic="topic-a", partitions=[partition])
        answer = TheirResponse(
            version=12, throttle_time_ms=0, error_code=0, session_id=0, responses=[topic]
        )
        return bytes(answer.encode(version=12))

    def encode() -> list[Any]:
        partition = ours.PartitionData(
            0, 0, 100, 100, 0, aborted_transactions=None, records=MEGABYTE
        )
        topic = ours.FetchableTopicResponse("topic-a", partitions=[partition])
        return ours.FetchResponse(responses=[topic]).encode_segments(12, bytearray(8))

    assert b"".join(encode())[8:] == kio_encode() == kafka_python_encode()
    runs: dict[str, Run] = {"ottla": encode, "kio": kio_encode, "kafka-python": kafka_python_encode}
    return Case("build and encode a Fetch answer 12, 1 MiB", 12.0, runs)


def our_metadata() -> Any:
    from ottla.protocol.messages import metadata_response as ours

    def topic(name: str) -> Any:
        partitions = [
            ours.MetadataResponsePartition(0, at, at % 3, 5, [0, 1, 2], [0, 1, 2], [])
            for at in range(10)
        ]
        return ours.MetadataResponseTopic(0, name, TOPIC_ID.bytes, False, partitions)

    brokers = [ours.MetadataResponseBroker(number, "host", 9092) for number in range(3)]
    topics = [topic(f"topic-{number}") for number in range(100)]
    return ours.MetadataResponse(0, brokers, "cluster", 1, topics)


def metadata_answer() -> Case:
    runs: dict[str, Run] = {
        "ottla": lambda: our_metadata().encode(12),
        "kio": kio_metadata(),
        "kafka-python": kafka_python_metadata(),
    }
    assert runs["ottla"]() == runs["kio"]() == runs["kafka-python"]()
    return Case("build and encode Metadata 12, 100 of 10", 4000.0, runs)


def kio_metadata() -> Run:
    from kio.schema.errors import ErrorCode
    from kio.schema.metadata.v12 import response as kio
    from kio.serial import entity_writer

    write = entity_writer(kio.MetadataResponse)
    nodes = (0, 1, 2)

    def topic(name: str) -> Any:
        partitions = tuple(
            kio.MetadataResponsePartition(
                error_code=ErrorCode.none, partition_index=at, leader_id=at % 3, leader_epoch=5,
                replica_nodes=nodes, isr_nodes=nodes, offline_replicas=(),
            )
            for at in range(10)
        )  # fmt: skip
        return kio.MetadataResponseTopic(
            error_code=ErrorCode.none, name=name, topic_id=TOPIC_ID, is_internal=False,
            partitions=partitions,
        )  # fmt: skip

    def encode() -> bytes:
        brokers = tuple(
            kio.MetadataResponseBroker(node_id=n, host="host", port=9092, rack=None) for n in nodes
        )
        answer = kio.MetadataResponse(
            throttle_time=NO_TIME, brokers=brokers, cluster_id="cluster", controller_id=1,
            topics=tuple(topic(f"topic-{number}") for number in range(100)),
        )  # fmt: skip
        out = io.BytesIO()
        write(out, answer)
        return out.getvalue()

    return encode


def kafka_python_metadata() -> Run:
    from kafka.protocol.metadata import MetadataResponse as TheirResponse

    theirs = TheirResponse.MetadataResponseTopic
    nodes = [0, 1, 2]

    def topic(name: str) -> Any:
        partitions = [
            theirs.MetadataResponsePartition(
                version=12, error_code=0, partition_index=at, leader_id=at % 3, leader_epoch=5,
                replica_nodes=nodes, isr_nodes=nodes, offline_replicas=[],
            )
            for at in range(10)
        ]  # fmt: skip
        return theirs(
            version=12, error_code=0, name=name, topic_id=TOPIC_ID, is_internal=False,
            partitions=partitions,
        )  # fmt: skip

    def encode() -> bytes:
        brokers = [
            TheirResponse.MetadataResponseBroker(
                version=12, node_id=n, host="host", port=9092, rack=None
            )
            for n in nodes
        ]
        answer = TheirResponse(
            version=12, throttle_time_ms=0, brokers=brokers, cluster_id="cluster", controller_id=1,
            topics=[topic(f"topic-{number}") for number in range(100)],
        )  # fmt: skip
        return bytes(answer.encode(version=12))

    return encode


def kept_metadata_answer() -> Case:
    answer = our_metadata()
    for topic in answer.topics:
        topic.keep()
    return Case("  the same from remembered topics", None, {"ottla": lambda: answer.encode(12)})


def kio_reader(api_key: int, version: int) -> Any:
    import kio.index
    import kio.serial

    return kio.serial.entity_reader(kio.index.load_request_schema(api_key, version))


# Imports


def import_table() -> str:
    rows = []
    for what in ("broker", "all"):
        with tempfile.TemporaryDirectory() as bytecode:
            imported(what, bytecode)
            runs = [imported(what, bytecode) for _ in range(REPEATS)]
        best = min(runs, key=lambda run: sum(run.values()))
        slowest = max(best, key=lambda name: best[name])
        rows.append((what, len(best), sum(best.values()), f"{slowest} {best[slowest]:.2f}"))
    title = "Imports of the message modules one by one, ms (from bytecode, as when installed)"
    return table(title, ("", "modules", "together", "slowest"), rows)


def imported(what: str, bytecode: str) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.micro.messages", "--imports", what]
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {**kept, "PYTHONPYCACHEPREFIX": bytecode}
    done = subprocess.run(command, check=True, capture_output=True, env=environment)
    times: dict[str, float] = json.loads(done.stdout)
    return times


def import_times(what: str) -> dict[str, float]:
    """Each message module separately, after the modules that all of them import."""
    import pkgutil
    from importlib import import_module

    import ottla.protocol.messages
    import ottla.protocol.primitives
    from ottla.protocol.api_keys import APIS

    names = [found.name for found in pkgutil.iter_modules(ottla.protocol.messages.__path__)]
    if what == "broker":
        served = {api.module for api in APIS.values() if api.on_broker}
        names = [
            f"{module}_{part}" for module in sorted(served) for part in ("request", "response")
        ]
    times = {}
    for name in names:
        begin = time.thread_time()
        import_module(f"ottla.protocol.messages.{name}")
        times[name] = (time.thread_time() - begin) * 1e3
    return times


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # kafka-python, while it is loaded
        main()
