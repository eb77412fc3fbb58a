"""Fetch with sessions (KIP-227): opened, continued, changed, lost."""

from __future__ import annotations

from tests.compatibility.differential.batches import batch
from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.scripts.fetch import fetch, filled, wanted
from tests.compatibility.differential.talk import Talk, Topic

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest
from ottla.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic

SESSIONS_FROM = 7
VERSIONS = range(SESSIONS_FROM, 19)
STRANGER_ID = b"0123456789abcdef"


@script(ApiKey.FETCH, versions=VERSIONS)
def fetch_sessions(talk: Talk) -> None:
    topic, other = filled(talk, "t", 3), filled(talk, "other")
    first = talk.ask("opened", fetch(topic, wanted(0), wanted(1, 6), session=(0, 0)))
    number = first.session_id
    talk.ask("nothing new", fetch(topic, session=(number, 1)))
    talk.ask("moved to the end", fetch(topic, wanted(0, 6), session=(number, 2)))
    talk.ask("still at the end", fetch(topic, session=(number, 3)))
    talk.append(topic, batch(b"new"), 1)
    talk.ask("one has news", fetch(topic, session=(number, 4)))
    talk.ask("the same news again", fetch(topic, session=(number, 5)))
    talk.ask("another partition", fetch(topic, wanted(1, 7), wanted(2, 6), session=(number, 6)))
    talk.append(topic, batch(b"new"), 2)
    talk.ask("news of the other", fetch(topic, session=(number, 7)))
    talk.ask("another topic", fetch(other, wanted(0, 3), session=(number, 8)))
    talk.ask("two have news", fetch(topic, session=(number, 9)))
    talk.ask("forgotten", fetch(topic, session=(number, 10), forgotten=[(other, 0), (topic, 2)]))
    talk.ask("forgotten again", fetch(topic, session=(number, 11), forgotten=[(other, 0)]))
    talk.ask("never known, forgotten", fetch(topic, session=(number, 12), forgotten=[(topic, 99)]))
    talk.ask("an error", fetch(topic, wanted(0, 999), session=(number, 13)))
    talk.ask("the error again", fetch(topic, session=(number, 14)))
    talk.ask("repaired", fetch(topic, wanted(0, 6), session=(number, 15)))
    talk.ask("unknown partition", fetch(topic, wanted(77), session=(number, 16)))
    talk.ask("unknown partition again", fetch(topic, session=(number, 17)))
    talk.ask("gone", fetch(topic, session=(number, 18), forgotten=[(topic, 77)]))
    talk.ask("wrong epoch", fetch(topic, session=(number, 7)))
    talk.ask("right epoch after a wrong one", fetch(topic, session=(number, 19)))
    talk.ask("closed", fetch(topic, session=(number, -1)))
    talk.ask("closed before", fetch(topic, session=(number, 20)))


