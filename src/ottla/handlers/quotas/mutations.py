"""What creating and deleting partitions is charged with."""

from __future__ import annotations

from ottla.controller.decision import Charge, nothing_charged
from ottla.handlers.serving.context import Context


def charging(context: Context, strict_from: int) -> Charge:
    """For the controller to call with a number of partitions, before it decides to change them."""
    quota = context.parts.quotas.mutation
    if quota is None:
        return nothing_charged
    is_strict = context.version >= strict_from
    return lambda partitions: quota.charge(context, partitions, is_strict=is_strict)


def charging_unasked(context: Context) -> Charge:
    """For topics that are created because somebody asked for them; nobody hears of a refusal."""
    quota = context.parts.quotas.mutation
    if quota is None:
        return nothing_charged
    return lambda partitions: quota.admit(context, partitions)
