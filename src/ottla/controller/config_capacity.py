"""The limit on stored settings, which are kept in memory."""

from __future__ import annotations

from collections.abc import Iterable

from ottla.controller.decision import ItemRejected
from ottla.controller.state import ControllerState
from ottla.metadata.image import setting_bytes
from ottla.metadata.records import ConfigChanged, ConfigResource, ResourceType
from ottla.protocol.error_codes import ErrorCode


class ConfigCapacity:
    """The remaining capacity, for the changes of one request. Each resource occurs at most once."""

    def __init__(self, state: ControllerState) -> None:
        self._state = state
        self._config_bytes = state.image.config_bytes
        self._subscriptions = state.image.client_metrics_count

    def take(self, changes: Iterable[ConfigChanged]) -> None:
        """Refused unless there is capacity for all these settings of one resource."""
        image = self._state.image
        grown, resource, is_set = 0, None, False
        for change in changes:
            resource = change.resource
            is_set |= change.value is not None
            grown += setting_bytes(resource, change.name, change.value)
            grown -= setting_bytes(resource, change.name, image.config(resource).get(change.name))
        self._check_bytes(grown)
        if is_set and self._is_new_subscription(resource):
            self._check_subscriptions()
            self._subscriptions += 1
        self._config_bytes += grown

    def _check_bytes(self, grown: int) -> None:
        limit = self._state.config.ottla_config_bytes_max
        if grown > 0 and self._config_bytes + grown > limit:
            what = f"All settings may take {limit} bytes together (ottla.config.bytes.max)."
            raise ItemRejected(ErrorCode.POLICY_VIOLATION, what)

    def _is_new_subscription(self, resource: ConfigResource | None) -> bool:
        if resource is None or resource.type is not ResourceType.CLIENT_METRICS:
            return False
        return not self._state.image.config(resource)

    def _check_subscriptions(self) -> None:
        limit = self._state.config.ottla_client_metrics_subscriptions_max
        if self._subscriptions >= limit:
            what = (
                f"There may be {limit} subscriptions to metrics of clients "
                "(ottla.client.metrics.subscriptions.max)."
            )
            raise ItemRejected(ErrorCode.POLICY_VIOLATION, what)
