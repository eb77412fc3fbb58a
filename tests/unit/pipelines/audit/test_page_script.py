"""The script of the audit's page, run by node with a document that has only what it needs."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.unit.pipelines.audit.test_verifying import TWO_BUCKETS, books

from ottla.pipelines.audit.page import page_html

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="needs node")

DOCUMENT = """
class Element {
  constructor(name) { this.name = name; this.children = []; this.attributes = {}; this.on = {}; }
  append(...more) { this.children.push(...more); }
  replaceChildren(...more) { this.children = more; }
  setAttribute(name, value) { this.attributes[name] = String(value); }
  getAttribute(name) { return this.attributes[name] ?? null; }
  addEventListener(name, act) { this.on[name] = act; }
  get text() {
    return (this.textContent ?? "") + this.children.map(c => c.text ?? String(c)).join("|");
  }
  all(name) {
    const below = this.children.flatMap(c => c.all ? c.all(name) : []);
    return this.name === name ? [this, ...below] : below;
  }
}
const known = {};
globalThis.document = {
  getElementById: id => known[id] ??= new Element(id),
  createElement: name => new Element(name),
  createElementNS: (_, name) => new Element(name),
};
document.getElementById("data").textContent = DATA;
"""
CLICKS = """
const shown = () => known.books.all("table").map(each => each.text);
const squares = known.books.all("button");
const result = { titles: known.books.all("h2").map(each => each.text),
  facts: known.books.all("b").map(each => each.text), lines: known.books.all("polyline").length,
  squares: squares.map(each => each.title), before: shown() };
squares[0].on.click();
result.clicked = shown();
squares[0].on.click();
result.again = shown();
console.log(JSON.stringify(result));
"""


def played(page: str, directory: Path) -> dict[str, Any]:
    """What the page shows, and after a click on its first square, and after another."""
    data = page.partition('id="data">')[2].partition("</script>")[0]
    script = page.rpartition("<script>")[2].partition("</script>")[0]
    file = directory / "page.js"
    file.write_text(DOCUMENT.replace("DATA", json.dumps(data)) + script + CLICKS)
    done = subprocess.run(["node", str(file)], check=True, capture_output=True, timeout=60)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_click_on_a_square_shows_its_partitions(tmp_path: Path) -> None:
    lost = [each for each in TWO_BUCKETS if each["offset"] != 7]
    (book,) = books(lost)
    found = played(page_html([book], book.now_ms), tmp_path)
    assert found["titles"] == [f"{book.topic} in lake"]
    assert found["facts"][0] == "99.000 %"
    assert found["lines"] == 2, "the share of records and the delay"
    assert [each.partition(": ")[2] for each in found["squares"]] == [
        "missing, 98.333 %", "complete, 100 %",
    ]  # fmt: skip
    assert (found["before"], found["again"]) == ([], [])
    (table,) = found["clicked"]
    assert "partition|state|expected|found|late" in table
    assert "0|missing|60|59|0" in table
