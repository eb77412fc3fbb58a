# Sums of records by time bucket, for the completeness audit. Part of `_native.pyx`; see
# `_plain_sums.py`, which has the definition of the hashes.

from libc.stdlib cimport free, realloc

cdef uint64_t PRIME_1 = 0x9E3779B185EBCA87
cdef uint64_t PRIME_2 = 0xC2B2AE3D27D4EB4F
cdef uint64_t PRIME_3 = 0x165667B19E3779F9
cdef uint64_t PRIME_4 = 0x85EBCA77C2B2AE63
cdef uint64_t PRIME_5 = 0x27D4EB2F165667C5

cdef int64_t DATED_FROM_MS = 946684800000
cdef int64_t DATED_UNTIL_MS = 4102444800000

cdef enum:
    TOPIC_ID_BYTES = 16
    PLACE_BYTES = 28
    FIRST_SLOTS = 64
    EMPTY_SLOT = -1
    NO_MEMORY = 100
    INCONSISTENT = 101


cdef struct Bucket:
    int64_t number
    int64_t count
    int64_t size
    uint64_t content_sum
    uint64_t content_xor
    uint64_t place_sum
    uint64_t place_xor
    uint64_t row_sum
    uint64_t row_xor
    int64_t min_timestamp
    int64_t max_timestamp
    int64_t first_offset
    int64_t last_offset


# The sums so far: `buckets` in the order of their first record, `slots` is a hash table of them.
cdef struct Fold:
    int64_t bucket_ms
    Bucket* buckets
    Py_ssize_t used
    int32_t* slots
    Py_ssize_t slot_count  # a power of two, at least twice `used`
    Py_ssize_t latest  # most records are in the bucket of the record before
    uint8_t* scratch
    Py_ssize_t scratch_size
    uint8_t place[PLACE_BYTES]


cdef inline uint64_t rotate(uint64_t number, int bits) noexcept nogil:
    return number << bits | number >> (64 - bits)


cdef inline uint64_t read_le64(const uint8_t* data) noexcept nogil:
    return (
        <uint64_t> data[0] | <uint64_t> data[1] << 8 | <uint64_t> data[2] << 16
        | <uint64_t> data[3] << 24 | <uint64_t> data[4] << 32 | <uint64_t> data[5] << 40
        | <uint64_t> data[6] << 48 | <uint64_t> data[7] << 56
    )


cdef inline uint64_t read_le32(const uint8_t* data) noexcept nogil:
    return (
        <uint64_t> data[0] | <uint64_t> data[1] << 8 | <uint64_t> data[2] << 16
        | <uint64_t> data[3] << 24
    )


cdef inline uint8_t* put_le64(uint8_t* at, uint64_t number) noexcept nogil:
    cdef int byte
    for byte in range(8):
        at[byte] = <uint8_t> (number >> (8 * byte))
    return at + 8


cdef inline uint8_t* put_le32(uint8_t* at, uint32_t number) noexcept nogil:
    cdef int byte
    for byte in range(4):
        at[byte] = <uint8_t> (number >> (8 * byte))
    return at + 4


cdef inline uint64_t mix(uint64_t lane, uint64_t word) noexcept nogil:
    return rotate(lane + word * PRIME_2, 31) * PRIME_1


cdef inline uint64_t merge_lane(uint64_t found, uint64_t lane) noexcept nogil:
    return (found ^ mix(0, lane)) * PRIME_1 + PRIME_4


cdef uint64_t xxh64_of(const uint8_t* data, Py_ssize_t size, uint64_t seed) noexcept nogil:
    cdef const uint8_t* end = data + size
    cdef uint64_t one = seed + PRIME_1 + PRIME_2
    cdef uint64_t two = seed + PRIME_2
    cdef uint64_t three = seed
    cdef uint64_t four = seed - PRIME_1
    cdef uint64_t found = seed + PRIME_5
    if size >= 32:
        while end - data >= 32:
            one = mix(one, read_le64(data))
            two = mix(two, read_le64(data + 8))
            three = mix(three, read_le64(data + 16))
            four = mix(four, read_le64(data + 24))
            data += 32
        found = rotate(one, 1) + rotate(two, 7) + rotate(three, 12) + rotate(four, 18)
        found = merge_lane(merge_lane(merge_lane(merge_lane(found, one), two), three), four)
    found += <uint64_t> size
    while end - data >= 8:
        found = rotate(found ^ mix(0, read_le64(data)), 27) * PRIME_1 + PRIME_4
        data += 8
    if end - data >= 4:
        found = rotate(found ^ read_le32(data) * PRIME_1, 23) * PRIME_2 + PRIME_3
        data += 4
    while data < end:
        found = rotate(found ^ data[0] * PRIME_5, 11) * PRIME_1
        data += 1
    found = (found ^ found >> 33) * PRIME_2
    found = (found ^ found >> 29) * PRIME_3
    return found ^ found >> 32


