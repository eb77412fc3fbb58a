# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, binding=False, freethreading_compatible=True
"""The record loops, compiled. `_plain.py` has the same functions, documented there in full.

Owns      reading and writing records where there are many: checks, index arrays, columns.
Promises  no read or write outside the buffers it is given, whatever the bytes are: every number is
          checked against the bytes left before it is used, and nothing is allocated by a claim.
Leaves    headers, checksums and compression to their own modules; callers use `native.py`.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize, PyByteArray_Resize
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.object cimport PyTypeObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_SET_ITEM
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from ottla.protocol.records.faults import invalid_record
from ottla.protocol.records.record import Record

cdef extern from "Python.h":
    object PyType_GenericAlloc(PyTypeObject* type, Py_ssize_t items)

# The numbers of `faults.Fault`.
cdef enum:
    OK = 0
    COUNT = 1
    TRUNCATED = 2
    VARINT = 3
    LENGTH = 4
    FIELD_LENGTH = 5
    HEADER_COUNT = 6
    HEADER_KEY = 7
    RECORD_END = 8
    BODY_END = 9
    OFFSET_DELTA = 10
    NULL_KEY = 11

cdef enum:
    RECORD_BYTES_MIN = 7

# Below this a walk takes less time than getting the interpreter lock back can.
cdef Py_ssize_t RELEASE_BYTES = 256 * 1024

cdef int64_t NO_TIMESTAMP = -1


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


# ---- reading one record ---------------------------------------------------------------------


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


# ---- buffers --------------------------------------------------------------------------------


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


# ---- the structural walk --------------------------------------------------------------------


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


# ---- records as objects ---------------------------------------------------------------------


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


# ---- writing records ------------------------------------------------------------------------


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


# ---- index arrays ---------------------------------------------------------------------------


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


# ---- columns out of records -----------------------------------------------------------------
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


# ---- records out of columns -----------------------------------------------------------------


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
