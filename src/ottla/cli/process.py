"""A command as a process: standard streams, and exit codes of failures.

Promises  no failure that a user can cause ends with a traceback.
"""

from __future__ import annotations

import errno
import os
import select
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ottla.cli.errors import CommandFailed
from ottla.cli.output.printable import printable

INPUT_BYTES = 4096
OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF, errno.EIO)


def repair_standard_streams() -> None:
    """Replace closed streams, and let unencodable characters be escaped instead of raising.

    The number of a closed descriptor would be given to a socket, and output would be sent there.
    """
    for number, name, flags in ((0, "stdin", os.O_WRONLY), (1, "stdout", os.O_RDONLY),
                                (2, "stderr", os.O_WRONLY)):  # fmt: skip
        if getattr(sys, name) is None and not is_open(number):
            # Input for writing, and output for reading: then their use fails, and is reported.
            opened = os.open(os.devnull, flags)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            stream: Any = open(number, "r" if number == 0 else "w", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)
        elif not os.get_blocking(number):
            # Set by a process that shares the file. A read of Python would seem to be at the end of
            # the input, and a write would lose what the reader has no room for.
            os.set_blocking(number, True)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if not isinstance(sys.stderr, Messages):
        sys.stderr = Messages(sys.stderr)


class Messages:
    """Standard error. If it cannot be written, neither the work nor the exit code changes."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def wait_for_end_of_input() -> None:
    """Wait until standard input ends. One that cannot be read has ended as well."""
    with suppress(OSError):
        while os.read(0, INPUT_BYTES):
            pass


def is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def report_failures(name: str, command: Callable[[], int]) -> int:
    """Run the command; the exit code. `name` begins the message of a failure."""
    try:
        return command()
    except CommandFailed as error:
        print_error(f"{name}: {error}")
        return error.code
    except kafka_errors() as error:
        print_error(f"{name}: {error.args[0].str()}")
        return 1
    except UnicodeEncodeError as error:
        print_error(f"{name}: {error.object!r} is not valid Unicode text")
        return 2
    except BrokenPipeError:  # the reader of our output has ended, as `head` does
        discard_output()
        return 0
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            print_error(f"{name}: {error.strerror}\n  raise the limit with: ulimit -n 4096")
            return 1
        if not has_current_directory():
            print_error(f"{name}: the current directory was deleted: change to another one")
            return 1
        if error.filename is not None:
            print_error(f"{name}: {error.filename}: {error.strerror}")
            return 1
        if error.errno not in OUTPUT_ERRORS or is_output_writable():
            raise
        discard_output()
        print_error(f"{name}: the output cannot be written: {error.strerror}")
        return 1


@contextmanager
def output_after(*done: str) -> Iterator[None]:
    """Print a result: if that fails, the error says what the command has done nevertheless."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.errno not in OUTPUT_ERRORS:
            raise
        discard_output()
        raise CommandFailed(f"the output cannot be written: {error.strerror}", *done) from error


def has_current_directory() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return False
    return True


def print_error(text: str) -> None:
    print("\n".join(printable(line) for line in text.split("\n")), file=sys.stderr, flush=True)


def kafka_errors() -> tuple[type[Exception], ...]:
    """Exceptions of the client library, if the command has loaded it."""
    library: Any = sys.modules.get("confluent_kafka")
    return () if library is None else (library.KafkaException,)


def is_output_writable() -> bool:
    """False if standard output is what failed, and not a file of the command."""
    try:
        print(flush=True)
    except OSError:
        return False
    return True


def check_output_is_read() -> None:
    """Raise BrokenPipeError if standard output is a pipe whose read end is closed."""
    descriptor = sys.stdout.fileno()
    if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
        return
    poll = select.poll()
    poll.register(descriptor, 0)  # errors are reported without being asked for
    if poll.poll(0):
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def discard_output() -> None:
    """Drop what is still buffered: Python would try to write it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
