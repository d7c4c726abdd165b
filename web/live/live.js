// The live page of `wisecrowd serve`: it asks the API, listens to its events, and asks again when something changed.
import {h, nameOf, printable} from "/live/dom.js";
import {themeButton} from "/live/theme.js";
import {matrix, spark, taskLink} from "/live/parts.js";

const state = {project: null, csrf: null, data: {}, pair: null, source: null, again: 0};
const place = (id) => document.getElementById(id);
const percent = (x) => (x === null || x === undefined ? "–" : `${(100 * x).toFixed(1)} %`);
const count = (x) => (x === null || x === undefined ? "–" : Math.round(x).toLocaleString("en"));

async function ask(method, path, body) {
  const headers = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (state.csrf && method !== "GET") headers["X-CSRF-Token"] = state.csrf;
  const answer = await fetch(path, {method, headers, body: body === undefined ? undefined : JSON.stringify(body)});
  const json = answer.status === 204 ? null : await answer.json();
  if (!answer.ok) throw Object.assign(new Error(json?.detail ?? answer.statusText), {status: answer.status});
  return json;
}
const here = (path) => `/v1/projects/${encodeURIComponent(state.project)}${path}`;

function say(text) {
  place("news").textContent = text;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => (place("news").textContent = ""), 6000);
}
const tried = (work) => (...given) => Promise.resolve(work(...given)).catch((error) => say(error.message));

function login() {
  const field = h("input", {type: "password", id: "token", autocomplete: "off", spellcheck: "false"});
  const send = tried(async (event) => {
    event.preventDefault();
    const session = await ask("POST", "/session", {token: field.value});
    field.value = "";
    state.csrf = session.csrf_token;
    await start();
  });
  place("head").replaceChildren(h("h1", null, "wisecrowd"), themeButton());
  place("main").replaceChildren(
    h("section", null, h("h2", null, "Log in"), h("p", null, "Show a token once; the browser keeps a cookie that scripts cannot read."),
      h("form.row", {on: {submit: send}}, h("label", {for: "token"}, "Token"), field, h("button.main", {type: "submit"}, "Log in"))));
  field.focus();
}

function card(name, value, more) {
  return h("div", null, h("dt", null, name), h("dd", null, value, more ? h("small", null, more) : null));
}

function progressSection(project) {
  const now = project.progress;
  const share = now && project.tasks ? now.sure_tasks / project.tasks : null;
  const needed = now?.answers_needed ?? null;
  const hours = needed !== null && now?.answers_per_hour ? needed / now.answers_per_hour : null;
  return h("section", {id: "progress", "aria-labelledby": "progress-title"}, h("h2", {id: "progress-title"}, "Progress"),
    h("p", null, share === null ? "Nothing is known yet: answers of two classes are needed." :
      `${count(now.sure_tasks)} of ${count(project.tasks)} tasks are ${percent(project.sure)} sure.`),
    h("dl.cards", null,
      card("Answers", count(project.answers), `by ${count(project.workers)} workers`),
      card("Tasks", count(project.tasks), `${count(project.answered_tasks)} answered`),
      card("Sure", percent(share), `probability ${percent(project.sure)} or more`),
      card("Expected accuracy", percent(now?.expected_accuracy), "of the labels, by the model"),
      card("On gold", percent(project.gold_accuracy.value), `${count(project.gold_tasks)} known truths`),
      card("Answers to go", count(needed), needed === null ? null : `cost ${count(needed * project.price)}`),
      card("Time to go", hours === null ? "–" : hours < 1 ? `${Math.ceil(60 * hours)} min` : `${hours.toFixed(1)} h`,
        now?.answers_per_hour ? `at ${count(now.answers_per_hour)} answers an hour` : null)),
    h("div.bar", {role: "img", "aria-label": `${percent(share)} of the tasks are sure`}, h("span", {style: {"--share": `${100 * (share ?? 0)}%`}})),
    project.trouble ? h("p", {role: "alert"}, `Trouble: ${printable(project.trouble)}`) : null);
}

function alertsSection(alerts) {
  return h("section", {id: "alerts"}, h("h2", null, "What somebody should see to"),
    alerts.length ? h("ul.alerts", null, alerts.slice(0, 30).map((one) => h(`li.${one.severity}`, null, printable(one.message)))) :
      h("p", null, "Nothing at the moment."));
}

