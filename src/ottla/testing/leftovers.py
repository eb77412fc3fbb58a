"""What a test leaves on a cluster, and how it is removed.

Promises  topics and groups under the test's own prefix are deleted when it ends.
          On a broker without other clients, everything else that is new is deleted as well.
          Nothing that was there before is touched.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any

ANSWER_S = 5.0  # for a broker that the test may have killed
INTERNAL = "__"  # how the names of Kafka's own topics begin


class ClusterLeftovers:
    """Found by comparing what there is with what there was."""

    def __init__(self, admin: Callable[[], Any], prefix: str, *, is_alone: bool) -> None:
        """`is_alone`: no other client changes the cluster until `remove` is called."""
        self._admin = admin  # called when it is needed: making a client takes time
        self._prefix = prefix
        self._topics_before = topics(admin()) if is_alone else None
        self._groups_before = groups(admin()) if is_alone else None

    def remove(self, made: Collection[str]) -> None:
        """Delete these topics, and what else is left. A broker that has ended is no error."""
        admin = self._admin()
        with suppress(Exception):
            found = [*self._left(groups(admin), self._groups_before)]
            settle(admin.delete_consumer_groups(found) if found else {})
        with suppress(Exception):
            found = sorted({*made, *self._left(topics(admin), self._topics_before)})
            settle(admin.delete_topics(found, request_timeout=ANSWER_S) if found else {})

    def _left(self, names: set[str], before: set[str] | None) -> list[str]:
        def is_own(name: str) -> bool:
            has_prefix = bool(self._prefix) and name.startswith(self._prefix)
            return has_prefix or (before is not None and name not in before)

        return [name for name in names if is_own(name)]


def topics(admin: Any) -> set[str]:
    """All topics but Kafka's own."""
    found = admin.list_topics(timeout=ANSWER_S).topics
    return {name for name in found if not name.startswith(INTERNAL)}


def groups(admin: Any) -> set[str]:
    listed = admin.list_consumer_groups(request_timeout=ANSWER_S).result(ANSWER_S)
    return {group.group_id for group in listed.valid}


def settle(futures: dict[str, Any]) -> None:
    """Wait until each was answered. What is refused stays: a group that still has members."""
    for future in futures.values():
        future.exception(2 * ANSWER_S)
