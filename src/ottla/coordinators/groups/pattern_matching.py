"""Compares the patterns of a consumer group with all topics, in slices."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from functools import partial

from ottla.base.log_messages.log_text import shown
from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.steps import Steps
from ottla.coordinators.groups import consumer_api
from ottla.coordinators.groups.consumer.group import ConsumerGroup
from ottla.coordinators.groups.consumer.regexes import compile_topic_pattern
from ottla.coordinators.groups.shard import GroupShard, LoadedShard
from ottla.coordinators.runtime import Runtime
from ottla.protocol.errors import BrokerError

log = logging.getLogger(__name__)


async def resolve_patterns(
    shard: LoadedShard, group_id: str, runtime: Runtime[GroupShard], scheduler: StepScheduler
) -> None:
    """Find the topics that match a group's patterns, and update the group."""
    context = shard.state.context
    try:
        group = shard.state.groups.get(group_id)
        patterns = list(group.subscribed_regexes()) if isinstance(group, ConsumerGroup) else []
        version, names = context.image.offset, list(context.image.topics)
        found, unusable = await scheduler.run_later(matching(patterns, names))
        for pattern, why in unusable.items():
            if not is_known_empty(group, pattern):
                log.warning(
                    "group %s: an invalid pattern matches no topic: %s", shown(group_id), why
                )
        await scheduler.run_later(resolving(shard, group_id, found, version, runtime))
    except BrokerError as error:
        log.warning("group %s: its patterns are not resolved yet: %s", shown(group_id), error)
    finally:
        context.resolving.discard(group_id)


def is_known_empty(group: object, pattern: str) -> bool:
    known = group.regexes.get(pattern) if isinstance(group, ConsumerGroup) else None
    return known is not None and not known.topics


def matching(
    patterns: Iterable[str], names: list[str]
) -> Steps[tuple[dict[str, set[str]], dict[str, str]]]:
    """The topics of each pattern, and the errors of invalid ones, which an older release accepted.

    Each step, compiling or one comparison, takes milliseconds.
    """
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
            yield 0
    return found, unusable


def resolving(
    shard: LoadedShard,
    group_id: str,
    found: Mapping[str, set[str]],
    version: int,
    runtime: Runtime[GroupShard],
) -> Steps[None]:
    """Write a record for each pattern, with a new epoch if its topics have changed."""
    for pattern, topics in found.items():
        runtime.step(
            shard,
            partial(
                consumer_api.decide_resolved,
                group_id=group_id,
                pattern=pattern,
                topics=topics,
                version=version,
            ),
        )
        yield 0
