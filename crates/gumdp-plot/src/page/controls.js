// @ts-check
// Controls over the views of data that a report holds. They follow `web/views.js` in one script; nothing is computed here.
//
// levels  { problem: Drawn, name, levels: [label], series: [name], entries: [per level [per series Entry or null]], start: level,
//           behaviours: [Behaviour], changes: [{ before: level, text }], bargain: { mean, tail } or null, domain: [low, high], about }
// Entry   { behaviour: its number, value, measure, numbers: [[name, text]], first }
// replay  { problem: Drawn, steps: [{ state, action, cost, features: [number] }], features: [name], cost, measure, note }

/** More states than these are not drawn. */
const MOST_PLACES = 400;

/** @param {string} name @param {Record<string, string | number>} [attributes] @param {(Node | string)[]} children */
function html(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const key of Object.keys(attributes)) element.setAttribute(key, String(attributes[key]));
  element.append(...children);
  return element;
}

/** @param {[string, string][]} rows */
function numberList(rows) {
  return html("dl", { class: "numbers" }, ...rows.map(([name, value]) => html("div", {}, html("dt", {}, name), html("dd", {}, value))));
}

/** Named numbers as bars from 0, over a range that stays the same. @param {[string, number][]} rows @param {[number, number]} range */
function barList(rows, [low, high]) {
  const part = (/** @type {number} */ value) => (high > low ? ((value - low) / (high - low)) * 100 : 0);
  return html("dl", { class: "bars" }, ...rows.flatMap(([name, value]) => {
    const [from, to] = [part(Math.min(0, value)), part(Math.max(0, value))];
    const bar = html("span", { class: "bar", style: `left:${from}%;width:${Math.max(to - from, 0.5)}%` });
    const track = html("span", { class: "track", "aria-hidden": "true" }, bar);
    return [html("dt", {}, name), html("dd", {}, track, html("span", { class: "number" }, words(value)))];
  }));
}

/** A view as large as its text wants: a unit of it is a sixteenth of the size of letters. @param {SVGSVGElement} view */
function sized(view) {
  view.style.width = `${view.viewBox.baseVal.width / 16}rem`;
  return view;
}

/** @param {string} title @param {Node} content @param {string} [note] */
function panel(title, content, note = "") {
  if (content instanceof SVGSVGElement) sized(content);
  return html("section", { class: "view" }, html("h3", {}, title), content, ...(note ? [html("p", { class: "note" }, note)] : []));
}

/** The inks of the theme of the page. */
function themeInks() {
  const chosen = document.documentElement.dataset.theme;
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  return dark ? INKS.dark : INKS.light;
}

/** Calls when the page has another theme, or the element another width. @param {Element} element @param {() => void} draw */
function onChange(element, draw) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  new MutationObserver(draw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  let width = element.clientWidth;
  // In the next frame: what is drawn may change the size of what is observed.
  const resized = () => {
    if (element.clientWidth !== width) {
      width = element.clientWidth;
      draw();
    }
  };
  new ResizeObserver(() => requestAnimationFrame(resized)).observe(element);
}

/** The width of a view in this element, in sixteenths of the size of letters. @param {Element} element */
function viewWidth(element) {
  const columns = getComputedStyle(element).gridTemplateColumns.split(" ").map(parseFloat).filter((width) => width > 0);
  const letters = parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
  return Math.max(240, Math.min(560, ((columns[0] || element.clientWidth) * 16) / letters));
}

