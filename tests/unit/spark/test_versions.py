"""Which Spark, and what its discovery imports."""

import subprocess
import sys

import pytest

from ottla.spark.errors import SourceError
from ottla.spark.versions import check_spark


@pytest.mark.parametrize("version", ["4.2.0", "4.3.0", "4.10.1", "5.0.0.dev1", "unknown"])
def test_spark_4_2_and_newer_are_taken(version: str) -> None:
    check_spark(version)


@pytest.mark.parametrize("version", ["3.5.7", "4.0.0", "4.1.1"])
def test_an_older_spark_is_refused_by_name(version: str) -> None:
    with pytest.raises(SourceError, match=f"this is Spark {version}"):
        check_spark(version)


def run(code: str) -> str:
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return finished.stdout.strip()


def test_what_spark_imports_at_every_start_is_light() -> None:
    code = "import sys, pyspark_ottla; print(any(n.startswith('ottla.') for n in sys.modules))"
    assert run(code) == "False"


def test_a_python_without_spark_can_import_it() -> None:
    hidden = "import sys; sys.modules['pyspark'] = None"
    code = f"{hidden}; import pyspark_ottla; print(pyspark_ottla.DefaultSource.name())"
    assert run(code) == "ottla"


def test_the_test_plugin_does_not_import_spark() -> None:
    code = "import sys, ottla.testing.plugin; print('pyspark' in sys.modules)"
    assert run(code) == "False"
