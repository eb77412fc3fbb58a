"""The states of many files: compiled where it could be built, otherwise in Python.

Owns      the choice between `_file_states` and `_plain_file_states`, made at import.

A thread that releases Python's lock for a short system call takes it from the event loop right
after. With many calls that happens thousands of times a second, and each time costs both threads
more than the call. The compiled function releases the lock once.
"""

from __future__ import annotations

try:
    from ottla.base.files._file_states import file_states
except ImportError:  # built without a compiler
    from ottla.base.files._plain_file_states import file_states

__all__ = ["file_states"]
