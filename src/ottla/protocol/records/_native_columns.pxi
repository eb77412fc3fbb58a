# Columns out of records, as Apache Arrow lays them out. Part of `_native.pyx`; see
# `_plain_columns.py`.
#
# Two passes: the first checks everything and measures, the second copies into memory of exactly
# that size. The second still checks, because the buffer may be one that another thread writes to.


cdef struct Segment:
    const uint8_t* data
    Py_ssize_t position
    Py_ssize_t end
    Py_ssize_t count
    bint is_last
    int64_t base_offset
    int64_t base_timestamp
    bint has_append_time
    int64_t append_time
    int64_t from_offset
    int64_t end_offset


cdef struct Totals:
    Py_ssize_t rows
    Py_ssize_t key_bytes
    Py_ssize_t value_bytes
    Py_ssize_t headers
    Py_ssize_t header_key_bytes
    Py_ssize_t header_value_bytes


# One column of byte strings as Arrow lays it out: offsets, validity bits, bytes.
cdef struct Strings:
    int32_t* ends  # one more than rows: the first is 0
    uint8_t* valid
    uint8_t* data
    Py_ssize_t rows
    Py_ssize_t rows_max
    Py_ssize_t used
    Py_ssize_t room
    Py_ssize_t nulls


cdef struct Columns:
    int64_t* offsets
    int64_t* timestamps
    Strings key
    Strings value
    bint with_headers
    int32_t* header_ends
    Strings header_key
    Strings header_value


cdef inline bint is_wanted(const Segment* segment, const Fields* f) noexcept nogil:
    cdef int64_t offset = add_int64(segment.base_offset, f.offset_delta)
    return segment.from_offset <= offset < segment.end_offset


cdef int measure_headers(Totals* totals, const uint8_t* data, const Fields* f) noexcept nogil:
    cdef Py_ssize_t at = f.headers_at
    cdef Py_ssize_t field_at = 0
    cdef int32_t size = 0
    cdef int32_t number
    for number in range(f.headers):
        if read_field(data, &at, f.end, &field_at, &size) or size < 0:
            return HEADER_KEY
        totals.header_key_bytes += size
        if read_field(data, &at, f.end, &field_at, &size):
            return FIELD_LENGTH
        if size > 0:
            totals.header_value_bytes += size
    totals.headers += f.headers
    return OK


cdef int measure_segment(
    const Segment* segment, bint with_headers, Totals* totals, Fields* f, Py_ssize_t* number
) noexcept nogil:
    cdef Py_ssize_t position = segment.position
    cdef int fault
    f.fault_at = position
    if segment.count < 0 or segment.count > (segment.end - position) // RECORD_BYTES_MIN:
        return COUNT
    while number[0] < segment.count:
        fault = read_record(segment.data, position, segment.end, f)
        if fault:
            return fault
        if is_wanted(segment, f):
            totals.rows += 1
            if f.key_size > 0:
                totals.key_bytes += f.key_size
            if f.value_size > 0:
                totals.value_bytes += f.value_size
            if with_headers and f.headers:
                fault = measure_headers(totals, segment.data, f)
                if fault:
                    return fault
        position = f.end
        number[0] += 1
    f.fault_at = position
    return BODY_END if segment.is_last and position != segment.end else OK


cdef inline int put_string(
    Strings* column, const uint8_t* data, Py_ssize_t at, int32_t size
) noexcept nogil:
    cdef Py_ssize_t row = column.rows
    if row >= column.rows_max or size > column.room - column.used:
        return COUNT  # the bytes have changed since they were measured
    if size > 0:
        memcpy(column.data + column.used, data + at, size)
        column.used += size
    if size >= 0:
        column.valid[row >> 3] |= <uint8_t> (1 << (row & 7))
    else:
        column.nulls += 1
    column.rows = row + 1
    column.ends[row + 1] = <int32_t> column.used
    return OK


cdef int put_headers(Columns* columns, const uint8_t* data, const Fields* f) noexcept nogil:
    cdef Py_ssize_t at = f.headers_at
    cdef Py_ssize_t field_at = 0
    cdef int32_t size = 0
    cdef int32_t number
    for number in range(f.headers):
        if read_field(data, &at, f.end, &field_at, &size) or size < 0:
            return HEADER_KEY
        if put_string(&columns.header_key, data, field_at, size):
            return COUNT
        if read_field(data, &at, f.end, &field_at, &size):
            return FIELD_LENGTH
        if put_string(&columns.header_value, data, field_at, size):
            return COUNT
    return OK


cdef int fill_segment(
    Columns* columns, const Segment* segment, Fields* f, Py_ssize_t* number
) noexcept nogil:
    cdef Py_ssize_t position = segment.position
    cdef Py_ssize_t row
    cdef int fault
    while number[0] < segment.count:
        fault = read_record(segment.data, position, segment.end, f)
        if fault:
            return fault
        position = f.end
        number[0] += 1
        if not is_wanted(segment, f):
            continue
        row = columns.key.rows
        if put_string(&columns.key, segment.data, f.key_at, f.key_size):
            return COUNT
        if put_string(&columns.value, segment.data, f.value_at, f.value_size):
            return COUNT
        columns.offsets[row] = add_int64(segment.base_offset, f.offset_delta)
        columns.timestamps[row] = (
            segment.append_time if segment.has_append_time
            else add_int64(segment.base_timestamp, f.timestamp_delta)
        )
        if columns.with_headers:
            if f.headers:
                fault = put_headers(columns, segment.data, f)
                if fault:
                    return fault
            columns.header_ends[row + 1] = <int32_t> columns.header_key.rows
    return OK


