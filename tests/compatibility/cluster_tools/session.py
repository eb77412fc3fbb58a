"""Runs Kafka's tools against three brokers, and keeps what each call printed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.compatibility.cluster_tools.normalising import normalise
from tests.compatibility.cluster_tools.trios import BROKERS, Trio
from tests.support.java_clients import JavaClients, Printed, run_tool
from tests.support.oracle import Oracle

PATIENCE_S = 180.0  # of a busy machine
SETTLE_S = 30.0
POLL_S = 0.2
TOOLS = "org.apache.kafka.tools."
Outcome = dict[str, Any]  # status, printed, complaints
Outcomes = dict[str, Outcome]
Change = Callable[[str], str]
Expects = Callable[[str, Outcome], bool]  # whether this call was expected to end like this
# Arguments of calls that change nothing.
READING = {"--describe", "--list", "--time", "list", "describe", "describe-producers"}
READING |= {"list-endpoints", "find-hanging"}


class ToolSession:
    """One cluster, one JVM with the tools, and what was printed so far by the name of each call."""

    def __init__(
        self, trio: Trio, oracle: Oracle, folder: Path, expects: Expects | None = None
    ) -> None:
        self.trio = trio
        self.oracle = oracle
        self.folder = folder
        self.expects = expects
        self.outcomes: Outcomes = {}

    @property
    def bootstrap(self) -> str:
        """Broker 1 always runs."""
        return self.trio.addresses[1]

    @property
    def clients(self) -> JavaClients:
        return JavaClients(self.oracle, ",".join(self.trio.addresses.values()))

    def quietly(self, tool: str, *arguments: str, where: str = "--bootstrap-server") -> Printed:
        class_name = tool if tool.startswith("kafka.") else TOOLS + tool
        address = (where, self.bootstrap) if where else ()
        return run_tool(self.oracle, class_name, *address, *arguments)

    def show(
        self,
        name: str,
        tool: str,
        *arguments: str,
        where: str = "--bootstrap-server",
        change: Change | None = None,
        is_ordered: bool = True,
    ) -> None:
        """Run it and keep what it printed; `change` is applied to each line.

        Tools ask any broker, which may not know yet what another one has just done: what only
        reads is run again while it does not print what was expected. Lines without an order, as
        they come from a hash table or from several brokers, are sorted.
        """
        assert name not in self.outcomes, f"two calls are named {name}"
        deadline_s = time.monotonic() + SETTLE_S
        before: Outcome = {}
        while True:
            printed = self.quietly(tool, *arguments, where=where)
            found = self.outcome(printed, change, is_ordered=is_ordered)
            if not READING.intersection(arguments) or self._is_expected(name, before, found):
                break
            if time.monotonic() > deadline_s:
                break
            before = found
            time.sleep(POLL_S)
        self.outcomes[name] = found

    def _is_expected(self, name: str, before: Outcome, found: Outcome) -> bool:
        """As recorded; where nothing is, as the last time."""
        return self.expects(name, found) if self.expects else found == before

    def outcome(
        self, printed: Printed, change: Change | None = None, *, is_ordered: bool = True
    ) -> Outcome:
        lines = self._lines(printed.text, change)
        return {
            "status": printed.status,
            "printed": lines if is_ordered else sorted(lines),
            "complaints": self._lines(first_line(printed.complaints), change),
        }

    def _lines(self, text: str, change: Change | None) -> list[str]:
        directories = {each: str(self.trio.log_directory(each)) for each in BROKERS}
        lines = normalise(text, self.trio.addresses, directories)
        return [change(line) for line in lines] if change else lines

    def until(self, is_reached: Callable[[str], bool], tool: str, *arguments: str) -> Printed:
        """Run it again and again, until what it prints is what was waited for."""
        deadline_s = time.monotonic() + PATIENCE_S
        while True:
            printed = self.quietly(tool, *arguments)
            if is_reached(printed.text):
                return printed
            if time.monotonic() > deadline_s:
                raise AssertionError(f"{tool} {arguments} still says {printed}")
            time.sleep(POLL_S)

    def topic(self, name: str, assignment: str, **configs: str) -> None:
        """Make a topic whose replicas are in these places, and wait until they are in sync."""
        settings = [
            word
            for key, value in configs.items()
            for word in ("--config", f"{key.replace('_', '.')}={value}")
        ]
        made = self.quietly(
            "TopicCommand", "--create", "--topic", name, "--replica-assignment", assignment,
            *settings,
        )  # fmt: skip
        assert made.status == 0, made

    def file(self, name: str, content: Mapping[str, Any]) -> str:
        path = self.folder / name
        path.write_text(json.dumps(content))
        return str(path)

    def await_in_sync(self, topic: str, in_sync: Mapping[int, set[int]]) -> None:
        """Until each of these partitions has these replicas in sync."""

        def is_reached(text: str) -> bool:
            found = in_sync_replicas(text)
            return all(found.get(partition) == wanted for partition, wanted in in_sync.items())

        self.until(is_reached, "TopicCommand", "--describe", "--topic", topic)


def in_sync_replicas(described: str) -> dict[int, set[int]]:
    """By partition, in what kafka-topics --describe printed."""
    found = {}
    for line in described.splitlines():
        parts = (part.partition(":") for part in line.split("	"))
        fields = {name.strip(): value.strip() for name, _, value in parts}
        if "Partition" in fields and "Isr" in fields:
            ids = {int(each) for each in fields["Isr"].split(",") if each}
            found[int(fields["Partition"])] = ids
    return found


def first_line(text: str) -> str:
    """Of complaints: stack traces follow, whose lines are of no interest."""
    return "\n".join(text.splitlines()[:1])
