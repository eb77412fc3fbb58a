"""What a checkpoint contains, and that one that cannot be read is no error."""

from __future__ import annotations

from pathlib import Path

import pytest

from ottla.spark.sink.checkpoint import offsets_digest


@pytest.mark.parametrize("scheme", ["", "file:", "file://"])
def test_the_digest_of_a_batch_changes_with_its_offsets_only(tmp_path: Path, scheme: str) -> None:
    (tmp_path / "offsets").mkdir()
    (tmp_path / "offsets" / "7").write_text("v1\n{}\n23")
    location = f"{scheme}{tmp_path}"
    first = offsets_digest(location, 7)
    assert first == offsets_digest(location, 7) != ""
    (tmp_path / "offsets" / "7").write_text("v1\n{}\n24")
    assert offsets_digest(location, 7) != first


@pytest.mark.parametrize("location", [None, "hdfs://lake/checkpoint", "/does/not/exist"])
def test_nothing_is_known_of_a_checkpoint_that_cannot_be_read(location: str | None) -> None:
    assert offsets_digest(location, 7) == ""
