// How right a worker was in the course of its answers, with the stretch where it got worse.
import * as Plot from "@observablehq/plot";
import {count, known, share} from "./format.js";
import {percentAxis, plot, wholeTicks} from "./plots.js";

/** The stretches of a line with their first and last answer, counted from 1. */
export function stretchesOf({stretches}) {
  let before = 0;
  return (stretches ?? []).map(([answers, accuracy]) => {
    const from = before + 1;
    before += answers;
    return {from, to: before, answers, accuracy};
  });
}

export function drawTimeline(line, width, height) {
  const rows = stretchesOf(line).filter((row) => known(row.accuracy));
  const last = rows[rows.length - 1]?.to ?? 1;
  const alarms = (line.alarms ?? []).map((alarm) => ({...alarm, ends: alarm.ends ?? last}));
  const guessing = known(line.guessing) ? [line.guessing] : [];
  return plot(width, {
    height,
    marginTop: 26,
    marginBottom: 36,
    marginLeft: 46,
    x: {label: "Answer →", domain: [1, Math.max(2, last)], ticks: Math.max(2, Math.round(width / 110)), tickFormat: wholeTicks},
    y: percentAxis("↑ Right", {domain: [0, 1], grid: true, ticks: 3}),
    marks: [
      Plot.rectX(alarms, {x1: "began", x2: "ends", y1: 0, y2: 1, fill: "var(--stop)", fillOpacity: 0.13}),
      Plot.ruleY(guessing, {stroke: "var(--muted)", strokeDasharray: "2 4"}),
      // A step as wide as the stretch, and a dot in its middle.
      Plot.ruleY(rows, {x1: "from", x2: "to", y: "accuracy", stroke: "var(--accent)", strokeWidth: 2.5}),
      Plot.line(rows, {x: (row) => (row.from + row.to) / 2, y: "accuracy", stroke: "var(--accent)", strokeOpacity: 0.45}),
      Plot.ruleX(alarms, {x: "raised", stroke: "var(--stop)", strokeWidth: 1.5}),
      Plot.dot(alarms, {x: "raised", y: 1, symbol: "triangle", r: 5, rotate: 180, fill: "var(--stop)", stroke: "var(--surface)"}),
    ],
  });
}

export const timelineTable = (line) => ({
  columns: ["Answers", "Right"],
  rows: stretchesOf(line).map(({from, to, accuracy}) => [`${count(from)}\u202f–\u202f${count(to)}`, share(accuracy)]),
});
