"""The replica that a consumer should fetch from: one in its rack (KIP-392).

The leader decides, as it knows what its followers have. The rules are those of Kafka's rack-aware
selector; in addition, the leader must have sent the follower a high watermark that reaches the
offset, so that it does not refuse what the consumer asks for next.
"""

from __future__ import annotations

from ottla.handlers.serving.context import Context
from ottla.replication.partition import Partition

THIS_REPLICA = -1


def closest_replica(partition: Partition, offset: int, rack: str, context: Context) -> int:
    """A follower in this rack, the most advanced of them; THIS_REPLICA if the leader is as close,
    or if this broker is not the leader."""
    state = partition.leader_state
    if state is None or not state.followers:
        return THIS_REPLICA
    this_broker = context.parts.metadata.broker(context.parts.broker_id)
    if this_broker is not None and this_broker.rack == rack:
        return THIS_REPLICA
    near = [
        (progress.log_end_offset, progress.caught_up_ms, each)
        for each, progress in state.followers.items()
        if state.can_serve(each, offset) and _is_in_rack(each, rack, context)
    ]
    return max(near)[2] if near else THIS_REPLICA


def _is_in_rack(broker_id: int, rack: str, context: Context) -> bool:
    """Whether the broker serves, in this rack, with an address that the client can reach."""
    broker = context.parts.metadata.broker(broker_id)
    return (
        broker is not None
        and broker.is_active
        and broker.rack == rack
        and broker.endpoint(context.peer.listener) is not None
    )
