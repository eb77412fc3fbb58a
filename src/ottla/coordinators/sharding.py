"""Which partition of an internal topic a group or a transactional id belongs to.

Clients and tools know the rule, so it is Java's: the absolute hash of the id, modulo partitions.
"""


def java_hash(text: str) -> int:
    """What `String.hashCode` gives, as a signed 32-bit number."""
    value = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for at in range(0, len(units), 2):
        value = (31 * value + (units[at] << 8) + units[at + 1]) & 0xFFFFFFFF
    return value - 2**32 if value >= 2**31 else value


def shard_of(text: str, partitions: int) -> int:
    value = java_hash(text)
    return 0 if value == -(2**31) else abs(value) % partitions
