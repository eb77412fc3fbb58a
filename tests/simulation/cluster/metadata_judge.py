"""What must hold for the metadata log in ZooKeeper, whatever happens to controllers.

Promises  every batch of the log was written in the epoch of the last election, by the broker that
          was elected then. Epochs of batches never go back.
"""

from __future__ import annotations

from tests.support.zookeeper_model import Change, Ensemble

from ottla.metadata.zookeeper.batch_znode import BatchZnodeHeader, decode_header
from ottla.metadata.zookeeper.layout import CONTROLLER_EPOCH, LOG


class MetadataJudge:
    def __init__(self, ensemble: Ensemble) -> None:
        self._ensemble = ensemble
        self._controllers: dict[int, int] = {}  # by epoch
        self._last_epoch = 0
        self.violations: list[str] = []

    def judge(self) -> None:
        """The last transaction."""
        for change in self._ensemble.transactions[-1]:
            if change.path.startswith(f"{LOG}/") and change.znode is not None:
                self._judge_batch(change, decode_header(change.znode.data)[0])

    def _judge_batch(self, change: Change, header: BatchZnodeHeader) -> None:
        epoch, controller = header.controller_epoch, header.controller_id
        elected = int(self._ensemble.tree[CONTROLLER_EPOCH].data)
        first = self._controllers.setdefault(epoch, controller)
        if epoch != elected:
            self._report(change, f"has epoch {epoch}, and the last election had {elected}")
        if epoch < self._last_epoch:
            self._report(change, f"has epoch {epoch}, after {self._last_epoch}")
        if controller != first:
            self._report(change, f"is of {controller}, but {first} was elected in epoch {epoch}")
        self._last_epoch = epoch

    def _report(self, change: Change, what: str) -> None:
        self.violations.append(f"the batch {change.path} {what}")
