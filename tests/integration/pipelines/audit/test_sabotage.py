"""What goes wrong with a table is named by the audit alone: its command line is all that is used.

A topic with two partitions, 130 records each, three buckets; a table written in two batches.
"""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.integration.pipelines.audit.lakes import (
    COLUMNS,
    FORMATS,
    KEPT,
    create_lake,
    ingest,
    rewrite_iceberg_file,
)
from tests.integration.pipelines.audit.topics import (
    START_MS,
    create,
    records,
    write,
    write_transaction,
)

from ottla.base.ids import TopicPartition
from ottla.cli.main import main
from ottla.client.admin.topics import delete_records
from ottla.client.cluster.cluster import Cluster
from ottla.pipelines.declaration.tree import Lake
from ottla.pipelines.lake.opening import open_table

COUNT = 130
FIRST = "2026-01-01T00:00:00Z"
SECOND = "2026-01-01T00:10:00Z"


class World:
    """A topic, its table, and the audit."""

    def __init__(self, cluster: Cluster, topic: str, lake: Path, kind: str) -> None:
        self.cluster, self.topic, self.lake, self.kind = cluster, topic, lake, kind
        self.address = cluster.settings.bootstrap_servers
        self.reports = f"audit-{topic}"
        create(cluster, topic, 2)
        for partition in range(2):
            write(cluster, TopicPartition(topic, partition), records(0, COUNT))
        self.table = create_lake(lake, kind)

    def fill(self, only: set[int] | None = None) -> None:
        ingest(self.cluster, self.table, self.topic, {0: (0, 70), 1: (0, 70)}, 0, only)
        ingest(self.cluster, self.table, self.topic, {0: (70, COUNT), 1: (70, COUNT)}, 1, only)

    def ottla(self, *words: str) -> int:
        return main(["audit", *words, "--bootstrap", self.address, "--report-topic", self.reports])

    def run(self) -> None:
        lake = f"lake={self.lake}"
        assert self.ottla("run", self.topic, "--once", "--without-spark", "--lake", lake) == 0

    def files(self) -> list[Path]:
        return sorted(self.lake.glob("hour=*/*.parquet"))


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """What a command prints as JSON."""

    def ask(world: World, *words: str) -> Any:
        capsys.readouterr()
        code = world.ottla(*words, "--format", "json")
        return {"code": code, **json.loads(capsys.readouterr().out)}

    return ask


@pytest.fixture
def world(cluster: Cluster, tmp_path: Path, request: pytest.FixtureRequest) -> World:
    kind = getattr(request, "param", "parquet")
    name = request.node.name.replace("[", "-").replace("]", "").replace("_", "-")
    return World(cluster, name, tmp_path / "lake", kind)


each_format = pytest.mark.parametrize("world", FORMATS, indirect=True)


def states(answer: Any, tier: str = "lake.counted") -> set[tuple[str, int, str]]:
    return {
        (each["bucket"], each["partition"], each["state"])
        for each in answer["faults"]
        if each["tier"] == tier
    }


@each_format
def test_a_sound_table_is_verified(world: World, said: Callable[..., Any]) -> None:
    world.fill()
    world.run()
    answer = said(world, "verify", world.topic, "--tier", "*.counted")
    assert (answer["code"], answer["faults"], answer["verified"]) == (0, [], True)
    assert (answer["buckets"], answer["records"]) == (6, 2 * COUNT)
    booked = said(world, "verify", world.topic, "--tier", "*.booked")
    assert (booked["code"], booked["verified"]) == (0, False)
    note = json.loads((world.lake / "_ottla" / "complete_until.json").read_text())
    assert note["ottla.complete_until_ms"] > START_MS


