"""The partition of a key, in Python, used if the compiled loops could not be built.

Owns      the key hash of Kafka's producer, and grouping rows by partition.
Promises  the same results as `_native.pyx`, function by function.
Leaves    rows without a key to the caller.
"""

from __future__ import annotations

from array import array

from ottla.protocol.records._plain_columns import _check_column, _string_at
from ottla.protocol.records.batch import Buffer
from ottla.protocol.records.column_layout import StringColumn

INT32_MAX = 2**31 - 1
MASK = 0xFFFFFFFF
SEED = 0x9747B28C
FACTOR = 0x5BD1E995


def murmur2(key: bytes) -> int:
    """The 32-bit hash, unsigned."""
    found = SEED ^ len(key)
    whole = len(key) & ~3
    for at in range(0, whole, 4):
        word = int.from_bytes(key[at : at + 4], "little") * FACTOR & MASK
        word = (word ^ word >> 24) * FACTOR & MASK
        found = found * FACTOR & MASK ^ word
    if rest := key[whole:]:
        found = (found ^ int.from_bytes(rest, "little")) * FACTOR & MASK
    found = (found ^ found >> 13) * FACTOR & MASK
    return found ^ found >> 15


def key_partitions(keys: StringColumn, partitions: int, without_key: int) -> bytearray:
    """The partition of each row (int32) by its key; `without_key` for rows without one."""
    if partitions <= 0:
        raise ValueError(f"{partitions} partitions")
    _check_column(keys)
    partitions_of_rows = array("i")
    for row in range(keys.rows):
        key = _string_at(keys, row)
        found = without_key if key is None else (murmur2(bytes(key)) & INT32_MAX) % partitions
        partitions_of_rows.append(found)
    return bytearray(partitions_of_rows)


def group_rows(groups: Buffer, count: int) -> tuple[bytearray, list[int]]:
    """Row numbers (int32) by group, in order within each, and the end of each group."""
    group_of = memoryview(groups).cast("B").cast("i")
    if count < 0:
        raise ValueError(f"{len(group_of)} rows in {count} groups")
    members: list[list[int]] = [[] for _ in range(count)]
    for row, group in enumerate(group_of):
        if not 0 <= group < count:
            raise ValueError(f"row {row} is in group {group} of {count}")
        members[group].append(row)
    order, ends = array("i"), []
    for rows in members:
        order.extend(rows)
        ends.append(len(order))
    return bytearray(order), ends
