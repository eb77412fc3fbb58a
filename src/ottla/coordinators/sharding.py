"""Which partition of an internal topic a group or a transactional id belongs to.

Clients and tools know the rule, so it is Java's: the absolute hash of the id, modulo partitions.
"""

from ottla.base.java.hash_order import java_string_hash


def shard_of(text: str, partitions: int) -> int:
    unsigned = java_string_hash(text)
    value = unsigned - 2**32 if unsigned >= 2**31 else unsigned
    return 0 if value == -(2**31) else abs(value) % partitions
