"""DescribeProducers, DescribeTransactions, ListTransactions."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.scripts.transactional import (
    Places,
    Producer,
    add_offsets,
    enlist,
    finish,
    new_producer,
    store,
)
from tests.compatibility.differential.session import Session

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.describe_producers_request import (
    DescribeProducersRequest,
    TopicRequest,
)
from ottla.protocol.messages.describe_transactions_request import DescribeTransactionsRequest
from ottla.protocol.messages.init_producer_id_request import InitProducerIdRequest
from ottla.protocol.messages.list_transactions_request import ListTransactionsRequest


def transactions_in_all_states(session: Session) -> dict[str, Producer]:
    """Producer by state."""
    topic, other = session.topic("t", 3), session.topic("other")
    found = {
        name: new_producer(session, name) for name in ("empty", "ongoing", "committed", "aborted")
    }
    enlist(session, found["ongoing"], (topic.name, [2, 0]), (other.name, [0]))
    session.once_ready(add_offsets(found["ongoing"], session.name("g")), 3)
    for name in ("committed", "aborted"):
        enlist(session, found[name], (topic.name, [0]))
        store(session, found[name], topic)
        finish(session, found[name], is_commit=name == "committed")
    return found


@script(ApiKey.DESCRIBE_TRANSACTIONS)
def describe_transactions(session: Session) -> None:
    found = {
        state: producer.transactional_id
        for state, producer in transactions_in_all_states(session).items()
    }

    def ask(label: str, *ids: str) -> None:
        session.ask(label, DescribeTransactionsRequest(ids))

    for state, transactional_id in found.items():
        ask(state, transactional_id)
    none = session.name("none")
    ask("unknown", none)
    ask("no id", "")
    ask("nothing")
    ask("all", *found.values())
    ask("one twice", found["ongoing"], found["ongoing"])
    ask("good and bad", none, found["empty"], "")
    ask("a long id", "unknown" * 100)


STATES = (
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead",
    "PrepareEpochFence", "ongoing", "", "nonsense",
)  # fmt: skip
PATTERNS = (
    "", ".*", "{}.*", "{}ongoing", "{}o", "{}(ongoing|empty)", "nonsense", "[", "(?", "*", "a{{9",
    "{}[a-e].*", "(?i){}ONGOING", "^{}empty$",
)  # fmt: skip


@script(ApiKey.LIST_TRANSACTIONS)
def list_transactions(session: Session) -> None:
    found = transactions_in_all_states(session)

    def own(answer: Any) -> Any:
        out = copy(answer)
        prefix = session.name("")
        out.transaction_states = [
            each for each in answer.transaction_states if each.transactional_id.startswith(prefix)
        ]
        return out

    def ask(
        label: str, states: Sequence[str] = (), producers: Sequence[int] = (), **more: Any
    ) -> None:
        request = ListTransactionsRequest(
            states, producers, more.get("duration_ms", -1), more.get("pattern")
        )
        session.ask(label, request, shown=own)

    ask("all")
    for state in STATES:
        ask(f"state {state!r}", [state])
    ask("two states", ["Ongoing", "Empty"])
    ask("a state twice", ["Ongoing", "Ongoing"])
    ask("good and bad states", ["Ongoing", "nonsense", "strange"])
    for name, producer in found.items():
        ask(f"producer of {name}", (), [producer.id])
    ask("two producers", (), [found["empty"].id, found["ongoing"].id])
    ask("unknown producers", (), [found["empty"].id + 100_000, -1])
    ask("state and producer", ["Ongoing"], [found["ongoing"].id])
    ask("state and other producer", ["Ongoing"], [found["empty"].id])
    for duration_ms in (0, 3_600_000, -2, 2**63 - 1):
        if duration_ms:  # what is open for no time at all depends on the clock
            ask(f"open for {duration_ms}", duration_ms=duration_ms)
    for pattern in PATTERNS:
        ask(f"pattern {pattern!r}", pattern=pattern.format(session.name("")))
    ask("pattern and state", ["Ongoing"], pattern=".*ongoing")


@script(ApiKey.DESCRIBE_PRODUCERS)
def describe_producers(session: Session) -> None:
    topic, none = session.topic("t", 4), session.name("none")
    t = topic.name

    def ask(label: str, *places: Places) -> None:
        session.ask(label, DescribeProducersRequest([TopicRequest(*each) for each in places]))

    ask("nobody", (t, [0]))
    number = session.once_ready(InitProducerIdRequest(None, 60_000), 4).producer_id
    session.names.define("producer", number, "plain")
    plain = Producer("", number, 0)
    store(session, plain, topic, 0, is_transactional=False)
    ask("an idempotent one", (t, [0]))
    store(session, plain, topic, 0, 1, is_transactional=False)
    ask("its second batch", (t, [0]))
    one = new_producer(session, "one")
    enlist(session, one, (t, [0, 1]))
    ask("enlisted", (t, [1]))
    store(session, one, topic, 1)
    ask("open", (t, [1]))
    store(session, one, topic, 1, 1)
    ask("still open", (t, [1]))
    store(session, one, topic, 0)
    ask("two", (t, [0]))
    ask("several partitions", (t, [0, 1, 2]))
    finish(session, one, is_commit=True)
    ask("committed", (t, [0, 1]))
    enlist(session, one, (t, [1]))
    store(session, one, topic, 1, 2)
    ask("open again", (t, [1]))
    finish(session, one, is_commit=False)
    ask("aborted", (t, [1]))
    ask("unknown topic", (none, [0]))
    ask("unknown partition", (t, [4, -1]))
    ask("good and bad", (none, [0]), (t, [2, 9]))
    for name in ("", ".", "a b", "x" * 250, "__cluster_metadata"):
        ask(f"topic {name[:30]!r}", (name, [0]))
    ask("nothing")
    ask("no partitions", (t, []))
    ask("a partition twice", (t, [2, 2]))
    ask("a topic twice", (t, [2]), (t, [2]))
    ask("a topic in two parts", (t, [2]), (t, [3]))
