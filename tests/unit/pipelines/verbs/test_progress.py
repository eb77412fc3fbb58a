"""What a verb says while it runs."""

from __future__ import annotations

import threading

import pyarrow as pa

from ottla.pipelines.verbs.progress import Progress


def test_the_line_has_what_is_done_and_how_far_it_is() -> None:
    now_s = [100.0]
    progress = Progress(clock=lambda: now_s[0])
    progress.begin("reading the table")
    now_s[0] += 7
    assert progress.text() == "reading the table, 7 s"
    progress.begin("reading offsets", 12_000)
    batches = [pa.record_batch({"n": list(range(1000))})] * 3
    assert list(progress.counting(batches)) == batches
    assert progress.text() == "reading offsets: 3,000 of 12,000, 0 s"


def test_lines_come_until_the_verb_ends() -> None:
    lines: list[str] = []
    three = threading.Event()

    def report(text: str) -> None:
        lines.append(text)
        if len(lines) == 3:
            three.set()

    with Progress(report, every_s=0.001) as progress:
        progress.begin("committing")
        assert three.wait(60)
    assert lines[-1].startswith("committing, ")
    assert not progress._thread.is_alive()


def test_a_verb_that_is_quick_says_nothing() -> None:
    lines: list[str] = []
    with Progress(lines.append) as progress:
        progress.begin("committing")
    assert lines == []
