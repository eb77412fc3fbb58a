# One record inside a batch (magic 2), and the buffers it lies in. Part of `_native.pyx`.
#
# Everything that reads a number or a length of a record is here: whoever calls `read_record` has
# every place it reports inside the record, and the record inside the bytes it was given.


cdef struct Fields:
    Py_ssize_t start
    Py_ssize_t end
    int64_t timestamp_delta
    int32_t offset_delta
    int32_t key_size
    int32_t value_size
    int32_t headers
    Py_ssize_t key_at
    Py_ssize_t value_at
    Py_ssize_t headers_at
    Py_ssize_t fault_at


cdef inline int read_varint(
    const uint8_t* data, Py_ssize_t* position, Py_ssize_t end, int32_t* value
) noexcept nogil:
    """A zig-zag int32. On a fault `position` stays where the number begins."""
    cdef Py_ssize_t at = position[0]
    cdef uint32_t raw
    cdef uint32_t byte
    cdef int shift = 7
    if at >= end:
        return TRUNCATED
    raw = data[at]
    at += 1
    if raw >= 0x80:
        raw &= 0x7F
        while True:
            if at >= end:
                return TRUNCATED
            byte = data[at]
            at += 1
            if shift == 28 and byte > 0x0F:
                return VARINT
            raw |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
    value[0] = <int32_t> ((raw >> 1) ^ (0 - (raw & 1)))
    position[0] = at
    return OK


cdef inline int read_varlong(
    const uint8_t* data, Py_ssize_t* position, Py_ssize_t end, int64_t* value
) noexcept nogil:
    """A zig-zag int64, the same way."""
    cdef Py_ssize_t at = position[0]
    cdef uint64_t raw
    cdef uint64_t byte
    cdef int shift = 7
    if at >= end:
        return TRUNCATED
    raw = data[at]
    at += 1
    if raw >= 0x80:
        raw &= 0x7F
        while True:
            if at >= end:
                return TRUNCATED
            byte = data[at]
            at += 1
            if shift == 63 and byte > 0x01:
                return VARINT
            raw |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
    value[0] = <int64_t> ((raw >> 1) ^ (0 - (raw & 1)))
    position[0] = at
    return OK


cdef inline int read_field(
    const uint8_t* data, Py_ssize_t* position, Py_ssize_t end, Py_ssize_t* start, int32_t* size
) noexcept nogil:
    """A length and as many bytes; `position` moves behind them. On a fault it stays."""
    cdef Py_ssize_t at = position[0]
    cdef int fault = read_varint(data, &at, end, size)
    if fault:
        return fault
    if size[0] < -1 or size[0] > end - at:
        return FIELD_LENGTH
    start[0] = at
    position[0] = at + size[0] if size[0] > 0 else at
    return OK


cdef inline int read_record(
    const uint8_t* data, Py_ssize_t position, Py_ssize_t end, Fields* f
) noexcept nogil:
    """One record, checked to its end. The next one begins at `f.end`."""
    cdef int32_t length = 0
    cdef int32_t size = 0
    cdef int32_t number
    cdef Py_ssize_t at = position
    cdef Py_ssize_t field_at = 0
    cdef int fault
    f.start = position
    f.fault_at = position
    fault = read_varint(data, &at, end, &length)
    if fault:
        return fault
    if length <= 0 or length > end - at:
        return LENGTH
    end = at + length
    at += 1  # the attributes of a record mean nothing yet
    f.fault_at = at
    fault = read_varlong(data, &at, end, &f.timestamp_delta)
    if fault:
        return fault
    f.fault_at = at
    fault = read_varint(data, &at, end, &f.offset_delta)
    if fault:
        return fault
    f.fault_at = at
    fault = read_field(data, &at, end, &f.key_at, &f.key_size)
    if fault:
        return fault
    f.fault_at = at
    fault = read_field(data, &at, end, &f.value_at, &f.value_size)
    if fault:
        return fault
    f.fault_at = at
    fault = read_varint(data, &at, end, &f.headers)
    if fault:
        return fault
    f.headers_at = at
    if f.headers:
        if f.headers < 0 or f.headers > (end - at) // 2:
            f.fault_at = position
            return HEADER_COUNT
        for number in range(f.headers):
            f.fault_at = at
            fault = read_field(data, &at, end, &field_at, &size)
            if fault:
                return fault
            if size < 0:
                return HEADER_KEY
            f.fault_at = at
            fault = read_field(data, &at, end, &field_at, &size)
            if fault:
                return fault
    f.end = end
    if at != end:
        f.fault_at = position
        return RECORD_END
    return OK


cdef inline int64_t add_int64(int64_t a, int64_t b) noexcept nogil:
    return <int64_t> (<uint64_t> a + <uint64_t> b)


cdef inline int64_t negative(int64_t number) noexcept nogil:
    return <int64_t> (0 - <uint64_t> number)


cdef object refuse(int fault, Py_ssize_t record, Py_ssize_t position):
    raise invalid_record(fault, record, position)





cdef class Pin:
    """A buffer held for as long as this object lives."""

    cdef Py_buffer view
    cdef bint is_held

    def __cinit__(self):
        self.is_held = False

    def __dealloc__(self):
        if self.is_held:
            PyBuffer_Release(&self.view)

    cdef const uint8_t* data(self) noexcept:
        return <const uint8_t*> self.view.buf


cdef Pin pin(object data, bint writable=False):
    cdef Pin held = Pin.__new__(Pin)
    PyObject_GetBuffer(data, &held.view, PyBUF_WRITABLE if writable else PyBUF_SIMPLE)
    held.is_held = True
    return held


cdef Pin pin_range(object data, Py_ssize_t start, Py_ssize_t end):
    cdef Pin held = pin(data)
    if start < 0 or end < start or end > held.view.len:
        raise ValueError(f"bytes {start} to {end} of {held.view.len}")
    return held


cdef bytearray new_bytearray(Py_ssize_t size):
    return <bytearray> PyByteArray_FromStringAndSize(NULL, size)
