"""What random requests of administrators use: one broker without the traces of earlier ones.

Owns      what a sequence calls topics ("~a" has a name of its own in every one), their ids,
          old ones too, and undoing what the sequences before have set for all clients.
Promises  after a step that may have changed something, the broker has done all of it: it applies
          changes one after another, so that of two later ones it has seen it is done with what
          came before the first.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

from tests.compatibility.differential.scripts.configs import (
    BROKER,
    DELETE,
    METRICS,
    change,
    describe,
)
from tests.compatibility.differential.scripts.metadata import UNKNOWN_ID
from tests.compatibility.differential.scripts.quotas import alter as alter_quotas
from tests.compatibility.differential.scripts.quotas import describe as describe_quotas
from tests.compatibility.random_requests.step_client import Shown, StepClient

from ottla.protocol.message import Message, Struct
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest
from ottla.protocol.messages.list_config_resources_request import ListConfigResourcesRequest
from ottla.protocol.messages.metadata_request import MetadataRequest
from ottla.protocol.messages.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest

OWN = "~"
OF_SEQUENCES = "random-admin-"  # what the names of all sequences begin with
FEATURES = {"transaction.version": 2, "group.version": 1}
UPGRADE = 1
DYNAMIC = (2, 3)  # where a broker's setting comes from: its own, or that of all brokers
FOREVER = "min.insync.replicas"  # of all brokers: cannot be taken back
Ref = tuple[str, str]  # which id: of which topic, and "now", "before", "unknown", "zero"


class AdminModel:
    def __init__(self, client: StepClient) -> None:
        self.client = client
        self.session = client.session
        self.subscription_ids: dict[int, int] = {}  # of clients that asked what to measure
        self.instance_ids: dict[int, bytes] = {}
        self._ids: dict[str, list[bytes]] = {}  # by name, the newest last
        self._has_changed = False
        clean(self)
        self.session.settle()

    def name(self, name: str) -> str:
        return self.session.name(name[len(OWN) :]) if name.startswith(OWN) else name

    def topic_id(self, ref: Ref) -> bytes:
        name, which = ref
        known = self._ids.get(self.name(name), [])
        if which == "zero":
            return bytes(16)
        if which == "before":
            known = known[:-1]
        return known[-1] if known and which != "unknown" else UNKNOWN_ID

    def ask(self, request: Message, version: int, shown: Shown | None = None) -> Any:
        """Without the words of errors, by which answers would be put in order."""

        def wordless(answer: Any) -> Any:
            return without_words(answer if shown is None else shown(answer))

        return self.client.ask(request, version, shown=wordless)

    def changes(self) -> None:
        """The step that is being executed may change something."""
        self._has_changed = True

    def after_step(self) -> None:
        if self._has_changed:
            self._has_changed = False
            self.settle()

    def settle(self) -> None:
        self.session.settle()
        self.session.settle()
        answer = self.session.quietly(MetadataRequest(None, False), 12)
        for topic in answer.topics:
            if topic.name.startswith(self.session.name("")):
                known = self._ids.setdefault(topic.name, [])
                if topic.topic_id not in known:
                    known.append(topic.topic_id)

    def is_own(self, name: str | None) -> bool:
        """Of this sequence; not the topic with which changes are waited for."""
        own = (name or "").startswith(self.session.name(""))
        return own and name != self.session.name("settling")

    def only_own(self, field: str, name_of: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Shows of a list in an answer what belongs to this sequence."""

        def shown(answer: Any) -> Any:
            out = copy(answer)
            kept = [each for each in getattr(answer, field) if self.is_own(name_of(each))]
            setattr(out, field, kept)
            return out

        return shown


def without_words(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [without_words(each) for each in value]
    if not isinstance(value, Struct):
        return value
    out = copy(value)
    for name, inner in value.items():
        is_word = name == "error_message" and getattr(value, "error_code", 0) != 0
        setattr(out, name, None if is_word else without_words(inner))
    return out


def clean(model: AdminModel) -> None:
    """Undo what sequences before this one have left."""
    delete_topics(model)
    forget_settings(model)
    forget_quotas(model)
    finalize_features(model)


def delete_topics(model: AdminModel) -> None:
    found = model.session.quietly(MetadataRequest(None, False), 9).topics
    names = [each.name for each in found if each.name.startswith(OF_SEQUENCES)]
    if names:
        model.session.quietly(DeleteTopicsRequest((), names, 30_000), 5)


def forget_settings(model: AdminModel) -> None:
    listed = model.session.quietly(ListConfigResourcesRequest([METRICS]), 1).config_resources
    left = [(METRICS, each.resource_name) for each in listed]
    for kind, name in [(BROKER, ""), (BROKER, "1"), *left]:
        (found,) = model.session.quietly(describe((kind, name, None)), 4).results
        settings = [
            (each.name, DELETE, None)
            for each in found.configs
            if kind == METRICS or (each.config_source in DYNAMIC and each.name != FOREVER)
        ]
        if settings:
            (done,) = model.session.quietly(change((kind, name, settings)), 1).responses
            assert done.error_code == 0, done


def forget_quotas(model: AdminModel) -> None:
    found = model.session.quietly(describe_quotas(), 1).entries or ()
    entries = [
        (
            [(each.entity_type, each.entity_name) for each in entry.entity],
            [(value.key, 0.0, True) for value in entry.values],
        )
        for entry in found
    ]
    if entries:
        model.session.quietly(alter_quotas(*entries), 1)


def finalize_features(model: AdminModel) -> None:
    updates = [FeatureUpdateKey(name, level, False, UPGRADE) for name, level in FEATURES.items()]
    model.session.quietly(UpdateFeaturesRequest(10_000, updates, False), 1)
