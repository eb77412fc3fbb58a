"""The JSON in Spark's checkpoints."""

import json
from typing import Any

import pytest

from ottla.base.ids import TopicPartition
from ottla.spark.errors import SourceError
from ottla.spark.planning.stream_offsets import StreamOffsets, offsets_from_json

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)


def test_offsets_are_spark_s_own_form_and_one_name_more() -> None:
    written = StreamOffsets({B0: 3, A1: 2, A0: 1}, {"b": "idB", "a": "idA"}).to_json()
    assert json.dumps(written) == (
        '{"a": {"0": 1, "1": 2}, "b": {"0": 3}, "$ottla": {"topicIds": {"a": "idA", "b": "idB"}}}'
    )


def test_partitions_are_in_the_order_of_their_numbers() -> None:
    offsets = {TopicPartition("a", number): 0 for number in (10, 9, 2)}
    assert list(StreamOffsets(offsets).to_json()["a"]) == ["2", "9", "10"]


@pytest.mark.parametrize(
    "offsets",
    [
        StreamOffsets({}),
        StreamOffsets({A0: 5}),
        StreamOffsets({A0: 5, B0: 2**62}, {"a": "x"}, {A0: 1}, "5f0c"),
        StreamOffsets({A0: 5, A1: 6}, leader_epochs={A1: 3}, resumed_at={A0: 2}),
        StreamOffsets({}, is_undecided=True),
    ],
)
def test_what_is_written_is_read_again(offsets: StreamOffsets) -> None:
    assert offsets_from_json(json.loads(json.dumps(offsets.to_json()))) == offsets


def test_another_leader_alone_is_no_other_place_but_a_restart_is() -> None:
    reached = StreamOffsets({A0: 5}, leader_epochs={A0: 3})
    assert StreamOffsets({A0: 5}, leader_epochs={A0: 4}).is_same_position(reached)
    assert not StreamOffsets({A0: 5}, resumed_at={A0: 2}).is_same_position(reached)


def test_a_checkpoint_of_spark_s_kafka_format_is_read() -> None:
    assert offsets_from_json({"a": {"0": 7, "1": 0}}) == StreamOffsets({A0: 7, A1: 0})


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {"a": 5},
        {"a": {"x": 1}},
        {"a": {"0": -1}},
        {"$ottla": 5},
        {"$ottla": {"topicIds": []}},
        {"$ottla": {"beganAt": {"a": 1}}},
        {"$ottla": {"leaderEpochs": {"a": {"0": "x"}}}},
    ],
)
def test_what_is_no_offset_is_refused(value: Any) -> None:
    with pytest.raises(SourceError, match="checkpoint"):
        offsets_from_json(value)
