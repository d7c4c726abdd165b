// Whom to keep, to retrain, to stop: a picture of all, a table, and one worker at a time.
import * as Plot from "@observablehq/plot";
import {h, nameOf, short} from "./dom.js";
import {openDrawer} from "./drawer.js";
import {figure, legendOf} from "./figure.js";
import {count, fixed, known, plural, prose, share, shareRange, shortCount, unknown} from "./format.js";
import {heatmap, worstConfusions} from "./heatmap.js";
import {choiceOf, isSampled, listedWorkers} from "./lists.js";
import {ADVICE, adviceColour, nearestOnClick, percentAxis, plot, rowsOf, tipsNeverStick, wholeTicks} from "./plots.js";
import {place} from "./summary.js";
import {dataTable} from "./table.js";
import {drawTimeline} from "./timelines.js";

const MOST_INTERVALS = 150; // more lines than that are a grey block
const adviceOf = (id) => ADVICE.find((advice) => advice.id === id);

/** What needs action comes first: whom to stop paying, whom to talk to, whom to watch. */
const URGENCY = ["stop", "recode", "check", "retrain", "unsure", "keep"];
const urgency = (row) => (URGENCY.includes(row.advice) ? URGENCY.indexOf(row.advice) : null);

export function adviceBadge(id) {
  const advice = adviceOf(id);
  return advice ? h("span.badge", {title: advice.words}, h(`span.mark.${id}`, {"aria-hidden": "true"}), h("span.word", null, advice.label)) : unknown;
}

/** The rows of the table, each with what the drawer needs. */
export function workerRows({workers, worker_confusion: confusion}) {
  if (!workers?.name?.length) return [];
  const rows = rowsOf(workers, workers.name.length);
  for (const row of rows) {
    row.confusion = confusion?.share?.[row.index] ?? null;
    row.confusionCounts = (confusion?.counts ?? confusion?.worker_counts)?.[row.index] ?? null;
  }
  return rows;
}

export function workerView(report) {
  return {kind: "Worker", name: (row) => row.name, body: (row) => workerDetails(report, row)};
}

export function workers(report) {
  const {data, workerList: rows} = report;
  if (rows.length === 0) return [];
  const view = workerView(report);
  const open = (row, order) => openDrawer(view, row, order);
  const sampled = isSampled(data.workers, rows);
  const columns = columnsFor(rows);
  const advised = columns.findIndex(({kind}) => kind === "advised-as");
  return [
    adviceSummary(data),
    scatter(report, rows, sampled, open),
    listedWorkers(data.workers, rows),
    dataTable({
      caption: "Workers",
      noun: "worker",
      columns,
      // Among equals, those who gave most answers matter most.
      rows: [...rows].sort((a, b) => (b.answers ?? 0) - (a.answers ?? 0) || a.index - b.index),
      text: (row) => `${row.name} ${adviceOf(row.advice)?.label ?? ""} ${row.reason ?? ""}`,
      filters: ADVICE.filter(({id}) => rows.some((row) => row.advice === id)).map(({id, label}) => ({
        label,
        mark: id,
        test: (row) => row.advice === id,
      })),
      open,
      sortBy: advised >= 0 ? advised : rows.every((row) => row.answers === rows[0].answers) ? 2 : 1, // by accuracy where all gave as many
      total: choiceOf(data.workers, rows),
    }),
  ];
}

function adviceSummary({advice_counts: counts}) {
  if (!counts) return null;
  const present = ADVICE.map((advice) => ({...advice, n: counts[advice.id] ?? 0}));
  const all = present.reduce((sum, {n}) => sum + n, 0);
  if (all === 0) return null;
  return h(
    "div.advice",
    null,
    h(
      "div.stack",
      {"aria-hidden": "true"},
      present.filter(({n}) => n > 0).map(({id, n}) => h(`i.${id}`, {style: {"flex-grow": n}})),
    ),
    h(
      "ul",
      null,
      present.map(({id, label, words, n}) =>
        h("li", null, h("p.big", null, h(`span.mark.${id}`, {"aria-hidden": "true"}), count(n), " ", label.toLowerCase()), h("p", null, words)),
      ),
    ),
  );
}

