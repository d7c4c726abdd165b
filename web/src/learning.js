// How a classifier learned, and what choosing questions well would have saved.
import * as Plot from "@observablehq/plot";
import {h} from "./dom.js";
import {figure} from "./figure.js";
import {count, known, listed, number, plural, prose, share, shareRange} from "./format.js";
import {percentAxis, plot, wholeTicks} from "./plots.js";
import {smallTable} from "./table.js";

// Blue, orange, green, pink, sky, vermillion: told apart by all eyes, and dashed in turn.
const LINES = ["var(--line-1)", "var(--line-2)", "var(--line-3)", "var(--line-4)", "var(--line-5)", "var(--line-6)"];
const DASHES = ["none", "6 3", "2 3", "8 3 2 3", "none", "6 3"];

export function learning({data: {learning: facts}}) {
  if (!facts) return [];
  const curves = (facts.curves ?? []).filter((curve) => curve.value?.some(known));
  return [
    facts.words && h("p", null, prose(facts.words)),
    scores(facts),
    curves.length > 0 && h("div.pair", null, groups(curves).map((group) => curveFigure(group, facts.chosen_epoch))),
    facts.network && h("p.hint", null, `Network: ${facts.network}.`),
  ];
}

function scores({scores: rows}) {
  if (!rows?.length) return null;
  return smallTable(
    "How good the classifier is",
    [
      {label: "Where", cell: (row) => row.words ?? row.part},
      {label: "Tasks", numeric: true, level: 2, cell: (row) => count(row.tasks)},
      {label: "Accuracy", numeric: true, cell: (row) => [share(row.accuracy), h("span.range", null, shareRange(row.low, row.high))]},
      rows.some((row) => known(row.last)) && {label: "At the last epoch", numeric: true, level: 2, cell: (row) => share(row.last)},
    ].filter(Boolean),
    rows,
  );
}

/** Curves on one scale go into one drawing: shares (accuracies) together, every other on its own. */
function groups(curves) {
  const isShare = (curve) => /accura|agree/i.test(curve.name) && curve.value.every((v) => !known(v) || (v >= 0 && v <= 1));
  const shares = curves.filter(isShare);
  return [...(shares.length ? [{share: true, curves: shares}] : []), ...curves.filter((curve) => !isShare(curve)).map((curve) => ({share: false, curves: [curve]}))];
}

function curveFigure(group, chosen) {
  const points = group.curves.flatMap((curve, c) =>
    curve.value.map((value, i) => ({epoch: curve.epochs?.[i] ?? i + 1, value, c, name: curve.name})).filter((point) => known(point.value)),
  );
  const title = group.share ? "Accuracy while learning" : upper(group.curves[0].name);
  const format = group.share ? share : (value) => number(value, 4);
  const ends = group.curves.map((curve) => {
    const values = curve.value.filter(known);
    return `${upper(curve.name)}: from ${format(values[0])} to ${format(values[values.length - 1])}`;
  });
  return figure({
    title,
    summary: `${ends.join("; ")}${known(chosen) ? `; epoch ${chosen} was chosen` : ""}.`,
    legend: group.curves.length > 1 ? lineLegend(group.curves.map((curve) => curve.name)) : null,
    height: () => 240,
    draw: (width, height) =>
      plot(width, {
        height,
        x: {label: "Epoch →", ticks: Math.max(3, Math.round(width / 90)), tickFormat: wholeTicks},
        y: group.share ? percentAxis("↑ Accuracy", {grid: true, nice: true, ticks: 5}) : {label: null, grid: true, nice: true, ticks: 5},
        marks: [
          known(chosen) && Plot.ruleX([chosen], {stroke: "var(--muted)", strokeDasharray: "2 4"}),
          known(chosen) && Plot.text([chosen], {x: (d) => d, frameAnchor: "top", dy: -10, text: () => "chosen", fill: "var(--muted)"}),
          ...group.curves.map((_, c) => Plot.lineY(points.filter((point) => point.c === c), {x: "epoch", y: "value", stroke: LINES[c % LINES.length], strokeDasharray: DASHES[c % DASHES.length], strokeWidth: 2})),
        ],
      }),
    table: () => ({columns: ["Epoch", "Curve", "Value"], rows: points.map((point) => [count(point.epoch), point.name, format(point.value)])}),
  });
}

