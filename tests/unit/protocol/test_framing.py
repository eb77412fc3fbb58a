"""Frames come out as they went in, however the stream is cut, and cost what has arrived."""

import random

import pytest

from ottla.protocol.errors import MalformedMessage
from ottla.protocol.framing import READ_BYTES_MAX, TIGHT_BYTES, FrameReader, Scratch

MIB = 1024 * 1024


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body


def feed(reader: FrameReader, data: bytes) -> list[bytes]:
    frames = []
    while data:
        buffer = reader.next_buffer()
        count = min(len(buffer), len(data))
        buffer[:count] = data[:count]
        frames += [bytes(frame) for frame in reader.received(count)]
        data = data[count:]
    return frames


def test_two_frames_in_one_piece_come_out_in_order() -> None:
    assert feed(FrameReader(100), framed(b"one") + framed(b"two")) == [b"one", b"two"]


def test_a_stream_cut_at_every_byte_gives_the_same_frames() -> None:
    bodies = [b"", b"a", b"b" * 5000, b"c" * 17]
    stream = b"".join(map(framed, bodies))
    reader = FrameReader(10_000)
    got = [frame for byte in stream for frame in feed(reader, bytes([byte]))]
    assert got == bodies


@pytest.mark.parametrize("seed", range(20))
def test_random_frames_in_random_pieces_survive(seed: int) -> None:
    rng = random.Random(seed)
    bodies = [rng.randbytes(rng.choice([0, 3, 200, 9000, 300_000])) for _ in range(20)]
    stream, reader, got = b"".join(map(framed, bodies)), FrameReader(MIB), []
    while stream:
        cut = rng.choice([1, 7, 1000, 70_000])
        got += feed(reader, stream[:cut])
        stream = stream[cut:]
    assert got == bodies


def test_a_frame_handed_out_is_not_written_again() -> None:
    reader = FrameReader(MIB)
    kept = []
    for number in range(500):
        data = framed(bytes([number % 256]) * 100)
        while data:
            buffer = reader.next_buffer()
            count = min(len(buffer), len(data))
            buffer[:count] = data[:count]
            kept += reader.received(count)
            data = data[count:]
    assert [bytes(frame) for frame in kept] == [bytes([n % 256]) * 100 for n in range(500)]


@pytest.mark.parametrize("length", [-1, -(2**31), 101, 2**31 - 1])
def test_an_impossible_length_is_refused(length: int) -> None:
    with pytest.raises(MalformedMessage, match="announced"):
        feed(FrameReader(100), length.to_bytes(4, "big", signed=True))


def test_a_large_announcement_costs_nothing_until_it_arrives() -> None:
    reader = FrameReader(100 * MIB)
    feed(reader, (90 * MIB).to_bytes(4, "big") + b"0123456789")
    assert reader.has_partial_frame
    assert reader.held_bytes == reader.partial_bytes == 14


def test_the_buffer_never_exceeds_twice_what_has_arrived_of_a_large_frame() -> None:
    reader = FrameReader(100 * MIB)
    sent = 4
    feed(reader, (90 * MIB).to_bytes(4, "big"))
    while sent < 8 * MIB:
        feed(reader, bytes(64 * 1024))
        sent += 64 * 1024
        assert len(reader.next_buffer()) <= max(sent, 256 * 1024)
        assert sent <= reader.held_bytes <= 2 * sent


def test_a_stream_with_nothing_outstanding_holds_no_memory() -> None:
    reader = FrameReader(MIB)
    feed(reader, framed(bytes(MIB)) + framed(bytes(70_000)) + framed(b"small"))
    assert not reader.has_partial_frame
    assert reader.held_bytes == 0


@pytest.mark.parametrize("seed", range(10))
def test_streams_that_share_a_scratch_do_not_mix(seed: int) -> None:
    rng, scratch = random.Random(seed), Scratch()
    readers = [FrameReader(MIB, scratch) for _ in range(3)]
    bodies = [
        [bytes([stream]) * rng.choice([1, 40, 9000, 70_000, 400_000]) for _ in range(12)]
        for stream in range(3)
    ]
    left = [b"".join(map(framed, each)) for each in bodies]
    got: list[list[bytes]] = [[], [], []]
    while any(left):
        stream, cut = rng.randrange(3), rng.choice([1, 7, 1000, 70_000])
        got[stream] += feed(readers[stream], left[stream][:cut])
        left[stream] = left[stream][cut:]
    assert got == bodies


