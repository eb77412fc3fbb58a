"""Who sends a group's request, as the group coordinator wants to know it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ottla.coordinators.groups.shared import Caller

if TYPE_CHECKING:
    from ottla.handlers.serving.context import Context


def caller_of(context: Context) -> Caller:
    """Hosts are told with a slash in front, as Kafka's tools show them."""
    return Caller(context.client_id or "", f"/{context.peer.host}", context.version)
