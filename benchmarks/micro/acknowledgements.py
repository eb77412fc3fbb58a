"""What a Produce with acks=all costs that waits for a slow follower.

    python -m benchmarks.micro.acknowledgements [--beside TREE] [--rounds 5] [--late-ms 50]

A broker serves clients over sockets; the clients are another process, and only the broker's
processor time is measured, system calls included. The follower is simulated: every `--late-ms` the
high watermark of each partition is moved to where its log ended the time before. Until then all
requests of all connections wait: 2,048 of them by default. With `--beside`, a second checkout of
the project is measured too: the two take turns. Processor microseconds a request, best of all
rounds: compare columns of one run.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.micro.requests import HERE, MEMORY_FOLDER, Client, frame_of, module
from benchmarks.micro.timing import table

TOPIC = "topic-a"
ME, FOLLOWER = 1, 2
CASES = {"1 partition a request": 1, "4 partitions a request": 4}
REPEATS = 4  # of one case, in one process
TIMEOUT_MS = 60_000
GC_THRESHOLDS = (700, 10, 5)  # of a process that runs only a broker


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--beside", type=Path, help="another checkout of the project")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--late-ms", type=int, default=50)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--depth", type=int, default=64, help="requests of a connection that wait")
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--produce", type=int, nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(arguments)))
    elif arguments.produce is not None:
        port, partitions = arguments.produce
        produce(port, partitions, arguments)
    else:
        compare(arguments)


def compare(arguments: argparse.Namespace) -> None:
    trees = [HERE] if arguments.beside is None else [arguments.beside, HERE]
    best = [dict.fromkeys(CASES, float("inf")) for _ in trees]
    for _ in range(arguments.rounds):
        for tree, found in zip(trees, best, strict=True):
            for name, us in measured(tree).items():
                found[name] = min(found[name], us)
    waiting = arguments.connections * arguments.depth
    title = f"Produce with acks=all, {waiting:,} waiting for {arguments.late_ms} ms, us a request"
    if len(best) == 1:
        print(table(title, ("", "here"), list(best[0].items())))
        return
    rows = [(name, us, best[1][name], f"{best[1][name] / us:.2f}") for name, us in best[0].items()]
    print(table(title, ("", "beside", "here", "ratio"), rows))


def measured(tree: Path) -> dict[str, float]:
    command = [
        sys.executable,
        "-m",
        "benchmarks.micro.acknowledgements",
        *sys.argv[1:],
        "--measure",
    ]
    environment = {**os.environ, "PYTHONPATH": str(tree.absolute() / "src")}
    done = subprocess.run(command, check=True, cwd=HERE, env=environment, stdout=subprocess.PIPE)
    found: dict[str, float] = json.loads(done.stdout)
    return found


# The broker. Only names that older checkouts have are used here.


def measure(arguments: argparse.Namespace) -> dict[str, float]:
    gc.set_threshold(*GC_THRESHOLDS)
    folder = MEMORY_FOLDER if os.path.isdir(MEMORY_FOLDER) else None
    with tempfile.TemporaryDirectory(dir=folder) as directory:
        return asyncio.run(measure_all(arguments, directory))


async def measure_all(arguments: argparse.Namespace, directory: str) -> dict[str, float]:

    from ottla.base.clock import SystemClock
    from ottla.broker.broker import Broker
    from ottla.config.load import load_config

    settings = ["listeners=PLAINTEXT://127.0.0.1:0", f"log.dirs={directory}"]
    files = module("ottla.base.files.disk", "ottla.base.disk").DiskFileSystem()
    broker = Broker(load_config(settings=settings), files=files, clock=SystemClock(), rng=Random(7))
    await broker.open()
    running = [asyncio.ensure_future(broker.run())]
    try:
        partitions = await led_partitions(broker, arguments.partitions)
        running.append(asyncio.ensure_future(follow(partitions, arguments.late_ms / 1000)))
        (port,) = broker.ports.values()
        return {name: await best_us(port, count, arguments) for name, count in CASES.items()}
    finally:
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def led_partitions(broker: Any, count: int) -> list[Any]:
    """Partitions of which another broker has a copy, as far as this one knows."""
    from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
    from ottla.replication.leadership import Leadership

    await Client(broker).ask(CreateTopicsRequest([CreatableTopic(TOPIC, count, 1)], 30000), 7)
    partitions = [broker.replicas.partition(TOPIC, index) for index in range(count)]
    for each in partitions:
        both = (ME, FOLLOWER)
        each.lead_or_follow(Leadership(ME, 1, 1, both, both), 0)
    return partitions


async def follow(partitions: list[Any], late_s: float) -> None:
    ends = [0] * len(partitions)
    while True:
        await asyncio.sleep(late_s)
        for at, partition in enumerate(partitions):
            leader_end = partition.log.log_end_offset
            partition.leader_state.followers[FOLLOWER].fetched(ends[at], 0, leader_end, 0)
            ends[at] = leader_end
            partition.advance()


async def best_us(port: int, partitions: int, arguments: argparse.Namespace) -> float:
    """The client process writes a line after each repeat; the first one is not counted."""
    command = ["-m", "benchmarks.micro.acknowledgements", "--produce", str(port), str(partitions)]
    sizes = ["--connections", arguments.connections, "--depth", arguments.depth]
    command += [*map(str, sizes), "--partitions", str(arguments.partitions)]
    producing = await asyncio.create_subprocess_exec(
        sys.executable, *command, stdout=subprocess.PIPE
    )
    assert producing.stdout is not None
    best, begin = float("inf"), 0.0
    for repeat in range(REPEATS + 1):
        if not await producing.stdout.readline():
            raise RuntimeError("the client has failed")
        if repeat:
            best = min(best, time.process_time() - begin)
        begin = time.process_time()
    await producing.wait()
    requests: int = arguments.connections * arguments.depth
    return best / requests * 1e6


# The client


def produce(port: int, partitions: int, arguments: argparse.Namespace) -> None:
    connections = [
        socket.create_connection(("127.0.0.1", port)) for _ in range(arguments.connections)
    ]
    frames = [
        b"".join(
            produce_frame([(number + each) % arguments.partitions for each in range(partitions)])
            for _ in range(arguments.depth)
        )
        for number in range(arguments.connections)
    ]
    for _ in range(REPEATS + 1):
        for connection, data in zip(connections, frames, strict=True):
            connection.sendall(data)
        for connection in connections:
            receive(connection, arguments.depth)
        print("done", flush=True)


def produce_frame(indexes: list[int]) -> bytes:
    from ottla.protocol.messages import produce_request as messages
    from ottla.protocol.records.building import build_batch
    from ottla.protocol.records.record import Record

    records = build_batch([Record(0, time.time_ns() // 1_000_000, b"k", b"value", ())])
    data = [messages.PartitionProduceData(each, records) for each in indexes]
    topic = messages.TopicProduceData(TOPIC, partition_data=data)
    frame = frame_of(messages.ProduceRequest(None, -1, TIMEOUT_MS, [topic]), 9)
    return len(frame).to_bytes(4) + frame


def receive(connection: socket.socket, responses: int) -> None:
    data = bytearray()
    while responses:
        data += connection.recv(1 << 16) or exit_with("the broker has closed a connection")
        while len(data) >= 4 and len(data) >= (end := 4 + int.from_bytes(data[:4])):
            del data[:end]
            responses -= 1


def exit_with(message: str) -> bytes:
    sys.exit(message)


if __name__ == "__main__":
    main()
