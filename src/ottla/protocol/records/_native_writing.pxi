# Writing records, from objects or from another batch. Part of `_native.pyx`; see
# `_plain_writing.py`.

cdef inline uint64_t zigzag(int64_t number) noexcept nogil:
    return (<uint64_t> number << 1) ^ (0 - (<uint64_t> number >> 63))


cdef inline int varint_size(int64_t number) noexcept nogil:
    cdef uint64_t raw = zigzag(number) >> 7
    cdef int size = 1
    while raw:
        size += 1
        raw >>= 7
    return size


cdef inline uint8_t* write_varint(uint8_t* output, int64_t number) noexcept nogil:
    cdef uint64_t raw = zigzag(number)
    while raw > 0x7F:
        output[0] = <uint8_t> (raw & 0x7F | 0x80)
        output += 1
        raw >>= 7
    output[0] = <uint8_t> raw
    return output + 1


cdef inline uint8_t* write_field(uint8_t* output, const uint8_t* data, int64_t size) noexcept nogil:
    """A key, value or header part; a size of -1 is null."""
    output = write_varint(output, size)
    if size > 0:
        memcpy(output, data, size)
        output += size
    return output


cdef inline bytes bytes_of(object field):
    if type(field) is bytes:
        return <bytes> field
    return bytes(memoryview(field))  # anything with a buffer, but no number


cdef inline Py_ssize_t field_size(bytes field) except -1:
    """What a field takes, its length included."""
    cdef Py_ssize_t size = PyBytes_GET_SIZE(field)
    if size > INT32_MAX:
        raise ValueError(f"a key, value or header of {size} bytes")
    return varint_size(size) + size


cdef class Output:
    """A bytearray that grows in larger steps than what is written to it."""

    cdef bytearray data
    cdef Py_ssize_t used
    cdef Py_ssize_t room

    def __cinit__(self, Py_ssize_t room):
        self.data = new_bytearray(room)
        self.used = 0
        self.room = room

    cdef uint8_t* reserve(self, Py_ssize_t size) except NULL:
        if size > self.room - self.used:
            self.room = 2 * self.room + size
            PyByteArray_Resize(self.data, self.room)
        return <uint8_t*> PyByteArray_AS_STRING(self.data) + self.used

    cdef bytearray finish(self):
        PyByteArray_Resize(self.data, self.used)
        return self.data


cdef list header_fields(object headers):
    """Keys and values of headers by turns, as bytes or None."""
    cdef list fields = []
    for key, value in headers:
        fields.append((<str?> key).encode())
        fields.append(None if value is None else bytes_of(value))
    return fields


cdef int encode_record(
    Output output, int64_t timestamp_delta, int64_t offset_delta, object key, object value,
    object headers,
) except -1:
    cdef list fields = None if headers is None or len(headers) == 0 else header_fields(headers)
    cdef bytes key_bytes = None if key is None else bytes_of(key)
    cdef bytes value_bytes = None if value is None else bytes_of(value)
    cdef Py_ssize_t size = 1 + varint_size(timestamp_delta) + varint_size(offset_delta)
    cdef uint8_t* at
    size += 1 if key_bytes is None else field_size(key_bytes)
    size += 1 if value_bytes is None else field_size(value_bytes)
    size += varint_size(0 if fields is None else len(fields) // 2)
    if fields is not None:
        for field in fields:
            size += 1 if field is None else field_size(<bytes> field)
    if size > INT32_MAX:
        raise ValueError(f"a record of {size} bytes")
    at = output.reserve(size + 5)
    output.used += varint_size(size) + size
    at = write_varint(at, size)
    at[0] = 0
    at = write_varint(at + 1, timestamp_delta)
    at = write_varint(at, offset_delta)
    at = write_bytes(at, key_bytes)
    at = write_bytes(at, value_bytes)
    at = write_varint(at, 0 if fields is None else len(fields) // 2)
    if fields is not None:
        for field in fields:
            at = write_bytes(at, <bytes> field)
    return 0


cdef inline uint8_t* write_bytes(uint8_t* output, bytes field) noexcept:
    if field is None:
        return write_field(output, NULL, -1)
    return write_field(output, <const uint8_t*> PyBytes_AS_STRING(field), PyBytes_GET_SIZE(field))


def encode(records, int64_t base_offset, int64_t base_timestamp):
    cdef Output output = Output(4096)
    cdef int64_t last_delta = -1
    cdef int64_t offset
    cdef int64_t timestamp
    cdef int64_t delta
    for record_offset, record_timestamp, key, value, headers in records:
        offset = record_offset
        timestamp = record_timestamp
        delta = add_int64(offset, negative(base_offset))
        if offset < base_offset or delta <= last_delta or delta > INT32_MAX:
            raise ValueError(
                f"offset {offset} cannot follow {base_offset + last_delta}"
                f" in a batch from {base_offset}"
            )
        last_delta = delta
        encode_record(
            output, add_int64(timestamp, negative(base_timestamp)), delta, key, value, headers
        )
    return output.finish()


def select(data, Py_ssize_t start, Py_ssize_t end, Py_ssize_t count, keep, int64_t timestamp_shift):
    cdef Pin held = pin_range(data, start, end)
    cdef Pin held_keep = pin(keep)
    cdef const uint8_t* bytes_ = held.data()
    cdef const uint8_t* kept = held_keep.data()
    cdef Output output = Output(end - start + 16)
    cdef Fields f
    cdef Py_ssize_t position = start
    cdef Py_ssize_t row
    cdef int fault
    if held_keep.view.len != count:
        raise ValueError(f"{held_keep.view.len} decisions on {count} records")
    if count > (end - start) // RECORD_BYTES_MIN:
        refuse(COUNT, 0, 0)
    for row in range(count):
        fault = read_record(bytes_, position, end, &f)
        if fault:
            refuse(fault, row, f.fault_at - start)
        if kept[row]:
            copy_record(output, bytes_, &f, timestamp_shift)
        position = f.end
    if position != end:
        refuse(BODY_END, count, position - start)
    return output.finish()


cdef int copy_record(
    Output output, const uint8_t* data, Fields* f, int64_t timestamp_shift
) except -1:
    """The record as it is, but for the timestamp that counts from another base."""
    cdef Py_ssize_t at = f.start
    cdef Py_ssize_t size = f.end - f.start
    cdef int32_t length = 0
    cdef int64_t timestamp = 0
    cdef uint8_t attributes
    cdef uint8_t* target
    if timestamp_shift == 0:
        memcpy(output.reserve(size), data + at, size)
        output.used += size
        return 0
    if read_varint(data, &at, f.end, &length) or at >= f.end:
        refuse(LENGTH, 0, f.start)
    attributes = data[at]
    at += 1
    if read_varlong(data, &at, f.end, &timestamp):
        refuse(VARINT, 0, f.start)
    timestamp = add_int64(timestamp, timestamp_shift)
    size = 1 + varint_size(timestamp) + (f.end - at)
    if size > INT32_MAX:
        raise ValueError(f"a record of {size} bytes")
    target = output.reserve(size + 5)
    output.used += varint_size(size) + size
    target = write_varint(target, size)
    target[0] = attributes
    target = write_varint(target + 1, timestamp)
    memcpy(target, data + at, f.end - at)
    return 0