/** @param {HTMLElement} root @param {any} data */
function levelControls(root, data) {
  let [level, other, series] = [data.start, -1, 0];
  const last = data.levels.length - 1;
  const range = (/** @type {string} */ title, /** @type {number} */ value) => html("input", { type: "range", min: 0, max: last, step: 1, value, "aria-label": title });
  const slider = /** @type {HTMLInputElement} */ (range(data.name, level));
  const second = /** @type {HTMLInputElement} */ (range(`${data.name} to compare with`, last));
  const [shown, compared] = [html("output", { class: "level" }), html("output", { class: "level other" })];
  const marks = html("div", { class: "marks", "aria-hidden": "true" }, ...data.changes.map((/** @type {any} */ { before }) => html("span", { style: `left:${((before - 0.5) / Math.max(1, last)) * 100}%` })));
  const compare = /** @type {HTMLInputElement} */ (html("input", { type: "checkbox" }));
  const slide = html("div", { class: "slide" }, second);
  slide.classList.add("off");
  const control = html("div", { class: "control" }, html("p", { class: "title" }, `${data.name}: `, shown), html("div", { class: "slide" }, slider, marks));
  if (last > 0) control.append(html("p", { class: "title" }, html("label", {}, compare, " compare with "), compared), slide);
  if (data.series.length > 1) {
    const choices = data.series.map((/** @type {string} */ name, /** @type {number} */ index) => {
      const radio = /** @type {HTMLInputElement} */ (html("input", { type: "radio", name: `who-${root.id}`, value: index }));
      radio.checked = index === 0;
      radio.addEventListener("change", () => { series = index; draw(); });
      return html("label", {}, radio, ` ${name}`);
    });
    control.append(html("div", { class: "picker", role: "radiogroup", "aria-label": "Who plays" }, ...choices));
  }
  const change = html("p", { class: data.changes.length ? "change" : "off", "aria-live": "polite" });
  const views = html("div", { class: "grid" });
  root.replaceChildren(control, change, views);
  const all = data.entries.flat().filter(Boolean);
  for (const entry of all) entry.behaviour = data.behaviours[entry.behaviour];
  const most = Math.max(1e-12, ...all.map((/** @type {any} */ entry) => Math.max(...entry.behaviour.occupancy)));
  const values = all.flatMap((/** @type {any} */ entry) => entry.behaviour.features.map((/** @type {any} */ feature) => feature.value));
  const features = /** @type {[number, number]} */ ([Math.min(0, ...values), Math.max(0, ...values)]);
  const draw = () => {
    const [entry, beside] = [data.entries[level][series], other >= 0 ? data.entries[other][series] : null];
    const [inks, width] = [themeInks(), viewWidth(views)];
    shown.textContent = data.levels[level];
    compared.textContent = other >= 0 ? data.levels[other] : "another";
    slider.setAttribute("aria-valuetext", data.levels[level]);
    second.setAttribute("aria-valuetext", data.levels[Math.max(0, other)]);
    change.textContent = data.changes.find((/** @type {any} */ { before }) => before === level)?.text ?? "";
    if (!entry) {
      views.replaceChildren(html("p", { class: "note" }, "This was not played."));
      return;
    }
    const drawn = [{ entry, name: data.levels[level], which: /** @type {"a" | "b"} */ ("a") }];
    if (beside) drawn.push({ entry: beside, name: data.levels[other], which: "b" });
    const distributions = drawn.map(({ entry: { behaviour }, name }) => ({ distribution: behaviour, name, tail: behaviour.tail }));
    // Beside the mean its name would not be legible; the number stands beside the plot.
    const apart = Math.abs(entry.value - entry.behaviour.mean) > 0.15 * (data.domain[1] - data.domain[0]);
    const mark = beside || !apart ? undefined : { cost: entry.value, name: entry.measure };
    const panels = [panel("Distribution of the cost", distributionView(distributions, { width, inks, domain: data.domain, mark }), data.about)];
    for (const one of drawn) panels.push(panel(beside ? one.name : "In numbers", numberList(one.entry.numbers), one.entry.first));
    if (entry.behaviour.occupancy.length > 0) {
      for (const { entry: { behaviour }, name, which } of drawn) {
        panels.push(panel(beside ? `Where the time is spent, ${name}` : "Where the time is spent", worldView(data.problem, { width, inks, behaviour, name, most, which }), "The stronger the colour, the more of the time; the same scale for all levels. Arrows: what is done there."));
      }
    }
    for (const { entry: { behaviour }, name } of drawn) {
      const rows = behaviour.features.map((/** @type {any} */ feature) => [feature.name, feature.value]);
      if (rows.length) panels.push(panel(beside ? `Features, ${name}` : "Features", barList(rows, features), "Expected totals, by name."));
    }
    const points = data.entries.map((/** @type {any} */ each, /** @type {number} */ index) => each[series] && { mean: each[series].behaviour.mean, tail: each[series].behaviour.tail, name: data.levels[index], exact: true }).filter(Boolean);
    const place = (/** @type {any} */ { behaviour }) => ({ mean: behaviour.mean, tail: behaviour.tail });
    if (points.length > 1) panels.push(panel("What a lower risk costs in the mean", frontierView({ points, now: place(entry), other: beside ? place(beside) : undefined, bargain: data.bargain }, { width, inks }), "Each dot is a level."));
    views.replaceChildren(...panels);
  };
  slider.addEventListener("input", () => { level = +slider.value; draw(); });
  second.addEventListener("input", () => { other = +second.value; draw(); });
  compare.addEventListener("change", () => {
    slide.classList.toggle("off", !compare.checked);
    other = compare.checked ? +second.value : -1;
    draw();
  });
  onChange(views, draw);
  draw();
}

