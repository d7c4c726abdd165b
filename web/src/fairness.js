// Whether labels and workers treat groups of tasks alike.
import * as Plot from "@observablehq/plot";
import {h, nameOf, short} from "./dom.js";
import {figure} from "./figure.js";
import {count, known, prose, share, shareRange, unknown} from "./format.js";
import {nameAxis, percentAxis, plot} from "./plots.js";
import {smallTable} from "./table.js";

const MEASURES = {
  demographic_parity: "Demographic parity",
  equal_opportunity: "Equal opportunity",
  false_positive_rate: "False positives",
  equalised_odds: "Equalised odds",
  accuracy: "Accuracy",
};
const ORDER = Object.keys(MEASURES);
const RATES = {
  demographic_parity: "Positive labels",
  equal_opportunity: "True positives",
  false_positive_rate: "False positives",
  accuracy: "Accuracy",
};
const LABELS = {answers: "answers", labels: "labels", labels_by_group: "by group", limited: "limited"};

/** In points, with a sign: 12.3 is what 0.123 of a share is. */
const points = (value) => (known(value) ? `${value > 0 ? "+" : ""}${(100 * value).toFixed(1)}` : unknown);
const pointsRange = ({low, high}) => (known(low) && known(high) ? `${points(low)} to ${points(high)}` : "");

export function fairness({data: {fairness: facts}}) {
  const gaps = (facts?.gaps ?? []).filter((row) => MEASURES[row.measure]);
  if (!gaps.length) return [];
  return [facts.words && h("p", null, prose(facts.words)), drawing(gaps), rates(facts, gaps), workers(facts)];
}

function drawing(gaps) {
  const several = new Set(gaps.map((row) => row.positive)).size > 1;
  const shown = gaps
    .filter((row) => known(row.value) && (several ? row.labels === "labels" : true))
    .sort((a, b) => ORDER.indexOf(a.measure) - ORDER.indexOf(b.measure)) // answers and labels of a measure stand together
    .map((row) => ({...row, band: [MEASURES[row.measure], several ? short(row.positive) : LABELS[row.labels] ?? row.labels].join(", ")}));
  if (!shown.length) return null;
  const widest = shown.filter((row) => row.labels === "labels").reduce((a, b) => (a && a.value >= b.value ? a : b), null);
  return figure({
    title: "Gaps between groups",
    summary: (widest ? `The widest gap of the labels: ${share(widest.value)} in ${MEASURES[widest.measure].toLowerCase()}, ${short(widest.highest)} above ${short(widest.lowest)}. ` : "") + "Lines are 95\u202f% intervals; one that begins at 0 may be chance.",
    height: () => 60 + 22 * shown.length,
    draw: (width, height) => {
      const names = nameAxis(shown.map((row) => row.band), width);
      return plot(width, {
        height,
        marginTop: 12,
        marginLeft: names.margin,
        x: percentAxis("Highest rate of a group minus the lowest →", {grid: true, nice: true, zero: true, ticks: Math.max(3, Math.round(width / 120))}),
        y: {label: null, axis: null, domain: shown.map((row) => row.band), type: "point", padding: 0.6},
        marks: [
          names.mark,
          Plot.ruleY(shown.filter((row) => known(row.low) && known(row.high)), {y: "band", x1: "low", x2: "high", stroke: (row) => (row.low > 0 ? "var(--accent)" : "var(--muted)"), strokeWidth: 2}),
          Plot.dot(shown, {y: "band", x: "value", r: 5, fill: (row) => (row.low > 0 ? "var(--accent)" : "var(--muted)"), stroke: "var(--surface)"}),
        ],
        color: {type: "identity"},
      });
    },
    table: () => ({
      columns: ["Gap", "Value", "95\u202f%", "Highest", "Lowest", "Truth"],
      rows: shown.map((row) => [row.band, share(row.value), shareRange(row.low, row.high), nameOf(row.highest), nameOf(row.lowest), row.truth || "not needed"]),
    }),
  });
}

/** The rates of each group, of the labels. */
function rates(facts, gaps) {
  const first = gaps.find((row) => row.labels === "labels");
  const columns = gaps.filter((row) => row.labels === "labels" && RATES[row.measure] && row.positive === first.positive);
  if (!columns.length || !facts.groups?.length) return null;
  return smallTable(
    "Rates of the labels by group",
    [
      {label: facts.column || "Group", cell: (group) => nameOf(group.name)},
      {label: "Tasks", numeric: true, cell: (group) => count(group.tasks)},
      {label: "With gold", level: 2, numeric: true, cell: (group) => count(group.gold_tasks)},
      ...columns.map((row) => ({label: RATES[row.measure], numeric: true, cell: (group) => share(row.rates?.[group.place])})),
    ],
    facts.groups.map((group, place) => ({...group, place})),
  );
}

function workers(facts) {
  const rows = facts.workers ?? [];
  if (!rows.length) return null;
  const named = rows.some((row) => row.biased);
  return smallTable(
    named ? `Workers who treat groups differently, in points against ${short(facts.reference)}` : `The largest gaps of workers, in points against ${short(facts.reference)}; they may be chance`,
    [
      {label: "Worker", cell: (row) => nameOf(row.worker)},
      {label: "Group", cell: (row) => nameOf(row.group)},
      {label: "Class", level: 2, cell: (row) => nameOf(row.positive)},
      {label: "Answers", level: 2, numeric: true, cell: (row) => count(row.answers)},
      {label: "False positives", numeric: true, cell: (row) => [points(row.false_positive?.value), h("span.range", null, pointsRange(row.false_positive ?? {}))]},
      {label: "True positives", numeric: true, cell: (row) => [points(row.true_positive?.value), h("span.range", null, pointsRange(row.true_positive ?? {}))]},
    ],
    named ? rows.filter((row) => row.biased) : rows,
  );
}
