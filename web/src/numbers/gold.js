// The estimates against known truths: how far they are off, and whether their intervals hold what they promise.
import * as Plot from "@observablehq/plot";
import {h, nameOf, short} from "../dom.js";
import {openDrawer} from "../drawer.js";
import {figure} from "../figure.js";
import {count, fixed, known, plural, share, unknown} from "../format.js";
import {plot, tipsNeverStick} from "../plots.js";
import {dataTable, smallTable} from "../table.js";
import {MOST_CHARTS, chartsOf, estimateCell} from "./report.js";
import {taskView} from "./tasks.js";

export function numberGold(report) {
  const {data, dimensions} = report;
  const {gold: facts} = data;
  if (!facts) return [];
  const charts = dimensions.slice(0, MOST_CHARTS).map((dimension) => against(dimension, facts)).filter(Boolean);
  return [scores(report, facts), chartsOf(charts), misses(report, facts)];
}

function scores({dimensions, several}, facts) {
  const withInterval = (label, key, level) => ({
    label,
    level,
    numeric: true,
    cell: (dimension) => {
      const score = facts.dimensions?.[dimension.index]?.[key];
      return estimateCell(dimension, score?.value, score?.low, score?.high, false);
    },
  });
  const plain = (label, key, format, level) => ({label, level, numeric: true, cell: (dimension) => format(facts.dimensions?.[dimension.index]?.[key], dimension)});
  return h(
    "div",
    null,
    h("p", null, `Measured on ${plural(facts.tasks, "task")} whose truth is known and which the method did not see.`, known(facts.missing) && facts.missing > 0 && ` ${plural(facts.missing, "more has", "more have")} no estimate.`),
    smallTable(
      "Errors",
      [
        {label: several ? "Dimension" : "", kind: several ? "named" : undefined, cell: (dimension) => (several ? nameOf(dimension.name) : "Estimates")},
        withInterval("Mean absolute error", "absolute_error"),
        withInterval("Root mean square", "squared_error"),
        plain("Bias", "bias", (value, dimension) => dimension.signed(value), 2),
        plain("Correlation", "correlation", (value) => fixed(value, 3), 2),
        plain("R²", "r_squared", (value) => fixed(value, 3), 3),
        plain("Intervals that hold the truth", "coverage", (value) => share(value)),
      ],
      dimensions,
    ),
    h("p.hint", null, "Ranges are 95\u202f% intervals. Of 95\u202f% intervals, 95\u202f% should hold the truth."),
  );
}

function against(dimension, facts) {
  const d = dimension.index;
  const points = (facts.points ?? [])
    .map((point) => ({task: point.task, estimate: point.estimate?.[d], truth: point.gold?.[d], low: point.low?.[d], high: point.high?.[d]}))
    .filter((point) => known(point.estimate) && known(point.truth))
    .map((point) => ({...point, out: known(point.low) && (point.truth < point.low || point.truth > point.high)}));
  if (points.length === 0) return null;
  const values = points.flatMap((point) => [point.estimate, point.truth]);
  let [from, to] = [Math.min(...values), Math.max(...values)];
  if (from === to) [from, to] = [from - dimension.unit, to + dimension.unit];
  const outside = points.filter((point) => point.out).length;
  const radius = points.length > 300 ? 2.5 : 3.5;
  return figure({
    title: `Estimates against truths${dimension.behind}`,
    summary: `Points on the diagonal are exact. Of ${plural(points.length, "task")} drawn, the interval of ${count(outside)} (${share(outside / points.length)}) does not hold the truth: crosses.`,
    height: (width) => Math.round(0.8 * Math.min(width, 520)),
    draw: (width, height) =>
      tipsNeverStick(
        plot(Math.min(width, 520), {
          height,
          marginLeft: 64,
          x: dimension.axis(Math.min(width, 520) - 64, {label: "Truth →", domain: [from, to], grid: true, nice: true}),
          y: dimension.axis(width, {label: "↑ Estimate", domain: [from, to], grid: true, nice: true, ticks: 5}),
          marks: [
            Plot.link([0], {x1: from, y1: from, x2: to, y2: to, stroke: "var(--muted)", strokeDasharray: "4 4"}),
            points.length <= 60 && Plot.ruleX(points.filter(({low}) => known(low)), {x: "truth", y1: ({low}) => Math.max(low, from), y2: ({high}) => Math.min(high, to), stroke: "var(--accent)", strokeOpacity: 0.25}),
            Plot.dot(points.filter(({out}) => !out), {x: "truth", y: "estimate", r: radius, fill: "var(--accent)", fillOpacity: 0.6}),
            Plot.dot(points.filter(({out}) => out), {x: "truth", y: "estimate", symbol: "times", r: radius + 0.5, stroke: "var(--stop)", strokeWidth: 2}),
            Plot.tip(points, Plot.pointer({x: "truth", y: "estimate", title: (point) => `${short(point.task, 40)}\nestimate ${dimension.text(point.estimate)} (${dimension.range(point.low, point.high)})\ntruth ${dimension.text(point.truth)}`, lineWidth: 30, fontSize: 12})),
          ],
        }),
      ),
    table: () => ({
      columns: ["Task", "Estimate", "Low", "High", "Truth"],
      rows: points.map((point) => [nameOf(point.task), dimension.text(point.estimate), dimension.text(point.low), dimension.text(point.high), dimension.text(point.truth)]),
    }),
  });
}

function misses(report, facts) {
  const rows = facts.misses;
  if (!rows?.length) return null;
  const {several, taskByName, taskList} = report;
  const view = taskView(report);
  const name = (row) => {
    const listed = taskByName.get(row.task);
    return listed ? h("button.link", {type: "button", on: {click: () => openDrawer(view, listed, taskList)}}, nameOf(row.task)) : nameOf(row.task);
  };
  return h(
    "div",
    null,
    h("h3", null, facts.tasks > rows.length ? `The ${count(rows.length)} tasks that are furthest off` : "All gold tasks, furthest off first"),
    h("p.hint", null, "Look here for errors in the gold, for other units, and for questions that are understood differently."),
    dataTable({
      caption: "The tasks that are furthest off",
      noun: "task",
      rows,
      columns: [
        {label: "Task", kind: "named", value: (row) => row.task, cell: name},
        ...report.columns.flatMap((dimension, d) => [
          {label: several ? dimension.label : "Estimate", kind: "figure", level: d > 0 ? 2 : 1, numeric: true, value: (row) => row.estimate?.[d], cell: (row) => estimateCell(dimension, row.estimate?.[d], row.low?.[d], row.high?.[d], !several)},
          {label: "Gold", level: d > 0 ? 3 : 2, numeric: true, value: (row) => row.gold?.[d], cell: (row) => dimension.text(row.gold?.[d])},
          {label: "Off by", level: several ? 2 : 1, numeric: true, value: (row) => Math.abs(row.estimate?.[d] - row.gold?.[d]), cell: (row) => dimension.signed(row.estimate?.[d] - row.gold?.[d])},
        ]),
      ],
      text: (row) => row.task,
    }),
  );
}
