from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.base.ids import TopicPartition
from ottla.storage.files.file_names import (
    DirectoryMark,
    PartitionDirectoryName,
    SegmentFileName,
    is_topic_name,
    marked_directory_name,
    parse_directory_name,
    parse_segment_file_name,
    partition_directory_name,
    segment_file_name,
)

UNIQUE_ID = "0123456789abcdef0123456789abcdef"

topics = st.text("abcXYZ019._-", min_size=1, max_size=249).filter(is_topic_name)
partitions = st.builds(TopicPartition, topics, st.integers(0, 2**31 - 1))


def test_a_segment_file_is_named_by_twenty_digits() -> None:
    assert segment_file_name(0, ".log") == "00000000000000000000.log"
    assert segment_file_name(2**63 - 1, ".index") == "09223372036854775807.index"


@pytest.mark.parametrize("offset", [-1, 2**63])
def test_an_impossible_offset_has_no_file_name(offset: int) -> None:
    with pytest.raises(ValueError, match="offset"):
        segment_file_name(offset, ".log")


@pytest.mark.parametrize("suffix", [".log", ".index", ".timeindex", ".txnindex", ".snapshot"])
@pytest.mark.parametrize("state", ["", ".deleted", ".cleaned", ".swap"])
def test_segment_file_names_are_parsed(suffix: str, state: str) -> None:
    name = SegmentFileName(4711, suffix, state)
    assert str(name) == f"00000000000000004711{suffix}{state}"
    assert parse_segment_file_name(str(name)) == name


@pytest.mark.parametrize(
    "name",
    [
        "4711.log",
        "000000000000000004711.log",
        "00000000000000004711",
        "00000000000000004711.txt",
        "00000000000000004711.log.bak",
        "00000000000000004711.log.deleted.deleted",
        "00000000000000004711.log\n",
        "/0000000000000000471.log",
        "-0000000000000004711.log",
        "٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٤٧١١.log",
        "09223372036854775808.log",
        "leader-epoch-checkpoint",
        "",
    ],
)
def test_other_names_are_no_segment_files(name: str) -> None:
    assert parse_segment_file_name(name) is None


@pytest.mark.parametrize(
    ("name", "topic", "partition"),
    [
        ("orders-0", "orders", 0),
        ("my-dashed-topic-12", "my-dashed-topic", 12),
        ("a.b_c-d-2147483647", "a.b_c-d", 2147483647),
        ("-0-1", "-0", 1),
        ("topic-delete-3", "topic-delete", 3),
        ("__consumer_offsets-49", "__consumer_offsets", 49),
        ("...-1", "...", 1),
    ],
)
def test_partition_directories_are_parsed(name: str, topic: str, partition: int) -> None:
    assert parse_directory_name(name) == PartitionDirectoryName(TopicPartition(topic, partition))
    assert partition_directory_name(TopicPartition(topic, partition)) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "orders",
        "orders-",
        "-0",
        ".-0",
        "..-0",
        "orders-x",
        "orders--1-",
        "orders-01",
        "orders-+1",
        "orders-2147483648",
        "../orders-0",
        "a/b-0",
        "a\0b-0",
        "o rders-0",
        "orders-0\n",
        "orders-0-delete",
        "orders-0.-delete",
        "orders-0.id-removed",
        "orders-0.a/b-delete",
        "x" * 250 + "-0",
        "ördërs-0",
    ],
)
def test_other_names_are_no_partition_directories(name: str) -> None:
    assert parse_directory_name(name) is None


@pytest.mark.parametrize("mark", [DirectoryMark.DELETE, DirectoryMark.FUTURE, DirectoryMark.STRAY])
def test_marked_directories_are_parsed(mark: DirectoryMark) -> None:
    partition = TopicPartition("my-topic.v1", 7)
    name = marked_directory_name(partition, mark, UNIQUE_ID)
    assert name == f"my-topic.v1-7.{UNIQUE_ID}{mark}"
    assert parse_directory_name(name) == PartitionDirectoryName(partition, mark, UNIQUE_ID)


def test_a_topic_may_look_like_a_marked_directory() -> None:
    partition = TopicPartition(f"t-0.{UNIQUE_ID}-delete", 1)
    assert parse_directory_name(partition_directory_name(partition)) == PartitionDirectoryName(
        partition
    )
    name = marked_directory_name(partition, DirectoryMark.STRAY, UNIQUE_ID)
    assert parse_directory_name(name) == PartitionDirectoryName(
        partition, DirectoryMark.STRAY, UNIQUE_ID
    )


def test_a_long_topic_is_cut_in_the_name_of_a_directory_to_delete() -> None:
    partition = TopicPartition("t" * 249, 100)
    name = marked_directory_name(partition, DirectoryMark.DELETE, UNIQUE_ID)
    assert len(name) == 255
    assert name.endswith(f"t-100.{UNIQUE_ID}-delete")
    assert parse_directory_name(name) is not None


def test_a_long_topic_is_not_cut_in_the_name_of_a_future_directory() -> None:
    with pytest.raises(ValueError, match="too long"):
        marked_directory_name(TopicPartition("t" * 249, 100), DirectoryMark.FUTURE, UNIQUE_ID)


@pytest.mark.parametrize(
    "partition",
    [
        TopicPartition("a/b", 0),
        TopicPartition("..", 0),
        TopicPartition("", 0),
        TopicPartition("t", -1),
        TopicPartition("t", 2**31),
    ],
)
def test_unsafe_partitions_have_no_directory_name(partition: TopicPartition) -> None:
    with pytest.raises(ValueError):
        partition_directory_name(partition)


@pytest.mark.parametrize("unique_id", ["", "x" * 32, "../" + "0" * 29, UNIQUE_ID.upper()])
def test_an_unsafe_id_is_refused(unique_id: str) -> None:
    with pytest.raises(ValueError):
        marked_directory_name(TopicPartition("t", 0), DirectoryMark.DELETE, unique_id)


@given(partitions)
def test_every_partition_is_found_again_by_its_directory_name(partition: TopicPartition) -> None:
    name = partition_directory_name(partition)
    parsed = parse_directory_name(name)
    assert parsed == (PartitionDirectoryName(partition) if len(name) <= 255 else None)


@given(st.text(max_size=60))
def test_whatever_is_parsed_is_safe_as_a_part_of_a_path(name: str) -> None:
    if parse_directory_name(name) is not None or parse_segment_file_name(name) is not None:
        assert "/" not in name
        assert name.isascii()
        assert name.isprintable()
        assert name not in (".", "..")
