"""A folder imports folders with a smaller number, never its equals or what lies above."""

from pathlib import Path

import pytest
from tests.architecture.sources import (
    FILES,
    SOURCE,
    by_folder,
    folder_of,
    imported_modules,
    name_of,
)

pytestmark = pytest.mark.xdist_group("architecture")

LEVELS = {
    "cli": 11, "testing": 11,
    "pipelines": 10,
    "broker": 9, "spark": 9,
    "handlers": 8, "client": 8,
    "coordinators": 7, "controller": 7,
    "replication": 6,
    "metadata": 5, "network": 5,
    "storage": 4,
    "config": 3,
    "protocol": 2,
    "base": 1,
}  # fmt: skip
OVER_THE_WIRE = {"client", "pipelines", "spark"}  # these reach a broker by socket only
BROKER_SIDE = {"broker", "handlers", "coordinators", "controller", "replication", "storage"}
SPARK_ORDER = ["options", "planning", "records", "source"]
STORAGE_ORDER = ["files", "indexes", "segments", "producers", "log", "directories", "compaction"]
CLIENT_ORDER = ["connections", "cluster", "admin", "fetching", "producing"]
HANDED_A_CLOCK = {
    "broker", "handlers", "coordinators", "controller", "replication", "metadata", "network",
    "storage", "base", "protocol",
}  # fmt: skip
SYSTEM_CLOCKS = {"base/clock.py", "storage/compaction/helper.py"}  # the latter is a process
IMPURE = {"asyncio", "socket", "threading", "os", "time", "random"}

# Folders in which every module only decides, but for those that are named.
PURE_EXCEPT: dict[str, set[str]] = {
    "protocol": set(),
    "client": set(),
    "client/admin": set(),
    "client/cluster": {"cluster", "retries"},
    "client/connections": {"connection", "transport"},
    "client/fetching": {"bounded_queue", "fetch_errors", "fetch_stream"},
    "client/producing": set(),
    "controller": {
        "broker_sessions", "controller", "controller_election", "periodic_elections",
    },
    "coordinators": {"internal_topic", "replicated_answers", "runtime"},
    "coordinators/groups": {"coordinator", "expiration", "replies"},
    "coordinators/transactions": {
        "expiration", "finishing", "marker_writing", "markers", "verifying",
    },
    "metadata": {"file_log", "publisher"},
    "metadata/zookeeper": {"kazoo_service", "log_following", "log_loading", "zookeeper_log"},
    "pipelines/declaration": set(),
    "replication": {
        "damaged_replicas", "deletions", "directory_moves", "directory_reports", "fetch_waiters",
        "in_sync_changes", "leader_events", "new_partitions", "offset_waiters", "replica_manager",
        "session_cache", "withdrawals",
    },
    "replication/following": {"leader_fetcher", "leader_fetchers", "lost_leaders"},
    "spark/options": set(),
    "spark/planning": set(),
    "spark/records": set(),
    "spark/sink": {"decision_log", "driver", "task_writer"},
    "storage/producers": set(),
}  # fmt: skip

# Modules that only decide, in folders whose others use files, brokers and Spark.
DECISIONS = {
    "cli/decommission/plan.py",
    "pipelines/audit/books.py",
    "pipelines/audit/comparison.py",
    "pipelines/audit/fold_plan.py",
    "pipelines/audit/repair_command.py",
    "pipelines/audit/report_format.py",
    "pipelines/audit/reports.py",
    "pipelines/audit/verifying.py",
    "pipelines/lake/manifest.py",
    "pipelines/running/limits.py",
    "pipelines/running/restarts.py",
    "pipelines/trials/comparing.py",
    "pipelines/verbs/missing.py",
}
FILES_AND_PROCESSES = {"pathlib", "pyspark", "shutil", "subprocess", "tempfile"}


def folders_imported(path: Path) -> set[str]:
    modules = [name.split(".") for name in imported_modules(path)]
    return {name[1] for name in modules if name[0] == "ottla" and len(name) > 1}


def test_every_folder_has_a_level() -> None:
    folders = {path.name for path in SOURCE.iterdir() if path.is_dir()} - {"__pycache__"}
    assert folders == LEVELS.keys()


