// What a person does on the page of the studio, in Chromium. Called by tests/studio.rs:
//   node main.mjs FOLDER PROGRAM TOOLS        the folder has studio.html and with-problem.html; the tools have playwright-core and axe-core
// Times are reported, not asserted: machines differ.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { access } from "./access.mjs";
import { browser, close, folder, known, number, open, program, settled, shown, times, until, wanted } from "./browser.mjs";
import { hostile } from "./hostile.mjs";

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
    const look = async () => ({ distribution: await page.locator("#distribution").innerHTML(), world: await page.locator("#world").innerHTML(), mean: await number(page, 1), reading: await page.locator("#reading-a").textContent() });
    const handle = page.locator("#handle-a");
    assert.equal(await handle.getAttribute("aria-valuetext"), "β = 0, the mean");
    const neutral = await look();
    await handle.press("End");
    const careful = await look();
    assert.match(careful.reading, /worst case/);
    assert.ok(careful.mean > neutral.mean && careful.distribution !== neutral.distribution && careful.world !== neutral.world);
    await handle.press("ArrowLeft");
    for (let k = 0; k < 20; k += 1) await handle.press("ArrowLeft");
    const slides = await page.evaluate(() => performance.getEntriesByName("slide").map(({ duration }) => duration).sort((a, b) => a - b));
    console.log(`  a slide takes ${slides[slides.length >> 1].toFixed(1)} ms, at most ${slides[slides.length - 1].toFixed(1)} ms`);
    assert.ok((await page.locator("#marks button").count()) > 0);
    await page.locator("#marks button").last().click();
    assert.match(await page.locator("#change").textContent(), /mean .* → .*, worst 5 %/);
    const last = await page.locator("#change").textContent();
    await page.locator("#change-before").press("Enter");
    assert.match(await page.locator("#change").textContent(), /mean .* → .*, worst 5 %/);
    await page.locator("#change-after").press("Enter");
    assert.equal(await page.locator("#change").textContent(), last);
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
    await until(page, (old) => document.querySelector("#source").value !== old, before);
    assert.match(await text(), /\n#\.\.\.\.\n/);
    assert.match(await text(), /"#" = "wall"/);
    await shown(page, "grid-mo: 103 states");
    await page.locator('[data-size="columns+"]').click();
    await until(page, () => document.querySelector("#source").value.includes("\n#.....\n"));
    await page.locator("#undo").click();
    await page.locator("#undo").click();
    await until(page, (old) => document.querySelector("#source").value === old, before);
    await page.locator("#redo").click();
    await until(page, () => document.querySelector("#source").value.includes("\n#....\n"));
    // The start can be moved with the keys alone.
    await page.locator("#canvas").focus();
    await page.locator("#canvas").press("ArrowRight");
    assert.match(await page.locator("#painted").textContent(), /row 1, column 2: floor/);
    await page.locator("#canvas").press(" ");
    await until(page, () => document.querySelector("#source").value.includes("\n.#1E.\n"));
    await close(page);
  },

  async "a quick stroke has no gaps, and files of other systems are painted, too"() {
    const page = await open("#task=grid-mo");
    await known(page);
    const text = (await page.locator("#source").inputValue()).replaceAll("\n", "\r\n");
    await page.locator("#file").setInputFiles({ name: "other.toml", mimeType: "text/plain", buffer: Buffer.from(text) });
    await shown(page, "other: 107 states");
    await page.locator("#palette button", { hasText: "wall" }).click();
    await page.locator("#canvas").scrollIntoViewIfNeeded();
    const middle = async (cell) => {
      const box = await page.locator(`#canvas [data-cell="${cell}"] rect`).boundingBox();
      return [box.x + box.width / 2, box.y + box.height / 2];
    };
    const [from, to] = [await middle(10), await middle(13)];
    await page.mouse.move(...from);
    await page.mouse.down();
    await page.mouse.move(...to);
    await page.mouse.up();
    await until(page, () => document.querySelector("#source").value.includes("\n####.\n"));
    await page.locator('[data-size="columns+"]').click();
    await until(page, () => document.querySelector("#source").value.includes("\n####..\n"));
    await shown(page, "other: ");
    await page.locator("#canvas").press("Control+z");
    await until(page, () => document.querySelector("#source").value.includes("\n####.\n"));
    await page.locator("#canvas").press("Control+y");
    await until(page, () => document.querySelector("#source").value.includes("\n####..\n"));
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
    await page.locator("#findings .error button").click();
    assert.equal(await page.locator("#gutter b").textContent(), `▸${line}\n`);
    assert.equal(await box.getAttribute("aria-invalid"), "true");
    await box.fill(text);
    await until(page, () => !document.querySelector("#findings .error"));
    await close(page);
  },

  async "an episode is watched, and another action asked about"() {
    const page = await open("#task=grid-mo&risk=erm:0");
    await known(page, 5);
    await until(page, () => document.querySelectorAll("#reasons tbody tr").length === 4);
    await page.locator("#forward").click();
    await until(page, () => /^Step 1 of 40/.test(document.querySelector("#story").textContent));
    await page.locator("#back").click();
    await until(page, () => /begins in/.test(document.querySelector("#story").textContent));
    await page.getByRole("button", { name: "What if down?" }).click();
    await until(page, () => /down leads to a mean/.test(document.querySelector("#what-if-words").textContent));
    assert.equal(await page.locator("#what-if svg").count(), 1);
    await page.locator("#speed").selectOption("fast");
    await page.locator("#run").click();
    await until(page, () => /^Step [3-9]/.test(document.querySelector("#story").textContent));
    await page.locator("#run").click();
    assert.equal(await page.locator("#run").textContent(), "Run");
    await close(page);
  },

  async "one plays with the arrow keys and is told where the cost lies"() {
    const page = await open("#task=rooms&risk=erm:0");
    await known(page);
    await page.locator("#play").click();
    await until(page, () => /Choose an action/.test(document.querySelector("#story").textContent));
    for (let step = 1; step <= 20; step += 1) {
      const arrived = (step) => document.querySelector("#story").textContent.startsWith(`Step ${step} of 20`);
      // A key that comes while the last step is still answered does nothing: a person presses it again.
      for (let tries = 0; tries < 20 && !(await page.evaluate(arrived, step)); tries += 1) {
        await page.locator("#stage").press(step % 2 ? "ArrowLeft" : "ArrowRight");
        await page.waitForFunction(arrived, step, { timeout: 3000 }).catch(() => {});
      }
      await until(page, arrived, step);
      await until(page, (step) => step === 20 || document.querySelectorAll("#reasons tbody tr").length === 2, step);
    }
    await until(page, () => /Your episode cost .* of the episodes of the optimum cost at most that/.test(document.querySelector("#story").textContent));
    assert.match(await page.locator("#what-if").textContent(), /you: /);
    await close(page);
  },

  async "everything is in the address"() {
    const page = await open("#task=grid-mo&risk=erm:inf&with=mean&theme=dark");
    await settled(page);
    assert.match(await page.locator("#reading-a").textContent(), /worst case.*mean/);
    assert.ok(await page.evaluate(() => document.documentElement.dataset.theme === "dark"));
    const box = page.locator("#source");
    await box.fill((await box.inputValue()).replace("slip = 0.05", "slip = 0.2"));
    await until(page, () => /#file=.*text=/.test(location.hash));
    await page.locator("#share-open").click();
    await page.locator('[data-copy="link"]').click();
    await until(page, () => document.querySelector("#shared").value.includes("studio.html#"));
    const link = await page.locator("#shared").inputValue();
    await page.locator('[data-copy="command"]').click();
    await until(page, () => /^gumdp solve grid-mo\.toml --/.test(document.querySelector("#shared").value));
    await page.locator('[data-copy="python"]').click();
    await until(page, () => document.querySelector("#shared").value.includes('gumdp.Problem.from_file("grid-mo.toml")'));
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator('[data-save="distribution-svg"]').click()]);
    assert.match(readFileSync(await download.path(), "utf8"), /^<svg .*<\/svg>\s*$/s);
    for (const [what, begins] of [["world-png", "\x89PNG"], ["frontier-pdf", "%PDF"], ["episode", "<svg"]]) {
      const [file] = await Promise.all([page.waitForEvent("download"), page.locator(`[data-save="${what}"]`).click()]);
      assert.equal(readFileSync(await file.path()).subarray(0, 4).toString("latin1"), begins, what);
    }
    await close(page);
    const other = await open("", link);
    await known(other);
    assert.match(await other.locator("#source").inputValue(), /slip = 0\.2/);
    await close(other);
  },

  async "a link brings its own level, into an open page, too, and says what it cannot bring"() {
    const page = await open("#task=msee&risk=erm:3.21&with=erm:7.5");
    await until(page, () => /^β = 3\.21: .* β = 7\.5: /.test(document.querySelector("#reading-a").textContent));
    await page.evaluate(() => (location.hash = "#task=mdp&risk=erm:1.5"));
    await shown(page, "mdp: ");
    await until(page, () => /^β = 1\.5: /.test(document.querySelector("#reading-a").textContent));
    await close(page);
    for (const [hash, told] of [["#task=nonsense", 'the link asks for "nonsense", which is not in the gallery; this is rooms'], ["#text=AAAA", "the link cannot be read: it is cut off or damaged; this is rooms"], ["#task=mdp&measure=x&risk=cvar:2&with=erm:x", "mdp: 4 states"]]) {
      const other = await open(hash);
      await shown(other, told);
      await until(other, () => /^β = 0, the mean: /.test(document.querySelector("#reading-a").textContent));
      await close(other);
    }
  },

  async "an episode is in the address"() {
    const page = await open("#task=grid-mo&risk=erm:0&episode=3&step=5");
    await until(page, () => /^Step 5 of 40/.test(document.querySelector("#story").textContent));
    const story = await page.locator("#story").textContent();
    await page.locator("#forward").click();
    await until(page, () => /episode=3&step=6/.test(location.hash));
    await close(page);
    const other = await open("#task=grid-mo&risk=erm:0&episode=3&played=1.1.2");
    await until(other, () => /^Step 3 of 40/.test(document.querySelector("#story").textContent));
    assert.equal(await other.locator("#play").getAttribute("aria-pressed"), "true");
    assert.notEqual(await other.locator("#story").textContent(), story);
    await close(other);
  },

  async "a problem that is too large is planned, and says so"() {
    const page = await open("#task=grid-msee");
    await until(page, () => /Planned, not solved: too large to solve/.test(document.querySelector("#honesty").textContent));
    // A proven bound comes at once, then rough episodes, then better ones.
    await known(page);
    assert.match(await page.locator("#numbers").textContent(), /proven bound≥ .*95 %: /);
    assert.match(await page.locator("#reading-a").textContent(), /episodes played, \d+ simulations/);
    // What takes long is cancelled at once; another problem answers.
    await page.locator("#cancel").click();
    await page.getByRole("button", { name: /Grid MO/ }).click();
    await shown(page, "grid-mo");
    await known(page, 3);
    await close(page);
  },

  async "a file that is chosen or dropped is opened"() {
    const page = await open();
    await shown(page, "rooms");
    const text = readFileSync(join(import.meta.dirname, "../../../../examples/inventory/inventory.toml"), "utf8");
    writeFileSync(join(folder, "chosen.toml"), text);
    await page.locator("#file").setInputFiles(join(folder, "chosen.toml"));
    await shown(page, "chosen: 21 states");
    await page.locator('[data-name="rooms"]').click();
    await shown(page, "rooms");
    const over = await page.evaluateHandle((text) => {
      const data = new DataTransfer();
      data.items.add(new File([text], "dropped.toml", { type: "text/plain" }));
      return data;
    }, text);
    await page.dispatchEvent("body", "dragover", { dataTransfer: over });
    assert.ok(await page.locator("#drop").isVisible());
    await page.dispatchEvent("body", "drop", { dataTransfer: over });
    await shown(page, "dropped: 21 states");
    assert.ok(await page.locator("#drop").isHidden());
    await page.locator("#undo").click();
    await shown(page, "rooms");
    await close(page);
  },

  async "the program's page opens with its problem"() {
    const page = await open("", `file://${join(folder, "with-problem.html")}`);
    await shown(page, "grid-mo: 107 states");
    await close(page);
  },
};

let failures = 0;
for (const [name, test] of Object.entries({ ...tests, ...hostile, ...access }).filter(([name]) => !wanted || name.includes(wanted))) {
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
