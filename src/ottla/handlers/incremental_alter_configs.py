"""IncrementalAlterConfigs (key 44), versions 0 and 1: changes single settings.

v1 flexible encoding

Levels of loggers are changed here (`administration/broker_loggers.py`), all else by the controller.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

from ottla.base.scheduling.steps import Steps
from ottla.controller.alter_configs import decide_incremental_alter_configs
from ottla.controller.decision import CHANGED_MAX, check_count
from ottla.handlers.administration.broker_loggers import alter_loggers
from ottla.handlers.administration.deciding import decide
from ottla.handlers.alter_configs import are_slow
from ottla.handlers.forwarding.partial_requests import at_controller
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.metadata.records import ResourceType
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.incremental_alter_configs_request import (
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.protocol.messages.incremental_alter_configs_response import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)


def refuse_incremental_alter_configs(
    request: IncrementalAlterConfigsRequest, code: ErrorCode, message: str
) -> IncrementalAlterConfigsResponse:
    return IncrementalAlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(
                code, message or None, each.resource_type, each.resource_name
            )
            for each in request.resources
        ]
    )


@handles(ApiKey.INCREMENTAL_ALTER_CONFIGS, refuse=refuse_incremental_alter_configs)
async def incremental_alter_configs(
    request: IncrementalAlterConfigsRequest, context: Context
) -> IncrementalAlterConfigsResponse:
    check_count(len(request.resources), CHANGED_MAX)
    run = context.parts.scheduler.run
    others, loggers = await run(split(request.resources))
    rest = IncrementalAlterConfigsRequest(others, request.validate_only) if loggers else request
    settings = await at_controller(
        rest,
        context,
        partial(alter_settings, rest, context),
        IncrementalAlterConfigsResponse,
    )
    if not loggers:
        return settings
    return await run(answering(request, loggers, settings, context))


def split(
    resources: Sequence[AlterConfigsResource],
) -> Steps[tuple[list[AlterConfigsResource], Counter[str]]]:
    """(resources that are not loggers, the number of logger resources by broker)."""
    others: list[AlterConfigsResource] = []
    loggers: Counter[str] = Counter()
    for each in resources:
        if is_loggers(each):
            loggers[each.resource_name] += 1
        else:
            others.append(each)
        yield 0
    return others, loggers


def answering(
    request: IncrementalAlterConfigsRequest,
    loggers: Counter[str],
    settings: IncrementalAlterConfigsResponse,
    context: Context,
) -> Steps[IncrementalAlterConfigsResponse]:
    """In the order of the request. Changes the levels of loggers."""
    changed, responses = iter(settings.responses), []
    for each in request.resources:
        if is_loggers(each):
            responses.append(alter_levels(each, loggers[each.resource_name], request, context))
        else:
            responses.append(next(changed))
        yield 0
    return IncrementalAlterConfigsResponse(responses=responses)


async def alter_settings(
    request: IncrementalAlterConfigsRequest, context: Context
) -> IncrementalAlterConfigsResponse:
    broker_id = context.received_by
    return await decide(
        context,
        lambda state: decide_incremental_alter_configs(state, request, broker_id),
        is_large=context.is_large or are_slow(request.resources),
    )


def is_loggers(resource: AlterConfigsResource) -> bool:
    return resource.resource_type == ResourceType.BROKER_LOGGER


def alter_levels(
    resource: AlterConfigsResource,
    times_named: int,
    request: IncrementalAlterConfigsRequest,
    context: Context,
) -> AlterConfigsResourceResponse:
    kind, name = resource.resource_type, resource.resource_name
    try:
        if times_named > 1:
            what = "Each resource must appear at most once."
            raise BrokerError(ErrorCode.INVALID_REQUEST, what)
        broker_id, only_check = context.received_by, request.validate_only
        alter_loggers(broker_id, name, resource.configs, validate_only=only_check)
    except BrokerError as error:
        return AlterConfigsResourceResponse(error.code, error.message or None, kind, name)
    return AlterConfigsResourceResponse(ErrorCode.NONE, None, kind, name)
