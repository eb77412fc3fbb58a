"""Validation of a broker registration, and its record."""

from __future__ import annotations

from ottla.base.uuids import uuid_to_text
from ottla.controller.state import ControllerState
from ottla.metadata.entities import BrokerRegistration
from ottla.metadata.records import BrokerRegistered, Endpoint, VersionRange
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.broker_registration_request import BrokerRegistrationRequest

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")  # index is Kafka's number
_RESERVED_DIRECTORIES_END = 100  # smaller ids are reserved


def check_registration(
    state: ControllerState,
    request: BrokerRegistrationRequest,
    previous: BrokerRegistration | None,
    *,
    has_session: bool,
) -> None:
    if request.cluster_id != state.image.cluster_id:
        what = (
            f"Expected cluster ID {state.image.cluster_id}, but got cluster ID {request.cluster_id}"
        )
        raise BrokerError(ErrorCode.INCONSISTENT_CLUSTER_ID, what)
    is_other = previous is not None and previous.incarnation_id != request.incarnation_id
    if has_session and is_other:
        raise BrokerError(
            ErrorCode.DUPLICATE_BROKER_REGISTRATION,
            "Another broker is registered with that broker id. If the broker was recently "
            "restarted this should self-resolve once the heartbeat manager expires the broker's "
            "session.",
        )
    _check_directories(state, request)
    _check_features(state, request)


def _check_directories(state: ControllerState, request: BrokerRegistrationRequest) -> None:
    directories = request.log_dirs
    if not directories:
        raise _invalid("No directories specified in request")
    if any(int.from_bytes(each, "big") < _RESERVED_DIRECTORIES_END for each in directories):
        raise _invalid("Reserved directory ID in request")
    if len(set(directories)) != len(directories):
        raise _invalid("Duplicate directory ID in request")
    for broker in state.image.brokers.values():
        taken = [each for each in directories if each in broker.log_directories]
        if taken and broker.id != request.broker_id:
            directory = uuid_to_text(taken[0])
            raise _invalid(f"Broker {broker.id} is already registered with directory {directory}")


def _check_features(state: ControllerState, request: BrokerRegistrationRequest) -> None:
    """The broker must support every finalised feature level."""
    offered = {each.name: each for each in request.features}
    for name, level in state.image.features.items():
        feature = offered.get(name)
        least = feature.min_supported_version if feature is not None else 0
        greatest = feature.max_supported_version if feature is not None else 0
        if not least <= level <= greatest:
            raise BrokerError(
                ErrorCode.UNSUPPORTED_VERSION,
                f"Unable to register because the broker does not support finalized version {level} "
                f"of {name}. The broker wants a version between {least} and {greatest}, inclusive.",
            )


def registration_record(
    request: BrokerRegistrationRequest,
    epoch: int,
    *,
    is_fenced: bool = True,
    like: BrokerRegistration | None = None,
) -> BrokerRegistered:
    """`like`: the same incarnation registers again and keeps its state."""
    return BrokerRegistered(
        request.broker_id,
        epoch,
        request.incarnation_id,
        tuple(
            Endpoint(each.name, each.host, each.port, PROTOCOLS[each.security_protocol])
            for each in request.listeners
        ),
        tuple(
            (each.name, VersionRange(each.min_supported_version, each.max_supported_version))
            for each in request.features
        ),
        request.rack,
        is_fenced if like is None else like.is_fenced,
        False if like is None else like.is_shutting_down,
        tuple(request.log_dirs),
    )


def _invalid(message: str) -> BrokerError:
    return BrokerError(ErrorCode.INVALID_REGISTRATION, message)
