"use strict";
// Views of data that a page holds: nothing is computed here but where things are drawn.
// `levels`: behaviour over the attitude to risk, with a slider. `replay`: one episode, step by step.
(() => {
  const NS = "http://www.w3.org/2000/svg";
  const element = (name, attributes = {}, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };
  const shape = (name, attributes = {}, text) => {
    const node = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const brief = (value) => {
    if (value === null || !Number.isFinite(value)) return "–";
    const size = Math.abs(value);
    const text = size !== 0 && (size < 1e-3 || size >= 1e6) ? value.toExponential(2) : String(+value.toPrecision(4));
    return text.replace("-", "\u2212");
  };
  const niceStep = (rough) => {
    const power = 10 ** Math.floor(Math.log10(rough));
    return power * ([1, 2, 5, 10].find((step) => rough / power <= step) ?? 10);
  };
  const ticks = ([low, high], count) => {
    if (!(high > low)) return [low];
    const step = niceStep((high - low) / count);
    const first = Math.ceil(low / step - 1e-9);
    return Array.from({ length: Math.max(0, Math.floor(high / step + 1e-9) - first + 1) }, (_, i) => (first + i) * step);
  };

  /** A distribution of costs over axes that stay the same for all levels. */
  const distribution = (entry, { range, top, bin, unit }) => {
    const [width, height, left, bottom, up] = [360, 210, 44, 172, 30];
    const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "plot" });
    const [low, high] = range;
    const x = (value) => left + (high > low ? (value - low) / (high - low) : 0.5) * (width - left - 12);
    const y = (share) => bottom - (share / top) * (bottom - up);
    const said = entry.costs.length > 12 ? `${entry.costs.length} different costs` : entry.costs.map(([cost, share]) => `${brief(cost)}: ${brief(share)}`).join("; ");
    svg.setAttribute("aria-label", `Distribution of the cost. Mean ${brief(entry.mean)}, risk ${brief(entry.risk)}. ${said}`);
    for (const tick of ticks([0, top], 4)) {
      svg.append(shape("line", { x1: left, x2: width - 12, y1: y(tick), y2: y(tick), class: "grid" }));
      svg.append(shape("text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end", class: "tick" }, brief(tick)));
    }
    for (const tick of ticks(range, 5)) {
      svg.append(shape("text", { x: x(tick), y: bottom + 15, "text-anchor": "middle", class: "tick" }, brief(tick)));
    }
    svg.append(shape("text", { x: (left + width) / 2, y: height - 6, "text-anchor": "middle", class: "label" }, unit));
    svg.append(shape("text", { x: 12, y: (up + bottom) / 2, "text-anchor": "middle", class: "label", transform: `rotate(-90 12 ${(up + bottom) / 2})` }, bin ? `share per ${brief(bin)}` : "probability"));
    for (const [cost, share] of entry.costs) {
      const mark = shape("g");
      mark.append(shape("title", {}, `${brief(cost)}: ${brief(share)}`));
      if (bin) {
        mark.append(shape("rect", { x: x(cost), width: Math.max(1, x(cost + bin) - x(cost)), y: y(share), height: bottom - y(share), class: "bar" }));
      } else {
        mark.append(shape("line", { x1: x(cost), x2: x(cost), y1: bottom, y2: y(share), class: "stem" }), shape("circle", { cx: x(cost), cy: y(share), r: 4, class: "dot" }));
      }
      svg.append(mark);
    }
    svg.append(shape("line", { x1: left, x2: width - 12, y1: bottom, y2: bottom, class: "axis" }));
    const places = [["mean", entry.mean, "mean"], ["risk", entry.risk, "risk"]].filter(([, value]) => value !== null && value >= low && value <= high);
    const close = places.length === 2 && Math.abs(x(places[0][1]) - x(places[1][1])) < 60;
    places.forEach(([name, value, style], index) => {
      svg.append(shape("line", { x1: x(value), x2: x(value), y1: up - 6, y2: bottom, class: style }));
      const side = close ? (places[index][1] <= places[1 - index][1] && !(index === 1 && places[0][1] === places[1][1]) ? "end" : "start") : "middle";
      const shift = { end: 3, start: -3, middle: 0 }[side];
      const at = Math.min(Math.max(x(value) + shift, side === "end" ? 40 : left), width - 14);
      svg.append(shape("text", { x: at, y: up - 11, "text-anchor": side, class: "label" }, `${name} ${brief(value)}`));
    });
    return svg;
  };

  /** Named numbers as bars from 0, over a range that stays the same. */
  const bars = (rows, [low, high]) => {
    const list = element("dl", { class: "bars" });
    const part = (value) => (high > low ? ((value - low) / (high - low)) * 100 : 0);
    for (const [name, value] of rows) {
      const [from, to] = [part(Math.min(0, value)), part(Math.max(0, value))];
      const bar = element("span", { class: "bar", style: `left:${from}%;width:${Math.max(to - from, 0.5)}%` });
      list.append(element("dt", {}, name), element("dd", {}, element("span", { class: "track", "aria-hidden": "true" }, bar), element("span", { class: "number" }, brief(value))));
    }
    return list;
  };

  /** Colours the states or cells of a picture by how often each is visited, on a square-root scale. */
  const paint = (scene, visits, most, palette) => {
    for (const place of scene.querySelectorAll("[data-place]")) {
      const share = most > 0 ? Math.sqrt((visits[+place.dataset.place] ?? 0) / most) : 0;
      place.querySelector(".visits")?.remove();
      const outline = place.querySelector("ellipse, rect");
      if (!outline || share === 0) continue;
      const copy = outline.cloneNode();
      copy.removeAttribute("fill");
      copy.setAttribute("class", "visits");
      copy.style.fill = palette[Math.round(share * (palette.length - 1))];
      copy.style.fillOpacity = outline.tagName === "rect" ? 0.85 : 0.55;
      outline.after(copy);
      copy.append(shape("title", {}, `${brief(visits[+place.dataset.place])} steps`));
    }
  };

  const panel = (title, content, note = "") => element("section", { class: "view" }, element("h3", {}, title), content, ...(note ? [element("p", { class: "note" }, note)] : []));

  const levels = (root, data, scene, palette) => {
    let [level, series] = [data.start, 0];
    const slider = element("input", { type: "range", min: 0, max: data.levels.length - 1, step: 1, value: level, "aria-label": data.name });
    const shown = element("output", { class: "level" });
    const marks = element("div", { class: "marks", "aria-hidden": "true" });
    for (const { before } of data.changes) {
      const place = data.levels.length > 1 ? ((before - 0.5) / (data.levels.length - 1)) * 100 : 0;
      marks.append(element("span", { style: `left:${place}%` }));
    }
    const control = element("div", { class: "control" }, element("label", {}, `${data.name} `, shown), element("div", { class: "slide" }, slider, marks));
    const picker = element("div", { class: "picker", role: "radiogroup", "aria-label": "Who plays" });
    if (data.series.length > 1) {
      data.series.forEach((name, index) => {
        const radio = element("input", { type: "radio", name: `who-${root.id}`, value: index });
        radio.checked = index === 0;
        radio.addEventListener("change", () => { series = index; draw(); });
        picker.append(element("label", {}, radio, ` ${name}`));
      });
      control.append(picker);
    }
    const change = element("p", { class: "change", "aria-live": "polite" });
    const views = element("div", { class: "grid" });
    root.replaceChildren(control, change, views);
    const entries = data.entries.flat().filter(Boolean);
    const features = entries.flatMap((entry) => entry.features.map(([, value]) => value));
    const range = [Math.min(0, ...features), Math.max(0, ...features)];
    const most = entries.reduce((most, entry) => entry.visits.reduce((a, b) => Math.max(a, b), most), 0);
    const visited = entries.flatMap((entry) => entry.visits);
    const draw = () => {
      const entry = data.entries[level][series];
      shown.textContent = data.levels[level];
      slider.setAttribute("aria-valuetext", data.levels[level]);
      const near = data.changes.find(({ before }) => before === level) ?? null;
      change.textContent = near ? near.text : "";
      if (!entry) {
        views.replaceChildren(element("p", { class: "note" }, "This was not played."));
        return;
      }
      const numbers = element("dl", { class: "numbers" });
      for (const [name, value] of entry.numbers) numbers.append(element("div", {}, element("dt", {}, name), element("dd", {}, value)));
      const all = [panel("Cost", distribution(entry, data), data.about), panel("In numbers", numbers, entry.first)];
      if (scene && visited.length) {
        paint(scene, entry.visits, most, palette);
        all.push(panel("Where the time is spent", scene, `Expected steps in each place: the brighter the more, at most ${brief(most)}; square-root scale, the same for all levels.`));
      } else if (entry.visits.length) {
        const rows = entry.visits.map((value, index) => [data.places[index], value]);
        all.push(panel("Where the time is spent", bars(rows, [0, most]), "Expected steps in each state."));
      }
      if (entry.features.length) all.push(panel("Features", bars(entry.features, range), "Expected totals, by name."));
      views.replaceChildren(...all);
    };
    slider.addEventListener("input", () => { level = +slider.value; draw(); });
    draw();
  };

  const replay = (root, data, scene) => {
    const last = data.steps.length - 1;
    let [step, timer] = [0, null];
    const button = (label, text, act) => {
      const node = element("button", { type: "button", "aria-label": label, title: label }, text);
      node.addEventListener("click", act);
      return node;
    };
    const slider = element("input", { type: "range", min: 0, max: last, step: 1, value: 0, "aria-label": "Step" });
    const speed = element("select", { "aria-label": "Speed" });
    for (const [rate, name] of [[1, "1 step/s"], [3, "3 steps/s"], [8, "8 steps/s"], [25, "25 steps/s"]]) speed.append(element("option", { value: rate }, name));
    speed.value = "3";
    const stop = () => { clearInterval(timer); timer = null; show(); };
    const go = (to) => { step = Math.min(Math.max(to, 0), last); show(); };
    const start = () => {
      if (step === last) step = 0;
      clearInterval(timer);
      timer = setInterval(() => { go(step + 1); if (step === last) stop(); }, 1000 / +speed.value);
      show();
    };
    const play = button("Play", "▶", () => (timer ? stop() : start()));
    const control = element("div", { class: "control" },
      element("div", { class: "buttons", role: "group", "aria-label": "Playback" },
        button("First step", "⏮", () => { stop(); go(0); }), button("Step back", "◀", () => { stop(); go(step - 1); }), play,
        button("Step forward", "▶▏", () => { stop(); go(step + 1); }), button("Last step", "⏭", () => { stop(); go(last); }), speed),
      element("div", { class: "slide" }, slider));
    const words = element("p", { class: "step" });
    const numbers = element("dl", { class: "numbers" });
    const picture = element("div", { class: "picture" });
    if (scene) picture.append(scene);
    const [low, high] = data.steps.reduce(([a, b], { cost }) => (cost === null ? [a, b] : [Math.min(a, cost), Math.max(b, cost)]), [0, 0]);
    const chart = shape("svg", { viewBox: "0 0 360 120", role: "img", "aria-label": "The objective of the steps so far", class: "plot" });
    const x = (at) => 40 + (last > 0 ? at / last : 0) * 308;
    const y = (cost) => 100 - (high > low ? (cost - low) / (high - low) : 0.5) * 84;
    for (const value of [low, high]) chart.append(shape("text", { x: 34, y: y(value) + 4, "text-anchor": "end", class: "tick" }, brief(value)), shape("line", { x1: 40, x2: 348, y1: y(value), y2: y(value), class: "grid" }));
    chart.append(shape("text", { x: 194, y: 116, "text-anchor": "middle", class: "tick" }, "time"));
    const known = data.steps.map(({ cost }, at) => (cost === null ? null : `${x(at)},${y(cost)}`)).filter(Boolean);
    chart.append(shape("polyline", { points: known.join(" "), class: "line" }));
    const now = shape("circle", { r: 5, class: "dot" });
    chart.append(now);
    const views = element("div", { class: "grid" }, ...(scene ? [panel("Where it is", picture)] : []), panel("This step", element("div", {}, words, numbers)), panel(data.measure, chart, data.note));
    root.replaceChildren(control, views);
    const places = new Map([...(scene?.querySelectorAll("[data-place]") ?? [])].map((node) => [+node.dataset.place, node]));
    const agent = shape("circle", { class: "agent" });
    const trail = shape("polyline", { class: "trail" });
    const centre = (place) => {
      const outline = places.get(place)?.querySelector("rect");
      if (!outline) return null;
      const at = (name) => +outline.getAttribute(name);
      return [at("x") + at("width") / 2, at("y") + at("height") / 2, at("width")];
    };
    const show = () => {
      const { place, name, action, cost, features } = data.steps[step];
      slider.value = step;
      slider.setAttribute("aria-valuetext", `step ${step} of ${last}: ${name}, ${action}`);
      play.textContent = timer ? "⏸" : "▶";
      play.setAttribute("aria-label", timer ? "Pause" : "Play");
      words.setAttribute("aria-live", timer ? "off" : "polite");
      words.textContent = step === last && data.over ? `t = ${step}: the episode is over in ${name}.` : `t = ${step}: in ${name}, the choice is ${action}.`;
      const rows = [[data.measure, brief(cost)], ...features.map((value, index) => [data.features[index], brief(value)]), ["final cost", data.cost]];
      numbers.replaceChildren(...rows.map(([title, value]) => element("div", {}, element("dt", {}, title), element("dd", {}, value))));
      for (const [at, node] of places) node.classList.toggle("here", at === place);
      const here = centre(place);
      if (here) {
        const [cx, cy, side] = here;
        for (const [key, value] of Object.entries({ cx, cy, r: side * 0.3 })) agent.setAttribute(key, value);
        const path = data.steps.slice(Math.max(0, step - 12), step + 1).map((past) => centre(past.place)).filter(Boolean);
        trail.setAttribute("points", path.map(([a, b]) => `${a},${b}`).join(" "));
        trail.setAttribute("stroke-width", side * 0.12);
        scene.append(trail, agent);
      } else {
        agent.remove();
        trail.remove();
      }
      now.setAttribute("cx", x(step));
      now.setAttribute("cy", cost === null ? 100 : y(cost));
    };
    slider.addEventListener("input", () => { clearInterval(timer); timer = null; go(+slider.value); });
    speed.addEventListener("change", () => { if (timer) start(); });
    root.addEventListener("keydown", (event) => {
      if (event.key === " " && event.target.tagName !== "BUTTON" && event.target.tagName !== "SELECT") {
        event.preventDefault();
        if (timer) stop(); else start();
      }
    });
    show();
  };

  document.addEventListener("DOMContentLoaded", () => {
    for (const root of document.querySelectorAll(".views")) {
      const data = JSON.parse(root.querySelector("script[type='application/json']").textContent);
      const scene = root.querySelector("svg");
      ({ levels, replay })[root.dataset.kind](root, data, scene, root.dataset.palette.split(" "));
    }
  });
})();
