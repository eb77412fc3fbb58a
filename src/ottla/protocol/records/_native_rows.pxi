# Records out of columns, as Apache Arrow lays them out. Part of `_native.pyx`; see
# `_plain_columns.py`.

# One column of byte strings to read from; `ends` is NULL for a column of nulls.
cdef struct Input:
    const uint8_t* data
    int64_t data_size
    const void* ends
    bint is_large
    const uint8_t* valid
    int64_t shift  # where the rows begin, for arrays that are slices of others
    int64_t rows


cdef struct Rows:
    const int64_t* timestamps
    int64_t base_timestamp
    Input key
    Input value
    bint has_headers
    Input header_lists  # its ends count headers, and its data_size is their number
    Input header_key
    Input header_value


cdef inline int64_t end_of(const Input* column, int64_t row) noexcept nogil:
    if column.is_large:
        return (<const int64_t*> column.ends)[column.shift + row]
    return (<const int32_t*> column.ends)[column.shift + row]


cdef inline int find(const Input* column, int64_t row, int64_t* start, int64_t* size) noexcept nogil:
    """Where the bytes of a row are; a size of -1 for null. Not 0 where they cannot be there."""
    cdef int64_t bit = column.shift + row
    cdef int64_t stop
    start[0] = 0
    size[0] = -1
    if column.ends == NULL:
        return 0
    if column.valid != NULL and not (column.valid[bit >> 3] >> (bit & 7)) & 1:
        return 0
    start[0] = end_of(column, row)
    stop = end_of(column, row + 1)
    if start[0] < 0 or stop < start[0] or stop > column.data_size or stop - start[0] > INT32_MAX:
        return 1
    size[0] = stop - start[0]
    return 0


cdef inline int64_t size_of_field(int64_t size) noexcept nogil:
    return varint_size(size) + (size if size > 0 else 0)


cdef int64_t measure_row(const Rows* rows, int64_t row, int64_t offset_delta) noexcept nogil:
    """The length of the record without its own length; -1 where a column is inconsistent."""
    cdef int64_t start
    cdef int64_t size
    cdef int64_t header
    cdef int64_t first
    cdef int64_t count
    cdef int64_t total = 1 + varint_size(offset_delta) + varint_size(
        add_int64(rows.timestamps[row], negative(rows.base_timestamp))
    )
    if find(&rows.key, row, &start, &size):
        return -1
    total += size_of_field(size)
    if find(&rows.value, row, &start, &size):
        return -1
    total += size_of_field(size)
    if not rows.has_headers:
        return total + 1
    if find(&rows.header_lists, row, &first, &count):
        return -1
    if count < 0:
        count = 0
    total += varint_size(count)
    for header in range(first, first + count):
        if find(&rows.header_key, header, &start, &size) or size < 0:
            return -1
        total += size_of_field(size)
        if find(&rows.header_value, header, &start, &size):
            return -1
        total += size_of_field(size)
    return total


cdef uint8_t* write_row(
    const Rows* rows, int64_t row, int64_t offset_delta, int64_t length, uint8_t* at
) noexcept nogil:
    """What `measure_row` has measured and found consistent."""
    cdef int64_t start = 0
    cdef int64_t size = 0
    cdef int64_t header
    cdef int64_t first = 0
    cdef int64_t count = 0
    at = write_varint(at, length)
    at[0] = 0
    at = write_varint(at + 1, add_int64(rows.timestamps[row], negative(rows.base_timestamp)))
    at = write_varint(at, offset_delta)
    find(&rows.key, row, &start, &size)
    at = write_field(at, rows.key.data + start, size)
    find(&rows.value, row, &start, &size)
    at = write_field(at, rows.value.data + start, size)
    if rows.has_headers:
        find(&rows.header_lists, row, &first, &count)
    if count < 0:
        count = 0
    at = write_varint(at, count)
    for header in range(first, first + count):
        find(&rows.header_key, header, &start, &size)
        at = write_field(at, rows.header_key.data + start, size)
        find(&rows.header_value, header, &start, &size)
        at = write_field(at, rows.header_value.data + start, size)
    return at