def xxh64(data, seed=0):
    cdef Pin held = pin(data)
    return xxh64_of(held.data(), held.view.len, <uint64_t> seed)


# The table of buckets

cdef int open_fold(Fold* fold, topic_id, int32_t partition, int64_t bucket_ms) except -1:
    cdef bytes identity = bytes(topic_id)
    memset(fold, 0, sizeof(Fold))
    if PyBytes_GET_SIZE(identity) != TOPIC_ID_BYTES:
        raise ValueError(f"a topic id of {len(identity)} bytes")
    if bucket_ms <= 0:
        raise ValueError(f"buckets of {bucket_ms} ms")
    fold.bucket_ms = bucket_ms
    memcpy(fold.place, PyBytes_AS_STRING(identity), TOPIC_ID_BYTES)
    put_le32(fold.place + TOPIC_ID_BYTES, <uint32_t> partition)
    return 0


cdef void close_fold(Fold* fold) noexcept:
    free(fold.buckets)
    free(fold.slots)
    free(fold.scratch)


cdef inline Py_ssize_t slot_of(const Fold* fold, int64_t number) noexcept nogil:
    cdef Py_ssize_t mask = fold.slot_count - 1
    cdef Py_ssize_t slot = <Py_ssize_t> ((<uint64_t> number * PRIME_1) >> 32) & mask
    while fold.slots[slot] != EMPTY_SLOT and fold.buckets[fold.slots[slot]].number != number:
        slot = (slot + 1) & mask
    return slot


