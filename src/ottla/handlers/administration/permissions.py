"""What a client may do. Without ACLs, every client may do everything."""

from __future__ import annotations

from enum import IntEnum

from ottla.protocol.errors import MalformedMessage

NOT_REQUESTED = -(2**31)  # in responses, if the client did not request them
USER, ANONYMOUS = "User", "ANONYMOUS"  # every client of a listener without authentication
UNKNOWN = 0  # resource, pattern, operation or permission; never valid in a request


class Operation(IntEnum):
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12


def _bits(*operations: Operation) -> int:
    return sum(1 << operation for operation in operations)


TOPIC_OPERATIONS = _bits(
    Operation.READ, Operation.WRITE, Operation.CREATE, Operation.DELETE, Operation.ALTER,
    Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS,
)  # fmt: skip
GROUP_OPERATIONS = _bits(
    Operation.READ, Operation.DELETE, Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
)  # fmt: skip
CLUSTER_OPERATIONS = _bits(
    Operation.CREATE, Operation.ALTER, Operation.DESCRIBE, Operation.CLUSTER_ACTION,
    Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS, Operation.IDEMPOTENT_WRITE,
)  # fmt: skip


def check_known(*kinds: int) -> None:
    """Kafka treats a request with an ACL of an unknown kind as malformed."""
    if UNKNOWN in kinds:
        raise MalformedMessage("an ACL of an unknown kind")
