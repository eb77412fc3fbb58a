"""Log directories that accept no records: clients retry a refused write without reporting why."""

from __future__ import annotations

from ottla.client.cluster.cluster import Cluster
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.describe_log_dirs_request import DescribeLogDirsRequest
from ottla.protocol.messages.describe_log_dirs_response import (
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
)

LITTLE_BYTES = 1 << 20  # a broker that refuses records has less than one needs, not always none


def disk_problem(cluster: Cluster, broker_id: int) -> str | None:
    """The problem of one of the broker's log directories; None if all have room. ClientError if the
    broker does not respond."""
    cluster.read_metadata([])
    answer: DescribeLogDirsResponse = cluster.ask_broker(
        broker_id, DescribeLogDirsRequest(topics=[])
    )
    problems = (directory_problem(each) for each in answer.results)
    found = next((each for each in problems if each is not None), None)
    return None if found is None else f"broker {broker_id}: {found}"


def directory_problem(found: DescribeLogDirsResult) -> str | None:
    if found.error_code == ErrorCode.KAFKA_STORAGE_ERROR:
        return f"its log directory {found.log_dir} is offline"
    if 0 <= found.usable_bytes < LITTLE_BYTES:
        return (
            f"the disk of its log directory {found.log_dir} is full "
            f"({found.usable_bytes:,} bytes free)"
        )
    return None
