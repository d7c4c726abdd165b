// What the sections on numbers share: the dimensions with a way to write their numbers, and rows for tables.
import {h, short} from "../dom.js";
import {known, number, unknown} from "../format.js";
import {rowsOf} from "../plots.js";
import {place} from "../summary.js";

export const MOST_CHARTS = 4; // dimensions that are drawn; the tables have all

export function numberReport(data) {
  const dimensions = (data.dimensions ?? []).map(dimensionOf);
  const rows = (columns) => (columns?.name?.length ? rowsOf(columns, columns.name.length) : []).map((row) => ({...row, why: [].concat(row.why ?? [])}));
  const workerList = rows(data.workers);
  const taskList = rows(data.tasks);
  return {
    data,
    dimensions,
    several: dimensions.length > 1,
    columns: dimensions.slice(0, dimensions.some((dimension) => dimension.wide) ? 2 : 3), // those with room in large tables
    workerList,
    taskList,
    workerByName: new Map(workerList.map((row) => [row.name, row])),
    taskByName: new Map(taskList.map((row) => [row.name, row])),
  };
}

/** Digits follow the scatter of the answers: a hundredth of it is seen, noise is not. */
function dimensionOf(dimension, index, all) {
  const {scatter, within, deviation, histogram, answers} = dimension;
  const unit = [scatter, within, deviation].find((value) => known(value) && value > 0) ?? 1;
  const largest = Math.max(Math.abs(answers?.minimum ?? 0), Math.abs(answers?.maximum ?? 0));
  const digits = Math.min(12, Math.max(0, 2 - Math.floor(Math.log10(unit) + 1e-9)));
  const plain = unit >= 1e-8 && largest < 1e13;
  const writer = new Intl.NumberFormat("en", {minimumFractionDigits: digits, maximumFractionDigits: digits});
  const text = (value) => (!known(value) ? unknown : plain ? writer.format(value).replace(/^-(?=0(?:\.0*)?$)/, "").replace("-", "−") : number(value, 5));
  const ticks = tickWriter(unit, largest, plain);
  const edges = histogram?.edges;
  const [low, high] = edges ? [edges[0], edges[edges.length - 1]] : [answers?.minimum ?? 0, answers?.maximum ?? 1];
  return {
    ...dimension,
    index,
    unit,
    text,
    wide: text(-largest).length > 7,
    /** An axis: as many ticks as have room. */
    axis: (width, more) => ({tickFormat: ticks, ticks: Math.max(2, Math.min(8, Math.floor(width / (40 + 7 * ticks(-largest).length)))), ...more}),
    /** With its sign, for differences. */
    signed: (value) => (known(value) && value > 0 ? `+${text(value)}` : text(value)),
    range: (from, to) => (known(from) && known(to) ? `${text(from)}\u202f${from < 0 || to < 0 ? "to" : "–"}\u200b\u202f${text(to)}` : ""),
    at: (value) => (high > low ? (value - low) / (high - low) : 0.5),
    /** Behind a heading where there are several. */
    behind: all.length > 1 ? `: ${short(dimension.name, 40)}` : "",
    label: short(dimension.name, 24),
  };
}

/** Numbers on an axis; large ones short where the scatter allows it. */
function tickWriter(unit, largest, plain) {
  if (!plain) return (value) => Number(value.toPrecision(3)).toExponential();
  const writer =
    unit >= 1000
      ? new Intl.NumberFormat("en", {notation: "compact", maximumSignificantDigits: Math.min(8, Math.max(2, Math.ceil(Math.log10(largest / unit)) + 2))})
      : new Intl.NumberFormat("en", {maximumFractionDigits: Math.min(12, Math.max(0, 1 - Math.floor(Math.log10(unit))))});
  return (value) => writer.format(value).replace("-", "−");
}

/** A number with its interval, and where both are in the range of the estimates. */
export function estimateCell(dimension, value, low, high, gauge = true) {
  if (!known(value)) return unknown;
  const ends = known(low) && known(high);
  return h(
    `span.estimate${gauge ? "" : ".stacked"}`,
    null,
    dimension.text(value),
    ends && h("span.range", null, dimension.range(low, high)),
    ends && gauge && h("span.gauge", {"aria-hidden": "true", style: place(dimension.at(value), dimension.at(low), dimension.at(high))}, h("i"), h("b")),
  );
}

export const tagsOf = (why) => h("span.tags", null, why.map((reason) => h(`span.tag${/truth outside|noisy|biased/.test(reason) ? ".wrong" : ""}`, null, reason)));

/** Charts side by side: three in a row, or two where there are two or four. */
export const chartsOf = (charts) => charts.length > 0 && h(`div${charts.length === 1 ? "" : charts.length % 2 === 0 ? ".pair.two" : ".pair"}`, null, charts);
