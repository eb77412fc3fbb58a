"""AlterClientQuotas: limits for users, client ids, pairs of both, and addresses.

Differs from Kafka in two points: an address must be numeric, because a host name would have to be
resolved, and NaN is rejected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from ipaddress import ip_address
from types import MappingProxyType

from ottla.config.options import INT32_MAX, INT64_MAX
from ottla.controller.decision import CHANGED_MAX, Decision, ItemRejected, check_count, quoted
from ottla.controller.state import ControllerState
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
NAME_CHARACTERS_MAX = 1000  # names are kept in memory
_TYPE_ORDER = (CLIENT_ID, USER, IP)  # Kafka's order
# Quota key to the name of its type and its maximum; None for decimals.
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
    state: ControllerState, request: AlterClientQuotasRequest
) -> Decision[response.AlterClientQuotasResponse]:
    check_count(len(request.entries), CHANGED_MAX)
    records: list[QuotaChanged] = []
    new_entities = 0
    results: dict[QuotaEntity, response.EntryData] = {}
    for entry in request.entries:
        entity = entity_of(entry)
        code, message = ErrorCode.NONE, None
        try:
            keys = Counter(op.key for op in entry.ops)
            # As in Kafka: the first entry of an entity takes effect, and the last one determines
            # the response.
            if entity in results or any(count > 1 for count in keys.values()):
                raise _refused(f"Ignoring duplicate entity {quoted(_shown(entity))}")
            changes = _changes_of(state, entity, entry)
            if changes and entity not in state.image.quotas:
                _check_room(state, new_entities)
                new_entities += 1
            records += changes
        except BrokerError as refused:
            code, message = refused.code, refused.message
        named = [response.EntityData(kind, name) for kind, name in entity]
        results[entity] = response.EntryData(code, message, named)
    answer = response.AlterClientQuotasResponse(entries=list(results.values()))
    return Decision(() if request.validate_only else tuple(records), answer)


def entity_of(entry: EntryData) -> QuotaEntity:
    """One name per type; of duplicates, the last one."""
    names = {each.entity_type: each.entity_name for each in entry.entity}
    known = [(kind, names[kind]) for kind in _TYPE_ORDER if kind in names]
    return (*known, *((kind, name) for kind, name in names.items() if kind not in _TYPE_ORDER))


def _changes_of(
    state: ControllerState, entity: QuotaEntity, entry: EntryData
) -> list[QuotaChanged]:
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


def _check_room(state: ControllerState, new_entities: int) -> None:
    limit = state.config.ottla_quota_entities_max
    if len(state.image.quotas) + new_entities >= limit:
        what = f"There may be quotas of {limit} entities (ottla.quota.entities.max)."
        raise ItemRejected(ErrorCode.POLICY_VIOLATION, what)


def _keys_for(entity: QuotaEntity) -> Mapping[str, tuple[str, int] | None]:
    if not entity:
        raise _refused("Invalid empty client quota entity")
    for kind, name in entity:
        if kind not in _TYPE_ORDER:
            raise _refused(f"Unhandled client quota entity type: {quoted(kind)}")
        if name == "":
            raise _refused(f"Empty {kind} not supported")
        if name is not None and len(name) > NAME_CHARACTERS_MAX:
            raise _refused(f"A name may have {NAME_CHARACTERS_MAX} characters: {quoted(name)}")
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
        raise _refused(f"Invalid configuration key {quoted(op.key)}")
    if not op.value > 0:  # also rejects NaN
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


def _refused(message: str) -> ItemRejected:
    return ItemRejected(ErrorCode.INVALID_REQUEST, message)
