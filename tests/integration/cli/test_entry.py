"""The `ottla` program from its first line to its last: help, Ctrl-C, and failing output."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.cli.ottla_command import clean_environment
from tests.support.waiting import wait_until

from ottla.cli.command_table import COMMANDS, module_of
from ottla.cli.main import Known

ROOT = Path(__file__).parents[3]
# What pip writes into the script `ottla`.
SCRIPT = "import sys; from ottla.cli.entry import main; sys.exit(main())"


def program(*words: str, script: str = SCRIPT, path: Path | None = None) -> subprocess.Popen[bytes]:
    """Modules in `path` are loaded instead of Python's own."""
    before = {} if path is None else {"PYTHONPATH": f"{path}{os.pathsep}{ROOT / 'src'}"}
    return subprocess.Popen(
        [sys.executable, "-c", script, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**clean_environment(), **before},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def slow(begun: Path) -> str:
    return f"import pathlib, time; pathlib.Path({str(begun)!r}).touch(); time.sleep(100)\n"


def test_the_installed_command_begins_with_the_entry_module() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"ottla": "ottla.cli.entry:main"}


def test_ctrl_c_during_the_first_imports_is_quiet(tmp_path: Path) -> None:
    """`__future__` is the first module that the command loads."""
    (tmp_path / "__future__.py").write_text(slow(tmp_path / "begun") + "annotations = None\n")
    with program("version", path=tmp_path) as started:
        wait_until((tmp_path / "begun").exists, "the import")
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=120)
    assert (started.returncode, out, err) == (-signal.SIGINT, b"", b"")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_a_command_is_loaded_is_not_lost(tmp_path: Path, number: int) -> None:
    """Python prints and forgets an exception that a signal raises in a finalizer."""
    slow_finalizer = f"""
class Slow:
    def __del__(self):
        exec({slow(tmp_path / "begun")!r})
Slow()
"""
    (tmp_path / "platform.py").write_text(slow_finalizer)
    with program("version", path=tmp_path) as started:
        wait_until((tmp_path / "begun").exists, "the import")
        started.send_signal(number)
        out, err = started.communicate(timeout=120)
    assert (started.returncode, out, err) == (-number, b"", b"")


