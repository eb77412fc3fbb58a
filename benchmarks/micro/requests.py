"""The cost of small requests in the dispatcher and their handlers, without sockets.

    python -m benchmarks.micro.requests [--beside TREE] [--rounds 8] [--only produce fetch]

Each case is one frame with one topic and one partition, served repeatedly by a broker in its own
process, on a temporary directory. With `--beside`, a second checkout of the project is measured
too, in alternation, so that other load affects both equally. Processor microseconds per request,
including system calls, best of all rounds: compare columns of one run. Compiled modules are not
built here: copy or build them in the other checkout first.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.micro.timing import table

HERE = Path(__file__).parents[2]
TOPIC, GROUP = "topic-a", "group-a"
SYNCED, UNCACHED = "topic-synced", "topic-uncached"  # flush.messages=1; read long ago
REPEATS = 8  # in one round
TURNS = 15
REQUESTS_PER_TURN = 20  # of the event loop
MEMORY_FOLDER = "/dev/shm"  # a disk would make appends differ from run to run


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--beside", type=Path, help="another checkout of the project")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--only", nargs="+", choices=sorted(FRAMES), default=list(FRAMES))
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(arguments.only)))
        return
    trees = [HERE] if arguments.beside is None else [arguments.beside, HERE]
    best = [dict.fromkeys(arguments.only, float("inf")) for _ in trees]
    for _ in range(arguments.rounds):
        for tree, found in zip(trees, best, strict=True):
            for name, us in measured(tree, arguments.only).items():
                found[name] = min(found[name], us)
    print(show(best))


def show(best: list[dict[str, float]]) -> str:
    here = best[-1]
    if len(best) == 1:
        return table("Requests, us a request", ("", "here"), list(here.items()))
    rows = [(name, us, here[name], f"{here[name] / us:.2f}") for name, us in best[0].items()]
    return table("Requests, us a request", ("", "beside", "here", "ratio"), rows)


def measured(tree: Path, names: list[str]) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.micro.requests", "--measure", "--only", *names]
    environment = {**os.environ, "PYTHONPATH": str(tree.absolute() / "src")}
    done = subprocess.run(command, check=True, cwd=HERE, env=environment, stdout=subprocess.PIPE)
    found: dict[str, float] = json.loads(done.stdout)
    return found


# In the separate process. Only names that exist in older checkouts are used here.


def measure(names: list[str]) -> dict[str, float]:
    folder = MEMORY_FOLDER if os.path.isdir(MEMORY_FOLDER) else None
    with tempfile.TemporaryDirectory(dir=folder) as directory:
        return asyncio.run(measure_all(names, directory))


async def measure_all(names: list[str], directory: str) -> dict[str, float]:
    from ottla.base.clock import SystemClock
    from ottla.broker.broker import Broker
    from ottla.config.load import load_config

    settings = [
        "listeners=PLAINTEXT://127.0.0.1:0",
        f"log.dirs={directory}",
        "group.initial.rebalance.delay.ms=0",
    ]
    files = module("ottla.base.files.disk", "ottla.base.disk").DiskFileSystem()
    broker = Broker(load_config(settings=settings), files=files, clock=SystemClock(), rng=Random(7))
    await broker.open()
    running = asyncio.ensure_future(broker.run())
    try:
        client = Client(broker)
        await prepare(client)
        return {name: await best_us(client, name) for name in names}
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


class Client:
    """A client and its state."""

    def __init__(self, broker: Any) -> None:
        self.broker = broker
        self.listener_name, self.peer_host, self.peer_port = "PLAINTEXT", "127.0.0.1", 50_000
        self.session: Any = None
        dispatch = module("ottla.handlers.serving.dispatch", "ottla.handlers.dispatch")
        self._dispatcher = dispatch.Dispatcher(broker.parts)
        self._dispatcher.opened(self)
        self.member_id, self.generation_id = "", -1

    async def serve(self, frame: bytes) -> list[Any]:
        from ottla.network.request_server import Answer

        served: Any = self._dispatcher.serve(memoryview(bytearray(frame)), self)
        while not isinstance(served, Answer):
            served = await served.answer
        return served.segments

    async def ask(self, request: Any, version: int) -> Any:
        from ottla.protocol.api_keys import ApiKey
        from ottla.protocol.headers import decode_response_header
        from ottla.protocol.messages import response_class

        key = ApiKey(request.API_KEY)
        segments = await self.serve(frame_of(request, version))
        frame = memoryview(b"".join(map(bytes, segments)))[4:]
        _, at = decode_response_header(key, version, frame)
        return response_class(key).decode(frame, version, at)


def module(now: str, before: str) -> Any:
    """Where it is now, or where it was."""
    try:
        return import_module(now)
    except ModuleNotFoundError:
        return import_module(before)


def frame_of(request: Any, version: int) -> bytes:
    from ottla.protocol.api_keys import ApiKey
    from ottla.protocol.headers import encode_request

    return b"".join(encode_request(ApiKey(request.API_KEY), version, 1, "client", request))[4:]


async def prepare(client: Client) -> None:
    """Topics with one batch, and a group with one member and one committed offset."""
    from ottla.protocol.messages.create_topics_request import (
        CreatableTopic,
        CreatableTopicConfig,
        CreateTopicsRequest,
    )
    from ottla.protocol.messages.sync_group_request import (
        SyncGroupRequest,
        SyncGroupRequestAssignment,
    )

    synced = [CreatableTopicConfig("flush.messages", "1")]
    topics = [
        CreatableTopic(TOPIC, 1, 1),
        CreatableTopic(SYNCED, 1, 1, configs=synced),
        CreatableTopic(UNCACHED, 1, 1),
    ]
    await client.ask(CreateTopicsRequest(topics, 30000), 7)
    await client.serve(produce_frame(client))
    await client.serve(produce_frame(client, topic=UNCACHED))
    client.broker.replicas.partition(UNCACHED, 0).log.roll()
    await client.serve(find_coordinator_frame(client))  # which creates the topic of groups
    async with asyncio.timeout(60):
        while (answer := await join(client)).error_code:
            client.member_id = answer.member_id
            await asyncio.sleep(0.05)  # the coordinator is being loaded
    client.member_id, client.generation_id = answer.member_id, answer.generation_id
    assignment = [SyncGroupRequestAssignment(client.member_id, b"all")]
    request = SyncGroupRequest(
        GROUP, client.generation_id, client.member_id, None, "consumer", "range", assignment
    )
    assert not (await client.ask(request, 5)).error_code
    await client.serve(offset_commit_frame(client))


async def join(client: Client) -> Any:
    from ottla.protocol.messages.join_group_request import (
        JoinGroupRequest,
        JoinGroupRequestProtocol,
    )

    request = JoinGroupRequest(
        GROUP, 1_800_000, 60_000, client.member_id, None, "consumer",
        [JoinGroupRequestProtocol("range", b"")],
    )  # fmt: skip
    return await client.ask(request, 7)


async def best_us(client: Client, name: str) -> float:
    best, frame = float("inf"), FRAMES[name](client)
    before = partial(forget_files, client) if name == "fetch-uncached" else None
    for _ in range(REPEATS):
        begin = time.process_time()
        for _ in range(TURNS):
            for _ in range(REQUESTS_PER_TURN):
                if before is not None:
                    before()
                await client.serve(frame)
            await asyncio.sleep(0)
        best = min(best, time.process_time() - begin)
    return best / (TURNS * REQUESTS_PER_TURN) * 1e6


def forget_files(client: Client) -> None:
    """As if the first segment had not been read for long: its files are opened and its records
    verified again, in a thread."""
    segment = client.broker.replicas.partition(UNCACHED, 0).log.segments[0]
    segment.close()
    segment.verified.clear()


def metadata_frame(_: Client) -> bytes:
    from ottla.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic

    return frame_of(MetadataRequest([MetadataRequestTopic(name=TOPIC)]), 12)


def produce_frame(_: Client, acks: int = 1, topic: str = TOPIC) -> bytes:
    from ottla.protocol.messages import produce_request as messages
    from ottla.protocol.records.building import build_batch
    from ottla.protocol.records.record import Record

    now_ms = time.time_ns() // 1_000_000
    records = build_batch([Record(0, now_ms, b"k", b"value", ())])
    data = messages.TopicProduceData(
        topic, partition_data=[messages.PartitionProduceData(0, records)]
    )
    return frame_of(messages.ProduceRequest(None, acks, 1000, [data]), 9)


def produce_all_frame(client: Client) -> bytes:
    return produce_frame(client, acks=-1)


def produce_synced_frame(client: Client) -> bytes:
    return produce_frame(client, acks=-1, topic=SYNCED)


def fetch_frame(_: Client, session_epoch: int = -1, topic: str = TOPIC) -> bytes:
    from ottla.protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic

    request = FetchRequest(
        max_wait_ms=0, min_bytes=1, max_bytes=1 << 20, session_epoch=session_epoch,
        topics=[FetchTopic(topic, partitions=[FetchPartition(0, -1, 0, -1, -1, 1000)])],
    )  # fmt: skip
    return frame_of(request, 12)


def fetch_uncached_frame(client: Client) -> bytes:
    return fetch_frame(client, topic=UNCACHED)


def list_offsets_frame(_: Client) -> bytes:
    from ottla.protocol.messages.list_offsets_request import (
        ListOffsetsPartition,
        ListOffsetsRequest,
        ListOffsetsTopic,
    )

    topic = ListOffsetsTopic(TOPIC, [ListOffsetsPartition(0, -1, -1)])
    return frame_of(ListOffsetsRequest(-1, 0, [topic]), 7)


def offset_commit_frame(client: Client) -> bytes:
    from ottla.protocol.messages.offset_commit_request import (
        OffsetCommitRequest,
        OffsetCommitRequestPartition,
        OffsetCommitRequestTopic,
    )

    partition = OffsetCommitRequestPartition(0, 1, -1, "")
    request = OffsetCommitRequest(
        GROUP, client.generation_id, client.member_id,
        topics=[OffsetCommitRequestTopic(TOPIC, partitions=[partition])],
    )  # fmt: skip
    return frame_of(request, 8)


def offset_fetch_frame(_: Client) -> bytes:
    from ottla.protocol.messages.offset_fetch_request import (
        OffsetFetchRequest,
        OffsetFetchRequestGroup,
        OffsetFetchRequestTopics,
    )

    group = OffsetFetchRequestGroup(
        GROUP, topics=[OffsetFetchRequestTopics(TOPIC, partition_indexes=[0])]
    )
    return frame_of(OffsetFetchRequest(groups=[group]), 8)


def heartbeat_frame(client: Client) -> bytes:
    from ottla.protocol.messages.heartbeat_request import HeartbeatRequest

    return frame_of(HeartbeatRequest(GROUP, client.generation_id, client.member_id), 4)


def find_coordinator_frame(_: Client) -> bytes:
    from ottla.protocol.messages.find_coordinator_request import FindCoordinatorRequest

    return frame_of(FindCoordinatorRequest(key_type=0, coordinator_keys=[GROUP]), 4)


FRAMES: dict[str, Callable[[Client], bytes]] = {
    "metadata": metadata_frame,
    "produce": produce_frame,
    "produce-all": produce_all_frame,
    "produce-synced": produce_synced_frame,
    "fetch": fetch_frame,
    "fetch-uncached": fetch_uncached_frame,
    "list-offsets": list_offsets_frame,
    "offset-commit": offset_commit_frame,
    "offset-fetch": offset_fetch_frame,
    "heartbeat": heartbeat_frame,
    "find-coordinator": find_coordinator_frame,
}


if __name__ == "__main__":
    main()
