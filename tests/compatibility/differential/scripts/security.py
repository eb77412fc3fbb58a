"""SASL, ACLs and delegation tokens on a cluster without authentication and authorization."""

from __future__ import annotations

from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.session import Session

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.create_acls_request import AclCreation, CreateAclsRequest
from ottla.protocol.messages.create_delegation_token_request import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from ottla.protocol.messages.delete_acls_request import DeleteAclsFilter, DeleteAclsRequest
from ottla.protocol.messages.describe_acls_request import DescribeAclsRequest
from ottla.protocol.messages.describe_delegation_token_request import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
)
from ottla.protocol.messages.describe_user_scram_credentials_request import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from ottla.protocol.messages.expire_delegation_token_request import ExpireDelegationTokenRequest
from ottla.protocol.messages.renew_delegation_token_request import RenewDelegationTokenRequest
from ottla.protocol.messages.sasl_authenticate_request import SaslAuthenticateRequest
from ottla.protocol.messages.sasl_handshake_request import SaslHandshakeRequest

UNKNOWN, ANY, TOPIC, LITERAL, READ, ALLOW = 0, 1, 2, 3, 3, 3
ALL = (ANY, None, ANY, None, None, ANY, ANY)
TOPIC_READER = (TOPIC, "t", LITERAL, "User:a", "*", READ, ALLOW)
KINDS = {"resource": 0, "pattern": 2, "operation": 5, "permission": 6}


def wrong(kind: str, value: int = UNKNOWN) -> tuple[int | str, ...]:
    """An ACL that is no ACL in one of its places."""
    out: list[int | str] = list(TOPIC_READER)
    out[KINDS[kind]] = value
    return tuple(out)


@script(ApiKey.SASL_HANDSHAKE)
def sasl_handshake(session: Session) -> None:
    for mechanism in ("PLAIN", "SCRAM-SHA-256", "", "nonsense"):
        session.ask(f"mechanism {mechanism!r}", SaslHandshakeRequest(mechanism))


@script(ApiKey.SASL_AUTHENTICATE)
def sasl_authenticate(session: Session) -> None:
    session.ask("a password", SaslAuthenticateRequest(b"\0user\0secret"))
    session.ask("nothing", SaslAuthenticateRequest(b""))


@script(ApiKey.DESCRIBE_ACLS)
def describe_acls(session: Session) -> None:
    session.ask("all", DescribeAclsRequest(*ALL))
    session.ask("of a topic", DescribeAclsRequest(*TOPIC_READER))
    for kind in KINDS:
        session.ask(f"unknown {kind}", DescribeAclsRequest(*wrong(kind)))  # type: ignore[arg-type]
        session.ask(f"a {kind} of 99", DescribeAclsRequest(*wrong(kind, 99)))  # type: ignore[arg-type]


@script(ApiKey.CREATE_ACLS)
def create_acls(session: Session) -> None:
    session.ask("none", CreateAclsRequest([]))
    session.ask("one", CreateAclsRequest([AclCreation(*TOPIC_READER)]))
    session.ask("two", CreateAclsRequest([AclCreation(*TOPIC_READER)] * 2))
    for kind in KINDS:
        session.ask(
            f"good one and unknown {kind}",
            CreateAclsRequest(
                [AclCreation(*TOPIC_READER), AclCreation(*wrong(kind))]  # type: ignore[arg-type]
            ),
        )


@script(ApiKey.DELETE_ACLS)
def delete_acls(session: Session) -> None:
    session.ask("none", DeleteAclsRequest([]))
    session.ask("all", DeleteAclsRequest([DeleteAclsFilter(*ALL)]))
    session.ask("two", DeleteAclsRequest([DeleteAclsFilter(*TOPIC_READER)] * 2))
    for kind in KINDS:
        session.ask(
            f"good one and unknown {kind}",
            DeleteAclsRequest(
                [
                    DeleteAclsFilter(*TOPIC_READER),
                    DeleteAclsFilter(*wrong(kind)),  # type: ignore[arg-type]
                ]
            ),
        )


@script(ApiKey.CREATE_DELEGATION_TOKEN)
def create_delegation_token(session: Session) -> None:
    session.ask("for oneself", CreateDelegationTokenRequest(max_lifetime_ms=-1))
    renewers = [CreatableRenewers("User", "a"), CreatableRenewers("Group", "")]
    session.ask("with renewers", CreateDelegationTokenRequest(renewers=renewers))
    session.ask("for another", CreateDelegationTokenRequest("User", "b", [], -1))
    session.ask("for a name of nothing", CreateDelegationTokenRequest("Any", "", [], -1))


@script(ApiKey.RENEW_DELEGATION_TOKEN)
def renew_delegation_token(session: Session) -> None:
    session.ask("unknown", RenewDelegationTokenRequest(b"secret", 1000))
    session.ask("nothing", RenewDelegationTokenRequest(b"", -1))


@script(ApiKey.EXPIRE_DELEGATION_TOKEN)
def expire_delegation_token(session: Session) -> None:
    session.ask("unknown", ExpireDelegationTokenRequest(b"secret", 1000))
    session.ask("nothing", ExpireDelegationTokenRequest(b"", -1))


@script(ApiKey.DESCRIBE_DELEGATION_TOKEN)
def describe_delegation_token(session: Session) -> None:
    session.ask("all", DescribeDelegationTokenRequest(None))
    session.ask("of nobody", DescribeDelegationTokenRequest([]))
    owner = DescribeDelegationTokenOwner("User", "a")
    session.ask("of somebody", DescribeDelegationTokenRequest([owner]))


@script(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS)
def describe_user_scram_credentials(session: Session) -> None:
    session.ask("all", DescribeUserScramCredentialsRequest(None))
    session.ask("of nobody", DescribeUserScramCredentialsRequest([]))
    for names in (["a"], [""], ["a", "b"], ["a", "b", "a", "a"]):
        users = [UserName(name) for name in names]
        session.ask(f"of {names}", DescribeUserScramCredentialsRequest(users))