const has = (rows, key) => rows.some((row) => known(row[key]));

function columnsFor(rows) {
  const figureColumn = (label, key, format, help, level = 2) => ({
    label,
    help,
    level,
    numeric: true,
    value: (row) => row[key],
    cell: (row) => format(row[key]),
  });
  return [
    {label: "Worker", kind: "named", value: (row) => row.name, cell: (row) => nameOf(row.name)},
    figureColumn("Answers", "answers", count, "How many answers the worker gave", 1),
    {
      label: "Accuracy",
      help: "The share of right answers, with its interval",
      numeric: true,
      value: (row) => row.accuracy,
      cell: (row) => withInterval(row.accuracy, row.low, row.high),
    },
    rows.some((row) => row.advice) && {
      label: "Advice",
      kind: "advised-as",
      help: "What to do about the worker, and why; what needs action first",
      value: urgency,
      cell: (row) => [adviceBadge(row.advice), row.reason && row.advice !== "keep" ? h("span.why", null, prose(row.reason)) : null],
    },
    has(rows, "spam") && figureColumn("Spam score", "spam", (value) => fixed(value), "0: answers depend on the truth as much as they can. 1: answers say nothing about it"),
    has(rows, "gold_accuracy") && {
      label: "On gold",
      help: "Accuracy on tasks whose truth is known",
      level: 3,
      numeric: true,
      value: (row) => row.gold_accuracy,
      cell: (row) => (known(row.gold_accuracy) ? `${share(row.gold_accuracy, 0)} of ${shortCount(row.gold_answers)}` : unknown),
    },
    has(rows, "agreement") && figureColumn("Agrees", "agreement", (value) => share(value, 0), "How often the worker says what most others say", 3),
    // With advice there is no room for it; the drawer has it anyway.
    has(rows, "bits") && !rows.some((row) => row.advice) && figureColumn("Bits", "bits", (value) => fixed(value), "Information that one answer carries about the truth", 3),
  ].filter(Boolean);
}

function withInterval(value, low, high) {
  if (!known(value)) return unknown;
  const ends = known(low) && known(high);
  return h(
    "span.estimate",
    null,
    share(value),
    ends && h("span.range", null, shareRange(low, high, 0)),
    ends && h("span.gauge", {"aria-hidden": "true", style: place(value, low, high)}, h("i"), h("b")),
  );
}

