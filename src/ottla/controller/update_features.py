"""UpdateFeatures: feature levels of the cluster. All updates of a request are made, or none."""

from __future__ import annotations

from ottla.controller.decision import Decision, ItemRejected, check_count, quoted
from ottla.controller.state import ControllerState
from ottla.metadata.features import METADATA_VERSION, SUPPORTED
from ottla.metadata.records import FeatureLevelSet, VersionRange
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from ottla.protocol.messages.update_features_response import (
    UpdatableFeatureResult,
    UpdateFeaturesResponse,
)

UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3
_NONE = VersionRange(0, 0)


def decide_update_features(
    state: ControllerState, request: UpdateFeaturesRequest, version: int
) -> Decision[UpdateFeaturesResponse]:
    check_count(len(request.feature_updates))
    updates = {each.feature: each for each in request.feature_updates}
    try:
        records = [_update(state, each) for each in updates.values()]
    except BrokerError as refused:
        what = "The update failed for all features since the following feature had an error: "
        return Decision((), UpdateFeaturesResponse(0, refused.code, what + refused.message))
    named = [each.feature for each in request.feature_updates]  # including duplicates
    results = [UpdatableFeatureResult(name, 0, "NONE") for name in named] if version <= 1 else []
    answer = UpdateFeaturesResponse(error_message=None, results=results)
    return Decision(() if request.validate_only else tuple(records), answer)


def _update(state: ControllerState, update: FeatureUpdateKey) -> FeatureLevelSet:
    name, level = update.feature, update.max_version_level
    kind = update.upgrade_type  # UPGRADE in version 0, regardless of `allow_downgrade`
    current = state.image.features.get(name, 0)
    if kind not in (UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE):
        raise _invalid(name, level, "The controller does not support the given upgrade type.")
    if level < 0:
        raise _invalid(name, level, "A feature version cannot be less than 0.")
    _check_supported(state, name, level)
    if level < current and kind == UPGRADE:
        raise _invalid(
            name,
            level,
            "Can't downgrade the version of this feature without setting the upgrade type to "
            "either safe or unsafe downgrade.",
        )
    if level > current and kind != UPGRADE:
        raise _invalid(name, level, "Can't downgrade to a newer version.")
    if name == METADATA_VERSION and level < current:
        raise _metadata_downgrade(current, level, kind)
    return FeatureLevelSet(name, level)


def _check_supported(state: ControllerState, name: str, level: int) -> None:
    """Whether this controller and all registered brokers support the level."""
    if name not in SUPPORTED:
        what = f"Local controller {state.node_id} does not support this feature."
        raise _invalid(name, level, what)
    checked = [(f"Local controller {state.node_id}", SUPPORTED[name])]
    checked += [
        (f"Broker {broker.id}", dict(broker.features).get(name, _NONE))
        for broker in state.image.brokers.values()
    ]
    for who, (least, greatest) in checked:
        if not least <= level <= greatest:
            what = f"{who} only supports versions {least}-{greatest}"
            raise _invalid(name, level, what)


def _metadata_downgrade(current: int, level: int, kind: int) -> ItemRejected:
    why = (
        "Unsafe metadata downgrade is not supported in this version."
        if kind == UNSAFE_DOWNGRADE
        else "Refusing to perform the requested downgrade because it might delete metadata "
        "information."
    )
    what = f"Unsupported metadata.version downgrade from {current} to {level}. {why}"
    return ItemRejected(ErrorCode.INVALID_UPDATE_VERSION, what)


def _invalid(name: str, level: int, what: str) -> ItemRejected:
    message = f"Invalid update version {level} for feature {quoted(name)}. {what}"
    return ItemRejected(ErrorCode.INVALID_UPDATE_VERSION, message)
