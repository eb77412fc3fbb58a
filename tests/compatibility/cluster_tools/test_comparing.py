"""The comparison itself: what it takes for a difference, and what not."""

from __future__ import annotations

from tests.compatibility.cluster_tools.comparing import differences
from tests.compatibility.cluster_tools.normalising import normalise, sorted_json, without_numbers
from tests.compatibility.cluster_tools.session import in_sync_replicas

ADDRESSES = {1: "127.0.0.1:20001", 2: "127.0.0.1:20002"}


def outcome(*lines: str, status: int = 0) -> dict[str, object]:
    return {"status": status, "printed": list(lines), "complaints": []}


def test_another_line_status_or_call_is_a_difference() -> None:
    kafkas = {"list": outcome("a", "b")}
    assert not differences("topics", kafkas, {"list": outcome("a", "b")})
    for ours in ({"list": outcome("a")}, {"list": outcome("a", "b", status=1)}, {}):
        assert len(differences("topics", kafkas, ours)) == 1


def test_allowed_lines_are_left_out_of_the_calls_that_they_are_allowed_in() -> None:
    kafkas = {"features": outcome("Feature: share.version 1", "Feature: group.version 1")}
    ours = {"features": outcome("Feature: group.version 1")}
    assert not differences("cluster", kafkas, ours)
    assert differences("topics", kafkas, ours)
    assert differences("cluster", kafkas, {"features": outcome("Feature: group.version 2")})


def test_ids_ports_and_times_are_replaced_and_other_values_are_not() -> None:
    text = (
        "Topic: t\tTopicId: AFMgpCSKQbS5AqoGLY--lQ\tPartitionCount: 3\n\n"
        "127.0.0.1:20001 (id: 1)  /d1/t-0  1700000000000\n"
        "1    127.0.0.1   20001\n"
    )
    assert normalise(text, ADDRESSES, {1: "/d1"}) == [
        "Topic: t TopicId: <id> PartitionCount: 3",
        "<broker 1> (id: 1) <directory of 1>/t-0 <ms>",
        "1 <host> <port of 1>",
    ]


def test_measured_numbers_and_the_order_of_json_are_no_differences() -> None:
    assert without_numbers("12 records, 3.5 ms, NaN") == "<n> records, <n> ms, <n>"
    assert sorted_json('x {"b":[2,1],"a":1}') == 'x {"a": 1, "b": [1, 2]}'


def test_replicas_in_sync_are_found_in_what_is_described() -> None:
    described = "\tTopic: t\tPartition: 4\tLeader: none\tReplicas: 3,1\tIsr: 3,1\tElr: \n"
    assert in_sync_replicas(described) == {4: {1, 3}}