function scatter(report, rows, sampled, open) {
  const {data} = report;
  const points = rows.filter((row) => known(row.accuracy) && known(row.answers) && row.answers > 0);
  if (points.length === 0) return null;
  const axis = horizontalAxis(points, data.worker_density);
  const density = axis.ranked ? null : data.worker_density;
  const few = points.length <= MOST_INTERVALS;
  const lowest = Math.min(...points.map((row) => (few ? (row.low ?? row.accuracy) : row.accuracy)));
  const floor = Math.max(0, Math.floor(10 * (lowest - 0.02)) / 10);
  const advised = ADVICE.filter(({id}) => points.some((row) => row.advice === id));
  const guessing = data.counts?.classes > 1 && 1 / data.counts.classes >= floor ? [1 / data.counts.classes] : [];
  const sorted = points.map((row) => row.accuracy).sort((a, b) => a - b);
  const interval = {x: axis.x, y1: "low", y2: "high", stroke: (row) => adviceColour(row.advice)};
  const draw = (width, height) => {
    const drawing = plot(width, {
      height,
      x: axis.scale(width),
      y: percentAxis("↑ Accuracy", {domain: [floor, 1], grid: true, ticks: 6}),
      marks: [
        density && densityMark(density, floor, axis.logarithmic),
        Plot.ruleY(guessing, {stroke: "var(--muted)", strokeDasharray: "2 4"}),
        Plot.text(guessing, {y: (d) => d, frameAnchor: "right", dy: -7, text: () => "guessing", fill: "var(--muted)"}),
        few && Plot.ruleX(points, {...interval, strokeOpacity: 0.35, strokeWidth: 1.5}),
        !few && Plot.ruleX(points, Plot.pointer({...interval, py: "accuracy", strokeWidth: 2})),
        ...advised.map(({id, symbol}) => dots(points.filter((row) => row.advice === id), axis.x, symbol, adviceColour(id), points.length)),
        dots(points.filter((row) => !adviceOf(row.advice)), axis.x, "circle", "var(--accent)", points.length),
        Plot.tip(points, Plot.pointer({x: axis.x, y: "accuracy", title: (row) => tipOf(row), lineWidth: 30, fontSize: 12})),
      ],
    });
    const [x, y] = [drawing.scale("x"), drawing.scale("y")];
    nearestOnClick(drawing, width, points, (row) => [x.apply(axis.x(row)), y.apply(row.accuracy)], (row) => open(row, rows));
    return tipsNeverStick(drawing);
  };
  return figure({
    title: axis.ranked ? "Accuracy of the workers" : "Accuracy against number of answers",
    summary:
      `${plural(points.length, "worker")}${sampled ? ` out of ${count(data.workers.total)}` : ""}: half of them are right in at least ${share(sorted[Math.floor(sorted.length / 2)], 0)} of their answers, ` +
      `the range is ${share(sorted[0], 0)} to ${share(sorted[sorted.length - 1], 0)}. ` +
      (axis.ranked ? `All gave about ${plural(points[0].answers, "answer")} each.` : "Few answers mean a wide interval.") +
      (density ? " The shading counts all workers." : ""),
    hint: "Click a point for that worker's confusion matrix.",
    legend: advised.length > 0 && !data.advice_counts ? legendOf(advised.map(({id, label}) => ({label, mark: id}))) : null,
    height: (width) => Math.round(Math.min(440, Math.max(280, width * 0.45))),
    draw,
    table: () => ({
      columns: ["Worker", "Answers", "Accuracy", "From", "To", "Advice"],
      rows: points.map((row) => [nameOf(row.name), count(row.answers), share(row.accuracy), share(row.low), share(row.high), adviceOf(row.advice)?.label ?? unknown]),
    }),
  });
}

/** The number of answers; or, where all gave about the same number, the workers from worst to best. */
function horizontalAxis(points, density) {
  const most = Math.max(...points.map((row) => row.answers), ...(density?.answers_edges ?? []));
  const fewest = Math.min(...points.map((row) => row.answers));
  if (points.length > 1 && most < 1.2 * fewest) {
    const order = [...points].sort((a, b) => a.accuracy - b.accuracy);
    const rank = new Map(order.map((row, i) => [row, i + 1]));
    return {ranked: true, x: (row) => rank.get(row), scale: () => ({label: "Workers, from the least to the most accurate →", ticks: [], domain: [0, points.length + 1]})};
  }
  const logarithmic = most > 20 * fewest;
  const scale = (width) => ({
    label: "Answers given →",
    type: logarithmic ? "log" : "linear",
    nice: true,
    zero: !logarithmic,
    tickFormat: wholeTicks,
    ticks: logarithmic ? Math.max(2, Math.round(width / 160)) : Math.max(3, Math.round(width / 110)),
  });
  return {ranked: false, logarithmic, x: (row) => row.answers, scale};
}

function dots(points, x, symbol, colour, all) {
  const crossed = symbol === "times";
  return Plot.dot(points, {
    x,
    y: "accuracy",
    symbol,
    r: all > 400 ? 3 : 4.5,
    fill: crossed ? "none" : colour,
    stroke: crossed ? colour : "var(--surface)",
    strokeWidth: crossed ? 2 : 0.75,
  });
}