@each_format
def test_a_file_removed(world: World, said: Callable[..., Any]) -> None:
    world.fill()
    world.run()
    file = world.files()[0]
    lost = pq.read_table(file).select(["partition", "offset"]).to_pylist()
    file.unlink()
    world.run()
    answer = said(world, "verify", world.topic)
    assert answer["code"] == 1
    assert {state for _, _, state in states(answer)} == {"missing"}
    assert states(answer, "lake.booked") == set(), "the writer did its work"
    drilled = said(world, "drill", world.topic, "--tier", "lake.counted")
    assert drilled["missing_files"] == [str(file.relative_to(world.lake))]
    missing = {
        (each["partition"], offset)
        for each in drilled["partitions"]
        for start, last in each["missing"]
        for offset in range(start, last + 1)
    }
    assert missing == {(each["partition"], each["offset"]) for each in lost}
    assert drilled["repair"].startswith("ottla pipeline backfill FILE orders_lake --offsets")


def test_a_batch_added_twice(world: World, said: Callable[..., Any]) -> None:
    world.fill()
    file = world.files()[0]
    shutil.copy(file, file.with_name("copy.parquet"))
    world.run()
    answer = said(world, "verify", world.topic)
    assert {state for _, _, state in states(answer)} == {"doubled"}
    drilled = said(world, "drill", world.topic, FIRST, "--tier", "lake.counted")
    assert drilled["partitions"][0]["doubled"]
    assert drilled["partitions"][0]["missing"] == []
    assert "--replace --offsets" in drilled["repair"]


def rewrite(file: Path, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
    table = pq.read_table(file)
    rows = change(table.to_pylist())
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), file)


def test_one_record_lost_and_another_doubled(world: World, said: Callable[..., Any]) -> None:
    world.fill()
    rewrite(world.files()[0], lambda rows: [rows[1], *rows[1:]])
    world.run()
    answer = said(world, "verify", world.topic)
    assert [state for _, _, state in states(answer)] == ["lost-and-doubled"]
    (found,) = said(world, "drill", world.topic, "--tier", "lake.counted")["partitions"]
    assert (found["missing"], found["doubled"]) == ([[0, 0]], [[1, 1]])


def test_a_row_changed(world: World, said: Callable[..., Any]) -> None:
    world.fill()
    file = world.files()[0]
    rewrite(file, lambda rows: [{**rows[0], "value": b"forged"}, *rows[1:]])
    world.run()
    answer = said(world, "verify", world.topic)
    assert states(answer) == {(FIRST, 0, "changed")}
    (found,) = said(world, "drill", world.topic, "--tier", "lake.counted")["partitions"]
    assert found["changed_files"] == [str(file.relative_to(world.lake))]


def test_changed_bytes_of_a_table_that_keeps_them(
    cluster: Cluster, tmp_path: Path, said: Callable[..., Any]
) -> None:
    """The offset is named too, because the row can be compared with its record."""
    world = World(cluster, "keeps-bytes", tmp_path / "first", "parquet")
    world.lake = tmp_path / "lake"
    world.table = create_lake(world.lake, "parquet", KEPT)
    ranges = {0: (0, COUNT), 1: (0, COUNT)}
    ingest(cluster, world.table, world.topic, ranges, 0, columns=KEPT)
    world.run()
    assert said(world, "verify", world.topic, "--tier", "*.counted")["code"] == 0
    change = {"record_value": b"forged"}
    rewrite(world.files()[0], lambda rows: [*rows[:7], {**rows[7], **change}, *rows[8:]])
    world.run()
    answer = said(world, "verify", world.topic, "--tier", "*.counted")
    assert states(answer) == {(FIRST, 0, "changed")}
    (found,) = said(world, "drill", world.topic, "--tier", "lake.counted")["partitions"]
    assert found["changed"] == [7]


def test_two_rows_swapped_are_no_fault(world: World, said: Callable[..., Any]) -> None:
    world.fill()
    rewrite(world.files()[0], lambda rows: [rows[1], rows[0], *rows[2:]])
    world.run()
    assert said(world, "verify", world.topic, "--tier", "*.counted")["code"] == 0


