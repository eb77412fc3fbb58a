"""What every message can do, shown with a few of the generated ones."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from ottla.protocol.errors import MalformedMessage, UnencodableValue
from ottla.protocol.message import UnsupportedVersion
from ottla.protocol.messages.consumer_group_member_metadata_value import (
    ClassicMemberMetadata,
    ConsumerGroupMemberMetadataValue,
)
from ottla.protocol.messages.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    PartitionData,
)
from ottla.protocol.messages.heartbeat_request import HeartbeatRequest
from ottla.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from ottla.protocol.messages.metadata_response import MetadataResponse, MetadataResponseTopic
from ottla.protocol.messages.offset_commit_value import OffsetCommitValue
from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ottla.protocol.primitives import bounded, items_left

HEARTBEAT = HeartbeatRequest("group", 7, "member")


def fetch_response(**partition: object) -> FetchResponse:
    data = PartitionData(0, **partition)  # type: ignore[arg-type]
    return FetchResponse(responses=[FetchableTopicResponse("t", partitions=[data])])


# --- decoding -------------------------------------------------------------------------------


def test_a_message_must_fill_its_bytes_exactly() -> None:
    data = HEARTBEAT.encode(4)
    with pytest.raises(MalformedMessage, match="HeartbeatRequest version 4 ends at byte 19, the"):
        HeartbeatRequest.decode(data + b"\x00", 4)
    with pytest.raises(MalformedMessage, match="HeartbeatRequest version 4: it ends in the middle"):
        HeartbeatRequest.decode(data[:-1], 4)


def test_a_message_may_begin_anywhere_in_the_frame() -> None:
    data = b"header" + HEARTBEAT.encode(4)
    assert HeartbeatRequest.decode(data, 4, at=6) == HEARTBEAT
    assert HeartbeatRequest.decode_prefix(data + b"rest", 4, at=6) == (HEARTBEAT, len(data))


def test_an_unknown_version_is_refused_both_ways() -> None:
    with pytest.raises(UnsupportedVersion, match="HeartbeatRequest has no version 5"):
        HeartbeatRequest.decode(HEARTBEAT.encode(4), 5)
    with pytest.raises(UnsupportedVersion, match="HeartbeatRequest has no version -1"):
        HEARTBEAT.encode(-1)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"gr\xffup", "gr\ufffdup"),
        (b"M\xfcller", "M\ufffdller"),
        (b"\xed\xa0\x80\xed\xb0\x80!", "\ufffd\ufffd!"),
        (b"\xc0\x80", "\ufffd\ufffd"),
        (b"\xe2\x82", "\ufffd"),
    ],
)
@pytest.mark.parametrize("version", [0, 4])
def test_text_that_is_not_utf_8_is_read_as_java_reads_it(
    version: int, raw: bytes, text: str
) -> None:
    same_size = HeartbeatRequest("g" * len(raw), generation_id=3, member_id="member")
    data = same_size.encode(version).replace(b"g" * len(raw), raw)
    assert HeartbeatRequest.decode(data, version).group_id == text


def test_text_that_is_not_utf_8_is_refused_if_no_answer_could_name_it() -> None:
    data = HeartbeatRequest("g" * 20_000).encode(4).replace(b"g", b"\xff")
    with pytest.raises(MalformedMessage, match="text of 20000 bytes is not valid UTF-8"):
        HeartbeatRequest.decode(data, 4)


def test_records_stay_a_slice_of_the_frame() -> None:
    request = ProduceRequest(
        topic_data=[TopicProduceData("t", partition_data=[PartitionProduceData(0, b"batch")])]
    )
    frame = bytearray(request.encode(9))
    records = ProduceRequest.decode(frame, 9).topic_data[0].partition_data[0].records
    assert isinstance(records, memoryview)
    assert records.obj is frame


def test_a_stored_record_starts_with_its_version() -> None:
    value = OffsetCommitValue(offset=5, metadata="m", commit_timestamp=9)
    data = value.encode_prefixed(1)
    assert data[:2] == b"\x00\x01"
    assert OffsetCommitValue.decode_prefixed(data) == OffsetCommitValue(
        offset=5, metadata="m", commit_timestamp=9, expire_timestamp=-1
    )
    with pytest.raises(UnsupportedVersion, match="no version 99"):
        OffsetCommitValue.decode_prefixed(b"\x00\x63" + data[2:])
    with pytest.raises(MalformedMessage, match="1 bytes, no room for a version"):
        OffsetCommitValue.decode_prefixed(b"\x00")


def test_the_bound_of_one_thread_is_no_other_threads() -> None:
    request = MetadataRequest([MetadataRequestTopic(name="t")] * 3)
    data = request.encode(9)
    with pytest.raises(MalformedMessage, match="3 more items"):
        MetadataRequest.decode_bounded(data, 9, 0, 2)
    token = items_left.set(2)
    bounded.append(MetadataRequest)
    try:
        with ThreadPoolExecutor() as other:
            assert other.submit(MetadataRequest.decode, data, 9).result() == request
        with pytest.raises(MalformedMessage, match="3 more items"):
            MetadataRequest.decode(data, 9)
    finally:
        bounded.pop()
        items_left.reset(token)
    assert MetadataRequest.decode(data, 9) == request


# --- encoding -------------------------------------------------------------------------------


def test_records_are_passed_on_uncopied_between_the_bytes_around_them() -> None:
    first, second = memoryview(b"one"), memoryview(b"second")
    partitions = [PartitionData(0, records=first), PartitionData(1, records=second)]
    response = FetchResponse(responses=[FetchableTopicResponse("t", partitions=partitions)])
    out = bytearray(b"head")
    segments = response.encode_segments(12, out)
    assert segments[0] is out
    assert segments[1] is first
    assert segments[3] is second
    assert b"".join(segments) == b"head" + response.encode(12)


def test_records_are_there_behind_a_version_in_front_too() -> None:
    partitions = [PartitionData(0, records=memoryview(b"one")), PartitionData(1)]
    response = FetchResponse(responses=[FetchableTopicResponse("t", partitions=partitions)])
    assert FetchResponse.decode_prefixed(response.encode_prefixed(12)) == response


def test_a_message_without_records_is_one_segment() -> None:
    assert FetchResponse().encode_segments(12, bytearray()) == [FetchResponse().encode(12)]
    out = bytearray(b"head")
    assert HEARTBEAT.encode_segments(4, out) == [out]
    assert out == b"head" + HEARTBEAT.encode(4)


def test_a_field_that_a_version_cannot_carry_is_refused_unless_it_may_be_dropped() -> None:
    topic = MetadataRequestTopic(topic_id=bytes(15) + b"\x01", name="t")
    with pytest.raises(UnsupportedVersion, match=r"MetadataRequest\.include_topic_authorized_op"):
        MetadataRequest(include_topic_authorized_operations=True).encode(7)
    ignorable = MetadataRequest([topic]).encode(9)
    assert ignorable == MetadataRequest([MetadataRequestTopic(name="t")]).encode(9)


def test_null_is_refused_in_a_version_that_cannot_carry_it() -> None:
    assert MetadataRequest(None).encode(1) == b"\xff\xff\xff\xff"
    with pytest.raises(UnsupportedVersion, match=r"MetadataRequest\.topics is null"):
        MetadataRequest(None).encode(0)


@pytest.mark.parametrize("version", [3, 4])
@pytest.mark.parametrize(
    "unfit",
    [
        HeartbeatRequest("x" * 32768, 0, ""),
        HeartbeatRequest("", 2**31, ""),
        HeartbeatRequest("\ud800", 0, ""),
    ],
    ids=["a string too long", "a number out of range", "half a character"],
)
def test_a_value_that_does_not_fit_its_field_is_a_typed_error(
    unfit: HeartbeatRequest, version: int
) -> None:
    for encode in (unfit.encode, unfit.encode_prefixed):
        with pytest.raises(UnencodableValue, match=f"HeartbeatRequest version {version}: "):
            encode(version)
    with pytest.raises(UnencodableValue, match="HeartbeatRequest version"):
        unfit.encode_segments(version, bytearray())


def test_a_tagged_struct_that_equals_its_default_is_not_written() -> None:
    spelled_out = fetch_response(current_leader=LeaderIdAndEpoch(-1, -1))
    assert spelled_out.encode(12) == fetch_response().encode(12)
    assert fetch_response(current_leader=LeaderIdAndEpoch(1, 2)).encode(12) != (
        fetch_response().encode(12)
    )


def test_a_tagged_struct_that_is_null_is_written() -> None:
    """Kafka reads one that is not there as its default, which would make a classic member."""
    null = ConsumerGroupMemberMetadataValue()
    assert null.classic_member_metadata is None
    data = null.encode(0)
    assert data.endswith(b"\x01\x00\x01\x00")  # one tag: number 0, one byte, null
    assert ConsumerGroupMemberMetadataValue.decode(data, 0) == null
    absent = ConsumerGroupMemberMetadataValue.decode(data[:-4] + b"\x00", 0)
    assert absent.classic_member_metadata == ClassicMemberMetadata(0, ())
    assert absent.encode(0) == data[:-4] + b"\x00"


# --- kept encodings -------------------------------------------------------------------------


def test_an_item_that_remembers_its_encoding_encodes_to_the_same() -> None:
    topics = [MetadataResponseTopic(name="a"), MetadataResponseTopic(name="b")]
    response = MetadataResponse(topics=topics)
    plain = {version: response.encode(version) for version in MetadataResponse.VERSIONS}
    for topic in topics:
        topic.keep()
    for _ in range(2):
        assert {v: response.encode(v) for v in MetadataResponse.VERSIONS} == plain
    topics[0].name = "changed"
    assert response.encode(9) == plain[9]


# --- as values ------------------------------------------------------------------------------


def test_messages_are_equal_by_value_and_a_list_equals_a_tuple() -> None:
    assert MetadataRequest([MetadataRequestTopic(name="t")]) == MetadataRequest(
        (MetadataRequestTopic(name="t"),)
    )
    assert MetadataRequest([]) != MetadataRequest(None)
    assert MetadataRequest([MetadataRequestTopic(name="t")]) != MetadataRequest([])
    assert MetadataRequestTopic(name="t") != MetadataRequestTopic(name="u")
    assert MetadataRequest() != HEARTBEAT


def test_messages_are_shown_with_their_fields_and_long_bytes_by_their_size() -> None:
    shown = repr(fetch_response(records=bytes(65)))
    assert "PartitionData(partition_index=0, " in shown
    assert "records=<65 bytes>" in shown
    assert "records=b'short'" in repr(fetch_response(records=b"short"))


def test_messages_cannot_be_keys_because_their_fields_can_change() -> None:
    with pytest.raises(TypeError):
        hash(HEARTBEAT)
