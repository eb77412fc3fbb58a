"""Settings of the windows over which quotas measure rates."""

from __future__ import annotations

from dataclasses import dataclass

from ottla.config.checks import at_least
from ottla.config.kinds import INT
from ottla.config.options import option


@dataclass(frozen=True, init=False, repr=False, eq=False)
class QuotaOptions:
    quota_window_num: int = option(
        "quota.window.num", 11, INT, at_least(1), "Windows that are kept for client quotas."
    )
    quota_window_size_seconds: int = option(
        "quota.window.size.seconds", 1, INT, at_least(1), "Length of each of them."
    )
    controller_quota_window_num: int = option(
        "controller.quota.window.num",
        11,
        INT,
        at_least(1),
        "Windows that are kept for the quota on creating and deleting partitions.",
    )
    controller_quota_window_size_seconds: int = option(
        "controller.quota.window.size.seconds", 1, INT, at_least(1), "Length of each of them."
    )
    ottla_quota_entities_max: int = option(
        "ottla.quota.entities.max",
        20_000,
        INT,
        at_least(1),
        "Users, client ids, pairs of them and addresses that may have quotas; one more is a "
        "policy violation. A setting of Ottla's own.",
    )
    replication_quota_window_num: int = option(
        "replication.quota.window.num",
        11,
        INT,
        at_least(1),
        "Windows that are kept for throttled replication.",
    )
    replication_quota_window_size_seconds: int = option(
        "replication.quota.window.size.seconds", 1, INT, at_least(1), "Length of each of them."
    )
    alter_log_dirs_replication_quota_window_num: int = option(
        "alter.log.dirs.replication.quota.window.num",
        11,
        INT,
        at_least(1),
        "Windows that are kept for moves between directories.",
    )
    alter_log_dirs_replication_quota_window_size_seconds: int = option(
        "alter.log.dirs.replication.quota.window.size.seconds",
        1,
        INT,
        at_least(1),
        "Length of each of them.",
    )
