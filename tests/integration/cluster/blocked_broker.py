"""`ottla up`, whose event loop stands still after SIGUSR1: other threads run on."""

from __future__ import annotations

import signal
import sys
import time

from ottla.cli.main import main

BLOCKED_S = 600.0


def stand_still(_number: int, _frame: object) -> None:
    time.sleep(BLOCKED_S)


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, stand_still)
    sys.exit(main())
