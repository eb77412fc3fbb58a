"""Metadata: by name, by id, all, none; names that cannot be; topics made on the way."""

from __future__ import annotations

from copy import copy
from typing import Any

from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.session import Session

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic

UNKNOWN_ID = b"0123456789abcdef"
BAD_NAMES = (
    "",
    ".",
    "..",
    "a b",
    "a/b",
    "é",
    "x" * 249,
    "x" * 250,
    "a\nb",
    "a\0b",
    "__cluster_metadata",
)


def named(*names: str, create: bool = False, **flags: bool) -> MetadataRequest:
    topics = [MetadataRequestTopic(bytes(16), name) for name in names]
    return MetadataRequest(
        topics, create, flags.get("cluster_operations", False), flags.get("topic_operations", False)
    )


def by_id(*topics: tuple[bytes, str | None]) -> MetadataRequest:
    return MetadataRequest([MetadataRequestTopic(*each) for each in topics], False)


@script(ApiKey.METADATA)
def metadata(session: Session) -> None:
    one, two = session.topic("one"), session.topic("two", 3)
    none = session.name("none")
    creates = session.version < 4  # there always

    def ask(label: str, *names: str, **flags: bool) -> None:
        session.ask(label, named(*names, create=creates, **flags))

    ask("one topic", one.name)
    ask("two topics", one.name, two.name)
    ask("two topics, other order", two.name, one.name)
    ask("a topic twice", one.name, one.name)
    for name in BAD_NAMES:
        if len(name) != 249 and name != "__cluster_metadata":
            ask(f"name {name[:30]!r} of {len(name)}", name)
    ask("cluster operations", one.name, cluster_operations=True)
    ask("topic operations", one.name, topic_operations=True)
    ask("all operations", one.name, cluster_operations=True, topic_operations=True)
    session.ask("no topics", MetadataRequest([], creates), shown=only_own(session))
    session.ask("all topics", MetadataRequest(None, creates), shown=only_own(session))
    everything = MetadataRequest(None, creates, True, True)
    session.ask("all topics, all operations", everything, shown=only_own(session))
    if creates:
        return
    ask("unknown", none)
    ask("a long name", "x" * 249)
    ask("of the controllers", "__cluster_metadata")
    ask("known and unknown", none, one.name)
    ask("topic operations of an unknown one", none, topic_operations=True)
    session.ask("by id", by_id((one.id, None)))
    session.ask("by ids", by_id((two.id, None), (one.id, None)))
    session.ask("by id twice", by_id((one.id, None), (one.id, None)))
    session.ask("by unknown id", by_id((UNKNOWN_ID, None)))
    session.ask("by known and unknown id", by_id((UNKNOWN_ID, None), (one.id, None)))
    session.ask("by id and name", by_id((one.id, one.name)))
    session.ask("by id and other name", by_id((one.id, two.name)))
    session.ask("by unknown id and name", by_id((UNKNOWN_ID, one.name)))
    session.ask("one by id, one by name", by_id((one.id, None), (bytes(16), two.name)))
    session.ask("no name, no id", by_id((bytes(16), None)))
    session.ask("id 1", by_id((bytes(15) + b"\1", None)))


@script(ApiKey.METADATA)
def metadata_makes_topics(session: Session) -> None:
    """What the first question says is left to chance: the topic may be there already."""
    one = session.name("one")
    session.ask("not allowed", named(one, create=False))
    session.ask("bad names", named("a b", "", "x" * 250, create=True))
    session.ask("in small and large letters", named("__cluster_metadata", create=True))
    session.quietly(named(one, create=True), 4)
    session.until(named(one), 4, lambda answer: answer.topics[0].error_code == 0, "creation")
    session.await_leaders(one, 1)
    session.ask("made", named(one, create=True))


def only_own(session: Session) -> Any:
    def shown(answer: Any) -> Any:
        out = copy(answer)
        own = [each for each in answer.topics if (each.name or "").startswith(session.name(""))]
        out.topics = own
        return out

    return shown
