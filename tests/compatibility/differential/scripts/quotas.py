"""DescribeClientQuotas and AlterClientQuotas, UpdateFeatures."""

from __future__ import annotations

from collections.abc import Sequence

from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.session import Session

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from ottla.protocol.messages.describe_client_quotas_request import (
    ComponentData,
    DescribeClientQuotasRequest,
)
from ottla.protocol.messages.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest

EXACT, DEFAULT, ANY = range(3)
Entity = Sequence[tuple[str, str | None]]
KEYS = (
    "producer_byte_rate",
    "consumer_byte_rate",
    "request_percentage",
    "controller_mutation_rate",
    "connection_creation_rate",
    "nonsense",
    "",
)
VALUES = (1.0, 0.0, -1.0, 0.5, 1e20, 1e308, float("nan"), float("inf"), 2.5)


def alter(
    *entries: tuple[Entity, Sequence[tuple[str, float, bool]]], dry: bool = False
) -> AlterClientQuotasRequest:
    chosen = [
        EntryData([EntityData(*each) for each in entity], [OpData(*each) for each in changes])
        for entity, changes in entries
    ]
    return AlterClientQuotasRequest(chosen, dry)


def describe(
    *components: tuple[str, int, str | None], strict: bool = False
) -> DescribeClientQuotasRequest:
    return DescribeClientQuotasRequest([ComponentData(*each) for each in components], strict)


@script(ApiKey.ALTER_CLIENT_QUOTAS)
def alter_client_quotas(session: Session) -> None:
    user, client = ("user", session.name("u")), ("client-id", session.name("c"))
    rate = [("producer_byte_rate", 1000.0, False)]
    for key in KEYS:
        for value in VALUES:
            request = alter(([user], [(key, value, False)]), dry=True)
            session.ask(f"dry: {key!r} = {value}", request)
        for entity in (
            [client],
            [user, client],
            [("ip", "1.2.3.4")],
            [("user", None)],
            [("ip", None)],
        ):
            shown = "/".join(
                f"{kind}={session.names.in_text(name or 'default')}" for kind, name in entity
            )
            session.ask(f"dry: {key!r} of {shown}", alter((entity, [(key, 5.0, False)]), dry=True))
    entities: list[Entity] = [
        [], [("nonsense", "x")], [("", "x")], [("user", "")], [user, user],
        [user, ("ip", "1.2.3.4")], [("ip", "not an address")], [("ip", "")], [("ip", "localhost")],
        [("ip", "::1")], [("client-id", None)], [("user", None), ("client-id", None)],
        [user, ("client-id", None)], [("User", "x")],
    ]  # fmt: skip
    for each in entities:
        shown = "/".join(f"{kind}={session.names.in_text(str(name))}" for kind, name in each)
        session.ask(f"dry: entity {shown}", alter((each, rate), dry=True))
        connections = [("connection_creation_rate", 5.0, False)]
        session.ask(f"dry: connections of {shown}", alter((each, connections), dry=True))

    def after(label: str) -> None:
        session.settle()
        request = describe(("user", EXACT, user[1]), strict=True)
        session.ask(f"{label}: after", request, version=1)

    session.ask("set", alter(([user], rate)))
    after("set")
    session.ask(
        "two keys",
        alter(([user], [("consumer_byte_rate", 5.0, False), ("request_percentage", 7.5, False)])),
    )
    after("two keys")
    session.ask("removed", alter(([user], [("producer_byte_rate", 0.0, True)])))
    after("removed")
    session.ask("removed again", alter(([user], [("producer_byte_rate", 0.0, True)])))
    session.ask("removed unknown", alter(([user], [("nonsense", 0.0, True)])))
    session.ask(
        "a key twice",
        alter(([user], [("consumer_byte_rate", 6.0, False), ("consumer_byte_rate", 7.0, False)])),
    )
    after("a key twice")
    session.ask(
        "an entity twice", alter(([user], rate), ([user], [("request_percentage", 9.0, False)]))
    )
    after("an entity twice")
    percent = [("request_percentage", float("inf"), False)]
    session.ask("without end", alter(([user], percent)))
    after("without end")
    session.ask("good and bad", alter(([client], rate), ([("nonsense", "x")], rate)))
    session.ask("no changes", alter(([user], [])))
    session.ask("nothing", alter())
    gone = [(key, 0.0, True) for key in KEYS[:3]]
    session.ask("all removed", alter(([user], gone), ([client], gone)))
    after("all removed")


