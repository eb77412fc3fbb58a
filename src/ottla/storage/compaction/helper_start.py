"""The start of the helper process: it lowers its priority before it loads anything.

Loading takes longer than most rounds of cleaning, and would delay clients as much.
"""

from __future__ import annotations

import os

# With a helper that is always busy, on one processor, the p99 of single records is the same as
# without it (at 5 it is higher, at 0 it is 2.5 ms). At 19 the p99.9 is the same too, but on a busy
# machine the helper would make hardly any progress: with 10 it gets a tenth of the time.
NICENESS = 10


def main() -> None:
    os.nice(NICENESS)
    from ottla.storage.compaction.helper import main as serve

    serve()


if __name__ == "__main__":
    main()
