"""ApiVersions in all versions, and in versions that are still to come."""

from __future__ import annotations

from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.session import Session

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.api_versions_request import ApiVersionsRequest

SOFTWARE = [
    ("", ""), ("a", ""), ("", "1"), ("a b", "1"), ("a", "1 0"), ("-a", "1"), ("a-", "1"),
    ("a.b-c", "1.2-3"), ("a_b", "1"), ("é", "1"), ("x" * 1000, "1"), ("a\n", "1"), ("9", "9"),
    ("a", "1_0"), ("a", "1-"),
]  # fmt: skip


@script(ApiKey.API_VERSIONS)
def api_versions(session: Session) -> None:
    session.ask("usual", ApiVersionsRequest("differential", "1.0"))
    for name, number in SOFTWARE:
        label = f"software {name[:10]!r} of {len(name)}, {number!r}"
        session.ask(label, ApiVersionsRequest(name, number), shown=only_error)
    session.ask("again on the same connection", ApiVersionsRequest("other", "2"), shown=only_error)


def only_error(answer: object) -> object:
    from copy import copy

    out = copy(answer)
    for name in ("api_keys", "supported_features", "finalized_features"):
        setattr(out, name, [])
    out.finalized_features_epoch = -1  # type: ignore[attr-defined]
    return out
