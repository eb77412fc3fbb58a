"""The broker's configuration as it holds now: what was set while it ran, over what it began with.

Promises  what was stored once keeps no broker from starting, whatever is checked today.
"""

from __future__ import annotations

import dataclasses

from ottla.config.broker_options import BROKER_OPTIONS, BrokerConfig
from ottla.config.listener_options import is_of_listener
from ottla.config.options import Scope, fields_of, stored_values
from ottla.metadata.changes import Changes
from ottla.metadata.image import Image
from ottla.metadata.records import ALL_BROKERS, ConfigResource, ResourceType

_FIELDS = fields_of(BrokerConfig)
_DYNAMIC = {
    name: option for name, option in BROKER_OPTIONS.items() if option.scope is not Scope.READ_ONLY
}


class EffectiveConfig:
    def __init__(self, broker_id: int, static: BrokerConfig, image: Image) -> None:
        self._broker_id = broker_id
        self._static = static
        self._load(image)

    def __call__(self) -> BrokerConfig:
        return self._config

    def changed(self, image: Image, changes: Changes) -> None:
        if is_of_broker(changes, self._broker_id):
            self._load(image)

    def _load(self, image: Image) -> None:
        texts = {**image.broker_config(None), **image.broker_config(self._broker_id)}
        of_all = {name: text for name, text in texts.items() if not is_of_listener(name)}
        values = stored_values(_DYNAMIC, of_all)
        fields = {_FIELDS[name]: value for name, value in values.items()}
        self._config = dataclasses.replace(self._static, **fields)


def is_of_broker(changes: Changes, broker_id: int) -> bool:
    """Whether settings of this broker, or of all of them, are among the changes."""
    own = ConfigResource(ResourceType.BROKER, str(broker_id))
    return own in changes.configs or ALL_BROKERS in changes.configs
