# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The newest offset of each key, compiled. `_plain_key_map.py` says what it does, and is the same.

An entry takes 16 bytes: 80 bits of the key's hash and 48 bits of offset, counted from the map's
base and from 1, so that 0 is an empty slot. 32 more bits of the hash choose the slot. That two of
a hundred million keys are taken for one has a probability below 1e-14. The hash is SipHash-2-4
under a secret of this map alone, so nobody can choose keys that collide.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

SLOT_BYTES = 16
cdef enum:
    OFFSET_BITS = 48
cdef uint64_t OFFSET_MASK = (<uint64_t> 1 << OFFSET_BITS) - 1


cdef inline uint64_t rotate(uint64_t word, int bits) noexcept nogil:
    return (word << bits) | (word >> (64 - bits))


cdef inline void mix(uint64_t* v, int rounds) noexcept nogil:
    cdef int number
    for number in range(rounds):
        v[0] += v[1]
        v[2] += v[3]
        v[1] = rotate(v[1], 13) ^ v[0]
        v[3] = rotate(v[3], 16) ^ v[2]
        v[0] = rotate(v[0], 32)
        v[2] += v[1]
        v[0] += v[3]
        v[1] = rotate(v[1], 17) ^ v[2]
        v[3] = rotate(v[3], 21) ^ v[0]
        v[2] = rotate(v[2], 32)


cdef inline uint64_t read_word(const uint8_t* data) noexcept nogil:
    cdef uint64_t word
    memcpy(&word, data, 8)
    return word


cdef void hash_key(
    const uint8_t* key, Py_ssize_t size, const uint64_t* secret, uint64_t* hashed
) noexcept nogil:
    """SipHash-2-4 of 128 bits, with words in this machine's byte order."""
    cdef uint64_t v[4]
    cdef uint64_t word
    cdef uint64_t last = <uint64_t> (size & 0xFF) << 56
    cdef Py_ssize_t at = 0
    cdef int shift = 0
    v[0] = secret[0] ^ <uint64_t> 0x736F6D6570736575
    v[1] = secret[1] ^ <uint64_t> 0x646F72616E646F6D ^ <uint64_t> 0xEE
    v[2] = secret[0] ^ <uint64_t> 0x6C7967656E657261
    v[3] = secret[1] ^ <uint64_t> 0x7465646279746573
    while at + 8 <= size:
        word = read_word(key + at)
        v[3] ^= word
        mix(v, 2)
        v[0] ^= word
        at += 8
    while at < size:
        last |= <uint64_t> key[at] << shift
        shift += 8
        at += 1
    v[3] ^= last
    mix(v, 2)
    v[0] ^= last
    v[2] ^= 0xEE
    mix(v, 4)
    hashed[0] = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xDD
    mix(v, 4)
    hashed[1] = v[0] ^ v[1] ^ v[2] ^ v[3]


