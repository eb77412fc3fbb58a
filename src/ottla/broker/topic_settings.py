"""The settings that hold for each topic: its own, the broker's dynamic ones, the static ones."""

from __future__ import annotations

from ottla.broker.effective_config import is_of_broker
from ottla.config.layers import BrokerLayers, TopicDefaults
from ottla.config.topic_options import TopicConfig
from ottla.metadata.changes import Changes
from ottla.metadata.image import Image


class TopicSettings:
    def __init__(self, broker_id: int, static: BrokerLayers, image: Image) -> None:
        self._broker_id = broker_id
        self._static = static
        self._image = image
        self.refresh()

    def refresh(self) -> None:
        """The broker's own settings, which topics fall back to, have changed."""
        self.layers = self._static.with_dynamic(
            self._image.broker_config(self._broker_id), self._image.broker_config(None)
        )
        self._defaults = TopicDefaults(self.layers)

    def changed(self, _image: Image, changes: Changes) -> None:
        if is_of_broker(changes, self._broker_id):
            self.refresh()

    def config(self, topic: str) -> TopicConfig:
        return self._defaults.config(self._image.topic_config(topic))
