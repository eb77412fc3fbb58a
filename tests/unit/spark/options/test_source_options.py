"""Options of a query: names, values, and what goes together."""

import pytest

from ottla.base.ids import TopicPartition
from ottla.config.options import InvalidOption
from ottla.spark.options.consumer_options import parse_kafka_options
from ottla.spark.options.positions import AtOffsets, AtTimestamp, AtTimestamps, Earliest, Latest
from ottla.spark.options.sink_options import AT_LEAST_ONCE, parse_sink_options
from ottla.spark.options.source_checks import (
    check_batch,
    check_stream,
    ending_position,
    starting_position,
)
from ottla.spark.options.source_options import SOURCE_OPTIONS, parse_options

SERVERS = {"kafka.bootstrap.servers": "localhost:9092"}


def test_names_are_known_in_any_case() -> None:
    options = parse_options({"SUBSCRIBE": "a, b", "startingoffsets": "Earliest"})
    assert options.subscribe == ("a", "b")
    assert options.starting_offsets == Earliest()


def test_an_unknown_option_is_refused_together_with_the_nearest_known_name() -> None:
    with pytest.raises(InvalidOption, match=r"startingOffset .* Did you mean startingOffsets\?"):
        parse_options({"startingOffset": "earliest"})


def test_an_unknown_option_like_no_other_is_refused_with_the_list_of_names() -> None:
    with pytest.raises(InvalidOption, match=r"zzzzzz is not known .*subscribe, subscribePattern"):
        parse_options({"zzzzzz": "1"})


def test_words_are_case_insensitive_as_in_spark() -> None:
    texts = {"startingOffsetsByTimestampStrategy": " LATEST", "valueFormat": "Avro"}
    options = parse_options({**texts, "failOnDataLoss": "FALSE", "maxTriggerDelay": "15M"})
    assert options.starting_offsets_by_timestamp_strategy == "latest"
    assert options.value_format == "avro"
    assert not options.fail_on_data_loss
    assert options.max_trigger_delay_ms == 900_000
    assert parse_sink_options({"delivery": "At-Least-Once"}).delivery == AT_LEAST_ONCE


def test_a_comma_too_many_names_no_topic() -> None:
    assert parse_options({"subscribe": "a, ,b,"}).subscribe == ("a", "b")


def test_options_of_the_sink_are_refused_with_the_same_advice() -> None:
    with pytest.raises(InvalidOption, match=r"for writing\. Did you mean sinkName\?"):
        parse_sink_options({"sinkNames": "x"})
    with pytest.raises(InvalidOption, match="to write, use topic"):
        parse_sink_options({"Subscribe": "x"})


@pytest.mark.parametrize("name", ["path", "topic", "checkpointLocation", "provider"])
def test_options_that_belong_elsewhere_are_refused_with_advice(name: str) -> None:
    with pytest.raises(InvalidOption, match=name):
        parse_options({name: "x"})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("startingOffsets", "soon"),
        ("startingOffsets", "{"),
        ("startingOffsets", "{}"),
        ("startingOffsets", '{"t":{"0":-3}}'),
        ("startingOffsets", '{"t":{"0":1.5}}'),
        ("startingOffsets", '{"t":{"0":true}}'),
        ("startingOffsets", '{"t":{"x":1}}'),
        ("startingOffsets", '{"t":{"0":9223372036854775808}}'),
        ("startingOffsets", '{"t":[0]}'),
        ("endingOffsets", "[]"),
        ("startingTimestamp", "-5"),
        ("startingTimestamp", "yesterday"),
        ("startingOffsetsByTimestamp", '{"t":{"0":-1}}'),
        ("startingOffsetsByTimestampStrategy", "guess"),
        ("assign", '{"t":0}'),
        ("assign", '{"t":[-1]}'),
        ("maxOffsetsPerTrigger", "0"),
        ("maxOffsetsPerTrigger", "many"),
        ("maxTriggerDelay", "soon"),
        ("minPartitions", "0"),
        ("includeHeaders", "maybe"),
        ("failOnDataLoss", "1"),
        ("valueFormat", "xml"),
    ],
)
def test_an_impossible_value_is_refused_by_the_name_of_its_option(name: str, text: str) -> None:
    with pytest.raises(InvalidOption, match=name):
        parse_options({name: text})


