"""A second run of a pipeline ends the first.

Both initialise the same transactional id on the cluster that they read, and the cluster keeps one
producer epoch for it. No transaction is ever opened under this id.

Promises  a run that was replaced finds out at its next check. It may have passed the last one
          before its commit: then that batch is still committed, once. The table, or the decision
          of the sink, refuses it if the new run was faster, and the new run keeps the files of a
          batch that may still be committed (`lake/orphans.py`).
"""

from __future__ import annotations

from ottla.client.admin.transactions import ProducerIdentity, init_producer_id
from ottla.client.cluster.cluster import Cluster
from ottla.client.errors import ProducerFenced
from ottla.client.settings import ClientSettings
from ottla.pipelines.errors import FencedOut

PREFIX = "ottla-pipeline."


class Fence:
    def __init__(self, settings: ClientSettings, pipeline: str) -> None:
        self._settings = settings
        self._pipeline = pipeline
        self._identity: ProducerIdentity | None = None

    def take(self) -> None:
        """Fence earlier runs."""
        with Cluster(self._settings) as cluster:
            self._identity = init_producer_id(cluster, PREFIX + self._pipeline)

    def check(self) -> None:
        """FencedOut if another run has started. Renews the id, which brokers forget after days."""
        assert self._identity is not None, "take() comes first"
        try:
            with Cluster(self._settings) as cluster:
                self._identity = init_producer_id(
                    cluster, PREFIX + self._pipeline, expected=self._identity
                )
        except ProducerFenced:
            raise FencedOut(
                f"{self._pipeline}: another run of this pipeline has started, or of another one "
                "of this name, and this one ends; nothing of its current batch is written"
            ) from None
