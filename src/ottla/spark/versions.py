"""Which Spark can run this source: 4.2 and newer.

Older versions support neither limits per trigger nor AvailableNow for Python sources: a stream
would read too much at once, or never stop.
"""

from __future__ import annotations

import re

from ottla.spark.errors import SourceError

LEAST = (4, 2)


def check_spark(version: str | None = None) -> None:
    """SourceError names the version that is too old."""
    if version is None:
        import pyspark

        version = pyspark.__version__
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if numbers is not None and (int(numbers[1]), int(numbers[2])) < LEAST:
        raise SourceError(
            f"The format ottla needs Spark 4.2 or newer, this is Spark {version}: "
            "pip install 'pyspark>=4.2'."
        )
