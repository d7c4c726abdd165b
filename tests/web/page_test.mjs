// Every kind of report: it opens, draws, fits the window, prints, and obeys the rules of a page from nowhere.
import assert from "node:assert/strict";
import {readFileSync, statSync} from "node:fs";
import {after, before, test} from "node:test";
import {chartsOf, dataOf, drawAll, launch, openReport, opensQuickly, pagePath, scrollThrough, tooWide} from "./harness.mjs";

const KINDS = ["judges", "small", "learn", "hostile", "large", "classes", "one", "minimal", "numbers", "boxes", "hostile_numbers"];
let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

for (const kind of KINDS) {
  test(`${kind}: opens, draws every chart, asks for nothing, fits a desk and a phone`, async () => {
    const {page, finish} = await openReport(browser, pagePath(kind), {hasTouch: true});
    if (kind === "small") await scrollThrough(page);
    else await drawAll(page);
    const charts = await chartsOf(page);
    for (const {title, marks} of charts) assert.ok(marks > 0, `${title} is drawn`);
    if (kind === "learn") assert.ok(charts.length >= 11, `all charts are there, not ${charts.length}`);
    if (kind === "minimal") assert.equal(charts.length, 0);
    if (kind === "numbers") assert.ok(charts.length >= 6, `all charts are there, not ${charts.length}`);
    if (kind === "boxes") assert.ok(charts.length >= 16, `charts of four dimensions, not ${charts.length}`);
    assert.deepEqual(await tooWide(page), [], "nothing stands out at the right");
    await page.setViewportSize({width: 360, height: 740});
    assert.deepEqual(await tooWide(page), [], "no scrolling sideways on a phone");
    await finish();
  });
}

test("parts without data are left out, parts with data are there", async () => {
  const idsOf = async (kind) => {
    const {page, finish} = await openReport(browser, pagePath(kind));
    const ids = await page.$$eval("main > section", (sections) => sections.map((section) => section.id));
    const links = await page.$$eval("nav.contents a", (list) => list.map((link) => link.getAttribute("href").slice(1)));
    assert.deepEqual(links, ids, "the contents list the sections");
    await finish();
    return ids;
  };
  assert.deepEqual(await idsOf("minimal"), ["warnings", "summary", "making"]);
  assert.deepEqual(await idsOf("judges"), ["warnings", "summary", "judges", "biases", "calibration", "prevalence", "ranking", "making"]);
  assert.deepEqual(await idsOf("numbers"), ["warnings", "summary", "estimates", "tasks", "workers", "agreement", "gold", "making"]);
  assert.deepEqual(await idsOf("learn"), ["warnings", "summary", "workers", "trust", "tasks", "classes", "agreement", "gold", "fairness", "comparison", "learning", "savings", "convergence", "making", "sampling"]);
});

test("warnings come first, the serious ones before the others, each with what to do", async () => {
  const {page, finish} = await openReport(browser, pagePath("small"));
  const texts = await page.$$eval(".warning", (list) => list.map((item) => item.innerText));
  const {warnings} = dataOf(pagePath("small"));
  assert.equal(texts.length, warnings.length);
  assert.match(texts[0], /serious/i);
  for (const {title, remedy} of warnings) assert.ok(texts.some((text) => text.includes(title) && text.includes(remedy)));
  await finish();
});

test("headline figures have their intervals", async () => {
  const {page, finish} = await openReport(browser, pagePath("small"));
  const first = await page.locator(".headline").first().innerText();
  assert.match(first, /88\.9\s%/);
  assert.match(first, /81\.6\s–\s93\.5\s%/);
  assert.match(first, /measured on gold/);
  await finish();
});

test("size and time", async () => {
  assert.ok(statSync(process.env.WISECROWD_TEMPLATE).size <= 900_000, "the page without data");
  await opensQuickly(browser, pagePath("large"));
  const {page, finish} = await openReport(browser, pagePath("large"));
  assert.ok((await page.locator("tbody tr").count()) < 200, "only pages of the tables are in the document");
  await finish();
});