const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function lineLegend(names) {
  return h("ul.legend", {"aria-hidden": "true"}, names.map((name, i) => h("li", null, h(`span.stroke.stroke${(i % LINES.length) + 1}`), name)));
}

export function savings({data: {savings: facts}}) {
  const policies = (facts?.policies ?? []).filter((policy) => policy.answers?.length && policy.accuracy?.some(known));
  if (!facts || (policies.length === 0 && !facts.rows?.length)) return [];
  return [facts.words && h("p", null, prose(facts.words)), policies.length > 0 && savingsFigure(policies, facts.accuracy_of_all), ...savingsTables(facts.rows)];
}

function savingsFigure(policies, target) {
  const points = policies.flatMap((policy, c) =>
    policy.answers.map((answers, i) => ({answers, accuracy: policy.accuracy[i], low: policy.low?.[i], high: policy.high?.[i], c, name: policy.name})).filter((point) => known(point.accuracy)),
  );
  const half = Math.max(...points.map((point) => point.answers)) / 2;
  const halfway = policies.map((policy, c) => {
    const near = points.filter((point) => point.c === c).reduce((a, b) => (Math.abs(b.answers - half) < Math.abs(a.answers - half) ? b : a));
    return `${policy.name} ${share(near.accuracy)}`;
  });
  const [lowest, highest] = [Math.min, Math.max].map((end) => end(...points.map((point) => point.accuracy), target ?? points[0].accuracy));
  const domain = [Math.max(0, lowest - 0.05), Math.min(1, highest + 0.05)]; // of the lines: bands of few seeds are wide
  const inside = (value) => Math.min(domain[1], Math.max(domain[0], value));
  return figure({
    title: "Accuracy by number of answers asked for",
    summary: `After ${count(Math.round(half))} answers, half of all: ${listed(halfway)}.${known(target) ? ` All answers together give ${share(target)} (dotted).` : ""}`,
    legend: lineLegend(policies.map((policy) => policy.name)),
    height: (width) => Math.round(Math.min(400, Math.max(260, width * 0.4))),
    draw: (width, height) =>
      plot(width, {
        height,
        x: {label: "Answers →", ticks: Math.max(3, Math.round(width / 110)), tickFormat: wholeTicks},
        y: percentAxis("↑ Accuracy", {grid: true, domain}),
        marks: [
          ...policies.map((_, c) => Plot.areaY(points.filter((point) => point.c === c && known(point.low)), {x: "answers", y1: (point) => inside(point.low), y2: (point) => inside(point.high), fill: LINES[c % LINES.length], fillOpacity: 0.12})),
          known(target) && Plot.ruleY([target], {stroke: "var(--muted)", strokeDasharray: "2 4"}),
          ...policies.map((_, c) => Plot.lineY(points.filter((point) => point.c === c), {x: "answers", y: "accuracy", stroke: LINES[c % LINES.length], strokeDasharray: DASHES[c % DASHES.length], strokeWidth: 2})),
        ],
      }),
    table: () => ({columns: ["Policy", "Answers", "Accuracy", "Interval"], rows: points.map((point) => [point.name, count(point.answers), share(point.accuracy), shareRange(point.low, point.high)])}),
  });
}

/** A table for each accuracy to reach: that of all answers, or so many points less. */
function savingsTables(rows) {
  const slacks = [...new Set((rows ?? []).map((row) => row.slack ?? 0))];
  return slacks.map((slack) =>
    smallTable(
      slack > 0 ? `Answers needed for ${number(100 * slack, 2)} points less` : "Answers needed for the accuracy of all answers",
      [
        {label: "Policy", cell: (row) => row.policy},
        {label: "Needed", numeric: true, cell: (row) => (known(row.needed) && row.reached !== false ? plural(Math.round(row.needed), "answer") : "not reached")},
        {label: "Saved", numeric: true, cell: (row) => (row.saved === 0 && row.low === row.high ? "–" : [share(row.saved), h("span.range", null, shareRange(row.low, row.high))])},
      ],
      rows.filter((row) => (row.slack ?? 0) === slack),
    ),
  );
}
