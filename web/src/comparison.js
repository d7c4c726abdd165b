// The same answers through other methods.
import * as Plot from "@observablehq/plot";
import {h} from "./dom.js";
import {figure} from "./figure.js";
import {known, number, prose, seconds, share, shareRange, unknown} from "./format.js";
import {bandNames, nameAxis, percentAxis, plot} from "./plots.js";
import {smallTable} from "./table.js";

/** What a comparison measures: its key in the rows, its words, how it is written. */
const MEASURES = {
  gold: {key: "accuracy", title: "Accuracy on gold", format: share, range: shareRange, share: true},
  agreement: {key: "agreement_with_result", title: "Same label as this result", format: share, range: () => "", share: true},
  "held-out": {key: "log_probability", title: "Log probability of hidden answers", format: (value) => number(value, 4), range: (low, high) => (known(low) ? `${number(low)}\u202f–\u202f${number(high)}` : ""), share: false},
};

export function comparison({data: {comparison: facts}}) {
  const rows = facts?.rows;
  if (!rows?.length) return [];
  const measure = MEASURES[facts.by] ?? MEASURES.agreement;
  const value = (row) => row[measure.key];
  const listed = [...rows].sort((a, b) => (known(value(b)) ? value(b) : -Infinity) - (known(value(a)) ? value(a) : -Infinity)).map((row) => ({...row, mine: row.this}));
  return [
    facts.words && h("p", null, prose(facts.words)),
    drawing(listed, measure),
    smallTable(
      "All methods",
      [
        {label: "Method", cell: (row) => [row.method, row.this && h("span.tag", null, "this result")]},
        {label: measure.title, numeric: true, cell: (row) => (known(value(row)) ? [measure.format(value(row)), h("span.range", null, measure.range(row.low, row.high))] : (row.note ?? unknown))},
        rows.some((row) => known(row.log_loss)) && {label: "Log loss", level: 2, numeric: true, cell: (row) => number(row.log_loss, 3)},
        measure.key !== "agreement_with_result" && rows.some((row) => known(row.agreement_with_result)) && {label: "Same label", level: 2, numeric: true, cell: (row) => share(row.agreement_with_result)},
        rows.some((row) => known(row.seconds)) && {label: "Time", level: 2, numeric: true, cell: (row) => seconds(row.seconds)},
      ].filter(Boolean),
      listed,
    ),
  ];
}

function drawing(listed, measure) {
  const rows = listed.filter((row) => known(row[measure.key]));
  if (rows.length < 2) return null;
  bandNames(rows.map((row) => row.method), String).forEach((text, i) => (rows[i].band = text));
  const best = rows[0];
  const mine = rows.find((row) => row.this);
  const bounds = measure.range(0, 1) ? rows.filter((row) => known(row.low) && known(row.high)) : [];
  const axis = measure.share ? percentAxis : (label, more) => ({label, ...more});
  return figure({
    title: measure.title,
    summary:
      `Best: ${best.method} with ${measure.format(best[measure.key])}.` +
      (mine && mine !== best ? ` This result (${mine.method}): ${measure.format(mine[measure.key])}.` : "") +
      (bounds.length ? " Where intervals overlap, the order may be chance." : ""),
    height: () => 70 + 26 * rows.length,
    draw: (width, height) => {
      const names = nameAxis(rows.map((row) => row.band), width);
      return plot(width, {
        height,
        marginTop: 12,
        marginLeft: names.margin,
        x: axis(`${measure.title} →`, {grid: true, nice: true, zero: false, ticks: Math.max(3, Math.round(width / 120))}),
        y: {label: null, axis: null, domain: rows.map((row) => row.band), type: "point", padding: 0.6},
        marks: [
          names.mark,
          Plot.ruleY(bounds, {y: "band", x1: "low", x2: "high", stroke: (row) => (row.this ? "var(--accent)" : "var(--muted)"), strokeWidth: 2}),
          Plot.dot(rows, {y: "band", x: measure.key, r: 5, fill: (row) => (row.this ? "var(--accent)" : "var(--muted)"), stroke: "var(--surface)"}),
        ],
        color: {type: "identity"},
      });
    },
    table: () => ({columns: ["Method", measure.title, "Interval"], rows: rows.map((row) => [row.method, measure.format(row[measure.key]), measure.range(row.low, row.high)])}),
  });
}
