"""Whole frames: header versions by API and version, and what both sides make of them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.protocol.api_keys import APIS, ApiKey
from ottla.protocol.errors import MalformedMessage
from ottla.protocol.headers import (
    UnknownApi,
    decode_request_header,
    decode_response_header,
    encode_request,
    encode_response,
    request_header_version,
    response_header_version,
)
from ottla.protocol.messages.api_versions_request import ApiVersionsRequest
from ottla.protocol.messages.api_versions_response import ApiVersionsResponse
from ottla.protocol.messages.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from ottla.protocol.messages.metadata_request import MetadataRequest
from ottla.protocol.messages.request_header import RequestHeader


def test_requests_and_responses_turn_flexible_together() -> None:
    for key, api in APIS.items():
        assert api.flexible_from == api.response_flexible_from, key


@pytest.mark.parametrize("version", [0, 2, 3, 4])
def test_the_answer_to_api_versions_never_has_tags_in_its_header(version: int) -> None:
    assert response_header_version(ApiKey.API_VERSIONS, version) == 0
    frame = b"".join(encode_response(ApiKey.API_VERSIONS, version, 7, ApiVersionsResponse()))
    assert frame[4:8] == bytes([0, 0, 0, 7])
    assert ApiVersionsResponse.decode(frame, version, 8) == ApiVersionsResponse()


def test_an_api_versions_request_of_a_future_version_still_has_a_readable_header() -> None:
    frame = b"".join(encode_request(ApiKey.API_VERSIONS, 4, 9, "me", ApiVersionsRequest()))
    future = frame[4:6] + (99).to_bytes(2, "big") + frame[8:]
    assert decode_request_header(memoryview(future))[:4] == (18, 99, 9, "me")


@pytest.mark.parametrize("version", [0, 8, 9, 13])
def test_a_request_frame_is_read_back(version: int) -> None:
    request = MetadataRequest()
    frame = memoryview(b"".join(encode_request(ApiKey.METADATA, version, -5, None, request)))
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    *header, at = decode_request_header(frame[4:])
    assert header == [ApiKey.METADATA, version, -5, None]
    assert request_header_version(ApiKey.METADATA, version) == (2 if version >= 9 else 1)
    assert MetadataRequest.decode(frame[4:], version, at) == request


def test_records_pass_through_a_response_frame_untouched() -> None:
    records = memoryview(bytearray(1000))
    partition = PartitionData(partition_index=3, records=records)
    response = FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[partition])])
    segments = encode_response(ApiKey.FETCH, 12, 1, response)
    assert any(segment is records for segment in segments)
    frame = memoryview(b"".join(segments))
    correlation_id, at = decode_response_header(ApiKey.FETCH, 12, frame[4:])
    assert correlation_id == 1
    assert FetchResponse.decode(frame[4:], 12, at) == response


@pytest.mark.parametrize("frame", [b"", b"\0", b"\0\x03\0"])
def test_a_frame_too_short_for_a_header_is_malformed(frame: bytes) -> None:
    with pytest.raises(MalformedMessage):
        decode_request_header(memoryview(frame))


@pytest.mark.parametrize("key", [-1, 4, 7, 93, 500])
def test_an_unknown_key_is_named(key: int) -> None:
    with pytest.raises(UnknownApi, match=str(key)):
        decode_request_header(memoryview(key.to_bytes(2, "big", signed=True) + bytes(20)))


@given(
    st.sampled_from(list(APIS)),
    st.integers(-(2**15), 2**15 - 1),
    st.integers(-(2**31), 2**31 - 1),
    st.none() | st.text(max_size=300),
    st.integers(0, 400),
)
def test_headers_are_read_as_their_schema_has_them(
    key: ApiKey, version: int, correlation_id: int, client_id: str | None, size: int
) -> None:
    """Whole ones and such that are cut off, with the same complaint."""
    header = RequestHeader(int(key), version, correlation_id, client_id)
    form = request_header_version(key, version)
    frame = memoryview(header.encode(form)[:size])
    try:
        _, end = RequestHeader.decode_prefix(frame, form)
    except MalformedMessage as error:
        with pytest.raises(MalformedMessage, match=None if size < 4 else re.escape(str(error))):
            decode_request_header(frame)
    else:
        expected = (key, version, correlation_id, client_id, end)
        assert decode_request_header(frame) == expected
