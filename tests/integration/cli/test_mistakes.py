"""Mistakes of users: the program reports what happened, with the exit code for it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.integration.cli.ottla_command import clean_environment, ottla, start
from tests.support.waiting import wait_until

from ottla.testing.broker import RunningBroker

pytestmark = pytest.mark.xdist_group("command-line")
Environment = dict[str, str]


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (["topics", "list", "none*"], "ottla topics list: no topic matches none*\n"),
        (["topics", "list", "*", ""], "ottla topics list: no topic matches ''\n"),
        (["groups", "list", "none*", "no?"],
         "ottla groups list: no group matches none*\nottla groups list: no group matches no?\n"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)  # fmt: skip
def test_patterns_of_a_list_that_match_nothing_are_named(
    environment: Environment, topic: str, words: list[str], reported: str
) -> None:
    done = ottla(*words, environment=environment)
    assert (done.returncode, done.stderr) == (0, reported)
    document = ottla(*words, "--format", "json", environment=environment)
    assert (document.returncode, document.stderr) == (0, reported)


def test_an_empty_cluster_is_said_to_be_empty() -> None:
    with RunningBroker() as broker:
        given = {"OTTLA_BOOTSTRAP": broker.bootstrap_servers}
        assert ottla("topics", "list", environment=given).stderr == (
            "ottla topics list: there are no topics\n"
        )
        assert ottla("groups", "list", environment=given).stderr == (
            "ottla groups list: there are no groups\n"
        )


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (["up", "--data", ""], "ottla up: --data: the name is empty"),
        (["up", "--config", ""], "ottla up: --config: the name is empty"),
        (["zookeeper", "--data", ""], "ottla zookeeper: --data: the name is empty"),
        (["groups", "reset", "g", "--from-file", ""], "--from-file: the name is empty"),
        (["pipeline", "init", ""], "FILE: the name is empty"),
        (["pipeline", "validate", ""], "FILE: the name is empty"),
        (["pipeline", "test", "x.yaml", "--fixtures", ""], "--fixtures: the name is empty"),
        (["pipeline", "init", "x.yaml", "-b", ""], "--bootstrap: '' is not HOST:PORT"),
        (["audit", "run", "--html", ""], "--html: the name is empty"),
        (["consume", "t", "-o", ""], "--offset '' is not an offset range: try start"),
        (["consume", "t", "--header", ""], "--header '': expected NAME or NAME=VALUE"),
        (["consume", "t", "--header", "=x"], "--header =x: expected NAME or NAME=VALUE"),
        (["consume", "t", "-f", ""], "--format '': expected text, json, yaml or a template"),
        (["produce", "t", "-f", ""], "--format '': expected json, json-values or a template"),
        (["produce", "t", "@"], "@: the name of a file is missing"),
        (["produce", "t", "-H", ""], "-H '': expected NAME=VALUE"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)
def test_empty_values_are_refused_and_not_taken_for_the_default(
    words: list[str], reported: str
) -> None:
    done = ottla(*words)
    assert done.returncode == 2
    assert reported in done.stderr


@pytest.mark.parametrize(
    ("chosen", "reported"),
    [
        ("{}:", "--topic {}:: expected TOPIC or TOPIC:0,1 with numbers of partitions"),
        ("{}:x", "--topic {}:x: expected TOPIC or TOPIC:0,1"),
        ("{}:0,", "--topic {}:0,: expected TOPIC or TOPIC:0,1"),
        ("{}:1", "--topic {}:1: partitions are 0 to 0"),
        ("{}*", "patterns are not accepted here: {}*"),
    ],
)
def test_partitions_to_reset_are_never_more_than_was_written(
    environment: Environment, topic: str, group: str, chosen: str, reported: str
) -> None:
    words = ("groups", "reset", group, "--to", "start", "--topic", chosen.format(topic))
    done = ottla(*words, environment=environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert reported.format(topic, topic) in done.stderr


def test_a_group_is_not_advised_to_be_set_to_a_range(environment: Environment) -> None:
    done = ottla("consume", "t", "-g", "g", "-o", "0:1", environment=environment)
    assert (done.returncode, "groups reset" in done.stderr) == (2, False)
    done = ottla("consume", "t", "-g", "g", "-o", "17", environment=environment)
    assert "ottla groups reset g --to 17" in done.stderr


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (["topics", "create", "t", "-c", "retention.ms=1", "-c", "retention.ms=2"],
         "-c retention.ms is given twice: '1' and '2'"),
        (["topics", "list", "-X", "client.id=a", "-X", "client.id=b"],
         "-X client.id is given twice: 'a' and 'b'"),
        (["up", "--set", "num.partitions=1", "--set", "num.partitions=2"],
         "--set num.partitions is given twice: '1' and '2'"),
        (["consume", "t", "--key", "a", "--key", "b"], "--key: given twice"),
        (["consume", "t", "--grep", "a", "--grep", "b"], "write one REGEX: 'this|that'"),
        (["consume", "t", "-o", "1:2", "-o", "5:6"], "--offset: given twice"),
        (["consume", "t", "-g", "a", "-g", "b"], "--group: given twice"),
        (["produce", "t", "-p", "0", "-p", "1", "x"], "--partition: given twice"),
        (["produce", "t", "-k", "a", "-k", "b", "x"], "--key: given twice"),
        (["groups", "reset", "g", "--to", "start", "--to", "end"], "--to: given twice"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)  # fmt: skip
def test_what_a_second_value_would_replace_silently_is_refused(
    words: list[str], reported: str
) -> None:
    refused = ottla(*words)
    assert refused.returncode == 2
    assert reported in refused.stderr


def test_a_setting_that_is_given_twice_with_one_value_is_no_contradiction(
    environment: Environment, topic: str
) -> None:
    words = ("topics", "alter", topic, "-c", "retention.ms=5000", "-c", "retention.ms=5000")
    assert ottla(*words, environment=environment).returncode == 0


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (["produce", "t", "-X", "group.id=a", "x"], "-X group.id: this command joins no group"),
        (["consume", "t", "-X", "group.id=a"], "-X group.id: use --group NAME"),
        (["consume", "-Z", "orders", "-e"], "orders is the text of -Z: write -Z after the topic"),
        (["consume", "-Z", "-e"], "see: ottla topics list"),
        (["consume", "t", "-p", "0,1"], "'0,1': give each partition with -p of its own"),
        (["zookeeper", "--servers", "1=a:1:2"], "--id is missing: it is one of the ids in --serv"),
        (["zookeeper", "--jars", "none"], "--jars none: there is no such directory"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)
def test_advice_is_about_the_command_that_was_written(words: list[str], reported: str) -> None:
    refused = ottla(*words)
    assert refused.returncode == 2
    assert reported in refused.stderr


def test_json_in_utf_16_is_refused_from_its_first_line(
    environment: Environment, topic: str
) -> None:
    """Editors write it; each of its lines but the first would be something else."""
    lines = '{"value": "a"}\n{"value": "b"}\n'
    for form in ("json", "json-values"):
        stdin = lines.encode("utf-16")
        refused = ottla("produce", topic, "-f", form, stdin=stdin, environment=environment)
        assert refused.returncode == 1
        assert "line 1: not UTF-8, but UTF-16, it seems\n  0 records" in refused.stderr
        assert "iconv -f utf-16 -t utf-8" in refused.stderr
    done = ottla(
        "produce", topic, "-f", "json-values", stdin='\ufeff{"id": 1}', environment=environment
    )
    assert done.returncode == 0
    assert ottla("consume", topic, "-e", environment=environment).stdout == '{"id": 1}\n'


@pytest.mark.parametrize("form", [[], ["-f", "json"]], ids=["text", "json"])
def test_an_empty_input_is_said_to_be_empty(
    environment: Environment, topic: str, form: list[str]
) -> None:
    done = ottla("produce", topic, *form, environment=environment)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "ottla produce: the input is empty: 0 records were sent\n"
    quiet = ottla("produce", topic, *form, "-o", "none", environment=environment)
    assert (quiet.returncode, quiet.stderr) == (0, "")


def test_carriage_returns_are_kept_and_reported_with_the_format_for_such_lines(
    environment: Environment, topic: str
) -> None:
    lines = b"a:1\r\nb:2\r\n"
    kept = ottla("produce", topic, stdin=lines, environment=environment)
    assert kept.returncode == 0
    assert "line 1 ends with a carriage return, which is kept" in kept.stderr
    assert r"--format '%v\r\n'" in kept.stderr
    keyed = ottla("produce", topic, "-K", ":", stdin=lines, environment=environment)
    assert r"--format '%k:%v\r\n'" in keyed.stderr
    for template in (r"%v\r\n", r"%k:%v\r\n"):
        done = ottla("produce", topic, "-f", template, stdin=lines, environment=environment)
        assert (done.returncode, done.stderr) == (0, "")
    read = ottla("consume", topic, "-e", "-f", r"%k|%v{hex}\n", environment=environment)
    assert read.stdout.splitlines() == [
        "|613a310d", "|623a320d", "a|310d", "b|320d", "|613a31", "|623a32", "a|31", "b|32",
    ]  # fmt: skip


def test_what_is_not_json_is_said_once(environment: Environment, topic: str) -> None:
    done = ottla("produce", topic, "-f", "json-values", stdin="NaN\n", environment=environment)
    assert done.returncode == 1
    assert "line 1: not JSON: NaN is not a JSON number\n" in done.stderr


def test_a_topic_that_is_created_again_under_a_reader_is_explained(
    environment: Environment, topic: str
) -> None:
    ottla("produce", topic, "one", environment=environment)
    with start("consume", topic, environment=environment) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == b"one\n"
        ottla("topics", "delete", topic, environment=environment)
        ottla("topics", "create", topic, environment=environment)
        _, err = reader.communicate(timeout=120)
    assert reader.returncode == 1
    assert f"partition 0 of {topic} no longer has offset 1" in err.decode()
    assert "the topic was deleted and created again" in err.decode()


COMMANDS_THAT_CONNECT = (
    "groups list",
    "groups describe g",
    "groups delete g",
    "groups reset g --to end --topic t",
    "topics list",
    "topics describe t",
    "topics create t",
    "produce t x",
    "consume t -e",
    "consume t -e -g g",
    "status",
)


def test_a_broker_that_does_not_respond_is_no_traceback() -> None:
    with RunningBroker() as broker:
        broker.pause()
        given = {"OTTLA_BOOTSTRAP": broker.bootstrap_servers}
        started = [
            start(*words.split(), "--timeout", "1", environment=given)
            for words in COMMANDS_THAT_CONNECT
        ]
        reported = [each.communicate(timeout=120)[1].decode() for each in started]
        broker.resume()
    reason = f"{broker.bootstrap_servers} accepts connections, but did not respond within 1 s"
    for words, each, text in zip(COMMANDS_THAT_CONNECT, started, reported, strict=True):
        assert (each.returncode, reason in text, "Traceback" in text) == (1, True, False), words


def test_a_group_that_cannot_be_joined_is_reported() -> None:
    with RunningBroker(controls=True) as broker:
        given = {"OTTLA_BOOTSTRAP": broker.bootstrap_servers}
        assert ottla("produce", "t", "x", environment=given).returncode == 0
        broker.faults.fail("FindCoordinator", "COORDINATOR_NOT_AVAILABLE", times=None)
        words = ("consume", "t", "-g", "g", "-e", "--timeout", "2")
        with start(*words, environment=given) as reader:
            assert reader.stderr is not None
            reported = os.read(reader.stderr.fileno(), 10_000).decode()
            reader.send_signal(signal.SIGINT)
            reader.communicate(timeout=120)
    assert "ottla consume: the group was not joined within 2 s; waiting for its coord" in reported
    assert reader.returncode == 130


def test_a_pipe_as_a_file_is_read_once(environment: Environment, topic: str) -> None:
    """As `@<(command)` in a shell: the value was empty, without an error."""
    reading, writing = os.pipe()
    os.write(writing, b"from a pipe")
    os.close(writing)
    done = subprocess.run(
        [sys.executable, "-m", "ottla.cli.main", "produce", topic, f"@/dev/fd/{reading}"],
        env={**clean_environment(), **environment}, pass_fds=[reading],
        capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    os.close(reading)
    assert (done.returncode, done.stderr) == (0, b"")
    read = ottla("consume", topic, "-e", environment=environment)
    assert read.stdout == "from a pipe\n"


@pytest.mark.parametrize("text", ["aGk!", "a", "aG k="])
def test_characters_that_are_not_base64_are_refused(
    environment: Environment, topic: str, text: str
) -> None:
    words = ("produce", topic, "-f", r"%v{base64}\n")
    done = ottla(*words, stdin=f"{text}\n", environment=environment)
    assert (done.returncode, done.stdout) == (1, "")
    assert f'line 1: "{text}" is not base64\n' in done.stderr


@pytest.mark.parametrize("name", ["error_cb", "stats_cb", "logger"])
def test_functions_of_the_client_library_are_no_settings(name: str) -> None:
    done = ottla("topics", "list", "-X", f"{name}=1")
    assert done.returncode == 2
    assert done.stderr == f"ottla topics list: -X {name}: its value is a function of Python\n"


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        ("consume T -e -X metadata.broker.list=x:1", "use --bootstrap HOST:PORT"),
        ("consume T -e -X enable.auto.commit=true", "use --group NAME"),
        ("consume T -e -X auto.offset.reset=latest", "without --group use --offset start or end"),
        ("consume T -e -X enable.partition.eof=false", "it is how the end of a partition is found"),
        (
            "consume T -e -g g -X enable.auto.offset.store=true",
            "only offsets of printed records are committed",
        ),
        ("produce T x -X delivery.report.only.error=true", "acknowledged records are counted"),
        ("produce T x -X default.topic.config=x", "give each setting of topics with -X"),
    ],
)
def test_settings_that_a_command_depends_on_are_refused(
    environment: Environment, topic: str, words: str, reported: str
) -> None:
    given = words.replace("T", topic).split()
    done = ottla(*given, environment=environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"ottla {given[0]}: -X {given[-1].partition('=')[0]}: {reported}\n"


def test_a_setting_out_of_range_is_reported_without_an_empty_line(
    environment: Environment, topic: str
) -> None:
    done = ottla("produce", topic, "x", "-X", "message.max.bytes=10", environment=environment)
    assert done.returncode == 2
    assert "\n\n" not in done.stderr


def test_records_that_are_not_acknowledged_at_all_have_no_offsets(
    environment: Environment, topic: str
) -> None:
    done = ottla("produce", topic, "-X", "acks=0", "x", environment=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"1 record to partition 0 of {topic}, offsets unknown\n"


def test_a_pattern_with_two_underscores_lists_internal_topics(
    environment: Environment, topic: str, group: str
) -> None:
    ottla("consume", topic, "-e", "-g", group, environment=environment)
    listed = ottla("topics", "list", "__*", environment=environment)
    assert (listed.returncode, listed.stderr) == (0, "")
    assert "__consumer_offsets" in listed.stdout
    assert "__consumer_offsets" not in ottla("topics", "list", environment=environment).stdout
    assert "__consumer_offsets" not in ottla("topics", "list", "*", environment=environment).stdout


@pytest.mark.parametrize(
    ("options", "code", "reported"),
    [
        (["-p", "3", "-c", "retention.ms=5", "-d", "retention.ms"], 2, "-c and -d are both given"),
        (["-p", "3", "-c", "retention.ms=x"], 1, "Invalid value x for configuration retention.ms"),
        (["-p", "1", "-c", "retention.ms=5"], 1, "Topic already has 1 partition(s)"),
    ],
)
def test_a_change_that_is_refused_changes_nothing(
    environment: Environment, topic: str, options: list[str], code: int, reported: str
) -> None:
    done = ottla("topics", "alter", topic, *options, environment=environment)
    assert (done.returncode, done.stdout) == (code, "")
    assert reported in done.stderr
    found = ottla("topics", "describe", topic, "--format", "json", environment=environment)
    (described,) = json.loads(found.stdout)
    assert len(described["partitions"]) == 1
    assert "retention.ms" not in found.stdout


def test_groups_are_not_deleted_by_patterns(environment: Environment) -> None:
    done = ottla("groups", "delete", "no*", environment=environment)
    assert done.returncode == 1
    assert "patterns are not accepted here; see: ottla groups list 'no*'" in done.stderr


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (["up", "--listen", "127.0.0.1:0"], "start it in another one"),
        (["cluster", "up", "--port", "0"], "change to another one"),
        (["cluster", "status"], "change to another one"),
    ],
    ids=["up", "cluster up", "cluster status"],
)
def test_a_deleted_current_directory_is_named(
    words: list[str], reported: str, tmp_path: Path
) -> None:
    script = 'mkdir gone; cd gone; rmdir ../gone; exec "$@"'
    program = [sys.executable, "-m", "ottla.cli.main"]
    done = subprocess.run(
        ["sh", "-c", script, "sh", *program, *words],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
        env={**clean_environment(), "PYTHONSAFEPATH": "1"},
    )  # fmt: skip
    assert done.returncode == 1
    command = "ottla up" if words[0] == "up" else f"ottla cluster {words[1]}"
    assert done.stderr == f"{command}: the current directory was deleted: {reported}\n"


def test_a_topic_that_is_created_again_under_a_writer_is_reported(
    environment: Environment, topic: str
) -> None:
    words = ("produce", topic, "--timeout", "60")
    with start(*words, environment=environment, stdin=subprocess.PIPE) as writer:
        assert writer.stdin is not None
        writer.stdin.write(b"one\ntwo\n")
        writer.stdin.flush()
        wait_until(lambda: end_of(topic, environment) == 2, "both records")
        ottla("topics", "delete", topic, environment=environment)
        ottla("topics", "create", topic, environment=environment)
        out, err = writer.communicate(b"three\n", timeout=120)
    assert writer.returncode == 0
    assert b"3 records" in out
    assert f"partition 0 of {topic} began again at a lower offset" in err.decode()


def end_of(topic: str, environment: Environment) -> int:
    found = ottla("topics", "describe", topic, "--format", "json", environment=environment)
    (described,) = json.loads(found.stdout)
    return int(described["partitions"][0]["end_offset"])


def test_numbers_may_have_a_sign_but_no_underscores(
    environment: Environment, topic: str, group: str
) -> None:
    ottla("produce", topic, "a", "b", "c", environment=environment)
    ottla("consume", topic, "-e", "-g", group, "-n", "1", environment=environment)
    done = ottla("groups", "reset", group, "--shift-by", "+1", "--format", "json",
                 environment=environment)  # fmt: skip
    assert [each["after"] for each in json.loads(done.stdout)] == [2]
    refused = ottla("topics", "list", "--timeout", "1_0", environment=environment)
    assert refused.returncode == 2
    assert "--timeout: '1_0' is not a number of seconds" in refused.stderr


def test_values_are_searched_as_the_text_they_are(environment: Environment, topic: str) -> None:
    values = "k\u00e4se\nkase\n".encode() + b"k\xe4se\n"
    assert ottla("produce", topic, stdin=values, environment=environment).returncode == 0
    for pattern, offsets in (
        ("^k.se$", "0 1 2"), ("(?i)K\u00c4SE", "0"), (r"\w{4}", "0 1"), (r"\xe4", "0 2"),
        (r"\u00e4", "0"), ("s", "0 1 2"),
    ):  # fmt: skip
        done = ottla("consume", topic, "-e", "--grep", pattern, "-f", "%o ",
                     environment=environment)  # fmt: skip
        assert (done.stdout.strip(), done.stderr) == (offsets, ""), pattern
    ascii_only = {**environment, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = ottla("consume", topic, "-e", "--grep", "\u00e4.e", "-f", "%o", environment=ascii_only)
    assert (done.stdout, done.stderr) == ("0", "")


@pytest.mark.parametrize(
    ("given", "key"), [(r"\t", "a"), ("\t", "a"), (r"\x09", "a"), ("%", "a\t1")]
)
def test_a_separator_may_have_escapes(
    environment: Environment, topic: str, given: str, key: str
) -> None:
    done = ottla("produce", topic, "-K", given, stdin="a\t1%2\n", environment=environment)
    assert done.returncode == 0
    done = ottla("consume", topic, "-e", "-f", "%k", environment=environment)
    assert done.stdout == key


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (["-K", r"\q"], r"--key-separator \q: \q is not an escape"),
        (["-K", ":", "-f", "json"], "--key-separator cannot be combined with --format"),
        (["-K", ":", "-f", "%v|%k\n"], "--key-separator cannot be combined with --format"),
    ],
)
def test_a_separator_that_would_have_no_effect_is_refused(
    environment: Environment, topic: str, words: list[str], reported: str
) -> None:
    done = ottla("produce", topic, *words, stdin="a:b\n", environment=environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert reported in done.stderr


@pytest.mark.parametrize(
    "number", ["1e400", "1.10", "12345678901234567890.12345678901234567890", "-0.0", "7" * 5000]
)
def test_numbers_keep_their_digits(environment: Environment, topic: str, number: str) -> None:
    line = f'{{"key": {number}, "value": {{"a": [{number}]}}}}\n'
    assert ottla("produce", topic, "-f", "json", stdin=line, environment=environment).stderr == ""
    done = ottla("produce", topic, "-f", "json-values", stdin=number, environment=environment)
    assert done.stderr == ""
    done = ottla("consume", topic, "-e", "-f", "%k %v\n", environment=environment)
    assert done.stdout.splitlines() == [f'{number} {{"a":[{number}]}}', f" {number}"]


def test_everything_after_two_dashes_is_a_value(environment: Environment, topic: str) -> None:
    done = ottla("produce", topic, "-o", "none", "--", "-x", "--", "--key", environment=environment)
    assert (done.returncode, done.stderr) == (0, "")
    done = ottla("consume", "-e", "--", topic, environment=environment)
    assert done.stdout.splitlines() == ["-x", "--", "--key"]
    name = f"-{topic}"
    done = ottla("topics", "create", "-p", "1", "--", name, environment=environment)
    assert done.stdout == f"created {name}\n"
    assert ottla("topics", "describe", "--", name, environment=environment).returncode == 0
    assert ottla("topics", "delete", "--", name, environment=environment).returncode == 0
    done = ottla("version", "--", "-x", environment=environment)
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        2,
        "ottla version: unrecognized arguments: -x",
    )


def test_a_field_that_is_given_twice_is_refused(environment: Environment, topic: str) -> None:
    for line in ('{"value": "a", "value": "b"}', '{"value": {"value": 1, "value": 2}}'):
        done = ottla("produce", topic, "-f", "json", stdin=line, environment=environment)
        assert (done.returncode, done.stderr.splitlines()[:1]) == (
            1,
            ['ottla produce: line 1: an object has "value" twice'],
        )
    line = '{"a": 1, "a": 2}'
    done = ottla("produce", topic, "-f", "json-values", stdin=line, environment=environment)
    assert done.returncode == 0
    assert ottla("consume", topic, "-e", environment=environment).stdout == line + "\n"


@pytest.mark.parametrize(
    "options", [[], ["-K", ":"], ["-f", "json"]], ids=["lines", "keys", "json"]
)
def test_a_line_without_an_end_does_not_fill_the_memory(
    environment: Environment, topic: str, options: list[str]
) -> None:
    with open("/dev/zero", "rb") as zeros:
        words = ("produce", topic, *options)
        with start(*words, stdin=zeros.fileno(), environment=environment) as writer:
            _, err = writer.communicate(timeout=120)
    assert writer.returncode == 1
    assert "line 1: it is longer than 268435456 bytes" in err.decode()


def test_a_result_that_cannot_be_printed_says_what_was_done(
    environment: Environment, topic: str, group: str
) -> None:
    """Or it would be done again."""
    for words, done in (
        (("produce", topic, "x"), "1 record was acknowledged"),
        (("topics", "create", f"{topic}-new"), f"created {topic}-new"),
        (("groups", "reset", group, "--to", "1", "--topic", topic), "the offsets were set"),
        (("topics", "delete", f"{topic}-new"), f"deleted {topic}-new"),
    ):
        with (
            open("/dev/full", "wb") as full,
            start(*words, stdout=full.fileno(), environment=environment) as program,
        ):
            _, err = program.communicate(timeout=120)
        assert program.returncode == 1
        assert err.decode().endswith(
            f"the output cannot be written: No space left on device\n  {done}\n"
        )


def test_a_group_to_reset_may_be_an_option_and_is_one(
    environment: Environment, topic: str, group: str
) -> None:
    words = ("groups", "reset", "--group", group, "--to", "start", "--topic", topic)
    assert ottla(*words, environment=environment).returncode == 0
    refused = ottla("groups", "reset", group, "other", "--to", "start", environment=environment)
    assert refused.returncode == 2
    assert f"one group is reset at a time, and there are several: {group}, other" in refused.stderr


def test_more_replicas_than_brokers_are_refused_with_advice(environment: Environment) -> None:
    refused = ottla("topics", "create", "three", "-r", "3", environment=environment)
    assert refused.returncode == 1
    assert "only 1 broker(s) are registered" in refused.stderr
    assert "\n  ask for fewer with --replicas N, or leave it out" in refused.stderr


def test_names_that_are_separated_by_commas_are_refused_with_what_to_write(
    environment: Environment, topic: str
) -> None:
    refused = ottla("consume", f"{topic},{topic}", "-e", environment=environment)
    assert refused.returncode == 1
    assert "several are separated by spaces" in refused.stderr


def test_internal_topics_get_no_more_partitions(environment: Environment) -> None:
    words = ("topics", "alter", "__consumer_offsets", "-p", "100", "--dry-run")
    refused = ottla(*words, environment=environment)
    assert refused.returncode == 2
    assert "__consumer_offsets is internal: with another number of partitions" in refused.stderr


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (["consume", "t", "-o", "@1h"], "--offset '@1h' begins in the future; did you mean @-1h?"),
        (["consume", "t", "-o", "@2d:1h"], "did you mean @-2d:1h?"),
        (["groups", "reset", "g", "--to", "@90m"], "--to '@90m' begins in the future"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)
def test_a_time_ago_without_its_sign_is_not_taken_for_the_end(
    words: list[str], reported: str
) -> None:
    done = ottla(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert reported in done.stderr


def test_a_range_that_ends_later_than_its_partition_says_what_it_waits_for(
    environment: Environment, topic: str
) -> None:
    ottla("produce", topic, "one", "two", environment=environment)
    with start("consume", topic, "-o", "1:4", environment=environment) as waiting:
        assert waiting.stderr is not None
        assert waiting.stderr.readline().decode() == (
            f"ottla consume: waiting for offset 3: partition 0 of {topic} ends at 2; "
            "--exit would stop there\n"
        )
        ottla("produce", topic, "three", "four", "five", environment=environment)
        assert waiting.communicate(timeout=120)[0] == b"two\nthree\nfour\n"
    done = ottla("consume", topic, "-o", "1:4", environment=environment)
    assert (done.stdout, done.stderr) == ("two\nthree\nfour\n", "")


def test_a_record_that_is_smaller_than_the_limit_is_said_to_need_a_batch(
    environment: Environment, topic: str
) -> None:
    ottla("topics", "alter", topic, "-c", "max.message.bytes=60", environment=environment)
    small = ottla("produce", topic, "-k", "k", "-H", "a=b", "value", environment=environment)
    assert (small.returncode, small.stdout) == (1, "")
    assert "too large: 6 bytes, and more than 61 for its batch and headers, and" in small.stderr
    large = ottla("produce", topic, "v" * 61, environment=environment)
    assert f"too large: 61 bytes, and topic {topic} accepts 60" in large.stderr


def test_a_setting_of_the_client_is_named_as_it_was_given(
    environment: Environment, topic: str
) -> None:
    done = ottla("produce", topic, "x", "-X", "linger.ms=soon", environment=environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert "-X takes settings of librdkafka: linger.ms\n" in done.stderr


def test_acks_may_be_the_number_of_the_protocol(environment: Environment, topic: str) -> None:
    done = ottla("produce", topic, "--acks", "-1", "x", environment=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"1 record to partition 0 of {topic}, offset 0\n"


def test_offsets_of_a_group_are_kept_in_a_file_and_set_again(
    environment: Environment, topic: str, group: str, tmp_path: Path
) -> None:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return ottla(*words, environment=environment)

    run("produce", topic, "one", "two", "three")
    run("consume", topic, "-g", group, "-e", "-n", "1")
    kept = tmp_path / "offsets.json"
    kept.write_text(run("groups", "describe", group, "--format", "json").stdout)
    run("groups", "reset", group, "--to", "end")
    assert run("groups", "reset", group, "--from-file", str(kept)).returncode == 0
    assert run("consume", topic, "-g", group, "-e").stdout == "two\nthree\n"

    lines = tmp_path / "offsets.csv"
    lines.write_text(f"{topic},0,2\n")
    done = run("groups", "reset", group, "--from-file", str(lines), "--format", "json")
    assert json.loads(done.stdout) == [{"topic": topic, "partition": 0, "before": 3, "after": 2}]
    lines.write_text(f"{topic},0,9\n")
    beyond = run("groups", "reset", group, "--from-file", str(lines), "--dry-run")
    assert "set to 3 instead of 9" in beyond.stderr
    lines.write_text(f"{topic},1,0\n")
    missing = run("groups", "reset", group, "--from-file", str(lines))
    assert (missing.returncode, missing.stdout) == (1, "")
    assert f"{topic} has no partition 1: it has 1" in missing.stderr
    for words, reported in (
        (["--from-file", str(tmp_path / "none")], "none: No such file or directory"),
        (["--from-file", str(lines), "--topic", topic], "--topic cannot be used"),
        (["--export"], "write ottla groups describe GROUP --format json for --from-file"),
    ):
        refused = run("groups", "reset", group, *words)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert reported in refused.stderr


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (["pipeline", "init", "new.yaml", "--topic", "a b"], "'a b' is not a valid topic name"),
        (["pipeline", "init", "new.yaml", "-b", "http://x"], "expected HOST:PORT without http://"),
        (["pipeline", "validate", "."], "ottla pipeline validate: .: Is a directory\n"),
        (["audit", "run", "--html", "none/a.html"], "--html: there is no directory none"),
        (["audit", "run", "--metrics", "."], "--metrics: . is a directory"),
        (["audit", "report", "--html", "none/a.html"], "--html: there is no directory none"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)
def test_what_would_fail_later_is_refused_at_once(
    words: list[str], reported: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = ottla(*words)
    assert refused.returncode in (1, 2)
    assert reported in refused.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_audit_of_no_topic_says_so(environment: Environment) -> None:
    done = ottla("audit", "run", "none*", "--once", "--without-spark", environment=environment)
    assert (done.returncode, done.stderr) == (0, "ottla audit run: no topic matches none*\n")
    done = ottla("audit", "report", "none*", environment=environment)
    assert done.stderr == "ottla audit report: no topic matches none*\n"
