"""DescribeConfigs (key 32), versions 1 to 4.

v1 sources and synonyms · v3 types and documentation · v4 flexible encoding
"""

from __future__ import annotations

from ottla.base.turns import Slices
from ottla.config.describe import (
    ConfigEntry,
    describe_all_brokers,
    describe_broker,
    describe_client_metrics,
    describe_group,
    describe_topic,
)
from ottla.config.kinds import INT
from ottla.handlers.broker_loggers import describe_loggers
from ottla.handlers.context import Context
from ottla.handlers.registry import handles
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
SYNONYM_BYTES = 80


def refuse_describe_configs(
    request: DescribeConfigsRequest, code: ErrorCode, message: str
) -> DescribeConfigsResponse:
    return DescribeConfigsResponse(
        results=[
            DescribeConfigsResult(code, message or None, each.resource_type, each.resource_name)
            for each in request.resources
        ]
    )


@handles(ApiKey.DESCRIBE_CONFIGS, versions=range(1, 5), refuse=refuse_describe_configs)
def describe_configs(
    request: DescribeConfigsRequest, context: Context
) -> Slices[DescribeConfigsResponse]:
    """Each entry once: repeated, a few bytes of a request would make kilobytes of a response."""
    results: dict[object, DescribeConfigsResult] = {}
    for each in request.resources:
        key = each.resource_type, each.resource_name, frozenset(each.configuration_keys or ())
        if key in results:
            yield 0
            continue
        results[key] = describe(each, request, context)
        yield RESULT_BYTES + sum(map(entry_bytes, results[key].configs))
    return DescribeConfigsResponse(results=list(results.values()))


def entry_bytes(entry: DescribeConfigsResourceResult) -> int:
    """About what it takes when it is encoded."""
    text = len(entry.name) + len(entry.value or "") + len(entry.documentation or "")
    return ENTRY_BYTES + text + SYNONYM_BYTES * len(entry.synonyms)


def describe(
    resource: DescribeConfigsResource, request: DescribeConfigsRequest, context: Context
) -> DescribeConfigsResult:
    kind, name = resource.resource_type, resource.resource_name
    try:
        entries = entries_of(kind, name, context)
    except BrokerError as error:
        return DescribeConfigsResult(error.code, error.message or None, kind, name)
    wanted = set(resource.configuration_keys or ())
    if wanted:  # an empty list means all, as null does
        entries = [entry for entry in entries if entry.name in wanted]
    configs = [as_result(entry, request) for entry in entries]
    return DescribeConfigsResult(ErrorCode.NONE, "", kind, name, configs)


def entries_of(kind: int, name: str, context: Context) -> list[ConfigEntry]:
    image, layers = context.parts.metadata, context.parts.layers
    match kind:
        case ResourceType.TOPIC:
            check_name(name)
            if image.topic(name) is None:
                raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            return describe_topic(image.topic_config(name), layers)
        case ResourceType.BROKER:
            return describe_all_brokers(layers) if not name else broker_entries(name, context)
        case ResourceType.BROKER_LOGGER:
            return describe_loggers(context.parts.broker_id, name)
        case ResourceType.GROUP:
            if not name:
                raise BrokerError(ErrorCode.INVALID_REQUEST, "Group name must not be empty")
            overrides = image.config(ConfigResource(ResourceType.GROUP, name))
            return describe_group(overrides, layers)
        case ResourceType.CLIENT_METRICS:
            if not name:
                what = "Client metrics subscription name must not be empty"
                raise BrokerError(ErrorCode.INVALID_REQUEST, what)
            return describe_client_metrics(
                image.config(ConfigResource(ResourceType.CLIENT_METRICS, name))
            )
    raise BrokerError(ErrorCode.INVALID_REQUEST, f"Unsupported resource type: {kind}")


def broker_entries(name: str, context: Context) -> list[ConfigEntry]:
    own = context.parts.broker_id
    try:
        number = INT.parse(name)
    except ValueError:
        what = f"Broker id must be an integer, but it is: {name}"
        raise BrokerError(ErrorCode.INVALID_REQUEST, what) from None
    if number != own:
        raise BrokerError(
            ErrorCode.INVALID_REQUEST,
            f"Unexpected broker id, expected {own} or empty string, but received {name}",
        )
    return describe_broker(context.parts.layers)


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