@script(ApiKey.FETCH, versions=VERSIONS)
def fetch_sessions_gone_wrong(talk: Talk) -> None:
    topic, other = filled(talk, "t", 2), filled(talk, "other")
    stranger = Topic(talk.name("none"), STRANGER_ID)
    talk.ask("unknown session", fetch(topic, session=(12345, 1)))
    talk.ask("unknown session with partitions", fetch(topic, wanted(), session=(12345, 1)))
    talk.ask("negative session", fetch(topic, session=(-5, 1)))
    talk.ask("unknown session closed", fetch(topic, wanted(), session=(12345, -1)))
    talk.ask("unknown session renewed", fetch(topic, wanted(), session=(12345, 0)))
    talk.ask("epoch 5 without a session", fetch(topic, wanted(), session=(0, 5)))
    talk.ask("epoch -2 without a session", fetch(topic, wanted(), session=(0, -2)))
    first = talk.ask("opened with nothing", fetch(topic, session=(0, 0)))
    talk.ask("still nothing", fetch(topic, session=(first.session_id, 1)))
    talk.ask("nothing any more", fetch(topic, session=(first.session_id, 2)))
    first = talk.ask("opened with strangers", fetch(stranger, wanted(), session=(0, 0)))
    if first.session_id:
        talk.ask("strangers again", fetch(topic, session=(first.session_id, 1)))
        talk.ask("others too", fetch(topic, wanted(), session=(first.session_id, 2)))
    first = talk.ask("opened", fetch(topic, wanted(0), session=(0, 0)))
    number = first.session_id
    talk.ask("strangers added", fetch(stranger, wanted(), session=(number, 1)))
    talk.ask("strangers still there", fetch(stranger, session=(number, 2)))
    talk.ask("one twice", fetch(topic, wanted(1), wanted(1, 5), session=(number, 3)))
    talk.ask(
        "added and forgotten", fetch(other, wanted(), session=(number, 4), forgotten=[(other, 0)])
    )
    talk.ask("epoch -2 in a session", fetch(topic, session=(number, -2)))
    second = talk.ask("renewed", fetch(topic, wanted(0), session=(number, 0)))
    talk.ask("the old one", fetch(topic, session=(number, 5)))
    talk.ask("the new one", fetch(topic, session=(second.session_id, 1)))
    talk.ask("highest epoch", fetch(topic, session=(second.session_id, 2**31 - 1)))


@script(ApiKey.FETCH, versions=VERSIONS)
def fetch_sessions_in_turns(talk: Talk) -> None:
    """Who is served first where there is room for one batch."""
    topic = filled(talk, "t", 4)
    all_four = [wanted(index) for index in range(4)]
    number = talk.ask("opened", fetch(topic, *all_four, session=(0, 0), max_bytes=1)).session_id
    for epoch in range(1, 4):
        talk.ask(f"next {epoch}", fetch(topic, session=(number, epoch), max_bytes=1))
    talk.ask("2 at the end", fetch(topic, wanted(2, 6), session=(number, 4), max_bytes=1))
    talk.append(topic, batch(b"new"), 2)
    for epoch in range(5, 9):
        talk.ask(f"2 has news {epoch}", fetch(topic, session=(number, epoch), max_bytes=1))
    left = [(topic, index) for index in range(3)]
    talk.ask("one left", fetch(topic, session=(number, 9), forgotten=left))
    talk.ask("none left", fetch(topic, session=(number, 10), forgotten=[(topic, 3)]))


@script(ApiKey.FETCH, versions=VERSIONS)
def fetch_sessions_and_versions(talk: Talk) -> None:
    """A session that begins in this version and goes on in another one."""
    topic = filled(talk, "t", 2)
    for other in (7, 12, 13, 18):
        first = talk.ask(f"opened for {other}", fetch(topic, wanted(0, 6), session=(0, 0)))
        number = first.session_id
        talk.ask(f"goes on in {other}", fetch(topic, session=(number, 1)), version=other)
        request = fetch(topic, wanted(1), session=(number, 2))
        talk.ask(f"partitions in {other}", request, version=other)


@script(ApiKey.FETCH, versions=VERSIONS)
def fetch_sessions_of_deleted_topics(talk: Talk) -> None:
    topic, other = filled(talk, "t"), filled(talk, "other")
    request = fetch(topic, wanted(0, 6), session=(0, 0))
    request.topics = [*request.topics, *fetch(other, wanted(0, 6)).topics]
    number = talk.ask("opened", request).session_id
    talk.quietly(DeleteTopicsRequest([], [topic.name], 10_000), 5)
    asked = MetadataRequest([MetadataRequestTopic(bytes(16), topic.name)], False)
    talk.until(asked, 9, lambda answer: answer.topics[0].error_code == 3, "deletion")
    talk.ask("one is gone", fetch(topic, session=(number, 1)))
    talk.ask("still gone", fetch(topic, session=(number, 2)))
    filled(talk, "t")
    talk.ask("there is another of that name", fetch(topic, session=(number, 3)))
    talk.ask("once more", fetch(topic, session=(number, 4)))
