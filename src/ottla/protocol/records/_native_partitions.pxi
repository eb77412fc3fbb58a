# Which partition a key belongs to, and rows put in the order of their partitions. Part of
# `_native.pyx`; see `_plain_partitions.py`.

cdef enum:
    MURMUR2_SEED = 0x9747B28C
    MURMUR2_FACTOR = 0x5BD1E995


cdef inline uint32_t murmur2(const uint8_t* data, int64_t size) noexcept nogil:
    """The hash that Kafka's own producer has for keys, on 32 bits."""
    cdef uint32_t found = <uint32_t> MURMUR2_SEED ^ <uint32_t> size
    cdef uint32_t word
    cdef int64_t whole = size & ~<int64_t> 3
    cdef int64_t at = 0
    cdef uint32_t factor = <uint32_t> MURMUR2_FACTOR
    while at < whole:
        word = (
            <uint32_t> data[at] | <uint32_t> data[at + 1] << 8
            | <uint32_t> data[at + 2] << 16 | <uint32_t> data[at + 3] << 24
        )
        word *= factor
        word ^= word >> 24
        found = found * factor ^ word * factor
        at += 4
    if size - whole == 3:
        found ^= <uint32_t> data[whole + 2] << 16
    if size - whole >= 2:
        found ^= <uint32_t> data[whole + 1] << 8
    if size - whole >= 1:
        found = (found ^ data[whole]) * factor
    found ^= found >> 13
    found *= factor
    return found ^ found >> 15


def key_partitions(keys, int32_t partitions, int32_t without_key):
    cdef list pins = []
    cdef Input column
    cdef int64_t row = 0
    cdef int64_t start = 0
    cdef int64_t size = 0
    cdef bytearray output
    cdef int32_t* places
    if partitions <= 0:
        raise ValueError(f"{partitions} partitions")
    load_input(&column, keys, pins)
    output = new_bytearray(4 * column.rows)
    places = <int32_t*> PyByteArray_AS_STRING(output)
    with nogil:
        while row < column.rows:
            if find(&column, row, &start, &size):
                break
            if size < 0:
                places[row] = without_key
            else:
                places[row] = <int32_t> (murmur2(column.data + start, size) & 0x7FFFFFFF) % partitions
            row += 1
    if row < column.rows:
        raise ValueError(f"row {row} is inconsistent or too large for a record")
    return output


def group_rows(groups, int32_t count):
    cdef Pin held = pin(groups)
    cdef const int32_t* group_of = <const int32_t*> held.view.buf
    cdef int64_t rows = held.view.len // 4
    cdef int64_t row = 0
    cdef int32_t group
    cdef bytearray output
    cdef bytearray ends
    cdef int32_t* order
    cdef int64_t* next_place
    if count < 0 or rows > INT32_MAX:
        raise ValueError(f"{rows} rows in {count} groups")
    output = new_bytearray(4 * rows)
    ends = new_bytearray(8 * (<int64_t> count + 1))
    order = <int32_t*> PyByteArray_AS_STRING(output)
    next_place = <int64_t*> PyByteArray_AS_STRING(ends)
    memset(next_place, 0, 8 * (<int64_t> count + 1))
    with nogil:
        while row < rows:
            group = group_of[row]
            if group < 0 or group >= count:
                break
            next_place[group + 1] += 1
            row += 1
    if row < rows:
        raise ValueError(f"row {row} is in group {group_of[row]} of {count}")
    with nogil:
        for group in range(count):
            next_place[group + 1] += next_place[group]
        for row in range(rows):
            group = group_of[row]
            if group < 0 or group >= count or next_place[group] >= rows:
                break  # another thread changes the groups
            order[next_place[group]] = <int32_t> row
            next_place[group] += 1
    return output, ends_of_groups(ends, count)


cdef list ends_of_groups(bytearray ends, int32_t count):
    """After the second pass each place is where its group ends."""
    cdef int64_t* places = <int64_t*> PyByteArray_AS_STRING(ends)
    cdef int32_t group
    return [places[group] for group in range(count)]
