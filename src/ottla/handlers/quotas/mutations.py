"""Charging clients for created and deleted partitions."""

from __future__ import annotations

from ottla.controller.decision import Charge, no_quota
from ottla.handlers.serving.context import Context


def charging(context: Context, strict_from: int) -> Charge:
    """Called by the controller with a number of partitions, before it decides."""
    quota = context.parts.quotas.mutation
    if quota is None:
        return no_quota
    is_strict = context.version >= strict_from
    return lambda partitions: quota.charge(context, partitions, is_strict=is_strict)


def charging_unasked(context: Context) -> Charge:
    """For automatically created topics; the client does not see the error."""
    quota = context.parts.quotas.mutation
    if quota is None:
        return no_quota
    return lambda partitions: quota.admit(context, partitions)
