"""What `_key_map.pyx` offers: the class of `_plain_key_map`, where it is documented."""

from ottla.protocol.records.batch import Buffer

SLOT_BYTES: int

def are_rising(numbers: memoryview, count: int, first_offset: int, last_offset: int) -> bool: ...

class KeyMap:
    def __init__(self, slots: int, entries_max: int, base_offset: int, secret: bytes) -> None: ...
    def __len__(self) -> int: ...
    @property
    def size_bytes(self) -> int: ...
    def note(
        self,
        data: Buffer,
        start: int,
        count: int,
        numbers: memoryview,
        places: memoryview,
        from_offset: int,
    ) -> int: ...
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
    ) -> tuple[int, bool]: ...
