"""The records of the decisions topic, and what reading them in order gives."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ottla.spark.sink.decisions import (
    DECISION,
    ENDED,
    NOTHING_DECIDED,
    CommitDecision,
    DecisionReader,
    Origin,
    SinkState,
    TaskTransaction,
    Written,
    decode_decision,
    encode_decision,
    encode_ended,
    key_of,
)
from ottla.spark.sink.errors import SinkError

ORDERS = (
    Written("orders", 0, 5, 9, 5),
    Written("orders", 3, 0, 0, 1),
    Written("bills", 1, 7, 8, 2),
)
DECIDED = CommitDecision(
    "sink", "query-1", 7, (TaskTransaction("sink/0/0.0", 4001, 3, ORDERS),), decided_ms=123
)


def read(*records: tuple[bytes, bytes | None]) -> DecisionReader:
    reader = DecisionReader()
    for key, value in records:
        reader.apply(key, value)
    return reader


def test_a_decision_survives_its_record() -> None:
    assert decode_decision("sink", encode_decision(DECIDED)) == DECIDED


def test_every_range_of_offsets_survives_its_record() -> None:
    ranges = [(5, 9), (12, 13), (40, 42)]
    written = Written.of("orders", 0, 7, ranges)
    assert (written.first_offset, written.last_offset) == (5, 41)
    transaction = TaskTransaction("sink/0/0.0", 4001, 3, (written,))
    decided = replace(DECIDED, transactions=(transaction,))
    assert decode_decision("sink", encode_decision(decided)) == decided
    assert written.all_ranges() == tuple(ranges)


def test_one_range_needs_no_list_and_unknown_offsets_have_none() -> None:
    assert Written.of("orders", 0, 4, [(5, 9)]) == Written("orders", 0, 5, 8, 4)
    assert Written("orders", 0, 5, 8, 4).all_ranges() == ((5, 9),)
    assert Written.of("orders", 0, 4, []) == Written("orders", 0, -1, -1, 4)
    assert Written.of("orders", 0, 4, []).all_ranges() == ()


def test_a_decision_is_json_that_people_can_read() -> None:
    assert json.loads(encode_decision(DECIDED)) == {
        "version": 1,
        "query": "query-1",
        "batch": 7,
        "decided_ms": 123,
        "transactions": [
            {
                "id": "sink/0/0.0",
                "producer": [4001, 3],
                "written": {"orders": [[0, 5, 9, 5], [3, 0, 0, 1]], "bills": [[1, 7, 8, 2]]},
            }
        ],
    }


def test_what_a_batch_was_written_for_survives_as_far_as_it_is_known() -> None:
    for origin in (Origin("q", "r", "o"), Origin(run="r"), Origin(offsets="o")):
        decision = replace(DECIDED, origin=origin)
        assert decode_decision("sink", encode_decision(decision)) == decision
    assert "origin" not in json.loads(encode_ended(replace(DECIDED, origin=Origin("q", "", "o"))))


def test_the_last_run_is_the_one_that_wrote_a_batch_or_skipped_it_since() -> None:
    first, second = (replace(DECIDED, origin=Origin("q", run)) for run in ("run 1", "run 2"))
    decision = (key_of(DECISION, "sink"), encode_decision(first))
    ended = [
        (key_of(ENDED, "sink"), encode_ended(each))
        for each in (replace(second, batch=6), replace(first, origin=Origin()), second)
    ]
    assert read(decision).state_of("sink").last_run == "run 1"
    assert read(decision, ended[0]).state_of("sink").last_run == "run 1"
    assert read(decision, ended[1]).state_of("sink").last_run == "run 1"
    assert read(decision, ended[2]).state_of("sink").last_run == "run 2"


def test_a_newer_version_is_refused() -> None:
    with pytest.raises(SinkError, match="version 2"):
        decode_decision("sink", b'{"version":2}')


@pytest.mark.parametrize(
    "value", [b"text", b"\xff", b"[]", b"{}", b'"decision"', b'{"version":1,"query":"q"}', b""]
)
def test_a_record_of_someone_else_concerns_no_other_sink(value: bytes) -> None:
    found = read(
        (key_of(DECISION, "broken"), value),
        (key_of(ENDED, "broken"), value),
        (key_of(DECISION, "sink"), encode_decision(DECIDED)),
    )
    assert found.state_of("sink").decision == DECIDED
    assert found.sink_of_query("query-1") == "sink"
    with pytest.raises(SinkError, match="decision/broken in the topic of decisions"):
        found.state_of("broken")


def test_an_end_that_someone_else_wrote_is_reported() -> None:
    decision = (key_of(DECISION, "sink"), encode_decision(DECIDED))
    with pytest.raises(SinkError, match="ended/sink in the topic of decisions"):
        read(decision, (key_of(ENDED, "sink"), b"text")).state_of("sink")


def test_a_decision_has_not_ended_until_a_record_says_so() -> None:
    decision = (key_of(DECISION, "sink"), encode_decision(DECIDED))
    ended = (key_of(ENDED, "sink"), encode_ended(DECIDED))
    assert read(decision).state_of("sink") == SinkState(DECIDED, is_ended=False)
    assert read(decision, ended).state_of("sink") == SinkState(DECIDED, is_ended=True)
    assert read(ended, decision).state_of("sink") == SinkState(DECIDED, is_ended=True)


def test_the_end_of_an_earlier_batch_says_nothing_about_the_last() -> None:
    earlier = CommitDecision("sink", "query-1", 6, ())
    found = read(
        (key_of(DECISION, "sink"), encode_decision(DECIDED)),
        (key_of(ENDED, "sink"), encode_ended(earlier)),
    )
    assert not found.state_of("sink").is_ended


def test_sinks_are_independent_and_can_be_removed() -> None:
    other = CommitDecision("other", "query-2", 1, ())
    found = read(
        (key_of(DECISION, "sink"), encode_decision(DECIDED)),
        (key_of(DECISION, "other"), encode_decision(other)),
        (b"something/else", b"not ours"),
        (key_of(DECISION, "sink"), None),
    )
    assert found.state_of("sink") == NOTHING_DECIDED
    assert found.state_of("other").decision == other
    assert found.sink_of_query("query-2") == "other"
    assert found.sink_of_query("query-1") is None


@pytest.mark.parametrize("names", ["ab", "ba", "aba", "bab", "abba"])
def test_the_name_of_a_query_is_the_one_under_which_it_decided_last(names: str) -> None:
    decisions = [CommitDecision(name, "query-1", batch, ()) for batch, name in enumerate(names)]
    found = read(*((key_of(DECISION, each.sink), encode_decision(each)) for each in decisions))
    assert found.sink_of_query("query-1") == names[-1]
