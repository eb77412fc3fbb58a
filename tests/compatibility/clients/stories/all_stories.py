"""All stories, in the order in which they run: a lowered feature changes what follows."""

from __future__ import annotations

from tests.compatibility.clients.stories import groups, records, settings, topics, transactions
from tests.compatibility.clients.stories.telling import STORIES as UNSORTED

_ORDER = [module.__name__ for module in (topics, records, groups, transactions, settings)]
STORIES = sorted(UNSORTED, key=lambda story: _ORDER.index(story.run.__module__))
