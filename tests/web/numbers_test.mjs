// Reports on numbers: what is written is what is in the data, digits follow the scatter, and everything opens.
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {dataOf, drawAll, launch, openReport, pagePath} from "./harness.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

/** The estimates of the table of tasks as they are written. */
const written = (page) => page.$$eval("#tasks .datatable tbody tr td:nth-child(2)", (cells) => cells.map((cell) => (cell.querySelector(".estimate") ?? cell).firstChild.textContent));

test("tasks: estimates with intervals, sorted and searched; a task shows who said what, outliers marked", async () => {
  const {page, finish} = await openReport(browser, pagePath("numbers"));
  const {tasks} = dataOf(pagePath("numbers"));
  const column = async () => (await written(page)).map((text) => Number(text.replace("−", "-")));
  assert.ok(Math.abs((await column())[0] - tasks.estimate[0][0]) < 0.01);
  await page.locator("#tasks th .sort", {hasText: "Estimate"}).click();
  const down = await column();
  assert.deepEqual(down, [...down].sort((a, b) => b - a), "largest first");
  const far = tasks.said.findIndex((said) => said.some(([, , out]) => out.length > 0));
  await page.locator("#tasks input[type=search]").fill(tasks.name[far]);
  await page.waitForFunction(() => document.querySelectorAll("#tasks .datatable .row").length === 1);
  await page.locator("#tasks .row").first().click();
  const dialog = page.locator("dialog[open]");
  assert.equal(await dialog.locator("svg[role=img]").count(), 1, "the answers on a line");
  const rows = dialog.locator("table", {hasText: "Who said what"}).locator("tbody tr");
  assert.equal(await rows.count(), tasks.said[far].length);
  assert.equal(await rows.locator(".wrong").count(), tasks.said[far].filter(([, , out]) => out.length > 0).length);
  await rows.first().locator("button").click();
  assert.equal(await dialog.locator(".kind").innerText(), "Worker");
  await page.keyboard.press("Escape");
  await finish();
});

test("workers: who errs most comes first; bias against scale opens the nearest worker", async () => {
  const {page, finish} = await openReport(browser, pagePath("numbers"));
  const {workers} = dataOf(pagePath("numbers"));
  const worst = workers.error.map(([error]) => error).indexOf(Math.max(...workers.error.map(([error]) => error)));
  assert.equal(await page.locator("#workers .row").first().innerText(), workers.name[worst]);
  await drawAll(page);
  const triangle = page.locator("#workers figure svg [aria-label=dot] path").first();
  await triangle.scrollIntoViewIfNeeded();
  const box = await triangle.boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await page.locator("dialog[open]").waitFor();
  await page.keyboard.press("Escape");
  await finish();
});

test("several dimensions: a row or a column each, charts of the first four, and the page says so", async () => {
  const {page, finish} = await openReport(browser, pagePath("boxes"));
  const {dimensions} = dataOf(pagePath("boxes"));
  const text = await page.locator("#gold").textContent();
  for (const {name} of dimensions) assert.ok(text.includes(name), name);
  assert.match(await page.locator("#estimates").innerText(), /first 4 of 5 dimensions/);
  await page.locator("#tasks .row").first().click();
  assert.equal(await page.locator("dialog[open] table").first().locator("tbody tr").count(), dimensions.length);
  await page.keyboard.press("Escape");
  await finish();
});

test("numbers of any size can be read", async () => {
  const small = await openReport(browser, pagePath("hostile_numbers"));
  assert.match((await written(small.page))[0], /^−?0\.\d{5}/, "a thousandth is not 0");
  await small.finish();
  const large = await openReport(browser, pagePath("boxes"));
  assert.match((await written(large.page))[0], /^−?\d{1,3}(,\d{3})+/, "millions have commas, not powers");
  await large.finish();
});
