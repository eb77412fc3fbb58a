"""The plot of throughput and latency, from the tables that benchmarks print."""

from __future__ import annotations

from itertools import pairwise

import pytest
from benchmarks.report import OURS, THEIRS, Report
from tools.reference.benchmark_plot import PAGE, PANELS, benchmark_plot, has_figures


def tables(*brokers: str) -> str:
    """As a run of `throughput` and `latency` prints them."""
    texts = []
    for panel in PANELS:
        report = Report(panel.table, False, "thousand records/s", 0)
        for number, bar in enumerate(panel.bars):
            for broker in brokers:
                report.add(bar.row, broker, 1000.0 + number + 100 * (broker == OURS))
        texts.append(report.text())
    return "\n".join(texts)


def test_a_run_with_both_brokers_is_drawn() -> None:
    text = tables(OURS, THEIRS)
    assert has_figures(text)
    plot = benchmark_plot(text)
    assert plot.count("<rect") == 2 * sum(len(panel.bars) for panel in PANELS) + 2
    assert ">1,100<" in plot
    assert ">1,000<" in plot


@pytest.mark.parametrize("text", ["", tables(OURS), tables(OURS, THEIRS).replace("alone", "so")])
def test_a_run_without_all_figures_is_not_drawn(text: str) -> None:
    assert not has_figures(text)


def test_the_page_has_all_figures_of_the_plot() -> None:
    assert has_figures(PAGE.read_text())


def test_labels_and_figures_do_not_cover_each_other() -> None:
    """All texts on one line are apart, at seven units for each character."""
    spans: dict[str, list[tuple[float, float]]] = {}
    for line in benchmark_plot().splitlines():
        if line.startswith("<text"):
            x, y = (float(line.split(f'{name}="')[1].split('"')[0]) for name in "xy")
            text = line.split(">")[1].split("<")[0]
            spans.setdefault(str(y), []).append((x, x + 7 * len(text)))
    for found in spans.values():
        found.sort()
        assert all(before[1] <= after[0] for before, after in pairwise(found))
