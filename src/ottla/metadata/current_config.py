"""The current settings of this broker, of each topic, and of each group.

Owns      merging static settings (file, environment, command line) with dynamic ones (metadata).
          All components read settings through this class.
Promises  an invalid stored setting does not prevent a start: it is skipped with a warning. Reading
          is cheap: results are cached until a setting changes.
Leaves    reacting to changes to components that register with `on_broker_change`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from ottla.base.scheduling.steps import Steps
from ottla.config.broker_options import BROKER_OPTIONS, BrokerConfig
from ottla.config.layers import BrokerLayers, TopicDefaults, group_config
from ottla.config.listener_options import is_of_listener
from ottla.config.load import LoadedConfig
from ottla.config.options import Scope, fields_of, stored_values
from ottla.config.resource_options import GroupConfig
from ottla.config.topic_options import TopicConfig
from ottla.metadata.changes import Changes
from ottla.metadata.image import Image
from ottla.metadata.records import ALL_BROKERS, ConfigResource, ResourceType

_FIELDS = fields_of(BrokerConfig)
_DYNAMIC = {
    name: option for name, option in BROKER_OPTIONS.items() if option.scope is not Scope.READ_ONLY
}


class CurrentConfig:
    def __init__(self, static: LoadedConfig, image: Image) -> None:
        self._static = static
        self._image = image
        self._broker_id = static.config.node_id
        self._on_broker_change: list[Callable[[], None]] = []
        self._groups: dict[str, GroupConfig] = {}  # groups with their own settings
        self._group_default: GroupConfig | None = None
        self._load()

    def on_broker_change(self, react: Callable[[], None]) -> None:
        """Call `changed` whenever a setting of this broker, or of all brokers, has changed."""
        self._on_broker_change.append(react)

    @property
    def broker(self) -> BrokerConfig:
        return self._broker

    @property
    def layers(self) -> BrokerLayers:
        """The broker's settings as texts, by source."""
        return self._layers

    def topic(self, name: str) -> TopicConfig:
        return self._topic_defaults.config(self._image.topic_config(name))

    def group(self, group_id: str) -> GroupConfig:
        """Called for every heartbeat of a consumer group."""
        known = self._groups.get(group_id)
        if known is not None:
            return known
        stored = self._image.config(ConfigResource(ResourceType.GROUP, group_id))
        if stored:
            return self._groups.setdefault(group_id, group_config(stored, self._layers))
        if self._group_default is None:
            self._group_default = group_config({}, self._layers)
        return self._group_default

    def changed(self, _image: Image, changes: Changes) -> Steps[None]:
        this_broker = ConfigResource(ResourceType.BROKER, str(self._broker_id))
        if this_broker in changes.configs or ALL_BROKERS in changes.configs:
            self._load()
            for react in self._on_broker_change:
                react()
        for resource in changes.configs:
            if resource.type == ResourceType.GROUP:
                self._groups.pop(resource.name, None)
            yield 0

    def _load(self) -> None:
        of_this, of_all = (
            self._image.broker_config(self._broker_id),
            self._image.broker_config(None),
        )
        self._layers = self._static.layers.with_dynamic(of_this, of_all)
        self._topic_defaults = TopicDefaults(self._layers)
        self._group_default = None
        self._groups.clear()
        texts = {
            name: text for name, text in {**of_all, **of_this}.items() if not is_of_listener(name)
        }
        values = stored_values(_DYNAMIC, texts)
        fields = {_FIELDS[name]: value for name, value in values.items()}
        self._broker = dataclasses.replace(self._static.config, **fields)
