// Searching, sorting, filtering, paging, and looking at one worker or task, by mouse and by keyboard.
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {columnOf, dataOf, launch, openReport, pagePath} from "./harness.mjs";

let browser;
let report;
const data = dataOf(pagePath("small"));
before(async () => {
  browser = await launch();
  report = await openReport(browser, pagePath("small"));
});
after(async () => {
  try {
    await report?.finish();
  } finally {
    await browser?.close();
  }
});

const byAccuracy = (sign) =>
  data.workers.name
    .map((name, i) => ({name, accuracy: data.workers.accuracy[i], answers: data.workers.answers[i], i}))
    .sort((a, b) => sign * (a.accuracy - b.accuracy) || b.answers - a.answers || a.i - b.i)
    .map(({name}) => name);
const PAGE = 25;

test("what needs action comes first, in words and with the reason", async () => {
  const {page} = report;
  const urgency = ["stop", "check", "retrain", "unsure", "keep"];
  const {name, advice, answers, reason} = data.workers;
  const expected = name
    .map((_, i) => i)
    .sort((a, b) => urgency.indexOf(advice[a]) - urgency.indexOf(advice[b]) || answers[b] - answers[a] || a - b)
    .slice(0, PAGE);
  assert.deepEqual(await columnOf(page, "workers", 0), expected.map((i) => name[i]));
  const header = page.locator("#workers thead th", {hasText: "Advice"});
  assert.equal(await header.getAttribute("aria-sort"), "ascending");
  const said = (await page.locator("#workers tbody .advised-as").allInnerTexts()).map((text) => text.replace(/\s+/g, " "));
  for (const [row, i] of expected.entries()) {
    assert.ok(said[row].toLowerCase().includes(advice[i]), said[row]);
    assert.equal(said[row].includes(reason[i].replace(/\s+/g, " ")), advice[i] !== "keep", said[row]);
  }
});

for (const [width, kinds] of [[1280, ["small", "hostile", "large", "learn", "classes", "numbers", "boxes"]], [390, ["small", "hostile", "numbers", "boxes"]]]) {
  test(`no column is cut off at ${width} pixels`, async () => {
    for (const kind of kinds) {
      const wide = await openReport(browser, pagePath(kind), {viewport: {width, height: 900}});
      const cut = await wide.page.evaluate(() =>
        [...document.querySelectorAll(".datatable .scroll")]
          .filter((box) => box.scrollWidth > box.clientWidth)
          .map((box) => `${box.querySelector("caption").textContent}: ${box.scrollWidth} in ${box.clientWidth}`),
      );
      assert.deepEqual(cut, [], kind);
      await wide.finish();
    }
  });
}

test("on a phone names can be told apart, and advice is a word", async () => {
  const phone = await openReport(browser, pagePath("small"), {viewport: {width: 390, height: 800}});
  const seen = await phone.page.locator("#workers tbody button.row bdi").evaluateAll((names) =>
    names.map((name) => {
      const box = name.closest("th").getBoundingClientRect();
      const tail = name.lastElementChild;
      return {text: tail?.textContent ?? "", whole: tail !== null && tail.getBoundingClientRect().right <= box.right && tail.scrollWidth <= tail.clientWidth + 1};
    }),
  );
  assert.equal(seen.length, PAGE);
  assert.ok(seen.every(({whole}) => whole), "the end of every name is seen");
  assert.equal(new Set(seen.map(({text}) => text)).size, PAGE);
  const words = await phone.page.locator("#workers tbody .badge .word").evaluateAll((list) => list.map((word) => word.getBoundingClientRect().width));
  assert.ok(words.length === PAGE && words.every((width) => width > 15));
  await phone.finish();
});

test("sorts by a column and back, and says so", async () => {
  const {page} = report;
  const header = page.locator("#workers thead th", {hasText: "Accuracy"});
  await header.locator("button").click();
  assert.equal(await header.getAttribute("aria-sort"), "descending");
  assert.deepEqual(await columnOf(page, "workers", 0), byAccuracy(-1).slice(0, PAGE));
  await header.locator("button").press("Enter");
  assert.equal(await header.getAttribute("aria-sort"), "ascending");
  assert.deepEqual(await columnOf(page, "workers", 0), byAccuracy(1).slice(0, PAGE));
  assert.equal(await page.locator("#workers [aria-sort=ascending], #workers [aria-sort=descending]").count(), 1);
});

test("unknown values go last, whichever way", async () => {
  const {page} = report;
  const gold = page.locator("#workers thead th", {hasText: "On gold"}).locator("button");
  const unknown = data.workers.gold_accuracy.filter((value) => value === null).length;
  assert.ok(unknown > 0, "the data have unknown values");
  for (let way = 0; way < 2; ++way) {
    await gold.click();
    await page.locator("#workers nav.pages button", {hasText: "Next"}).click();
    const column = await columnOf(page, "workers", 5);
    assert.ok(column.slice(-unknown).every((text) => text === "–") && column[0] !== "–");
  }
});

test("pages through all rows", async () => {
  const {page} = report;
  await page.locator("#workers thead th", {hasText: "Worker"}).locator("button").click();
  const first = await columnOf(page, "workers", 0);
  await page.locator("#workers nav.pages button", {hasText: "Next"}).click();
  const second = await columnOf(page, "workers", 0);
  assert.deepEqual([...first, ...second], [...data.workers.name].sort());
  assert.equal(await page.locator("#workers nav.pages button", {hasText: "Next"}).isDisabled(), true);
});

