"use strict";
(() => {
  const root = document.documentElement;
  const stored = {
    get: () => { try { return localStorage.getItem("theme"); } catch { return null; } },
    set: (theme) => { try { localStorage.setItem("theme", theme); } catch { /* private mode: forget it */ } },
  };
  const themes = ["auto", "light", "dark"];
  const setTheme = (theme) => {
    if (theme === "auto") root.removeAttribute("data-theme");
    else root.setAttribute("data-theme", theme);
  };
  // A theme in the markup wins over a stored one; set before anything is painted.
  if (!root.hasAttribute("data-theme") && themes.includes(stored.get())) setTheme(stored.get());

  const themeButton = () => {
    const button = document.querySelector("button.theme");
    if (!button) return;
    const show = () => { button.textContent = "Theme: " + (root.getAttribute("data-theme") || "auto"); };
    button.hidden = false;
    button.addEventListener("click", () => {
      const now = themes.indexOf(root.getAttribute("data-theme") || "auto");
      const next = themes[(now + 1) % themes.length];
      setTheme(next);
      stored.set(next);
      show();
    });
    show();
  };

  const keyOf = (row, column, kind) => {
    const cell = row.cells[column];
    const text = cell.dataset.key ?? cell.textContent.trim();
    if (kind === "text") return text;
    const number = parseFloat(text.replace(/\u2212/g, "-").replace(/[\u2009\u202f,]/g, ""));
    return Number.isNaN(number) ? null : number;
  };
  const compare = (a, b, direction) => {
    if (a === null || b === null) return (a === null) - (b === null);
    const order = typeof a === "string" ? a.localeCompare(b, undefined, { numeric: true }) : a - b;
    return direction * order;
  };
  const sortable = (table) => {
    const body = table.tBodies[0];
    const original = [...body.rows];
    for (const head of table.querySelectorAll("th[data-sort]")) {
      const button = document.createElement("button");
      button.type = "button";
      button.title = "Sort by this column";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const next = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort") || "none"];
        for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
        const rows = [...original];
        if (next !== "none") {
          head.setAttribute("aria-sort", next);
          const direction = next === "ascending" ? 1 : -1;
          const keyed = rows.map((row) => [keyOf(row, head.cellIndex, head.dataset.sort), row]);
          keyed.sort((a, b) => compare(a[0], b[0], direction));
          rows.splice(0, rows.length, ...keyed.map((pair) => pair[1]));
        }
        body.append(...rows);
      });
    }
  };

  const savable = (button) => {
    const svg = button.closest("figure").querySelector("svg");
    button.hidden = false;
    button.title = "Download this figure";
    button.addEventListener("click", () => {
      const file = new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" });
      const link = document.createElement("a");
      link.href = URL.createObjectURL(file);
      link.download = button.dataset.name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  };

  const followScroll = () => {
    const links = new Map([...document.querySelectorAll("nav.side a")].map((a) => [a.hash.slice(1), a]));
    const sections = [...document.querySelectorAll("main > section")];
    if (!links.size || !sections.length) return;
    const mark = () => {
      const passed = sections.filter((section) => section.getBoundingClientRect().top < innerHeight * 0.3);
      const current = links.get((passed.pop() || {}).id);
      for (const link of links.values()) link.removeAttribute("aria-current");
      if (current) current.setAttribute("aria-current", "true");
    };
    addEventListener("scroll", mark, { passive: true });
    mark();
  };

  document.addEventListener("DOMContentLoaded", () => {
    themeButton();
    document.querySelectorAll("table").forEach(sortable);
    document.querySelectorAll("button.save").forEach(savable);
    followScroll();
    addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
  });
})();
