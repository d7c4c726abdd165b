// Reports that the program itself wrote, from answers to the page in the browser.
import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import {existsSync, mkdtempSync, rmSync, statSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {dirname, join, resolve} from "node:path";
import {after, before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {chartsOf, columnOf, dataOf, drawAll, launch, openReport, opensQuickly, skip, tooWide} from "./harness.mjs";

const program = process.env.WISECROWD_PROGRAM;
const here = dirname(fileURLToPath(import.meta.url));
const realData = process.env.WISECROWD_DATA ?? resolve(here, "../../../shared/data");
const LARGEST = 3_000_000;
if (spawnSync(program, ["report", "--help"]).status !== 0) skip("the program has no command report");
const folder = mkdtempSync(join(tmpdir(), "wisecrowd-report-"));
let browser;
before(async () => (browser = await launch()));
after(async () => {
  await browser?.close();
  rmSync(folder, {recursive: true, force: true});
});

function run(...words) {
  const {status, stderr} = spawnSync(program, [...words, "--quiet"], {cwd: folder, encoding: "utf8"});
  assert.equal(status, 0, `${words.join(" ")}: ${stderr}`);
}

/** Opens a page, looks at all of it on a desk and on a phone, and hands it over while it is wide. */
async function look(file, then = async () => {}, fewest = 5) {
  const path = resolve(folder, file);
  assert.ok(statSync(path).size <= LARGEST, `${file} has ${statSync(path).size} bytes`);
  const {page, finish} = await openReport(browser, path);
  await drawAll(page);
  const charts = await chartsOf(page);
  assert.ok(charts.length >= fewest, `${charts.length} charts`);
  for (const {title, marks} of charts) assert.ok(marks > 0, `${title} is drawn`);
  const undefinedWords = await page.evaluate(() => /\b(undefined|NaN|\[object|Infinity)\b/.exec(document.getElementById("app").innerText)?.[0] ?? null);
  assert.equal(undefinedWords, null, "no value is shown that is none");
  await then(page, dataOf(path));
  await page.setViewportSize({width: 360, height: 740});
  assert.deepEqual(await tooWide(page), []);
  await finish();
}

const quoted = (text) => `"${text.replaceAll('"', '""')}"`;

/** Answers of workers who are right in four cases of five; every name has another kind of trouble in it. */
function writeHostileCrowd() {
  const trouble = ["<script>alert(1)</script>", "</script><img src=x onerror=alert(2)>", "<!--", "\"'`", "🦄 👩🏽‍🔬", "مرحبا", "שלום", "a,b;c", "x".repeat(10000), "&amp;", "\u2028", "=1+1"];
  const classes = ["</title>", "🐦 bird", "עורב"];
  const rows = ["task,worker,label"];
  const gold = ["task,label"];
  let state = 7;
  const next = (n) => (state = (state * 48271) % 2147483647) % n;
  trouble.forEach((name, i) => {
    for (let t = 0; t < 5; ++t) {
      const truth = (i + t) % classes.length;
      const task = `${name} ${t}`;
      gold.push(`${quoted(task)},${quoted(classes[truth])}`);
      trouble.forEach((worker) => rows.push([task, worker, classes[next(5) ? truth : next(3)]].map(quoted).join(",")));
    }
  });
  writeFileSync(join(folder, "labels.csv"), rows.join("\n"));
  writeFileSync(join(folder, "gold.csv"), gold.join("\n"));
  return trouble;
}

function writeHostileNumbers() {
  const trouble = ["<script>alert(1)</script>", "</script><img src=x onerror=alert(2)>", "<!--", "\"'`", "🦄", "שלום", "a,b;c", "x".repeat(10000), "=1+1"];
  const rows = ["task,worker,x,y<b>"];
  const gold = ["task,x,y<b>"];
  trouble.forEach((name, i) => {
    for (let t = 0; t < 6; ++t) {
      gold.push(`${quoted(`${name} ${t}`)},${100 * t + i},${-t}`);
      trouble.forEach((worker, w) => rows.push([quoted(`${name} ${t}`), quoted(worker), 100 * t + i + ((w * 7 + t) % 11) - 5, -t + (w === 3 ? 1e6 : w / 10)].join(",")));
    }
  });
  writeFileSync(join(folder, "numbers.csv"), rows.join("\n"));
  writeFileSync(join(folder, "truth.csv"), gold.join("\n"));
  return trouble;
}

test("hostile names from the file to the page", async () => {
  const trouble = writeHostileCrowd();
  run("aggregate", "labels.csv", "--gold", "gold.csv", "--gold-for", "evaluation", "--out", "hostile", "--report", "hostile.html");
  await look("hostile.html", async (page, data) => {
    assert.equal(data.counts.workers, trouble.length);
    const shown = new Set(await page.$$eval("#workers .datatable .row bdi", (names) => names.map((name) => name.textContent)));
    for (const name of trouble.filter((text) => /^[\x20-\x7e]{1,100}$/.test(text))) assert.ok(shown.has(name), name);
    assert.equal(await page.locator("script").count(), 2);
    assert.equal(await page.locator("img").count(), 0);
  });
});

test("a folder that aggregate wrote, of a simulated crowd: what is on the page is what is in the files", async () => {
  run("simulate", "dawid_skene", "--tasks", "20000", "--workers", "400", "--classes", "4", "--out", "crowd");
  run("aggregate", "crowd/answers.csv", "--gold", "crowd/gold.csv", "--gold-for", "evaluation", "--out", "result");
  run("report", "result", "--out", "crowd.html", "--title", "Crowd & <b>sons</b>");
  await look("crowd.html", async (page, data) => {
    assert.ok((await page.title()).startsWith("Crowd & <b>sons</b>"));
    assert.equal(data.counts.tasks, 20000);
    const answers = (await columnOf(page, "workers", 1)).map((text) => Number(text.replaceAll(",", "")));
    assert.deepEqual(answers, [...data.workers.answers].sort((a, b) => b - a).slice(0, answers.length));
    await page.locator("#workers .row").first().click();
    assert.ok((await page.locator("dialog[open] table.heat td").count()) >= 16);
    await page.keyboard.press("Escape");
  });
  await opensQuickly(browser, join(folder, "crowd.html"));
});

test("numbers: hostile names from the file to the page, several dimensions, a report later", async () => {
  const trouble = writeHostileNumbers();
  run("aggregate", "numbers.csv", "--answers", "numbers", "--columns", "task,worker,x,y<b>", "--gold", "truth.csv", "--gold-for", "evaluation", "--out", "numbers");
  run("report", "numbers", "--out", "numbers.html", "--title", "<i>Points</i>");
  await look("numbers.html", async (page, data) => {
    assert.equal(data.answers_kind, "numbers");
    assert.ok((await page.title()).startsWith("<i>Points</i>"));
    const shown = new Set(await page.$$eval("#workers .datatable .row bdi", (names) => names.map((name) => name.textContent)));
    for (const name of trouble.filter((text) => /^[\x20-\x7e]{1,100}$/.test(text))) assert.ok(shown.has(name), name);
    assert.equal(await page.locator("script").count(), 2);
    assert.equal(await page.locator("main b:not(.gauge b), main i:not(.gauge i, .legend i), img").count(), 0);
    assert.equal(await page.locator("#gold figure").count(), 2);
  });
});

test("comparisons: hostile names from the file to the page, a report later", async () => {
  const trouble = ["<b>bold</b>", "<img src=x onerror=alert(1)>", "a & b", "</script>"];
  const rows = trouble.flatMap((left, i) => trouble.slice(i + 1).flatMap((right) => [`"${left}","${left}","${right}","${left}"`, `w,"${right}","${left}",right`, `w,"${left}","${right}",tie`]));
  writeFileSync(join(folder, "duels.csv"), ["worker,left,right,label", ...rows].join("\n") + "\n");
  run("aggregate", "duels.csv", "--answers", "comparisons", "--method", "crowd_bt", "--out", "duels");
  run("report", "duels", "--out", "duels.html", "--title", "<i>Duels</i>");
  await look("duels.html", async (page, data) => {
    assert.equal(data.answers_kind, "comparisons");
    assert.ok((await page.title()).startsWith("<i>Duels</i>"));
    const shown = await page.$$eval("#ranking table bdi", (names) => names.map((name) => name.textContent));
    for (const name of trouble) assert.ok(shown.includes(name), name);
    assert.equal(await page.locator("#ranking figure").count(), 1);
    assert.equal(await page.locator("#workers table").count(), 1);
    assert.equal(await page.locator("script").count(), 2);
    assert.equal(await page.locator("main b:not(.gauge b), main i:not(.gauge i, .legend i), img").count(), 0);
  }, 2);
});

const OTHER_KINDS = {gaussian_numbers: "numbers", compared_items: "comparisons", profile_sets: "sets", noisy_clusters: "similarities", tagged_spans: "sequences"};
for (const [crowd, kind] of Object.entries(OTHER_KINDS)) {
  test(`answers that are ${kind}: a page from the program`, async () => {
    run("simulate", crowd, "--tasks", "60", "--workers", "12", "--out", crowd);
    run("aggregate", join(crowd, "answers.csv"), "--answers", kind, "--report", `${kind}.html`);
    await look(`${kind}.html`, async (page, data) => {
      assert.equal(data.answers_kind, kind);
      assert.match(await page.locator("header").first().innerText(), /workers on \d+ (tasks|documents|items)/);
    }, 1);
  });
}

const present = (path) => (existsSync(join(realData, path)) ? false : `no ${join(realData, path)}`);

test("bluebird", {skip: present("aggregate/bluebird")}, async () => {
  const set = join(realData, "aggregate/bluebird");
  run("aggregate", `${set}/labels.csv`, "--gold", `${set}/gold.csv`, "--gold-for", "evaluation", "--out", "bluebird", "--report", "bluebird.html");
  await look("bluebird.html", async (page) => {
    for (const section of ["workers", "tasks", "classes", "agreement", "gold", "comparison", "convergence"]) {
      assert.equal(await page.locator(`#${section}`).count(), 1, section);
    }
  });
});

test("a learner on LabelMe", {skip: present("learn/labelme")}, async () => {
  const set = join(realData, "learn/labelme");
  run("learn", `${set}/labels.csv`, "-f", `${set}/features.npy`, "-t", `${set}/tasks.csv`, "-g", `${set}/gold.csv`, "-m", "crowd_layer", "--set", "epochs=4", "--out", "labelme", "--report", "labelme.html");
  await look("labelme.html", async (page) => {
    assert.equal(await page.locator("#learning figure").count() > 0, true, "learning curves");
    assert.match(await page.locator(".brand").innerText(), /training report/);
  });
});
