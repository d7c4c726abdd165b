// Who answers too high or too low, and who scatters: a picture, a table, and one worker at a time.
import * as Plot from "@observablehq/plot";
import {h, nameOf, short} from "../dom.js";
import {openDrawer} from "../drawer.js";
import {figure} from "../figure.js";
import {count, known, plural, share, unknown} from "../format.js";
import {choiceOf, isSampled, listedWorkers} from "../lists.js";
import {nearestOnClick, plot, tipsNeverStick} from "../plots.js";
import {dataTable, smallTable} from "../table.js";
import {MOST_CHARTS, chartsOf, tagsOf} from "./report.js";
import {taskView} from "./tasks.js";

const MOST_ANSWERS = 25;
const odd = (row) => row.why.includes("noisy") || row.why.includes("biased");

export function workerView(report) {
  return {kind: "Worker", name: (row) => row.name, body: (row) => workerDetails(report, row)};
}

export function numberWorkers(report) {
  const {data, dimensions, several, workerList: rows} = report;
  if (rows.length === 0) return [];
  const view = workerView(report);
  const open = (row, order) => openDrawer(view, row, order);
  const sampled = isSampled(data.workers, rows);
  const tags = [...new Set(rows.flatMap((row) => row.why))];
  const charts = dimensions.slice(0, MOST_CHARTS).map((dimension) => scatter(report, dimension, open)).filter(Boolean);
  const figures = (label, key, help, level) =>
    report.columns.map((dimension, d) => ({
      label: several ? `${label}, ${dimension.label}` : label,
      help,
      level: d > 0 ? 2 : level,
      numeric: true,
      value: (row) => row[key]?.[d],
      cell: (row) => (key === "bias" ? dimension.signed : dimension.text)(row[key]?.[d]),
    }));
  const errors = figures(several ? "Error" : "Typical error", "error", "Bias and scale together: the root of the mean square error of one answer", 1);
  const columns = [
    {label: "Worker", kind: "named", value: (row) => row.name, cell: (row) => nameOf(row.name)},
    {label: "Answers", level: 1, numeric: true, value: (row) => row.answers, cell: (row) => count(row.answers)},
    // Of several dimensions the drawer has them.
    ...(several ? [] : figures("Bias", "bias", "How much too high the worker answers on average; too low where it is negative", 2)),
    ...(several ? [] : figures("Scale", "scale", "How far its answers scatter around that, as a standard deviation", 2)),
    ...errors,
    rows.some((row) => row.outlying > 0) && {label: "Outlying", help: "Answers far from the others to the same task", level: 3, numeric: true, value: (row) => row.outlying, cell: (row) => count(row.outlying)},
    !several && rows.some((row) => known(row.gold_error?.[0])) && {label: "On gold", help: "Mean absolute error on tasks whose truth is known", level: 3, numeric: true, value: (row) => row.gold_error?.[0], cell: (row) => dimensions[0].text(row.gold_error?.[0])},
    tags.length > 0 && {label: "Note", level: 2, value: (row) => row.why.join(", "), cell: (row) => tagsOf(row.why)},
  ].filter(Boolean);
  return [
    h("p", null, summaryWords(rows, sampled, data.workers.total)),
    chartsOf(charts),
    listedWorkers(data.workers, rows),
    dataTable({
      caption: "Workers",
      noun: "worker",
      columns,
      rows,
      text: (row) => `${row.name} ${row.why.join(" ")}`,
      filters: tags.map((tag) => ({label: tag, test: (row) => row.why.includes(tag)})),
      open,
      sortBy: columns.findIndex(({label}) => label === errors[0]?.label),
      total: choiceOf(data.workers, rows),
    }),
  ];
}

function summaryWords(rows, sampled, total) {
  const [noisy, biased] = ["noisy", "biased"].map((tag) => rows.filter((row) => row.why.includes(tag)).length);
  const whom = sampled ? `the ${count(rows.length)} listed of ${count(total)} workers` : plural(rows.length, "worker");
  if (noisy + biased === 0) return `Of ${whom}, nobody stands out: all scatter alike, and nobody answers clearly too high or too low.`;
  const are = (n, word, meaning) => `${count(n)} ${n === 1 ? "is" : "are"} ${word} (${meaning})`;
  return `Of ${whom}, ${are(noisy, "noisy", "scattering more than twice as much as the median worker")} and ${are(biased, "biased", "clearly too high or too low on average")}.`;
}