cdef class KeyMap:
    cdef uint64_t* table
    cdef uint64_t slots
    cdef uint64_t entries
    cdef uint64_t entries_max
    cdef int64_t base_offset
    cdef uint64_t secret[2]

    def __cinit__(self, Py_ssize_t slots, Py_ssize_t entries_max, int64_t base_offset, bytes secret):
        if not 0 < entries_max < slots < 1 << 32:
            raise ValueError(f"{entries_max} keys in {slots} slots")
        if len(secret) != 16:
            raise ValueError("the secret has 16 bytes")
        self.slots = slots
        self.entries = 0
        self.entries_max = entries_max
        self.base_offset = base_offset
        self.secret[0] = read_word(<const uint8_t*> secret)
        self.secret[1] = read_word(<const uint8_t*> secret + 8)
        self.table = <uint64_t*> calloc(slots, 16)
        if self.table == NULL:
            raise MemoryError()

    def __dealloc__(self):
        free(self.table)

    def __len__(self):
        return self.entries

    @property
    def size_bytes(self):
        return self.slots * 16

    cdef uint64_t* find(self, const uint8_t* key, Py_ssize_t size, uint64_t* tags) noexcept nogil:
        """The slot with this key, or the empty one where it would go."""
        cdef uint64_t hashed[2]
        hash_key(key, size, self.secret, hashed)
        cdef uint64_t slot = (<uint64_t> <uint32_t> hashed[1] * self.slots) >> 32
        cdef uint64_t* entry
        tags[0] = hashed[0]
        tags[1] = hashed[1] & ~OFFSET_MASK
        while True:
            entry = self.table + 2 * slot
            if not entry[1] & OFFSET_MASK:
                return entry
            if entry[0] == tags[0] and entry[1] & ~OFFSET_MASK == tags[1]:
                return entry
            slot += 1
            if slot == self.slots:
                slot = 0

    def note(
        self, const uint8_t[::1] data, Py_ssize_t start, Py_ssize_t count,
        const int64_t[::1] numbers, const int32_t[::1] places, int64_t from_offset,
    ):
        check_arrays(count, numbers, places)
        cdef uint64_t tags[2]
        cdef uint64_t* entry
        cdef Py_ssize_t row
        cdef Py_ssize_t at
        cdef int32_t size
        cdef uint64_t relative
        for row in range(count):
            size = places[3 * count + row]
            if size < 0 or numbers[row] < from_offset:
                continue
            at = start + places[2 * count + row]
            check_place(data, at, size)
            if numbers[row] < self.base_offset or <uint64_t> (numbers[row] - self.base_offset) >= OFFSET_MASK:
                return row
            relative = <uint64_t> (numbers[row] - self.base_offset) + 1
            entry = self.find(&data[0] + at, size, tags)
            if not entry[1] & OFFSET_MASK:
                if self.entries >= self.entries_max:
                    return row
                self.entries += 1
            entry[0] = tags[0]
            entry[1] = tags[1] | relative
        return count

    def choose(
        self, const uint8_t[::1] data, Py_ssize_t start, Py_ssize_t count,
        const int64_t[::1] numbers, const int32_t[::1] places,
        int64_t end_offset, bint drops_tombstones, uint8_t[::1] keep,
    ):
        check_arrays(count, numbers, places)
        if keep.shape[0] != count:
            raise ValueError(f"room for {keep.shape[0]} decisions on {count} records")
        cdef Py_ssize_t row
        cdef Py_ssize_t at
        cdef Py_ssize_t kept = 0
        cdef bint has_tombstones = False
        cdef bint is_kept
        cdef int32_t size
        for row in range(count):
            size = places[3 * count + row]
            if numbers[row] >= end_offset:
                is_kept = True
            elif size < 0 or (drops_tombstones and places[5 * count + row] < 0):
                is_kept = False
            else:
                at = start + places[2 * count + row]
                check_place(data, at, size)
                is_kept = self.is_newest(&data[0] + at, size, numbers[row])
            keep[row] = is_kept
            if is_kept:
                kept += 1
                has_tombstones |= places[5 * count + row] < 0
        return kept, has_tombstones

    cdef bint is_newest(self, const uint8_t* key, Py_ssize_t size, int64_t offset) noexcept nogil:
        cdef uint64_t tags[2]
        cdef uint64_t relative = self.find(key, size, tags)[1] & OFFSET_MASK
        return relative == 0 or offset >= self.base_offset + <int64_t> relative - 1


def are_rising(
    const int64_t[::1] numbers, Py_ssize_t count, int64_t first_offset, int64_t last_offset
):
    cdef int64_t least = first_offset
    cdef Py_ssize_t row
    if count < 0 or count > numbers.shape[0]:
        raise ValueError(f"no index of {count} records")
    for row in range(count):
        if numbers[row] < least or numbers[row] > last_offset:
            return False
        least = numbers[row] + 1
    return True


cdef inline int check_arrays(
    Py_ssize_t count, const int64_t[::1] numbers, const int32_t[::1] places
) except -1:
    if count < 0 or numbers.shape[0] < 2 * count or places.shape[0] < 8 * count:
        raise ValueError(f"no index of {count} records")
    return 0


cdef inline int check_place(const uint8_t[::1] data, Py_ssize_t at, int32_t size) except -1:
    if at < 0 or at + size > data.shape[0]:
        raise ValueError(f"a key of {size} bytes at {at} of {data.shape[0]}")
    return 0
