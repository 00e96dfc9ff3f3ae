// What a person does on the page of the studio, in Chromium. Called by tests/studio.rs:
//   node main.mjs FOLDER PROGRAM PLAYWRIGHT        the folder has studio.html and with-problem.html
// Times are reported, not asserted: machines differ.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [, , folder, program, playwright] = process.argv;
const { chromium } = createRequire(import.meta.url)(playwright);
const address = `file://${join(folder, "studio.html")}`;
const profile = join(folder, "profile");
mkdirSync(profile);
const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launchPersistentContext(profile, { executablePath: "/usr/bin/chromium", headless: true, args: flags, viewport: { width: 1280, height: 900 }, offline: true });

/** A new page; whatever its console complains about is a failure. */
async function open(hash = "", at = address) {
  const page = await browser.newPage();
  page.complaints = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && page.complaints.push(message.text()));
  page.on("pageerror", (error) => page.complaints.push(error.stack ?? String(error)));
  await page.goto(at + hash);
  return page;
}

async function close(page) {
  assert.deepEqual(page.complaints, []);
  await page.close();
}

const shown = (page, text) => page.waitForFunction((wanted) => document.querySelector("#status").textContent.startsWith(wanted), text, { timeout: 60000 });
const known = (page, least = 1) => page.waitForFunction((least) => Number(/^\d+/.exec(document.querySelector("#progress").textContent)?.[0] ?? 0) >= least, least, { timeout: 60000 });
const settled = (page) => page.waitForFunction(() => document.querySelector("#cancel").hidden && document.querySelectorAll("#law svg").length > 0, null, { timeout: 100000 });
const number = (page, row) => page.locator("#numbers tbody tr").nth(row).locator("td span").first().getAttribute("data-value").then(Number);
const times = async (page) => Object.fromEntries(await page.evaluate(() => performance.getEntriesByType("measure").filter(({ name }) => name !== "slide").map(({ name, duration }) => [name, Math.round(duration)])));