function scatter(report, dimension, open) {
  const {workerList: rows, several} = report;
  const d = dimension.index;
  const points = rows.filter((row) => known(row.bias?.[d]) && known(row.scale?.[d]) && row.answers > 0);
  if (points.length === 0) return null;
  const most = Math.max(...points.map((row) => row.answers));
  const radius = (row) => 2.5 + 5 * Math.sqrt(row.answers / most);
  const worst = points.reduce((a, b) => (b.error[d] > a.error[d] ? b : a));
  const usual = known(dimension.usual_scale) ? [dimension.usual_scale] : [];
  const draw = (width, height) => {
    const drawing = plot(width, {
      height,
      marginLeft: 60,
      x: dimension.axis(width - 60, {label: `Bias${several ? ` in ${dimension.label}` : ""}: too low ← → too high`, grid: true, nice: true}),
      y: dimension.axis(width, {label: "↑ Scale", grid: true, zero: true, nice: true, ticks: 5}),
      marks: [
        Plot.ruleX([0], {stroke: "var(--line-strong)"}),
        Plot.ruleY(usual, {stroke: "var(--muted)", strokeDasharray: "2 4"}),
        Plot.text(usual, {y: (v) => v, frameAnchor: "left", dx: 4, dy: -7, text: () => "median worker", fill: "var(--muted)", stroke: "var(--surface)", strokeWidth: 4}),
        Plot.dot(points.filter((row) => !odd(row)), {x: (row) => row.bias[d], y: (row) => row.scale[d], r: radius, fill: "var(--accent)", fillOpacity: 0.75, stroke: "var(--surface)", strokeWidth: 0.75}),
        Plot.dot(points.filter(odd), {x: (row) => row.bias[d], y: (row) => row.scale[d], r: radius, symbol: "triangle", fill: "var(--stop)", fillOpacity: 0.85, stroke: "var(--surface)", strokeWidth: 0.75}),
        Plot.tip(points, Plot.pointer({x: (row) => row.bias[d], y: (row) => row.scale[d], title: (row) => `${short(row.name, 40)}\nbias ${dimension.signed(row.bias[d])}, scale ${dimension.text(row.scale[d])}\n${plural(row.answers, "answer")}`, lineWidth: 30, fontSize: 12})),
      ],
      r: {type: "identity"},
    });
    const [x, y] = [drawing.scale("x"), drawing.scale("y")];
    nearestOnClick(drawing, width, points, (row) => [x.apply(row.bias[d]), y.apply(row.scale[d])], (row) => open(row, rows));
    return tipsNeverStick(drawing);
  };
  return figure({
    title: `Bias and scale of the workers${dimension.behind}`,
    summary: [
      `The median worker scatters by ${dimension.text(dimension.usual_scale)}. Most off is `,
      nameOf(worst.name, "bdi.name", 40),
      `, by ${dimension.text(worst.error[d])} as a rule. Larger dots gave more answers; triangles are noisy or biased.`,
    ],
    hint: "Click a point for that worker.",
    height: (width) => Math.round(Math.min(440, Math.max(280, width * 0.45))),
    draw,
    table: () => ({
      columns: ["Worker", "Answers", "Bias", "Scale", "Typical error"],
      rows: points.map((row) => [nameOf(row.name), count(row.answers), dimension.signed(row.bias[d]), dimension.text(row.scale[d]), dimension.text(row.error[d])]),
    }),
  });
}

function workerDetails(report, row) {
  const {dimensions, several, taskList} = report;
  const facts = [
    ["Answers", count(row.answers)],
    ["Outlying answers", known(row.outlying) && row.answers > 0 && [count(row.outlying), h("span.range", null, `${share(row.outlying / row.answers)} of them`)]],
    ["Answers to gold tasks", known(row.gold_answers) && row.gold_answers > 0 && count(row.gold_answers)],
  ].filter(([, value]) => value);
  const view = taskView(report);
  const task = (own) => h("button.link", {type: "button", on: {click: () => openDrawer(view, own, taskList)}}, nameOf(own.name));
  const answers = taskList.flatMap((own) => {
    const entry = (own.said ?? []).find(([name]) => name === row.name);
    if (!entry || !known(own.estimate?.[0])) return [];
    const off = Math.max(...dimensions.map(({unit}, d) => Math.abs(entry[1][d] - own.estimate[d]) / unit));
    return [{own, values: entry[1], off}];
  });
  answers.sort((a, b) => b.off - a.off || a.own.index - b.own.index);
  return h(
    "div",
    null,
    row.why.length > 0 && h("p", null, tagsOf(row.why)),
    h("dl.facts", null, facts.map(([term, value]) => h("div", null, h("dt", null, term), h("dd", null, value)))),
    smallTable(
      "How it answers",
      [
        {label: several ? "Dimension" : "", kind: several ? "named" : undefined, cell: ({name}) => (several ? nameOf(name) : "Its answers")},
        {label: "Bias", numeric: true, cell: ({index, signed}) => signed(row.bias?.[index])},
        {label: "Scale", numeric: true, cell: ({index, text}) => text(row.scale?.[index])},
        {label: "Typical error", numeric: true, cell: ({index, text}) => text(row.error?.[index])},
        row.gold_answers > 0 && {label: "On gold", numeric: true, cell: ({index, text}) => text(row.gold_error?.[index])},
      ].filter(Boolean),
      dimensions,
    ),
    answers.length > 0 &&
      smallTable(
        answers.length > MOST_ANSWERS ? `The ${MOST_ANSWERS} answers that are furthest off, among the listed tasks` : "Its answers to the listed tasks, furthest off first",
        [
          {label: "Task", kind: "named", cell: ({own}) => task(own)},
          ...report.columns.flatMap((dimension, d) => [
            {label: several ? dimension.label : "Said", numeric: true, cell: ({values}) => dimension.text(values[d])},
            {label: several ? "off" : "From the estimate", numeric: true, cell: ({own, values}) => (known(own.estimate[d]) ? dimension.signed(values[d] - own.estimate[d]) : unknown)},
          ]),
        ],
        answers.slice(0, MOST_ANSWERS),
      ),
  );
}
