"""The HTML report: one well-formed file with all results."""

import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from demo.charts import nice_step, place_labels
from demo.comparison import Comparison
from demo.page import draw_page, rates
from demo.recording import AuditResult, Kill, Recording, ReplicaSample, Sample, load, save
from demo.scenario import Scenario

COMPLETE = AuditResult(True, 288, 40_200, 0, "", None, [])


def recording(**changes: object) -> Recording:
    done = [{"lake": at * 900, "latest": at * 950, "alerts": at * 800} for at in range(41)]
    plain = Recording(
        Scenario(rate=1000, seconds=40),
        samples=[Sample(at / 1.0, at * 1000, at * 990, done[at]) for at in range(41)],
        kills=[Kill("driver", 12.0, 9.0, {"lake": 11.0}), Kill("broker", 30.0, 0.5, {"lake": 2.0})],
        batches={"lake": [3.0, 5.0], "latest": [2.0], "alerts": []},
        spans={"broker": [(0.1, 30.0), (30.5, 60.0)], "generator": [(1.0, 40.0)]},
        comparisons=[Comparison("events in the lake", expected=40_200, found=40_200)],
        audit=COMPLETE,
    )
    for name, value in changes.items():
        setattr(plain, name, value)
    return plain


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_startendtag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_loads_nothing() -> None:
    page = draw_page(recording())
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    links = [(name, value) for name, value in tags.attributes if name in ("src", "href")]
    assert links == [("href", "audit.html")]
    assert "{{" not in page
    assert "url(" not in page
    assert "@import" not in page


def test_charts_are_well_formed_and_within_their_view_box() -> None:
    charts = re.findall(r"<svg.*?</svg>", draw_page(recording()), re.DOTALL)
    assert len(charts) == 3
    for chart in charts:
        root = ElementTree.fromstring(chart)
        width, height = map(float, root.attrib["viewBox"].split()[2:])
        for element in root.iter():
            assert 0 <= float(element.attrib.get("x", 0)) <= width
            assert 0 <= float(element.attrib.get("y", 0)) <= height


def test_all_charts_end_at_the_same_time() -> None:
    """Replicas are sampled by another thread, for some seconds longer."""
    replicas = [
        ReplicaSample(at / 1.0, leaders={0: 1}, in_sync={0: [1, 2]}, high_watermarks={0: at})
        for at in range(60)
    ]
    charts = re.findall(r"<svg.*?</svg>", draw_page(recording(replicas=replicas)), re.DOTALL)
    marks = {re.search(r'class="kill" x1="([^"]+)"', chart)[1] for chart in charts}  # type: ignore[index]
    assert (len(charts), len(marks)) == (5, 1)


@pytest.mark.parametrize("second", [400.0, 410.0, 500.0, 880.0, 905.0])
def test_labels_of_kills_do_not_overlap(second: float) -> None:
    first, later = place_labels(
        [(400.0, "driver killed, back in 21.1 s"), (second, "broker killed, back in 4.7 s")]
    )
    is_beside = first.end < later.start or later.end < first.start
    assert is_beside or first.row != later.row
    assert max(first.end, later.end) <= 920


def test_both_kills_and_the_comparison_are_shown() -> None:
    page = draw_page(recording())
    assert "driver killed, back in 11.0 s" in page
    assert "broker killed, back in 2.0 s" in page
    assert "Everything matches" in page
    assert "40,200" in page


def test_differences_are_described() -> None:
    comparison = Comparison("events in the lake", lost=3, notes=["missing file: <part>"])
    page = draw_page(recording(comparisons=[comparison], sabotage="removed lake/part"))
    assert "There are differences" in page
    assert "missing file: &lt;part&gt;" in page
    assert "Sabotage: removed lake/part" in page


def test_a_restarted_query_is_reported() -> None:
    page = draw_page(recording(failures=["lake: no worker"]))
    assert "Restarted after a failure: lake: no worker." in page
    page = draw_page(recording(failures=["lake: no worker.", "latest: it ended."]))
    assert "Restarted after a failure: lake: no worker.; latest: it ended.</p>" in page


def test_without_a_comparison_there_are_differences() -> None:
    assert "There are differences" in draw_page(recording(comparisons=[]))


def test_a_run_without_samples_has_a_page() -> None:
    assert "<svg" in draw_page(Recording(Scenario()))


def test_light_and_dark_define_the_same_colours() -> None:
    style = draw_page(recording())
    light, dark = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    names = set(re.findall(r"--[a-z0-9-]+(?=:)", light))
    assert names == set(re.findall(r"--[a-z0-9-]+(?=:)", dark))


def test_rates_are_means_over_the_last_seconds() -> None:
    samples = [Sample(at / 2, at * 100, 0, {}) for at in range(20)]
    found = rates(samples, lambda sample: sample.sent)
    assert found[0] == 0
    assert found[1:] == [200.0] * 19


@pytest.mark.parametrize(
    ("rough", "step"), [(0, 1), (0.7, 1), (11, 20), (2600, 5000), (1000, 1000)]
)
def test_steps_of_axes_are_round_numbers(rough: float, step: float) -> None:
    assert nice_step(rough) == step


def test_a_recording_survives_saving_and_loading(tmp_path: Path) -> None:
    save(recording(), tmp_path / "recording.json")
    assert load(tmp_path / "recording.json") == recording()
