"""Less work for the garbage collector in Spark's Python workers.

A worker collects all garbage after every task. That looks at every object of every imported
module, hundreds of thousands, and takes 20 ms and more: longer than a small task itself.
Modules stay for as long as the worker lives, so they are set apart, once.
"""

from __future__ import annotations

import gc

from pyspark import TaskContext

_is_done = False


def set_modules_apart() -> None:
    """In a task, and nowhere else: other processes are not ours to tune."""
    global _is_done
    if _is_done or TaskContext.get() is None:
        return
    _is_done = True
    gc.collect()  # what is garbage now must not be kept with the rest
    gc.freeze()
