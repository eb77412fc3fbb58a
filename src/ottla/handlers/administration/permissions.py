"""What a client may do. Until there are ACLs everybody may do everything; their place is here."""

from __future__ import annotations

from enum import IntEnum

from ottla.protocol.errors import MalformedMessage

NOT_ASKED = -(2**31)  # in answers, where the client did not want to know
USER, ANONYMOUS = "User", "ANONYMOUS"  # who everybody is on a listener that asks nobody
UNKNOWN = 0  # of resources, patterns, operations and permissions; nobody may ask for it


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
    """An ACL of an unknown kind is no ACL: Kafka does not read such a request to its end."""
    if UNKNOWN in kinds:
        raise MalformedMessage("an ACL of an unknown kind")