@pytest.mark.parametrize("world", ["delta"], indirect=True)
def test_rows_deleted_from_the_table(world: World, said: Callable[..., Any]) -> None:
    from deltalake import DeltaTable

    world.fill()
    DeltaTable(str(world.lake)).delete("partition = 1 and offset >= 10 and offset < 13")
    world.run()
    answer = said(world, "verify", world.topic)
    assert states(answer) == {(FIRST, 1, "missing")}
    drilled = said(world, "drill", world.topic, FIRST, "--tier", "lake.counted")
    assert [each["missing"] for each in drilled["partitions"]] == [[], [[10, 12]]]


@pytest.mark.parametrize("world", ["iceberg"], indirect=True)
def test_files_deleted_from_the_table(world: World, said: Callable[..., Any]) -> None:
    from pyiceberg.expressions import GreaterThanOrEqual

    from ottla.pipelines.audit.lake_tables import IcebergReader

    world.fill()
    IcebergReader(world.lake)._table().delete(GreaterThanOrEqual("offset", 70))
    world.run()
    drilled = said(world, "drill", world.topic, SECOND, "--tier", "lake.counted")
    assert [each["missing"] for each in drilled["partitions"]] == [[[70, 119]], [[70, 119]]]


def test_records_three_hours_late(world: World, said: Callable[..., Any]) -> None:
    world.fill()
    world.run()
    at = TopicPartition(world.topic, 0)
    write(world.cluster, at, records(COUNT, COUNT + 5, late_ms=COUNT * 10_000))
    ranges = {0: (COUNT, COUNT + 5), 1: (COUNT, COUNT)}
    ingest(world.cluster, world.table, world.topic, ranges, 2, only=set())
    world.run()
    answer = said(world, "verify", world.topic, "--tier", "*.counted")
    assert states(answer) == {(FIRST, 0, "late")}
    assert answer["faults"][0]["late"] == 5


def test_late_records_that_arrived_are_complete(world: World, said: Callable[..., Any]) -> None:
    world.fill()
    world.run()
    at = TopicPartition(world.topic, 0)
    write(world.cluster, at, records(COUNT, COUNT + 5, late_ms=COUNT * 10_000))
    ingest(world.cluster, world.table, world.topic, {0: (COUNT, COUNT + 5), 1: (COUNT, COUNT)}, 2)
    world.run()
    assert said(world, "verify", world.topic, "--tier", "*.counted")["code"] == 0


def test_an_aborted_transaction_is_not_missing(world: World, said: Callable[..., Any]) -> None:
    world.fill()
    at = TopicPartition(world.topic, 0)
    write_transaction(world.cluster, at, records(COUNT, COUNT + 20), commit=False)
    end = COUNT + 21  # with the marker
    ingest(world.cluster, world.table, world.topic, {0: (COUNT, end), 1: (COUNT, COUNT)}, 2)
    world.run()
    answer = said(world, "verify", world.topic, "--tier", "*.counted")
    assert (answer["code"], answer["records"]) == (0, 2 * COUNT)


def test_retention_that_overtook_the_audit_is_not_loss(
    world: World, said: Callable[..., Any]
) -> None:
    world.fill()
    delete_records(world.cluster, {TopicPartition(world.topic, 0): 30})
    world.run()
    answer = said(world, "verify", world.topic, "--tier", "*.counted")
    assert states(answer) == {(FIRST, 0, "not-audited")}
    assert answer["code"] == 1
    assert "retention" in answer["faults"][0]["reason"]
    note = json.loads((world.lake / "_ottla" / "complete_until.json").read_text())
    assert note["ottla.complete_from_ms"] == START_MS + 600_000
    assert note["ottla.complete_until_ms"] > note["ottla.complete_from_ms"]


