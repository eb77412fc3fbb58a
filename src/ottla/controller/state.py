"""The inputs of a decision: the image, the controller's settings, random numbers, new ids.

Pure: random numbers and ids are arguments, so that a simulation can repeat a decision.
"""

from __future__ import annotations

from collections.abc import Callable, MutableSequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from ottla.config.broker_options import BrokerConfig
from ottla.config.layers import BrokerLayers, SourcedText, TopicDefaults, topic_text
from ottla.metadata.entities import Topic
from ottla.metadata.image import Image
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError


class RandomSource(Protocol):
    """The part of `random.Random` that decisions use."""

    def randrange(self, stop: int, /) -> int: ...

    def shuffle(self, items: MutableSequence[Any], /) -> None: ...


@dataclass(frozen=True)
class ControllerState:
    """The input of one decision; derived values are cached."""

    image: Image
    node_id: int  # broker of the controller, whose own settings apply to decisions
    config: BrokerConfig
    static: BrokerLayers
    rng: RandomSource
    new_uuid: Callable[[], bytes]

    @cached_property
    def layers(self) -> BrokerLayers:
        """The current broker settings."""
        image = self.image
        return self.static.with_dynamic(
            image.broker_config(self.node_id), image.broker_config(None)
        )

    @cached_property
    def topic_defaults(self) -> TopicDefaults:
        """Settings of a topic without its own."""
        return TopicDefaults(self.layers)

    @cached_property
    def _default_texts(self) -> dict[str, str]:
        """The default texts that were looked up."""
        return {}

    def topic_setting(self, topic: str, name: str) -> str:
        text = self.image.topic_config(topic).get(name)
        if text is None:
            text = self._default_texts.get(name)
        if text is None:
            found: SourcedText | None = topic_text(name, {}, self.layers)
            assert found is not None, f"{name} has no default"
            text = self._default_texts[name] = found.text
        return text

    def min_in_sync(self, topic: Topic) -> int:
        """At most the number of replicas: with a minimum of two, a topic with one replica stays
        writable."""
        wanted = int(self.topic_setting(topic.name, "min.insync.replicas"))
        return min(wanted, topic.replication_factor)

    def may_elect_uncleanly(self, topic: Topic) -> bool:
        setting = self.topic_setting(topic.name, "unclean.leader.election.enable")
        return setting.strip().lower() == "true"

    def check_broker_epoch(self, broker_id: int, epoch: int) -> None:
        """BrokerError unless this is the current epoch of the broker."""
        broker = self.image.broker(broker_id)
        if broker is None:
            what = f"No broker registration found for broker id {broker_id}"
            raise BrokerError(ErrorCode.STALE_BROKER_EPOCH, what)
        if broker.epoch != epoch:
            what = f"Expected broker epoch {broker.epoch}, but got broker epoch {epoch}"
            raise BrokerError(ErrorCode.STALE_BROKER_EPOCH, what)
