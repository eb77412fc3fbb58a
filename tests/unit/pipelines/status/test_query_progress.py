"""How far a query is, by the files that Spark leaves."""

from pathlib import Path

from ottla.pipelines.status.query_progress import QueryProgress, commit_times, read_query_progress

OFFSETS = """v1
{"batchWatermarkMs":17,"batchTimestampMs":1794759619881,"conf":{}}
{"fleet.reports": {"0": 40, "1": 2}, "$ottla": {"topicIds": {"fleet.reports": "x"}}}"""


def begin(checkpoint: Path, batch: int) -> None:
    (checkpoint / "offsets").mkdir(parents=True, exist_ok=True)
    (checkpoint / "offsets" / str(batch)).write_text(OFFSETS)
    (checkpoint / "offsets" / f".{batch}.crc").touch()


def commit(checkpoint: Path, batch: int) -> None:
    (checkpoint / "commits").mkdir(parents=True, exist_ok=True)
    (checkpoint / "commits" / str(batch)).write_text("v1\n{}")


def test_a_query_without_a_checkpoint_has_no_progress(tmp_path: Path) -> None:
    assert read_query_progress(tmp_path) == QueryProgress()
    assert commit_times(tmp_path) == []


def test_a_batch_counts_when_it_is_committed(tmp_path: Path) -> None:
    begin(tmp_path, 0)
    assert read_query_progress(tmp_path) == QueryProgress(is_in_batch=True)
    commit(tmp_path, 0)
    assert read_query_progress(tmp_path) == QueryProgress(0, end_offsets=42, watermark_ms=17)
    assert len(commit_times(tmp_path)) == 1


def test_the_newest_batch_is_found_by_number_and_not_by_name(tmp_path: Path) -> None:
    for batch in range(11):
        begin(tmp_path, batch)
        commit(tmp_path, batch)
    begin(tmp_path, 11)
    assert read_query_progress(tmp_path) == QueryProgress(10, 42, 17, is_in_batch=True)
