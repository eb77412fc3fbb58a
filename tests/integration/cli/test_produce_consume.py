from __future__ import annotations

import json
import signal
import subprocess
import sys

import confluent_kafka
import pytest
from tests.integration.cli.conftest import Command
from tests.integration.cli.ottla_command import clean_environment, ottla, start
from tests.support.waiting import wait_until

from ottla.base.ids import TopicPartition
from ottla.client.admin.list_offsets import latest_offsets
from ottla.client.cluster.cluster import Cluster
from ottla.client.settings import ClientSettings
from ottla.testing.broker import RunningBroker

pytestmark = pytest.mark.xdist_group("command-line")


def test_values_become_records_and_come_back(command: Command, topic: str) -> None:
    done = command("produce", topic, "hello", "world")
    assert done.out == f"2 records to partition 0 of {topic}, offsets 0 to 1\n"
    assert command("consume", topic, "-e").lines == ["hello", "world"]


def test_lines_of_standard_input_become_records(command: Command, topic: str) -> None:
    done = command("produce", topic, "-o", "json", stdin=b"one\ntwo")
    assert done.document == [
        {"topic": topic, "partition": 0, "records": 2, "first_offset": 0, "last_offset": 1}
    ]
    assert command("consume", topic, "-e").lines == ["one", "two"]


def test_values_are_read_as_lines_would_be(command: Command, topic: str) -> None:
    command("produce", topic, "-f", "json", '{"key": "k", "value": "v"}')
    command("produce", topic, "-K", ":", "a:b")
    refused = command("produce", topic, "-f", r"%k %v\n", "c d")
    assert (refused.code, "applies to standard input" in refused.err) == (2, True)
    assert command("consume", topic, "-e", "-f", r"%k=%v\n").lines == ["k=v", "a=b"]


def test_keys_headers_and_tombstones(command: Command, topic: str) -> None:
    command("produce", topic, "-k", "4711", "-H", "source=shop", "-H", "empty=", "sold")
    command("produce", topic, "-f", r"%k\t%v\n", "-Z", stdin=b"4711\t\n")
    command("produce", topic, "-K", ":", stdin=b"a:b:c\nno key\n")
    reported = command("consume", topic, "-e", "-Z", "-f", r"%o %k %v %h{%k=%v;}\n")
    assert reported.lines == [
        "0 4711 sold source=shop;empty=;",
        "1 4711 NULL ",
        "2 a b:c ",
        "3 NULL no key ",
    ]


def test_json_carries_every_record_from_topic_to_topic(command: Command, topic: str) -> None:
    template = "%K{big32}%k%V{big32}%v%H %h{%K{big16}%k%V{big16}%v}"
    record = b"\x00\x00\x00\x01\xff\xff\xff\xff\xff1 \x00\x01h\x00\x01\xfe"
    command("produce", topic, "-f", template, stdin=record * 2)
    reported = command("consume", topic, "-e", "--format", "json")
    assert [json.loads(line)["key_base64"] for line in reported.lines] == ["/w==", "/w=="]

    copy = f"{topic}-copy"
    command("topics", "create", copy, "-p", "1")
    assert command("produce", copy, "--format", "json", stdin=reported.out.encode()).code == 0
    copied = command("consume", copy, "-e", "--format", "json")
    assert copied.out.replace(copy, topic) == reported.out


@pytest.mark.parametrize(
    ("offset", "values"),
    [
        ("start", "0123456789"),
        (":end", "0123456789"),
        ("7", "789"),
        ("7:", "789"),
        (":3", "012"),
        ("3:5", "34"),
        ("5:5", ""),
        ("8:end", "89"),
        ("+8", "89"),
        ("-2", "89"),
        ("-99", "0123456789"),
        ("end", ""),
        ("@1000000000007", "789"),
        ("@1000000000003:1000000000005", "34"),
        ("@:1000000000002", "01"),
        ("@2001-09-09T01:46:40.003Z:2ms", "34"),
        ("@-1h", ""),
        ("@:-1h", "0123456789"),
    ],
)
def test_any_part_of_a_topic_can_be_read(
    command: Command, digits: str, offset: str, values: str
) -> None:
    reported = command("consume", digits, "-e", "-f", "%v", "-o", offset)
    assert (reported.code, reported.out) == (0, values)


