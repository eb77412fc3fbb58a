"""Log messages about topics and settings that were changed, for `--log-level info`.

Bounded, because one change can be about 100,000 topics, and the event loop waits for it.
"""

from __future__ import annotations

import logging
from itertools import islice

from ottla.base.log_messages.log_text import shown
from ottla.metadata.changes import Changes
from ottla.metadata.image import Image

log = logging.getLogger(__name__)

NAMED_MAX = 10  # of each kind in one change


def log_changes(_image: Image, changes: Changes) -> None:
    if not log.isEnabledFor(logging.INFO):
        return
    for topic in islice(changes.created_topics.values(), NAMED_MAX):
        log.info("topic %s was created, partitions: %d", shown(topic.name), len(topic.partitions))
    for topic in islice(changes.deleted_topics.values(), NAMED_MAX):
        log.info("topic %s was deleted", shown(topic.name))
    for resource in islice(changes.configs, NAMED_MAX):
        name = shown(resource.name) if resource.name else "(all)"
        log.info("settings of %s %s were changed", resource.type.name.lower(), name)
    kinds = (changes.created_topics, changes.deleted_topics, changes.configs)
    more = sum(max(0, len(each) - NAMED_MAX) for each in kinds)
    if more:
        log.info("%d more topics were created or deleted, or have other settings", more)
