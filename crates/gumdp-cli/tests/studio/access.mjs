// Who cannot see well, or uses no mouse, or has another screen.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { close, known, open, settled, times, tools, until } from "./browser.mjs";

const axe = readFileSync(join(tools, "axe-core/axe.min.js"), "utf8");

/** What the rules of WCAG 2.2, levels A and AA, find wrong: roles, names, contrast, order. */
async function barriers(page) {
  await page.evaluate(axe);
  // Marks on the slider are small; two buttons below do what they do.
  const found = await page.evaluate(() => globalThis.axe.run({ exclude: ["#marks"] }, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
  return found.violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 3).map(({ html, failureSummary }) => `${html.slice(0, 160)} (${failureSummary?.split("\n")[1]?.trim().slice(0, 200)})`).join(" and ")}`);
}

/** How much what is shown jumped by itself: 0 is not at all. */
const watchShifts = (page) => page.addInitScript(() => {
  globalThis.shifts = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (!entry.hadRecentInput) globalThis.shifts.push({ by: entry.value, what: entry.sources.map(({ node }) => node?.id || node?.className || node?.nodeName).join(" ") });
    }
  }).observe({ type: "layout-shift", buffered: true });
});

export const access = {
  async "the keyboard is enough, and roles are there"() {
    const page = await open("#task=grid-mo");
    await settled(page);
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
    const reached = new Set();
    for (let k = 0; k < 110; k += 1) {
      await page.keyboard.press("Tab");
      reached.add(await page.evaluate(() => document.activeElement.id || document.activeElement.dataset.name || document.activeElement.name || ""));
    }
    for (const id of ["rooms", "measure", "handle-a", "exact-level", "compare", "change-after", "watch", "play", "stage", "forward", "canvas", "source"]) assert.ok(reached.has(id), `${id} cannot be reached: ${[...reached]}`);
    const nameless = await page.evaluate(() => [...document.querySelectorAll("button, input, select, textarea")].filter((element) => !element.closest("[hidden]") && !element.getAttribute("aria-label") && !element.labels?.length && !element.textContent.trim()).map((element) => element.outerHTML));
    assert.deepEqual(nameless, []);
    for (const [role, least] of [["slider", 1], ["img", 3], ["radiogroup", 1], ["status", 3], ["progressbar", 1]]) assert.ok((await page.getByRole(role).count()) >= least, role);
    await page.locator('.term[data-term="tail"]').press("Enter");
    assert.match(await page.locator("#explain").textContent(), /worst 5 %/);
    await page.keyboard.press("Escape");
    assert.ok(await page.locator("#explain").isHidden());
    await close(page);
  },

  async "no barrier is found, in both themes and in the dialog"() {
    const page = await open("#task=grid-mo");
    await settled(page);
    await until(page, () => document.querySelectorAll("#reasons tbody tr").length > 0);
    for (const theme of ["light", "dark"]) {
      assert.deepEqual(await barriers(page), [], theme);
      await page.locator("#share-open").click();
      assert.deepEqual(await barriers(page), [], `${theme}, dialog`);
      await page.locator("#share-close").click();
      await page.locator("#theme").click();
    }
    await close(page);
  },

  async "nothing jumps while it is computed"() {
    for (const [task, width] of [["grid-mo", 1280], ["rooms", 390]]) {
      const page = await open(`#task=${task}`, undefined, async (page) => {
        await page.setViewportSize({ width, height: 900 });
        await watchShifts(page);
      });
      await settled(page);
      await until(page, () => document.querySelectorAll("#reasons tbody tr").length > 0);
      const shifts = await page.evaluate(() => globalThis.shifts);
      const all = shifts.reduce((sum, { by }) => sum + by, 0);
      console.log(`  ${task} at ${width}: layout shift ${all.toFixed(4)} ${shifts.map(({ by, what }) => `${by.toFixed(4)} ${what}`).join("; ")}`);
      // Nothing jumps where the first answer comes soon; below 0.1 counts as good on a slow machine, too.
      assert.ok(all < 0.1, JSON.stringify(shifts));
      await close(page);
    }
  },

  async "it fits three widths in both themes"() {
    for (const width of [390, 1280, 3840]) {
      for (const scheme of ["light", "dark"]) {
        const page = await open("#task=msee");
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme: scheme });
        await known(page);
        const wide = await page.evaluate(() => {
          const cut = [...document.querySelectorAll("main *")].filter((node) => {
            const scrolls = node.closest(".gallery, .code, textarea, .hidden, .marks, svg, fieldset.switch");
            return !scrolls && node.getClientRects().length > 0 && (node.getBoundingClientRect().right > innerWidth + 1 || node.getBoundingClientRect().left < -1);
          });
          return { page: document.documentElement.scrollWidth - innerWidth, cut: cut.map((node) => node.outerHTML.slice(0, 120)) };
        });
        assert.ok(wide.page <= 0, `${width}: ${wide.page} too wide`);
        assert.deepEqual(wide.cut, [], `${width}`);
        if (width === 1280 && scheme === "light") console.log("  times of msee in ms:", JSON.stringify(await times(page)));
        await close(page);
      }
    }
  },
};
