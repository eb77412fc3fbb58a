"""The computations of the Spark application: functions of DataFrames, and one SQL query."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everyone writes it

from demo.scenario import DRIVING_MS_MAX, MINUTE_MS, SLIDE_MS, WINDOW_MS

REPORT = (
    "truck string, sequence bigint, event_time_ms bigint, latitude double, longitude double, "
    "speed_kmh int, driven_ms bigint"
)

# `window` divides fleet time into five hours starting at each full hour.
DRIVES_TOO_LONG = f"""
    SELECT truck, window.start AS window_start, window.end AS window_end,
           CAST(sum(driven_ms) DIV {MINUTE_MS} AS INT) AS driven_minutes
    FROM {{reports}}
    GROUP BY truck,
             window(event_time, '{WINDOW_MS} milliseconds', '{SLIDE_MS} milliseconds')
    HAVING sum(driven_ms) > {DRIVING_MS_MAX}
"""


def parsed_reports(records: DataFrame) -> DataFrame:
    """The reports in a topic's values, with their topic position."""
    report = F.from_json(F.col("value").cast("string"), REPORT, {"mode": "FAILFAST"})
    return records.select(report.alias("report"), "partition", "offset").select(
        "report.*",
        F.timestamp_millis("report.event_time_ms").alias("event_time"),
        "partition",
        "offset",
    )


def latest_per_truck(reports: DataFrame) -> DataFrame:
    """The report with the highest sequence of each truck, as a record of a compacted topic."""
    whole = F.struct(*[part.split()[0] for part in REPORT.split(", ")])
    newest = reports.groupBy("truck").agg(F.max_by(whole, "sequence").alias("report"))
    return newest.select(F.col("truck").alias("key"), F.to_json("report").alias("value"))


def driving_too_long(reports: DataFrame, watermark_ms: int) -> DataFrame:
    """A record for each window in which a truck was driven for too long, when the window is
    closed."""
    marked = reports.withWatermark("event_time", f"{watermark_ms} milliseconds")
    alerts = reports.sparkSession.sql(DRIVES_TOO_LONG, reports=marked)
    return alerts.select(
        F.col("truck").alias("key"), F.to_json(F.struct(*alerts.columns)).alias("value")
    )
