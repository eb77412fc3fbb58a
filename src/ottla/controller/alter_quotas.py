"""AlterClientQuotas: limits for users, client ids, pairs of them, and addresses.

Differs from Kafka in two points: an address must be one, because a host name would have to be
looked up, and what is no number (NaN) is no limit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from ipaddress import ip_address
from types import MappingProxyType

from ottla.config.options import INT32_MAX, INT64_MAX
from ottla.controller.decision import Decision, Refused
from ottla.controller.state import State
from ottla.metadata.records import QuotaChanged, QuotaEntity
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages import alter_client_quotas_response as response
from ottla.protocol.messages.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntryData,
    OpData,
)

USER, CLIENT_ID, IP = "user", "client-id", "ip"
_TYPE_ORDER = (CLIENT_ID, USER, IP)  # in which Kafka tells them
# Quota key to the name of its type and its greatest value; None for decimals.
CLIENT_KEYS: Mapping[str, tuple[str, int] | None] = MappingProxyType(
    {
        "producer_byte_rate": ("a LONG", INT64_MAX),
        "consumer_byte_rate": ("a LONG", INT64_MAX),
        "request_percentage": None,
        "controller_mutation_rate": None,
    }
)
IP_KEYS: Mapping[str, tuple[str, int] | None] = MappingProxyType(
    {"connection_creation_rate": ("an INT", INT32_MAX)}
)


def decide_alter_client_quotas(
    state: State, request: AlterClientQuotasRequest
) -> Decision[response.AlterClientQuotasResponse]:
    records: list[QuotaChanged] = []
    results: dict[QuotaEntity, response.EntryData] = {}
    for entry in request.entries:
        entity = entity_of(entry)
        code, message = ErrorCode.NONE, None
        try:
            keys = Counter(op.key for op in entry.ops)
            # The first one of an entity counts, and yet the answer is that of the last one.
            if entity in results or any(count > 1 for count in keys.values()):
                raise _refused(f"Ignoring duplicate entity {_shown(entity)}")
            records += _changes_of(state, entity, entry)
        except BrokerError as refused:
            code, message = refused.code, refused.message
        named = [response.EntityData(kind, name) for kind, name in entity]
        results[entity] = response.EntryData(code, message, named)
    answer = response.AlterClientQuotasResponse(entries=list(results.values()))
    return Decision(() if request.validate_only else tuple(records), answer)


def entity_of(entry: EntryData) -> QuotaEntity:
    """One name for each type: of two, the last counts."""
    names = {each.entity_type: each.entity_name for each in entry.entity}
    known = [(kind, names[kind]) for kind in _TYPE_ORDER if kind in names]
    return (*known, *((kind, name) for kind, name in names.items() if kind not in _TYPE_ORDER))


def _changes_of(state: State, entity: QuotaEntity, entry: EntryData) -> list[QuotaChanged]:
    limits = state.image.quotas.get(entity, {})
    keys = _keys_for(entity)
    changes = []
    for op in entry.ops:
        if op.remove:
            if op.key in limits:
                changes.append(QuotaChanged(entity, op.key, None))
            continue
        _check_value(op, keys)
        if limits.get(op.key) != op.value:
            changes.append(QuotaChanged(entity, op.key, op.value))
    return changes


def _keys_for(entity: QuotaEntity) -> Mapping[str, tuple[str, int] | None]:
    if not entity:
        raise _refused("Invalid empty client quota entity")
    for kind, name in entity:
        if kind not in _TYPE_ORDER:
            raise _refused(f"Unhandled client quota entity type: {kind}")
        if name == "":
            raise _refused(f"Empty {kind} not supported")
    names = dict(entity)
    if IP not in names:
        return CLIENT_KEYS
    if len(names) > 1:
        raise _refused(
            "Invalid quota entity combination, IP entity shouldnot be combined with User or "
            "ClientId"
        )
    if names[IP] is not None and not _is_address(names[IP] or ""):
        raise _refused(f"{names[IP]} is not a valid IP or resolvable host.")
    return IP_KEYS


def _check_value(op: OpData, keys: Mapping[str, tuple[str, int] | None]) -> None:
    if op.key not in keys:
        raise _refused(f"Invalid configuration key {op.key}")
    if not op.value > 0:  # NaN is not greater than anything
        raise _refused(f"Quota {op.key} must be greater than 0")
    whole = keys[op.key]
    if whole is None:
        return
    type_name, greatest = whole
    if op.value > greatest:
        raise _refused(f"Proposed value for {op.key} is too large for {type_name}.")
    if op.value % 1.0 > 1e-6:
        raise _refused(f"{op.key} cannot be a fractional value.")


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _shown(entity: QuotaEntity) -> str:
    names = ", ".join(f"{kind}={'null' if name is None else name}" for kind, name in entity)
    return f"ClientQuotaEntity(entries={{{names}}})"


def _refused(message: str) -> Refused:
    return Refused(ErrorCode.INVALID_REQUEST, message)
