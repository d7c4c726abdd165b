// Which tasks are hard: the distribution over all of them, and the hardest one by one with who said what.
import * as Plot from "@observablehq/plot";
import {h, nameOf, printable} from "./dom.js";
import {figure} from "./figure.js";
import {count, fixed, known, plural, share, unknown} from "./format.js";
import {answerHistograms, bins, moreSaid, taskList, workerLink} from "./lists.js";
import {percentAxis, plot, rowsOf, wholeTicks} from "./plots.js";
import {smallTable} from "./table.js";
import {workerView} from "./workers.js";

export function tasks(report) {
  const {data} = report;
  const pictures = [probabilityHistogram(data), ...answerHistograms(data)].filter(Boolean);
  return [pictures.length > 0 && h("div.pair", null, pictures), taskTable(report)];
}

function probabilityHistogram({task_histogram: histogram}) {
  if (!histogram?.count?.length) return null;
  const rows = bins(histogram);
  const all = rows.reduce((sum, row) => sum + row.n, 0);
  const sure = rows.filter((row) => row.low >= 0.95 - 1e-9).reduce((sum, row) => sum + row.n, 0);
  const torn = rows.filter((row) => row.high <= 0.7 + 1e-9).reduce((sum, row) => sum + row.n, 0);
  return figure({
    title: "How sure the labels are",
    summary: `Of ${plural(all, "task")}, ${share(sure / all)} have a label that is at least 95\u202f% sure and ${share(torn / all)} one that is at most 70\u202f% sure.`,
    height: () => 220,
    draw: (width, height) =>
      plot(width, {
        height,
        x: percentAxis("Probability of the given label →", {ticks: Math.max(3, Math.round(width / 90)), domain: [rows[0].low, rows[rows.length - 1].high]}),
        y: {label: "↑ Tasks", grid: true, ticks: 4, tickFormat: wholeTicks},
        marks: [
          Plot.rectY(rows, {x1: "low", x2: "high", y: "n", fill: "var(--accent)", insetLeft: 1, insetRight: 1, rx: 1}),
          Plot.ruleY([0], {stroke: "var(--line-strong)"}),
        ],
      }),
    table: () => ({columns: ["Probability", "Tasks"], rows: rows.map((row) => [`${share(row.low, 0)} to ${share(row.high, 0)}`, count(row.n)])}),
  });
}

function taskTable(report) {
  const {data, className} = report;
  const {tasks: columns} = data;
  if (!columns?.name?.length) return null;
  const rows = rowsOf(columns, columns.name.length);
  for (const row of rows) row.why = [].concat(row.why ?? []);
  const view = {kind: "Task", name: (row) => row.name, body: (row) => taskDetails(report, row)};
  return taskList(
    columns,
    rows,
    (reasons) => [
      {label: "Label", kind: "label", value: (row) => labelText(className, row.label), cell: (row) => labelNode(className, row.label)},
      {label: "Probability", numeric: true, value: (row) => row.probability, cell: (row) => probabilityCell(row)},
      rows.some((row) => known(row.entropy)) && {label: "Entropy", help: "Uncertainty that is left: 0 is none", level: 3, numeric: true, value: (row) => row.entropy, cell: (row) => fixed(row.entropy)},
      {label: "Answers", level: 2, numeric: true, value: (row) => row.answers, cell: (row) => count(row.answers)},
      rows.some((row) => row.gold !== null && row.gold !== undefined) && {label: "Gold", kind: "label", level: 2, value: (row) => labelText(className, row.gold), cell: (row) => goldCell(className, row)},
      reasons.length > 0 && {label: "Why it is here", level: 2, value: (row) => row.why.join(", "), cell: (row) => h("span.tags", null, row.why.map((reason) => h(`span.tag${reason === "wrong on gold" ? ".wrong" : ""}`, null, reason)))},
    ],
    view,
    (row) => labelText(className, row.label) ?? "",
  );
}

const labelText = (className, label) => (label === null || label === undefined ? null : printable(className(label)));

function labelNode(className, label) {
  return label === null || label === undefined ? h("span.hint", null, "left blank") : nameOf(className(label));
}

function goldCell(className, row) {
  if (row.gold === null || row.gold === undefined) return unknown;
  const wrong = row.gold !== row.label;
  return h(`span${wrong ? ".wrong" : ""}`, null, nameOf(className(row.gold)), wrong && h("span.unseen", null, " (the label is wrong)"));
}

function probabilityCell(row) {
  if (!known(row.probability)) return unknown;
  return h("span.estimate", null, share(row.probability), h("span.bar", {"aria-hidden": "true", style: {"--at": `${100 * row.probability}%`}}));
}

function taskDetails(report, row) {
  const {className} = report;
  const posterior = (row.posterior ?? []).filter((entry) => Array.isArray(entry) && entry[1] >= 0.0005);
  const rest = 1 - posterior.reduce((sum, [, p]) => sum + p, 0);
  const said = row.said ?? [];
  const view = workerView(report);
  return h(
    "div",
    null,
    h(
      "p.advised",
      null,
      "Label: ",
      h("strong", null, labelNode(className, row.label)),
      known(row.probability) && ` with probability ${share(row.probability)}`,
      row.gold !== null && row.gold !== undefined && [" · gold: ", h(`strong${row.gold !== row.label ? ".wrong" : ""}`, null, nameOf(className(row.gold)))],
    ),
    row.why.length > 0 && h("p", null, h("span.tags", null, row.why.map((reason) => h("span.tag", null, reason)))),
    posterior.length > 0 && [
      h("h3", null, "What it can be"),
      h(
        "dl.posterior",
        null,
        posterior.map(([c, p]) => h("div", null, h("dt", null, nameOf(className(c))), h("dd", null, h("span.bar", {"aria-hidden": "true", style: {"--at": `${100 * p}%`}}), share(p)))),
        rest > 0.0005 && h("div", null, h("dt.hint", null, "all others"), h("dd", null, h("span.bar", {"aria-hidden": "true", style: {"--at": `${100 * rest}%`}}), share(rest))),
      ),
    ],
    said.length > 0 &&
      smallTable(
        "Who said what",
        [
          {label: "Worker", kind: "named", cell: ([name]) => workerLink(report, view, name)},
          {label: "Said", kind: "label", cell: ([, label]) => labelNode(className, label)},
          {label: "Accuracy of the worker", numeric: true, cell: ([, , accuracy]) => share(accuracy)},
        ],
        said,
      ),
    moreSaid(report.data.tasks.more_said?.[row.index] ?? (row.answers ?? 0) - said.length),
  );
}
