"""The cost of a request in the network layer, and of a megabyte from a file.

    python benchmarks/micro/network.py [--seconds 1] [--repeats 3] [--loops asyncio uvloop]

The server runs in its own process, on the given event loop. Small requests (100 bytes, responses of
60) go to `bare`, a BufferedProtocol that only splits frames and writes one response for each, and
to `network`, ours. Large responses (1 MB of a file in the page cache) use `sendfile` and `pread`.
The best of several repeats counts; the cases alternate, so that other load affects all equally.
"""

from __future__ import annotations

import argparse
import asyncio
import errno
import importlib
import json
import os
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NoReturn, cast

REQUEST = (96).to_bytes(4, "big") + bytes(96)
ANSWER = (56).to_bytes(4, "big") + bytes(56)
FILE_BYTES = 1_000_000
SHAPES = [(1, 1), (1, 5), (16, 1), (16, 5), (16, 50)]


@dataclass
class Figures:
    per_s: float
    cpu_us: float

    def better(self, other: Figures | None) -> Figures:
        if other is None:
            return self
        return Figures(max(self.per_s, other.per_s), min(self.cpu_us, other.cpu_us))


# The server


class BareProtocol(asyncio.BufferedProtocol):
    """The minimal server for frames of one known size: the cost of the event loop itself."""

    def __init__(self) -> None:
        self._buffer = bytearray(256 * 1024)
        self._view = memoryview(self._buffer)
        self._end = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002
        return self._view[self._end :]

    def buffer_updated(self, nbytes: int) -> None:
        self._end += nbytes
        answers, start = [], 0
        while self._end - start >= 4:
            behind = start + 4 + int.from_bytes(self._buffer[start : start + 4], "big")
            if behind > self._end:
                break
            answers.append(ANSWER)
            start = behind
        self._buffer[: self._end - start] = self._buffer[start : self._end]
        self._end -= start
        self._transport.writelines(answers)


