"""Requests and responses as complete frames: length, header, body.

The header depends on API and version: flexible versions have tagged fields in it, except the
response to ApiVersions, so that clients of any version can read it.
"""

from __future__ import annotations

import struct
from struct import Struct
from typing import NoReturn

from ottla.protocol.api_keys import APIS, ApiKey
from ottla.protocol.errors import MalformedMessage
from ottla.protocol.framing import LENGTH_BYTES, finish_frame
from ottla.protocol.message import FrameSegment, Message
from ottla.protocol.messages.request_header import RequestHeader
from ottla.protocol.messages.response_header import ResponseHeader
from ottla.protocol.primitives import read_nullable_string, skip_tags

_KEY_AND_VERSION = Struct(">hh")
_unpack_request = Struct(">hhi").unpack_from  # key, version, correlation id
_CLIENT_ID_POSITION = 8
_write_length = Struct(">i").pack_into
_pack_response_v0 = Struct(">ii").pack  # placeholder for the length, correlation id
_pack_response_v1 = Struct(">iix").pack  # and empty tagged fields
_NEVER = 1 << 15  # greater than any version
_HEADER_TAGS_MAX = 1000  # decoded on the event loop, and no client sends any yet
_API_KEYS = {int(key): key for key in ApiKey}


class UnknownApi(MalformedMessage):
    """An unknown API key: the header cannot be decoded without it."""


def request_header_version(key: ApiKey, version: int) -> int:
    flexible_from = APIS[key].flexible_from
    return 2 if flexible_from is not None and version >= flexible_from else 1


def response_header_version(key: ApiKey, version: int) -> int:
    if key == ApiKey.API_VERSIONS:
        return 0
    return request_header_version(key, version) - 1


# Lookup tables, used for every request and response.
_TAGS_FROM: dict[ApiKey, int] = {
    key: _NEVER if api.flexible_from is None else api.flexible_from for key, api in APIS.items()
}
_ANSWER_TAGS_FROM = _TAGS_FROM | {ApiKey.API_VERSIONS: _NEVER}


def decode_request_header(frame: memoryview) -> tuple[ApiKey, int, int, str | None, int]:
    """(API, version, correlation id, client id, start of the body).

    The version may be unsupported.
    """
    try:
        number, version, correlation_id = _unpack_request(frame)
        key = _API_KEYS[number]
        client_id, at = read_nullable_string(frame, _CLIENT_ID_POSITION)
        if version >= _TAGS_FROM[key]:
            at = skip_tags(frame, at, _HEADER_TAGS_MAX) if frame[at] else at + 1
    except (MalformedMessage, struct.error, LookupError, UnicodeDecodeError):
        refuse_request_header(frame)
    return key, version, correlation_id, client_id, at


def refuse_request_header(frame: memoryview) -> NoReturn:
    """MalformedMessage with the reason."""
    if len(frame) < _KEY_AND_VERSION.size:
        raise MalformedMessage(f"a request of {len(frame)} bytes has no room for its header")
    number, version = _KEY_AND_VERSION.unpack_from(frame)
    key = _API_KEYS.get(number)
    if key is None:
        raise UnknownApi(f"unknown API key {number}")
    RequestHeader.decode_bounded(frame, request_header_version(key, version), 0, _HEADER_TAGS_MAX)
    raise AssertionError("a header that can be read was refused")


def encode_response(
    key: ApiKey, version: int, correlation_id: int, response: Message
) -> list[FrameSegment]:
    """A complete frame; records are separate segments."""
    pack = _pack_response_v1 if version >= _ANSWER_TAGS_FROM[key] else _pack_response_v0
    out = bytearray(pack(0, correlation_id))
    segments = response.encode_segments(version, out)
    if len(segments) == 1:  # the usual case
        _write_length(out, 0, len(out) - LENGTH_BYTES)
    else:
        finish_frame(out, segments)
    return segments


def encode_request(
    key: ApiKey, version: int, correlation_id: int, client_id: str | None, request: Message
) -> list[FrameSegment]:
    """A complete frame, for our own client and between brokers."""
    header = RequestHeader(int(key), version, correlation_id, client_id)
    out = bytearray(4)
    out += header.encode(request_header_version(key, version))
    segments = request.encode_segments(version, out)
    finish_frame(out, segments)
    return segments


def decode_response_header(key: ApiKey, version: int, frame: memoryview) -> tuple[int, int]:
    """(correlation id, start of the body)."""
    header, at = ResponseHeader.decode_prefix(frame, response_header_version(key, version))
    return header.correlation_id, at