cdef int grow(Fold* fold) noexcept nogil:
    cdef Py_ssize_t count = 2 * fold.slot_count if fold.slot_count else FIRST_SLOTS
    cdef Py_ssize_t place
    cdef void* memory = realloc(fold.buckets, (count // 2) * sizeof(Bucket))
    if memory == NULL:
        return NO_MEMORY
    fold.buckets = <Bucket*> memory
    memory = realloc(fold.slots, count * sizeof(int32_t))
    if memory == NULL:
        return NO_MEMORY
    fold.slots = <int32_t*> memory
    fold.slot_count = count
    for place in range(count):
        fold.slots[place] = EMPTY_SLOT
    for place in range(fold.used):
        fold.slots[slot_of(fold, fold.buckets[place].number)] = <int32_t> place
    return OK


cdef inline int64_t bucket_of(int64_t timestamp, int64_t bucket_ms) noexcept nogil:
    if timestamp < DATED_FROM_MS or timestamp >= DATED_UNTIL_MS:
        return -1
    return timestamp // bucket_ms


cdef Bucket* find_bucket(Fold* fold, int64_t number) noexcept nogil:
    """NULL if there is no memory."""
    cdef Py_ssize_t slot
    cdef Bucket* found
    if fold.used and fold.buckets[fold.latest].number == number:
        return &fold.buckets[fold.latest]
    if 2 * (fold.used + 1) > fold.slot_count and grow(fold):
        return NULL
    slot = slot_of(fold, number)
    if fold.slots[slot] == EMPTY_SLOT:
        fold.slots[slot] = <int32_t> fold.used
        found = &fold.buckets[fold.used]
        memset(found, 0, sizeof(Bucket))
        found.number = number
        fold.used += 1
    fold.latest = fold.slots[slot]
    return &fold.buckets[fold.latest]


cdef int add_record(
    Fold* fold, int64_t timestamp, int64_t offset, int64_t size, uint64_t content, uint64_t row
) noexcept nogil:
    cdef Bucket* found = find_bucket(fold, bucket_of(timestamp, fold.bucket_ms))
    cdef uint64_t place
    if found == NULL:
        return NO_MEMORY
    put_le64(fold.place + TOPIC_ID_BYTES + 4, <uint64_t> offset)
    place = xxh64_of(fold.place, PLACE_BYTES, 0)
    if not found.count or timestamp < found.min_timestamp:
        found.min_timestamp = timestamp
    if not found.count or timestamp > found.max_timestamp:
        found.max_timestamp = timestamp
    if not found.count or offset < found.first_offset:
        found.first_offset = offset
    if not found.count or offset > found.last_offset:
        found.last_offset = offset
    found.count += 1
    found.size += size
    found.content_sum += content
    found.content_xor ^= content
    found.place_sum += place
    found.place_xor ^= place
    found.row_sum += row
    found.row_xor ^= row
    return OK


cdef inline uint8_t* reserve_scratch(Fold* fold, Py_ssize_t size) noexcept nogil:
    cdef void* memory
    if size > fold.scratch_size:
        memory = realloc(fold.scratch, 2 * size)
        if memory == NULL:
            return NULL
        fold.scratch = <uint8_t*> memory
        fold.scratch_size = 2 * size
    return fold.scratch


cdef inline uint8_t* put_content(uint8_t* at, const uint8_t* data, int64_t size) noexcept nogil:
    at = put_le32(at, <uint32_t> <int32_t> size)
    if size > 0:
        memcpy(at, data, size)
        at += size
    return at


cdef list results_of(const Fold* fold):
    cdef Py_ssize_t place
    cdef const Bucket* each
    cdef list results = []
    for place in range(fold.used):
        each = &fold.buckets[place]
        results.append(BucketSums(
            each.number, each.count, each.size, each.content_sum, each.content_xor,
            each.place_sum, each.place_xor, each.row_sum, each.row_xor,
            each.min_timestamp, each.max_timestamp, each.first_offset, each.last_offset,
        ))
    results.sort()
    return results


# Records as they lie in batches

cdef int add_fields(Fold* fold, const Segment* segment, const Fields* f) noexcept nogil:
    """One record that `read_record` has checked."""
    cdef const uint8_t* data = segment.data
    cdef Py_ssize_t at = f.headers_at
    cdef Py_ssize_t field_at = 0
    cdef int32_t size = 0
    cdef int32_t number
    cdef int64_t sizes = (f.key_size if f.key_size > 0 else 0) + (f.value_size if f.value_size > 0 else 0)
    cdef int64_t timestamp = (
        segment.append_time if segment.has_append_time
        else add_int64(segment.base_timestamp, f.timestamp_delta)
    )
    # Lengths take at most four times the bytes that they take in the record, and 20 more.
    cdef uint8_t* scratch = reserve_scratch(fold, 4 * (f.end - f.start) + 32)
    cdef uint8_t* to = scratch
    if scratch == NULL:
        return NO_MEMORY
    to = put_le64(to, <uint64_t> timestamp)
    to = put_content(to, data + f.key_at, f.key_size)
    to = put_content(to, data + f.value_at, f.value_size)
    to = put_le32(to, <uint32_t> f.headers)
    for number in range(f.headers):
        if read_field(data, &at, f.end, &field_at, &size) or size < 0:
            return HEADER_KEY
        to = put_content(to, data + field_at, size)
        sizes += size
        if read_field(data, &at, f.end, &field_at, &size):
            return FIELD_LENGTH
        to = put_content(to, data + field_at, size)
        if size > 0:
            sizes += size
    return add_record(
        fold, timestamp, add_int64(segment.base_offset, f.offset_delta), sizes,
        xxh64_of(scratch, to - scratch, 0), 0,
    )


cdef int fold_one(Fold* fold, const Segment* segment, Fields* f, Py_ssize_t* number) noexcept nogil:
    cdef Py_ssize_t position = segment.position
    cdef int fault
    f.fault_at = position
    if segment.count < 0 or segment.count > (segment.end - position) // RECORD_BYTES_MIN:
        return COUNT
    while number[0] < segment.count:
        fault = read_record(segment.data, position, segment.end, f)
        if not fault and is_wanted(segment, f):
            fault = add_fields(fold, segment, f)
        if fault:
            return fault
        position = f.end
        number[0] += 1
    f.fault_at = position
    return BODY_END if segment.is_last and position != segment.end else OK


def fold_segments(segments, topic_id, int32_t partition, int64_t bucket_ms):
    cdef list pins = []
    cdef Segment segment
    cdef Fold fold
    cdef Fields f
    cdef Py_ssize_t number
    cdef int fault
    open_fold(&fold, topic_id, partition, bucket_ms)
    try:
        for source in segments:
            pins.clear()
            load_segment(&segment, source, pins)
            number = 0
            with nogil:
                fault = fold_one(&fold, &segment, &f, &number)
            if fault == NO_MEMORY:
                raise MemoryError
            if fault:
                refuse(fault, source[3] + number, f.fault_at - segment.position)
        return results_of(&fold)
    finally:
        close_fold(&fold)


# Rows of columns

cdef int add_row(
    Fold* fold, const Rows* rows, int64_t row, int64_t offset, bint with_content, uint64_t row_hash
) noexcept nogil:
    cdef int64_t start = 0
    cdef int64_t size = 0
    cdef int64_t first = 0
    cdef int64_t count = 0
    cdef int64_t header
    cdef int64_t sizes = 0
    cdef int64_t length
    cdef uint8_t* to
    if not with_content:
        return add_record(fold, rows.timestamps[row], offset, 0, 0, row_hash)
    length = measure_row(rows, row, 0)
    if length < 0 or length > INT32_MAX:
        return INCONSISTENT
    to = reserve_scratch(fold, 4 * length + 64)
    if to == NULL:
        return NO_MEMORY
    to = put_le64(to, <uint64_t> rows.timestamps[row])
    find(&rows.key, row, &start, &size)
    to = put_content(to, rows.key.data + start, size)
    sizes += max(size, 0)
    find(&rows.value, row, &start, &size)
    to = put_content(to, rows.value.data + start, size)
    sizes += max(size, 0)
    if rows.has_headers:
        find(&rows.header_lists, row, &first, &count)
    count = max(count, 0)
    to = put_le32(to, <uint32_t> count)
    for header in range(first, first + count):
        find(&rows.header_key, header, &start, &size)
        to = put_content(to, rows.header_key.data + start, size)
        sizes += max(size, 0)
        find(&rows.header_value, header, &start, &size)
        to = put_content(to, rows.header_value.data + start, size)
        sizes += max(size, 0)
    return add_record(
        fold, rows.timestamps[row], offset, sizes,
        xxh64_of(fold.scratch, to - fold.scratch, 0), row_hash,
    )


def fold_columns(
    Py_ssize_t count, offsets, timestamps, keys, values, headers, row_hashes, bint with_content,
    topic_id, int32_t partition, int64_t bucket_ms,
):
    cdef list pins = []
    cdef Rows rows
    cdef Fold fold
    cdef Pin held_offsets = pin(offsets)
    cdef Pin held_hashes = pin(row_hashes if row_hashes is not None else b"")
    cdef const int64_t* offset = <const int64_t*> held_offsets.view.buf
    cdef const uint64_t* hashes = NULL
    cdef Py_ssize_t row = 0
    cdef int fault = OK
    if row_hashes is not None:
        hashes = <const uint64_t*> held_hashes.view.buf
    if count < 0 or held_offsets.view.len // 8 < count:
        raise ValueError("fewer offsets than rows")
    if hashes != NULL and held_hashes.view.len // 8 < count:
        raise ValueError("fewer hashes than rows")
    memset(&rows, 0, sizeof(Rows))
    load_rows(&rows, timestamps, count, keys, values, headers, pins)
    open_fold(&fold, topic_id, partition, bucket_ms)
    try:
        with nogil:
            while row < count:
                fault = add_row(
                    &fold, &rows, row, offset[row], with_content, hashes[row] if hashes != NULL else 0
                )
                if fault:
                    break
                row += 1
        if fault == NO_MEMORY:
            raise MemoryError
        if fault:
            raise ValueError(f"row {row} is inconsistent or too large for a record")
        return results_of(&fold)
    finally:
        close_fold(&fold)


def add_hashes(hashes, column, seed):
    cdef list pins = []
    cdef Input source
    cdef Pin held = pin(hashes, True)
    cdef uint64_t* sums = <uint64_t*> held.view.buf
    cdef uint64_t start_value = <uint64_t> seed
    cdef int64_t row = 0
    cdef int64_t start = 0
    cdef int64_t size = 0
    load_input(&source, column, pins)
    if held.view.len // 8 < source.rows:
        raise ValueError("fewer hashes than rows")
    with nogil:
        while row < source.rows:
            if find(&source, row, &start, &size):
                break
            if size >= 0:
                sums[row] += xxh64_of(source.data + start, size, start_value)
            row += 1
    if row < source.rows:
        raise ValueError(f"row {row} is inconsistent or too large for a record")


def finish_hashes(hashes):
    cdef Pin held = pin(hashes, True)
    cdef uint64_t* sums = <uint64_t*> held.view.buf
    cdef uint8_t word[8]
    cdef Py_ssize_t row
    for row in range(held.view.len // 8):
        put_le64(word, sums[row])
        sums[row] = xxh64_of(word, 8, 0)
