// What the lists of tasks and of workers have in common, whatever the kind of answers.
import * as Plot from "@observablehq/plot";
import {h, nameOf} from "./dom.js";
import {openDrawer} from "./drawer.js";
import {figure} from "./figure.js";
import {count, fixed, known, plural, share} from "./format.js";
import {plot, wholeTicks} from "./plots.js";
import {dataTable} from "./table.js";

export function bins({edges, count: counts}) {
  return counts.map((n, i) => ({low: edges[i], high: edges[i + 1] ?? edges[i] + 1, n}));
}

/** How many answers tasks have, and workers gave. */
export const answerHistograms = (data) => [
  countHistogram(data.answers_per_task_histogram, "Answers per task", "task", data.counts?.answers_per_task),
  countHistogram(data.answers_per_worker_histogram, "Answers per worker", "worker", data.counts?.answers_per_worker),
];

function countHistogram(histogram, title, noun, mean) {
  if (!histogram?.count?.length) return null;
  const rows = bins(histogram);
  const all = rows.reduce((sum, row) => sum + row.n, 0);
  if (all === 0) return null;
  const name = ({low, high}) => (high - low <= 1 ? count(low) : `${count(low)}\u202f–\u202f${count(high - 1)}`);
  const labels = rows.map(name);
  const largest = rows.reduce((a, b) => (b.n > a.n ? b : a));
  return figure({
    title,
    summary: `${known(mean) ? `${fixed(mean, 1)} on average. ` : ""}Most common: ${name(largest)}, for ${share(largest.n / all, 0)} of the ${noun}s.`,
    height: () => 220,
    draw: (width, height) => {
      const every = Math.ceil((rows.length * Math.max(...labels.map((label) => label.length)) * 7.5) / Math.max(1, width - 80));
      return plot(width, {
        height,
        x: {label: `${title} →`, domain: labels, tickFormat: (label, i) => (i % every === 0 ? label : ""), tickSize: 0},
        y: {label: `↑ ${noun === "task" ? "Tasks" : "Workers"}`, grid: true, ticks: 4, tickFormat: wholeTicks},
        marks: [Plot.barY(rows, {x: name, y: "n", fill: "var(--accent)", rx: 1}), Plot.ruleY([0], {stroke: "var(--line-strong)"})],
      });
    },
    table: () => ({columns: [title, `Number of ${noun}s`], rows: rows.map((row) => [name(row), count(row.n)])}),
  });
}

export const isSampled = ({total}, rows) => known(total) && total > rows.length;
/** Said beside the number of rows of a table. */
export const choiceOf = (columns, rows) => (isSampled(columns, rows) ? `a choice out of ${count(columns.total)}` : "");

/** Who is listed, if not all. */
export const listedWorkers = (columns, rows) =>
  isSampled(columns, rows) && h("p.hint", null, `Listed: ${count(rows.length)} of ${count(columns.total)} workers${columns.chosen_by ? `, ${columns.chosen_by}` : ""}.`);

/**
 * The table of tasks with its heading. Rows have reasons (`why`) by which they can be filtered.
 * @param {object} columns what the report has of tasks
 * @param {any[]} rows
 * @param {(reasons: string[]) => Array<object | false>} tableColumns
 * @param {{kind: string, name: (row: any) => string, body: (row: any) => Node}} view
 * @param {(row: any) => string} [words] what else the search looks at
 */
export function taskList(columns, rows, tableColumns, view, words = () => "") {
  const reasons = [...new Set(rows.flatMap((row) => row.why))].filter(Boolean);
  const sampled = isSampled(columns, rows);
  return h(
    "div",
    null,
    h("h3", null, sampled ? "The tasks to look at" : "All tasks"),
    sampled && h("p.hint", null, `${count(rows.length)} of ${count(columns.total)} tasks${columns.chosen_by ? `: ${columns.chosen_by}` : ""}.`),
    dataTable({
      caption: "Tasks",
      noun: "task",
      rows,
      columns: [{label: "Task", kind: "named", value: (row) => row.name, cell: (row) => nameOf(row.name)}, ...tableColumns(reasons)].filter(Boolean),
      text: (row) => `${row.name} ${words(row)} ${row.why.join(" ")} ${(row.said ?? []).map((answer) => answer[0]).join(" ")}`,
      filters: reasons.map((reason) => ({label: reason, test: (row) => row.why.includes(reason)})),
      open: (row, order) => openDrawer(view, row, order),
      total: choiceOf(columns, rows),
    }),
  );
}

/** The name of a worker, which opens its details if it is listed. */
export function workerLink({workerByName, workerList}, view, name) {
  const row = workerByName.get(name);
  return row ? h("button.link", {type: "button", on: {click: () => openDrawer(view, row, workerList)}}, nameOf(name)) : nameOf(name);
}

/** Answers to a task that are not listed. */
export const moreSaid = (left) => (left > 0 ? h("p.hint", null, `and ${plural(left, "more answer")}.`) : null);
