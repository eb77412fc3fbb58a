"""The page: one file, well formed, with everything that must be seen."""

import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from demo.books import Account
from demo.charts import nice_step
from demo.page import draw_page, rates
from demo.recording import Kill, Recording, Sample, load, save
from demo.scenario import Scenario


def recording(**changes: object) -> Recording:
    done = [{"lake": at * 900, "latest": at * 950, "alerts": at * 800} for at in range(41)]
    plain = Recording(
        Scenario(rate=1000, seconds=40),
        samples=[Sample(at / 1.0, at * 1000, at * 990, done[at]) for at in range(41)],
        kills=[Kill("driver", 12.0, 9.0, {"lake": 11.0}), Kill("broker", 30.0, 0.5, {"lake": 2.0})],
        batches={"lake": [3.0, 5.0], "latest": [2.0], "alerts": []},
        spans={"broker": [(0.1, 30.0), (30.5, 60.0)], "generator": [(1.0, 40.0)]},
        accounts=[Account("events in the lake", expected=40_200, found=40_200)],
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
    assert not {name for name, _ in tags.attributes} & {"src", "href"}
    assert "{{" not in page
    assert "url(" not in page
    assert "@import" not in page


def test_the_drawings_are_well_formed_and_stay_inside() -> None:
    drawings = re.findall(r"<svg.*?</svg>", draw_page(recording()), re.DOTALL)
    assert len(drawings) == 3
    for drawing in drawings:
        root = ElementTree.fromstring(drawing)
        width, height = map(float, root.attrib["viewBox"].split()[2:])
        for element in root.iter():
            assert 0 <= float(element.attrib.get("x", 0)) <= width
            assert 0 <= float(element.attrib.get("y", 0)) <= height


def test_both_kills_and_the_books_are_shown() -> None:
    page = draw_page(recording())
    assert "driver killed, back in 11.0 s" in page
    assert "broker killed, back in 2.0 s" in page
    assert "The books balance" in page
    assert "40,200" in page


def test_what_is_missing_is_named() -> None:
    account = Account("events in the lake", lost=3, notes=["missing file: <part>"])
    page = draw_page(recording(accounts=[account], sabotage="removed lake/part"))
    assert "do not balance" in page
    assert "missing file: &lt;part&gt;" in page
    assert "Sabotage: removed lake/part" in page


def test_a_query_that_was_started_again_is_not_kept_quiet() -> None:
    page = draw_page(recording(failures=["lake: no worker"]))
    assert "Started again after a failure: lake: no worker." in page


def test_books_that_were_never_made_do_not_balance() -> None:
    assert "do not balance" in draw_page(recording(accounts=[]))


def test_a_story_that_ended_at_once_still_has_a_page() -> None:
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


def test_a_recording_comes_back_as_it_was(tmp_path: Path) -> None:
    save(recording(), tmp_path / "recording.json")
    assert load(tmp_path / "recording.json") == recording()
