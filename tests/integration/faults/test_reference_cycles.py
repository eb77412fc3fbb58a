"""What a request or a connection leaves behind is freed without the garbage collector.

A broker freezes objects that survive a full pass, so that a reference cycle among objects that live
for some seconds is never freed.
"""

from __future__ import annotations

import asyncio
import gc
import socket
import struct
import threading
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.integration.faults.expensive_requests import attacks, read_answer

from ottla.broker.broker import Broker
from ottla.config.load import load_config
from ottla.controller.decision import check_count
from ottla.handlers.serving import decoding
from ottla.protocol.headers import encode_request
from ottla.protocol.message import Message

ITEMS = 2_100  # more than are decoded on the event loop
OBJECTS_MAX = 20  # of a few small cycles, which do not grow with the request
TIMEOUT_S = 60.0


@pytest.mark.ci
def test_no_request_leaves_reference_cycles(tmp_path: Path) -> None:
    found = asyncio.run(find_cycles(tmp_path, set()))
    assert found == {}


def test_no_request_that_the_controller_rejects_leaves_reference_cycles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its error passes through a future that is a local variable of a frame in its traceback."""
    monkeypatch.setattr(check_count, "__defaults__", (1,))
    names = {"DELETE_TOPICS", "CREATE_PARTITIONS", "ELECT_LEADERS", "UPDATE_FEATURES"}
    found = asyncio.run(find_cycles(tmp_path, names))
    assert found == {}


def test_no_request_that_cannot_be_decoded_leaves_reference_cycles(tmp_path: Path) -> None:
    found = asyncio.run(find_cycles(tmp_path, {"METADATA", "CREATE_TOPICS"}, cut_bytes=10))
    assert found == {}


async def find_cycles(
    directory: Path, only: set[str], cut_bytes: int = 0
) -> dict[str, list[tuple[str, int]]]:
    """The kinds of objects in cycles, by the request that left them."""
    settings = ["listeners=PLAINTEXT://127.0.0.1:0", f"log.dirs={directory}"]
    broker = Broker(load_config(settings=settings))
    await broker.open()
    running = asyncio.create_task(broker.run())
    await broker.ready()
    found = {}
    try:
        (port,) = broker.ports.values()
        for each in attacks(only):
            request = each.hostile.make(ITEMS)
            frame = b"".join(encode_request(each.key, each.version, 1, "client", request))
            frame = (len(frame) - 4 - cut_bytes).to_bytes(4, "big") + frame[
                4 : len(frame) - cut_bytes
            ]
            del request
            kinds = await kinds_in_cycles(broker, port, frame)
            if kinds.total() > OBJECTS_MAX:
                found[str(each)] = kinds.most_common(6)
    finally:
        running.cancel()
        await asyncio.wait([running])
    return found


async def kinds_in_cycles(broker: Broker, port: int, frame: bytes) -> Counter[str]:
    gc.collect()
    gc.disable()
    try:
        await asyncio.to_thread(send, port, frame)
        while broker.network.connections:
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.01)  # what was cancelled ends
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        return Counter(type(each).__name__ for each in gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def send(port: int, frame: bytes) -> None:
    with socket.create_connection(("127.0.0.1", port), TIMEOUT_S) as connection:
        try:
            connection.sendall(frame)
            read_answer(connection)
        except OSError:
            pass  # it was refused, and the connection closed


def test_no_client_that_leaves_while_its_request_waits_to_be_decoded_leaves_cycles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task keeps its CancelledError, and so the frames that it was cancelled in."""
    continues = threading.Event()
    decode = decoding.decode_large

    def decode_later(
        request: type[Message], frame: memoryview, version: int, at: int
    ) -> decoding.DecodedRequest:
        continues.wait(TIMEOUT_S)
        return decode(request, frame, version, at)

    monkeypatch.setattr(decoding, "decode_large", decode_later)
    assert asyncio.run(find_cycles_of_leaving_clients(tmp_path, continues)) == {}


async def find_cycles_of_leaving_clients(
    directory: Path, continues: threading.Event
) -> dict[str, int]:
    settings = ["listeners=PLAINTEXT://127.0.0.1:0", f"log.dirs={directory}"]
    broker = Broker(load_config(settings=settings))
    await broker.open()
    running = asyncio.create_task(broker.run())
    await broker.ready()
    (port,) = broker.ports.values()
    request = next(attacks({"METADATA"}))
    frame = b"".join(
        encode_request(request.key, request.version, 1, "client", request.hostile.make(ITEMS))
    )
    gc.collect()
    gc.disable()
    try:
        await asyncio.to_thread(send_and_leave, port, frame, 3, broker, continues)
        await asyncio.sleep(0.1)
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        kinds = Counter(type(each).__name__ for each in gc.garbage)
        return dict(kinds) if kinds.total() > OBJECTS_MAX else {}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
        running.cancel()
        await asyncio.wait([running])


def send_and_leave(
    port: int, frame: bytes, count: int, broker: Broker, continues: threading.Event
) -> None:
    """The first request is being decoded, the others are queued."""
    with ExitStack() as connections:
        for _ in range(count):
            client = socket.create_connection(("127.0.0.1", port), TIMEOUT_S)
            # Closed with a reset: after an ordinary end, requests are still answered.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connections.enter_context(client).sendall(frame)
        while len(broker.network.connections) < count:
            time.sleep(0.001)
        time.sleep(0.2)  # all have arrived
    deadline_s = time.monotonic() + 10.0
    while broker.network.connections and time.monotonic() < deadline_s:
        time.sleep(0.001)
    continues.set()
    assert not broker.network.connections
