# Reading records: checks, objects, index arrays. Part of `_native.pyx`; see `_plain_reading.py`.

cdef int walk_loop(
    const uint8_t* data, Py_ssize_t start, Py_ssize_t end, Py_ssize_t count, int64_t base_timestamp,
    bint check_offsets, bint require_keys,
    Fields* f, Py_ssize_t* number, int64_t* least, int64_t* most,
) noexcept nogil:
    cdef Py_ssize_t position = start
    cdef int64_t timestamp
    cdef int fault
    f.fault_at = start
    if count < 0 or count > (end - start) // RECORD_BYTES_MIN:
        return COUNT
    while number[0] < count:
        fault = read_record(data, position, end, f)
        if fault:
            return fault
        if check_offsets and f.offset_delta != number[0]:
            f.fault_at = f.start
            return OFFSET_DELTA
        if require_keys and f.key_size < 0:
            f.fault_at = f.start
            return NULL_KEY
        timestamp = add_int64(base_timestamp, f.timestamp_delta)
        if timestamp > most[0]:
            most[0] = timestamp
        if timestamp != NO_TIMESTAMP and (least[0] == NO_TIMESTAMP or timestamp < least[0]):
            least[0] = timestamp
        position = f.end
        number[0] += 1
    f.fault_at = position
    return OK if position == end else BODY_END


def walk(
    data, Py_ssize_t start, Py_ssize_t end, Py_ssize_t count, int64_t base_timestamp,
    bint check_offsets, bint require_keys,
):
    cdef Pin held = pin_range(data, start, end)
    cdef const uint8_t* bytes_ = held.data()
    cdef Fields f
    cdef Py_ssize_t number = 0
    cdef int64_t least = NO_TIMESTAMP
    cdef int64_t most = NO_TIMESTAMP
    cdef int fault
    if end - start < RELEASE_BYTES:
        fault = walk_loop(
            bytes_, start, end, count, base_timestamp, check_offsets, require_keys,
            &f, &number, &least, &most,
        )
    else:
        with nogil:
            fault = walk_loop(
                bytes_, start, end, count, base_timestamp, check_offsets, require_keys,
                &f, &number, &least, &most,
            )
    if fault:
        refuse(fault, number, f.fault_at - start)
    return least, most


def skip(data, Py_ssize_t start, Py_ssize_t end, Py_ssize_t first, Py_ssize_t count):
    cdef Pin held = pin_range(data, start, end)
    cdef const uint8_t* bytes_ = held.data()
    cdef Fields f
    cdef Py_ssize_t position = start
    cdef Py_ssize_t number = 0
    cdef int fault = OK
    f.fault_at = start
    if count < 0 or count > (end - start) // RECORD_BYTES_MIN:
        refuse(COUNT, first, 0)
    with nogil:
        while number < count:
            fault = read_record(bytes_, position, end, &f)
            if fault:
                break
            position = f.end
            number += 1
    if fault:
        refuse(fault, first + number, f.fault_at - start)
    return position


cdef inline object slice_of(const uint8_t* data, Py_ssize_t at, int32_t size):
    if size < 0:
        return None
    return PyBytes_FromStringAndSize(<const char*> data + at, size)


cdef tuple headers_of(const uint8_t* data, Fields* f):
    """The headers of a record that `read_record` has checked."""
    cdef Py_ssize_t at = f.headers_at
    cdef Py_ssize_t field_at = 0
    cdef int32_t size = 0
    cdef list headers = []
    for _ in range(f.headers):
        read_field(data, &at, f.end, &field_at, &size)
        key = PyUnicode_DecodeUTF8(<const char*> data + field_at, size, "replace")
        read_field(data, &at, f.end, &field_at, &size)
        headers.append((key, slice_of(data, field_at, size)))
    return tuple(headers)


cdef inline void put(object row, Py_ssize_t column, object item) noexcept:
    Py_INCREF(item)  # which PyTuple_SET_ITEM takes over
    PyTuple_SET_ITEM(row, column, item)


