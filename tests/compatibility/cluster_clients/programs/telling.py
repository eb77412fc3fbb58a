"""What the programs in Python share: the words they print, and when they are to end.

Every program is called with a role (`produce`, `consume`, `transact`), the bootstrap servers and a
topic, works until its standard input ends, and prints one line for each thing that came to pass:

    sent 17                 the record with this value is acknowledged
    read 0 41 17            partition, offset and value of a record that the group was given
    committed 3             the transaction with this number; its records are 3-0 to 3-4
    aborted 4               and none of its records may be seen
    unknown 5               the client does not say whether it was committed
    error ...               what the client said; it continues where it can
"""

from __future__ import annotations

import sys
import threading

PAUSE_S = 0.01  # between records: many clients share a machine
RECORDS = 5  # of a transaction
ended = threading.Event()


def watch_input() -> None:
    def watch() -> None:
        sys.stdin.read()
        ended.set()

    threading.Thread(target=watch, daemon=True).start()


def report(*words: object) -> None:
    print(*words, flush=True)


def complain(error: object) -> None:
    report("error", " ".join(repr(error).split()))
