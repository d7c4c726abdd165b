// What came out: how the estimates are distributed, and how wide the intervals of the least certain tasks are.
import * as Plot from "@observablehq/plot";
import {h, nameOf, short} from "../dom.js";
import {figure, legendOf} from "../figure.js";
import {count, known, plural} from "../format.js";
import {bandNames, nameAxis, percentAxis, plot, tipsNeverStick} from "../plots.js";
import {MOST_CHARTS, chartsOf} from "./report.js";

const MOST_ROWS = 20;

export function estimates(report) {
  const drawn = report.dimensions.slice(0, MOST_CHARTS);
  const histograms = drawn.map((dimension) => histogram(dimension)).filter(Boolean);
  const hidden = report.dimensions.length - drawn.length;
  return [
    chartsOf(histograms),
    leastCertain(report, drawn),
    hidden > 0 && h("p.hint", null, `Drawn are the first ${drawn.length} of ${report.dimensions.length} dimensions.`),
  ];
}

function histogram(dimension) {
  const facts = dimension.histogram;
  if (!facts?.count?.length) return null;
  const tasks = facts.count.reduce((sum, n) => sum + n, 0) + (facts.below ?? 0) + (facts.above ?? 0);
  const answers = (facts.answers ?? []).reduce((sum, n) => sum + n, 0) + (facts.answers_outside ?? 0);
  if (tasks === 0) return null;
  const rows = facts.count.map((n, i) => ({low: facts.edges[i], high: facts.edges[i + 1], n, said: facts.answers?.[i] ?? 0}));
  const outline = rows.flatMap(({low, high, said}) => [{x: low, y: said / Math.max(1, answers)}, {x: high, y: said / Math.max(1, answers)}]);
  const outside = [facts.below > 0 && `${count(facts.below)} below`, facts.above > 0 && `${count(facts.above)} above`].filter(Boolean);
  const {estimates: middle} = dimension;
  return figure({
    title: `How the estimates are distributed${dimension.behind}`,
    summary:
      (middle ? `Half of the estimates of ${plural(tasks, "task")} lie between ${dimension.text(middle.lower_quartile)} and ${dimension.text(middle.upper_quartile)}; the median is ${dimension.text(middle.median)}. ` : "") +
      (outside.length ? `Not drawn: ${outside.join(", ")} this range.` : ""),
    legend: legendOf([
      {label: "estimates", mark: "accent"},
      {label: "all answers", mark: "tick"},
    ]),
    height: () => 240,
    draw: (width, height) =>
      plot(width, {
        height,
        x: dimension.axis(width, {label: `${dimension.label} →`, domain: [rows[0].low, rows[rows.length - 1].high]}),
        y: percentAxis("↑ Share", {grid: true, ticks: 4}),
        marks: [
          Plot.rectY(rows, {x1: "low", x2: "high", y: (row) => row.n / tasks, fill: "var(--accent)", insetLeft: 1, insetRight: 1, rx: 1, title: (row) => `${dimension.text(row.low)} to ${dimension.text(row.high)}: ${plural(row.n, "task")}, ${plural(row.said, "answer")}`}),
          answers > 0 && Plot.line(outline, {x: "x", y: "y", stroke: "var(--retrain)", strokeWidth: 2}),
          Plot.ruleY([0], {stroke: "var(--line-strong)"}),
        ],
      }),
    table: () => ({columns: ["From", "To", "Tasks", "Answers"], rows: rows.map((row) => [dimension.text(row.low), dimension.text(row.high), count(row.n), count(row.said)])}),
  });
}

function leastCertain(report, drawn) {
  const {taskList} = report;
  const rows = taskList
    .filter((row) => known(row.uncertainty) && known(row.estimate?.[0]) && (row.high?.some((high, d) => high > row.low?.[d]) ?? false))
    .sort((a, b) => b.uncertainty - a.uncertainty || a.index - b.index)
    .slice(0, MOST_ROWS)
    .map((row) => ({...row}));
  if (rows.length === 0) return null;
  bandNames(rows.map((row) => row.name), (name) => short(name, 24)).forEach((text, i) => (rows[i].band = text));
  const even = taskList.filter((row) => known(row.estimate?.[0])).every((row) => row.uncertainty === rows[0].uncertainty);
  return chartsOf(drawn.map((dimension) => intervals(dimension, rows, even)));
}

