"""Tools about the cluster itself, while all brokers run."""

from __future__ import annotations

import re

from tests.compatibility.cluster_tools.normalising import without_numbers
from tests.compatibility.cluster_tools.session import ToolSession


def cluster(session: ToolSession) -> None:
    session.show("cluster id", "ClusterTool", "cluster-id", *at(session), where="")
    session.show("endpoints", "ClusterTool", "list-endpoints", *at(session), where="")
    session.show("unregister what is unknown", "ClusterTool", "unregister", *at(session), "--id",
                 "9", where="")  # fmt: skip
    session.show("api versions", "BrokerApiVersionsCommand", is_ordered=False)
    session.show("features", "FeatureCommand", "describe", change=without_epoch)
    status = ("describe", "--status")
    session.show("quorum", "MetadataQuorumCommand", *status, change=without_numbers)
    replication = ("describe", "--replication")
    session.show("quorum's replicas", "MetadataQuorumCommand", *replication, change=without_numbers)
    session.show("groups", "GroupsCommand", "--list", is_ordered=False)


def at(session: ToolSession) -> tuple[str, str]:
    """These commands want their own name first."""
    return "--bootstrap-server", session.bootstrap


def without_epoch(line: str) -> str:
    """It is the offset of the metadata log."""
    return re.sub(r"Epoch: \d+", "Epoch: <n>", line)
