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

from ottla.protocol.records.column_layout import BucketSums
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

include "_native_fields.pxi"
include "_native_reading.pxi"
include "_native_writing.pxi"
include "_native_columns.pxi"
include "_native_rows.pxi"
include "_native_partitions.pxi"
include "_native_sums.pxi"
