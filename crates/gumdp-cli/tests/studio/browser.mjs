// The browser of the tests, and what all of them ask of a page.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

export const [, , folder, program, tools, wanted] = process.argv;
const { chromium } = createRequire(import.meta.url)(join(tools, "playwright-core"));
const address = `file://${join(folder, "studio.html")}`;
const profile = join(folder, "profile");
mkdirSync(profile);
const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
export const browser = await chromium.launchPersistentContext(profile, { executablePath: "/usr/bin/chromium", headless: true, args: flags, viewport: { width: 1280, height: 900 }, offline: true });

/** A new page; whatever its console complains about is a failure. */
export async function open(hash = "", at = address, before = async () => {}) {
  const page = await browser.newPage();
  page.complaints = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && page.complaints.push(message.text()));
  page.on("pageerror", (error) => page.complaints.push(error.stack ?? String(error)));
  await before(page);
  await page.goto(at + hash);
  return page;
}

export async function close(page) {
  assert.deepEqual(page.complaints, []);
  await page.close();
}

/** Machines differ, and other tests run beside: what must happen may take long. */
const LONG = { timeout: 120000 };
export const until = (page, test, what = null) => page.waitForFunction(test, what, LONG);
export const shown = (page, text) => until(page, (wanted) => document.querySelector("#status").textContent.startsWith(wanted), text);
export const known = (page, least = 1) => until(page, (least) => Number(/^\d+/.exec(document.querySelector("#progress").textContent)?.[0] ?? 0) >= least, least);
export const settled = (page) => until(page, () => document.querySelector("#cancel").hidden && document.querySelectorAll("#distribution svg").length > 0);
export const number = (page, row) => page.locator("#numbers tbody tr").nth(row).locator("td span").first().getAttribute("data-value").then(Number);
export const times = async (page) => Object.fromEntries(await page.evaluate(() => performance.getEntriesByType("measure").filter(({ name }) => name !== "slide").map(({ name, duration }) => [name, Math.round(duration)])));
