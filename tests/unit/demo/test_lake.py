"""The lake is what Spark's lists say: no more, no less."""

from pathlib import Path

from demo.checker import check_lake
from demo.lake import listed_files, read_lake
from demo.reports import reports_of
from demo.scenario import Scenario
from tests.unit.demo.lake_files import write_file, write_lake, write_list

REPORTS = list(reports_of(Scenario(trucks=1, rate=30, seconds=1), "truck-000"))
EXPECTED = {report[:2]: report for report in REPORTS}
BATCHES = [REPORTS[:10], REPORTS[10:20], REPORTS[20:]]


def test_every_report_comes_back_as_it_was(tmp_path: Path) -> None:
    write_lake(tmp_path, BATCHES)
    assert list(read_lake(tmp_path).reports()) == REPORTS
    assert check_lake(EXPECTED, tmp_path).is_matching


def test_files_of_unfinished_batches_are_no_part_of_it(tmp_path: Path) -> None:
    write_lake(tmp_path, BATCHES)
    write_file(tmp_path, "part-3.snappy.parquet", REPORTS[:5])
    assert check_lake(EXPECTED, tmp_path).is_matching
    assert read_lake(tmp_path).leftovers == 1


def test_a_compact_list_stands_for_all_before_it(tmp_path: Path) -> None:
    files = write_lake(tmp_path, BATCHES)
    write_list(tmp_path, "1.compact", files[:2])
    assert listed_files(tmp_path) == files


def test_a_removed_file_is_named_with_what_is_missing(tmp_path: Path) -> None:
    files = write_lake(tmp_path, BATCHES)
    files[1].unlink()
    comparison = check_lake(EXPECTED, tmp_path)
    assert comparison.lost == 10
    assert comparison.notes == [
        "missing file: part-1.snappy.parquet",
        "lost: truck-000 sequences 10-19",
    ]


def test_a_broken_file_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    files = write_lake(tmp_path, BATCHES)
    files[0].write_bytes(b"PAR1")
    comparison = check_lake(EXPECTED, tmp_path)
    assert comparison.lost == 10
    assert comparison.notes[0].startswith("broken file: part-0.snappy.parquet")


def test_a_batch_written_twice_is_found(tmp_path: Path) -> None:
    write_lake(tmp_path, [*BATCHES, BATCHES[1]])
    comparison = check_lake(EXPECTED, tmp_path)
    assert (comparison.lost, comparison.duplicated) == (0, 10)
    assert comparison.notes == ["duplicated: truck-000 sequences 10-19"]


def test_a_file_listed_twice_is_found(tmp_path: Path) -> None:
    files = write_lake(tmp_path, BATCHES)
    write_list(tmp_path, "3", files[:1])
    assert check_lake(EXPECTED, tmp_path).duplicated == 10


def test_a_changed_position_is_found(tmp_path: Path) -> None:
    changed = REPORTS[0]._replace(latitude=1.0)
    write_lake(tmp_path, [[changed], REPORTS[1:]])
    comparison = check_lake(EXPECTED, tmp_path)
    assert (comparison.lost, comparison.duplicated, comparison.changed) == (0, 0, 1)


def test_a_lake_that_is_not_there_has_lost_everything(tmp_path: Path) -> None:
    assert check_lake(EXPECTED, tmp_path / "none").lost == len(REPORTS)