function densityMark({answers_edges: xs, accuracy_edges: ys, count: cells}, floor, logarithmic) {
  const tiles = [];
  const most = Math.max(1, ...cells.flat());
  cells.forEach((row, i) =>
    row.forEach((n, j) => {
      if (n <= 0 || ys[j + 1] <= floor || (logarithmic && xs[i + 1] <= 0)) return;
      tiles.push({x1: Math.max(xs[i], logarithmic ? 0.5 : 0), x2: xs[i + 1], y1: Math.max(ys[j], floor), y2: ys[j + 1], depth: Math.sqrt(n / most)});
    }),
  );
  return Plot.rect(tiles, {x1: "x1", x2: "x2", y1: "y1", y2: "y2", fill: "var(--accent)", fillOpacity: (tile) => 0.05 + 0.25 * tile.depth, inset: 0.5});
}

function tipOf(row) {
  const range = shareRange(row.low, row.high, 0);
  const advice = adviceOf(row.advice);
  return `${short(row.name, 40)}\n${share(row.accuracy)}${range ? ` (${range})` : ""}\n${plural(row.answers, "answer")}${advice ? ` · ${advice.label.toLowerCase()}` : ""}`;
}

/** Everything that is known about a worker. */
function workerDetails(report, row) {
  const facts = [
    ["Answers", count(row.answers)],
    ["Accuracy", known(row.accuracy) && [share(row.accuracy), h("span.range", null, shareRange(row.low, row.high))]],
    ["On gold", known(row.gold_accuracy) && [share(row.gold_accuracy), h("span.range", null, `${shareRange(row.gold_low, row.gold_high)}${known(row.gold_answers) ? `, ${plural(row.gold_answers, "answer")}` : ""}`)]],
    ["Spam score", known(row.spam) && [fixed(row.spam), known(row.spam_low) && h("span.range", null, `${fixed(row.spam_low)}\u202f–\u202f${fixed(row.spam_high)}; 0 is best`)]],
    ["Information", known(row.bits) && [fixed(row.bits), h("span.range", null, "bits per answer")]],
    ["Agrees with the others", known(row.agreement) && share(row.agreement)],
  ].filter(([, value]) => value);
  return h(
    "div",
    null,
    row.advice && h(`p.advised.${adviceOf(row.advice) ? row.advice : "unsure"}`, null, adviceBadge(row.advice), row.reason && h("span", null, prose(row.reason))),
    h("dl.facts", null, facts.map(([term, value]) => h("div", null, h("dt", null, term), h("dd", null, value)))),
    confusionOf(report, row),
    timeOf(report, row),
  );
}

/** How right it was in the course of its answers, where that is known. */
function timeOf({timelineByName}, row) {
  const line = timelineByName.get(row.name);
  if (!line) return null;
  const words = [...(line.alarms ?? []).map((alarm) => alarm.words), line.when].filter(Boolean).join(" ");
  const drawing = drawTimeline(line, 480, 170);
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", "The share of right answers in the course of the answers");
  return h("div", null, h("h3", null, "In the course of its answers"), words && h("p.hint", null, prose(words)), drawing);
}

function confusionOf(report, row) {
  const classes = report.data.worker_confusion?.classes;
  if (!row.confusion || !classes) return h("p.hint", null, "The confusion matrix of this worker is not part of the report.");
  const names = classes.map(report.className);
  const k = names.length;
  const shareAt = (r, c) => row.confusion[r * k + c];
  const worst = worstConfusions(names, shareAt, 2);
  return h(
    "div",
    null,
    heatmap({
      caption: "What the worker says (columns) when the truth is (rows), in per cent",
      names,
      share: shareAt,
      amount: row.confusionCounts ? (r, c) => row.confusionCounts[r * k + c] : null,
      rows: "truth",
      columns: "said",
      unit: "answers expected",
    }),
    worst.length > 0 &&
      h(
        "ul.confusions",
        null,
        worst.map(({r, c, value}) => h("li", null, nameOf(names[r]), " is called ", nameOf(names[c]), ` ${share(value, 0)} of the time`)),
      ),
  );
}
