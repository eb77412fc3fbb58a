"""Comparing the patterns of a consumer group with all topics, in slices."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from ottla.base.log_text import shown
from ottla.coordinators.groups import consumer_requests
from ottla.coordinators.groups.consumer.group import ConsumerGroup
from ottla.coordinators.groups.consumer.regexes import compile_topic_pattern
from ottla.coordinators.groups.stepping import LoadedShard, Stepper
from ottla.protocol.errors import BrokerError

log = logging.getLogger(__name__)

SLICE_S = 0.002  # before other work gets its turn


async def resolve_patterns(shard: LoadedShard, group_id: str, stepper: Stepper) -> None:
    """Find the topics of a group's patterns, and let the group know."""
    shared = shard.state.shared
    try:
        group = shard.state.groups.get(group_id)
        patterns = group.subscribed_regexes() if isinstance(group, ConsumerGroup) else set()
        version, names = shared.image.offset, list(shared.image.topics)
        found, unusable = await match_in_slices(patterns, names)
        for pattern, why in unusable.items():
            if not is_known_empty(group, pattern):
                log.warning("group %s: a pattern stands for no topic: %s", shown(group_id), why)
        stepper.step(
            shard,
            group_id,
            lambda state: consumer_requests.decide_resolved(state, group_id, found, version),
        )
    except BrokerError as error:
        log.warning("group %s: its patterns stay unresolved for now: %s", shown(group_id), error)
    finally:
        shared.resolving.discard(group_id)


def is_known_empty(group: object, pattern: str) -> bool:
    known = group.regexes.get(pattern) if isinstance(group, ConsumerGroup) else None
    return known is not None and not known.topics


async def match_in_slices(
    patterns: Iterable[str], names: list[str]
) -> tuple[dict[str, set[str]], dict[str, str]]:
    """The topics of each pattern, and why some stand for none: an older release took them.

    Each step, compiling or one comparison, takes milliseconds.
    """
    loop = asyncio.get_running_loop()
    slice_end_s = loop.time() + SLICE_S
    found: dict[str, set[str]] = {}
    unusable: dict[str, str] = {}
    for pattern in patterns:
        found[pattern] = topics = set()
        try:
            matches = compile_topic_pattern(pattern)
        except BrokerError as error:
            unusable[pattern] = str(error)
            continue
        for name in names:
            if matches(name):
                topics.add(name)
            if loop.time() > slice_end_s:
                await asyncio.sleep(0)
                slice_end_s = loop.time() + SLICE_S
    return found, unusable
