"""kafka-consumer-groups with a coordinator on each broker."""

from __future__ import annotations

from confluent_kafka import Consumer
from tests.compatibility.cluster_tools.session import ToolSession
from tests.support.java_clients import CLOSE, FLUSH, send

GROUPS = "consumer.group.ConsumerGroupCommand"
# Whose hashes are in the partitions 0, 1, 2 of the groups' topic, on the brokers 1, 2, 3.
NAMES = ("group-b", "group-c", "group-a")


def groups(session: ToolSession) -> None:
    def show(name: str, *arguments: str, is_ordered: bool = True) -> None:
        session.show(name, GROUPS, *arguments, is_ordered=is_ordered)

    session.topic("read", "1:2:3,2:3:1,3:1:2")
    records = [send("read", b"%d" % at, partition=at % 3) for at in range(30)]
    session.clients.produce("reads", [*records, FLUSH, CLOSE], {"acks": "all"})
    for name in NAMES:
        group = ("--group", name)
        show(f"{name} from the start", "--reset-offsets", *group, "--topic", "read",
             "--to-earliest", "--execute")  # fmt: skip
        show(f"{name} by 4", "--reset-offsets", *group, "--topic", "read:0,2",
             "--shift-by", "4", "--execute")  # fmt: skip
        show(f"{name} dry", "--reset-offsets", *group, "--all-topics", "--to-latest", "--dry-run")
        show(f"{name} described", "--describe", *group)
        show(f"{name} its state", "--describe", "--state", *group)
    show("export", "--reset-offsets", "--group", NAMES[0], "--topic", "read", "--to-current",
         "--export", "--dry-run")  # fmt: skip
    show("list", "--list", is_ordered=False)
    show("list with states", "--list", "--state", is_ordered=False)
    show("describe all", "--describe", "--all-groups", "--state", is_ordered=False)
    show("describe what is not there", "--describe", "--group", "missing")
    with_a_member(session, NAMES[1])
    show("delete offsets", "--delete-offsets", "--group", NAMES[0], "--topic", "read:1")
    show("described without them", "--describe", "--group", NAMES[0])
    all_of_them = [word for name in NAMES for word in ("--group", name)]
    show("delete", "--delete", *all_of_them, is_ordered=False)
    show("delete again", "--delete", "--group", NAMES[0])
    show("list afterwards", "--list", is_ordered=False)


def with_a_member(session: ToolSession, name: str) -> None:
    """Of a group that is being read by."""
    member = Consumer(
        {
            "bootstrap.servers": session.bootstrap,
            "group.id": name,
            "client.id": "reader",
            "log_level": 0,
        }
    )
    member.subscribe(["read"])
    try:
        for _ in range(1200):
            if len(member.assignment()) == 3:
                break
            member.poll(0.1)
        else:
            raise AssertionError("no assignment")
        group = ("--group", name)
        session.show("a member", GROUPS, "--describe", *group)
        session.show("members", GROUPS, "--describe", "--members", "--verbose", *group)
        session.show("its state", GROUPS, "--describe", "--state", *group)
        session.show("delete it", GROUPS, "--delete", *group)
        session.show(
            "reset it", GROUPS, "--reset-offsets", *group, "--topic", "read", "--to-latest",
            "--execute",
        )  # fmt: skip
    finally:
        member.close()
