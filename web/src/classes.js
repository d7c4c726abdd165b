// How the classes are spread, and which of them the crowd mixes up.
import * as Plot from "@observablehq/plot";
import {h, nameOf, short} from "./dom.js";
import {figure, legendOf} from "./figure.js";
import {count, known, plural, share, shareRange} from "./format.js";
import {heatmap, worstConfusions} from "./heatmap.js";
import {bandNames, nameAxis, percentAxis, plot, rowsOf} from "./plots.js";

const MOST_BARS = 30;

export function classes(report) {
  return [balance(report), crowdConfusion(report)];
}

function balance({data}) {
  const {classes: columns, classes_rest: rest} = data;
  if (!columns?.name?.length) return null;
  const all = rowsOf(columns, columns.name.length);
  const rows = [...all].sort((a, b) => (b.tasks ?? b.task_share ?? 0) - (a.tasks ?? a.task_share ?? 0)).slice(0, MOST_BARS);
  bandNames(rows.map((row) => row.name), (name) => short(name, 24)).forEach((text, i) => (rows[i].band = text));
  const tasks = rows.filter((row) => known(row.task_share));
  const largest = rows[0];
  const hidden = all.length - rows.length + (rest?.count ?? 0);
  const draw = (width, height) => {
    const names = nameAxis(rows.map((row) => row.band), width);
    return plot(width, {
      height,
      marginTop: 12,
      marginLeft: names.margin,
      x: percentAxis("Share →", {grid: true, ticks: Math.max(3, Math.round(width / 110)), domain: [0, Math.min(1, 1.05 * Math.max(...rows.flatMap((row) => [row.task_share_high ?? 0, row.task_share ?? 0, row.answer_share ?? 0])))]}),
      y: {label: null, axis: null, domain: rows.map((row) => row.band), padding: 0.3},
      marks: [
        names.mark,
        Plot.barX(tasks, {y: "band", x: "task_share", fill: "var(--accent)", rx: 1, title: (row) => `${short(row.name, 60)}: ${share(row.task_share)} of the tasks`}),
        Plot.ruleY(tasks.filter((row) => known(row.task_share_low)), {y: "band", x1: "task_share_low", x2: "task_share_high", stroke: "var(--ink)", strokeWidth: 2}),
        Plot.tickX(rows.filter((row) => known(row.answer_share)), {y: "band", x: "answer_share", stroke: "var(--retrain)", strokeWidth: 3}),
        Plot.ruleX([0], {stroke: "var(--line-strong)"}),
      ],
    });
  };
  return figure({
    title: "Class balance",
    summary: [
      nameOf(largest.name, "bdi.name", 40),
      ` is the largest class with ${share(largest.task_share)} of the tasks`,
      `${known(largest.answer_share) ? ` and ${share(largest.answer_share)} of the answers` : ""}.`,
      hidden > 0 && ` ${plural(hidden, "smaller class is", "smaller classes are")} not drawn.`,
    ],
    legend: legendOf([
      {label: "share of tasks (line: interval)", mark: "accent"},
      {label: "share of answers", mark: "tick"},
    ]),
    height: () => 70 + 30 * rows.length,
    draw,
    table: () => ({
      columns: ["Class", "Tasks", "Share of tasks", "Interval", "Answers", "Share of answers"],
      rows: [
        ...all.map((row) => [nameOf(row.name), count(row.tasks), share(row.task_share), shareRange(row.task_share_low, row.task_share_high), count(row.answers), share(row.answer_share)]),
        ...(rest?.count ? [[`${count(rest.count)} more`, count(rest.tasks), "", "", count(rest.answers), ""]] : []),
      ],
    }),
  });
}

function crowdConfusion({data, className}) {
  const {crowd_confusion: confusion} = data;
  if (!confusion?.share?.length || !confusion.classes) return null;
  const names = confusion.classes.map(className);
  const shareAt = (r, c) => confusion.share[r]?.[c];
  const worst = worstConfusions(names, shareAt);
  const words = worst.map(({r, c, value}, i) => [i > 0 && (i < worst.length - 1 ? ", " : " and "), nameOf(names[r], "bdi.name", 40), " for ", nameOf(names[c], "bdi.name", 40), ` (${share(value, 0)})`]);
  return h(
    "figure.chart",
    null,
    h(
      "figcaption",
      null,
      h("h3", null, "What the crowd mixes up"),
      h("p.summary", null, words.length ? ["Most often it takes ", words, "."] : "No class is taken for another in more than 2\u202f% of the answers."),
    ),
    heatmap({
      caption: "What workers say (columns) when the truth is (rows), in per cent of the answers",
      names,
      share: shareAt,
      amount: confusion.answers ? (r, c) => confusion.answers[r]?.[c] : null,
      rows: "truth",
      columns: "said",
      unit: "answers expected",
    }),
  );
}
