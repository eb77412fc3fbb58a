"""Fetch with sessions (KIP-227): opened, continued, changed, lost."""

from __future__ import annotations

from tests.compatibility.differential.batches import batch
from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.scripts.fetch import fetch, filled, wanted
from tests.compatibility.differential.session import Session, Topic

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest
from ottla.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic

SESSIONS_FROM = 7
VERSIONS = range(SESSIONS_FROM, 19)
STRANGER_ID = b"0123456789abcdef"


@script(ApiKey.FETCH, versions=VERSIONS)
def fetch_sessions(session: Session) -> None:
    topic, other = filled(session, "t", 3), filled(session, "other")
    first = session.ask("opened", fetch(topic, wanted(0), wanted(1, 6), fetch_session=(0, 0)))
    number = first.session_id
    session.ask("nothing new", fetch(topic, fetch_session=(number, 1)))
    session.ask("moved to the end", fetch(topic, wanted(0, 6), fetch_session=(number, 2)))
    session.ask("still at the end", fetch(topic, fetch_session=(number, 3)))
    session.append(topic, batch(b"new"), 1)
    session.ask("one has news", fetch(topic, fetch_session=(number, 4)))
    session.ask("the same news again", fetch(topic, fetch_session=(number, 5)))
    session.ask(
        "another partition", fetch(topic, wanted(1, 7), wanted(2, 6), fetch_session=(number, 6))
    )
    session.append(topic, batch(b"new"), 2)
    session.ask("news of the other", fetch(topic, fetch_session=(number, 7)))
    session.ask("another topic", fetch(other, wanted(0, 3), fetch_session=(number, 8)))
    session.ask("two have news", fetch(topic, fetch_session=(number, 9)))
    session.ask(
        "forgotten", fetch(topic, fetch_session=(number, 10), forgotten=[(other, 0), (topic, 2)])
    )
    session.ask("forgotten again", fetch(topic, fetch_session=(number, 11), forgotten=[(other, 0)]))
    session.ask(
        "never known, forgotten", fetch(topic, fetch_session=(number, 12), forgotten=[(topic, 99)])
    )
    session.ask("an error", fetch(topic, wanted(0, 999), fetch_session=(number, 13)))
    session.ask("the error again", fetch(topic, fetch_session=(number, 14)))
    session.ask("repaired", fetch(topic, wanted(0, 6), fetch_session=(number, 15)))
    session.ask("unknown partition", fetch(topic, wanted(77), fetch_session=(number, 16)))
    session.ask("unknown partition again", fetch(topic, fetch_session=(number, 17)))
    session.ask("gone", fetch(topic, fetch_session=(number, 18), forgotten=[(topic, 77)]))
    session.ask("wrong epoch", fetch(topic, fetch_session=(number, 7)))
    session.ask("right epoch after a wrong one", fetch(topic, fetch_session=(number, 19)))
    session.ask("closed", fetch(topic, fetch_session=(number, -1)))
    session.ask("closed before", fetch(topic, fetch_session=(number, 20)))