def decode(
    bytes body, Py_ssize_t position, Py_ssize_t first, Py_ssize_t count, bint is_last,
    int64_t base_offset, int64_t base_timestamp, append_time,
):
    cdef Py_ssize_t end = PyBytes_GET_SIZE(body)
    cdef const uint8_t* bytes_ = <const uint8_t*> PyBytes_AS_STRING(body)
    cdef Fields f
    cdef Py_ssize_t number
    cdef list records = []
    cdef tuple no_headers = ()
    cdef int fault
    if position < 0 or position > end:
        raise ValueError(f"byte {position} of {end}")
    if count < 0 or count > (end - position) // RECORD_BYTES_MIN:
        refuse(COUNT, first, position)
    for number in range(count):
        fault = read_record(bytes_, position, end, &f)
        if fault:
            refuse(fault, first + number, f.fault_at)
        row = PyType_GenericAlloc(<PyTypeObject*> Record, 5)
        put(row, 0, add_int64(base_offset, f.offset_delta))
        if append_time is None:
            put(row, 1, add_int64(base_timestamp, f.timestamp_delta))
        else:
            put(row, 1, append_time)
        put(row, 2, slice_of(bytes_, f.key_at, f.key_size))
        put(row, 3, slice_of(bytes_, f.value_at, f.value_size))
        put(row, 4, headers_of(bytes_, &f) if f.headers else no_headers)
        records.append(row)
        position = f.end
    if is_last and position != end:
        refuse(BODY_END, first + count, position)
    return records, position


def index(
    data, Py_ssize_t start, Py_ssize_t end, Py_ssize_t first, Py_ssize_t count, bint is_last,
    int64_t base_offset, int64_t base_timestamp, append_time, numbers, places,
):
    cdef Pin held = pin_range(data, start, end)
    cdef Pin held_numbers = pin(numbers, True)
    cdef Pin held_places = pin(places, True)
    cdef const uint8_t* bytes_ = held.data()
    cdef int64_t* wide = <int64_t*> held_numbers.view.buf
    cdef int32_t* narrow = <int32_t*> held_places.view.buf
    cdef bint has_append_time = append_time is not None
    cdef int64_t fixed_time = append_time if has_append_time else 0
    cdef Fields f
    cdef Py_ssize_t position = start
    cdef Py_ssize_t row = 0
    cdef int fault = OK
    f.fault_at = start
    if count < 0 or count > (end - start) // RECORD_BYTES_MIN:
        refuse(COUNT, first, 0)
    if end > INT32_MAX:
        raise ValueError(f"records up to byte {end} cannot be indexed")
    if held_numbers.view.len < 16 * count or held_places.view.len < 32 * count:
        raise ValueError("the index arrays are too short")
    with nogil:
        while row < count:
            fault = read_record(bytes_, position, end, &f)
            if fault:
                break
            wide[row] = add_int64(base_offset, f.offset_delta)
            wide[count + row] = (
                fixed_time if has_append_time else add_int64(base_timestamp, f.timestamp_delta)
            )
            narrow[row] = <int32_t> f.start
            narrow[count + row] = <int32_t> f.end
            narrow[2 * count + row] = <int32_t> f.key_at
            narrow[3 * count + row] = f.key_size
            narrow[4 * count + row] = <int32_t> f.value_at
            narrow[5 * count + row] = f.value_size
            narrow[6 * count + row] = <int32_t> f.headers_at
            narrow[7 * count + row] = f.headers
            position = f.end
            row += 1
        if not fault and is_last and position != end:
            fault = BODY_END
            f.fault_at = position
    if fault:
        refuse(fault, first + row, f.fault_at - start)
    return position


def slices(data, starts, sizes):
    cdef Pin held = pin(data)
    cdef Pin held_starts = pin(starts)
    cdef Pin held_sizes = pin(sizes)
    cdef const int32_t* start = <const int32_t*> held_starts.view.buf
    cdef const int32_t* size = <const int32_t*> held_sizes.view.buf
    cdef Py_ssize_t count = held_starts.view.len // 4
    cdef Py_ssize_t row
    cdef Py_ssize_t at
    cdef list found = []
    if held_sizes.view.len // 4 != count:
        raise ValueError("starts and sizes differ in number")
    for row in range(count):
        at = start[row]
        if size[row] >= 0 and (at < 0 or at > held.view.len or size[row] > held.view.len - at):
            raise ValueError(f"{size[row]} bytes at {at} of {held.view.len}")
        found.append(slice_of(held.data(), at, size[row]))
    return found
