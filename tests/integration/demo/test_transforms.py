"""What the Spark application works out, over whole tables, compared with the oracle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from demo.expected import expected_alerts, expected_latest, expected_reports
from demo.reports import decode, encode
from demo.scenario import Scenario
from demo.topics import decode_alert

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.xdist_group("spark")

SCENARIO = Scenario(trucks=20, rate=200, seconds=10)
BY_TRUCK = expected_reports(SCENARIO)


@pytest.fixture(scope="module")
def reports(spark: SparkSession) -> DataFrame:
    from demo.transforms import parsed_reports

    spark.conf.set("spark.sql.session.timeZone", "UTC")
    rows = [
        (bytearray(encode(report)), number, report.sequence)
        for number, its in enumerate(BY_TRUCK.values())
        for report in its
    ]
    records = spark.createDataFrame(rows, "value binary, partition int, offset bigint")
    return parsed_reports(records).cache()


def test_reports_are_parsed_with_their_position(reports: DataFrame) -> None:
    first = reports.where("truck = 'truck-003' and sequence = 5").first()
    assert first is not None
    expected = BY_TRUCK["truck-003"][5]
    assert (first["latitude"], first["event_time_ms"]) == (expected.latitude, expected[2])
    assert first["event_time"].timestamp() * 1000 == pytest.approx(expected.event_time_ms)
    assert (first["partition"], first["offset"]) == (3, 5)


def test_the_latest_report_of_each_truck_is_its_last(reports: DataFrame) -> None:
    from demo.transforms import latest_per_truck

    rows = latest_per_truck(reports).collect()
    assert {row["key"]: decode(row["value"]) for row in rows} == expected_latest(BY_TRUCK)


def test_alerts_are_the_expected_ones(reports: DataFrame) -> None:
    from demo.transforms import driving_too_long

    rows = driving_too_long(reports, SCENARIO.watermark_ms).collect()
    alerts = [decode_alert(row["value"]) for row in rows]
    assert len(alerts) == len(set(alerts))
    assert set(alerts) == expected_alerts(SCENARIO, BY_TRUCK)
    assert alerts
    assert {row["key"] for row in rows} == {alert.truck for alert in alerts}


def test_a_value_that_is_no_report_stops_the_query(spark: SparkSession) -> None:
    from demo.transforms import parsed_reports

    rows = [(bytearray(b"{"), 0, 0)]
    records = spark.createDataFrame(rows, "value binary, partition int, offset bigint")
    with pytest.raises(Exception, match="MALFORMED_RECORD"):
        parsed_reports(records).collect()