function workersSection(workers) {
  const change = (worker) => tried(async () => {
    await ask("PATCH", here(`/workers/${encodeURIComponent(worker.worker)}`), worker.paused ? {paused: false} : {paused: true, note: "paused on the live page"});
    say(`${worker.worker} ${worker.paused ? "goes on" : "is paused"}`);
    await refresh();
  });
  const rate = (x) => (x?.value === null || x === undefined ? "–" : `${percent(x.value)} (${(100 * x.low).toFixed(0)}–${(100 * x.high).toFixed(0)})`);
  const rows = [...workers].sort((a, b) => b.answers - a.answers).slice(0, 200).map((worker) => {
    const known = worker.study;
    return h(worker.paused ? "tr.paused" : "tr", {"data-worker": worker.worker},
      h("th", {scope: "row"}, nameOf(worker.worker), worker.kind === "machine" ? h("small", null, " model") : null),
      h("td.number", null, count(worker.answers)), h("td.number", null, rate(worker.accuracy)),
      h("td.number", null, known?.gold_answers ? rate(known.gold_accuracy) : "–"), h("td.number", null, percent(known?.agreement)),
      h("td.number", null, known?.median_seconds ? known.median_seconds.toFixed(1) : "–"),
      h("td", null, spark(known?.over_time ?? [])),
      h("td.advice", {"data-advice": known?.advice ?? "", title: printable(known?.reason ?? "")}, known?.advice || "–"),
      h("td", null, h("button", {type: "button", "aria-label": `${worker.paused ? "Resume" : "Pause"} ${printable(worker.worker)}`, on: {click: change(worker)}},
        worker.paused ? "Resume" : "Pause")));
  });
  const heads = ["Worker", "Answers", "Right", "On gold", "Agrees", "Seconds", "Over time", "Advice", ""];
  return h("section", {id: "workers"}, h("h2", null, "Workers"),
    h("p", null, "People and models side by side. Right: expected share of right answers, with a 95 % interval. Paused ones are asked nothing more."),
    h("div.scroll", {tabindex: "0", role: "region", "aria-label": "Workers"}, h("table", null,
      h("thead", null, h("tr", null, heads.map((head, i) => h(i > 0 && i < 6 ? "th.number" : "th", {scope: "col"}, head)))), h("tbody", null, rows))));
}

function agreementSection(agreement) {
  const open = tried(async (first, second) => {
    const found = await ask("GET", here(`/disagreements?first=${encodeURIComponent(first)}&second=${encodeURIComponent(second)}`));
    state.pair = {first, second, tasks: found.tasks};
    draw();
    place("differences")?.focus();
  });
  const shown = state.pair && h("div", {id: "differences", tabindex: "-1"},
    h("h3", null, `Where ${printable(state.pair.first)} and ${printable(state.pair.second)} differ`),
    state.pair.tasks.length === 0 ? h("p", null, "Nowhere.") : h("div.scroll", null, h("table", null, h("tbody", null, state.pair.tasks.slice(0, 50).map((task) =>
      h("tr", null, h("th", {scope: "row"}, taskLink(task)), h("td", null, nameOf(task.first)), h("td", null, nameOf(task.second))))))));
  return h("section", {id: "agreement"}, h("h2", null, "Who agrees with whom"),
    h("p", null, "Per cent of the tasks that both answered; choose a cell to see where they differ."),
    agreement.workers.length > 1 ? matrix(agreement, open) : h("p", null, "Two workers with tasks in common are needed."), shown || null);
}

function doubtSection(labels, project) {
  const decide = (task, select) => tried(async () => {
    await ask("PUT", here("/gold"), [{task, label: select.value}]);
    say(`${task} is ${select.value}`);
    await refresh();
  });
  const rows = labels.filter((one) => one.answers > 0 && one.probability < project.sure).slice(0, 25).map((one) => {
    const select = h("select", {"aria-label": `Truth of ${printable(one.task)}`}, project.known_classes.map((name) => h("option", {value: name}, printable(name))));
    select.value = one.label;
    return h("tr", {"data-task": one.task}, h("th", {scope: "row"}, taskLink(one)), h("td", null, nameOf(one.label)), h("td.number", null, percent(one.probability)),
      h("td.number", null, count(one.answers)), h("td", null, h("div.row", null, select, h("button", {type: "button", on: {click: decide(one.task, select)}}, "Decide"))));
  });
  return h("section", {id: "doubt"}, h("h2", null, "Tasks to decide"), h("p", null, "The most doubtful first. What you decide becomes gold."),
    rows.length ? h("div.scroll", {tabindex: "0", role: "region", "aria-label": "Tasks to decide"}, h("table", null,
      h("thead", null, h("tr", null, ["Task", "Label", "Probability", "Answers", "Decide"].map((head, i) => h(i === 2 || i === 3 ? "th.number" : "th", {scope: "col"}, head)))),
      h("tbody", null, rows))) : h("p", null, "No answered task is in doubt."));
}

