"""The settings that hold for each group: its own, within the broker's limits, or the broker's."""

from __future__ import annotations

from ottla.base.turns import Slices
from ottla.broker.effective_config import is_of_broker
from ottla.config.layers import BrokerLayers, group_config
from ottla.config.resource_options import GroupConfig
from ottla.metadata.changes import Changes
from ottla.metadata.image import Image
from ottla.metadata.records import ConfigResource, ResourceType


class GroupSettings:
    def __init__(self, broker_id: int, static: BrokerLayers, image: Image) -> None:
        self._broker_id = broker_id
        self._static = static
        self._image = image
        self._known: dict[str, GroupConfig] = {}  # of groups with settings of their own
        self._default: GroupConfig | None = None

    def changed(self, _image: Image, changes: Changes) -> Slices[None]:
        if is_of_broker(changes, self._broker_id):
            self._known.clear()
            self._default = None
        for resource in changes.configs:
            if resource.type == ResourceType.GROUP:
                self._known.pop(resource.name, None)
            yield 0

    def config(self, group_id: str) -> GroupConfig:
        """Asked with every heartbeat of a consumer group."""
        known = self._known.get(group_id)
        if known is not None:
            return known
        own = self._image.config(ConfigResource(ResourceType.GROUP, group_id))
        if own:
            return self._known.setdefault(group_id, group_config(own, self._layers()))
        if self._default is None:
            self._default = group_config({}, self._layers())
        return self._default

    def _layers(self) -> BrokerLayers:
        return self._static.with_dynamic(
            self._image.broker_config(self._broker_id), self._image.broker_config(None)
        )
