"""Pipeline files: what they declare, and what is refused, with its line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ottla.pipelines.declaration.loading import declare, load
from ottla.pipelines.declaration.reference import reference_lines
from ottla.pipelines.declaration.tree import Declaration, Lake, ToTopic
from ottla.pipelines.errors import DeclarationError

WHOLE = """\
spark: {master: "local[2]", sql.shuffle.partitions: 2, ui.enabled: false}
clusters: {main: "localhost:9092"}
state: ./state
pipelines:
  orders_lake:
    from: {topics: [orders], value: {json: "id bigint, item string, at timestamp"}}
    to: {lake: ./lake/orders, format: delta, hourly: at, evolve: add}
    bad: {topic: orders.bad, stop_above: 1%}
    late: {after: 2h, topic: orders.late}
    every: 10s
  big_orders:
    from: {cluster: main, topics: orders, value: {json: "id bigint, amount double"}}
    sql: SELECT CAST(id AS STRING) AS key, to_json(value) AS value FROM input WHERE amount > 1000
    to: {topic: orders.big}
"""


def loaded(tmp_path: Path, text: str) -> Declaration:
    path = tmp_path / "orders.yaml"
    path.write_text(text)
    return load(str(path))


def problem(tmp_path: Path, text: str) -> str:
    with pytest.raises(DeclarationError) as caught:
        loaded(tmp_path, text)
    return str(caught.value).replace(str(tmp_path) + "/", "")


def test_a_whole_file(tmp_path: Path) -> None:
    found = loaded(tmp_path, WHOLE)
    lake = found.pipelines["orders_lake"]
    assert isinstance(lake.to, Lake)
    assert lake.to.lake == str(tmp_path / "lake" / "orders")
    assert (lake.to.format, lake.to.hourly, lake.to.evolve) == ("delta", "at", "add")
    assert lake.bad is not None
    assert lake.bad.stop_above == 0.01
    assert lake.late is not None
    assert (lake.late.after_ms, lake.every_ms) == (7_200_000, 10_000)
    feed = found.pipelines["big_orders"]
    assert feed.source.topics == ("orders",)
    assert feed.to == ToTopic("orders.big")
    assert found.state == str(tmp_path / "state")
    assert found.spark == {
        "master": "local[2]", "sql.shuffle.partitions": "2", "ui.enabled": "false",
    }  # fmt: skip


def test_python_declares_the_same_tree(tmp_path: Path) -> None:
    declared = declare(
        spark={"master": "local[2]", "sql.shuffle.partitions": 2, "ui.enabled": False},
        clusters={"main": "localhost:9092"},
        state=tmp_path / "state",
        pipelines={
            "orders_lake": {
                "from": {
                    "topics": ["orders"],
                    "value": {"json": "id bigint, item string, at timestamp"},
                },
                "to": {
                    "lake": tmp_path / "lake" / "orders",
                    "format": "delta",
                    "hourly": "at",
                    "evolve": "add",
                },
                "bad": {"topic": "orders.bad", "stop_above": "1%"},
                "late": {"after": "2h", "topic": "orders.late"},
                "every": "10s",
            },
            "big_orders": {
                "from_": {
                    "cluster": "main",
                    "topics": "orders",
                    "value": {"json": "id bigint, amount double"},
                },
                "sql": "SELECT CAST(id AS STRING) AS key, to_json(value) AS value FROM input "
                "WHERE amount > 1000",
                "to": {"topic": "orders.big"},
            },
        },
    )
    expected = loaded(tmp_path, WHOLE)
    assert replace(declared, file=expected.file) == expected


def test_a_python_file_is_loaded_with_its_directory(tmp_path: Path) -> None:
    (tmp_path / "orders.py").write_text(
        "from ottla.pipelines.declaration.loading import declare\n"
        "def double(df):\n    return df\n"
        "pipelines = declare(clusters={'main': 'localhost:9092'}, pipelines={'feed': {\n"
        "    'from': {'topics': 'orders'}, 'python': double, 'to': {'topic': 'twice'}}})\n"
    )
    found = load(str(tmp_path / "orders.py"))
    assert found.state == str(tmp_path / "state")
    assert found.pipelines["feed"].python == "orders:double"


def test_errors_in_python_name_the_line_of_the_call() -> None:
    with pytest.raises(DeclarationError, match=r"test_loading\.py:\d+: .*unknown key pipeline"):
        declare(clusters={"main": "localhost:9092"}, pipelines={}, pipeline={})


JSON = '{json: "id bigint, item string, at timestamp"}'


@pytest.mark.parametrize(
    ("before", "after", "reported"),
    [
        ("every: 10s", "evry: 10s", "orders.yaml:10: unknown key evry: did you mean every?"),
        ("every: 10s", "every: 10", "orders.yaml:10: every must be a duration such as 30s"),
        ("format: delta", "format: detla", "orders.yaml:7: format must be one of parquet, delta"),
        ("stop_above: 1%", "stop_above: lots", "orders.yaml:8: stop_above must be a share"),
        ("topics: [orders]", "topics: []", "orders.yaml:6: topics must be a list of topics"),
        ("topics: [orders], ", "", "orders.yaml:6: the key topics is missing"),
        ("hourly: at", "hourly: att", "orders.yaml:5: orders_lake: hourly: the value has no field"),
        ("hourly: at", "hourly: item", "item is string, and must be a timestamp"),
        ("item string", "item strng", "orders.yaml:5: orders_lake: value: "),
        ("item string", "offset bigint", "a field offset, which is a column of every lake"),
        ("cluster: main", "cluster: mian", "orders.yaml:11: big_orders: there is no cluster mian"),
        ("topic: orders.big", "topic: orders", "the pipeline would read its own records"),
        ("topic: orders.bad", "topic: orders", "bad: orders is read and written: the pipeline"),
        ("topic: orders.late", "topic: orders", "late: orders is read and written: the pipeline"),
        ("topic: orders.big", "lake: ./lake/orders", "a table has one pipeline"),
        ("topic: orders.big", "lake: lake/orders", "a table has one pipeline"),
        ("topic: orders.big", "lake: other/../lake//orders/", "a table has one pipeline"),
        ("every: 10s", "every: 10s\n    every: 20s", "yaml:11: the key every is there twice"),
        ("to: {topic: orders.big}", "to: {cluster: main}", "to needs the key lake"),
        ("from: {cluster", "from: {start: noon, cluster", "start 'noon' is neither earliest"),
        ("{main:", "{main: [", "this is no YAML"),
        ("after: 2h", "after: 2 hours", "orders.yaml:9: after must be a duration"),
        ("localhost:9092", "http://localhost:9092", "orders.yaml:2: main: Option kafka.bootstrap"),
        ("localhost:9092", "localhost", "'localhost' is not HOST:PORT"),
        ("{topic: orders.big}", "{topic: orders, cluster: main}", "would read its own records"),
        ("topics: [orders]", "topics: []", "must be a list of topics, and is empty"),
        ("./lake/orders", "''", "orders.yaml:7: lake must be a text, and is empty"),
        (JSON, "json", "orders.yaml:6: value must be a mapping, and is 'json'"),
        ("{main: \"localhost:9092\"}", "{}", "clusters must be a mapping of names, and is empty"),
        ("evolve: add", "evolve: true", "evolve must be one of refuse, add, and is True"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_line(
    tmp_path: Path, before: str, after: str, reported: str
) -> None:
    assert before in WHOLE
    assert reported in problem(tmp_path, WHOLE.replace(before, after, 1))


def test_a_feed_has_a_topic_of_its_own_for_bad_records(tmp_path: Path) -> None:
    text = WHOLE.replace("to: {topic: orders.big}", "to: {topic: x}\n    bad: {topic: x}")
    assert "bad: x is the topic of `to` as well" in problem(tmp_path, text)


def test_all_problems_are_reported_at_once(tmp_path: Path) -> None:
    text = WHOLE.replace("every: 10s", "evry: 10s").replace("format: delta", "format: csv")
    assert len(problem(tmp_path, text).splitlines()) == 2


@pytest.mark.parametrize("place", ["s3://bucket/orders", "hdfs://name/orders", "abfss://c@a/o"])
def test_a_lake_is_a_directory(tmp_path: Path, place: str) -> None:
    text = WHOLE.replace("./lake/orders, format: delta", f"{place}, format: delta")
    assert "give a directory" in problem(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("x = 1\nthis is no Python\n", "orders.py:2: SyntaxError: invalid syntax"),
        ("import os\n\nos.environ['NOT_THERE']\n", "orders.py:3: KeyError: 'NOT_THERE'"),
        ("import not_there\n", "orders.py:1: ModuleNotFoundError: No module named 'not_there'"),
        ("pipelines = 1\n", "orders.py: pipelines must be the result of declare"),
    ],
)
def test_an_error_in_a_python_file_is_named_with_its_line(
    tmp_path: Path, text: str, reported: str
) -> None:
    (tmp_path / "orders.py").write_text(text)
    with pytest.raises(DeclarationError, match=reported):
        load(str(tmp_path / "orders.py"))


def test_a_missing_file_is_an_error_with_advice(tmp_path: Path) -> None:
    with pytest.raises(DeclarationError, match="ottla pipeline init"):
        load(str(tmp_path / "none.yaml"))


def test_every_key_is_explained_in_the_reference() -> None:
    lines = [line for line in reference_lines() if line.startswith("| `")]
    assert len(lines) > 30
    assert all(len(line.split("|")[3].strip()) > 10 for line in lines)
