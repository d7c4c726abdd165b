// What the browser tests share: a headless Chromium, and pages that tell of everything a report must not do.
//
// The environment names what to use: WISECROWD_BROWSER_MODULES (where playwright-core is), WISECROWD_PAGES (pages that
// fixtures.py made), WISECROWD_CHROMIUM (default: the first of the usual names in PATH).
import assert from "node:assert/strict";
import {existsSync, readFileSync} from "node:fs";
import {createRequire} from "node:module";
import {cpus, loadavg} from "node:os";
import {delimiter, join, resolve} from "node:path";
import {pathToFileURL} from "node:url";

const SKIPPED = 77; // what ctest takes for "skipped"

export function skip(reason) {
  console.log(`skipped: ${reason}`);
  process.exit(SKIPPED);
}

function findChromium() {
  if (process.env.WISECROWD_CHROMIUM) return process.env.WISECROWD_CHROMIUM;
  const folders = (process.env.PATH ?? "").split(delimiter);
  for (const name of ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]) {
    for (const folder of folders) if (existsSync(join(folder, name))) return join(folder, name);
  }
  return skip("no Chromium in PATH (Debian: apt-get install chromium)");
}

const modules = process.env.WISECROWD_BROWSER_MODULES ?? "node_modules";
if (!existsSync(join(modules, "playwright-core"))) skip(`no playwright-core in ${modules}`);
const {chromium} = createRequire(resolve(modules, "x.js"))("playwright-core");

export const pages = resolve(process.env.WISECROWD_PAGES ?? "pages");
export const pagePath = (name) => join(pages, `${name}.html`);

/** The data inside a page, as the page will read them. */
export function dataOf(path) {
  const text = readFileSync(path, "utf8");
  const match = /<script type="application\/json" id="wisecrowd-data">(.*?)<\/script>/s.exec(text);
  return match ? JSON.parse(match[1]) : null;
}

export const launch = () =>
  chromium.launch({
    executablePath: findChromium(),
    // The sandbox of Chromium does not work for root; the other flags keep it from calling home.
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });

/**
 * Opens a file as a reader would, by its path. `finish` closes the page and fails if it complained, asked for anything
 * outside itself, or opened a dialog.
 */
export async function openReport(browser, path, options = {}) {
  const context = await browser.newContext({viewport: {width: 1280, height: 900}, reducedMotion: "reduce", ...options});
  const page = await context.newPage();
  const address = pathToFileURL(path).href;
  const offences = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && offences.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => offences.push(`error: ${error.stack}`));
  page.on("dialog", (dialog) => {
    offences.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    const url = request.url();
    if (url.split("#")[0] !== address && !url.startsWith("data:")) offences.push(`request: ${url}`);
  });
  const session = await context.newCDPSession(page);
  await session.send("Performance.enable", {timeDomain: "threadTicks"}); // time of the processor, not of the clock
  const begin = performance.now();
  await page.goto(address);
  await page.waitForSelector("html[data-ready]", {state: "attached"});
  const milliseconds = performance.now() - begin;
  const {metrics} = await session.send("Performance.getMetrics");
  const busy = 1000 * metrics.find(({name}) => name === "TaskDuration").value;
  const finish = async () => {
    await context.close();
    assert.deepEqual(offences, [], `what ${path} should not do`);
  };
  return {page, milliseconds, busy, offences, finish};
}

/**
 * Fails unless the page opens within two seconds at the best of three times. Where more programs run than there are
 * processors the clock measures those, so there the work of the page alone is held to less.
 */
export async function opensQuickly(browser, path) {
  let [clock, work] = [Infinity, Infinity];
  for (let attempt = 0; attempt < 3 && clock > 1000; ++attempt) {
    const {milliseconds, busy, finish} = await openReport(browser, path);
    [clock, work] = [Math.min(clock, milliseconds), Math.min(work, busy)];
    await finish();
  }
  console.log(`${path}: opened in ${clock.toFixed(0)} ms, of which ${work.toFixed(0)} ms work of the page`);
  assert.ok(work <= 1500, `the page works for ${work} ms`);
  if (loadavg()[0] < cpus().length) assert.ok(clock <= 2000, `opens in ${clock} ms`);
}

/** Draws every chart at once, as before printing. */
export const drawAll = (page) => page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));

/** Scrolls to the end, so that every chart was near the window once. */
export async function scrollThrough(page) {
  await page.evaluate(async () => {
    const moment = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 10)));
    for (let y = 0; y < document.documentElement.scrollHeight; y += 600) {
      window.scrollTo({top: y, behavior: "instant"});
      await moment();
    }
    window.scrollTo({top: 0, behavior: "instant"});
    await moment();
  });
}

/** For every chart: its heading and how many marks were drawn. */
export const chartsOf = (page) =>
  page.$$eval("figure.chart .drawing", (places) =>
    places.map((place) => ({
      title: place.closest("figure").querySelector("h3").textContent,
      marks: place.querySelectorAll("svg circle, svg rect, svg path, svg line").length,
    })),
  );

/** What stands out at the right of the window, after the charts had time to follow a new width. */
export async function tooWide(page) {
  const fits = () => document.documentElement.scrollWidth <= window.innerWidth;
  await page.waitForFunction(fits, null, {timeout: 5000}).catch(() => {});
  return page.evaluate(() => {
    if (document.documentElement.scrollWidth <= window.innerWidth) return [];
    const wide = [...document.querySelectorAll("body *")].filter((element) => element.getBoundingClientRect().right > window.innerWidth + 1);
    return wide.slice(0, 8).map((element) => `${element.tagName} ${element.getAttribute("class")} "${element.textContent.slice(0, 30)}"`).concat("too wide");
  });
}

/** Texts of one column of a table (0 is the first), as they are seen. */
export const columnOf = (page, section, column) =>
  page.$$eval(
    `#${section} .datatable tbody tr`,
    (rows, c) => rows.map((row) => row.children[c].textContent.trim()),
    column,
  );
