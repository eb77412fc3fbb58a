"""What a request or a connection leaves behind is freed without the garbage collector.

A broker freezes objects that survive a full pass, so that a reference cycle among objects that live
for some seconds is never freed.
"""

from __future__ import annotations

import asyncio
import gc
import socket
from collections import Counter
from pathlib import Path

import pytest
from tests.integration.faults.expensive_requests import attacks, read_answer

from ottla.broker.broker import Broker
from ottla.config.load import load_config
from ottla.controller.decision import check_count
from ottla.protocol.headers import encode_request

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