@pytest.fixture
def digits(command: Command) -> str:
    """The digits 0 to 9, a millisecond apart, of 1970: kept by retention nevertheless."""
    if command("topics", "create", "digits", "-p", "1", "-c", "retention.ms=-1").code == 0:
        rows = "".join(f"{1_000_000_000_000 + digit} {digit}\n" for digit in range(10))
        command("produce", "digits", "-f", r"%d %v\n", stdin=rows.encode())
    return "digits"


def test_a_range_that_has_its_end_needs_no_exit(command: Command, digits: str) -> None:
    assert command("consume", digits, "-f", "%v", "-o", "3:6").out == "345"
    assert command("consume", digits, "-f", "%v", "-n", "4").out == "0123"
    assert command("consume", digits, "-f", "%v", "-n", "0").out == ""


def test_the_tail_is_the_newest_of_all_partitions(command: Command, topic: str) -> None:
    command("topics", "alter", topic, "-p", "3")
    rows = "".join(f"{n % 3} {1_000_000_000_000 + n} {n}\n" for n in range(9))
    command("produce", topic, "-f", r"%p %d %v\n", stdin=rows.encode())
    assert command("consume", topic, "--tail", "4").lines == ["5", "6", "7", "8"]
    assert command("consume", topic, "--tail", "0").lines == []
    assert command("consume", topic, "-e", "-p", "1").lines == ["1", "4", "7"]


def test_the_tail_can_be_followed(
    environment: dict[str, str], command: Command, topic: str
) -> None:
    command("topics", "alter", topic, "-p", "2")
    command("produce", topic, "-p", "0", "one", "two", "three")
    with start("consume", topic, "--tail", "2", "-F", "-n", "4", environment=environment) as reader:
        assert reader.stdout is not None
        assert [reader.stdout.readline() for _ in range(2)] == [b"two\n", b"three\n"]
        command("produce", topic, "-p", "0", "four")
        assert reader.stdout.readline() == b"four\n"
        command("produce", topic, "-p", "1", "five")
        assert reader.stdout.read() == b"five\n"
        assert reader.wait(120) == 0


def test_topics_are_read_by_pattern_and_by_option(command: Command, topic: str) -> None:
    for suffix in "xy":
        command("topics", "create", f"{topic}-{suffix}", "-p", "1")
        command("produce", "--topic", f"{topic}-{suffix}", suffix)
    assert sorted(command("consume", f"{topic}-*", "-e").lines) == ["x", "y"]
    assert command("consume", "--topic", f"{topic}-x", "-e").lines == ["x"]
    assert command("consume", f"{topic}-z*", "-e").code == 1


def test_the_tail_counts_records_and_not_offsets(
    shared_broker: RunningBroker, command: Command, topic: str
) -> None:
    command("produce", topic, "one", "two")
    settings = {"bootstrap.servers": shared_broker.bootstrap_servers, "transactional.id": topic}
    producer = confluent_kafka.Producer(settings)
    producer.init_transactions()
    for values, is_committed in ((["three"], True), (["never"] * 20, False), (["four"], True)):
        producer.begin_transaction()
        for value in values:
            producer.produce(topic, value)
        producer.flush()
        (producer.commit_transaction if is_committed else producer.abort_transaction)()
    place = TopicPartition(topic, 0)
    with Cluster(ClientSettings(shared_broker.bootstrap_servers)) as cluster:
        wait_until(
            lambda: latest_offsets(cluster, [place], "read_committed")[place] == 27,
            "the markers of all transactions",
        )
    assert command("consume", topic, "--tail", "3").lines == ["two", "three", "four"]
    assert command("consume", topic, "--tail", "9").lines == ["one", "two", "three", "four"]
    assert command("consume", topic, "--tail", "1", "--grep", "o$").lines == ["two"]


def test_records_are_chosen_by_key_value_and_header(command: Command, topic: str) -> None:
    command("produce", topic, "-k", "a", "-H", "x=1", "apple")
    command("produce", topic, "-k", "b", "-H", "x=2", "banana")
    command("produce", topic, "-k", "a", "-H", "y=1", "cherry", "")
    assert command("consume", topic, "-e", "--key", "a").lines == ["apple", "cherry", ""]
    assert command("consume", topic, "-e", "--grep", "an|rr").lines == ["banana", "cherry"]
    assert command("consume", topic, "-e", "--header", "x").lines == ["apple", "banana"]
    assert command("consume", topic, "-e", "--header", "x=2").lines == ["banana"]
    assert command("consume", topic, "-e", "--key", "a", "--grep", "pp").lines == ["apple"]
    assert command("consume", topic, "--tail", "1", "--key", "b").lines == ["banana"]
    assert command("consume", topic, "-e", "--grep", "[").code == 2


