"""Disks of brokers that take no records: clients repeat a refused write without saying why."""

from __future__ import annotations

from ottla.cli.cluster.connection import Connection
from ottla.cli.cluster.raw_client import is_usable, raw_client
from ottla.cli.output.tables import count_text
from ottla.client.errors import ClientError
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.describe_log_dirs_request import DescribeLogDirsRequest
from ottla.protocol.messages.describe_log_dirs_response import (
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
)

ASK_S = 2.0
LITTLE_BYTES = 1 << 20  # a broker that refuses records has less than one needs, not always none


def disk_problem(connection: Connection, broker_id: int) -> str | None:
    """None if all its disks have room, or if that is not known."""
    if not is_usable(connection):
        return None
    try:
        with raw_client(connection, ASK_S) as cluster:
            cluster.read_metadata([])
            answer: DescribeLogDirsResponse = cluster.ask_broker(
                broker_id, DescribeLogDirsRequest(topics=[])
            )
    except ClientError:
        return None
    problems = (directory_problem(each) for each in answer.results)
    found = next((each for each in problems if each is not None), None)
    return None if found is None else f"broker {broker_id}: {found}"


def directory_problem(found: DescribeLogDirsResult) -> str | None:
    if found.error_code == ErrorCode.KAFKA_STORAGE_ERROR:
        return f"its log directory {found.log_dir} is offline"
    if 0 <= found.usable_bytes < LITTLE_BYTES:
        free = count_text(found.usable_bytes, "byte")
        return f"the disk of its log directory {found.log_dir} is full ({free} free)"
    return None
