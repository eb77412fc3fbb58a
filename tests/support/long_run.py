"""Which tests are left to the long run (`make test-long`), so that the ordinary one stays short.

Every kind of story stays in the ordinary run with at least one client on at least one broker; what
is here repeats it with another release of a client, on the other broker, or at another point.
"""

from __future__ import annotations

import os
import re

VARIABLE = "OTTLA_LONG"

CLIENTS = "tests/compatibility/clients/"
SINK = "tests/integration/spark/sink/"
# Where Kafka 3.9's clients stay in the ordinary run.
OLDER_CLIENTS = ("test_produce_consume_records", "test_groups_clients.py", "test_admin_tools")

LONG = [
    # Kafka 3.9's clients and tools, in stories that the newest ones run too
    rf"{CLIENTS}(?!{'|'.join(OLDER_CLIENTS)}).*\[.*java-3\.9",
    rf"{CLIENTS}test_groups_clients\.py.*\[java-3\.9-(consumer|cooperative)",
    # The Java producer at the broker's fault points: librdkafka reaches all twelve
    rf"{CLIENTS}test_transactions_crashes.*kafkas_own_producer_survives.*"
    r"\[java-(?!prepare-logged|first-marker-written)",
    # What chance finds beside the scripts of the differential test
    r"tests/compatibility/random_requests/",
    # What the reader's own tests show without a session
    r"tests/integration/spark/source/test_streams\.py.*batch_0_is_run_again_although",
    r"tests/integration/spark/source/test_clusters\.py.*unclean_election",
    # Nine in ten of the sequences of charges that Kafka's own classes were given
    r"tests/unit/handlers/quotas/test_quota_sequences\.py.*\[[1-9]\]",
    # Attacks on the memory of requests, from many addresses and from clients of other standings
    r"tests/unit/network/test_memory_under_attack\.py.*many_addresses\[(?!at the minimum)",
    r"tests/unit/network/test_memory_under_attack\.py.*wait_for_seconds.*\[small frames.*-[01]\]",
    r"tests/unit/network/test_memory_under_attack\.py.*wait_for_seconds.*-0\]",
    # What unit tests show of each small file on a disk in memory
    r"tests/integration/broker/test_lost_directories\.py.*small_files",
    # A cluster of two brokers for one refusal
    rf"{SINK}test_replicas\.py",
    # Three nodes of Apache Kafka and all their tools
    r"tests/compatibility/cluster_tools/.*recordings_are_what_tools_print",
    # Three nodes of Apache Kafka, which take a minute of both cores to start
    r"tests/integration/client/test_(fail_over|followers|truncated_logs)\.py.*\[apache-kafka",
    # Spark sessions on Apache Kafka, and deaths there
    rf"{SINK}test_(batch|stream|driver_deaths|broker_deaths)\.py.*\[.*kafka",
]
_LONG = re.compile("|".join(f"(?:{each})" for each in LONG))


def is_long(test_id: str) -> bool:
    return _LONG.match(test_id) is not None


def is_wanted(test_id: str) -> bool:
    """Those of this run: all of them if the environment variable is set."""
    return bool(os.environ.get(VARIABLE)) or not is_long(test_id)