def test_a_group_continues_where_it_stopped(command: Command, topic: str, group: str) -> None:
    command("produce", topic, "one", "two", "three")
    assert command("consume", topic, "-g", group, "-n", "1").lines == ["one"]
    assert command("consume", topic, "-g", group, "-e").lines == ["two", "three"]
    assert command("consume", topic, "-g", group, "-e").lines == []
    command("produce", topic, "four")
    assert command("consume", topic, "-g", group, "-e").lines == ["four"]


def test_several_topics_are_read_together(command: Command, topic: str) -> None:
    other = f"{topic}-other"
    command("topics", "create", other, "-p", "1")
    command("produce", topic, "a")
    command("produce", other, "b")
    assert sorted(command("consume", topic, other, "-e", "-f", r"%t %v\n").lines) == [
        f"{topic} a",
        f"{other} b",
    ]


def test_yaml_shows_one_document_for_each_record(command: Command, topic: str) -> None:
    command("produce", topic, "a: b")
    reported = command("consume", topic, "-e", "--format", "yaml")
    assert reported.lines[0] == "---"
    assert 'value: "a: b"' in reported.lines


def test_bad_input_is_refused_with_its_place_and_what_came_before_is_written(
    command: Command, topic: str
) -> None:
    failed = command("produce", topic, "--format", "json", stdin=b'{"value": "a"}\nnonsense\n')
    assert failed.code == 1
    assert "line 2: not JSON: Expecting value at column 1" in failed.err
    assert "1 record was acknowledged" in failed.err
    assert command("consume", topic, "-e").lines == ["a"]


def test_reading_a_misspelt_topic_is_answered_with_the_nearest_names(
    command: Command, digits: str
) -> None:
    failed = command("consume", "digit", "-e")
    assert failed.code == 1
    assert "did you mean digits?" in failed.err
    assert command("consume", digits, "-p", "7", "-e").err.endswith("it has 1\n")


def test_writing_to_a_new_topic_makes_it_and_says_so(command: Command, digits: str) -> None:
    done = command("produce", "digitz", "x")
    assert done.code == 0
    assert (
        "topic digitz does not exist: its first record creates it; did you mean digits?" in done.err
    )
    command("topics", "delete", "digitz")


def test_writing_to_what_cannot_be_is_refused(command: Command, topic: str) -> None:
    for words in ([topic, "-p", "9", "x"], [topic, "-p", "9"]):
        refused = command("produce", *words, stdin=b"x\n")
        assert refused.code == 1
        assert f"{topic} has no partition 9: it has 1" in refused.err
    for name in ("a/b", "two words", ""):
        refused = command("produce", name, "x")
        assert refused.code == 1
        assert f"{name!r} is not a valid topic name" in refused.err
    refused = command("produce", topic, "-f", r"%t,%v\n", stdin=b"a b,x\n")
    assert "'a b' is not a valid topic name" in refused.err


def test_an_offset_that_is_not_there_is_an_error(command: Command, digits: str) -> None:
    failed = command("consume", digits, "-o", "500", "-e")
    assert failed.code == 1
    assert "no partition has offset 500" in failed.err
    assert "partition 0 of digits has 0 to 9" in failed.err
    assert command("consume", digits, "-o", "10", "-e").out == ""