PROGRAM = SOURCE / "__main__.py"  # `python -m ottla`, which nothing imports
MODULES = by_folder(path for path in FILES if path != PROGRAM)


@pytest.mark.parametrize("own", MODULES)
def test_imports_point_down(own: str) -> None:
    for path in MODULES[own]:
        for other in folders_imported(path) - {own}:
            reported = f"{name_of(path)} imports {other}"
            assert own, reported
            assert LEVELS[other] < LEVELS[own], f"{reported}, and {own} has level {LEVELS[own]}"
            assert not (own in OVER_THE_WIRE and other in BROKER_SIDE), reported


def exceptions_of(path: Path) -> set[str] | None:
    """Of the closest folder that is listed; None where modules need not be pure."""
    for parent in path.relative_to(SOURCE).parents:
        if parent.as_posix() in PURE_EXCEPT:
            return PURE_EXCEPT[parent.as_posix()]
    return None


def is_pure(path: Path) -> bool:
    exceptions = exceptions_of(path)
    return exceptions is not None and path.stem not in exceptions


PURE = by_folder(filter(is_pure, FILES))


@pytest.mark.parametrize("folder", PURE)
def test_decisions_touch_no_clock_disk_or_network(folder: str) -> None:
    for path in PURE[folder]:
        used = {name.split(".")[0] for name in imported_modules(path)}
        assert not used & IMPURE, name_of(path)


@pytest.mark.parametrize("name", sorted(DECISIONS))
def test_decisions_of_pipelines_use_no_files_brokers_or_spark(name: str) -> None:
    imported = imported_modules(SOURCE / name)
    used = {each.split(".")[0] for each in imported}
    assert not used & (IMPURE | FILES_AND_PROCESSES)
    assert not [each for each in imported if each.startswith("ottla.client.")]


def test_a_broker_gets_the_time_from_the_clock_that_it_is_handed() -> None:
    """Otherwise a simulation depends on how busy the machine is, and does not replay."""
    users = {
        name_of(path)
        for path in FILES
        if folder_of(path) in HANDED_A_CLOCK and "time" in imported_modules(path)
    }
    assert users == SYSTEM_CLOCKS


def test_every_exception_exists_and_is_needed() -> None:
    for folder, names in PURE_EXCEPT.items():
        for name in names:
            used = {each.split(".")[0] for each in imported_modules(SOURCE / folder / f"{name}.py")}
            assert used & IMPURE, f"{folder}/{name}.py is pure"


@pytest.mark.parametrize(
    "path",
    [p for p in FILES if p.parent.name in CLIENT_ORDER and folder_of(p) == "client"],
    ids=lambda path: str(path.relative_to(SOURCE)),
)
def test_the_client_is_built_from_connections_up(path: Path) -> None:
    above = CLIENT_ORDER[CLIENT_ORDER.index(path.parent.name) + 1 :]
    modules = [name.split(".") for name in imported_modules(path)]
    used = {name[2] for name in modules if name[:2] == ["ottla", "client"] and len(name) > 2}
    assert not used & set(above)


@pytest.mark.parametrize(
    "path",
    [p for p in FILES if p.parent.name in STORAGE_ORDER and folder_of(p) == "storage"],
    ids=lambda path: str(path.relative_to(SOURCE)),
)
def test_storage_is_built_from_files_up_to_directories(path: Path) -> None:
    above = STORAGE_ORDER[STORAGE_ORDER.index(path.parent.name) + 1 :]
    modules = [name.split(".") for name in imported_modules(path)]
    used = {name[2] for name in modules if name[:2] == ["ottla", "storage"] and len(name) > 2}
    assert not used & set(above)


@pytest.mark.parametrize(
    "path",
    [p for p in FILES if folder_of(p) == "spark" and p.parent.name != "spark"],
    ids=lambda path: str(path.relative_to(SOURCE)),
)
def test_spark_is_built_from_options_up_to_source_and_sink(path: Path) -> None:
    own = path.parent.name
    modules = [name.split(".") for name in imported_modules(path)]
    used = {name[2] for name in modules if name[:2] == ["ottla", "spark"] and len(name) > 2}
    allowed = ["options"] if own == "sink" else SPARK_ORDER[: SPARK_ORDER.index(own)]
    assert used & {*SPARK_ORDER, "sink"} <= {own, *allowed}
