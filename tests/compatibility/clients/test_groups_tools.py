"""Kafka's own tools, as members of groups and looking at them."""

from __future__ import annotations

import pytest
from tests.compatibility.clients.clients import EVERY_JAVA, JAVA, JAVA_3_9, LIBRDKAFKA
from tests.compatibility.clients.cluster import Cluster
from tests.compatibility.clients.group_readers import wait_shared
from tests.compatibility.clients.reading_groups import CLASSIC, CONSUMER, PARTITIONS, Group
from tests.support.oracle import OracleOf

JAVA_WAYS = {
    "classic": ("--topic", "{topic}", "{property}", "group.protocol=classic"),
    "consumer": ("--topic", "{topic}", "{property}", "group.protocol=consumer"),
    "pattern": ("--include", "{topic}.*", "{property}", "group.protocol=classic"),
    "consumer-pattern": ("--include", "{topic}.*", "{property}", "group.protocol=consumer"),
}
PROPERTY = {JAVA: "--command-property", JAVA_3_9: "--consumer-property"}


@pytest.mark.parametrize("way", JAVA_WAYS)
@pytest.mark.parametrize("release", EVERY_JAVA)
def test_kafkas_own_tool_reads_in_a_group_and_continues_where_it_was(
    group: Group, oracle_of: OracleOf, release: str, way: str
) -> None:
    cluster = Cluster(group.bootstrap, oracle_of(release))
    words = [each.format(topic=group.name, property=PROPERTY[release]) for each in JAVA_WAYS[way]]
    read: list[bytes] = []
    for _ in range(2):
        group.send(5)
        count = str(len(group.sent) - len(read))
        printed = cluster.tool(
            "consumer.ConsoleConsumer", *words, "--group", f"group-{group.name}",
            "--from-beginning", "--max-messages", count, "--timeout-ms", "120000",
        )  # fmt: skip
        read += printed.text.encode().split()
    assert sorted(read) == sorted(group.sent)


@pytest.mark.parametrize("release", EVERY_JAVA)
def test_kafkas_own_tool_describes_groups_of_both_kinds(
    group: Group, oracle_of: OracleOf, release: str
) -> None:
    cluster = Cluster(group.bootstrap, oracle_of(release))
    group.send(5)
    for settings in (CLASSIC, CONSUMER):
        reader = group.reader(LIBRDKAFKA, **settings, **{"auto.commit.interval.ms": 100})
        wait_shared([reader], PARTITIONS)
        tool = "consumer.group.ConsumerGroupCommand"
        for words in (["--members", "--verbose"], ["--state"], ["--offsets"]):
            printed = cluster.tool(tool, "--describe", "--group", f"group-{group.name}", *words)
            assert f"group-{group.name}" in printed.text
        state = cluster.tool(tool, "--describe", "--group", f"group-{group.name}", "--state")
        assert "Stable" in state.text
        group.leave(reader)
