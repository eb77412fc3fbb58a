"""Runs scripts against three brokers, one of which is stopped and started for all at once."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator

from tests.compatibility.differential.cluster_nodes import ThreeBrokers
from tests.compatibility.differential.cluster_session import (
    BROKERS,
    COORDINATORS,
    STOPPED,
    ClusterSession,
)
from tests.compatibility.differential.readiness import GROUP, TRANSACTION, ignore
from tests.compatibility.differential.running import FAILED
from tests.compatibility.differential.scripting import CLUSTER, BrokerState, Run, Script
from tests.compatibility.differential.session import Answers

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.describe_groups_request import DescribeGroupsRequest
from ottla.protocol.messages.init_producer_id_request import InitProducerIdRequest
from ottla.protocol.messages.metadata_request import MetadataRequest

INTERNAL = {GROUP: "__consumer_offsets", TRANSACTION: "__transaction_state"}
SETTINGS = {"cleanup.policy": "compact", "compression.type": "producer"}
LAST = ApiKey.UNREGISTER_BROKER  # forgets the broker that others still ask about


def run_cluster_scripts(cluster: ThreeBrokers, runs: Iterable[Run]) -> dict[Run, Answers]:
    make_cluster_ready(cluster)
    wanted = sorted(runs, key=lambda run: run.script.key is LAST)
    going = [Going(cluster, run) for run in wanted]
    for each in going:
        each.go()
    left = [each for each in going if each.is_waiting]
    if left:
        cluster.stop(STOPPED)
        proceed(left, [each for each in BROKERS if each != STOPPED])
    left = [each for each in left if each.is_waiting]
    if left:
        cluster.start(STOPPED)
        proceed(left, BROKERS)
    return {each.run: each.answers for each in going}


def proceed(going: list[Going], living: Iterable[int]) -> None:
    for each in going:
        each.session.await_living(tuple(living))
        each.go()


class Going:
    """One run of a script, which may wait for a broker to be stopped or started."""

    def __init__(self, cluster: ThreeBrokers, run: Run) -> None:
        self.run = run
        self.session = ClusterSession(cluster.addresses, run)
        self.is_waiting = True
        self._steps: Iterator[None] | None = None

    @property
    def answers(self) -> Answers:
        return self.session.answers

    def go(self) -> None:
        try:
            if self._steps is None:
                self._steps = self.run.script.function(self.session) or iter(())
            self.is_waiting = next(self._steps, self) is not self
        except Exception:
            last = next(reversed(self.answers), None)
            self.answers[FAILED] = f"after {last!r}: {traceback.format_exc()}"
            self.is_waiting = False
        finally:
            self.session.close()


def make_cluster_ready(cluster: ThreeBrokers) -> None:
    """The topics of the coordinators are where scripts expect them, and coordinators are ready."""
    script = Script("ready", ApiKey.METADATA, (0,), ignore, BrokerState.READY, CLUSTER)
    session = ClusterSession(cluster.addresses, Run(script, 0))
    try:
        session.await_living(BROKERS)
        known = {each.name for each in session.quietly(MetadataRequest(None, False), 9).topics}
        for kind, name in INTERNAL.items():
            if name not in known:
                session.create(name, [[each] for each in COORDINATORS[kind]], SETTINGS)
        for broker_id in BROKERS:
            await_coordinators(session, broker_id)
    finally:
        session.close()


def await_coordinators(session: ClusterSession, broker_id: int) -> None:
    group = session.group_on(broker_id, "group")
    transaction = session.transaction_on(broker_id, "transaction")
    with session.at(broker_id):
        session.once_ready(
            DescribeGroupsRequest([group]), 3, lambda answer: answer.groups[0].error_code
        )
        session.once_ready(InitProducerIdRequest(transaction, 60_000), 4)
