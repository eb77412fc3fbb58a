"""Ranges of files reach the client whole and in order, or the connection ends."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.integration.network.harness import (
    LOOPS,
    RunningNetwork,
    network_settings,
    running,
)

from ottla.base.files.disk import DiskFileSystem
from ottla.base.files.filesystem import File
from ottla.network import file_send
from ottla.network.request_server import Answer, FrameSegment
from ottla.network.settings import ConnectionSettings, ListenerSettings, NetworkSettings
from ottla.storage.files.file_range import FileRange
from ottla.testing.filesystem import MemoryDisk

MIB = 1024 * 1024
CONTENT = random.Random(5).randbytes(6 * MIB)


@pytest.fixture(params=LOOPS)
def network(request: pytest.FixtureRequest) -> Iterator[RunningNetwork]:
    with running(loop_kind=request.param) as network:
        yield network


@pytest.fixture
def file(tmp_path: Path) -> Iterator[File]:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(CONTENT)
    file = DiskFileSystem().open(str(path))
    yield file
    file.close()


def descriptors_of(path: str) -> int:
    """How often this file is open here: other tests' clients open and close theirs meanwhile."""
    count = 0
    for descriptor in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # closed by now
            count += os.readlink(f"/proc/self/fd/{descriptor}") == path
    return count


def serve_segments(network: RunningNetwork, segments: Callable[[], list[FrameSegment]]) -> None:
    """Answer a frame that begins with F with these, and the length in front."""

    def answer(body: bytes, connection: object) -> Answer:
        parts = segments()
        return Answer([sum(map(len, parts)).to_bytes(4, "big"), *parts])

    network.server.script(b"F", answer)


def expected(segments: list[FrameSegment]) -> bytes:
    return b"".join(
        CONTENT[part.position : part.position + part.size]
        if isinstance(part, FileRange)
        else bytes(part)
        for part in segments
    )


@pytest.mark.parametrize("size", [0, 1, 1000, 65_535, 65_536, 65_537, MIB, 5 * MIB])
def test_a_range_of_any_size_arrives_between_its_neighbours(
    network: RunningNetwork, file: File, size: int
) -> None:
    segments: list[FrameSegment] = [b"before", FileRange(file, 12_345, size), b"behind"]
    serve_segments(network, lambda: segments)
    client = network.connect()
    client.send(b"F", b"next", b"F")
    assert client.receive() == expected(segments)
    assert client.receive() == b"next"
    assert client.receive() == expected(segments)


@pytest.mark.parametrize("seed", range(4))
def test_many_ranges_with_headers_between_them_keep_their_order(
    network: RunningNetwork, file: File, seed: int
) -> None:
    rng = random.Random(seed)
    answers = [random_segments(rng, file) for _ in range(12)]
    left = iter(answers)
    serve_segments(network, lambda: next(left))
    client = network.connect()
    client.send(*[b"F"] * len(answers))
    for segments in answers:
        assert client.receive() == expected(segments)


def random_segments(rng: random.Random, file: File) -> list[FrameSegment]:
    segments: list[FrameSegment] = []
    for _ in range(rng.randrange(1, 8)):
        segments.append(rng.randbytes(rng.choice([1, 30, 4000, 200_000])))
        size = rng.choice([0, 10, 40_000, 70_000, 900_000])
        segments.append(FileRange(file, rng.randrange(len(CONTENT) - size), size))
    return segments


def test_descriptors_are_given_back(network: RunningNetwork, file: File) -> None:
    serve_segments(network, lambda: [FileRange(file, 0, MIB)])
    before = descriptors_of(file.path)
    client = network.connect()
    for _ in range(5):
        client.ask(b"F")
    client.close()
    network.wait_until(lambda: not network.network.connections)
    network.wait_until(lambda: descriptors_of(file.path) == before)


