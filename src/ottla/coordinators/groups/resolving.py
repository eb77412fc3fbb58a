"""Comparing the patterns of a consumer group with all topics, a few topics at a time."""

from __future__ import annotations

import asyncio
import logging

from ottla.coordinators.groups import consumer_requests
from ottla.coordinators.groups.consumer.group import ConsumerGroup
from ottla.coordinators.groups.consumer.regexes import match_topics
from ottla.coordinators.groups.stepping import LoadedShard, Stepper
from ottla.protocol.errors import BrokerError

log = logging.getLogger(__name__)

SLICE = 500  # topics, some microseconds each, before other work gets its turn


async def resolve_patterns(shard: LoadedShard, group_id: str, stepper: Stepper) -> None:
    """Find the topics of a group's patterns, and let the group know."""
    shared = shard.state.shared
    try:
        group = shard.state.groups.get(group_id)
        patterns = group.subscribed_regexes() if isinstance(group, ConsumerGroup) else set()
        version, names = shared.image.offset, list(shared.image.topics)
        found: dict[str, set[str]] = {pattern: set() for pattern in patterns}
        for start in range(0, len(names), SLICE):
            for pattern, topics in match_topics(patterns, names[start : start + SLICE]).items():
                found[pattern] |= topics
            await asyncio.sleep(0)
        stepper.step(
            shard,
            group_id,
            lambda state: consumer_requests.decide_resolved(state, group_id, found, version),
        )
    except BrokerError as error:
        log.warning("group %s: its patterns stay unresolved for now: %s", group_id, error)
    finally:
        shared.resolving.discard(group_id)