def test_a_frame_can_be_changed_in_place_without_touching_another() -> None:
    reader, frames, data = FrameReader(MIB), [], framed(b"one") + framed(b"two")
    reader.next_buffer()[: len(data)] = data
    frames += reader.received(len(data))
    frames[0][:] = b"ONE"
    assert [bytes(frame) for frame in frames] == [b"ONE", b"two"]


def test_growth_is_what_reading_on_takes_and_no_more() -> None:
    reader = FrameReader(100 * MIB)
    assert (reader.announced_bytes, reader.growth_bytes) == (0, 0)
    feed(reader, b"\0")
    assert (reader.announced_bytes, reader.growth_bytes) == (0, 0)  # not known yet
    reader = FrameReader(100 * MIB)
    feed(reader, framed(bytes(60_000))[:100])
    assert (reader.announced_bytes, reader.growth_bytes) == (60_004, 59_904)
    reader = FrameReader(100 * MIB)
    feed(reader, framed(bytes(500_000))[:100])
    assert (reader.announced_bytes, reader.growth_bytes) == (500_004, 500_004 - 100)
    feed(reader, bytes(100_000))
    assert (reader.held_bytes, reader.growth_bytes) == (500_004, 0)  # it has its room


def test_a_large_frame_grows_by_what_it_says() -> None:
    reader = FrameReader(100 * MIB)
    feed(reader, (50 * MIB).to_bytes(4, "big"))
    growths = 0
    while reader.held_bytes < 50 * MIB:
        before, growth = reader.held_bytes, reader.growth_bytes
        assert growth > 0
        feed(reader, bytes(10_000))
        assert reader.held_bytes <= before + growth
        while not reader.growth_bytes and reader.held_bytes < 50 * MIB:
            feed(reader, bytes(len(reader.next_buffer())))
        growths += 1
    assert growths > 5


def test_the_buffer_of_a_large_frame_grows_by_one_read_at_a_time() -> None:
    reader, sent = FrameReader(100 * MIB), 300_000
    frame = bytes(range(250)) * (40 * MIB // 250)
    feed(reader, framed(frame)[:sent])
    frames: list[memoryview] = []
    while not frames:
        assert sent <= len(reader._large or b"") < sent + READ_BYTES_MAX
        view = reader.next_buffer()
        assert 0 < len(view) <= READ_BYTES_MAX
        assert 0 < reader.grown_bytes <= READ_BYTES_MAX
        assert len(reader.next_buffer(1000)) <= 1000
        view[:] = frame[sent - 4 : sent - 4 + len(view)]
        sent += (count := len(view))
        view.release()
        frames = reader.received(count)
    assert frames == [frame]


def test_where_memory_is_tight_little_is_read_and_a_large_frame_takes_no_room() -> None:
    reader, data = FrameReader(100 * MIB), framed(bytes(50 * MIB))
    for start in range(4):
        view = reader.next_buffer(is_tight=True)
        assert len(view) == TIGHT_BYTES
        view[:] = data[start * TIGHT_BYTES : (start + 1) * TIGHT_BYTES]
        assert reader.received(len(view)) == []
        assert reader.held_bytes == (start + 1) * TIGHT_BYTES
    assert len(reader.next_buffer(is_tight=True)) == 1  # never empty


def test_small_frames_pass_where_memory_is_tight() -> None:
    reader, data = FrameReader(100 * MIB), framed(b"one") + framed(bytes(40_000)) + framed(b"two")
    got = []
    while data:
        view = reader.next_buffer(is_tight=True)
        count = min(len(view), len(data))
        view[:count] = data[:count]
        got += [bytes(frame) for frame in reader.received(count)]
        data = data[count:]
    assert got == [b"one", bytes(40_000), b"two"]