const WHAT = {gold_accuracy: "share right on gold", accuracy: "expected share right", median_seconds: "median seconds per answer", agreement: "agreement with the labels"};
function rulesSection(project) {
  const what = h("select", {"aria-label": "What"}, Object.entries(WHAT).map(([name, words]) => h("option", {value: name}, words)));
  const below = h("input", {type: "number", "aria-label": "below", value: "0.6"});
  const answers = h("input", {type: "number", "aria-label": "after so many answers", value: "20"});
  const then = h("select", {"aria-label": "then"}, ["pause", "warn"].map((name) => h("option", {value: name}, name)));
  below.step = "any";
  const store = tried(async (rules) => {
    await ask("PATCH", here(""), {rules});
    await refresh();
  });
  const add = (event) => {
    event.preventDefault();
    return store([...project.rules, {what: what.value, below: Number(below.value), answers: Number(answers.value), then: then.value}]);
  };
  return h("section", {id: "rules"}, h("h2", null, "Rules"), h("p", null, "They are looked at after every study."),
    project.rules.map((rule, n) => h("div.row", null, h("span", null, `If ${WHAT[rule.what]} is below ${rule.below} over ${rule.answers} answers or more: ${rule.then}.`),
      h("button", {type: "button", on: {click: () => store(project.rules.filter((_, m) => m !== n))}}, "Remove"))),
    h("form.row", {on: {submit: add}}, h("span", null, "If"), what, h("span", null, "is below"), below, h("span", null, "over"), answers, h("span", null, "answers:"), then,
      h("button", {type: "submit"}, "Add")));
}

function exportsSection() {
  const link = (path, words) => {
    const anchor = h("a", null, words);
    anchor.setAttribute("href", here(path)); // a place of this service
    return h("li", null, anchor);
  };
  return h("section", {id: "exports"}, h("h2", null, "Take away"), h("ul", null,
    link("/labels?format=csv&limit=10000", "labels.csv (the first 10,000)"), link("/workers?format=csv&limit=10000", "workers.csv"), link("/report", "the report"), link("/report?format=json", "the report's data (JSON)")));
}

function draw() {
  const {project, workers, agreement, alerts, labels} = state.data;
  const focus = document.activeElement?.closest("[data-worker],[data-task]")?.dataset;
  place("main").replaceChildren(progressSection(project), alertsSection(alerts.alerts), workersSection(workers.workers), doubtSection(labels.labels, project),
    agreementSection(agreement), rulesSection(project), exportsSection());
  const row = focus && [...document.querySelectorAll("tr[data-worker],tr[data-task]")].find((one) => one.dataset.worker === focus.worker && one.dataset.task === focus.task);
  row?.querySelector("button")?.focus({preventScroll: true});
}

async function refresh() {
  const [project, workers, agreement, alerts, labels] = await Promise.all([ask("GET", here("")), ask("GET", here("/workers")), ask("GET", here("/agreement")),
    ask("GET", here("/alerts")), ask("GET", here("/labels?order=doubt&limit=50"))]);
  state.data = {project, workers, agreement, alerts, labels};
  draw();
}

/** Many events come at once; one look a second is enough. Nobody is disturbed while filling in a form. */
function soon() {
  if (state.again) return;
  state.again = setTimeout(() => {
    state.again = 0;
    if (document.activeElement?.closest("form, select")) soon();
    else tried(refresh)();
  }, 1000);
}

function listen() {
  state.source?.close();
  const light = place("live");
  state.source = new EventSource(here("/events"));
  state.source.onopen = () => light && ((light.dataset.live = "yes"), (light.textContent = "live"));
  state.source.onerror = () => light && ((light.dataset.live = "no"), (light.textContent = "waiting for the service"));
  for (const type of ["answers", "refit", "study", "settings", "worker"]) state.source.addEventListener(type, soon);
  state.source.addEventListener("alarm", (event) => {
    const alarm = JSON.parse(event.data);
    say(`${alarm.worker}: ${alarm.message}`);
    soon();
  });
}

async function choose(name) {
  state.project = name;
  state.pair = null;
  window.history.replaceState(null, "", `#${encodeURIComponent(name)}`);
  await refresh();
  listen();
}

async function start() {
  let projects;
  try {
    const session = await ask("GET", "/session");
    state.csrf = session.csrf_token;
    ({projects} = await ask("GET", "/v1/projects"));
  } catch (error) {
    if (error.status === 401) return login();
    throw error;
  }
  const select = h("select", {id: "project", "aria-label": "Project"}, projects.map((one) => h("option", {value: one.name}, printable(one.title || one.name))));
  select.addEventListener("change", tried(() => choose(select.value)));
  const leave = tried(async () => {
    await ask("DELETE", "/session");
    state.source?.close();
    login();
  });
  place("head").replaceChildren(h("h1", null, "wisecrowd"), h("span.live", {id: "live", "data-live": "no"}, "waiting"), select,
    state.csrf ? h("button", {type: "button", on: {click: leave}}, "Log out") : "", themeButton());
  if (projects.length === 0) {
    place("main").replaceChildren(h("section", null, h("h2", null, "No project yet"), h("p", null, "Make one: POST /v1/projects, or wisecrowd connect.")));
    return;
  }
  const wanted = decodeURIComponent(window.location.hash.slice(1));
  select.value = projects.some((one) => one.name === wanted) ? wanted : projects[0].name;
  await choose(select.value);
}

tried(start)();