def test_a_client_that_leaves_in_the_middle_of_a_file_leaves_nothing_behind(
    network: RunningNetwork, file: File
) -> None:
    segments: list[FrameSegment] = [FileRange(file, 0, 6 * MIB)] * 20
    serve_segments(network, lambda: segments)
    before = descriptors_of(file.path)
    client = network.connect()
    client.send(b"F")
    client.receive_bytes(100_000)
    client.close()
    network.wait_until(lambda: not network.network.connections)
    network.wait_until(lambda: descriptors_of(file.path) == before)


def test_a_client_that_stops_reading_a_file_is_dropped(file: File) -> None:
    settings = network_settings(ConnectionSettings(unread_ms=100))
    with running(settings) as network:
        segments: list[FrameSegment] = [FileRange(file, 0, 6 * MIB)] * 20
        serve_segments(network, lambda: segments)
        before = descriptors_of(file.path)
        client = network.connect()
        client.send(b"F")
        client.receive_bytes(100_000)
        network.wait_until(lambda: not network.network.connections)
        client.close()
        network.wait_until(lambda: descriptors_of(file.path) == before)


@pytest.mark.parametrize("size", [10_000, 3 * MIB])
def test_a_file_that_shrank_ends_the_connection_after_the_bytes_it_has(
    network: RunningNetwork, file: File, size: int, caplog: pytest.LogCaptureFixture
) -> None:
    file.truncate(size // 2)
    serve_segments(network, lambda: [FileRange(file, 0, size), b"never"])
    client = network.connect()
    client.send(b"F")
    received = client.receive_to_the_end()
    assert received[4:] == CONTENT[: len(received[4:])]
    assert len(received) <= 4 + size // 2  # none of them is made up
    network.wait_until(lambda: not network.network.connections)
    network.wait_until(lambda: "could not be read" in caplog.text)
    assert file.path in caplog.text


@pytest.mark.parametrize("size", [10_000, 3 * MIB])
def test_files_in_memory_are_read_and_written_through(network: RunningNetwork, size: int) -> None:
    file = MemoryDisk().open("records", create=True)
    file.write_at(0, CONTENT)
    serve_segments(network, lambda: [b"before", FileRange(file, 7, size), b"behind"])
    client = network.connect()
    for _ in range(2):
        assert client.ask(b"F") == b"before" + CONTENT[7 : 7 + size] + b"behind"


class ColdFile:
    """A file whose bytes are not in the page cache: its readers wait for the disk."""

    def __init__(self, file: File) -> None:
        self._file = file
        self.readers: list[str] = []
        self.may_read = threading.Event()
        self.error: OSError | None = None

    def __getattr__(self, name: str) -> object:
        return getattr(self._file, name)

    def read_cached(self, position: int, size: int) -> bytes | None:
        return None

    def read_at(self, position: int, size: int) -> bytes:
        self.readers.append(threading.current_thread().name)
        self.may_read.wait()
        if self.error is not None:
            raise self.error
        return self._file.read_at(position, size)


def test_a_cold_range_is_read_by_a_thread_while_others_are_served(
    network: RunningNetwork, file: File
) -> None:
    cold = ColdFile(file)
    serve_segments(network, lambda: [b"a", FileRange(cold, 5, 1000), b"b"])  # type: ignore[arg-type]
    client, other = network.connect(), network.connect()
    client.send(b"F", b"next")
    network.wait_until(lambda: len(cold.readers) == 1)
    assert other.ask(b"meanwhile") == b"meanwhile"
    cold.may_read.set()
    assert client.receive() == b"a" + CONTENT[5:1005] + b"b"
    assert client.receive() == b"next"
    assert all(name.startswith("cold-read") for name in cold.readers)
    assert network.network.listeners["PLAINTEXT"].counters.cold_reads == 1


def test_a_disk_that_fails_ends_the_connection(
    network: RunningNetwork, file: File, caplog: pytest.LogCaptureFixture
) -> None:
    cold = ColdFile(file)
    cold.error = OSError(errno.EIO, "the disk is gone")
    cold.may_read.set()
    serve_segments(network, lambda: [b"a", FileRange(cold, 5, 1000), b"b"])  # type: ignore[arg-type]
    client = network.connect()
    client.send(b"F")
    assert client.receive_to_the_end() in (b"", (1002).to_bytes(4, "big") + b"a")
    network.wait_until(lambda: "the disk is gone" in caplog.text)


def test_a_large_range_that_is_really_cold_arrives_whole(
    network: RunningNetwork, tmp_path: Path
) -> None:
    path = tmp_path / "cold"
    path.write_bytes(CONTENT)
    with open(path, "rb") as handle:
        os.fsync(handle.fileno())
        os.posix_fadvise(handle.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    file = DiskFileSystem().open(str(path))
    serve_segments(network, lambda: [FileRange(file, 0, len(CONTENT))])
    assert network.connect().ask(b"F") == CONTENT
    file.close()


def test_a_large_range_that_cannot_be_read_ends_the_connection(
    network: RunningNetwork, file: File, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken = ColdFile(file)
    broken.descriptor = lambda: os.open(tmp_path, os.O_RDONLY)  # type: ignore[attr-defined]
    serve_segments(network, lambda: [FileRange(broken, 0, MIB)])  # type: ignore[arg-type]
    before = descriptors_of(str(tmp_path))
    with network.connect() as client:
        client.send(b"F")
        assert len(client.receive_to_the_end()) <= 4
    network.wait_until(lambda: "could not be read" in caplog.text)
    network.wait_until(lambda: descriptors_of(str(tmp_path)) == before)


@pytest.mark.parametrize("client_leaves", [True, False])
def test_a_descriptor_stays_open_while_a_thread_reads_from_it(
    network: RunningNetwork, file: File, monkeypatch: pytest.MonkeyPatch, client_leaves: bool
) -> None:
    is_reading, may_read = threading.Event(), threading.Event()

    def read_slowly(descriptor: int, position: int, size: int) -> None:
        is_reading.set()
        may_read.wait()
        os.fstat(descriptor)

    monkeypatch.setattr(file_send, "is_cached", lambda *_: False)
    monkeypatch.setattr(file_send, "read_into_cache", read_slowly)
    serve_segments(network, lambda: [FileRange(file, 0, MIB // 2)])
    before = descriptors_of(file.path)
    client = network.connect()
    client.send(b"F")
    is_reading.wait()
    if client_leaves:
        client.reset()
        network.wait_until(lambda: not network.network.connections)
        assert descriptors_of(file.path) == before + 1
    may_read.set()
    if not client_leaves:
        assert client.receive() == CONTENT[: MIB // 2]
        client.close()
    network.wait_until(lambda: descriptors_of(file.path) == before)


@pytest.mark.parametrize("fails_from", [1, 2, 3])
def test_without_a_descriptor_to_spare_files_are_read_and_sent(
    network: RunningNetwork, file: File, monkeypatch: pytest.MonkeyPatch, fails_from: int
) -> None:
    calls, duplicate = itertools.count(1), os.dup

    def exhausted(descriptor: int) -> int:
        if next(calls) >= fails_from:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return duplicate(descriptor)

    monkeypatch.setattr(os, "dup", exhausted)
    segments = random_segments(random.Random(9), file)
    serve_segments(network, lambda: segments)
    client = network.connect()
    client.send(b"F", b"F")
    assert [client.receive(), client.receive()] == [expected(segments)] * 2


def test_a_small_send_buffer_changes_nothing(file: File) -> None:
    listener = ListenerSettings("PLAINTEXT", "127.0.0.1", send_buffer_bytes=8192)
    with running(NetworkSettings((listener,), tick_ms=10)) as network:
        segments = random_segments(random.Random(9), file)
        serve_segments(network, lambda: segments)
        client = network.connect()
        client.send(b"F", b"F")
        assert [client.receive(), client.receive()] == [expected(segments)] * 2