@script(ApiKey.FETCH, versions=VERSIONS)
def fetch_sessions_gone_wrong(session: Session) -> None:
    topic, other = filled(session, "t", 2), filled(session, "other")
    stranger = Topic(session.name("none"), STRANGER_ID)
    session.ask("unknown session", fetch(topic, fetch_session=(12345, 1)))
    session.ask("unknown session with partitions", fetch(topic, wanted(), fetch_session=(12345, 1)))
    session.ask("negative session", fetch(topic, fetch_session=(-5, 1)))
    session.ask("unknown session closed", fetch(topic, wanted(), fetch_session=(12345, -1)))
    session.ask("unknown session renewed", fetch(topic, wanted(), fetch_session=(12345, 0)))
    session.ask("epoch 5 without a session", fetch(topic, wanted(), fetch_session=(0, 5)))
    session.ask("epoch -2 without a session", fetch(topic, wanted(), fetch_session=(0, -2)))
    first = session.ask("opened with nothing", fetch(topic, fetch_session=(0, 0)))
    session.ask("still nothing", fetch(topic, fetch_session=(first.session_id, 1)))
    session.ask("nothing any more", fetch(topic, fetch_session=(first.session_id, 2)))
    first = session.ask("opened with strangers", fetch(stranger, wanted(), fetch_session=(0, 0)))
    if first.session_id:
        session.ask("strangers again", fetch(topic, fetch_session=(first.session_id, 1)))
        session.ask("others too", fetch(topic, wanted(), fetch_session=(first.session_id, 2)))
    first = session.ask("opened", fetch(topic, wanted(0), fetch_session=(0, 0)))
    number = first.session_id
    session.ask("strangers added", fetch(stranger, wanted(), fetch_session=(number, 1)))
    session.ask("strangers still there", fetch(stranger, fetch_session=(number, 2)))
    session.ask("one twice", fetch(topic, wanted(1), wanted(1, 5), fetch_session=(number, 3)))
    session.ask(
        "added and forgotten",
        fetch(other, wanted(), fetch_session=(number, 4), forgotten=[(other, 0)]),
    )
    session.ask("epoch -2 in a session", fetch(topic, fetch_session=(number, -2)))
    second = session.ask("renewed", fetch(topic, wanted(0), fetch_session=(number, 0)))
    session.ask("the old one", fetch(topic, fetch_session=(number, 5)))
    session.ask("the new one", fetch(topic, fetch_session=(second.session_id, 1)))
    session.ask("highest epoch", fetch(topic, fetch_session=(second.session_id, 2**31 - 1)))


@script(ApiKey.FETCH, versions=VERSIONS)
def fetch_sessions_in_turns(session: Session) -> None:
    """Who is served first where there is room for one batch."""
    topic = filled(session, "t", 4)
    all_four = [wanted(index) for index in range(4)]
    number = session.ask(
        "opened", fetch(topic, *all_four, fetch_session=(0, 0), max_bytes=1)
    ).session_id
    for epoch in range(1, 4):
        session.ask(f"next {epoch}", fetch(topic, fetch_session=(number, epoch), max_bytes=1))
    session.ask("2 at the end", fetch(topic, wanted(2, 6), fetch_session=(number, 4), max_bytes=1))
    session.append(topic, batch(b"new"), 2)
    for epoch in range(5, 9):
        session.ask(f"2 has news {epoch}", fetch(topic, fetch_session=(number, epoch), max_bytes=1))
    left = [(topic, index) for index in range(3)]
    session.ask("one left", fetch(topic, fetch_session=(number, 9), forgotten=left))
    session.ask("none left", fetch(topic, fetch_session=(number, 10), forgotten=[(topic, 3)]))


@script(ApiKey.FETCH, versions=VERSIONS)
def fetch_sessions_and_versions(session: Session) -> None:
    """A session that begins in this version and continues in another one."""
    topic = filled(session, "t", 2)
    for other in (7, 12, 13, 18):
        first = session.ask(f"opened for {other}", fetch(topic, wanted(0, 6), fetch_session=(0, 0)))
        number = first.session_id
        session.ask(f"goes on in {other}", fetch(topic, fetch_session=(number, 1)), version=other)
        request = fetch(topic, wanted(1), fetch_session=(number, 2))
        session.ask(f"partitions in {other}", request, version=other)


@script(ApiKey.FETCH, versions=VERSIONS)
def fetch_sessions_of_deleted_topics(session: Session) -> None:
    topic, other = filled(session, "t"), filled(session, "other")
    request = fetch(topic, wanted(0, 6), fetch_session=(0, 0))
    request.topics = [*request.topics, *fetch(other, wanted(0, 6)).topics]
    number = session.ask("opened", request).session_id
    session.quietly(DeleteTopicsRequest([], [topic.name], 10_000), 5)
    asked = MetadataRequest([MetadataRequestTopic(bytes(16), topic.name)], False)
    session.until(asked, 9, lambda answer: answer.topics[0].error_code == 3, "deletion")
    session.ask("one is gone", fetch(topic, fetch_session=(number, 1)))
    session.ask("still gone", fetch(topic, fetch_session=(number, 2)))
    filled(session, "t")
    session.ask("there is another of that name", fetch(topic, fetch_session=(number, 3)))
    session.ask("once more", fetch(topic, fetch_session=(number, 4)))
