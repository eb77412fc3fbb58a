"""What every test run does: the requirements that tests name are looked for before each of them.

What was skipped, and why, is listed at the end of every run (`-ra` in pyproject.toml).
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from traceback import walk_tb

import pytest
from hypothesis import HealthCheck, settings
from tests.support.apache_kafka import ApacheKafka
from tests.support.kafka_jars import OLDER_VERSION
from tests.support.left_out_files import is_left_out
from tests.support.long_run import VARIABLE as LONG_RUN
from tests.support.long_run import is_wanted
from tests.support.oracle import Oracle
from tests.support.requirements import VARIABLE, judge, required_names
from tests.support.spark_jvm import use_archive
from tests.support.time_limit import limit_s, time_limit

# Random examples are the same in every ordinary run; new ones are for the long run. Slowness is
# never a failure: machines may be busy.
settings.register_profile(
    "ottla",
    derandomize=not os.environ.get(LONG_RUN),
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("ottla")

Unraisable = Callable[["sys.UnraisableHookArgs"], object]
ThreadFailure = Callable[[threading.ExceptHookArgs], object]
# Of asyncio: what complains about connections that were never closed, and about their loops.
CONNECTION_ENDS = ("_SelectorTransport.__del__", "BaseEventLoop.__del__")
OURS = ("ottla", "pyspark_ottla", "tests", "demo", "tools", "benchmarks")


@pytest.hookimpl(trylast=True)  # after pytest's own hook for what cannot be raised
def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "native: needs the compiled record module")
    try:
        required_names(os.environ.get(VARIABLE, ""))
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error
    for number in (signal.SIGINT, signal.SIGHUP):
        # Ignored in background jobs of shells and under `nohup`: programs under test would inherit
        # that, and not end when they receive them.
        if signal.getsignal(number) is signal.SIG_IGN:
            is_interrupt = number is signal.SIGINT
            signal.signal(number, signal.default_int_handler if is_interrupt else signal.SIG_DFL)
    sys.unraisablehook = without_connections(sys.unraisablehook)
    threading.excepthook = of_our_threads(threading.excepthook)


def without_connections(report: Unraisable) -> Unraisable:
    """Other people's clients leave connections open when a broker dies under them.

    Nothing is made of them at all: they are found in the middle of whatever runs by then, and
    CPython 3.11 cannot format a traceback while it is formatting another.
    """

    def report_others(unraisable: sys.UnraisableHookArgs) -> None:
        found = unraisable.object
        if not isinstance(found, socket.socket) and (
            getattr(found, "__qualname__", "") not in CONNECTION_ENDS
        ):
            report(unraisable)

    return report_others


def of_our_threads(report: ThreadFailure) -> ThreadFailure:
    """What ends a thread of another client, whose broker may have died, is no test's failure."""

    def report_ours(failed: threading.ExceptHookArgs) -> None:
        names = (frame.f_globals.get("__name__", "") for frame, _ in walk_tb(failed.exc_traceback))
        if any(name.partition(".")[0] in OURS for name in names):
            report(failed)

    return report_ours


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Many thousand tests are collected, and stay: the garbage collector need not visit them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    is_test_file = collection_path.name.startswith("test_")
    return True if is_test_file and is_left_out(collection_path, config.option.markexpr) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left = [item for item in items if not is_wanted(item.nodeid)]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if is_wanted(item.nodeid)]


def pytest_runtest_setup(item: pytest.Item) -> None:
    markers = [marker.name for marker in item.iter_markers()]
    verdict = judge(markers, required_names(os.environ.get(VARIABLE, "")))
    if verdict is None:
        return
    if verdict.is_failure:
        pytest.fail(f"{verdict.reason} ({VARIABLE} demands it)", pytrace=False)
    pytest.skip(f"{verdict.reason} (fails instead of skipping where {VARIABLE} demands it)")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    with time_limit(limit_s()):
        return (yield)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object | None:
    if config.getvalue("dist") != "loadgroup":
        return None
    from tests.support.scheduling import GroupScheduling

    return GroupScheduling(config, log)


@pytest.fixture(scope="session")
def spark_jvm() -> None:
    """For tests that start Spark in other processes: JVMs that start sooner."""
    use_archive()


@pytest.fixture(scope="session")
def spark_config(spark_jvm: None) -> Mapping[str, str]:
    """Of the session that tests share: it is started after `spark_jvm`."""
    return {}


@pytest.fixture(scope="session")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    """A JVM with Apache Kafka's classes that answers questions. For tests marked `java`."""
    with Oracle(tmp_path_factory.mktemp("oracle") / "oracle.log") as oracle:
        yield oracle


@pytest.fixture(scope="session")
def older_oracle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    """A JVM with the clients and tools of an older Kafka. For tests marked `java`."""
    with Oracle(tmp_path_factory.mktemp("oracle") / "oracle.log", OLDER_VERSION) as oracle:
        yield oracle


@pytest.fixture(scope="session")
def apache_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheKafka]:
    """A running Apache Kafka that tests share, each with topics of its own.

    For tests marked `java` and `xdist_group("apache-kafka")`: one worker then runs them all, and
    one node serves them. A test that stops or kills a node makes its own.
    """
    with ApacheKafka(tmp_path_factory.mktemp("apache-kafka")) as node:
        yield node
