"""Subscriptions by pattern: RE2 patterns, matched against whole topic names.

Only RE2 is used, as in Kafka: its time is linear in the length of a name, so patterns of clients
are safe. All patterns of a group are compared with all topics together: for a new pattern, after
topics were created, and periodically, but not more often than an interval.
"""

from __future__ import annotations

from enum import Enum

from ottla.coordinators.groups.consumer.draft import Draft
from ottla.coordinators.groups.consumer.group import ConsumerGroup
from ottla.coordinators.groups.consumer.member import ConsumerMember
from ottla.coordinators.groups.consumer.records import regex_record, regex_tombstone
from ottla.coordinators.groups.consumer.subscriptions import update_epoch
from ottla.coordinators.groups.shard_context import ShardContext
from ottla.coordinators.patterns import Matches, compile_pattern
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

REFRESH_MS_MIN = 10_000


class RegexChange(Enum):
    NONE = "none"
    UNRESOLVED = "changed, and what it stands for is not known yet"
    RESOLVED = "changed, and what it stands for is known"


def change_regex(draft: Draft, old: ConsumerMember, new: ConsumerMember) -> RegexChange:
    """A member may have another pattern; `new` is already in the draft."""
    if old.regex == new.regex:
        return RegexChange.NONE
    if new.regex and draft.group.patterns[new.regex] == 1:  # a new pattern
        compile_topic_pattern(new.regex)
        check_count(draft)
    forget_unused(draft)
    if new.regex and new.regex not in draft.group.regexes:
        return RegexChange.UNRESOLVED
    return RegexChange.RESOLVED


def check_count(draft: Draft) -> None:
    patterns_max = draft.context.config.ottla_group_patterns_max
    if len(draft.group.subscribed_regexes()) > patterns_max:
        what = f"The members of a group may subscribe with {patterns_max} patterns."
        raise BrokerError(ErrorCode.INVALID_REQUEST, what)


def forget_unused(draft: Draft) -> None:
    """Remove patterns that no member uses."""
    unused = draft.group.regexes.keys() - draft.group.subscribed_regexes()
    draft.put(*(regex_tombstone(draft.group_id, each) for each in sorted(unused)))


def want_refresh(draft: Draft) -> None:
    """Request a comparison of the patterns with all topics, if the interval has passed."""
    context, group_id = draft.context, draft.group_id
    if group_id not in context.resolving and is_stale(draft.group, context):
        context.when_written(lambda: context.unresolved.add(group_id))


def is_stale(group: ConsumerGroup, context: ShardContext) -> bool:
    wanted = group.subscribed_regexes()
    if not wanted:
        return False
    known = group.regexes.values()
    if not known:
        return True
    age_ms = context.now_ms() - max(each.resolved_ms for each in known)
    if age_ms <= REFRESH_MS_MIN:
        return False
    return (
        bool(wanted - group.regexes.keys())
        or min(each.version for each in known) < context.topics_version
        or age_ms > context.config.group_consumer_regex_refresh_interval_ms
    )


def decide_resolved(
    group: ConsumerGroup, context: ShardContext, pattern: str, topics: set[str], version: int
) -> Draft:
    """A pattern was compared with a version of the topic metadata: save its topics.

    If they have changed, the new epoch is part of the same batch: topics that are known without it
    would be assigned only after the next change of the group.
    """
    draft = Draft(group, context)
    if pattern in group.subscribed_regexes():
        known = group.regexes.get(pattern)
        draft.put(regex_record(draft.group_id, pattern, topics, version, context.now_ms()))
        update_epoch(draft, has_changed=topics != (set() if known is None else known.topics))
    return draft


def compile_topic_pattern(regex: str) -> Matches:
    return compile_pattern(regex, "SubscribedTopicRegex")
