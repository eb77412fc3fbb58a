"""Bytes that an attacker chose: every message and version answers MalformedMessage, or decodes.

Never another exception, and neither memory nor work by a number in the frame.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Iterator
from random import Random
from types import FrameType
from typing import Any

import pytest
from tests.support.message_pieces import Piece, hostile_numbers, joined, pieces_of
from tests.support.message_values import (
    FULL,
    NULLS,
    all_messages,
    draw_value,
    message_class,
    message_named,
)
from tools.messages.schema import MessageSchema

from ottla.protocol.errors import MalformedMessage
from ottla.protocol.messages.metadata_request import MetadataRequest
from ottla.protocol.messages.request_header import RequestHeader

NAMES = [message.name for message in all_messages()]
KIB = 1024
ALLOCATED_BYTES_MAX = 1024 * KIB


def whole_messages(name: str) -> Iterator[tuple[MessageSchema, int, list[Piece]]]:
    """A message of every version with all fields set, in pieces."""
    message = message_named(name)
    for version in message.versions:
        for shape in (FULL, NULLS):
            value = draw_value(message, version, Random(name), shape)
            yield message, version, pieces_of(message, version, value)


def with_hostile_numbers(pieces: list[Piece]) -> Iterator[bytes]:
    """Replace one count, length, tag or size after the other by an implausible one."""
    for position, piece in enumerate(pieces):
        if piece.width is not None:
            before, after = joined(pieces[:position]), joined(pieces[position + 1 :])
            for number in hostile_numbers(piece.width):
                yield before + number + after
                yield before + number


def decode_or_refuse(message: MessageSchema, version: int, data: bytes) -> bool:
    """Whether it was refused; any exception but the typed one ends the test."""
    try:
        message_class(message).decode(data, version)
    except MalformedMessage:
        return True
    return False


@pytest.mark.parametrize("name", NAMES)
def test_impossible_counts_and_lengths_are_refused_or_decode(name: str) -> None:
    for message, version, pieces in whole_messages(name):
        for data in with_hostile_numbers(pieces):
            decode_or_refuse(message, version, data)


@pytest.mark.parametrize("name", NAMES)
def test_a_message_cut_anywhere_is_refused(name: str) -> None:
    for message, version, pieces in whole_messages(name):
        data = joined(pieces)
        accepted = [
            end for end in range(len(data)) if not decode_or_refuse(message, version, data[:end])
        ]
        assert accepted == []


@pytest.mark.parametrize("name", NAMES)
def test_bytes_behind_a_message_are_refused(name: str) -> None:
    for message, version, pieces in whole_messages(name):
        for rest in (b"\x00", b"\xff", bytes(100)):
            assert decode_or_refuse(message, version, joined(pieces) + rest)


@pytest.mark.parametrize("name", NAMES)
def test_text_that_is_not_utf_8_has_signs_in_its_place(name: str) -> None:
    for message, version, pieces in whole_messages(name):
        for position, piece in enumerate(pieces):
            if piece.kind == "text" and piece.data:
                bad = Piece("text", b"\xc3" * len(piece.data))
                changed = [*pieces[:position], bad, *pieces[position + 1 :]]
                decoded = message_class(message).decode(joined(changed), version)
                assert "\ufffd" * len(piece.data) in repr(decoded)


@pytest.mark.parametrize("name", NAMES)
def test_flipped_bits_are_refused_or_decode(name: str) -> None:
    random = Random(name)
    for message, version, pieces in whole_messages(name):
        data = bytearray(joined(pieces))
        for _ in range(20 if data else 0):
            position, bit = random.randrange(len(data)), 1 << random.randrange(8)
            data[position] ^= bit
            decode_or_refuse(message, version, bytes(data))
            data[position] ^= bit


def test_two_thousand_million_tags_are_refused_in_every_section() -> None:
    for name in NAMES:
        for message, version, pieces in whole_messages(name):
            for position, piece in enumerate(pieces):
                if piece.kind == "tag count":
                    before = joined(pieces[:position])
                    data = before + b"\xff\xff\xff\xff\x07" + joined(pieces[position + 1 :])
                    assert decode_or_refuse(message, version, data)


def test_a_hostile_number_allocates_nothing_to_speak_of() -> None:
    """A sample: measuring makes decoding many times slower."""
    random = Random("sample")
    frames = [
        (message, version, data)
        for name in NAMES
        for message, version, pieces in whole_messages(name)
        for data in list(with_hostile_numbers(pieces))[:: random.randint(20, 60)]
    ]
    for message, _, _ in frames:
        message_class(message)  # loading the module is not part of the measurement
    assert len(frames) > 1000
    worst = max(allocated_bytes(*frame) for frame in frames)
    assert worst < ALLOCATED_BYTES_MAX


def allocated_bytes(message: MessageSchema, version: int, data: bytes) -> int:
    tracemalloc.start()
    try:
        decode_or_refuse(message, version, data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


STEPS_MAX = 100_000  # lines of code: 10 ms of a Python that takes 100 ns for one
STEPS_OF_ANY = 300  # whatever the frame: the fields of a message, and its error
STEPS_OF_A_BYTE = 4


def test_a_hostile_number_costs_no_work_to_speak_of() -> None:
    """Counted, not timed: the work grows with the bytes that came, not with what they claim."""
    random = Random("steps")
    for name in NAMES:
        for message, version, pieces in whole_messages(name):
            message_class(message)
            frames = [joined(pieces), *with_hostile_numbers(pieces)]
            for data in random.sample(frames, min(2, len(frames))):
                steps = steps_to_decode(message, version, data)
                assert steps < STEPS_OF_ANY + STEPS_OF_A_BYTE * len(data), (name, version, data)
                assert steps < STEPS_MAX


def steps_to_decode(message: MessageSchema, version: int, data: bytes) -> int:
    """How many lines of code run."""
    lines = 0

    def count(_frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal lines
        lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        decode_or_refuse(message, version, data)
    finally:
        sys.settrace(before)
    return lines


METADATA_BOMB = bytes.fromhex("030000033c0c00b6")


@pytest.mark.parametrize("version", MetadataRequest.VERSIONS)
def test_eight_bytes_of_metadata_ask_for_no_memory(version: int) -> None:
    """As a body of any version, and as a whole frame behind its header."""
    message = message_named("MetadataRequest")
    assert decode_or_refuse(message, version, METADATA_BOMB)
    assert allocated_bytes(message, version, METADATA_BOMB) < 64 * KIB
    assert steps_to_decode(message, version, METADATA_BOMB) < STEPS_OF_ANY
    for header_version in RequestHeader.VERSIONS:
        decode_or_refuse(message_named("RequestHeader"), header_version, METADATA_BOMB)


def test_an_array_of_the_smallest_items_costs_no_more_than_its_bytes_allow() -> None:
    """A count is believed as far as the frame is long: here every item is two bytes."""
    topics = 20_000
    data = b"\xa1\x9c\x01" + b"\x01\x00" * topics + b"\x00\x00\x00\x00"
    request = MetadataRequest.decode(data, 9)
    assert request.topics is not None
    assert len(request.topics) == topics
    one_more = b"\xa2\x9c\x01" + data[3:-4]
    assert decode_or_refuse(message_named("MetadataRequest"), 9, one_more)