def test_a_time_without_records_is_not_verified(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.fill()
    world.run()
    words = ("verify", world.topic, "--to", "2025-12-31T00:00:00Z")
    assert world.ottla(*words) == 1
    assert "nothing to verify" in capsys.readouterr().out


def test_a_forged_report(world: World, said: Callable[..., Any]) -> None:
    from ottla.pipelines.audit.report_format import bucket_record
    from ottla.pipelines.audit.report_log import ReportWriter

    world.fill(only=set(range(COUNT)) - {7})
    world.run()
    assert {state for _, _, state in states(said(world, "verify", world.topic))} == {"missing"}
    forger = ReportWriter(world.cluster, "forger", world.reports)
    tiers = forger.read()
    for key, report in tiers["lake.counted"].buckets.items():  # the loss disappears
        forger.write([bucket_record("broker", key, report, COUNT)])
    forger.close()
    for _ in range(2):
        answer = said(world, "verify", world.topic, "--tier", "*.counted")
        assert answer["code"] == 1
        assert {state for _, _, state in states(answer)} == {"forged"}
        write(world.cluster, TopicPartition(world.topic, 0), records(COUNT, COUNT + 10))
        world.run()  # another pass does not make it right


def test_an_audit_that_is_switched_off(world: World, said: Callable[..., Any]) -> None:
    world.fill()
    world.run()
    later = "2199-01-01T00:00:00Z"
    answer = said(world, "verify", world.topic, "--from", FIRST, "--to", later)
    assert answer["code"] == 1
    assert answer["not_audited"], "nothing was audited after the last pass"


def test_a_table_that_only_other_tiers_counted_is_not_audited(
    world: World, said: Callable[..., Any]
) -> None:
    world.fill()
    world.run()
    answer = said(world, "report", world.topic, "--reference", "elsewhere")
    assert {each["percent"] for each in answer["books"]} == {"not audited"}
    check = said(world, "check", world.topic, "--reference", "elsewhere")
    assert check["code"] == 1


def test_check_and_report(world: World, said: Callable[..., Any], tmp_path: Path) -> None:
    world.fill(only=set(range(COUNT)) - {7})
    page, metrics = tmp_path / "audit.html", tmp_path / "audit.prom"
    lake = f"lake={world.lake}"
    said(
        world, "run", world.topic, "--once", "--without-spark", "--lake", lake,
        "--html", str(page), "--metrics", str(metrics),
    )  # fmt: skip
    report = said(world, "report", world.topic)
    counted = next(each for each in report["books"] if each["tier"] == "lake.counted")
    assert counted["percent"] == "99.230 %"
    assert report["pipelines"][0]["balances"] is True
    assert said(world, "check", world.topic, "--min", "99.9", "--max-lag", "500000h")["code"] == 1
    assert said(world, "check", world.topic, "--min", "99", "--max-lag", "500000h")["code"] == 0
    assert said(world, "check", world.topic, "--min", "99", "--max-lag", "15m")["code"] == 1
    assert '"state":"missing"' in page.read_text()
    text = metrics.read_text()
    wanted = f'ottla_audit_buckets{{topic="{world.topic}",tier="lake.counted",state="missing"}} 2'
    assert wanted in text.splitlines()


def put_aside(world: World, topic: str, offsets: list[int]) -> None:
    """As a pipeline does it: the record, with headers that say where it was read."""
    create(world.cluster, topic)
    rows = []
    for number, offset in enumerate(offsets):
        (record,) = records(offset, offset + 1)
        origin = {"pipeline": "orders_lake", "topic": world.topic, "partition": 0,
                  "offset": offset, "timestamp": record.timestamp, "reason": "x"}  # fmt: skip
        headers = tuple((f"ottla-{name}", str(value).encode()) for name, value in origin.items())
        rows.append(record._replace(offset=number, headers=headers))
    write(world.cluster, TopicPartition(topic, 0), rows)


def test_bad_and_late_records_are_not_missing(
    world: World, said: Callable[..., Any], tmp_path: Path
) -> None:
    kept = set(range(COUNT)) - {3, 4, 5}
    ingest(world.cluster, world.table, world.topic, {0: (0, 70)}, 0, only=kept)
    ingest(world.cluster, world.table, world.topic, {0: (70, 130), 1: (0, 130)}, 1)
    put_aside(world, f"{world.topic}.bad", [3])
    put_aside(world, f"{world.topic}.late", [4, 20])  # 20 was replayed: it is in the table
    file = tmp_path / "pipelines.yaml"
    file.write_text(
        f"""
clusters: {{main: "{world.address}"}}
pipelines:
  orders_lake:
    from: {{topics: [{world.topic}], value: {{json: "id bigint"}}}}
    to: {{lake: {world.lake}}}
    bad: {{topic: {world.topic}.bad}}
    late: {{after: 2h, topic: {world.topic}.late}}
"""
    )
    words = ("run", world.topic, "--once", "--without-spark", "--pipelines", str(file))
    assert world.ottla(*words) == 0
    answer = said(world, "verify", world.topic)
    tiers = {(each["tier"], each["state"]) for each in answer["faults"]}
    assert tiers == {("orders_lake.booked", "missing"), ("orders_lake.counted", "missing")}
    (found,) = said(world, "drill", world.topic)["partitions"]
    assert found["missing"] == [[5, 5]], "the others were put aside"
    fault = said(world, "report", world.topic)["faults"][0]
    assert (fault["expected"], fault["found"]) == (60, 59)


def test_the_directory_of_the_table_removed(
    world: World, said: Callable[..., Any], tmp_path: Path
) -> None:
    """What was counted before says nothing any more, also of a table that may not be there yet."""
    world.fill()
    file = declared_file(world, tmp_path)
    words = ("run", world.topic, "--once", "--without-spark", "--pipelines", str(file))
    assert world.ottla(*words) == 0
    assert said(world, "verify", world.topic, "--tier", "*.counted")["code"] == 0
    world.lake.rename(tmp_path / "elsewhere")
    for asked in (words, (*words[:4], "--lake", f"orders_lake={world.lake}")):
        assert world.ottla(*asked) == 1
        answer = said(world, "verify", world.topic, "--tier", "*.counted")
        assert answer["code"] == 1
        assert "not a directory" in answer["not_audited"][0]
        books = said(world, "report", world.topic)["books"]
        counted = next(each for each in books if each["tier"] == "orders_lake.counted")
        assert (counted["verified"], counted["complete_until"]) == (False, None)
    (tmp_path / "elsewhere").rename(world.lake)
    assert world.ottla(*words) == 0
    assert said(world, "verify", world.topic, "--tier", "*.counted")["code"] == 0


def test_the_directory_of_the_table_emptied(
    world: World, said: Callable[..., Any], tmp_path: Path
) -> None:
    """As by a file system that is not mounted. Nothing is left that could be missing."""
    world.fill()
    world.run()
    world.lake.rename(tmp_path / "elsewhere")
    world.lake.mkdir()
    lake = f"lake={world.lake}"
    for _ in range(2):
        assert world.ottla("run", world.topic, "--once", "--without-spark", "--lake", lake) == 1
        answer = said(world, "verify", world.topic, "--tier", "lake.counted")
        assert answer["code"] == 1
        assert "has neither rows nor commits" in answer["not_audited"][0]
        assert said(world, "check", "--max-lag", "99999d")["ok"] is False
    world.lake.rmdir()
    (tmp_path / "elsewhere").rename(world.lake)
    world.run()
    assert said(world, "verify", world.topic, "--tier", "lake.counted")["code"] == 0


def test_unknown_names_are_distinguished_from_one_another(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.fill()
    world.run()
    asked = {
        ("verify", f"{world.topic}x"): f"no tier has reported the topic {world.topic}x",
        ("check", "--tier", "lake.count"): "there is no tier lake.count\n  did you mean lake.coun",
        ("verify", "--tier", "x"): "there is no tier x\n  there is lake.booked, lake.counted",
        ("verify", "--from", "-1h", "--to", "-2h"): "--from is not before --to",
    }
    for words, expected in asked.items():
        capsys.readouterr()
        assert world.ottla(*words) != 0
        assert expected in capsys.readouterr().err


def test_the_answer_says_which_tiers_are_verified(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.fill()
    world.run()
    capsys.readouterr()
    assert world.ottla("verify", world.topic) == 0
    both = f"2 tiers, 12 buckets with {4 * COUNT} records in all: complete; what was booked is not"
    assert f"{both} verified: lake.booked" in capsys.readouterr().out
    assert world.ottla("verify", world.topic, "--tier", "*.counted") == 0
    assert f"6 buckets with {2 * COUNT} records: verified" in capsys.readouterr().out
    assert world.ottla("check", world.topic, "--max-lag", "99999d") == 0
    assert capsys.readouterr().out.splitlines() == ["2 tiers: ok"]


def test_a_record_lost_in_the_bucket_in_which_the_table_begins(
    world: World, said: Callable[..., Any]
) -> None:
    """What came before the start is not missing; what was written and is gone is."""
    ranges = {0: (10, COUNT), 1: (0, COUNT)}
    ingest(world.cluster, world.table, world.topic, ranges, 0)
    world.run()
    assert said(world, "verify", world.topic, "--tier", "*.counted")["code"] == 0
    rewrite(world.files()[0], lambda rows: [*rows[:3], *rows[4:]])
    world.run()
    answer = said(world, "verify", world.topic, "--tier", "*.counted")
    assert states(answer) == {(FIRST, 0, "missing")}
    (found,) = said(world, "drill", world.topic, "--tier", "lake.counted")["partitions"]
    assert found["missing"] == [[13, 13]]


def test_a_table_of_a_declared_catalog_is_what_its_catalog_says(
    world: World, said: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files that the table does not have any more are still in its directory."""
    from pyiceberg.catalog import load_catalog
    from pyiceberg.expressions import GreaterThanOrEqual

    world.lake, world.kind = tmp_path / "of-a-catalog", "iceberg"
    catalog = {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db",
               "warehouse": f"file://{tmp_path}"}  # fmt: skip
    lake = Lake(str(world.lake), format="iceberg", catalog=catalog, table="shop.orders")
    world.table = open_table(lake, "orders_lake")
    world.table.prepare(COLUMNS)
    world.fill()
    file = declared_file(world, tmp_path, f", catalog: {json.dumps(catalog)}, table: shop.orders")
    words = ("run", world.topic, "--once", "--without-spark")
    assert world.ottla(*words, "--lake", f"lake={world.lake}") == 1
    assert "--pipelines" in capsys.readouterr().err
    assert world.ottla(*words, "--pipelines", str(file)) == 0
    assert said(world, "verify", world.topic)["code"] == 0
    load_catalog("ottla", **catalog).load_table("shop.orders").delete(
        GreaterThanOrEqual("offset", 70)
    )
    assert world.ottla(*words, "--pipelines", str(file)) == 0
    answer = said(world, "verify", world.topic, "--tier", "*.counted")
    assert {state for _, _, state in states(answer, "orders_lake.counted")} == {"missing"}
    drilled = said(world, "drill", world.topic, SECOND, "--file", str(file))
    assert [each["missing"] for each in drilled["partitions"]] == [[[70, 119]], [[70, 119]]]
    command = shlex.split(said(world, "drill", world.topic, "--file", str(file))["repair"])
    assert main(command[1:]) == 0
    assert world.ottla(*words, "--pipelines", str(file)) == 0
    assert said(world, "verify", world.topic)["faults"] == []


def lose_a_file(world: World) -> None:
    world.files()[0].unlink()


def add_twice(world: World) -> None:
    """The rows of a file once more, as another program adds them."""
    file = world.files()[0]
    if world.kind == "delta":
        from deltalake import write_deltalake

        hour = file.parent.name.removeprefix("hour=")
        rows = pq.read_table(file, partitioning=None)
        rows = rows.append_column("hour", pa.array([hour] * rows.num_rows))
        write_deltalake(str(world.lake), rows, mode="append")
    elif world.kind == "iceberg":
        from ottla.pipelines.audit.lake_tables import IcebergReader

        copy = file.with_name("copy.parquet")
        shutil.copy(file, copy)
        IcebergReader(world.lake)._table().add_files([f"file://{copy}"])
    else:
        shutil.copy(file, file.with_name("copy.parquet"))


def lose_and_double(world: World) -> None:
    rewrite(world.files()[0], lambda rows: [rows[1], *rows[1:]])


def change_a_row(world: World) -> None:
    if world.kind == "delta":
        from deltalake import DeltaTable

        DeltaTable(str(world.lake)).update(
            {"value": "'forged'"}, predicate="partition = 0 and offset = 3"
        )
        return
    rewrite(world.files()[0], lambda rows: [{**rows[0], "value": b"forged"}, *rows[1:]])


def delete_rows(world: World) -> None:
    """Some of a file: the format of the table writes the others again, into a file of its own."""
    if world.kind == "parquet":
        rewrite(world.files()[0], lambda rows: [*rows[:10], *rows[13:]])
    elif world.kind == "delta":
        from deltalake import DeltaTable

        DeltaTable(str(world.lake)).delete("partition = 1 and offset >= 10 and offset < 13")
    else:
        rewrite_iceberg_file(world.lake, lambda rows: rows.slice(3))


def delete_files(world: World) -> None:
    """All rows of the second batch, and so its files."""
    if world.kind == "delta":
        from deltalake import DeltaTable

        DeltaTable(str(world.lake)).delete("offset >= 70")
    else:
        from pyiceberg.expressions import GreaterThanOrEqual

        from ottla.pipelines.audit.lake_tables import IcebergReader

        IcebergReader(world.lake)._table().delete(GreaterThanOrEqual("offset", 70))


def declared_file(world: World, directory: Path, more: str = "") -> Path:
    file = directory / "pipelines.yaml"
    file.write_text(
        f"""
clusters: {{main: "{world.address}"}}
pipelines:
  orders_lake:
    from: {{topics: [{world.topic}]}}
    to: {{lake: {world.lake}, format: {world.kind}{more}}}
"""
    )
    return file


@pytest.mark.parametrize(
    "sabotage",
    [lose_a_file, add_twice, lose_and_double, change_a_row, delete_rows, delete_files],
)
@each_format
def test_the_printed_command_repairs_the_table(
    world: World, said: Callable[..., Any], tmp_path: Path, sabotage: Callable[[World], None]
) -> None:
    world.fill()
    impossible = {
        "parquet": [delete_files],  # as lose_a_file
        # These formats do not read a file whose size has changed.
        "delta": [lose_and_double],
        "iceberg": [lose_and_double, change_a_row],
    }
    if sabotage in impossible[world.kind]:
        pytest.skip("not possible in this format")
    sabotage(world)
    file = declared_file(world, tmp_path)
    world.run()
    assert said(world, "verify", world.topic, "--tier", "*.counted")["code"] == 1
    command = said(world, "drill", world.topic, "--file", str(file))["repair"]
    assert main(shlex.split(command)[1:]) == 0
    world.run()
    answer = said(world, "verify", world.topic)
    assert (answer["faults"], answer["code"], answer["verified"]) == ([], 0, False)
    counted = said(world, "verify", world.topic, "--tier", "*.counted")
    assert (counted["records"], counted["verified"]) == (2 * COUNT, True)
    if world.kind == "parquet":  # the others keep old files for readers of old versions
        assert len(world.files()) == len(world.table.files()), "no strange file is left"


def test_an_hour_that_the_log_no_longer_has_is_not_replaced(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world.fill()
    add_twice(world)
    file = declared_file(world, tmp_path)
    delete_records(world.cluster, {TopicPartition(world.topic, 0): 30})
    before = world.files()
    hour = "2026-01-01-00"
    assert main(["pipeline", "backfill", str(file), "--replace", "--hours", hour]) == 1
    assert f"the log no longer has {world.topic}:0:0-29" in capsys.readouterr().err
    assert world.files() == before
    words = ["pipeline", "backfill", str(file), "--offsets", f"{world.topic}:0:500-510"]
    assert main(words) == 1, "no such offsets"
    assert "was never read by the pipeline" in capsys.readouterr().err
