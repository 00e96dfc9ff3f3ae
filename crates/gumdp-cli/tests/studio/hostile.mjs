// Who is in a hurry, brings too much, or comes with a link that makes no sense.
import assert from "node:assert/strict";
import { close, known, open, settled, shown, until } from "./browser.mjs";

const texts = (page, selector) => page.locator(selector).allTextContents();
const setText = (page, text) => page.evaluate((text) => {
  const box = document.querySelector("#source");
  box.value = text;
  box.dispatchEvent(new Event("input", { bubbles: true }));
}, text);

export const hostile = {
  async "who is watched is the one at the handle, also when its level comes later"() {
    const page = await open("#task=msee&risk=erm:inf");
    await until(page, () => /worst case/.test(document.querySelector("#reading-a").textContent) && !/nearest/.test(document.querySelector("#reading-a").textContent));
    const says = await page.locator("#first").textContent();
    assert.match(says, /First decision: right in s1/);
    await until(page, () => /right \(best\)/.test(document.querySelector("#reasons").textContent));
    await settled(page);
    await page.locator("#handle-a").press("Home");
    await page.locator("#exact-level").fill("54321");
    await page.getByRole("button", { name: "Solve" }).click();
    await shown(page, "erm:54321 is solved exactly");
    await until(page, () => /right \(best\)0\.404/.test(document.querySelector("#reasons").textContent));
    await close(page);
  },

  async "one goes back to the problem before, and forward again"() {
    const page = await open("#task=rooms");
    await known(page);
    await until(page, () => /risk=/.test(location.hash));
    await page.locator('[data-name="mdp"]').click();
    await until(page, () => /task=mdp&risk=/.test(location.hash));
    await page.goBack();
    await shown(page, "rooms");
    await page.goForward();
    await shown(page, "mdp");
    await close(page);
  },

  async "a link with steps or a text that make no sense says so, and the page goes on"() {
    const page = await open("#task=rooms&played=9.9.9");
    await until(page, () => /The steps of the link do not fit this problem\..*Choose an action/.test(document.querySelector("#story").textContent));
    await page.getByRole("button", { name: "Take left" }).click();
    await until(page, () => /^Step 1 of 20/.test(document.querySelector("#story").textContent));
    await close(page);
    // The text is {"patteams
    const other = await open("#file=%3Cb%3Ex&text=q1YqSCwpSU3MLQYA");
    await shown(other, "<b>x has mistakes");
    assert.equal(await other.locator("#title").textContent(), "<b>x");
    assert.ok(await other.locator("#attitude").isHidden());
    // Half a character, as a careless cut leaves it.
    await setText(other, "kind = \"\uD83D\"");
    await until(other, () => /kind is "\uFFFD"/.test(document.querySelector("#findings").textContent));
    await other.locator('[data-name="rooms"]').click();
    await known(other);
    assert.ok(await other.locator("#attitude").isVisible());
    await close(other);
  },

  async "a text of a million characters does not stop the page, and one of five is refused"() {
    const page = await open("#task=rooms");
    await settled(page);
    const text = await page.locator("#source").inputValue();
    await setText(page, "x = 1\n".repeat(170000));
    await page.waitForSelector("#findings .error");
    // Only lines in sight have nodes.
    assert.ok((await page.locator("#gutter *").count()) < 200);
    await page.locator("#source").evaluate((box) => (box.scrollTop = box.scrollHeight));
    await until(page, () => /170001/.test(document.querySelector("#gutter").textContent));
    const message = await page.locator("#findings .error button").first().textContent();
    await page.locator("#findings .error button").first().click();
    await until(page, (line) => document.querySelector("#gutter b")?.textContent === `▸${line}\n`, message.replace("line ", ""));
    await page.locator("#undo").click();
    await until(page, (text) => document.querySelector("#source").value === text, text);
    const file = { name: "large.toml", mimeType: "text/plain", buffer: Buffer.from("# a\n".repeat(1300000)) };
    await page.locator("#file").setInputFiles(file);
    await shown(page, "large.toml has 5.0 MiB; this page reads at most 4: use the command line");
    await page.evaluate((text) => {
      const data = new DataTransfer();
      data.setData("text", text);
      document.querySelector("#source").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, cancelable: true, bubbles: true }));
    }, "y".repeat(5 << 20));
    await shown(page, "the text has 5.0 MiB");
    await close(page);
  },

  async "a map of forty thousand cells is drawn with fewer, and others come at once"() {
    const page = await open("#task=grid-msee");
    await known(page);
    const rows = ["S" + ".".repeat(199), ...Array.from({ length: 199 }, () => ".".repeat(200))];
    await setText(page, (await page.locator("#source").inputValue()).replace(/map = """[^"]*"""/, `map = """\n${rows.join("\n")}\n"""`));
    await shown(page, "grid-msee: 40000 states");
    await known(page);
    assert.ok((await page.locator("#world [data-cell]").count()) <= 2500);
    assert.match(await page.locator("#world svg").getAttribute("aria-label"), /200 rows and 200 columns/);
    assert.ok(await page.locator("#editor").isHidden());
    assert.ok(await page.locator("#too-large").isVisible());
    // Nobody waits for answers about the problem before.
    await page.locator('[data-name="mdp"]').click();
    await shown(page, "mdp");
    await known(page);
    assert.ok(await page.locator("#too-large").isHidden());
    await close(page);
  },

  async "problems and measures are switched in the middle of everything"() {
    const page = await open("#task=rooms&measure=evar");
    for (const name of ["grid-msee", "grid-mo", "delivery", "inventory", "grid-il", "rounds", "mdp"]) {
      await page.locator(`[data-name="${name}"]`).click();
      await page.waitForTimeout(100);
    }
    for (const measure of ["CVaR", "EVaR", "β (entropic)"]) await page.getByText(measure, { exact: true }).click();
    await shown(page, "mdp");
    await settled(page);
    assert.match(await page.locator("#reading-a").textContent(), /^β = 0, the mean: mean/);
    assert.match(await page.locator("#honesty").textContent(), /Solved exactly/);
    await close(page);
  },

  async "what a planner has no number for is not called unknown; sampled shares and tiny numbers have their names"() {
    const page = await open("#task=grid-msee");
    await known(page);
    await until(page, () => document.querySelectorAll("#reasons tbody tr").length > 0);
    const told = await page.locator("#reasons").textContent();
    assert.ok(!/unknown/.test(told) && /chosen by the planner/.test(told), told);
    assert.match(await page.locator("#numbers").textContent(), /≥ 0 \(by the lowest value of the objective\)/);
    assert.ok((await texts(page, "#distribution text")).includes("share of the episodes"));
    await page.locator('[data-name="grid-mo"]').click();
    // On a busy machine it is planned until it is solved.
    await until(page, () => /3\.37·10⁻⁸ to 1/.test(document.querySelector("#numbers").textContent));
    assert.ok((await texts(page, "#distribution text")).includes("probability"));
    await close(page);
  },

  async "two attitudes are told apart by name, and what is beaten does not press the rest into a corner"() {
    const page = await open("#task=grid-mo&risk=erm:2&with=mean");
    await settled(page);
    const names = await texts(page, "#distribution text");
    assert.ok(names.includes("mean, β = 2") && names.includes("mean, β = 0"), String(names));
    const tops = await page.evaluate(() => [...document.querySelectorAll("#world svg")].map((map) => map.getBoundingClientRect().top));
    assert.ok(Math.abs(tops[0] - tops[1]) < 1, String(tops));
    assert.match((await texts(page, "#frontier text")).join(" "), /\d+ that are worse in both lie outside/);
    await page.getByRole("button", { name: "What if down?" }).click();
    await until(page, () => /mean, what if down/.test(document.querySelector("#what-if").textContent));
    await close(page);
  },

  async "the map stays where it is while one paints"() {
    const page = await open("#task=grid-mo");
    await settled(page);
    await until(page, () => document.querySelectorAll("#reasons tbody tr").length > 0);
    await page.evaluate(() => {
      // Where the map is in the page, whatever the browser scrolls to hide a jump.
      const place = () => document.querySelector("#canvas").getBoundingClientRect().top + scrollY;
      const first = place();
      globalThis.jumps = [];
      const look = () => {
        if (Math.abs(place() - first) > 1) globalThis.jumps.push(place() - first);
        requestAnimationFrame(look);
      };
      look();
    });
    await page.locator("#palette button", { hasText: "wall" }).click();
    await page.locator('#canvas [data-cell="10"]').click();
    await shown(page, "grid-mo: 103 states");
    await settled(page);
    await until(page, () => document.querySelectorAll("#reasons tbody tr").length > 0);
    assert.deepEqual(await page.evaluate(() => globalThis.jumps.map(Math.round)), []);
    await close(page);
  },

  async "paper is white, and has no buttons"() {
    const page = await open("#task=msee&theme=dark");
    await known(page);
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
    for (const id of ["gallery", "share-open", "controls", "exact"]) assert.ok(await page.locator(`#${id}`).isHidden(), id);
    assert.ok(await page.locator("#distribution svg").isVisible());
    await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
    await close(page);
  },

  async "letters of twice the size fit, and a page that is made smaller is drawn anew"() {
    const page = await open("#task=grid-mo&with=worst");
    await known(page, 2);
    for (const [width, height] of [[640, 450], [320, 600], [2400, 900], [640, 450]]) {
      await page.setViewportSize({ width, height });
      await page.waitForTimeout(150);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${width}: ${wide}`);
      const cut = await page.evaluate(() => [...document.querySelectorAll("#world svg, #distribution svg, #frontier svg, #stage svg")].filter((drawing) => drawing.getBoundingClientRect().right > drawing.closest(".card").getBoundingClientRect().right).length);
      assert.equal(cut, 0, `${width}`);
    }
    await close(page);
  },
};