test("charts as tables hold the numbers", async () => {
  const {page, finish} = await openReport(browser, pagePath("small"));
  const details = page.locator("figure", {hasText: "Accuracy against number of answers"}).locator("details");
  assert.equal(await details.locator("tbody tr").count(), 0, "made when asked for");
  await details.locator("summary").click();
  await details.locator("tbody tr").first().waitFor();
  const {workers} = dataOf(pagePath("small"));
  assert.equal(await details.locator("tbody tr").count(), workers.name.length);
  assert.ok((await details.innerText()).includes(workers.name[0]));
  await finish();
});

test("both themes: the system's wish, then the reader's; enough contrast", async () => {
  for (const [scheme, kind] of [["light", "small"], ["dark", "small"], ["light", "numbers"], ["dark", "numbers"]]) {
    const {page, finish} = await openReport(browser, pagePath(kind), {colorScheme: scheme});
    if (kind === "numbers") await drawAll(page);
    await page.locator(".row").first().click();
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), scheme);
    const weak = await page.evaluate(contrasts, 4.5);
    assert.deepEqual(weak, [], `texts with weak contrast in ${scheme}`);
    await page.keyboard.press("Escape");
    const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const before = await ground();
    await page.locator("button.theme").click();
    assert.notEqual(await ground(), before);
    await page.reload();
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), scheme === "light" ? "dark" : "light", "kept");
    await finish();
  }
});

/** Runs in the page: what is written with less contrast than wanted (WCAG's measure). */
function contrasts(wanted) {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const groundOf = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = rgba(getComputedStyle(e).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const weak = new Set();
  for (const element of document.querySelectorAll("body *")) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!hasText || element.closest("script, style, noscript, title, [disabled], .unseen, [aria-hidden=true]")) continue;
    const style = getComputedStyle(element);
    const inside = element.closest("svg");
    const [a, b] = [luminance(rgba(inside && style.fill !== "none" ? style.fill : style.color)), luminance(groundOf(inside ?? element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < wanted) weak.add(`${element.tagName}.${element.getAttribute("class")} "${element.textContent.slice(0, 20)}" ${ratio.toFixed(2)}`);
  }
  return [...weak];
}

test("on paper: light, every chart, no controls", async () => {
  const {page, finish} = await openReport(browser, pagePath("learn"), {colorScheme: "dark"});
  const dark = await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--surface"));
  await page.emulateMedia({media: "print"});
  await page.waitForFunction(() => [...document.querySelectorAll(".drawing")].every((place) => place.querySelector("svg")));
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--surface")), dark);
  for (const control of [".actions", "nav.contents", ".tools", ".pages", "details.numbers", ".skip"]) {
    for (const element of await page.locator(control).all()) assert.equal(await element.isVisible(), false, control);
  }
  assert.equal(await page.locator("table.heat").first().isVisible(), true);
  const pdf = await page.pdf({format: "A4"});
  assert.ok(pdf.length > 50_000);
  await finish();
});

test("little motion for those who ask for it", async () => {
  for (const [reducedMotion, animation] of [["reduce", "none"], ["no-preference", "slide"]]) {
    const {page, finish} = await openReport(browser, pagePath("small"), {reducedMotion});
    await page.locator(".row").first().click();
    assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector("dialog")).animationName), animation);
    await finish();
  }
});

test("says so when it holds no data or data of another kind", async () => {
  const {page, finish} = await openReport(browser, process.env.WISECROWD_TEMPLATE);
  assert.match(await page.locator("main").innerText(), /holds no data/);
  await finish();
  const template = readFileSync(process.env.WISECROWD_TEMPLATE, "utf8");
  assert.equal(template.split("<!--WISECROWD-DATA-->").length, 2, "one place for the data");
  assert.equal(template.split("WISECROWD-TITLE").length, 2, "one place for the title");
});