cdef int load_segment(Segment* segment, object source, list pins) except -1:
    cdef Pin held
    segment.position = source[1]
    segment.end = source[2]
    segment.count = source[4]
    segment.is_last = source[5]
    segment.base_offset = source[6]
    segment.base_timestamp = source[7]
    segment.has_append_time = source[8] is not None
    segment.append_time = source[8] if segment.has_append_time else 0
    segment.from_offset = source[9]
    segment.end_offset = source[10]
    held = pin_range(source[0], segment.position, segment.end)
    pins.append(held)
    segment.data = held.data()
    return 0


cdef tuple new_strings(Strings* column, Py_ssize_t rows, Py_ssize_t size):
    """Memory for a column, kept alive by what is returned: offsets, validity, bytes."""
    cdef bytearray ends = new_bytearray(4 * (rows + 1))
    cdef bytearray valid = new_bytearray((rows + 7) // 8)
    cdef bytearray data = new_bytearray(size)
    memset(column, 0, sizeof(Strings))
    column.ends = <int32_t*> PyByteArray_AS_STRING(ends)
    column.valid = <uint8_t*> PyByteArray_AS_STRING(valid)
    column.data = <uint8_t*> PyByteArray_AS_STRING(data)
    column.rows_max = rows
    column.room = size
    column.ends[0] = 0
    memset(column.valid, 0, (rows + 7) // 8)
    return ends, valid, data


cdef tuple filled(const Strings* column, tuple memory):
    ends, valid, data = memory
    return ends, valid if column.nulls else None, data, column.nulls


def columns(segments, bint with_headers):
    cdef list sources = list(segments)
    cdef list pins = []
    cdef Py_ssize_t count = len(sources)
    cdef Segment* loaded = <Segment*> PyMem_Calloc(count + 1, sizeof(Segment))
    cdef Totals totals
    cdef Columns target
    if loaded == NULL:
        raise MemoryError
    try:
        memset(&totals, 0, sizeof(Totals))
        measure(loaded, sources, pins, with_headers, &totals)
        return fill(loaded, sources, with_headers, &totals, &target)
    finally:
        PyMem_Free(loaded)


cdef int measure(
    Segment* loaded, list sources, list pins, bint with_headers, Totals* totals
) except -1:
    cdef Py_ssize_t total_bytes = 0
    cdef Py_ssize_t place
    cdef Py_ssize_t number
    cdef Fields f
    cdef int fault
    for place in range(len(sources)):
        load_segment(&loaded[place], sources[place], pins)
        total_bytes += loaded[place].end - loaded[place].position
    if total_bytes > INT32_MAX:
        raise ValueError(f"records of {total_bytes} bytes do not fit into one column")
    for place in range(len(sources)):
        number = 0
        with nogil:
            fault = measure_segment(&loaded[place], with_headers, totals, &f, &number)
        if fault:
            refuse(fault, sources[place][3] + number, f.fault_at - loaded[place].position)
    return 0


cdef tuple fill(
    Segment* loaded, list sources, bint with_headers, const Totals* totals, Columns* target
):
    cdef bytearray offsets = new_bytearray(8 * totals.rows)
    cdef bytearray timestamps = new_bytearray(8 * totals.rows)
    cdef bytearray header_ends = None
    cdef tuple keys
    cdef tuple values
    cdef tuple header_keys = None
    cdef tuple header_values = None
    cdef tuple headers = None
    cdef Py_ssize_t place
    cdef Py_ssize_t number
    cdef Fields f
    cdef int fault
    memset(target, 0, sizeof(Columns))
    target.offsets = <int64_t*> PyByteArray_AS_STRING(offsets)
    target.timestamps = <int64_t*> PyByteArray_AS_STRING(timestamps)
    target.with_headers = with_headers
    keys = new_strings(&target.key, totals.rows, totals.key_bytes)
    values = new_strings(&target.value, totals.rows, totals.value_bytes)
    if with_headers:
        header_ends = new_bytearray(4 * (totals.rows + 1))
        target.header_ends = <int32_t*> PyByteArray_AS_STRING(header_ends)
        target.header_ends[0] = 0
        header_keys = new_strings(&target.header_key, totals.headers, totals.header_key_bytes)
        header_values = new_strings(&target.header_value, totals.headers, totals.header_value_bytes)
    for place in range(len(sources)):
        number = 0
        with nogil:
            fault = fill_segment(target, &loaded[place], &f, &number)
        if fault:
            refuse(fault, sources[place][3] + number, f.fault_at - loaded[place].position)
    if target.key.rows != totals.rows or target.header_key.rows != totals.headers:
        raise ValueError("the records changed while they were read")
    if with_headers:
        headers = (
            header_ends, totals.headers,
            filled(&target.header_key, header_keys), filled(&target.header_value, header_values),
        )
    return (
        totals.rows, offsets, timestamps,
        filled(&target.key, keys), filled(&target.value, values), headers,
    )