/** @param {HTMLElement} root @param {any} data */
function replayControls(root, data) {
  const last = data.steps.length - 1;
  let step = 0;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let timer;
  const button = (/** @type {string} */ title, /** @type {string} */ text, /** @type {() => void} */ act) => {
    const node = html("button", { type: "button", "aria-label": title, title }, text);
    node.addEventListener("click", act);
    return node;
  };
  const slider = /** @type {HTMLInputElement} */ (html("input", { type: "range", min: 0, max: last, step: 1, value: 0, "aria-label": "Step" }));
  const rates = [[1, "1 step a second"], [3, "3 steps a second"], [8, "8 steps a second"], [25, "25 steps a second"]];
  const speed = /** @type {HTMLSelectElement} */ (html("select", { "aria-label": "Speed" }, ...rates.map(([rate, name]) => html("option", { value: rate }, String(name)))));
  speed.value = "3";
  const halt = () => { clearInterval(timer); timer = undefined; };
  const go = (/** @type {number} */ to) => { step = Math.min(Math.max(to, 0), last); show(); };
  const start = () => {
    halt();
    if (step === last) step = 0;
    timer = setInterval(() => { if (step + 1 >= last) halt(); go(step + 1); }, 1000 / +speed.value);
    show();
  };
  const toggle = () => { if (timer === undefined) start(); else { halt(); show(); } };
  const play = button("Play", "Play", toggle);
  const by = (/** @type {() => number} */ to) => () => { halt(); go(to()); };
  const buttons = [button("First step", "First", by(() => 0)), button("Step back", "Back", by(() => step - 1)), play,
    button("Step forward", "Next", by(() => step + 1)), button("Last step", "Last", by(() => last)), speed];
  const control = html("div", { class: "control" }, html("div", { class: "buttons", role: "group", "aria-label": "Playback" }, ...buttons), html("div", { class: "slide" }, slider));
  const [told, numbers, world, course] = [html("p", { class: "step" }), html("div"), html("div"), html("div")];
  const drawn = data.problem.states.length <= MOST_PLACES || data.problem.scene.kind === "grid";
  const views = html("div", { class: "grid" }, ...(drawn ? [panel("Where it is", world)] : []), panel("This step", html("div", {}, told, numbers)), panel(data.measure, course, data.note));
  root.replaceChildren(control, views);
  const known = data.steps.map((/** @type {any} */ { cost }) => cost).filter((/** @type {any} */ cost) => cost !== null);
  const range = /** @type {[number, number]} */ ([Math.min(...known), Math.max(...known)]);
  const show = () => {
    const { state, action, cost, features } = data.steps[step];
    const [inks, width] = [themeInks(), viewWidth(views)];
    const [place, choice] = [data.problem.states[state], data.problem.actions[action]];
    slider.value = String(step);
    slider.setAttribute("aria-valuetext", `step ${step} of ${last}: ${place}, ${choice}`);
    const does = timer === undefined ? "Play" : "Pause";
    play.textContent = does;
    play.setAttribute("aria-label", does);
    play.title = does;
    told.setAttribute("aria-live", timer === undefined ? "polite" : "off");
    told.textContent = `t = ${step}: in ${place}, the choice is ${choice}.`;
    const rows = features.map((/** @type {number} */ value, /** @type {number} */ index) => [data.features[index], words(value)]);
    numbers.replaceChildren(numberList([["step", `${step} of ${last}`], [data.measure, words(cost)], ...rows, ["final cost", data.cost]]));
    if (drawn) world.replaceChildren(sized(worldView(data.problem, { width, inks, agent: state })));
    const root = drawing(width, 150, `${data.measure}: ${words(cost)} at step ${step}`, inks);
    const { toX, toY } = axes(root, { width, height: 150, x: [0, Math.max(1, last)], y: range, xName: "time", yName: "", inks });
    const points = data.steps.map((/** @type {any} */ each, /** @type {number} */ time) => (each.cost === null ? "" : `${toX(time)},${toY(each.cost)}`)).join(" ");
    root.append(svg("polyline", { points, fill: "none", stroke: inks.a, "stroke-width": 2 }));
    if (cost !== null) root.append(svg("circle", { cx: toX(step), cy: toY(cost), r: 5, fill: inks.mark, stroke: inks.paper }));
    course.replaceChildren(sized(root));
  };
  slider.addEventListener("input", () => { halt(); go(+slider.value); });
  speed.addEventListener("change", () => { if (timer !== undefined) start(); });
  root.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.key === " " && target.tagName === "INPUT") {
      event.preventDefault();
      toggle();
    }
  });
  onChange(views, show);
  show();
}

for (const root of document.querySelectorAll(".views")) {
  const data = JSON.parse(root.querySelector("script")?.textContent ?? "{}");
  const element = /** @type {HTMLElement} */ (root);
  if (element.dataset.kind === "levels") levelControls(element, data);
  else replayControls(element, data);
}
