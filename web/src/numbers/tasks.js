// Task by task: the estimate with its interval, and who said what.
import * as Plot from "@observablehq/plot";
import {h, nameOf} from "../dom.js";
import {count, known, number, unknown} from "../format.js";
import {answerHistograms, moreSaid, taskList, workerLink} from "../lists.js";
import {plot} from "../plots.js";
import {smallTable} from "../table.js";
import {estimateCell, tagsOf} from "./report.js";
import {workerView} from "./workers.js";

export function numberTasks(report) {
  const {data} = report;
  const pictures = answerHistograms(data).filter(Boolean);
  return [taskTable(report), pictures.length > 0 && h("div.pair", null, pictures)];
}

export function taskView(report) {
  return {kind: "Task", name: (row) => row.name, body: (row) => taskDetails(report, row)};
}

function taskTable(report) {
  const {data, dimensions, several, taskList: rows} = report;
  if (rows.length === 0) return null;
  const [only] = dimensions;
  return taskList(
    data.tasks,
    rows,
    (reasons) => [
      ...report.columns.map((dimension, d) => ({
        label: several ? dimension.label : "Estimate",
        kind: "figure",
        help: "The estimate with its 95\u202f% interval",
        level: d > 0 ? 2 : 1,
        numeric: true,
        value: (row) => row.estimate?.[d],
        cell: (row) => estimateCell(dimension, row.estimate?.[d], row.low?.[d], row.high?.[d], !several),
      })),
      !several && only && {label: "Deviation", help: "How far the estimate may be off, as a standard deviation", level: 3, numeric: true, value: (row) => row.deviation?.[0], cell: (row) => only.text(row.deviation?.[0])},
      several && {label: "Uncertainty", help: "The largest deviation over the dimensions, in units of how answers usually scatter", level: 3, numeric: true, value: (row) => row.uncertainty, cell: (row) => number(row.uncertainty, 2)},
      {label: "Answers", level: 2, numeric: true, value: (row) => row.answers, cell: (row) => count(row.answers)},
      !several && only && rows.some((row) => row.gold) && {label: "Gold", level: 2, numeric: true, value: (row) => row.gold?.[0], cell: (row) => goldCell(only, row)},
      reasons.length > 0 && {label: "Why look at it", level: 2, value: (row) => row.why.join(", "), cell: (row) => tagsOf(row.why)},
    ],
    taskView(report),
  );
}

const missed = (row, d) => known(row.gold?.[d]) && known(row.low?.[d]) && (row.gold[d] < row.low[d] || row.gold[d] > row.high[d]);

function goldCell(dimension, row) {
  if (!row.gold) return unknown;
  const wrong = missed(row, 0);
  return h(`span${wrong ? ".wrong" : ""}`, null, dimension.text(row.gold[0]), wrong && h("span.unseen", null, " (outside the interval)"));
}

function taskDetails(report, row) {
  const {dimensions, several} = report;
  const said = row.said ?? [];
  const view = workerView(report);
  return h(
    "div",
    null,
    row.why.length > 0 && h("p", null, tagsOf(row.why)),
    smallTable(
      "The estimate",
      [
        {label: several ? "Dimension" : "", kind: several ? "named" : undefined, cell: (dimension) => (several ? nameOf(dimension.name) : "Estimate")},
        {label: several ? "Estimate" : "Value", numeric: true, cell: ({index, text}) => text(row.estimate?.[index])},
        {label: "Deviation", numeric: true, level: 2, cell: ({index, text}) => text(row.deviation?.[index])},
        {label: "95\u202f% interval", numeric: true, cell: ({index, range}) => range(row.low?.[index], row.high?.[index]) || unknown},
        row.gold && {label: "Gold", numeric: true, cell: ({index, text}) => h(`span${missed(row, index) ? ".wrong" : ""}`, null, text(row.gold[index]))},
      ].filter(Boolean),
      dimensions,
    ),
    said.length > 0 && dimensions.slice(0, 6).map((dimension) => strip(dimension, row, said)),
    said.length > 0 &&
      smallTable(
        "Who said what",
        [
          {label: "Worker", kind: "named", cell: ([name]) => workerLink(report, view, name)},
          ...dimensions.map((dimension, d) => ({label: several ? dimension.label : "Said", numeric: true, cell: ([, values, far]) => saidCell(dimension, values[d], far?.includes(d))})),
          !several && {label: "From the estimate", numeric: true, level: 2, cell: ([, values]) => (known(row.estimate?.[0]) ? dimensions[0].signed(values[0] - row.estimate[0]) : unknown)},
        ].filter(Boolean),
        said,
      ),
    moreSaid(row.more_said ?? (row.answers ?? 0) - said.length),
  );
}

function saidCell(dimension, value, far) {
  return far ? h("span.wrong", {title: "Far from the other answers"}, h("span", {"aria-hidden": "true"}, "✕ "), dimension.text(value), h("span.unseen", null, " (outlying)")) : dimension.text(value);
}

/** The answers on a line, with the interval behind them. */
function strip(dimension, row, said) {
  const d = dimension.index;
  const points = said.map(([name, values, far]) => ({name, value: values[d], far: (far ?? []).includes(d)})).filter(({value}) => known(value));
  const truth = known(row.gold?.[d]) ? [row.gold[d]] : [];
  const drawing = plot(480, {
    height: 78,
    marginTop: 8,
    marginLeft: 20,
    marginRight: 20,
    marginBottom: 34,
    x: dimension.axis(440, {label: dimension.label, nice: true, insetLeft: 6, insetRight: 6}),
    y: {axis: null, domain: [-1, 1]},
    marks: [
      Plot.ruleY([0], {stroke: "var(--line)"}),
      known(row.low?.[d]) && Plot.ruleY([0], {x1: row.low[d], x2: row.high[d], stroke: "var(--accent)", strokeOpacity: 0.3, strokeWidth: 14}),
      known(row.estimate?.[d]) && Plot.tickX([row.estimate[d]], {x: (v) => v, stroke: "var(--accent)", strokeWidth: 3, insetTop: 4, insetBottom: 4}),
      Plot.dot(points.filter(({far}) => !far), {x: "value", y: 0, r: 4, fill: "var(--ink)", fillOpacity: 0.55}),
      Plot.dot(points.filter(({far}) => far), {x: "value", y: 0, r: 5, symbol: "times", stroke: "var(--stop)", strokeWidth: 2.5}),
      Plot.dot(truth, {x: (v) => v, y: 0, r: 6, symbol: "diamond", fill: "var(--check)", stroke: "var(--surface)"}),
    ],
  });
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", `Answers to this task and its interval${dimension.behind}; the table has the numbers`);
  return drawing;
}