# Interrupts the command while it imports a module, by a statement that uses `interrupt`.
INTERRUPTED_IMPORT = """
import os, signal, sys

def interrupt(*_):
    os.kill(os.getpid(), {number:d})

class Finalizer:
    __del__ = interrupt

class Finder:
    def find_spec(name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(Finder)
            {statement}

sys.meta_path.insert(0, Finder)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("module", "statement"),
    [
        # Python forgets the exception: a consumer would continue waiting for records.
        ("confluent_kafka", "Finalizer()"),
        # A C function imports the module, and raises ImportError without a cause.
        ("confluent_kafka.admin", "interrupt()"),
    ],
)
def test_a_signal_while_a_command_imports_what_it_needs_is_not_lost(
    environment: dict[str, str],
    topic: str,
    tmp_path: Path,
    module: str,
    statement: str,
    number: int,
) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        INTERRUPTED_IMPORT.format(module=module, statement=statement, number=number)
    )
    words = ["consume", topic, "--bootstrap", environment["OTTLA_BOOTSTRAP"]]
    done = run(words, path=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, "", "")


def test_ctrl_c_after_the_command_has_ended_is_quiet(tmp_path: Path) -> None:
    last = f"import atexit; atexit.register(lambda: exec({slow(tmp_path / 'begun')!r})); "
    with program("version", script=last + SCRIPT) as started:
        wait_until((tmp_path / "begun").exists, "the end of the command")
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=120)
    assert (started.returncode, err) == (-signal.SIGINT, b"")
    assert out.startswith(b"ottla:")


def test_a_background_job_of_a_shell_ignores_ctrl_c_throughout(tmp_path: Path) -> None:
    (tmp_path / "__future__.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nannotations = None\n"
    )
    path = f"{tmp_path}{os.pathsep}{ROOT / 'src'}"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, "version"],
        capture_output=True, check=False, timeout=120,
        env={**clean_environment(), "PYTHONPATH": path},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("words", [["--help"], ["topics", "list", "--help"], []], ids=" ".join)
def test_help_that_cannot_be_written_is_a_failure(words: list[str]) -> None:
    for closed, reason in ((">/dev/full", "No space left on device"), (">&-", "Bad file desc")):
        done = shell(words, closed)
        assert done.returncode == 1
        assert f"the output cannot be written: {reason}" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "words", [["nonsense"], ["topics"], ["topics", "list", "-b", ""], ["version", "--nonsense"]],
    ids=" ".join,
)  # fmt: skip
def test_messages_that_cannot_be_written_do_not_change_the_exit_code(words: list[str]) -> None:
    for closed in ("2>/dev/full", "2>&-"):
        done = shell(words, closed)
        assert (done.returncode, done.stdout) == (2, "")


def shell(words: list[str], redirection: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, "-c", SCRIPT, *words],
        capture_output=True, text=True, check=False, timeout=120, env=clean_environment(),
    )  # fmt: skip


def run(
    words: list[str], script: str = SCRIPT, path: Path | None = None
) -> subprocess.CompletedProcess[str]:
    with program(*words, script=script, path=path) as started:
        out, err = started.communicate(timeout=120)
    return subprocess.CompletedProcess(words, started.returncode, out.decode(), err.decode())


def every_command(
    known: Known = COMMANDS, names: tuple[str, ...] = ()
) -> Iterator[tuple[str, ...]]:
    for name, about in known.items():
        if isinstance(about, str):
            yield (*names, name)
        else:
            yield from every_command(about, (*names, name))


@pytest.mark.parametrize("names", list(every_command()), ids=" ".join)
def test_every_command_explains_itself(names: tuple[str, ...]) -> None:
    done = run([*names, "--help"])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: ottla {' '.join(names)} ")
    assert importlib.import_module(module_of(names)).__doc__


@pytest.mark.parametrize(
    "words",
    [[], ["-h"], ["--help"], ["help"], ["topics", "--help"], ["help", "topics"],
     ["help", "topics", "describe"]],
    ids=" ".join,
)  # fmt: skip
def test_help_lists_what_there_is(words: list[str]) -> None:
    done = run(words)
    assert (done.returncode, done.stderr) == (0, "")
    assert "describe" in done.stdout
    names = [each for each in words if each.isalpha() and each != "help"]
    assert done.stdout.startswith(f"usage: {' '.join(['ottla', *names])} ")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["topcs"], "no command 'topcs'; did you mean topics?"),
        (["topics", "creat"], "no command 'topics creat'; did you mean create?"),
        (["create", "topic"], "no command 'create'; did you mean topics create?"),
        (["--format", "json", "topics", "list"], "ottla: the command comes first, then --format"),
        (["--versio"], "ottla: there is no option --versio; did you mean --version?"),
        (["--hlep"], "ottla: there is no option --hlep; did you mean --help?"),
        (["frobnicate"], "no command 'frobnicate'\n"),
        (["groups", "--describe"], "no option --describe; write ottla groups describe\n"),
        (["kafka-topics.sh"], "no command 'kafka-topics.sh'; write ottla topics\n"),
        (["consumer-groups"], "no command 'consumer-groups'; write ottla groups\n"),
        (["topics"], "usage: ottla topics VERB"),
        (["topics", "-b", "x:1", "list"], "ottla topics: the verb comes first, then -b"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)
def test_a_command_that_is_not_there_is_refused_with_those_there_are(
    words: list[str], reason: str
) -> None:
    done = run(words)
    assert (done.returncode, done.stdout) == (2, "")
    assert reason in done.stderr
    assert "usage: ottla" in done.stderr
    if words != ["topics"]:  # the error is visible below a long list
        assert reason.rstrip() in done.stderr.splitlines()[-1]


def test_a_wrong_option_is_reported_before_a_missing_one() -> None:
    done = run(["groups", "reset", "g", "--shift", "3"])
    assert done.returncode == 2
    assert "there is no option --shift; did you mean --shift-by?" in done.stderr


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("consume t --timeout-ms 1000", "--timeout-ms; write --exit, which stops at the end"),
        ("consume t --property print.key=true", "--property; write --format, such as '%k"),
        ("consume --include t.*", "--include; write a pattern as TOPIC"),
        ("produce t --producer.config p", "--producer.config; write -X NAME=VALUE for each"),
        ("produce t --compression-codec zstd", "--compression-codec; write --compression\n"),
        ("topics list --zookeeper z:2181", "--zookeeper; write --bootstrap HOST:PORT"),
        ("topics alter t --add-config a=b", "--add-config; write --config NAME=VALUE"),
        ("groups reset g --to-earliest", "--to-earliest; write --to start"),
        ("groups reset g --to end --execute", "--execute; write nothing: without --dry-run"),
    ],
)
def test_an_option_of_kafkas_tools_is_refused_with_its_replacement(words: str, reason: str) -> None:
    done = run(words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert f"there is no option {reason}" in done.stderr


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        ("consume -C -t t", ["-C write nothing: ottla consume", "-t write the topic alone"]),
        ("produce t -P x", ["-P write nothing: ottla produce always writes"]),
        ("consume t -c 5 -J", ["-c write -n\n", "-J write --format json\n"]),
    ],
)
def test_an_option_of_kcat_is_refused_with_its_replacement(words: str, advice: list[str]) -> None:
    done = run(words.split())
    assert (done.returncode, done.stdout) == (2, "")
    for each in advice:
        assert f"instead of {each}" in done.stderr


FAILURES = {
    # Functions of the client library raise SystemError, with the interruption as its cause.
    "inside the client library": (
        "try: os.kill(os.getpid(), 15)\n"
        "    except KeyboardInterrupt as it: raise SystemError('a result with an error') from it",
        143, ""),
    # argparse fails in this way if Ctrl-C comes while it parses.
    "while parsing": ("try: raise KeyboardInterrupt\n    finally: raise AttributeError('nargs')",
                      130, ""),
    # A full disk is an error of the command itself, and not of its output.
    "full disk": ("raise OSError(28, 'No space left on device')",
                  1, "OSError: [Errno 28] No space left on device\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILURES)
def test_interruptions_are_distinguished_from_failures(name: str, tmp_path: Path) -> None:
    """The version of Python, which `ottla version` asks for, fails in this way."""
    statement, code, reported = FAILURES[name]
    (tmp_path / "platform.py").write_text(f"import os\ndef python_version():\n    {statement}\n")
    done = run(["version"], path=tmp_path)
    assert done.returncode == code
    assert done.stderr.endswith(reported) if reported else not done.stderr
    assert "the output cannot be written" not in done.stderr
