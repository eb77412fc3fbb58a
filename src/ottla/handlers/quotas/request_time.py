"""The time that requests take on the processor, as far as quotas on it are set (KIP-124).

It is charged once, when the answer is made: a client that is to wait is told so in it. What a
request waits for costs nobody anything.
"""

from __future__ import annotations

from ottla.handlers.context import Context

PERCENT_PER_S = 100


def charge_time(context: Context) -> None:
    if (began_s := context.began_s) is None:
        return
    context.began_s = None
    quota = context.parts.quotas.request
    if quota is None:  # since a moment ago
        return
    spent_s = context.spent_s or context.parts.clock.monotonic_s() - began_s
    context.throttle(quota.charge(context, spent_s * PERCENT_PER_S))


def stop_timing(context: Context) -> None:
    """The answer comes later; what is left to do for it is little."""
    if context.began_s is not None:
        context.spent_s = context.parts.clock.monotonic_s() - context.began_s


def exempt_time(context: Context) -> None:
    """What nobody waits for an answer to, and what brokers do for each other."""
    context.began_s = None
