"""The sender of a request, as the group coordinator records it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ottla.coordinators.groups.shard_context import Caller

if TYPE_CHECKING:
    from ottla.handlers.serving.context import Context


def caller_of(context: Context) -> Caller:
    """Hosts begin with a slash, as in Kafka's tools."""
    return Caller(context.client_id or "", f"/{context.peer.host}", context.version)
