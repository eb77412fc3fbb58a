from __future__ import annotations

import json

import pytest

from ottla.base.ids import TopicPartition
from ottla.cli.arguments.offset_files import BadOffsets, parse_offsets

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
DESCRIBED = [
    {
        "group": "g",
        "partitions": [
            {"topic": "t", "partition": 0, "committed_offset": 5, "end_offset": 6},
            {"topic": "t", "partition": 1, "committed_offset": None, "end_offset": 6},
        ],
    }
]
OTHER = [{"group": "h", "partitions": [{"topic": "t", "partition": 1, "committed_offset": 7}]}]


@pytest.mark.parametrize(
    ("text", "offsets"),
    [
        ("t,0,5\n\nt, 1, 6\n", {T0: 5, T1: 6}),
        ('"t","0","5"\r\n', {T0: 5}),
        ("g,t,0,5\nh,t,1,7\n", {T0: 5}),
        ("h,t,1,7\n", {T1: 7}),
        (json.dumps(DESCRIBED), {T0: 5}),
        (json.dumps(OTHER), {T1: 7}),
        (json.dumps(DESCRIBED + OTHER), {T0: 5}),
        (json.dumps([{"topic": "t", "partition": 1, "before": 3, "after": 4}]), {T1: 4}),
        (json.dumps({"topic": "t", "partition": 1, "offset": 4}), {T1: 4}),
    ],
)
def test_offsets_are_read(text: str, offsets: dict[TopicPartition, int]) -> None:
    assert parse_offsets(text, "g") == offsets


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "there are no offsets"),
        ("[]", "there are no offsets"),
        ("h,t,0,5\ni,t,1,7\n", "there are no offsets of group g"),
        ("t,0,5\nt,0\n", "line 2: expected TOPIC,PARTITION,OFFSET"),
        ("t,0,-5\n", "line 1: expected TOPIC,PARTITION,OFFSET"),
        ("t,0," + "9" * 5000, "line 1: expected TOPIC,PARTITION,OFFSET"),
        ("t,0,9999999999999999999", "9999999999999999999 is not an offset"),
        (",0,5\n", "'', 0 is not a topic and the number of a partition"),
        ("t,0,5\nt,0,6\n", "t-0 is given twice"),
        ("[1]", "expected objects with topic, partition and offset, found 1"),
        ("[" * 100_000, "not JSON"),
        ("{", "not JSON"),
        ('{"topic": "t"}', "one of committed_offset, after, offset"),
        ('{"partitions": [5]}', "one of committed_offset, after, offset"),
        ('{"topic": "t", "partition": true, "offset": 5}', "'t', True is not a topic and"),
        ('{"topic": "t", "partition": 0, "offset": "5"}', "'5' is not an offset"),
        ('{"group": [], "topic": "t", "partition": 0, "offset": 1.5}', "1.5 is not an offset"),
    ],
)
def test_what_has_no_offsets_is_refused(text: str, reason: str) -> None:
    with pytest.raises(BadOffsets) as caught:
        parse_offsets(text, "g")
    assert reason in str(caught.value)