function intervals(dimension, rows, even) {
  const d = dimension.index;
  const said = rows.flatMap((row) => (row.said ?? []).map(([worker, values, far]) => ({band: row.band, value: values[d], far: (far ?? []).includes(d), worker})));
  const truths = rows.filter((row) => known(row.gold?.[d]));
  const widths = rows.map((row) => row.high[d] - row.low[d]);
  const alike = rows.length > 1 && Math.max(...widths) - Math.min(...widths) <= 1e-3 * Math.max(...widths);
  const widest = rows.reduce((a, b) => (b.high[d] - b.low[d] > a.high[d] - a.low[d] ? b : a));
  // A single answer far out would squeeze everything else.
  const ends = rows.flatMap((row) => [row.low[d], row.high[d], row.gold?.[d]]).filter(known);
  const [from, to] = [Math.min(...ends), Math.max(...ends)];
  const reach = (to - from || 1) / 2;
  const near = said.filter(({value}) => value >= from - reach && value <= to + reach);
  const beyond = said.length - near.length;
  const draw = (width, height) => {
    const names = nameAxis(rows.map((row) => row.band), width);
    return tipsNeverStick(
      plot(width, {
        height,
        marginTop: 12,
        marginLeft: names.margin,
        x: dimension.axis(width - names.margin, {label: `${dimension.label} →`, grid: true, nice: true}),
        y: {label: null, axis: null, domain: rows.map((row) => row.band), padding: 0.4},
        marks: [
          names.mark,
          Plot.ruleY(rows, {y: "band", x1: (row) => row.low[d], x2: (row) => row.high[d], stroke: "var(--accent)", strokeOpacity: 0.35, strokeWidth: 7}),
          Plot.dot(near.filter(({far}) => !far), {y: "band", x: "value", r: 2.5, fill: "var(--muted)", title: ({worker, value}) => `${short(worker, 40)}: ${dimension.text(value)}`}),
          Plot.dot(near.filter(({far}) => far), {y: "band", x: "value", symbol: "times", r: 4, stroke: "var(--stop)", strokeWidth: 2, title: ({worker, value}) => `${short(worker, 40)}: ${dimension.text(value)}, outlying`}),
          Plot.tickX(rows, {y: "band", x: (row) => row.estimate[d], stroke: "var(--accent)", strokeWidth: 3, title: (row) => `${short(row.name, 60)}: ${dimension.text(row.estimate[d])} (${dimension.range(row.low[d], row.high[d])})`}),
          Plot.dot(truths, {y: "band", x: (row) => row.gold[d], symbol: "diamond", r: 4.5, fill: "var(--check)", stroke: "var(--surface)", title: (row) => `truth ${dimension.text(row.gold[d])}`}),
        ],
      }),
    );
  };
  return figure({
    title: `${even ? "Intervals and answers" : "The least certain tasks"}${dimension.behind}`,
    summary: [
      alike
        ? `All of these intervals are equally wide (±\u202f${dimension.text(widths[0] / 2)}, 95\u202f%)${even ? "; drawn are the tasks at the top of the table below" : ""}.`
        : ["The widest interval is that of ", nameOf(widest.name, "bdi.name", 40), `: ${dimension.range(widest.low[d], widest.high[d])} with 95\u202f% confidence.`],
      beyond > 0 && ` ${plural(beyond, "answer lies", "answers lie")} outside the drawing.`,
    ],
    legend: legendOf([
      {label: "interval and estimate", mark: "accent"},
      {label: "answers", mark: "answer"},
      said.some(({far}) => far) && {label: "outlying answers", mark: "stop"},
      truths.length > 0 && {label: "truth", mark: "truth"},
    ].filter(Boolean)),
    height: () => 70 + 26 * rows.length,
    draw,
    table: () => ({
      columns: ["Task", "Estimate", "Deviation", "Low", "High", "Answers"],
      rows: rows.map((row) => [nameOf(row.name), dimension.text(row.estimate[d]), dimension.text(row.deviation?.[d]), dimension.text(row.low[d]), dimension.text(row.high[d]), (row.said ?? []).map(([, values]) => dimension.text(values[d])).join("; ")]),
    }),
  });
}
