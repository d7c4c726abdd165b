// The result against known truths: right, wrong, and whether its probabilities mean what they say.
import * as Plot from "@observablehq/plot";
import {h, nameOf} from "./dom.js";
import {figure} from "./figure.js";
import {count, known, number, plural, prose, share, shareRange} from "./format.js";
import {heatmap} from "./heatmap.js";
import {percentAxis, plot} from "./plots.js";
import {dataTable, smallTable} from "./table.js";

export function gold(report) {
  const {data} = report;
  const pictures = [calibration(data), data.gold && confusion(report)].filter(Boolean);
  return [scores(report), pictures.length > 0 && h("div.pair", null, pictures), perClass(report), mistakes(report)];
}

function scores({data: {gold: facts}}) {
  if (!facts || !known(facts.accuracy)) return null;
  return h(
    "p.verdict",
    null,
    `${share(facts.accuracy)} of ${plural(facts.tasks, "label")} with a known truth are right`,
    known(facts.low) && `, ${shareRange(facts.low, facts.high)} with 95\u202f% confidence`,
    ".",
    known(facts.rank_error) && ` Classes are ordered: labels are ${number(facts.rank_error)} ranks off on average (quadratic kappa ${number(facts.quadratic_kappa)}).`,
    known(facts.left_blank) && facts.left_blank > 0 && ` ${plural(facts.left_blank, "more was", "more were")} left blank.`,
  );
}

function calibration({calibration: facts}) {
  const bins = facts?.bins?.filter((bin) => bin.tasks > 0 && known(bin.confidence) && known(bin.accuracy));
  if (!bins?.length) return null;
  const lowest = Math.min(...bins.flatMap((bin) => [bin.confidence, bin.accuracy_low ?? bin.accuracy]));
  const floor = Math.max(0, Math.floor(10 * lowest) / 10);
  const most = Math.max(...bins.map((bin) => bin.tasks));
  return h(
    "div",
    null,
    figure({
      title: "Do the probabilities mean what they say?",
      summary:
        (facts.words && prose(facts.words)) ??
        `Where the result says 90\u202f%, nine in ten should be right: points on the diagonal. On average it is off by ${share(facts.ece)}.`,
      height: (width) => Math.round(0.8 * Math.min(width, 520)),
      draw: (width, height) =>
        plot(Math.min(width, 520), {
          height,
          x: percentAxis("Probability given →", {domain: [floor, 1], grid: true, ticks: 5}),
          y: percentAxis("↑ Share that is right", {domain: [floor, 1], grid: true, ticks: 5}),
          r: {type: "identity"},
          clip: false,
          marks: [
            Plot.link([0], {x1: floor, y1: floor, x2: 1, y2: 1, stroke: "var(--muted)", strokeDasharray: "4 4"}),
            Plot.ruleX(bins.filter((bin) => known(bin.accuracy_low)), {x: "confidence", y1: (bin) => Math.max(floor, bin.accuracy_low), y2: "accuracy_high", stroke: "var(--accent)", strokeWidth: 1.5}),
            Plot.dot(bins, {x: "confidence", y: "accuracy", r: (bin) => 3 + 6 * Math.sqrt(bin.tasks / most), fill: "var(--accent)", stroke: "var(--surface)", title: (bin) => `${plural(bin.tasks, "task")}: said ${share(bin.confidence)}, right ${share(bin.accuracy)}`}),
          ],
        }),
      table: () => ({
        columns: ["Probability given", "Mean", "Share right", "Interval", "Tasks"],
        rows: bins.map((bin) => [`${share(bin.low, 0)} to ${share(bin.high, 0)}`, share(bin.confidence), share(bin.accuracy), shareRange(bin.accuracy_low, bin.accuracy_high), count(bin.tasks)]),
      }),
    }),
    h(
      "dl.facts",
      null,
      [
        ["Mean distance (ECE)", known(facts.ece) && share(facts.ece)],
        ["Brier score", known(facts.brier) && number(facts.brier, 3)],
        ["Log loss", known(facts.log_loss) && number(facts.log_loss, 3)],
      ]
        .filter(([, value]) => value)
        .map(([term, value]) => h("div", null, h("dt", null, term), h("dd", null, value))),
    ),
  );
}

function confusion({data, className}) {
  const {gold: facts} = data;
  if (!facts.confusion?.length || !facts.classes) return null;
  const names = facts.classes.map(className);
  const sums = facts.confusion.map((row) => row.reduce((sum, n) => sum + n, 0));
  return h(
    "figure.chart",
    null,
    h("figcaption", null, h("h3", null, "Truths and given labels")),
    heatmap({
      caption: "Labels given (columns) to tasks whose truth is (rows), in per cent",
      names,
      share: (r, c) => (sums[r] > 0 ? facts.confusion[r][c] / sums[r] : null),
      amount: (r, c) => facts.confusion[r][c],
      rows: "truth",
      columns: "given",
      unit: "tasks",
    }),
  );
}

function perClass({data, className}) {
  const rows = data.gold?.per_class;
  if (!rows?.length) return null;
  return smallTable(
    "By class",
    [
      {label: "Class", kind: "named", cell: (row) => nameOf(className(row.class))},
      {label: "Tasks", numeric: true, cell: (row) => count(row.tasks)},
      {label: "Precision", numeric: true, cell: (row) => share(row.precision)},
      {label: "Recall", numeric: true, cell: (row) => share(row.recall)},
      {label: "F1", level: 2, numeric: true, cell: (row) => share(row.f1)},
    ],
    rows,
  );
}

function mistakes({data, className}) {
  const rows = data.gold?.wrong;
  if (!rows?.length) return null;
  const label = (title, key) => ({label: title, kind: "label", value: (row) => String(className(row[key]) ?? ""), cell: (row) => nameOf(className(row[key]))});
  return h(
    "div",
    null,
    h("h3", null, known(data.gold.mistakes) && data.gold.mistakes > rows.length ? `The ${count(rows.length)} surest of ${plural(data.gold.mistakes, "mistake")}` : "The mistakes, surest first"),
    h("p.hint", null, "Sure and yet not what gold says: look here for errors in the gold and for questions that are understood differently."),
    dataTable({
      caption: "The surest mistakes",
      noun: "mistake",
      rows,
      columns: [
        {label: "Task", kind: "named", value: (row) => row.task, cell: (row) => nameOf(row.task)},
        label("Label given", "label"),
        label("Gold", "gold"),
        {label: "Probability", numeric: true, value: (row) => row.probability, cell: (row) => share(row.probability)},
      ],
      text: (row) => `${row.task} ${className(row.label)} ${className(row.gold)}`,
    }),
  );
}
