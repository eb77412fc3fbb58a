"""The reference cycle in asyncio's transports of sockets.

Such a transport holds a bound method of itself, and so is freed by the garbage collector only. In a
process that freezes old objects, the transport of a long connection would never be freed.
"""

from __future__ import annotations

import asyncio

_BOUND_METHOD = "_read_ready_cb"  # of asyncio.selector_events._SelectorSocketTransport


def break_cycle(transport: asyncio.BaseTransport) -> None:
    """For a transport whose connection is lost. Others (uvloop's) have no such attribute."""
    getattr(transport, "__dict__", {}).pop(_BOUND_METHOD, None)
