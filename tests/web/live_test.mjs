// The live page of `wisecrowd serve` in a real browser: drawn, updated by events, used by keyboard, on a phone, in both themes.
import assert from "node:assert/strict";
import {spawn, spawnSync} from "node:child_process";
import {mkdtempSync, mkdirSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {launch, tooWide} from "./harness.mjs";

const program = process.env.WISECROWD_PROGRAM;
const folder = mkdtempSync(join(tmpdir(), "wisecrowd-live-"));
const pictures = process.env.WISECROWD_PICTURES; // a folder for screenshots, to look at
let browser, service, address;

/** Starts a service, and waits until it says on which port. */
function serve(...words) {
  return new Promise((done, fail) => {
    const child = spawn(program, ["serve", "--listen", "0", ...words], {stdio: ["ignore", "ignore", "pipe"]});
    let text = "";
    child.stderr.on("data", (piece) => {
      text += piece;
      const ready = /"event":"ready".*?"port":(\d+)/.exec(text);
      if (ready) done([child, `http://127.0.0.1:${ready[1]}`]);
    });
    child.on("exit", (code) => fail(new Error(`the service ended with ${code}: ${text}`)));
  });
}

async function tell(method, path, body, token) {
  const headers = {"Content-Type": "application/json", ...(token ? {Authorization: `Bearer ${token}`} : {})};
  const answer = await fetch(address + path, {method, headers, body: JSON.stringify(body)});
  assert.ok(answer.ok, `${path}: ${answer.status}`);
  return answer.json();
}

/** Tasks whose label is their number's parity; the last worker guesses, one has a hostile name. */
function rows(from, to) {
  const names = ["anna", "ben", "<img src=x onerror=alert(1)>", "model-1", "guesser"];
  const list = [];
  for (let t = from; t < to; ++t) {
    names.forEach((worker, w) => {
      const right = w < 4 ? (t * 7 + w * 3) % 10 > w : (t * 31) % 3 === 0;
      list.push({task: `item ${t}`, worker, label: (t % 2 === 0) === right ? "yes" : "no", seconds: 1 + w});
    });
  }
  return list;
}

before(async () => {
  [browser, [service, address]] = await Promise.all([launch(), serve("--data", join(folder, "open"))]);
  await tell("POST", "/v1/projects", {name: "birds", classes: ["yes", "no"], title: "Birds & <b>bees</b>", link_template: "https://example.org/t/{task}", price: 2});
  await tell("POST", "/v1/projects/birds/answers", rows(0, 60));
  await tell("PATCH", "/v1/projects/birds/workers/model-1", {kind: "machine"});
  for (let tries = 0; tries < 100; ++tries) {
    const {progress} = await (await fetch(`${address}/v1/projects/birds`)).json();
    if (progress?.position >= 300) break;
    await new Promise((done) => setTimeout(done, 100));
  }
});
after(async () => {
  await browser?.close();
  service?.kill("SIGTERM");
  rmSync(folder, {recursive: true, force: true});
});

async function open(options = {}, path = "/") {
  const context = await browser.newContext({viewport: {width: 1280, height: 900}, ...options});
  const page = await context.newPage();
  const offences = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && offences.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => offences.push(`error: ${error.stack}`));
  page.on("dialog", (dialog) => (offences.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on("request", (request) => request.url().startsWith(address) || request.url().startsWith("data:") || offences.push(`request: ${request.url()}`));
  await page.goto(address + path);
  return {page, offences, finish: async () => (await context.close(), assert.deepEqual(offences, []))};
}

async function picture(page, name) {
  if (!pictures) return;
  mkdirSync(pictures, {recursive: true});
  await page.screenshot({path: join(pictures, `${name}.png`), fullPage: true});
}

test("is drawn, and follows what happens", async () => {
  const {page, finish} = await open();
  await page.waitForSelector("#workers tbody tr");
  assert.match(await page.textContent("#progress"), /of 60 tasks are 95.0 % sure/);
  assert.equal((await page.$$("#workers tbody tr")).length, 5);
  assert.match(await page.textContent("#workers tbody"), /<img src=x onerror=alert\(1\)>/);
  assert.match(await page.textContent("#workers tbody"), /model/);
  assert.ok((await page.$$("#workers .spark path")).length >= 5, "accuracy over time is drawn");
  assert.ok((await page.$$("#agreement .matrix button")).length === 20, "every pair both ways");
  await page.waitForSelector('#live[data-live="yes"]');
  await tell("POST", "/v1/projects/birds/answers", rows(60, 70));
  await page.waitForFunction(() => /350/.test(document.querySelector("#progress .cards").textContent), null, {timeout: 15000});
  await picture(page, "live_light");
  await finish();
});

test("pauses, drills down, decides, and keeps rules, by keyboard", async () => {
  const {page, finish} = await open();
  await page.waitForSelector('tr[data-worker="guesser"]');
  await page.selectOption('#rules select[aria-label="What"]', "agreement");
  await page.fill('#rules input[aria-label="below"]', "0.5");
  await page.press('#rules input[aria-label="below"]', "Enter");
  await page.waitForSelector("#rules button:has-text('Remove')");
  await tell("POST", "/v1/projects/birds/answers", rows(70, 72)); // a new study looks at the rules
  await page.waitForSelector('tr.paused[data-worker="guesser"]', {timeout: 20000});
  assert.equal((await page.$$("tr.paused")).length, 1, "nobody else");
  const {choices} = await tell("POST", "/v1/projects/birds/next", {worker: "guesser"});
  assert.deepEqual(choices, [], "who is paused is not asked");
  await page.locator("#rules button", {hasText: "Remove"}).first().press("Enter");
  await page.waitForFunction(() => !/Remove/.test(document.querySelector("#rules").textContent));
  await page.locator('tr[data-worker="guesser"] button').press("Enter");
  await page.waitForSelector('tr[data-worker="guesser"]:not(.paused)');
  await page.locator('tr[data-worker="ben"] button').press("Enter");
  await page.waitForSelector('tr.paused[data-worker="ben"]');
  await page.locator("#agreement .matrix button").last().press("Enter");
  await page.waitForSelector("#differences tbody tr");
  assert.match(await page.getAttribute("#differences a", "href"), /^https:\/\/example\.org\/t\/item%20\d+$/);
  const decide = page.locator("#doubt tbody tr");
  if ((await decide.count()) > 0) {
    const task = await decide.first().getAttribute("data-task");
    await decide.first().locator("button").press("Enter");
    await page.waitForFunction((name) => !document.querySelector(`#doubt tr[data-task="${name}"]`), task, {timeout: 15000});
  }
  await finish();
});

test("fits a phone, in both themes", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const {page, finish} = await open({viewport: {width: 390, height: 844}, colorScheme});
    await page.waitForSelector("#workers tbody tr");
    assert.deepEqual(await tooWide(page), []);
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), colorScheme);
    await picture(page, `live_phone_${colorScheme}`);
    await finish();
  }
});

test("asks for a token where the service wants one", async () => {
  const tokens = join(folder, "tokens.txt");
  const secret = spawnSync(program, ["token", tokens, "boss", "--scope", "admin"], {encoding: "utf8"}).stdout.trim();
  const [child, place] = await serve("--data", join(folder, "closed"), "--token-file", tokens);
  const before = address;
  address = place;
  try {
    await tell("POST", "/v1/projects", {name: "p", classes: ["a", "b"]}, secret);
    const {page, offences, finish} = await open();
    await page.fill("#token", secret);
    await page.press("#token", "Enter");
    await page.waitForSelector("#progress");
    assert.deepEqual(await page.evaluate(() => [document.cookie, window.location.search]), ["", ""], "scripts see no cookie, URLs no token");
    await page.locator("button", {hasText: "Log out"}).press("Enter");
    await page.waitForSelector("#token");
    // The browser itself reports each 401 that led to the form.
    assert.ok(offences.every((one) => /401/.test(one)), offences.join("\n"));
    offences.length = 0;
    await finish();
  } finally {
    address = before;
    child.kill("SIGTERM");
  }
});
