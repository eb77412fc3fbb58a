"""DescribeConfigs (key 32), versions 1 to 4.

v1 sources and synonyms · v3 types and documentation · v4 flexible encoding
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from ottla.base.scheduling.step_scheduler import emptying
from ottla.base.scheduling.steps import Steps
from ottla.config.describe import (
    ConfigEntry,
    GroupDescriptions,
    TopicDescriptions,
    describe_all_brokers,
    describe_broker,
    describe_client_metrics,
)
from ottla.config.kinds import INT
from ottla.config.layers import ConfigSource
from ottla.handlers.administration.broker_loggers import check_loggers, describe_loggers
from ottla.handlers.serving.chunks import chunks
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.metadata.records import ConfigResource, ResourceType
from ottla.metadata.topic_names import check_name
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from ottla.protocol.messages.describe_configs_response import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)

RESULT_BYTES = 64
ENTRY_BYTES = 16
SYNONYM_BYTES = 4
# For settings of a single resource.
OWN_SOURCES = (ConfigSource.TOPIC, ConfigSource.GROUP, ConfigSource.CLIENT_METRICS)


def refuse_describe_configs(
    request: DescribeConfigsRequest, code: ErrorCode, message: str
) -> DescribeConfigsResponse:
    return DescribeConfigsResponse(
        results=[
            DescribeConfigsResult(code, message or None, each.resource_type, each.resource_name)
            for each in request.resources
        ]
    )


@handles(ApiKey.DESCRIBE_CONFIGS, refuse=refuse_describe_configs)
def describe_configs(
    request: DescribeConfigsRequest, context: Context
) -> Steps[DescribeConfigsResponse]:
    """Without duplicates: for a few bytes of request each would add kilobytes of response."""
    descriptions = Descriptions(request, context)
    results: dict[object, DescribeConfigsResult] = {}
    for each in request.resources:
        wanted = yield from wanted_keys(each)
        key = each.resource_type, each.resource_name, wanted
        if key in results:
            yield 0
            continue
        results[key], size = descriptions.result(each, wanted)
        yield size
    return DescribeConfigsResponse(results=list(results.values()))


def wanted_keys(resource: DescribeConfigsResource) -> Steps[frozenset[str]]:
    """Without duplicates. Empty means all, as null does."""
    keys: set[str] = set()
    for chunk in chunks(resource.configuration_keys or ()):
        keys.update(chunk)
        yield 0
    wanted = frozenset(keys)
    yield from emptying(keys)
    return wanted


class Described(NamedTuple):
    """Settings in the order of the response, the position of each, and their encoded size."""

    entries: tuple[DescribeConfigsResourceResult, ...]
    sizes: tuple[int, ...]
    indexes: dict[str, int]

    def select(self, wanted: frozenset[str]) -> tuple[Sequence[DescribeConfigsResourceResult], int]:
        """An empty set means all, as null does."""
        if not wanted:
            return self.entries, sum(self.sizes)
        at = sorted(self.indexes[name] for name in self.indexes.keys() & wanted)
        return [self.entries[each] for each in at], sum(self.sizes[each] for each in at)


class Descriptions:
    """The descriptions of the resources of one request. What they have in common is built once."""

    def __init__(self, request: DescribeConfigsRequest, context: Context) -> None:
        self._request = request
        self._context = context
        self._layers = context.parts.config.layers
        self._shared: dict[str, Described] = {}
        self._default_entries: dict[ConfigEntry, DescribeConfigsResourceResult] = {}

    def result(
        self, resource: DescribeConfigsResource, wanted: frozenset[str]
    ) -> tuple[DescribeConfigsResult, int]:
        """The settings of a resource, and an estimate of their encoded size."""
        kind, name = resource.resource_type, resource.resource_name
        size = RESULT_BYTES + len(name)
        try:
            configs, configs_size = self._describe(kind, name).select(wanted)
        except BrokerError as error:
            size += len(error.message)
            return DescribeConfigsResult(error.code, error.message or None, kind, name), size
        return DescribeConfigsResult(ErrorCode.NONE, "", kind, name, configs), size + configs_size

    def _describe(self, kind: int, name: str) -> Described:
        image = self._context.parts.metadata
        match kind:
            case ResourceType.TOPIC:
                check_name(name)
                if image.topic(name) is None:
                    raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
                return self._with_defaults("topics", image.topic_config(name), self._topics)
            case ResourceType.BROKER if not name:
                return self._shared_by("all brokers", lambda: describe_all_brokers(self._layers))
            case ResourceType.BROKER:
                check_broker_name(name, self._context)
                return self._shared_by("broker", lambda: describe_broker(self._layers))
            case ResourceType.BROKER_LOGGER:
                broker_id = self._context.parts.broker_id
                check_loggers(broker_id, name)
                return self._shared_by("loggers", describe_loggers)
            case ResourceType.GROUP:
                if not name:
                    raise BrokerError(ErrorCode.INVALID_REQUEST, "Group name must not be empty")
                overrides = image.config(ConfigResource(ResourceType.GROUP, name))
                return self._with_defaults("groups", overrides, self._groups)
            case ResourceType.CLIENT_METRICS:
                if not name:
                    what = "Client metrics subscription name must not be empty"
                    raise BrokerError(ErrorCode.INVALID_REQUEST, what)
                overrides = image.config(ConfigResource(ResourceType.CLIENT_METRICS, name))
                return self._described(describe_client_metrics(overrides))
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"Unsupported resource type: {kind}")

    def _with_defaults(
        self,
        what: str,
        overrides: Mapping[str, str],
        descriptions: TopicDescriptions | GroupDescriptions,
    ) -> Described:
        if overrides:
            return self._described(descriptions.of(overrides))
        return self._shared_by(what, lambda: descriptions.of(overrides))

    @cached_property
    def _topics(self) -> TopicDescriptions:
        return TopicDescriptions(self._layers)

    @cached_property
    def _groups(self) -> GroupDescriptions:
        return GroupDescriptions(self._layers)

    def _shared_by(self, what: str, describe: Callable[[], list[ConfigEntry]]) -> Described:
        if what not in self._shared:
            self._shared[what] = self._described(describe())
        return self._shared[what]

    def _described(self, entries: Sequence[ConfigEntry]) -> Described:
        results = tuple(self._as_result(entry) for entry in entries)
        indexes = {entry.name: at for at, entry in enumerate(entries)}
        return Described(results, tuple(map(entry_bytes, results)), indexes)

    def _as_result(self, entry: ConfigEntry) -> DescribeConfigsResourceResult:
        """Equal entries of several resources share one object."""
        if entry.source in OWN_SOURCES:
            return as_result(entry, self._request)
        if entry not in self._default_entries:
            self._default_entries[entry] = as_result(entry, self._request)
        return self._default_entries[entry]


def entry_bytes(entry: DescribeConfigsResourceResult) -> int:
    """An estimate of the encoded size."""
    text = len(entry.name) + len(entry.value or "") + len(entry.documentation or "")
    synonyms = sum(len(each.name) + len(each.value or "") for each in entry.synonyms)
    return ENTRY_BYTES + text + synonyms + SYNONYM_BYTES * len(entry.synonyms)


def check_broker_name(name: str, context: Context) -> None:
    broker_id = context.parts.broker_id
    try:
        number = INT.parse(name)
    except ValueError:
        what = f"Broker id must be an integer, but it is: {name}"
        raise BrokerError(ErrorCode.INVALID_REQUEST, what) from None
    if number != broker_id:
        raise BrokerError(
            ErrorCode.INVALID_REQUEST,
            f"Unexpected broker id, expected {broker_id} or empty string, but received {name}",
        )


def as_result(entry: ConfigEntry, request: DescribeConfigsRequest) -> DescribeConfigsResourceResult:
    synonyms = [
        DescribeConfigsSynonym(each.name, None if entry.is_sensitive else each.text, each.source)
        for each in entry.synonyms
    ]
    return DescribeConfigsResourceResult(
        entry.name,
        entry.value,
        entry.is_read_only,
        entry.source,
        entry.is_sensitive,
        synonyms if request.include_synonyms else (),
        entry.wire_type,
        entry.doc if request.include_documentation else None,
    )
