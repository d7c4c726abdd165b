// Who can be trusted: the picture of the crowd, its words, and timelines.
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {dataOf, drawAll, launch, openReport, pagePath, tooWide} from "./harness.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const PICTURE = "Who agrees with whom beyond chance";
const pictureOf = (page) => page.locator("#trust figure", {has: page.locator("h3", {hasText: PICTURE})});

/** Where every dot stands: the layout. */
const dotsOf = (page) => pictureOf(page).locator("svg [aria-label=dot] circle, svg [aria-label=dot] path").evaluateAll((dots) => dots.map((dot) => dot.outerHTML));

test("every worker and every pair is drawn, names and groups stand beside them, and a second look is the same", async () => {
  const {trust} = dataOf(pagePath("small"));
  const looks = [];
  for (const look of [1, 2]) {
    const {page, finish} = await openReport(browser, pagePath("small"));
    await drawAll(page);
    const dots = await dotsOf(page);
    assert.equal(dots.length, trust.picture.nodes.name.length, `look ${look}`);
    assert.equal(new Set(dots.map((dot) => /cx="[^"]*" cy="[^"]*"|translate\([^)]*\)/.exec(dot)[0])).size, dots.length, "no two stand on one place");
    assert.equal(await pictureOf(page).locator("svg [aria-label=link] path").count(), trust.picture.edges.length);
    const words = await pictureOf(page).locator("svg").textContent();
    assert.ok(words.includes(trust.picture.nodes.name[0]), words);
    assert.match(words, /Group 1: 9 workers.*contradict the rest \(5 drawn\)/s);
    assert.match(await pictureOf(page).locator(".summary").innerText(), /Drawn are some of them/);
    looks.push(dots);
    await finish();
  }
  assert.deepEqual(looks[0], looks[1]);
});

test("copies are joined by a stronger line", async () => {
  const {page, finish} = await openReport(browser, pagePath("small"));
  await drawAll(page);
  const widths = await pictureOf(page).locator("svg [aria-label=link]").evaluateAll((marks) => marks.map((mark) => [Number(mark.getAttribute("stroke-width") ?? 1), mark.querySelectorAll("path").length]));
  const {edges} = dataOf(pagePath("small")).trust.picture;
  assert.deepEqual(widths.map(([, n]) => n), [edges.filter((edge) => edge[5] < 0.5).length, edges.filter((edge) => edge[5] >= 0.5).length]);
  assert.ok(widths[1][0] > 2 * widths[0][0], String(widths));
  await finish();
});

test("the same in words: pairs and groups as tables, a finding with its advice", async () => {
  const {page, finish} = await openReport(browser, pagePath("small"));
  const {picture, findings} = dataOf(pagePath("small")).trust;
  const details = pictureOf(page).locator("details");
  await details.locator("summary").click();
  assert.equal(await details.locator("tbody tr").count(), picture.edges.length);
  assert.ok((await details.innerText()).includes(picture.nodes.name[picture.edges[0][1]]));
  assert.equal(await page.locator("#trust table.small tbody tr").count(), picture.groups.length);
  const finding = await page.locator("#trust .finding").first().innerText();
  for (const words of [findings[0].title, findings[0].words, findings[0].to_do, "Stop"]) assert.ok(finding.includes(words), finding);
  await finish();
});

test("a click on a worker opens its details, with its time", async () => {
  const {page, finish} = await openReport(browser, pagePath("small"));
  await drawAll(page);
  const dot = pictureOf(page).locator("svg [aria-label=dot] circle, svg [aria-label=dot] path").first();
  await dot.scrollIntoViewIfNeeded();
  const box = await dot.boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  const drawer = page.locator("dialog[open]");
  assert.match(await drawer.locator("h2").innerText(), new RegExp(dataOf(pagePath("small")).trust.picture.nodes.name[0]));
  assert.match(await drawer.innerText(), /In the course of its answers/);
  await page.keyboard.press("Escape");
  await finish();
});

test("timelines: who got worse at once, the others on demand", async () => {
  const {page, finish} = await openReport(browser, pagePath("small"));
  await drawAll(page);
  const figures = page.locator("#trust .pair figure");
  assert.equal(await figures.count(), 6);
  assert.match(await figures.first().innerText(), /from its answer 151 on/);
  assert.equal(await figures.first().locator("svg [aria-label=dot] path").count(), 1, "where the alarm was raised");
  const more = page.locator("#trust details.more");
  assert.match(await more.locator("> summary").innerText(), /14 more workers/);
  await more.locator("> summary").click();
  await figures.nth(19).waitFor();
  await drawAll(page);
  assert.equal(await page.locator("#trust .pair figure svg").count(), 20);
  await finish();
});

for (const kind of ["hostile", "large"]) {
  test(`${kind}: the picture fits a phone, and no worker stands outside`, async () => {
    const {page, finish} = await openReport(browser, pagePath(kind), {viewport: {width: 360, height: 740}});
    await drawAll(page);
    assert.equal((await dotsOf(page)).length, dataOf(pagePath(kind)).trust.picture.nodes.name.length);
    const outside = await pictureOf(page).locator("svg").first().evaluate((svg) => {
      const frame = svg.getBoundingClientRect();
      return [...svg.querySelectorAll("[aria-label=dot] circle, [aria-label=dot] path")].filter((dot) => {
        const box = dot.getBoundingClientRect();
        return box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1;
      }).length;
    });
    assert.equal(outside, 0);
    assert.deepEqual(await tooWide(page), []);
    await finish();
  });
}