def test_an_offset_that_only_some_partitions_have_is_read_there(
    command: Command, topic: str
) -> None:
    command("topics", "alter", topic, "-p", "2")
    command("produce", topic, "-p", "0", *"abc")
    assert command("consume", topic, "-o", "1", "-e").lines == ["b", "c"]
    assert command("consume", topic, "-o", "1:2", "-e").lines == ["b"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["consume", "t", "-o", "soon"], "not an offset range"),
        (["consume", "t", "-f", "%q"], "%q is not a field"),
        (["consume", "t", "-f", "csv"], "expected text, json, yaml or a template"),
        (["consume", "t", "-g", "g", "-o", "17"], "ottla groups reset g --to 17"),
        (["consume", "t", "--tail", "3", "-g", "g"], "--tail cannot be combined"),
        (["consume", "t", "-p", "0", "-g", "g"], "--partition cannot be combined"),
        (["consume", "t", "-o", ":end", "-F"], "--follow cannot be used"),
        (["produce", "t", "-H", "x", "v"], "NAME=VALUE"),
        (["produce", "t", "-K", "", "v"], "--key-separator: the separator is empty"),
        (["produce", "t", "-f", "%k%v"], "put a separator"),
        (["consume", "t", "-X", "nonsense"], "expected NAME=VALUE"),
        (["consume", "t", "-X", "group.id="], "-X group.id: use --group NAME"),
        (["consume", "t", "-g", "a", "-X", "group.id=b"], "-X group.id: use --group NAME"),
        (["consume", "t", "-o", "5:2"], "'5:2' ends before it starts"),
        (["consume", "t", "-o", "@2024-02-02:2024-01-01"], "ends before it starts"),
        (["consume", "t", "-o", "-5:3"], "'-5:3' is not an offset range"),
        (["consume", "t", "--grep", "(" * 10_000], "the pattern is nested too deeply"),
        (["consume", "t", "-X", "bootstrap.servers=x:1"], "use --bootstrap"),
        (["produce", "t", "-f", "jsonl", "x"], "expected json, json-values or a template"),
        (["consume", "t", "-X", "no.such.setting=1"], "No such configuration property"),
        (["consume", "t", "-b", "host:x"], "is not HOST:PORT"),
    ],
)
def test_what_makes_no_sense_is_refused(command: Command, words: list[str], reason: str) -> None:
    refused = command(*words)
    assert refused.code == 2
    assert reason in refused.err


def test_following_continues_when_the_broker_comes_back_and_says_that_it_was_gone() -> None:
    with RunningBroker() as broker:
        assert ottla("produce", "t", "before", "-b", broker.bootstrap_servers).returncode == 0
        with subprocess.Popen(
            [sys.executable, "-m", "ottla.cli.main", "consume", "t", "-n", "2",
             "-b", broker.bootstrap_servers],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=clean_environment(),
        ) as reader:  # fmt: skip
            assert reader.stdout is not None
            assert reader.stderr is not None
            assert reader.stdout.readline() == b"before\n"
            broker.kill()
            refused = f"ottla consume: {broker.bootstrap_servers}: Connection refused; retrying\n"
            while (line := reader.stderr.readline().decode()) != refused:
                assert "; retrying" in line  # disconnected
            broker.start()
            assert ottla("produce", "t", "after", "-b", broker.bootstrap_servers).returncode == 0
            assert reader.stdout.readline() == b"after\n"
            assert reader.wait(120) == 0
            rest = reader.stderr.read()
            assert b"brokers are down" not in rest
            assert b"suppressed" not in rest


def test_ctrl_c_ends_it_quietly(shared_broker: RunningBroker, command: Command, topic: str) -> None:
    command("produce", topic, "one")
    with subprocess.Popen(
        [sys.executable, "-m", "ottla.cli.main", "consume", topic],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**clean_environment(), "OTTLA_BOOTSTRAP": shared_broker.bootstrap_servers},
        # A shell's background jobs ignore Ctrl-C, and hand that down to what they start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == b"one\n"
        reader.send_signal(signal.SIGINT)
        _, err = reader.communicate(timeout=120)
    assert (reader.returncode, err) == (130, b"")


@pytest.mark.parametrize("words", [("-g", "readers"), ()], ids=["group", "no group"])
def test_a_signal_ends_it_also_if_no_broker_responds(words: tuple[str, ...]) -> None:
    with RunningBroker() as broker:
        connection = ("-b", broker.bootstrap_servers, "--timeout", "3")
        assert ottla("produce", "t", "one", *connection[:2]).returncode == 0
        with start("consume", "t", *words, *connection) as reader:
            assert reader.stdout is not None
            assert reader.stderr is not None
            assert reader.stdout.readline() == b"one\n"
            broker.kill()
            assert b"retrying" in reader.stderr.readline()
            reader.send_signal(signal.SIGTERM)
            _, err = reader.communicate(timeout=120)
    assert reader.returncode == 143
    assert (b"the group was not left" in err) is bool(words)
