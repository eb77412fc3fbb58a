"""kafka-reassign-partitions: a plan, a move that a throttle holds, its cancelling, its end."""

from __future__ import annotations

import json
import re

from tests.compatibility.cluster_tools.session import ToolSession
from tests.compatibility.cluster_tools.stories.configs import CONFIGS
from tests.support.java_clients import CLOSE, FLUSH, send

REASSIGN = "reassign.ReassignPartitionsCommand"
MOVED = "moved"
HELD_BYTES_S = "1000"


def reassignments(session: ToolSession) -> None:
    session.topic(MOVED, "1:2,2:1")
    for _ in range(8):  # larger than what a throttled replica may fetch at once
        records = [send(MOVED, b"x" * 500_000, partition=each) for each in range(2)]
        session.clients.produce("moved", [*records, FLUSH], {"acks": "all"})
    session.clients.produce("moved", [CLOSE])
    generate(session)
    plan = plan_of(session, {0: [3, 2], 1: [3, 1]})
    hold(session, plan)
    finish(session, plan)
    wrong(session)


def generate(session: ToolSession) -> None:
    topics = session.file("topics.json", {"topics": [{"topic": MOVED}], "version": 1})
    asked = ("--generate", "--topics-to-move-json-file", topics, "--broker-list", "1,2,3")
    session.show("generate", REASSIGN, *asked, change=without_choice)
    unknown = ("--generate", "--topics-to-move-json-file", topics, "--broker-list", "1,9")
    session.show("generate for one unknown", REASSIGN, *unknown)


def hold(session: ToolSession, plan: str) -> None:
    """With this throttle the replicas join much later than any test waits."""
    by_plan = ("--reassignment-json-file", plan)
    session.show("execute", REASSIGN, "--execute", *by_plan, "--throttle", HELD_BYTES_S,
                 change=replicas_alone)  # fmt: skip
    session.show("execute again", REASSIGN, "--execute", *by_plan, change=replicas_alone)
    session.show("list", REASSIGN, "--list")
    session.show("verify", REASSIGN, "--verify", *by_plan)
    session.show("described meanwhile", "TopicCommand", "--describe", "--topic", MOVED)
    session.show("topic's throttle", CONFIGS, "--describe", "--entity-type", "topics",
                 "--entity-name", MOVED, change=without_order)  # fmt: skip
    session.show("broker's throttle", CONFIGS, "--describe", "--entity-type", "brokers",
                 "--entity-name", "3")  # fmt: skip
    session.show("cancel", REASSIGN, "--cancel", *by_plan, "--preserve-throttles")
    session.show("list after cancelling", REASSIGN, "--list")
    session.show("cancel again", REASSIGN, "--cancel", *by_plan)
    session.show("described after cancelling", "TopicCommand", "--describe", "--topic", MOVED)


def finish(session: ToolSession, plan: str) -> None:
    by_plan = ("--reassignment-json-file", plan)
    session.show("execute once more", REASSIGN, "--execute", *by_plan, "--throttle", HELD_BYTES_S,
                 change=replicas_alone)  # fmt: skip
    session.show("let go", REASSIGN, "--execute", "--additional", *by_plan, "--throttle",
                 "1000000000", change=replicas_alone)  # fmt: skip
    done = lambda text: text.count("is completed") == 2  # noqa: E731
    session.until(done, REASSIGN, "--verify", *by_plan, "--preserve-throttles")
    session.show("verify at the end", REASSIGN, "--verify", *by_plan)
    session.show("list at the end", REASSIGN, "--list")
    session.await_in_sync(MOVED, {0: {2, 3}, 1: {1, 3}})
    session.show("throttle at the end", CONFIGS, "--describe", "--entity-type", "topics",
                 "--entity-name", MOVED)  # fmt: skip
    leaders = plan_of(session, {0: [2, 3], 1: [1, 3]}, "leaders.json")
    by_leaders = ("--reassignment-json-file", leaders)
    session.show("order alone", REASSIGN, "--execute", *by_leaders, change=replicas_alone)
    fewer = plan_of(session, {0: [2], 1: [1]}, "fewer.json")
    session.show("fewer, not wanted", REASSIGN, "--execute", "--reassignment-json-file", fewer,
                 "--disallow-replication-factor-change", change=replicas_alone)  # fmt: skip
    session.show("fewer", REASSIGN, "--execute", "--reassignment-json-file", fewer,
                 change=replicas_alone)  # fmt: skip
    session.await_in_sync(MOVED, {0: {2}, 1: {1}})
    session.show("described at the end", "TopicCommand", "--describe", "--topic", MOVED)


def wrong(session: ToolSession) -> None:
    for name, plan in {
        "a broker unknown": {"partitions": [{"topic": MOVED, "partition": 0, "replicas": [9]}]},
        "a topic unknown": {"partitions": [{"topic": "missing", "partition": 0, "replicas": [1]}]},
        "a partition unknown": {"partitions": [{"topic": MOVED, "partition": 9, "replicas": [1]}]},
        "a replica twice": {"partitions": [{"topic": MOVED, "partition": 0, "replicas": [1, 1]}]},
        "no replicas": {"partitions": [{"topic": MOVED, "partition": 0, "replicas": []}]},
    }.items():
        file = session.file(f"{name}.json", {"version": 1, **plan})
        session.show(name, REASSIGN, "--execute", "--reassignment-json-file", file)


def plan_of(session: ToolSession, replicas: dict[int, list[int]], name: str = "plan.json") -> str:
    partitions = [
        {"topic": MOVED, "partition": partition, "replicas": wanted}
        for partition, wanted in replicas.items()
    ]
    return session.file(name, {"version": 1, "partitions": partitions})


def replicas_alone(line: str) -> str:
    """Plans, without the directories: a replica may be there already, or still to come."""
    if not line.startswith("{"):
        return line
    plan = json.loads(line)
    for each in plan["partitions"]:
        del each["log_dirs"]
    plan["partitions"].sort(key=lambda each: each["partition"])
    return json.dumps(plan, sort_keys=True)


def without_choice(line: str) -> str:
    """Where a plan puts replicas is chosen at random: how many there are is not."""
    if not line.startswith("{"):
        return line
    plan = json.loads(line)
    for each in plan["partitions"]:
        each["replicas"], each["log_dirs"] = len(each["replicas"]), len(each["log_dirs"])
    return json.dumps(plan, sort_keys=True)


def without_order(line: str) -> str:
    """Lists of throttled replicas, which tools make from sets."""

    def ordered(match: re.Match[str]) -> str:
        return ",".join(sorted(match.group().split(",")))

    return re.sub(r"\d+:\d+(?:,\d+:\d+)+", ordered, line)
