"""`ottla produce` as a process: whatever happens, it says what was acknowledged."""

from __future__ import annotations

import signal
import subprocess
import time

import pytest
from tests.integration.cli.conftest import Command
from tests.integration.cli.ottla_command import ottla, start

from ottla.testing.broker import RunningBroker

pytestmark = pytest.mark.xdist_group("command-line")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"valeu": "x"}', 'line 2: unknown field "valeu"; did you mean value?'),
        ('{"key": "k"}', 'line 2: there is no "value"'),
        ('{"value": "x", "partition": "a"}', "line 2: partition: expected a number"),
        ('{"value": "x", "partition": 7}', "line 2: {topic} has no partition 7: it has 1"),
        ('{"value": ', "line 2: not JSON: Expecting value at column 10\n"),
    ],
)
def test_a_json_line_that_is_not_a_record_is_refused(
    environment: dict[str, str], topic: str, line: str, reason: str
) -> None:
    stdin = f'{{"value": "a"}}\n{line}\n'
    failed = ottla("produce", topic, "-f", "json", stdin=stdin, environment=environment)
    assert failed.returncode == 1
    assert reason.format(topic=topic) in failed.stderr
    assert "1 record was acknowledged" in failed.stderr
    read = ottla("consume", topic, "-e", environment=environment)
    assert read.stdout == "a\n"


def test_lines_that_are_values_in_json_have_their_own_format(command: Command, topic: str) -> None:
    refused = command("produce", topic, "-f", "json", stdin=b'{"total": 12}\n')
    assert "--format json-values" in refused.err
    assert command("produce", topic, "-f", "json-values", stdin=b'{"total": 12}\n').code == 0
    refused = command("produce", topic, "-f", "json-values", stdin=b"{total: 12}\n")
    assert "line 1: not JSON" in refused.err
    assert command("consume", topic, "-e").lines == ['{"total": 12}']


def test_a_line_that_is_too_large_is_named_with_its_size_and_the_setting(
    command: Command, topic: str
) -> None:
    command("topics", "alter", topic, "-c", "max.message.bytes=2000")
    stdin = b"one\n" + b"x" * 5000 + b"\nthree\n"
    failed = command("produce", topic, stdin=stdin)
    assert failed.code == 1
    assert "line 2: the record is too large: 5000 bytes" in failed.err
    assert f"topic {topic} accepts 2000 (setting max.message.bytes)" in failed.err
    assert "not acknowledged: line 2" in failed.err
    assert "2 records were acknowledged" in failed.err
    assert command("consume", topic, "-e").lines == ["one", "three"]


def test_a_record_without_a_key_is_named_on_a_compacted_topic(command: Command, topic: str) -> None:
    command("topics", "alter", topic, "-c", "cleanup.policy=compact")
    failed = command("produce", topic, "-K", ":", stdin=b"a:1\nno key\nb:2\n")
    assert failed.code == 1
    assert f"line 2: topic {topic} refused the record" in failed.err
    assert "a compacted topic takes only records with a key" in failed.err


def test_records_that_fit_are_not_refused_because_of_their_batch(
    command: Command, topic: str
) -> None:
    command("topics", "alter", topic, "-c", "max.message.bytes=2000")
    assert command("produce", topic, stdin=b"x" * 900 + (b"\n" + b"x" * 900) * 9).code == 0


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"]
)
def test_an_interruption_delivers_what_was_given_and_counts_it(
    environment: dict[str, str], command: Command, topic: str, number: int, code: int
) -> None:
    with start("produce", topic, stdin=subprocess.PIPE, environment=environment) as writer:
        assert writer.stdin is not None
        writer.stdin.write(b"one\ntwo\n")
        writer.stdin.flush()
        while len(command("consume", topic, "-e").lines) < 2:
            assert writer.poll() is None
        writer.send_signal(number)
        _, err = writer.communicate(timeout=120)
    assert writer.returncode == code
    assert err.decode() == "ottla produce: interrupted: 2 records were acknowledged\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_what_was_acknowledged_is_said_also_to_those_who_ask_again_and_again(number: int) -> None:
    """`timeout` sends its signal twice, and people press Ctrl-C until something happens."""
    with RunningBroker() as broker:
        address = broker.bootstrap_servers
        ottla("topics", "create", "t", "-p", "1", "-b", address)
        with start("produce", "t", "-b", address, stdin=subprocess.PIPE) as writer:
            assert writer.stdin is not None
            assert writer.stderr is not None
            writer.stdin.write(b"one\n")
            writer.stdin.flush()
            while ottla("consume", "t", "-e", "-b", address).stdout != "one\n":
                assert writer.poll() is None
            broker.pause()  # the next record is in flight until its timeout
            writer.stdin.write(b"two\n")
            writer.stdin.flush()
            for _ in range(10):
                writer.send_signal(number)
            err = writer.stderr.read().decode()
            writer.wait(120)
    assert err.startswith("ottla produce: interrupted: 1 record was acknowledged")