test("searches while typing; Escape clears", async () => {
  const {page} = report;
  const search = page.getByLabel("Search workers");
  const status = page.locator("#workers [role=status]");
  await search.fill("WORKER-0001");
  await page.waitForFunction(() => document.querySelectorAll("#workers .datatable tbody tr").length === 10);
  assert.match(await status.innerText(), /^10 workers match, of 39/);
  await search.fill("no such worker");
  await page.locator("#workers tr.none").waitFor();
  await search.press("Escape");
  await page.waitForFunction(() => document.querySelectorAll("#workers .datatable tbody tr").length === 25);
  assert.equal(await search.inputValue(), "");
});

test("filters by advice", async () => {
  const {page} = report;
  const chip = page.locator("#workers .chip", {hasText: "Stop"});
  await chip.click();
  assert.equal(await chip.getAttribute("aria-pressed"), "true");
  const names = data.workers.name.filter((_, i) => data.workers.advice[i] === "stop");
  assert.deepEqual((await columnOf(page, "workers", 0)).sort(), [...names].sort());
  await chip.click();
  assert.equal((await columnOf(page, "workers", 0)).length, PAGE);
});

test("a row opens the worker with the confusion matrix; Escape closes and gives the focus back", async () => {
  const {page} = report;
  const i = data.worker_confusion.share.findIndex((row) => row !== null);
  await page.getByLabel("Search workers").fill(data.workers.name[i]);
  await page.waitForFunction(() => document.querySelectorAll("#workers .datatable tbody tr").length === 1);
  const row = page.locator("#workers button.row");
  await row.focus();
  await page.keyboard.press("Enter");
  const drawer = page.locator("dialog[open]");
  assert.equal(await drawer.locator("h2").innerText(), data.workers.name[i]);
  const plain = (text) => text.replace(/\s+/g, " "); // blanks before per cent are narrow ones
  assert.ok(plain(await drawer.innerText()).includes(data.workers.reason[i]));
  const k = data.worker_confusion.classes.length;
  const cells = await drawer.locator("table.heat tbody td").allInnerTexts();
  assert.deepEqual(cells.map(Number), data.worker_confusion.share[i].map((value) => Math.round(100 * value)));
  assert.equal(cells.length, k * k);
  await page.keyboard.press("Escape");
  assert.equal(await drawer.count(), 0);
  assert.equal(await row.evaluate((element) => element === document.activeElement), true);
  await page.getByLabel("Search workers").fill("");
});

test("arrows walk through rows, and through the drawer", async () => {
  const {page} = report;
  await page.waitForFunction(() => document.querySelectorAll("#workers .datatable tbody tr").length === 25);
  const names = await columnOf(page, "workers", 0);
  await page.locator("#workers button.row").first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  const heading = page.locator("dialog[open] h2");
  assert.equal(await heading.innerText(), names[1]);
  await page.locator("dialog[open] button", {hasText: "Next"}).click();
  assert.equal(await heading.innerText(), names[2]);
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  assert.equal(await heading.innerText(), names[0]);
  assert.equal(await page.locator("dialog[open] button", {hasText: "Previous"}).isDisabled(), true);
  await page.locator("dialog[open] button", {hasText: "Close"}).click();
  assert.equal(await page.locator("dialog[open]").count(), 0);
});

test("a point of the chart opens its worker", async () => {
  const {page} = report;
  const chart = page.locator("#workers figure");
  await chart.scrollIntoViewIfNeeded();
  await chart.locator("svg").waitFor();
  // The lonely one with most answers: no other is near it.
  const i = data.workers.answers.indexOf(Math.max(...data.workers.answers));
  const points = await chart.locator("svg [aria-label=dot] > *").evaluateAll((list) =>
    list.map((mark) => {
      const box = mark.getBoundingClientRect();
      return [box.left + box.width / 2, box.top + box.height / 2];
    }),
  );
  assert.equal(points.length, data.workers.name.length, "a mark per worker");
  const [x, y] = points.reduce((a, b) => (b[0] > a[0] ? b : a));
  await page.mouse.move(x, y);
  assert.ok((await chart.locator("[aria-label=tip]").textContent()).includes(data.workers.name[i]), "the tip names the worker");
  await page.mouse.click(x, y);
  assert.equal(await page.locator("dialog[open] h2").innerText(), data.workers.name[i]);
  await page.keyboard.press("Escape");
});

test("a task shows its posterior and who said what, and leads to the workers", async () => {
  const {page} = report;
  const i = data.tasks.said.findIndex((said) => said.length > 2);
  await page.getByLabel("Search tasks").fill(data.tasks.name[i]);
  await page.waitForFunction(() => document.querySelectorAll("#tasks .datatable tbody tr").length === 1);
  await page.locator("#tasks .datatable tbody tr td").nth(1).click();
  const drawer = page.locator("dialog[open]");
  assert.equal(await drawer.locator("h2").innerText(), data.tasks.name[i]);
  const classes = await drawer.locator(".posterior dt").allInnerTexts();
  assert.deepEqual(classes, data.tasks.posterior[i].map(([c]) => data.classes.name[c]));
  const said = await drawer.locator("table tbody tr").evaluateAll((rows) => rows.map((row) => [...row.children].slice(0, 2).map((cell) => cell.innerText)));
  assert.deepEqual(said, data.tasks.said[i].map(([worker, c]) => [worker, data.classes.name[c]]));
  await drawer.locator("table button.link").first().click();
  assert.equal(await drawer.locator("h2").innerText(), data.tasks.said[i][0][0]);
  await drawer.locator("button", {hasText: "Back"}).click();
  assert.equal(await drawer.locator("h2").innerText(), data.tasks.name[i]);
  await page.keyboard.press("Escape");
});
