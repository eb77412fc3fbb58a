"""An audit that kills itself (SIGKILL): python -m ... ADDRESS TOPIC TIER POINT PASSES.

Points: `folding` (a step is folded), `sent` (its reports are sent, the transaction is open),
`committed` (the transaction is committed, which is recorded nowhere else), `never`.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from tests.integration.pipelines.audit.topics import audit

from ottla.client.admin.transactions import end_transaction
from ottla.client.cluster.cluster import Cluster
from ottla.client.settings import ClientSettings
from ottla.pipelines.audit import report_log
from ottla.pipelines.audit.running import LocalEngine

STEP_OFFSETS = 300


class Killer:
    def __init__(self, point: str, passes: int) -> None:
        self.point, self.left = point, passes

    def reach(self, point: str) -> None:
        if point == self.point:
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def ending(*arguments: Any, **named: Any) -> Any:
            self.reach("sent")
            result = function(*arguments, **named)
            self.reach("committed")
            return result

        return ending


def main(address: str, topic: str, tier: str, point: str, passes: str) -> None:
    killer = Killer(point, int(passes))
    setattr(report_log, "end_transaction", killer.around(end_transaction))  # noqa: B010
    with Cluster(ClientSettings(address)) as cluster:
        local = LocalEngine(cluster)

        def engine(ranges: Any) -> Any:
            folded = local(ranges)
            killer.reach("folding")
            return folded

        audit(cluster, [topic], tier=tier, engine=engine, step_offsets=STEP_OFFSETS)


if __name__ == "__main__":
    main(*sys.argv[1:])
