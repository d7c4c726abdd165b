// Who misses classes, and who makes them up: a picture, a table, and one worker at a time.
import * as Plot from "@observablehq/plot";
import {h, nameOf, short} from "../dom.js";
import {openDrawer} from "../drawer.js";
import {figure} from "../figure.js";
import {count, fixed, known, plural, share} from "../format.js";
import {plot, tipsNeverStick} from "../plots.js";
import {dataTable, smallTable} from "../table.js";
import {notes, setCell} from "./report.js";

export function workerView(report) {
  return {kind: "Worker", name: (row) => row.name, body: (row) => details(report, row)};
}

export function setWorkers(report) {
  const {data, workerList: rows} = report;
  if (rows.length === 0) return [];
  const tags = [...new Set(rows.flatMap((row) => row.why))];
  const sampled = data.workers.total > rows.length;
  const figures = (label, key, help) => ({label, help, level: 1, numeric: true, value: (row) => row[key], cell: (row) => share(row[key])});
  return [
    scatter(rows),
    dataTable({
      caption: "Workers",
      noun: "worker",
      rows,
      columns: [
        {label: "Worker", kind: "named", value: (row) => row.name, cell: (row) => nameOf(row.name)},
        {label: "Answers", level: 2, numeric: true, value: (row) => row.answers, cell: (row) => count(row.answers)},
        {label: "Classes named", help: "Classes per answer", level: 3, numeric: true, value: (row) => row.set_size, cell: (row) => fixed(row.set_size, 2)},
        figures("Sensitivity", "sensitivity", "Of the classes that are true, the share that the worker names"),
        figures("Specificity", "specificity", "Of the classes that are not, the share that it leaves out"),
        rows.some((row) => known(row.gold_jaccard)) && {label: "On gold", help: "Mean Jaccard index with the truth", level: 3, numeric: true, value: (row) => row.gold_jaccard, cell: (row) => fixed(row.gold_jaccard, 2)},
        tags.length > 0 && {label: "Note", level: 2, value: (row) => row.why.join(", "), cell: (row) => notes(row.why)},
      ].filter(Boolean),
      text: (row) => `${row.name} ${row.why.join(" ")}`,
      filters: tags.map((tag) => ({label: tag, test: (row) => row.why.includes(tag)})),
      open: (row, order) => openDrawer(workerView(report), row, order),
      total: sampled ? `a choice out of ${count(data.workers.total)}` : "",
    }),
  ];
}

function scatter(rows) {
  const points = rows.filter((row) => known(row.sensitivity) && known(row.specificity) && row.answers > 0);
  if (points.length === 0) return null;
  const most = Math.max(...points.map((row) => row.answers));
  const guesses = points.filter((row) => row.why.includes("guesses")).length;
  return figure({
    title: "What workers miss and what they make up",
    summary: `Up is good: few true classes are missed. Right is good: few are made up. Larger dots gave more answers. ${guesses > 0 ? `${plural(guesses, "worker")} (triangles) ${guesses === 1 ? "does" : "do"} no better than naming classes blindly.` : "Nobody names classes blindly."}`,
    height: (width) => Math.round(Math.min(440, Math.max(280, width * 0.45))),
    draw: (width, height) =>
      tipsNeverStick(
        plot(width, {
          height,
          marginLeft: 60,
          x: {label: "Specificity →", percent: true, grid: true, nice: true, ticks: 5},
          y: {label: "↑ Sensitivity (%)", percent: true, grid: true, nice: true, ticks: 5},
          r: {type: "identity"},
          marks: [
            Plot.dot(points, {
              x: "specificity",
              y: "sensitivity",
              r: (row) => 2.5 + 5 * Math.sqrt(row.answers / most),
              symbol: (row) => (row.why.includes("guesses") ? "triangle" : "circle"),
              fill: (row) => (row.why.includes("guesses") ? "var(--stop)" : "var(--accent)"),
              fillOpacity: 0.75,
              stroke: "var(--surface)",
              strokeWidth: 0.75,
            }),
            Plot.tip(points, Plot.pointer({x: "specificity", y: "sensitivity", title: (row) => `${short(row.name, 40)}\nsensitivity ${share(row.sensitivity)}, specificity ${share(row.specificity)}\n${plural(row.answers, "answer")}`, lineWidth: 30, fontSize: 12})),
          ],
          color: {type: "identity"},
          symbol: {type: "identity"},
        }),
      ),
    table: () => ({
      columns: ["Worker", "Answers", "Sensitivity", "Specificity"],
      rows: points.map((row) => [nameOf(row.name), count(row.answers), share(row.sensitivity), share(row.specificity)]),
    }),
  });
}

function details(report, row) {
  const said = report.taskList.flatMap((task) => (task.said ?? []).filter(([name]) => name === row.name).map(([, set]) => ({task, set})));
  return h(
    "div",
    null,
    smallTable(
      "What is known",
      [
        {label: "", cell: ([label]) => label},
        {label: "", numeric: true, cell: ([, value]) => value},
      ],
      [
        ["Answers", count(row.answers)],
        ["Classes per answer", fixed(row.set_size, 2)],
        ["Sensitivity", share(row.sensitivity)],
        ["Specificity", share(row.specificity)],
        ...(known(row.gold_jaccard) ? [["Jaccard index with the truth", fixed(row.gold_jaccard, 2)]] : []),
      ],
    ),
    said.length > 0 &&
      smallTable(
        "What it said of the tasks that are listed",
        [
          {label: "Task", kind: "named", cell: ({task}) => nameOf(task.name)},
          {label: "Said", cell: ({task, set}) => setCell(report, set, task.set)},
          {label: "Set", cell: ({task}) => setCell(report, task.set)},
        ],
        said.slice(0, 25),
      ),
  );
}