def test_offsets_are_read_from_json() -> None:
    options = parse_options({"startingOffsets": '{"a":{"0":23,"1":-2},"b":{"0":-1}}'})
    assert options.starting_offsets == AtOffsets(
        {TopicPartition("a", 0): 23, TopicPartition("a", 1): -2, TopicPartition("b", 0): -1}
    )


def test_partitions_are_assigned_by_json() -> None:
    options = parse_options({"assign": '{"a":[0,2]}'})
    assert options.assign == (TopicPartition("a", 0), TopicPartition("a", 2))


@pytest.mark.parametrize(
    ("text", "expected_ms"), [("15m", 900_000), ("500ms", 500), ("2h", 7_200_000), ("30", 30)]
)
def test_delays_have_units(text: str, expected_ms: int) -> None:
    assert parse_options({"maxTriggerDelay": text}).max_trigger_delay_ms == expected_ms


@pytest.mark.parametrize(
    "given", [{}, {"subscribe": "a", "assign": '{"a":[0]}'}, {"subscribe": ""}]
)
def test_exactly_one_way_to_name_topics_is_needed(given: dict[str, str]) -> None:
    with pytest.raises(InvalidOption, match="subscribe"):
        check_batch(parse_options(given))


def test_a_pattern_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidOption, match="subscribePattern"):
        check_batch(parse_options({"subscribePattern": "("}))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("startingOffsets", "latest"),
        ("startingOffsets", '{"a":{"0":-1}}'),
        ("endingOffsets", "earliest"),
        ("endingOffsets", '{"a":{"0":-2}}'),
    ],
)
def test_a_batch_without_anything_to_read_is_refused(name: str, text: str) -> None:
    with pytest.raises(InvalidOption, match=name):
        check_batch(parse_options({"subscribe": "a", name: text}))


def test_a_batch_whose_start_lies_behind_its_end_is_refused() -> None:
    texts = {"startingOffsets": '{"a":{"0":9}}', "endingOffsets": '{"a":{"0":5}}'}
    with pytest.raises(InvalidOption, match="a-0 begins at 9, behind its end 5"):
        check_batch(parse_options({"subscribe": "a", **texts}))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("endingOffsets", "latest"),
        ("endingTimestamp", "5"),
        ("endingOffsetsByTimestamp", '{"a":{"0":5}}'),
    ],
)
def test_a_stream_refuses_an_end(name: str, text: str) -> None:
    with pytest.raises(InvalidOption, match=name):
        check_stream(parse_options({"subscribe": "a", name: text}))


@pytest.mark.parametrize("pattern", ["", "  "])
def test_an_empty_pattern_would_read_every_topic_and_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidOption, match="subscribePattern is empty"):
        check_batch(parse_options({"subscribePattern": pattern}))


@pytest.mark.parametrize("name", ["a b", "a/b", "..", "a" * 250])
def test_names_that_no_topic_can_have_are_refused(name: str) -> None:
    with pytest.raises(InvalidOption, match="subscribe: Topic name is invalid"):
        parse_options({"subscribe": f"orders,{name}"})


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("fetch.max.bytes", "begin with kafka.: kafka.fetch.max.bytes"),
        ("startingOffset", "Did you mean startingOffsets"),
        ("topic", "it is for writing; to read, use subscribe"),
        ("kafkaConsumer.pollTimeoutMs", "kafkaConsumer.pollTimeoutMs: Not a number of type INT"),
    ],
)
def test_options_that_are_wrong_come_with_advice(name: str, advice: str) -> None:
    with pytest.raises(InvalidOption, match=advice):
        parse_options({"subscribe": "a", name: str(2**40)})


def test_a_least_batch_above_the_largest_is_refused() -> None:
    texts = {"minOffsetsPerTrigger": "10", "maxOffsetsPerTrigger": "5"}
    with pytest.raises(InvalidOption, match="minOffsetsPerTrigger=10"):
        check_stream(parse_options({"subscribe": "a", **texts}))


def test_order_and_splitting_exclude_each_other() -> None:
    texts = {"subscribe": "a", "preserveOrder": "true", "minPartitions": "4"}
    with pytest.raises(InvalidOption, match="preserveOrder"):
        check_batch(parse_options(texts))


@pytest.mark.parametrize("given", [{"valueFormat": "avro"}, {"valueSchema": "id int"}])
def test_value_format_and_schema_need_each_other(given: dict[str, str]) -> None:
    with pytest.raises(InvalidOption, match="valueFormat"):
        check_batch(parse_options({"subscribe": "a", **given}))


