"""A broker is killed and comes back: what kafka-topics and kafka-leader-election say and do."""

from __future__ import annotations

from tests.compatibility.cluster_tools.session import ToolSession
from tests.compatibility.cluster_tools.stories.cluster import at
from tests.compatibility.cluster_tools.stories.topics import CONDITIONS, TOPICS

ELECTION = "LeaderElectionCommand"
PREFERRED = ("--election-type", "preferred")
UNCLEAN = ("--election-type", "unclean")
ENOUGH = "enough"  # replicas left
SCARCE = "scarce"  # fewer in sync than min.insync.replicas
ALONE = "alone"  # one replica, on the broker that is killed
LOST = "lost"  # the replica in sync is away, the other one has missed something


def killed(session: ToolSession) -> None:
    session.topic(ENOUGH, "3:1:2,1:2:3,2:3:1", min_insync_replicas="2")
    session.topic(SCARCE, "3:1", min_insync_replicas="2")
    session.topic(ALONE, "3")
    session.topic(LOST, "2:3")
    session.await_in_sync(ENOUGH, {each: {1, 2, 3} for each in range(3)})
    session.await_in_sync(SCARCE, {0: {1, 3}})
    session.await_in_sync(LOST, {0: {2, 3}})
    session.trio.kill(2)
    session.await_in_sync(LOST, {0: {3}})
    session.trio.kill(3)
    leaderless = lambda text: "Leader: none" in text  # noqa: E731
    session.until(leaderless, TOPICS, "--describe", "--topic", LOST)
    session.trio.start(2)
    session.await_in_sync(ENOUGH, {each: {1, 2} for each in range(3)})
    without_three(session)
    session.trio.start(3)
    session.await_in_sync(ENOUGH, {each: {1, 2, 3} for each in range(3)})
    session.await_in_sync(SCARCE, {0: {1, 3}})
    session.await_in_sync(LOST, {0: {2, 3}})
    session.until(lambda text: "Leader: 3" in text, TOPICS, "--describe", "--topic", ALONE)
    with_three_again(session)


def without_three(session: ToolSession) -> None:
    for topic in (ENOUGH, SCARCE, ALONE, LOST):
        session.show(f"{topic} without 3", TOPICS, "--describe", "--topic", topic)
        for condition in CONDITIONS:
            session.show(f"{topic} {condition}", TOPICS, "--describe", condition, "--topic", topic)
    session.show("endpoints", "ClusterTool", "list-endpoints", *at(session), where="")
    fenced = ("list-endpoints", *at(session), "--include-fenced-brokers")
    session.show("endpoints with fenced ones", "ClusterTool", *fenced, where="")
    session.show("elect away", ELECTION, *PREFERRED, "--topic", ENOUGH, "--partition", "0")
    session.show("elect alone", ELECTION, *UNCLEAN, "--topic", ALONE, "--partition", "0")
    session.show("elect uncleanly what has a leader", ELECTION, *UNCLEAN, "--topic", ENOUGH,
                 "--partition", "1")  # fmt: skip
    session.show("elect lost", ELECTION, *UNCLEAN, "--topic", LOST, "--partition", "0")
    session.show("lost afterwards", TOPICS, "--describe", "--topic", LOST)
    session.show("elect missing", ELECTION, *PREFERRED, "--topic", "missing", "--partition", "0")


def with_three_again(session: ToolSession) -> None:
    session.show("enough with 3 again", TOPICS, "--describe", "--topic", ENOUGH)
    wanted = [{"topic": ENOUGH, "partition": each} for each in range(2)]
    plan = session.file("elect.json", {"partitions": wanted})
    session.show("elect by file", ELECTION, *PREFERRED, "--path-to-json-file", plan)
    session.show("elect by file again", ELECTION, *PREFERRED, "--path-to-json-file", plan)
    session.show("enough afterwards", TOPICS, "--describe", "--topic", ENOUGH)
    all_of_them = session.quietly(ELECTION, *PREFERRED, "--all-topic-partitions")
    assert all_of_them.status == 0, all_of_them
    session.show("elect all again", ELECTION, *PREFERRED, "--all-topic-partitions")
    session.show("scarce afterwards", TOPICS, "--describe", "--topic", SCARCE)
    session.show("lost in the end", TOPICS, "--describe", "--topic", LOST)