cdef int load_input(Input* column, object source, list pins) except -1:
    """`source` is None or (data, ends, is_large, valid or None, shift, rows)."""
    cdef Pin held
    memset(column, 0, sizeof(Input))
    if source is None:
        return 0
    data, ends, is_large, valid, shift, rows = source
    column.is_large = is_large
    column.shift = shift
    column.rows = rows
    if column.shift < 0 or column.rows < 0 or column.shift > (1 << 62) - column.rows:
        raise ValueError("a column cannot begin or end there")
    held = pin(data)
    pins.append(held)
    column.data = held.data()
    column.data_size = held.view.len
    held = pin(ends)
    pins.append(held)
    column.ends = <const void*> held.view.buf
    if held.view.len // (8 if column.is_large else 4) < column.shift + column.rows + 1:
        raise ValueError("a column has fewer offsets than rows")
    if valid is not None:
        held = pin(valid)
        pins.append(held)
        column.valid = held.data()
        if held.view.len < (column.shift + column.rows + 7) // 8:
            raise ValueError("a column has fewer validity bits than rows")
    return 0


cdef int load_rows(
    Rows* rows, object timestamps, int64_t count, object key, object value, object headers, list pins
) except -1:
    cdef Pin held = pin(timestamps)
    pins.append(held)
    rows.timestamps = <const int64_t*> held.view.buf
    load_input(&rows.key, key, pins)
    load_input(&rows.value, value, pins)
    rows.has_headers = headers is not None
    if rows.has_headers:
        lists, header_key, header_value = headers
        load_input(&rows.header_key, header_key, pins)
        load_input(&rows.header_value, header_value, pins)
        load_input(&rows.header_lists, (b"", *lists), pins)
        rows.header_lists.data_size = min(rows.header_key.rows, rows.header_value.rows)
    if held.view.len // 8 < count:
        raise ValueError("fewer timestamps than rows")
    for column in (key, value, headers and (b"", *headers[0])):
        if column is not None and column[5] < count:
            raise ValueError("a column is shorter than the others")
    return 0


def encode_columns(
    Py_ssize_t first, Py_ssize_t end_row, Py_ssize_t bytes_max, int64_t base_timestamp, timestamps,
    keys, values, headers, Py_ssize_t reserve,
):
    cdef list pins = []
    cdef Rows rows
    cdef int64_t row = first
    cdef int64_t total = 0
    cdef int64_t length = 0
    cdef int64_t most = NO_TIMESTAMP
    cdef bytearray output
    cdef uint8_t* at
    cdef uint8_t* stop
    if first < 0 or end_row < first or reserve < 0:
        raise ValueError(f"rows {first} to {end_row}")
    memset(&rows, 0, sizeof(Rows))
    load_rows(&rows, timestamps, end_row, keys, values, headers, pins)
    rows.base_timestamp = base_timestamp
    with nogil:
        while row < end_row and row - first < INT32_MAX:
            length = measure_row(&rows, row, row - first)
            if length < 0 or length > INT32_MAX:
                break
            length += varint_size(length)
            if row > first and total + length > bytes_max:
                break
            total += length
            if rows.timestamps[row] > most:
                most = rows.timestamps[row]
            row += 1
    if length < 0 or length > INT32_MAX:
        raise ValueError(f"row {row} is inconsistent or too large for a record")
    end_row = row
    output = new_bytearray(reserve + total)
    at = <uint8_t*> PyByteArray_AS_STRING(output) + reserve
    stop = at + total
    with nogil:
        for row in range(first, end_row):
            length = measure_row(&rows, row, row - first)
            if length < 0 or length + varint_size(length) > stop - at:
                break  # another thread changes the columns
            at = write_row(&rows, row, row - first, length, at)
    if at != stop:
        raise ValueError("the columns changed while they were read")
    return output, end_row, most
