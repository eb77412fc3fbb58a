"""Constraints between broker settings that are valid individually."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ottla.config.broker_options import BROKER_OPTIONS, BrokerConfig
from ottla.config.kafka_keys import is_kafkas
from ottla.config.kinds import is_whole
from ottla.config.layers import BrokerLayers, topic_text
from ottla.config.listener_options import base_name, broker_option, is_of_listener, of_listeners
from ottla.config.options import INT32_MAX, MIB, InvalidOption, Scope, fields_of
from ottla.config.resource_options import TOPIC_OPTIONS
from ottla.config.synonyms import TOPIC_SYNONYMS

CODEC_MAX = 4  # zstd
_FIELDS = fields_of(BrokerConfig)
_BOUNDED = ("session.timeout.ms", "heartbeat.interval.ms", "assignment.interval.ms")


class ConfigProblem(NamedTuple):
    """An error message, and the settings it concerns."""

    settings: tuple[str, ...]
    message: str


def parse_broker_config(texts: Mapping[str, str]) -> tuple[BrokerConfig, list[ConfigProblem]]:
    """The settings and all problems; invalid settings have their defaults."""
    values, wrong = {}, []
    for name, text in texts.items():
        try:
            value = BROKER_OPTIONS[base_name(name)].parse(text)
        except InvalidOption as error:
            wrong.append(ConfigProblem((name,), str(error)))
            continue
        if not is_of_listener(name):
            values[_FIELDS[name]] = value
    config = BrokerConfig(**values)
    return config, wrong or [*conflicts(config), *_topic_conflicts(texts)]


def conflicts(config: BrokerConfig) -> Iterator[ConfigProblem]:
    yield from _identity_conflicts(config)
    yield from _time_conflicts(config)
    yield from _group_conflicts(config)
    yield from _cleaner_conflicts(config)
    yield from _replica_conflicts(config)
    if config.max_connections_per_ip == 0 and not config.max_connections_per_ip_overrides:
        yield ConfigProblem(
            ("max.connections.per.ip", "max.connections.per.ip.overrides"),
            "max.connections.per.ip can be set to zero only if max.connections.per.ip.overrides "
            "property is set.",
        )
    try:
        parse_ip_overrides(config.max_connections_per_ip_overrides)
    except InvalidOption as error:
        yield ConfigProblem(("max.connections.per.ip.overrides",), str(error))


def _identity_conflicts(config: BrokerConfig) -> Iterator[ConfigProblem]:
    if config.broker_id >= 0 and config.broker_id != config.node_id:
        yield ConfigProblem(
            ("broker.id", "node.id"),
            f"broker.id={config.broker_id} and node.id={config.node_id} must be equal",
        )


def _time_conflicts(config: BrokerConfig) -> Iterator[ConfigProblem]:
    if config.log_roll_ms is not None and config.log_roll_ms < 1:
        yield ConfigProblem(("log.roll.ms",), "log.roll.ms must be greater than or equal to 1")
    if config.log_roll_jitter_ms is not None and config.log_roll_jitter_ms < 0:
        yield ConfigProblem(
            ("log.roll.jitter.ms",), "log.roll.jitter.ms must be greater than or equal to 0"
        )
    retention = {
        "log.retention.ms": config.log_retention_ms,
        "log.retention.minutes": config.log_retention_minutes,
        "log.retention.hours": config.log_retention_hours,
    }
    name, value = next(each for each in retention.items() if each[1] is not None)
    if value == 0:
        message = "log.retention.ms must be unlimited (-1) or, greater than or equal to 1"
        yield ConfigProblem((name,), message)
    if config.broker_heartbeat_interval_ms * 2 > config.broker_session_timeout_ms:
        yield ConfigProblem(
            ("broker.heartbeat.interval.ms", "broker.session.timeout.ms"),
            "broker.heartbeat.interval.ms must be at most half of broker.session.timeout.ms, so "
            "that one lost heartbeat does not end the session",
        )


def _cleaner_conflicts(config: BrokerConfig) -> Iterator[ConfigProblem]:
    threads = config.log_cleaner_threads
    if threads == 0:
        yield ConfigProblem(("log.cleaner.threads",), "log.cleaner.threads must be at least 1")
    elif config.log_cleaner_dedupe_buffer_size // threads <= MIB:
        yield ConfigProblem(
            ("log.cleaner.dedupe.buffer.size", "log.cleaner.threads"),
            "log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread.",
        )


def _replica_conflicts(config: BrokerConfig) -> Iterator[ConfigProblem]:
    if config.replica_fetch_wait_max_ms > config.replica_socket_timeout_ms:
        yield ConfigProblem(
            ("replica.socket.timeout.ms", "replica.fetch.wait.max.ms"),
            "replica.socket.timeout.ms should always be at least replica.fetch.wait.max.ms to "
            "prevent unnecessary socket timeouts",
        )
    if config.replica_fetch_wait_max_ms > config.replica_lag_time_max_ms:
        yield ConfigProblem(
            ("replica.fetch.wait.max.ms", "replica.lag.time.max.ms"),
            "replica.fetch.wait.max.ms should always be less than or equal to "
            "replica.lag.time.max.ms to prevent frequent changes in ISR",
        )


def _topic_conflicts(texts: Mapping[str, str]) -> Iterator[ConfigProblem]:
    """A default for all topics must be valid for a topic."""
    layers = BrokerLayers(static=texts, defaults={})
    for name, synonyms in TOPIC_SYNONYMS.items():
        found, given = layers.find(synonyms), topic_text(name, {}, layers)
        if found is None or given is None:
            continue
        try:
            TOPIC_OPTIONS[name].parse(given.text)
        except InvalidOption as error:
            setting = found[1].name
            yield ConfigProblem((setting,), f"{setting}: as the default of topics: {error}")


def _group_conflicts(config: BrokerConfig) -> Iterator[ConfigProblem]:
    if not 0 <= config.offsets_topic_compression_codec <= CODEC_MAX:
        yield ConfigProblem(
            ("offsets.topic.compression.codec",),
            f"offsets.topic.compression.codec={config.offsets_topic_compression_codec} must be "
            f"between 0 and {CODEC_MAX}",
        )
    if config.group_min_session_timeout_ms > config.group_max_session_timeout_ms:
        yield ConfigProblem(
            ("group.max.session.timeout.ms", "group.min.session.timeout.ms"),
            "group.max.session.timeout.ms must be greater than or equal to "
            "group.min.session.timeout.ms",
        )
    for rest in _BOUNDED:
        name, low, high = (f"group.consumer.{part}{rest}" for part in ("", "min.", "max."))
        value, least, greatest = (getattr(config, _FIELDS[each]) for each in (name, low, high))
        if least > greatest:
            yield ConfigProblem((high, low), f"{high} must be greater than or equal to {low}")
        elif value < least:
            yield ConfigProblem((name, low), f"{name} must be greater than or equal to {low}")
        elif value > greatest:
            yield ConfigProblem((name, high), f"{name} must be less than or equal to {high}")
    if config.group_consumer_heartbeat_interval_ms >= config.group_consumer_session_timeout_ms:
        yield ConfigProblem(
            ("group.consumer.heartbeat.interval.ms", "group.consumer.session.timeout.ms"),
            "group.consumer.heartbeat.interval.ms must be less than "
            "group.consumer.session.timeout.ms",
        )


def parse_ip_overrides(text: str) -> dict[str, int]:
    """`host:limit,...` as a mapping."""
    limits = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        host, colon, limit = (each.strip() for each in part.rpartition(":"))
        if not colon or not host or not is_whole(limit) or not 0 <= int(limit) <= INT32_MAX:
            raise InvalidOption(
                f"max.connections.per.ip.overrides: {part!r} is not host:limit with a whole number"
            )
        limits[host] = int(limit)
    return limits


# With a limit of 0 the setting could not be changed back.
NOT_NONE_WHILE_RUNNING = ("max.connections", "max.connection.creation.rate", "log.cleaner.threads")
# May be at most doubled or halved at a time.
THREADS = (
    "num.network.threads",
    "num.io.threads",
    "num.replica.fetchers",
    "num.recovery.threads.per.data.dir",
    "background.threads",
    "log.cleaner.threads",
)


def check_dynamic(changed: Mapping[str, str], layers: BrokerLayers, *, is_one_broker: bool) -> None:
    """InvalidOption unless these may be set at run time and are consistent with the other settings.

    `changed` contains all dynamic settings of one broker, or of the cluster-wide default.
    """
    fixed = [n for n in changed if _scope(n) is Scope.READ_ONLY]
    if fixed:
        raise InvalidOption(f"Cannot update these configs dynamically: [{', '.join(fixed)}]")
    per_broker = [n for n in changed if _scope(n) is Scope.PER_BROKER]
    if per_broker and not is_one_broker:
        raise InvalidOption(
            "Cannot update these configs at default cluster level, broker id must be specified: "
            f"[{', '.join(per_broker)}]"
        )
    for name, text in changed.items():  # even if overridden by another layer
        if (option := broker_option(name)) is not None:
            option.parse(text)
    if is_one_broker:
        new_layers = layers.with_dynamic(changed, layers.dynamic_default)
    else:
        new_layers = layers.with_dynamic(layers.dynamic_broker, changed)
    texts = new_layers.effective()
    _, wrong = parse_broker_config(texts)
    if wrong:
        raise InvalidOption(wrong[0].message)
    for name in changed:
        if base_name(name) in NOT_NONE_WHILE_RUNNING and int(texts[name]) == 0:
            raise InvalidOption(f"{name} cannot be set to 0 while the broker runs")
    _check_threads(layers.effective(), texts)


def _check_threads(old: Mapping[str, str], new: Mapping[str, str]) -> None:
    for name in (*THREADS, *(each for each in of_listeners(new) if base_name(each) in THREADS)):
        before, after = int(old.get(name, old[base_name(name)])), int(new[name])
        if not before // 2 <= after <= before * 2:
            raise InvalidOption(
                f"Dynamic thread count update validation failed for {name}={after}, value should "
                f"be at least half the current value {before} and at most double"
            )


def _scope(name: str) -> Scope:
    """A name that Kafka does not know either may be set: its plugins have settings of their own."""
    option = broker_option(name)
    if option is not None:
        return option.scope
    return Scope.READ_ONLY if is_kafkas(name) else Scope.CLUSTER_WIDE
