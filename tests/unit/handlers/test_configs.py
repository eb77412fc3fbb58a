"""Settings: changed one by one or as a whole, listed, described with their sources."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import pytest
from tests.unit.handlers.world import World

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages import alter_configs_request as replacing
from ottla.protocol.messages.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from ottla.protocol.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.protocol.messages.list_config_resources_request import ListConfigResourcesRequest

TOPIC, BROKER, BROKER_LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)


def alter(
    world: World, kind: int, name: str, *changes: tuple[str, int, str | None], version: int = 1
) -> int:
    configs = [AlterableConfig(*change) for change in changes]
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(kind, name, configs)])
    (answer,) = world.ask(request, version).responses
    code: int = answer.error_code
    return code


def replace(world: World, kind: int, name: str, settings: Mapping[str, str], version: int) -> int:
    configs = [replacing.AlterableConfig(*item) for item in settings.items()]
    request = replacing.AlterConfigsRequest([replacing.AlterConfigsResource(kind, name, configs)])
    (answer,) = world.ask(request, version).responses
    code: int = answer.error_code
    return code


def describe(world: World, kind: int, name: str, version: int = 4, **more: Any) -> Any:
    resource = DescribeConfigsResource(kind, name, more.pop("keys", None))
    (result,) = world.ask(DescribeConfigsRequest([resource], **more), version).results
    return result


def settings(world: World, kind: int, name: str) -> dict[str, str]:
    result = describe(world, kind, name)
    assert result.error_code == 0, result
    return {each.name: each.value for each in result.configs}


@pytest.mark.parametrize("version", range(2))
def test_single_settings_are_set_and_deleted(world: World, version: int) -> None:
    world.create_topic("t")
    before = settings(world, TOPIC, "t")["retention.ms"]
    assert alter(world, TOPIC, "t", ("retention.ms", SET, "1000"), version=version) == 0
    assert settings(world, TOPIC, "t")["retention.ms"] == "1000"
    assert world.broker.replicas.partition("t", 0).log.config.retention_ms == 1000
    assert alter(world, TOPIC, "t", ("retention.ms", DELETE, None), version=version) == 0
    assert settings(world, TOPIC, "t")["retention.ms"] == before


def test_lists_are_appended_to_and_taken_from(world: World) -> None:
    world.create_topic("t")
    assert alter(world, TOPIC, "t", ("cleanup.policy", APPEND, "compact")) == 0
    assert settings(world, TOPIC, "t")["cleanup.policy"] == "delete,compact"
    assert alter(world, TOPIC, "t", ("cleanup.policy", SUBTRACT, "delete")) == 0
    assert settings(world, TOPIC, "t")["cleanup.policy"] == "compact"
    assert alter(world, TOPIC, "t", ("retention.ms", APPEND, "1")) == ErrorCode.INVALID_CONFIG


@pytest.mark.parametrize("version", range(3))
def test_replacing_settings_forgets_those_that_are_not_named(world: World, version: int) -> None:
    world.create_topic("t", config={"retention.ms": "1000"})
    assert replace(world, TOPIC, "t", {"segment.bytes": "2000000"}, version) == 0
    found = settings(world, TOPIC, "t")
    assert found["segment.bytes"] == "2000000"
    assert found["retention.ms"] != "1000"
    assert replace(world, TOPIC, "missing", {}, version) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_brokers_setting_is_its_topics_default(world: World) -> None:
    world.create_topic("t")
    assert alter(world, BROKER, "", ("log.retention.ms", SET, "7777")) == 0
    assert settings(world, TOPIC, "t")["retention.ms"] == "7777"
    assert world.broker.replicas.partition("t", 0).log.config.retention_ms == 7777
    assert alter(world, BROKER, "1", ("log.retention.ms", SET, "8888")) == 0
    assert settings(world, TOPIC, "t")["retention.ms"] == "8888"


@pytest.mark.parametrize("version", range(1, 5))
def test_settings_are_described_with_their_sources(world: World, version: int) -> None:
    world.create_topic("t", config={"retention.ms": "1000"})
    more = {"include_documentation": True} if version >= 3 else {}
    result = describe(world, TOPIC, "t", version, keys=["retention.ms"], **more)
    (entry,) = result.configs
    assert (entry.name, entry.value, entry.is_sensitive) == ("retention.ms", "1000", False)
    assert entry.config_source == 1  # the topic's own
    assert version < 3 or (entry.config_type == 5 and entry.documentation)
    (entry,) = describe(
        world, TOPIC, "t", version, keys=["retention.ms"], include_synonyms=True
    ).configs
    assert entry.synonyms[0].source == 1


def test_what_cannot_be_described_is_refused(world: World) -> None:
    for kind, name, code in (
        (TOPIC, "missing", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (TOPIC, "a/b", ErrorCode.INVALID_TOPIC_EXCEPTION),
        (BROKER, "2", ErrorCode.INVALID_REQUEST),
        (GROUP, "", ErrorCode.INVALID_REQUEST),
        (METRICS, "", ErrorCode.INVALID_REQUEST),
        (99, "x", ErrorCode.INVALID_REQUEST),
    ):
        assert describe(world, kind, name).error_code == code, (kind, name)


def test_levels_of_loggers_are_returned_and_changed_in_this_process(world: World) -> None:
    logger = logging.getLogger("ottla.test_configs.logger")
    try:
        assert alter(world, BROKER_LOGGER, "1", (logger.name, SET, "TRACE")) == 0
        assert settings(world, BROKER_LOGGER, "1")[logger.name] == "TRACE"
        assert logger.isEnabledFor(logging.DEBUG)
        assert alter(world, BROKER_LOGGER, "1", (logger.name, DELETE, None)) == 0
        assert logger.level == logging.NOTSET
        reported = settings(world, BROKER_LOGGER, "1")
        assert reported[logger.name] == reported["root"]
    finally:
        logger.setLevel(logging.NOTSET)


def test_what_loggers_cannot_do_is_refused_and_changes_none_of_them(world: World) -> None:
    logger = logging.getLogger("ottla.test_configs.refused")
    for name, change, code in (
        ("1", ("no.such.logger", SET, "INFO"), ErrorCode.INVALID_CONFIG),
        ("1", ("root", SET, "LOUD"), ErrorCode.INVALID_CONFIG),
        ("1", ("root", SET, None), ErrorCode.INVALID_REQUEST),
        ("1", ("root", DELETE, None), ErrorCode.INVALID_REQUEST),
        ("1", ("root", APPEND, "INFO"), ErrorCode.INVALID_REQUEST),
        ("1", (logger.name, SET, "INFO"), ErrorCode.INVALID_REQUEST),  # named twice
        ("2", ("root", SET, "INFO"), ErrorCode.INVALID_REQUEST),
        ("", ("root", SET, "INFO"), ErrorCode.INVALID_REQUEST),
    ):
        first = (logger.name, SET, "DEBUG")
        assert alter(world, BROKER_LOGGER, name, first, change) == code, (name, change)
    assert logger.level == logging.NOTSET
    for name in ("2", "", "x"):
        assert describe(world, BROKER_LOGGER, name).error_code == ErrorCode.INVALID_REQUEST


def test_loggers_and_other_settings_are_changed_in_one_request(world: World) -> None:
    world.create_topic("t")
    logger = logging.getLogger("ottla.test_configs.mixed")
    level = AlterConfigsResource(BROKER_LOGGER, "1", [AlterableConfig(logger.name, SET, "WARN")])
    topic = AlterConfigsResource(TOPIC, "t", [AlterableConfig("retention.ms", SET, "1000")])
    bad = AlterConfigsResource(TOPIC, "missing", [AlterableConfig("retention.ms", SET, "1000")])
    answers = world.ask(IncrementalAlterConfigsRequest([level, bad, topic], True), 1).responses
    assert [each.resource_name for each in answers] == ["1", "missing", "t"]
    assert [each.error_code for each in answers] == [0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, 0]
    assert logger.level == logging.NOTSET, "it was only asked whether it could be done"
    answers = world.ask(IncrementalAlterConfigsRequest([level, level, topic]), 1).responses
    assert [each.error_code for each in answers] == [ErrorCode.INVALID_REQUEST] * 2 + [0]


def test_nothing_a_wire_sets_names_a_file_a_class_or_an_address(world: World) -> None:
    """Settings that can change while the broker runs are an allow-list; names that Kafka does not
    know are stored, but nothing reads them."""
    for name in ("log.dirs", "listeners", "node.id", "metric.reporters", "ssl.keystore.location"):
        assert alter(world, BROKER, "1", (name, SET, "/etc/passwd")) != 0, name
    assert alter(world, BROKER, "1", ("no.such.setting", SET, "/etc/passwd")) == 0


def test_what_has_settings_is_listed(world: World) -> None:
    world.create_topic("t")
    assert alter(world, GROUP, "g", ("consumer.session.timeout.ms", SET, "50000")) == 0
    assert alter(world, METRICS, "m", ("metrics", SET, "*")) == 0

    def listed(kinds: list[int], version: int = 1) -> set[tuple[int, str]]:
        answer = world.ask(ListConfigResourcesRequest(kinds), version)
        assert answer.error_code == 0
        return {(each.resource_type, each.resource_name) for each in answer.config_resources}

    everything = {
        (TOPIC, "t"), (BROKER, "1"), (BROKER_LOGGER, "1"), (GROUP, "g"), (METRICS, "m"),
    }  # fmt: skip
    assert listed([]) == everything
    assert listed([GROUP, METRICS]) == {(GROUP, "g"), (METRICS, "m")}
    old = world.ask(ListConfigResourcesRequest(), 0)
    assert [each.resource_name for each in old.config_resources] == ["m"]
    refused = world.ask(ListConfigResourcesRequest([99]), 1)
    assert refused.error_code == ErrorCode.UNSUPPORTED_VERSION
