"""kafka-topics while all brokers run, and what lists brokers and offsets."""

from __future__ import annotations

from tests.compatibility.cluster_tools.session import ToolSession

TOPICS = "TopicCommand"
CONDITIONS = (
    "--under-replicated-partitions",
    "--unavailable-partitions",
    "--under-min-isr-partitions",
    "--at-min-isr-partitions",
)


def topics(session: ToolSession) -> None:
    def show(name: str, *arguments: str) -> None:
        session.show(name, TOPICS, *arguments)

    one = ("--topic", "one")
    show(
        "create", "--create", *one, "--replica-assignment", "1:2:3,2:3:1,3:1:2",
        "--config", "min.insync.replicas=2",
    )  # fmt: skip
    show("create again", "--create", *one)
    show("create if it is not there", "--create", "--if-not-exists", *one)
    show("create with a factor", "--create", "--topic", "two", "--replication-factor", "3")
    too_many = ("--topic", "three", "--replication-factor", "4")
    show("create with a factor that is too large", "--create", *too_many)
    uneven = ("--topic", "three", "--replica-assignment", "1:2,3")
    show("create with uneven replicas", "--create", *uneven)
    show("create on a broker unknown", "--create", "--topic", "three", "--replica-assignment", "9")
    session.await_in_sync("one", {each: {1, 2, 3} for each in range(3)})
    show("describe", "--describe", *one)
    show("describe what is not there", "--describe", "--topic", "missing")
    for condition in CONDITIONS:
        show(f"describe {condition}", "--describe", condition, *one)
    show("describe overrides", "--describe", "--topics-with-overrides")
    show("add partitions", "--alter", *one, "--partitions", "5",
         "--replica-assignment", "1:2:3,2:3:1,3:1:2,1:3:2,2:1:3")  # fmt: skip
    show("add fewer partitions", "--alter", *one, "--partitions", "4")
    session.await_in_sync("one", {each: {1, 2, 3} for each in range(5)})
    show("describe after growth", "--describe", *one)
    show("list", "--list", "--exclude-internal")
    show("delete", "--delete", "--topic", "two")
    show("delete again", "--delete", "--topic", "two")
    show("delete if it is there", "--delete", "--if-exists", "--topic", "two")
    session.until(lambda text: "two" not in text.split(), TOPICS, "--list")
    show("list after deletion", "--list", "--exclude-internal")