async def serve(kind: str, path: str) -> None:
    loop = asyncio.get_running_loop()
    if kind == "bare":
        server = await loop.create_server(BareProtocol, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        running = asyncio.ensure_future(server.serve_forever())
    else:
        network = new_network(kind, path)
        await network.open()
        port = network.listeners["PLAINTEXT"].port
        running = asyncio.ensure_future(network.run())
    await asyncio.sleep(0)  # now it listens
    print(port, flush=True)
    loop.add_reader(sys.stdin, report_cpu)
    await running


def report_cpu() -> None:
    if not sys.stdin.readline():
        os._exit(0)
    print(time.process_time(), flush=True)


def new_network(kind: str, path: str):  # type: ignore[no-untyped-def]
    from ottla.base.files.disk import DiskFileSystem
    from ottla.base.memory.allocator import keep_freed_memory
    from ottla.network import sender
    from ottla.network.network import Network
    from ottla.network.request_server import Answer
    from ottla.network.settings import ListenerSettings, NetworkSettings
    from ottla.storage.files.file_range import FileRange

    if kind == "kept memory":
        assert keep_freed_memory()
    if kind == "pread":  # as under TLS
        setattr(sender.Sender, "_file_send_of", refuse_sendfile)  # noqa: B010
    file = DiskFileSystem().open(path) if path else None
    header = bytearray(FILE_BYTES.to_bytes(4, "big"))

    class Server:
        def opened(self, connection: object) -> None: ...
        def closed(self, connection: object) -> None: ...

        def serve(self, frame: memoryview, connection: object) -> Answer:  # noqa: ARG002
            if file is None:
                return Answer([ANSWER])
            return Answer([header, FileRange(file, 0, FILE_BYTES)])

    listener = ListenerSettings("PLAINTEXT", "127.0.0.1")
    return Network(NetworkSettings((listener,)), Server())


def refuse_sendfile(*_: object) -> NoReturn:
    raise OSError(errno.EOPNOTSUPP, "not here")


# The client


@contextmanager
def server_process(kind: str, loop: str, path: str = "") -> Iterator[tuple[int, ServerProcess]]:
    process = ServerProcess([kind, loop, path])
    try:
        yield process.port, process
    finally:
        process.close()


class ServerProcess:
    def __init__(self, arguments: list[str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--serve", json.dumps(arguments)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.port = int(self._readline())

    def cpu_s(self) -> float:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return float(self._readline())

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def _readline(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


def connect(port: int) -> socket.socket:
    sock = socket.create_connection(("127.0.0.1", port))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def measure(
    server: ServerProcess,
    connections: int,
    depth: int,
    seconds: float,
    answer_bytes: int,
    request: bytes = REQUEST,
) -> Figures:
    """Keep `depth` requests in flight on each connection for the given time."""
    selector = selectors.EpollSelector()
    received: dict[object, int] = {}
    sockets = [connect(server.port) for _ in range(connections)]
    for sock in sockets:
        selector.register(sock, selectors.EVENT_READ)
        received[sock] = 0
        sock.sendall(request * depth)
    scratch, answers = bytearray(1 << 20), 0
    begin_s, begin_cpu_s = time.perf_counter(), server.cpu_s()
    while time.perf_counter() - begin_s < seconds:
        for key, _ in selector.select():
            sock = cast(socket.socket, key.fileobj)
            whole, received[sock] = divmod(received[sock] + sock.recv_into(scratch), answer_bytes)
            if whole:
                answers += whole
                sock.sendall(request * whole)
    taken_s, cpu_s = time.perf_counter() - begin_s, server.cpu_s() - begin_cpu_s
    for sock in sockets:
        sock.close()
    selector.close()
    return Figures(answers / taken_s, cpu_s / max(1, answers) * 1e6)


def compare(
    kinds: list[str],
    shape: tuple[int, int],
    arguments: argparse.Namespace,
    loop: str,
    path: str = "",
    request: bytes = REQUEST,
) -> dict[str, Figures]:
    best: dict[str, Figures] = {}
    answer_bytes = 4 + FILE_BYTES if path else len(ANSWER)
    for _ in range(arguments.repeats):
        for kind in kinds:
            with server_process(kind, loop, path) as (_, server):
                measure(server, *shape, arguments.seconds / 10, answer_bytes, request)  # warm up
                found = measure(server, *shape, arguments.seconds, answer_bytes, request)
            best[kind] = found.better(best.get(kind))
    return best


def show_small(loop: str, arguments: argparse.Namespace) -> None:
    print(f"\nsmall requests, {loop}: requests/s (CPU us per request)")
    print(f"{'connections, depth':20}{'bare':>20}{'network':>20}{'cost over bare':>16}")
    for shape in SHAPES:
        best = compare(["bare", "network"], shape, arguments, loop)
        cells = [f"{each.per_s:,.0f} ({each.cpu_us:.1f})" for each in best.values()]
        extra_us = best["network"].cpu_us - best["bare"].cpu_us
        print(f"{shape!s:20}{cells[0]:>20}{cells[1]:>20}{extra_us:>13.1f} us", flush=True)


def show_large_requests(loop: str, arguments: argparse.Namespace) -> None:
    print(f"\n1 MB requests, {loop}: MB/s (CPU us per MB)")
    print(f"{'connections, depth':20}{'network':>20}{'kept memory':>20}")
    request = FILE_BYTES.to_bytes(4, "big") + bytes(FILE_BYTES)
    for shape in ((1, 1), (4, 1)):
        best = compare(["network", "kept memory"], shape, arguments, loop, request=request)
        cells = [f"{each.per_s:,.0f} ({each.cpu_us:.0f})" for each in best.values()]
        print(f"{shape!s:20}{cells[0]:>20}{cells[1]:>20}", flush=True)


def show_large_answers(loop: str, arguments: argparse.Namespace) -> None:
    print(f"\n1 MB answers of a file, {loop}: MB/s (CPU us per MB)")
    print(f"{'connections, depth':20}{'sendfile':>20}{'pread':>20}")
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "records")
        with open(path, "wb") as file:
            file.write(os.urandom(FILE_BYTES))
        for shape in ((1, 1), (4, 1)):
            best = compare(["sendfile", "pread"], shape, arguments, loop, path)
            cells = [f"{each.per_s:,.0f} ({each.cpu_us:.0f})" for each in best.values()]
            print(f"{shape!s:20}{cells[0]:>20}{cells[1]:>20}", flush=True)


def run_server(kind: str, loop: str, path: str) -> None:
    if loop == "uvloop":
        importlib.import_module("uvloop").run(serve(kind, path))
    else:
        asyncio.run(serve(kind, path))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--loops", nargs="+", default=["asyncio"], choices=["asyncio", "uvloop"])
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        run_server(*json.loads(arguments.serve))
        return
    for loop in arguments.loops:
        show_small(loop, arguments)
        show_large_requests(loop, arguments)
        show_large_answers(loop, arguments)


if __name__ == "__main__":
    main()
