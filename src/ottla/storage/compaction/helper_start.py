"""Where the helper process begins: it steps back before it loads anything.

Loading takes longer than most rounds of cleaning, and would hold up clients as much.
"""

from __future__ import annotations

import os

# Clients come first: beside a helper that never rests, on one processor, 99 of 100 single records
# are acknowledged as if it were not there (at 5 every hundredth waits longer, at 0 for 2.5 ms). At
# 19 so are 999, but on a busy machine it would hardly come forward: 10 leaves it a tenth.
NICENESS = 10


def main() -> None:
    os.nice(NICENESS)
    from ottla.storage.compaction.helper import main as serve

    serve()


if __name__ == "__main__":
    main()
