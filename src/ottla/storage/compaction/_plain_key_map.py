"""The newest offset of each key, in Python, used if the compiled map could not be built.

Owns      a hash table in contiguous memory, 16 bytes a slot: 80 bits of the key's hash and 48 bits
          of offset, counted from the map's base and from 1, so that 0 is an empty slot.
Promises  keys are not kept, so memory does not depend on their size; a full map reports it, and
          loses no entry. The hash has a secret, so that no client can choose keys that collide.
Leaves    reading records to `ottla.protocol.records`, whose index arrays it takes: offsets and
          timestamps in `numbers`, positions of keys and values in `places`.
"""

from __future__ import annotations

from array import array
from hashlib import blake2b

from ottla.protocol.records.batch import Buffer

SLOT_BYTES = 16
_OFFSET_MASK = (1 << 48) - 1
_TAG_MASK = ((1 << 64) - 1) ^ _OFFSET_MASK


class KeyMap:
    def __init__(self, slots: int, entries_max: int, base_offset: int, secret: bytes) -> None:
        if not 0 < entries_max < slots < 1 << 32:
            raise ValueError(f"{entries_max} keys in {slots} slots")
        if len(secret) != 16:
            raise ValueError("the secret has 16 bytes")
        self._slots = slots
        self._entries = 0
        self._entries_max = entries_max
        self._base_offset = base_offset
        self._secret = secret
        self._table = array("Q", bytes(slots * SLOT_BYTES))

    def __len__(self) -> int:
        return self._entries

    @property
    def size_bytes(self) -> int:
        return self._slots * SLOT_BYTES

    def note(
        self,
        data: Buffer,
        start: int,
        count: int,
        numbers: memoryview,
        places: memoryview,
        from_offset: int,
    ) -> int:
        """Store the offsets of these records, from `from_offset` on, if they have keys.

        Returns how many records were processed: all, or as many as fit into the map.
        """
        table = self._table
        for row in range(count):
            size, offset = places[3 * count + row], numbers[row]
            if size < 0 or offset < from_offset:
                continue
            if not 0 <= offset - self._base_offset < _OFFSET_MASK:
                return row
            at = start + places[2 * count + row]
            slot, first, second = self._find(bytes(data[at : at + size]))
            if not table[slot + 1] & _OFFSET_MASK:
                if self._entries >= self._entries_max:
                    return row
                self._entries += 1
            table[slot] = first
            table[slot + 1] = second | offset - self._base_offset + 1
        return count

    def choose(
        self,
        data: Buffer,
        start: int,
        count: int,
        numbers: memoryview,
        places: memoryview,
        end_offset: int,
        drops_tombstones: bool,
        keep: bytearray,
    ) -> tuple[int, bool]:
        """Set `keep` to 1 for the records that stay: those from `end_offset` on, and the newest of
        each key, unless it is an expired tombstone. Returns how many these are, and whether there
        are tombstones among them.
        """
        kept, has_tombstones = 0, False
        for row in range(count):
            is_tombstone = places[5 * count + row] < 0
            size, offset = places[3 * count + row], numbers[row]
            if offset >= end_offset:
                is_kept = True
            elif size < 0 or (drops_tombstones and is_tombstone):
                is_kept = False
            else:
                at = start + places[2 * count + row]
                is_kept = self._is_newest(bytes(data[at : at + size]), offset)
            keep[row] = is_kept
            if is_kept:
                kept += 1
                has_tombstones |= is_tombstone
        return kept, has_tombstones

    def _is_newest(self, key: bytes, offset: int) -> bool:
        relative = self._table[self._find(key)[0] + 1] & _OFFSET_MASK
        return relative == 0 or offset >= self._base_offset + relative - 1

    def _find(self, key: bytes) -> tuple[int, int, int]:
        """The place of this key, or the empty one where it would go, and its two tags."""
        digest = blake2b(key, digest_size=16, key=self._secret).digest()
        first = int.from_bytes(digest[:8])
        second = int.from_bytes(digest[8:])
        slot = (second & 0xFFFFFFFF) * self._slots >> 32
        second &= _TAG_MASK
        table = self._table
        while True:
            word = table[2 * slot + 1]
            if not word & _OFFSET_MASK or (word & _TAG_MASK == second and table[2 * slot] == first):
                return 2 * slot, first, second
            slot += 1
            if slot == self._slots:
                slot = 0


def are_rising(numbers: memoryview, count: int, first_offset: int, last_offset: int) -> bool:
    """Whether the first `count` offsets increase, and are between these two."""
    least = first_offset
    for offset in numbers[:count]:
        if not least <= offset <= last_offset:
            return False
        least = offset + 1
    return True
