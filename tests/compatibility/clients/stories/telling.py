"""Stories of two clients: one does something, another sees it, also after kill -9 and a restart.

    @shows(does=[ApiKey.CREATE_TOPICS], by=LIBRDKAFKA, sees=[ApiKey.METADATA], seen_by=AIOKAFKA)
    def a_topic_that_was_created(on: Cluster) -> Sight:
        create_topic(on.bootstrap, "created")
        return lambda: "created" in on.aio_topics()

A story acts once and returns what to look at; its caller looks before and after the kill.
`docs/reference/api-clients.md` is made from what the stories claim, and `test_stories.py` holds
them to it: that the second client sees the effect, and that each client really sent the requests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tests.compatibility.clients.cluster import Cluster

from ottla.protocol.api_keys import ApiKey

Sight = Callable[[], object]  # true, or an assertion fails, as long as the effect is there
Telling = Callable[[Cluster], Sight]


class Story(NamedTuple):
    run: Telling
    does: tuple[ApiKey, ...]  # requests that have the effect
    by: str
    sees: tuple[ApiKey, ...]  # requests that show it
    seen_by: str
    remark: str

    @property
    def name(self) -> str:
        return self.run.__name__


STORIES: list[Story] = []


def shows(
    *,
    by: str,
    seen_by: str,
    does: Sequence[ApiKey] = (),
    sees: Sequence[ApiKey] = (),
    remark: str = "",
) -> Callable[[Telling], Telling]:
    """What a story is evidence of."""

    def register(run: Telling) -> Telling:
        STORIES.append(Story(run, tuple(does), by, tuple(sees), seen_by, remark))
        return run

    return register
