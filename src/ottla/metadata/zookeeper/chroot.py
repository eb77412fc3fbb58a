"""The chroot of `zookeeper.connect`, below which a cluster keeps everything.

Promises  it exists when `create_chroot` returns, and is not one of the znodes of another cluster.
          If there is no cluster below it yet, those that the same ZooKeeper has are named in the
          log: a misspelled chroot makes a second cluster.
"""

from __future__ import annotations

import logging

from ottla.metadata.zookeeper.layout import CONTROLLER_EPOCH, FOLDERS, LOG
from ottla.metadata.zookeeper.service import (
    ZooKeeperError,
    ZooKeeperService,
    create_missing,
    retried,
)

log = logging.getLogger(__name__)
# The znodes of a cluster directly below its chroot.
NAMES = frozenset(path.split("/")[1] for path in (*FOLDERS, CONTROLLER_EPOCH))
LOOKED_AT_MAX = 100  # znodes of the root that may be clusters
SHOWN = 5


class ChrootInCluster(ZooKeeperError):
    """A cluster has the znode for its own purposes."""

    def __init__(self, address: str, cluster: str) -> None:
        super().__init__(address, cluster)
        self.address = address
        self.cluster = cluster

    def __str__(self) -> str:
        return (
            f"the chroot of zookeeper.connect, {self.address}, belongs to the cluster at "
            f"{self.cluster}, which has other data there: use the chroot of that cluster, or one "
            "outside of it for a new cluster"
        )


async def create_chroot(root: ZooKeeperService, chroot: str) -> None:
    """`root` is a service without a chroot. ChrootInCluster if it is another cluster's."""
    names = chroot.split("/")[1:]
    for count, name in enumerate(names):
        parent = "".join(f"/{each}" for each in names[:count])
        if name in NAMES and await _exists(root, f"{parent}{CONTROLLER_EPOCH}"):
            hosts = root.address
            raise ChrootInCluster(hosts + chroot, hosts + parent)
    if not await _exists(root, f"{chroot}{LOG}"):
        await _warn_of_others(root, chroot)
    if chroot:
        await create_missing(root, chroot)


async def _warn_of_others(root: ZooKeeperService, chroot: str) -> None:
    children = await retried(root, root.children, "/")
    names = sorted(children or [])[:LOOKED_AT_MAX]
    others = [
        f"{root.address}{path}"
        for path in ("", *(f"/{name}" for name in names))
        if path != chroot and await _exists(root, f"{path}{LOG}")
    ]
    if others:
        log.warning(
            "there is no cluster at %s%s, but there is at %s: correct zookeeper.connect if this "
            "broker belongs to one of them", root.address, chroot, ", ".join(others[:SHOWN]),
        )  # fmt: skip


async def _exists(root: ZooKeeperService, path: str) -> bool:
    return await retried(root, root.exists, path)