def test_a_time_for_all_goes_before_times_and_offsets() -> None:
    texts = {
        "startingTimestamp": "1",
        "startingOffsetsByTimestamp": '{"a":{"0":2}}',
        "startingOffsets": "earliest",
    }
    assert starting_position(parse_options(texts), Latest()) == AtTimestamp(1)
    del texts["startingTimestamp"]
    by_partition = AtTimestamps({TopicPartition("a", 0): 2})
    assert starting_position(parse_options(texts), Latest()) == by_partition
    assert starting_position(parse_options({}), Latest()) == Latest()
    assert ending_position(parse_options({})) == Latest()


def test_every_option_is_explained() -> None:
    assert all(declared.doc for _, declared in SOURCE_OPTIONS.values())


def test_brokers_must_be_named() -> None:
    with pytest.raises(InvalidOption, match=r"kafka\.bootstrap\.servers"):
        parse_kafka_options({"subscribe": "a"})


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("kafka.auto.offset.reset", "startingOffsets"),
        ("kafka.value.deserializer", "valueFormat"),
        ("kafka.enable.auto.commit", "commitOffsets"),
        ("kafka.interceptor.classes", "Java"),
        ("kafka.compression.type", "cannot be used: it is for writing"),
        ("kafka.sasl.mechanism", "not supported yet"),
        ("kafka.no.such.thing", "does not know the setting"),
        ("kafka.isolation.level", "read_committed"),
        ("kafka.fetch.max.bytes", "at least 1"),
        ("kafka.socket.connection.setup.timeout.ms", "at least 1"),
    ],
)
def test_settings_of_the_client_are_understood_or_refused_by_name(name: str, advice: str) -> None:
    with pytest.raises(InvalidOption, match=f"{name}.*{advice}"):
        parse_kafka_options({**SERVERS, name: "-1"})


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("kafka.max.poll.record", "kafka.max.poll.records"),
        ("kafka.fetch.max.byte", "kafka.fetch.max.bytes"),
        ("kafka.groupid", "kafka.group.id"),
    ],
)
def test_a_misspelled_setting_of_the_client_is_refused_with_the_nearest(
    name: str, nearest: str
) -> None:
    with pytest.raises(InvalidOption, match=rf"{name}.* Did you mean {nearest}\?"):
        parse_kafka_options({**SERVERS, name: "1"})


def test_an_error_about_credentials_does_not_show_them() -> None:
    with pytest.raises(InvalidOption, match="not supported yet") as caught:
        parse_kafka_options({**SERVERS, "kafka.sasl.jaas.config": 'password="pass-word"'})
    assert "pass-word" not in str(caught.value)


def test_a_time_in_seconds_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    check_stream(parse_options({"subscribe": "a", "startingTimestamp": "1700000000000"}))
    check_batch(parse_options({"subscribe": "a", "startingTimestamp": "0"}))
    assert caplog.text == ""
    check_stream(parse_options({"subscribe": "a", "startingTimestamp": "1700000000"}))
    assert "1700000000 is in milliseconds and so on 1970-01-20" in caplog.text
    by_partition = '{"a":{"0":1700000000000,"1":1700000001}}'
    check_batch(parse_options({"subscribe": "a", "endingOffsetsByTimestamp": by_partition}))
    assert "1700000001 is in milliseconds" in caplog.text
    assert "multiply seconds by 1000" in caplog.text


def test_an_empty_group_is_refused() -> None:
    with pytest.raises(InvalidOption, match=r"kafka\.group\.id is empty"):
        parse_kafka_options({**SERVERS, "kafka.group.id": " "})


def test_settings_of_consumers_in_groups_change_nothing() -> None:
    parsed = parse_kafka_options({**SERVERS, "kafka.max.poll.records": "500"})
    assert parsed == parse_kafka_options(SERVERS)
    with pytest.raises(InvalidOption, match=r"kafka\.max\.poll\.records.*Not a number of type INT"):
        parse_kafka_options({**SERVERS, "kafka.max.poll.records": "x"})


def test_a_group_and_the_client_s_patience_are_taken_over() -> None:
    parsed = parse_kafka_options({**SERVERS, "KAFKA.Group.Id": "g"}, poll_timeout_ms=1500)
    assert parsed.group_id == "g"
    assert parsed.settings.default_api_timeout_ms == 1500