const tests = {
  async "the gallery has all tasks and opens them"() {
    const page = await open();
    await shown(page, "rooms");
    assert.equal(await page.locator("#gallery button").count(), 13);
    assert.equal(await page.locator("#gallery svg").count(), 13);
    await page.getByRole("button", { name: /Grid MO/ }).click();
    await shown(page, "grid-mo: 107 states");
    await known(page, 2);
    assert.equal(await page.locator("#world svg").count(), 1);
    console.log("  times in ms:", JSON.stringify(await times(page)));
    await close(page);
  },

  async "numbers are those of the command line"() {
    const page = await open("#task=grid-mo");
    await settled(page);
    const compare = async (risk) => {
      const told = JSON.parse(execFileSync(program, ["solve", "grid-mo", "--risk", risk, "--json", "-q"], { encoding: "utf8" }));
      assert.ok(Math.abs((await number(page, 0)) - told.value) < 1e-9, `${risk}: ${await number(page, 0)} and ${told.value}`);
      assert.ok(Math.abs((await number(page, 1)) - told.mean) < 1e-9);
    };
    await compare("mean");
    await page.locator("#exact-level").fill("2.5");
    await page.getByRole("button", { name: "Solve" }).click();
    await shown(page, "erm:2.5 is solved exactly");
    await compare("erm:2.5");
    await page.getByText("CVaR", { exact: true }).click();
    await settled(page);
    await page.locator("#handle-a").press("End");
    await compare("cvar:0.99");
    await close(page);
  },

  async "sliding moves everything together"() {
    const page = await open("#task=grid-mo");
    await settled(page);
    const look = async () => ({ law: await page.locator("#law").innerHTML(), world: await page.locator("#world").innerHTML(), mean: await number(page, 1), reading: await page.locator("#reading-a").textContent() });
    const handle = page.locator("#handle-a");
    assert.equal(await handle.getAttribute("aria-valuetext"), "β = 0, the mean");
    const neutral = await look();
    await handle.press("End");
    const careful = await look();
    assert.match(careful.reading, /worst case/);
    assert.ok(careful.mean > neutral.mean && careful.law !== neutral.law && careful.world !== neutral.world);
    await handle.press("ArrowLeft");
    for (let k = 0; k < 20; k += 1) await handle.press("ArrowLeft");
    const slides = await page.evaluate(() => performance.getEntriesByName("slide").map(({ duration }) => duration).sort((a, b) => a - b));
    console.log(`  a slide takes ${slides[slides.length >> 1].toFixed(1)} ms, at most ${slides[slides.length - 1].toFixed(1)} ms`);
    assert.ok((await page.locator("#marks button").count()) > 0);
    await page.locator("#marks button").last().click();
    assert.match(await page.locator("#change").textContent(), /mean .* → .*, worst 5 %/);
    assert.match(await page.locator("#bargain").textContent(), /Best bargain/);
    await page.getByLabel("compare two").check();
    assert.equal(await page.locator("#world svg").count(), 2);
    await close(page);
  },

  async "a map is painted, resized, undone and redone"() {
    const page = await open("#task=grid-mo");
    await known(page);
    const text = () => page.locator("#source").inputValue();
    const before = await text();
    await page.locator("#palette button", { hasText: "wall" }).click();
    await page.locator('#canvas [data-cell="10"]').click();
    await page.waitForFunction((old) => document.querySelector("#source").value !== old, before);
    assert.match(await text(), /\n#\.\.\.\.\n/);
    assert.match(await text(), /"#" = "wall"/);
    await shown(page, "grid-mo: 103 states");
    await page.locator('[data-size="columns+"]').click();
    await page.waitForFunction(() => document.querySelector("#source").value.includes("\n#.....\n"));
    await page.locator("#undo").click();
    await page.locator("#undo").click();
    await page.waitForFunction((old) => document.querySelector("#source").value === old, before);
    await page.locator("#redo").click();
    await page.waitForFunction(() => document.querySelector("#source").value.includes("\n#....\n"));
    // The start can be moved with the keys alone.
    await page.locator("#canvas").focus();
    await page.locator("#canvas").press("ArrowRight");
    assert.match(await page.locator("#painted").textContent(), /row 1, column 2: floor/);
    await page.locator("#canvas").press(" ");
    await page.waitForFunction(() => document.querySelector("#source").value.includes("\n.#1E.\n"));
    await close(page);
  },

  async "bad text is told at its line, and mended"() {
    const page = await open("#task=rooms");
    await shown(page, "rooms");
    const box = page.locator("#source");
    const text = await box.inputValue();
    await box.fill(text.replace("discount = 0.99", "discount = 1.5"));
    await page.waitForSelector("#findings .error");
    assert.match(await page.locator("#findings .error").textContent(), /discount is 1\.5; it must lie in \(0, 1\]/);
    const line = text.split("\n").indexOf("discount = 0.99") + 1;
    assert.equal(await page.locator("#findings .error button").textContent(), `line ${line}`);
    assert.equal(await page.locator("#gutter b").textContent(), `▸${line}\n`);
    assert.equal(await box.getAttribute("aria-invalid"), "true");
    await box.fill(text);
    await page.waitForFunction(() => !document.querySelector("#findings .error"));
    await close(page);
  },

  async "an episode is watched, and another action asked about"() {
    const page = await open("#task=grid-mo&risk=erm:0");
    await known(page, 5);
    await page.waitForFunction(() => document.querySelectorAll("#reasons tbody tr").length === 4);
    await page.locator("#forward").click();
    await page.waitForFunction(() => /^Step 1 of 40/.test(document.querySelector("#story").textContent));
    await page.locator("#back").click();
    await page.waitForFunction(() => /begins in/.test(document.querySelector("#story").textContent));
    await page.getByRole("button", { name: "What if down?" }).click();
    await page.waitForFunction(() => /down leads to a mean/.test(document.querySelector("#what-if-words").textContent));
    assert.equal(await page.locator("#what-if svg").count(), 1);
    await page.locator("#speed").selectOption("fast");
    await page.locator("#run").click();
    await page.waitForFunction(() => /^Step [3-9]/.test(document.querySelector("#story").textContent));
    await page.locator("#run").click();
    assert.equal(await page.locator("#run").textContent(), "Run");
    await close(page);
  },

  async "one plays with the arrow keys and is told where the cost lies"() {
    const page = await open("#task=rooms&risk=erm:0");
    await known(page);
    await page.locator("#play").click();
    await page.waitForFunction(() => /Choose an action/.test(document.querySelector("#story").textContent));
    for (let step = 1; step <= 20; step += 1) {
      await page.locator("#stage").press(step % 2 ? "ArrowLeft" : "ArrowRight");
      await page.waitForFunction((step) => document.querySelector("#story").textContent.startsWith(`Step ${step} of 20`), step);
      await page.waitForFunction((step) => step === 20 || document.querySelectorAll("#reasons tbody tr").length === 2, step);
    }
    await page.waitForFunction(() => /Your episode cost .* of the episodes of the optimum cost at most that/.test(document.querySelector("#story").textContent));
    assert.match(await page.locator("#what-if").textContent(), /you: /);
    await close(page);
  },

  async "everything is in the address"() {
    const page = await open("#task=grid-mo&risk=erm:inf&with=mean&theme=dark");
    await settled(page);
    assert.match(await page.locator("#reading-a").textContent(), /worst case.*mean/);
    assert.ok(await page.evaluate(() => document.documentElement.classList.contains("dark")));
    const box = page.locator("#source");
    await box.fill((await box.inputValue()).replace("slip = 0.05", "slip = 0.2"));
    await page.waitForFunction(() => /#file=.*text=/.test(location.hash));
    await page.locator("#share-open").click();
    await page.locator('[data-copy="link"]').click();
    await page.waitForFunction(() => document.querySelector("#shared").value.includes("studio.html#"));
    const link = await page.locator("#shared").inputValue();
    await page.locator('[data-copy="command"]').click();
    await page.waitForFunction(() => /^gumdp solve grid-mo\.toml --/.test(document.querySelector("#shared").value));
    await page.locator('[data-copy="python"]').click();
    await page.waitForFunction(() => document.querySelector("#shared").value.includes('gumdp.Problem.from_file("grid-mo.toml")'));
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator('[data-save="law-svg"]').click()]);
    assert.match(readFileSync(await download.path(), "utf8"), /^<svg .*<\/svg>$/s);
    const [picture] = await Promise.all([page.waitForEvent("download"), page.locator('[data-save="world-png"]').click()]);
    assert.equal(readFileSync(await picture.path()).subarray(1, 4).toString(), "PNG");
    await close(page);
    const other = await open("", link);
    await known(other);
    assert.match(await other.locator("#source").inputValue(), /slip = 0\.2/);
    await close(other);
  },

  async "a problem that is too large is planned, and says so"() {
    const page = await open("#task=grid-msee");
    await page.waitForFunction(() => /Planned, not solved: too large to solve/.test(document.querySelector("#honesty").textContent), null, { timeout: 60000 });
    await known(page);
    assert.match(await page.locator("#numbers").textContent(), /proven bound≥ .*95 %: /);
    // What takes long is cancelled at once; another problem answers.
    await page.locator("#cancel").click();
    await page.getByRole("button", { name: /Grid MO/ }).click();
    await shown(page, "grid-mo");
    await known(page, 3);
    await close(page);
  },

  async "a file that is dropped is opened"() {
    const page = await open();
    await shown(page, "rooms");
    writeFileSync(join(folder, "dropped.toml"), readFileSync(join(import.meta.dirname, "../../../../examples/inventory/inventory.toml")));
    await page.locator("#file").setInputFiles(join(folder, "dropped.toml"));
    await shown(page, "dropped: 21 states");
    await close(page);
  },

  async "the program's page opens with its problem"() {
    const page = await open("", `file://${join(folder, "with-problem.html")}`);
    await shown(page, "grid-mo: 107 states");
    await close(page);
  },

  async "the keyboard is enough, and roles are there"() {
    const page = await open("#task=grid-mo");
    await known(page, 3);
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
    const reached = new Set();
    for (let k = 0; k < 110; k += 1) {
      await page.keyboard.press("Tab");
      reached.add(await page.evaluate(() => document.activeElement.id || document.activeElement.dataset.name || document.activeElement.name || ""));
    }
    for (const id of ["rooms", "measure", "handle-a", "exact-level", "compare", "watch", "play", "stage", "forward", "canvas", "source"]) assert.ok(reached.has(id), `${id} cannot be reached: ${[...reached]}`);
    const nameless = await page.evaluate(() => [...document.querySelectorAll("button, input, select, textarea")].filter((element) => !element.closest("[hidden]") && !element.getAttribute("aria-label") && !element.labels?.length && !element.textContent.trim()).map((element) => element.outerHTML));
    assert.deepEqual(nameless, []);
    for (const [role, least] of [["slider", 1], ["img", 3], ["radiogroup", 1], ["status", 3], ["progressbar", 1]]) assert.ok((await page.getByRole(role).count()) >= least, role);
    await page.locator('.term[data-term="tail"]').press("Enter");
    assert.match(await page.locator("#explain").textContent(), /worst 5 %/);
    await page.keyboard.press("Escape");
    assert.ok(await page.locator("#explain").isHidden());
    await close(page);
  },

  async "it fits three widths in both themes"() {
    for (const width of [390, 1280, 3840]) {
      for (const scheme of ["light", "dark"]) {
        const page = await open("#task=msee");
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme: scheme });
        await known(page);
        const wide = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        assert.ok(wide[0] <= wide[1], `${width}: ${wide}`);
        if (width === 1280 && scheme === "light") console.log("  times of msee in ms:", JSON.stringify(await times(page)));
        await close(page);
      }
    }
  },
};

let failures = 0;
const wanted = process.argv[5];
for (const [name, test] of Object.entries(tests).filter(([name]) => !wanted || name.includes(wanted))) {
  const started = Date.now();
  try {
    await test();
    console.log(`ok      ${name} (${Date.now() - started} ms)`);
  } catch (error) {
    failures += 1;
    console.log(`FAILED  ${name}: ${error.stack ?? error}`);
    for (const page of browser.pages()) if (page.complaints?.length) console.log(`  the console says: ${page.complaints.join("; ")}`);
  }
  for (const page of browser.pages().slice(1)) await page.close();
}
await browser.close();
process.exit(failures ? 1 : 0);
