"""The layout of the audit's page: a row for each topic and tier, a square for each ten minutes.

The script fills elements with `textContent` only, so that data is never taken for markup.
"""

TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Completeness audit</title>
<style>
:root { color-scheme: light dark; --line: #8884; font: 14px/1.4 system-ui, sans-serif; }
body { margin: 1.5rem auto; max-width: 76rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.05rem; margin: 1.6rem 0 .3rem; }
.facts { display: flex; gap: 1.5rem; flex-wrap: wrap; margin-bottom: .4rem; }
.facts b { font-variant-numeric: tabular-nums; }
.strip { display: flex; flex-wrap: wrap; gap: 2px; }
.strip button { width: 11px; height: 22px; border: 0; padding: 0; border-radius: 2px;
  cursor: pointer; }
.strip button[aria-pressed=true] { outline: 2px solid; outline-offset: 1px; }
svg { width: 100%; height: 60px; border-bottom: 1px solid var(--line); }
table { border-collapse: collapse; margin-top: .5rem; }
th, td { text-align: left; padding: .15rem .8rem .15rem 0; border-bottom: 1px solid var(--line); }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
.legend span { display: inline-block; width: .8rem; height: .8rem; border-radius: 2px;
  margin: 0 .3rem 0 1rem; vertical-align: -1px; }
.complete { background: #2e9e5b; } .open { background: #9aa5b1; } .missing { background: #d6303a; }
.doubled { background: #e07b1f; } .lost-and-doubled { background: #a3254f; }
.changed { background: #8e44ad; } .late { background: #d9b310; } .forged { background: #000; }
.not-audited { background: repeating-linear-gradient(45deg, #bbb 0 3px, #777 3px 6px); }
</style>
</head>
<body>
<h1>Completeness audit</h1>
<p id="made"></p>
<p class="legend" id="legend"></p>
<main id="books"></main>
<script type="application/json" id="data">@DATA@</script>
<script>
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const states = ["complete", "open", "missing", "doubled", "lost-and-doubled", "changed", "late",
  "not-audited", "forged"];
const time = at => at === null ? "undated" :
  new Date(at).toISOString().replace(".000", "").replace("T", " ");
const span = ms => ms === null ? "never" : ms < 60000 ? Math.round(ms / 1000) + " s" :
  ms < 5400000 ? Math.round(ms / 60000) + " min" : (ms / 3600000).toFixed(1) + " h";
const make = (name, text, cls) => {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (cls) element.className = cls;
  return element;
};
const add = (parent, ...children) => { parent.append(...children); return parent; };

document.getElementById("made").textContent = "Made at " + time(data.now) + ". A square is ten " +
  "minutes of record time; click one for its partitions.";
for (const state of states) {
  add(document.getElementById("legend"), make("span", "", state), state);
}

function line(book) {
  const ns = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(ns, "svg");
  const dated = book.buckets.filter(each => each.at !== null);
  if (dated.length < 2) return svg;
  svg.setAttribute("viewBox", "0 0 1000 60");
  svg.setAttribute("preserveAspectRatio", "none");
  const first = dated[0].at, last = dated[dated.length - 1].at || 1;
  const x = at => 1000 * (at - first) / Math.max(1, last - first);
  const draw = (points, color, text) => {
    const path = document.createElementNS(ns, "polyline");
    path.setAttribute("points", points.map(p => p.join(",")).join(" "));
    path.setAttribute("fill", "none");
    path.setAttribute("stroke", color);
    path.setAttribute("stroke-width", "1.5");
    path.setAttribute("vector-effect", "non-scaling-stroke");
    const title = document.createElementNS(ns, "title");
    title.textContent = text;
    svg.append(add(path, title));
  };
  const shares = dated.filter(each => each.share !== null);
  draw(shares.map(each => [x(each.at), 58 - 52 * each.share]), "#2e9e5b", "share of records");
  const delays = dated.filter(each => each.delay !== null);
  const most = Math.max(1, ...delays.map(each => each.delay));
  draw(delays.map(each => [x(each.at), 58 - 52 * each.delay / most]), "#3572b0",
    "delay, at most " + span(most));
  return svg;
}

function details(bucket) {
  const table = make("table");
  const head = make("tr");
  for (const name of ["partition", "state", "expected", "found", "late", ""]) {
    head.append(make("th", name));
  }
  table.append(head);
  for (const row of bucket.partitions) {
    const line = make("tr");
    row.forEach((value, n) => line.append(make("td", value === null ? "not known" : String(value),
      [0, 2, 3, 4].includes(n) ? "n" : "")));
    table.append(line);
  }
  return table;
}

for (const book of data.books) {
  const section = make("section");
  const how = book.verified ? "" : " (not verified)";
  add(section, make("h2", book.topic + " in " + book.tier + how));
  const facts = make("div", undefined, "facts");
  const until = book.until === null ? "never" : time(book.until);
  for (const [name, value] of [["complete", book.percent], ["complete until", until],
      ["lag", span(book.lag)]]) {
    facts.append(add(make("span", name + " "), make("b", value)));
  }
  const strip = make("div", undefined, "strip");
  const place = make("div");
  for (const bucket of book.buckets) {
    const square = make("button", "", bucket.state);
    const share = bucket.share === null ? "" : ", " + Math.floor(bucket.share * 1e5) / 1e3 + " %";
    const delay = bucket.delay === null ? "" : ", delay " + span(bucket.delay);
    square.title = time(bucket.at) + ": " + bucket.state + share + delay;
    square.setAttribute("aria-label", square.title);
    square.addEventListener("click", () => {
      const shown = square.getAttribute("aria-pressed") === "true";
      for (const other of strip.children) other.setAttribute("aria-pressed", "false");
      square.setAttribute("aria-pressed", String(!shown));
      place.replaceChildren(...(shown ? [] : [make("p", square.title), details(bucket)]));
    });
    strip.append(square);
  }
  add(section, facts, line(book), strip, place);
  document.getElementById("books").append(section);
}
</script>
</body>
</html>
"""
