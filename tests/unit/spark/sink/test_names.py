"""The name of a sink: stable over restarts, different between queries."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ottla.config.options import InvalidOption
from ottla.spark.options.sink_options import SinkOptions, parse_sink_options
from ottla.spark.sink.names import (
    BATCH_PREFIX,
    batch_sink_name,
    driver_id,
    stream_sink_name,
    task_id,
)

QUERY = "422e2f4d-fced-4c8e-a191-cff2487c38c3"


def at(location: str) -> SinkOptions:
    return SinkOptions(checkpoint_location=location)


def test_the_option_goes_before_everything() -> None:
    options = SinkOptions(sink_name="mine", checkpoint_location="/c", txn_app_id="a", txn_version=1)
    assert stream_sink_name(options) == "mine"
    assert batch_sink_name(options) == "mine"


@pytest.mark.parametrize("scheme", ["", "file:", "file://"])
def test_a_local_checkpoint_names_the_query_by_its_id(tmp_path: Path, scheme: str) -> None:
    (tmp_path / "metadata").write_text(json.dumps({"id": QUERY}))
    assert stream_sink_name(at(f"{scheme}{tmp_path}")) == f"query-{QUERY}"


def test_a_checkpoint_elsewhere_names_it_by_its_place() -> None:
    one = stream_sink_name(at("hdfs://lake/checkpoints/one"))
    assert one == stream_sink_name(at("HDFS://lake/checkpoints/one/"))
    assert one != stream_sink_name(at("hdfs://lake/checkpoints/two"))
    assert one.startswith("checkpoint-")


@pytest.mark.parametrize("elsewhere", ["hdfs://lake", "s3a://lake", "file://another-host", "dbfs:"])
def test_a_checkpoint_elsewhere_is_not_looked_for_in_local_files(
    tmp_path: Path, elsewhere: str
) -> None:
    """Even if there is one at the same path, of another query."""
    (tmp_path / "metadata").write_text(json.dumps({"id": QUERY}))
    name = stream_sink_name(at(f"{elsewhere}{tmp_path}"))
    assert name.startswith("checkpoint-")
    local = stream_sink_name(at(f"{tmp_path}/other"))
    assert name not in (local, stream_sink_name(at(f"{elsewhere}{tmp_path}/other")))


def test_a_local_place_without_query_id_is_named_however_it_is_written(tmp_path: Path) -> None:
    names = {stream_sink_name(at(f"{form}{tmp_path}/c/")) for form in ("", "file:", "file://")}
    assert len(names) == 1


def test_a_damaged_checkpoint_is_no_reason_to_stop(tmp_path: Path) -> None:
    (tmp_path / "metadata").write_text("{")
    assert stream_sink_name(at(str(tmp_path))).startswith("checkpoint-")


def test_a_stream_without_a_stable_name_is_refused() -> None:
    with pytest.raises(InvalidOption, match="sinkName is missing"):
        stream_sink_name(SinkOptions(query_name="named"))


def test_batch_writes_have_names_of_their_own_and_applications_keep_theirs() -> None:
    assert batch_sink_name(SinkOptions()) != batch_sink_name(SinkOptions())
    assert batch_sink_name(SinkOptions(txn_app_id="app", txn_version=3)) == "txn-app"


def test_one_application_counts_its_versions_for_each_topic_by_itself() -> None:
    names = {
        batch_sink_name(SinkOptions(topic=topic, txn_app_id=app, txn_version=3))
        for app, topic in [("app", None), ("app", "a"), ("app", "b"), ("app.a", "b")]
    }
    assert len(names) == 4


def test_attempts_never_share_an_id() -> None:
    assert task_id("s", 3, 0, 1) == "s/3/0.1"
    assert len({task_id("s", 3, 0, 0), task_id("s", 3, 0, 1), task_id("s", 3, 1, 0)}) == 3
    assert driver_id("s") == "s.driver"


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"topc": "t"}, "topc is not known.*Did you mean topic"),
        ({"sinkname": "a/b"}, "sinkName.*letters, digits"),
        ({"delivery": "at-most-once"}, "delivery"),
        ({"txnappid": "a"}, "given together"),
        ({"path": "x"}, "no path"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(texts: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        parse_sink_options(texts)


def test_a_batch_without_a_name_gets_one_of_its_own() -> None:
    given = iter(("one", "two"))
    names = [batch_sink_name(SinkOptions(), lambda: next(given)) for _ in range(2)]
    assert [name.removeprefix(BATCH_PREFIX) for name in names] == ["one", "two"]
    assert batch_sink_name(SinkOptions()) != batch_sink_name(SinkOptions())
