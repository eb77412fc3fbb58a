"""DescribeClientQuotas: the quotas that match a filter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ottla.base.java.hash_order import hash_map_order
from ottla.base.scheduling.steps import Steps
from ottla.metadata.image import Image
from ottla.metadata.records import QuotaEntity
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.describe_client_quotas_request import (
    ComponentData,
    DescribeClientQuotasRequest,
)
from ottla.protocol.messages.describe_client_quotas_response import (
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)

EXACT, DEFAULT, ANY = range(3)
ENTRY_BYTES, VALUE_BYTES = 16, 36  # estimated encoded sizes
_TYPES = ("user", "client-id", "ip")


def describe_client_quotas(
    image: Image, request: DescribeClientQuotasRequest
) -> Steps[DescribeClientQuotasResponse]:
    """In slices; a snapshot of the quotas at the start."""
    try:
        _check(request.components)
    except BrokerError as refused:
        return DescribeClientQuotasResponse(0, refused.code, refused.message, None)
    entries = []
    for entity, limits in list(image.quotas.items()):
        grown = 0
        if _matches(entity, request.components, is_strict=request.strict):
            entries.append(_described(entity, limits))
            names = sum(len(kind) + len(name or "") for kind, name in entity)
            grown = ENTRY_BYTES + names + VALUE_BYTES * len(limits)
        yield grown
    return DescribeClientQuotasResponse(entries=entries)


def _described(entity: QuotaEntity, limits: Mapping[str, float]) -> EntryData:
    return EntryData(
        [EntityData(kind, name) for kind, name in entity],
        [ValueData(key, limits[key]) for key in _in_kafkas_order(limits)],
    )


def _in_kafkas_order(keys: Iterable[str]) -> list[str]:
    """Kafka inserts the matches into a map with the default capacity, and that into one of
    matching capacity."""
    return hash_map_order(hash_map_order(keys), slots_min=1)


def _matches(entity: QuotaEntity, components: Sequence[ComponentData], *, is_strict: bool) -> bool:
    """Every component must match; a strict filter allows no other entity types."""
    names = dict(entity)
    if is_strict and len(names) != len(components):
        return False
    return all(
        each.entity_type in names and _matches_name(names[each.entity_type], each)
        for each in components
    )


def _matches_name(name: str | None, component: ComponentData) -> bool:
    match component.match_type:
        case 0:  # EXACT
            return name is not None and name == component.match
        case 1:  # DEFAULT
            return name is None
        case _:
            return True


def _check(components: Sequence[ComponentData]) -> None:
    seen: set[str] = set()
    for each in components:
        _check_component(each)
        if each.entity_type in seen:
            what = f"Entity type {each.entity_type} cannot appear more than once in the filter."
            raise _invalid(what)
        seen.add(each.entity_type)
    if "ip" in seen and len(seen) > 1:
        raise _invalid(
            "Invalid entity filter component combination. IP filter component should not be used "
            "with user or clientId filter component."
        )


def _check_component(component: ComponentData) -> None:
    if not component.entity_type:
        raise _invalid("Invalid empty entity type.")
    if component.entity_type not in _TYPES:
        what = f"Unsupported entity type {component.entity_type}"
        raise BrokerError(ErrorCode.UNSUPPORTED_VERSION, what)
    names = {EXACT: "MATCH_TYPE_EXACT", DEFAULT: "MATCH_TYPE_DEFAULT", ANY: "MATCH_TYPE_SPECIFIED"}
    name = names.get(component.match_type)
    if name is None:
        raise _invalid(f"Unknown match type {component.match_type}")
    if component.match_type == EXACT and component.match is None:
        raise _invalid(f"Request specified {name}, but set match string to null.")
    if component.match_type != EXACT and component.match is not None:
        raise _invalid(f"Request specified {name}, but also specified a match string.")


def _invalid(message: str) -> BrokerError:
    return BrokerError(ErrorCode.INVALID_REQUEST, message)
