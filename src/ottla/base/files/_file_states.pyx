# cython: language_level=3, boundscheck=False, wraparound=False
"""The states of many files with one release of Python's lock, compiled. `_plain_file_states.py`
says what it does, and is the same otherwise."""

from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc

cdef extern from "<sys/types.h>" nogil:
    ctypedef unsigned long long dev_t
    ctypedef unsigned long long ino_t
    ctypedef long long off_t

cdef extern from "<sys/stat.h>" nogil:
    cdef struct c_status "stat":
        dev_t st_dev
        ino_t st_ino
        off_t st_size
    int c_stat "stat"(const char* path, c_status* status)

cdef extern from "<unistd.h>" nogil:
    ssize_t pread(int descriptor, void* data, size_t size, off_t position)

cdef struct Look:
    const char* path
    int descriptor
    off_t position
    bint is_known
    bint has_data
    c_status status


cdef void look(Look* each) noexcept nogil:
    cdef uint32_t word = 0
    each.is_known = c_stat(each.path, &each.status) == 0
    each.has_data = True
    if each.is_known and each.descriptor >= 0:
        each.has_data = pread(each.descriptor, &word, sizeof(word), each.position) > 0 and word != 0


def file_states(list paths, list descriptors, list positions):
    cdef Py_ssize_t at, count = len(paths)
    if len(descriptors) != count or len(positions) != count:
        raise ValueError("a descriptor and a position are needed for each path")
    cdef Look* looks = <Look*> malloc((count or 1) * sizeof(Look))
    if looks == NULL:
        raise MemoryError
    try:
        for at in range(count):
            looks[at].path = <bytes> paths[at]  # the list keeps it alive
            looks[at].descriptor = descriptors[at]
            looks[at].position = positions[at]
        with nogil:
            for at in range(count):
                look(&looks[at])
        found = []
        for at in range(count):
            status = &looks[at].status
            found.append(
                (status.st_dev, status.st_ino, status.st_size, bool(looks[at].has_data))
                if looks[at].is_known else None
            )
        return found
    finally:
        free(looks)