@script(ApiKey.DESCRIBE_CLIENT_QUOTAS)
def describe_client_quotas(session: Session) -> None:
    user, client = session.name("u"), session.name("c")
    rate = [("producer_byte_rate", 1000.0, False)]
    entities: list[Entity] = [
        [("user", user)], [("user", user), ("client-id", client)], [("client-id", client)],
        [("user", user), ("client-id", None)],
    ]  # fmt: skip
    session.quietly(alter(*((entity, rate) for entity in entities)), 1)
    session.settle()
    for strict in (False, True):
        for kind in (EXACT, DEFAULT, ANY, 3, -1):
            for match in (user, None, "", session.name("none")):
                shown = f"user, match {kind}, {session.names.in_text(str(match))}, strict {strict}"
                if (kind, match) in ((ANY, None), (DEFAULT, None)) and not strict:
                    continue  # would show what others have set
                session.ask(shown, describe(("user", kind, match), strict=strict))
        both = (("user", EXACT, user), ("client-id", EXACT, client))
        session.ask(f"user and client, strict {strict}", describe(*both, strict=strict))
        default = (("user", EXACT, user), ("client-id", DEFAULT, None))
        session.ask(f"user and default client, strict {strict}", describe(*default, strict=strict))
        wide = (("user", EXACT, user), ("client-id", ANY, None))
        session.ask(f"user and any client, strict {strict}", describe(*wide, strict=strict))
        session.ask(
            f"client, strict {strict}", describe(("client-id", EXACT, client), strict=strict)
        )
        for name in ("ip", "nonsense", ""):
            session.ask(f"{name!r}, strict {strict}", describe((name, EXACT, "x"), strict=strict))
        twice = (("user", EXACT, user), ("user", EXACT, user))
        session.ask(f"user twice, strict {strict}", describe(*twice, strict=strict))
        mixed = (("user", EXACT, user), ("ip", EXACT, "1.2.3.4"))
        session.ask(f"user and address, strict {strict}", describe(*mixed, strict=strict))
    gone = [(key, 0.0, True) for key in KEYS[:3]]
    session.quietly(alter(*((entity, gone) for entity in entities)), 1)


@script(ApiKey.UPDATE_FEATURES)
def update_features(session: Session) -> None:
    def ask(label: str, *updates: tuple[str, int, bool, int]) -> None:
        """Dry from version 1 on; before, only what must fail is asked."""
        chosen = []
        for name, level, downgrade, kind in updates:
            is_old = session.version == 0
            chosen.append(
                FeatureUpdateKey(name, level, downgrade if is_old else False, 1 if is_old else kind)
            )
        session.ask(label, UpdateFeaturesRequest(10_000, chosen, session.version > 0))

    ask("nothing")
    ask("lowered without a kind", ("transaction.version", 1, True, 1))
    for name in ("nonsense", ""):
        ask(f"{name!r}", (name, 1, False, 1))
    for name in ("transaction.version", "group.version"):
        for level in (99, -1, 32767):
            ask(f"{name} to {level}", (name, level, False, 1))
    for kind in (1, 2, 3):
        if session.version > 0:
            for level in (0, 1, 2, 3):
                ask(
                    f"transaction.version to {level}, kind {kind}",
                    ("transaction.version", level, True, kind),
                )
            ask(f"metadata.version to 7, kind {kind}", ("metadata.version", 7, True, kind))
            ask(f"metadata.version to 6, kind {kind}", ("metadata.version", 6, True, kind))
            ask(f"metadata.version to 30, kind {kind}", ("metadata.version", 30, True, kind))
    for kind in (0, 4, -1):
        ask(f"kind {kind}", ("transaction.version", 99, False, kind))
    ask("one twice", ("nonsense", 1, False, 1), ("nonsense", 1, False, 1))
    ask("good and bad", ("transaction.version", 2, False, 1), ("nonsense", 1, False, 1))
