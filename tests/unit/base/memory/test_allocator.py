"""The C library takes the advice, or it is said that it does not."""

import subprocess
import sys


def test_advice_to_the_allocator_is_taken_or_declined_and_never_fails() -> None:
    code = "from ottla.base.memory.allocator import keep_freed_memory; print(keep_freed_memory())"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.strip() in ("True", "False")
