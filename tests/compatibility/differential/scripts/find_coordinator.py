"""FindCoordinator: groups, transactions, share groups, and other kinds of keys."""

from __future__ import annotations

from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.session import Session

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.find_coordinator_request import FindCoordinatorRequest

BATCHES_FROM = 4


@script(ApiKey.FIND_COORDINATOR)
def find_coordinator(session: Session) -> None:
    def ask(label: str, kind: int, *keys: str) -> None:
        if session.version >= BATCHES_FROM:
            request = FindCoordinatorRequest("", kind, keys)
        else:
            request = FindCoordinatorRequest(keys[0] if keys else "", kind)
        session.ask(f"{label}, type {kind}", request)

    for kind in (0, 1, 3, 127, -1):
        ask("one", kind, session.name("a"))
        ask("two", kind, session.name("a"), session.name("b"))
        ask("one twice", kind, session.name("a"), session.name("a"))
        ask("no name", kind, "")
        ask("nothing", kind)
        ask("a long name", kind, "x" * 1000)
        ask("strange signs", kind, "a b/c\n")
        if session.version >= BATCHES_FROM:
            ask("good and bad", kind, session.name("a"), "")
