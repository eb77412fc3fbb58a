"""The partition of an internal topic for a group or a transactional id.

Clients and tools use the same rule, that of Java: the absolute hash of the id, modulo the number of
partitions.
"""

from ottla.base.java.hash_order import java_string_hash


def shard_of(text: str, partitions: int) -> int:
    unsigned = java_string_hash(text)
    value = unsigned - 2**32 if unsigned >= 2**31 else unsigned
    return 0 if value == -(2**31) else abs(value) % partitions
