// Hovering over a drawing shows the values at that time. The page is complete without it.
const LEFT = 64, WIDTH = 920, RIGHT = 12;
for (const figure of document.querySelectorAll("figure.lines")) {
  const plot = figure.querySelector(".plot"), svg = plot.querySelector("svg");
  const { end, times, lines } = JSON.parse(figure.querySelector("script").textContent);
  const cross = document.createElementNS(svg.namespaceURI, "line");
  const tip = document.createElement("div");
  cross.setAttribute("class", "cross");
  tip.className = "tip";
  tip.hidden = true;
  plot.append(tip);
  plot.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect(), zoom = box.width / WIDTH;
    const at = ((event.clientX - box.left) / zoom - LEFT) / (WIDTH - LEFT - RIGHT) * end;
    if (at < 0 || at > end) return leave();
    let index = times.findIndex((time) => time >= at);
    if (index < 0) index = times.length - 1;
    if (index > 0 && at - times[index - 1] < times[index] - at) index -= 1;
    const x = LEFT + (WIDTH - LEFT - RIGHT) * times[index] / end;
    for (const [name, value] of [["x1", x], ["x2", x], ["y1", 40], ["y2", 214]])
      cross.setAttribute(name, value);
    svg.append(cross);
    tip.hidden = false;
    tip.replaceChildren(...[`${times[index].toFixed(1)} s`].concat(
      lines.map(([name, values]) => `${name}: ${values[index].toLocaleString("en")}`)
    ).map((text) => Object.assign(document.createElement("div"), { textContent: text })));
    const isRight = x * zoom > box.width / 2;
    tip.style.left = isRight ? "" : `${x * zoom + 12}px`;
    tip.style.right = isRight ? `${box.width - x * zoom + 12}px` : "";
  });
  const leave = () => { tip.hidden = true; cross.remove(); };
  plot.addEventListener("pointerleave", leave);
}
