"""Reasons in one line, for tables and reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from ottla.pipelines.errors import PipelineError, reason_of


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("one line", "one line"),
        ("\n[PARSE_SYNTAX_ERROR] Syntax error at or near 'SELEC'.\n\n== SQL ==", None),
        ("", "PipelineError"),
        ("\n \n", "PipelineError"),
    ],
)
def test_the_first_line_with_words_counts(text: str, reason: str | None) -> None:
    expected = reason or "[PARSE_SYNTAX_ERROR] Syntax error at or near 'SELEC'."
    assert reason_of(PipelineError(text)) == expected


def test_errors_of_the_operating_system_name_the_file_first(tmp_path: Path) -> None:
    with pytest.raises(OSError) as caught:
        (tmp_path / "none").read_text()
    assert reason_of(caught.value) == f"{tmp_path / 'none'}: No such file or directory"
    assert reason_of(OSError("without a file")) == "without a file"
