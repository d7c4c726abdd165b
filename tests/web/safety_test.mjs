// Names that want to be more than names, and readers who do not see or do not point.
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {dataOf, drawAll, launch, openReport, pagePath} from "./harness.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

for (const kind of ["hostile", "hostile_numbers"]) test(`${kind}: names are shown as text wherever they stand`, async () => {
  const {page, finish} = await openReport(browser, pagePath(kind));
  const data = dataOf(pagePath(kind));
  assert.equal(await page.title(), data.title);
  assert.equal(await page.locator("h1").innerText(), data.title);
  await drawAll(page);
  await page.$$eval("figure details", (all) => all.forEach((details) => (details.open = true)));
  for (const [section, columns] of [["workers", data.workers], ["tasks", data.tasks]]) {
    const shown = new Set(await page.$$eval(`#${section} .datatable .row bdi`, (names) => names.map((name) => name.textContent)));
    const plain = columns.name.filter((name) => /^[\x20-\x7e]+$/.test(name) && name.trim());
    assert.ok(plain.filter((name) => shown.has(name)).length > 5, `${section} are shown letter by letter`);
    const rows = page.locator(`#${section} .datatable .row`);
    for (let i = 0; i < 4; ++i) {
      await rows.nth(i).click();
      await page.keyboard.press("Escape");
    }
  }
  assert.equal(await page.locator("script").count(), 2, "the data and the program");
  assert.equal(await page.locator("img, iframe, object, embed, form, [onerror], [onload], [onclick]").count(), 0);
  assert.equal(await page.locator("a:not([href^='#'])").count(), 0);
  await finish();
});

test("names keep their direction and the layout around them holds", async () => {
  const {page, finish} = await openReport(browser, pagePath("hostile"));
  const direction = await page.locator("#workers bdi", {hasText: /^שלום/}).first().evaluate((name) => getComputedStyle(name).direction);
  assert.equal(direction, "rtl");
  const heights = await page.$$eval("#workers .datatable tbody tr", (rows) => rows.map((row) => row.getBoundingClientRect().height));
  assert.ok(Math.max(...heights) < 80, `rows stay low: ${Math.max(...heights)}`);
  const cut = page.locator("#workers bdi", {hasText: "WWWWWWWWWW"}).first();
  assert.ok((await cut.getAttribute("title")).length > 120, "the whole name is at hand");
  assert.ok(await cut.evaluate((name) => name.scrollWidth > name.clientWidth), "and cut where there is no room");
  const plain = page.locator("#workers bdi.cut", {hasText: "constructor.constructor"}).first();
  assert.ok(await plain.evaluate((name) => name.firstChild.scrollWidth > name.firstChild.clientWidth), "in the middle if it is plain");
  assert.ok((await plain.evaluate((name) => name.getBoundingClientRect().right - name.lastChild.getBoundingClientRect().right)) > -1, "so that its end is seen");
  const overrides = await page.evaluate(() => /[\u202a-\u202e\u2066-\u2069]/.test(document.getElementById("app").textContent));
  assert.equal(overrides, false, "no text turns the page around");
  await finish();
});

test("the policy of the page stops programs and requests", async () => {
  const {page, offences} = await openReport(browser, pagePath("small"));
  const ran = await page.evaluate(async () => {
    const script = document.createElement("script");
    script.textContent = "window.injected = true";
    document.body.append(script);
    const holder = document.createElement("div");
    holder.innerHTML = "<img src='x' onerror='window.injected = true'>";
    document.body.append(holder);
    const fetched = await fetch("https://example.org/").then(() => true, () => false);
    await new Promise((done) => setTimeout(done, 100));
    return {injected: Boolean(window.injected), fetched};
  });
  assert.deepEqual(ran, {injected: false, fetched: false});
  assert.ok(offences.length > 0, "and the browser says so");
  await page.context().close();
});

for (const kind of ["learn", "numbers", "boxes"]) test(`${kind}: landmarks, headings, names and labels for screen readers`, async () => {
  const {page, finish} = await openReport(browser, pagePath(kind));
  await drawAll(page);
  await page.locator("#workers .row").first().click();
  const problems = await page.evaluate(() => {
    const found = [];
    for (const landmark of ["header", "nav.contents", "main", "footer"]) {
      if (document.querySelectorAll(`body ${landmark}`).length !== 1) found.push(`landmark ${landmark}`);
    }
    if (document.querySelectorAll("h1").length !== 1) found.push("one h1");
    let level = 1;
    for (const heading of document.querySelectorAll("main h1, main h2, main h3, main h4")) {
      const own = Number(heading.tagName[1]);
      if (own > level + 1) found.push(`heading ${heading.textContent} skips a level`);
      level = own;
    }
    const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
    if (new Set(ids).size !== ids.length) found.push("an id twice");
    for (const element of document.querySelectorAll("[aria-labelledby], [aria-describedby]")) {
      for (const id of `${element.getAttribute("aria-labelledby") ?? ""} ${element.getAttribute("aria-describedby") ?? ""}`.trim().split(/\s+/)) {
        if (!document.getElementById(id)?.textContent.trim()) found.push(`label ${id} is missing`);
      }
    }
    for (const picture of document.querySelectorAll("figure svg")) {
      if (picture.getAttribute("role") !== "img" || !picture.hasAttribute("aria-labelledby") || !picture.hasAttribute("aria-describedby")) found.push("a chart without words");
    }
    for (const button of document.querySelectorAll("button")) {
      if (!(button.getAttribute("aria-label") ?? button.textContent).trim()) found.push("a button without a name");
    }
    for (const input of document.querySelectorAll("input")) if (!input.labels.length) found.push("an input without a label");
    for (const table of document.querySelectorAll("table")) {
      const named = table.caption || table.closest("[aria-label], [aria-labelledby]");
      if (!named) found.push("a table without a name");
      if ([...table.querySelectorAll("th")].some((header) => !header.scope)) found.push("a header without a scope");
    }
    return found;
  });
  assert.deepEqual(problems, []);
  await page.keyboard.press("Escape");
  await finish();
});

test("the keyboard: skip link first, focus is seen", async () => {
  const {page, finish} = await openReport(browser, pagePath("small"));
  await page.keyboard.press("Tab");
  const skip = page.locator(":focus");
  assert.equal(await skip.innerText(), "Skip to the report");
  assert.ok((await skip.boundingBox()).y >= 0, "it comes into sight");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "report");
  await page.keyboard.press("Tab");
  const outline = await page.locator(":focus").evaluate((element) => getComputedStyle(element).outlineStyle);
  assert.equal(outline, "solid");
  await finish();
});
