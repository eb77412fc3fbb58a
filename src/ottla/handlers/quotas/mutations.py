"""Charging clients for created and deleted partitions."""

from __future__ import annotations

from functools import partial

from ottla.controller.decision import Charge, no_quota
from ottla.handlers.forwarding.relay import ForwardedClient
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.parts import TopicCreator


def charging(context: Context, strict_from: int) -> Charge:
    """Called by the controller with a number of partitions, before it decides."""
    quota = context.parts.quotas.mutation
    if quota is None or context.peer.is_broker:
        return no_quota
    is_strict = context.version >= strict_from
    return lambda partitions: quota.charge(context, partitions, is_strict=is_strict)


def creator_of(context: Context) -> TopicCreator:
    """For automatically created topics; the client does not see the error of a quota."""
    quota = context.parts.quotas.mutation
    charge = no_quota if quota is None else partial(quota.admit, context)
    peer = context.peer
    return TopicCreator(charge, ForwardedClient(peer.principal, peer.host, context.client_id))