def test_an_interruption_before_the_first_line_says_that_nothing_was_sent(
    environment: dict[str, str], topic: str
) -> None:
    with start("produce", f"{topic}-new", stdin=subprocess.PIPE, environment=environment) as writer:
        assert writer.stderr is not None
        assert b"does not exist: its first record creates it" in writer.stderr.readline()
        writer.send_signal(signal.SIGINT)
        assert writer.stderr.read() == b"ottla produce: interrupted: nothing was sent\n"
        assert writer.wait(120) == 130


def test_a_broker_that_is_gone_is_reported_while_waiting_and_at_the_end() -> None:
    with RunningBroker() as broker:
        address = broker.bootstrap_servers
        ottla("topics", "create", "t", "-p", "1", "-b", address)
        words = ("produce", "t", "-b", address, "--timeout", "3")
        with start(*words, stdin=subprocess.PIPE) as writer:
            assert writer.stdin is not None
            assert writer.stderr is not None
            writer.stdin.write(b"one\n")
            writer.stdin.flush()
            while ottla("consume", "t", "-e", "-b", address).stdout != "one\n":
                assert writer.poll() is None
            broker.kill()
            begun_s = time.monotonic()
            writer.stdin.write(b"two\n")
            writer.stdin.close()
            assert b"; retrying" in writer.stderr.readline()
            err = writer.stderr.read().decode()
            assert writer.wait(120) == 1
            waited_s = time.monotonic() - begun_s
    assert "line 2: not acknowledged within 3 s" in err
    assert "1 record was acknowledged; not acknowledged: line 2" in err
    assert "accepts connections" not in err
    assert waited_s < 60  # three seconds, on a machine that may be busy


def test_a_full_disk_is_named() -> None:
    """librdkafka repeats what the broker refuses, and does not say why it was refused."""
    with RunningBroker(controls=True) as broker:
        address = broker.bootstrap_servers
        ottla("topics", "create", "t", "-p", "1", "-b", address)
        broker.faults.fill_disk()
        failed = ottla("produce", "t", "x", "-b", address, "--timeout", "2")
    assert failed.returncode == 1
    assert failed.stderr.startswith(
        "ottla produce: value 1: not acknowledged within 2 s: broker 1: the disk of its log "
        f"directory {broker.data} is full (0 bytes free)\n"
    )


def test_a_topic_that_is_not_created_automatically_is_reported_at_once() -> None:
    with RunningBroker(config={"auto.create.topics.enable": "false"}) as broker:
        begun_s = time.process_time()
        failed = ottla("produce", "orders", "x", "-b", broker.bootstrap_servers)
        assert time.process_time() - begun_s < 5
    assert failed.returncode == 1
    assert failed.stderr.splitlines() == [
        "ottla produce: there is no topic orders, and the cluster does not create topics "
        "automatically",
        "  create it with: ottla topics create orders",
    ]


def test_values_can_be_files_and_an_at_sign_can_be_doubled(
    command: Command, topic: str, tmp_path: object
) -> None:
    path = f"{tmp_path}/value"
    with open(path, "wb") as file:
        file.write(b"\x00\xff\n")
    assert command("produce", topic, f"@{path}", "@@home").code == 0
    assert command("consume", topic, "-e", "-f", r"%v{hex}\n").lines == ["00ff0a", "40686f6d65"]
    refused = command("produce", topic, "@home")
    assert refused.code == 2
    assert "the file 'home' cannot be read: No such file" in refused.err
    assert "write @@home" in refused.err
    endless = command("produce", topic, "@/dev/zero")
    assert endless.code == 2
    assert "'/dev/zero' cannot be read: it is longer than 268435456 bytes" in endless.err


def test_bytes_that_are_not_utf_8_are_written_as_they_are(
    environment: dict[str, str], topic: str
) -> None:
    value = b"\xff\xfe".decode("utf-8", "surrogateescape")
    assert ottla("produce", topic, "-k", value, value, environment=environment).returncode == 0
    read = ottla("consume", topic, "-e", "-f", "%k{hex} %v{hex}", environment=environment)
    assert read.stdout == "fffe fffe"


def test_a_short_input_needs_no_producer_id(environment: dict[str, str], topic: str) -> None:
    """Which librdkafka would take half a second to get."""
    done = ottla(
        "produce", topic, "-X", "debug=eos", "-X", "log_level=7", stdin="one\n",
        environment=environment,
    )  # fmt: skip
    assert done.returncode == 0
    assert "Idempotent" not in done.stderr
    long_input = "x\n" * 100_000
    done = ottla(
        "produce", topic, "-X", "debug=eos", "-X", "log_level=7", stdin=long_input,
        environment=environment,
    )  # fmt: skip
    assert done.returncode == 0
    assert "Idempotent" in done.stderr
