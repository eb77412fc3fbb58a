"""The lake is what its folders of hours hold: no more, no less."""

from pathlib import Path

import pytest
from demo.checker import check_lake
from demo.comparison import Comparison
from demo.lake import read_lake
from demo.places import Difference, Place
from demo.reports import reports_of
from demo.sabotage import sabotage
from demo.scenario import Scenario
from tests.unit.demo.lake_files import one_partition, write_file, write_lake

REPORTS = list(reports_of(Scenario(trucks=1, rate=90, seconds=1), "truck-000"))
EXPECTED = {report[:2]: report for report in REPORTS}
PLACES = one_partition(REPORTS)
BATCHES = [REPORTS[:10], REPORTS[10:50], REPORTS[50:]]


def check(lake: Path) -> Comparison:
    return check_lake(EXPECTED, PLACES, lake)


def test_every_report_comes_back_as_it_was(tmp_path: Path) -> None:
    write_lake(tmp_path, BATCHES, PLACES)
    assert [report for report, _ in read_lake(tmp_path).reports()] == REPORTS
    assert check(tmp_path).is_matching


def test_staged_files_are_no_part_of_it(tmp_path: Path) -> None:
    write_lake(tmp_path, BATCHES, PLACES)
    write_file(tmp_path / "_ottla" / "staging" / "part-3.parquet", REPORTS[:5], PLACES)
    assert check(tmp_path).is_matching


def test_a_removed_file_is_named_by_bucket_partition_and_offsets(tmp_path: Path) -> None:
    """The truck reports every eight minutes: the offsets 10 and 11 are of two buckets."""
    write_lake(tmp_path, BATCHES, PLACES)[1].unlink()
    comparison = check(tmp_path)
    assert comparison.lost == 40
    offsets = [
        offset
        for each in comparison.differences
        for first, last in each.lost
        for offset in range(first, last + 1)
    ]
    assert sorted(offsets) == list(range(10, 50))
    first = comparison.differences[0]
    assert (first.partition, first.lost[0][0]) == (0, 10)
    assert comparison.notes[0] == str(first)
    assert "lost: truck-000 sequences 10-49" in comparison.notes


def test_a_broken_file_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    files = write_lake(tmp_path, BATCHES, PLACES)
    files[0].write_bytes(b"PAR1")
    comparison = check(tmp_path)
    assert comparison.lost == 10
    assert comparison.notes[0].startswith("broken file: hour=2026-03-02-04/part-0.parquet")


def test_a_batch_written_twice_is_found(tmp_path: Path) -> None:
    write_lake(tmp_path, [*BATCHES, BATCHES[1]], PLACES)
    comparison = check(tmp_path)
    assert (comparison.lost, comparison.duplicated) == (0, 40)
    assert comparison.differences[0].duplicated[0][0] == 10
    assert "duplicated: truck-000 sequences 10-49" in comparison.notes


def test_a_changed_position_is_found(tmp_path: Path) -> None:
    changed = REPORTS[0]._replace(latitude=1.0)
    write_lake(tmp_path, [[changed], REPORTS[1:]], PLACES)
    comparison = check(tmp_path)
    assert (comparison.lost, comparison.duplicated, comparison.changed) == (0, 0, 1)


def test_a_row_that_names_another_position_is_found(tmp_path: Path) -> None:
    key = REPORTS[0][:2]
    wrong = {**PLACES, key: Place(0, 77, REPORTS[0].event_time_ms)}
    write_lake(tmp_path, BATCHES, wrong)
    assert check(tmp_path).notes == ["1 rows name another position in the topic"]


def test_a_lake_that_is_not_there_has_lost_everything(tmp_path: Path) -> None:
    assert check(tmp_path / "none").lost == len(REPORTS)


@pytest.mark.parametrize(
    ("kind", "lost", "duplicated"),
    [("lake", 41, 0), ("twice", 0, 41), ("lost-and-doubled", 1, 1)],
)
def test_sabotage_of_every_kind_is_found(
    tmp_path: Path, kind: str, lost: int, duplicated: int
) -> None:
    write_lake(tmp_path, BATCHES, PLACES)
    assert "part-2.parquet" in sabotage(kind, tmp_path)
    comparison = check(tmp_path)
    assert (comparison.lost, comparison.duplicated) == (lost, duplicated)
    assert comparison.found == len(REPORTS) - lost + duplicated
    if kind == "lost-and-doubled":
        (difference,) = comparison.differences
        (lost_at, _), (doubled_at, _) = difference.lost[0], difference.duplicated[0]
        assert isinstance(difference, Difference)
        assert doubled_at == lost_at + 1
