// People and machines in one crowd: how good each machine is beside people, what it leans towards, how sure it may be.
import * as Plot from "@observablehq/plot";
import {h, nameOf, short} from "./dom.js";
import {figure, legendOf} from "./figure.js";
import {count, fixed, known, plural, share, shareRange} from "./format.js";
import {bandNames, nameAxis, percentAxis, plot} from "./plots.js";
import {smallTable} from "./table.js";

const MOST_DRAWN = 30;
const MOST_PEOPLE = 20;
const BIASES = {position: "What is shown first", length: "What is longer", self_preference: "Its own family's work", lean: "The upper class"};
const withRange = (e) => [share(e?.value), h("span.range", null, shareRange(e?.low, e?.high))];

export function judgeReport(data) {
  // The ranking is drawn as that of comparisons.
  return {data, itemList: data.leaderboard ?? [], groups: 0};
}

export function judges({data}) {
  const rows = data.judges ?? [];
  if (!rows.length) return [];
  const machines = rows.filter((row) => row.kind === "machine");
  const people = rows.filter((row) => row.kind !== "machine");
  const listed = [...machines, ...people.slice(0, MOST_PEOPLE)];
  return [
    picture(rows),
    smallTable(
      people.length > MOST_PEOPLE ? `Machines, and the ${count(MOST_PEOPLE)} people with most answers` : "Machines and people",
      [
        {label: "Worker", kind: "named", cell: (row) => nameOf(row.name)},
        {label: "Kind", cell: (row) => row.kind},
        {label: "Family", level: 3, cell: (row) => (row.family ? nameOf(row.family) : "")},
        {label: "Tasks", level: 3, numeric: true, cell: (row) => count(row.tasks)},
        {label: "Right, by all", numeric: true, cell: (row) => withRange(row.accuracy)},
        {label: "Right, by people", numeric: true, cell: (row) => withRange(row.against_people)},
        {label: "Agrees", numeric: true, cell: (row) => share(row.agreement?.value)},
        {label: "Base rate", level: 2, numeric: true, cell: (row) => share(row.base_rate)},
        {label: "Kappa", level: 2, numeric: true, cell: (row) => fixed(row.kappa?.value, 3)},
        {label: "More wanted", level: 3, numeric: true, cell: (row) => (known(row.more_answers) ? count(row.more_answers) : "")},
      ],
      listed,
    ),
    machines.length > 0 && h("p.hint", null, "Right by the truth of all together, and by that of people alone with their errors allowed for. Agrees: with a person who was asked the same; the base rate is the agreement of whoever always says what people say most."),
    families(data),
  ];
}

function picture(rows) {
  const drawn = rows.filter((row) => known(row.accuracy?.value)).slice(0, MOST_DRAWN).map((row) => ({...row, ...row.accuracy}));
  if (!drawn.length) return null;
  bandNames(drawn.map((row) => row.name), (name) => short(name, 28)).forEach((text, i) => (drawn[i].band = text));
  const colour = (row) => (row.kind === "machine" ? "var(--accent)" : "var(--muted)");
  return figure({
    title: "How often each is right",
    summary: `${plural(drawn.filter((row) => row.kind === "machine").length, "machine")} beside people, by the truth of all together. Lines are 95\u202f% intervals.`,
    legend: legendOf([{label: "machine", mark: "accent"}, {label: "person", mark: "muted"}]),
    height: () => 60 + 22 * drawn.length,
    draw: (width, height) => {
      const names = nameAxis(drawn.map((row) => row.band), width);
      return plot(width, {
        height,
        marginTop: 12,
        marginLeft: names.margin,
        x: percentAxis("Right answers →", {grid: true, nice: true, ticks: Math.max(3, Math.round(width / 120))}),
        y: {label: null, axis: null, domain: drawn.map((row) => row.band), type: "point", padding: 0.6},
        marks: [
          names.mark,
          Plot.ruleY(drawn.filter((row) => known(row.low) && known(row.high)), {y: "band", x1: "low", x2: "high", stroke: colour, strokeWidth: 2}),
          Plot.dot(drawn, {y: "band", x: "value", r: 5, fill: colour, stroke: "var(--surface)"}),
        ],
        color: {type: "identity"},
      });
    },
    table: () => ({columns: ["Worker", "Kind", "Right", "95\u202f%"], rows: drawn.map((row) => [nameOf(row.name), row.kind, share(row.value), shareRange(row.low, row.high)])}),
  });
}

function families({families: rows}) {
  if (!rows?.length) return null;
  return smallTable(
    "Families that may err together",
    [
      {label: "Family", kind: "named", cell: (row) => nameOf(row.name)},
      {label: "Judges", numeric: true, cell: (row) => count(row.judges)},
      {label: "Correlation of errors", numeric: true, cell: (row) => fixed(row.correlation?.value, 2)},
      {label: "Worth so many voices", numeric: true, cell: (row) => fixed(row.voices, 1)},
    ],
    rows,
  );
}

export function judgeBiases({data}) {
  const points = data.scores_in_points;
  const rows = (data.biases ?? []).filter((row) => BIASES[row.bias] && known((points ? row.effect : row.share)?.value));
  if (!rows.length) return [];
  const drawn = rows.slice(0, MOST_DRAWN).map((row) => ({...row, ...(points ? row.effect : row.share), band: `${short(row.name, 20)}: ${BIASES[row.bias].toLowerCase()}`}));
  const fair = points ? 0 : 0.5;
  const colour = (row) => (row.clear ? "var(--accent)" : "var(--muted)");
  const axis = points ? {label: "Points above people →", grid: true, nice: true} : percentAxis("Share of its verdicts at equal quality →", {grid: true, domain: [0, 1], ticks: 5});
  return [
    figure({
      title: "What judges lean towards",
      summary: `${plural(rows.filter((row) => row.clear).length, "leaning")} beyond doubt. ${points ? "0 is fair." : "Half is fair."} Lines are 95\u202f% intervals.`,
      legend: legendOf([{label: "beyond doubt", mark: "accent"}, {label: "may be chance", mark: "muted"}]),
      height: () => 60 + 22 * drawn.length,
      draw: (width, height) => {
        const names = nameAxis(drawn.map((row) => row.band), width);
        return plot(width, {
          height,
          marginTop: 12,
          marginLeft: names.margin,
          x: axis,
          y: {label: null, axis: null, domain: drawn.map((row) => row.band), type: "point", padding: 0.6},
          marks: [
            names.mark,
            Plot.ruleX([fair], {stroke: "var(--muted)", strokeDasharray: "3 3"}),
            Plot.ruleY(drawn, {y: "band", x1: "low", x2: "high", stroke: colour, strokeWidth: 2}),
            Plot.dot(drawn, {y: "band", x: "value", r: 5, fill: colour, stroke: "var(--surface)"}),
          ],
          color: {type: "identity"},
        });
      },
      table: () => ({
        columns: ["Judge", "Leans towards", points ? "Points" : "Share", "95\u202f%", "Answers"],
        rows: rows.map((row) => [nameOf(row.name), BIASES[row.bias], points ? fixed(row.effect.value, 2) : share(row.share.value), points ? `${fixed(row.effect.low, 2)} to ${fixed(row.effect.high, 2)}` : shareRange(row.share.low, row.share.high), count(row.answers)]),
      }),
    }),
  ];
}

/** Reliability diagrams: how often what was said with so much probability was right. */
export function judgeCalibration({data}) {
  const rows = (data.calibration ?? []).filter((row) => known(row.confidence) && known(row.right));
  if (!rows.length) return [];
  const names = [...new Set(rows.map((row) => row.name))];
  return names.slice(0, 12).map((name) => {
    const own = rows.filter((row) => row.name === name);
    const colour = (row) => (row.when === "calibrated" ? "var(--accent)" : "var(--muted)");
    return figure({
      title: ["Probabilities of ", nameOf(name)],
      summary: "On the line, what is said with so much probability is right as often. After calibration, the judge counts with the second set of points.",
      legend: legendOf([{label: "as it says", mark: "muted"}, {label: "calibrated", mark: "accent"}]),
      height: () => 300,
      draw: (width, height) =>
        plot(Math.min(width, 420), {
          height,
          x: percentAxis("Probability →", {domain: [0, 1], grid: true, ticks: 5}),
          y: percentAxis("↑ Right", {domain: [0, 1], grid: true, ticks: 5}),
          marks: [
            Plot.line([[0, 0], [1, 1]], {stroke: "var(--muted)", strokeDasharray: "3 3"}),
            Plot.dot(own, {x: "confidence", y: "right", r: (row) => 3 + Math.min(6, Math.sqrt(row.tasks) / 3), fill: colour, stroke: "var(--surface)"}),
          ],
          color: {type: "identity"},
          r: {type: "identity"},
        }),
      table: () => ({columns: ["Probabilities", "Mean", "Right", "Tasks"], rows: own.map((row) => [row.when, share(row.confidence), share(row.right), count(row.tasks)])}),
    });
  });
}

export function judgePrevalence({data: {prevalence: rows}}) {
  if (!rows?.length) return [];
  return [
    smallTable(
      "Shares of classes, corrected for each judge's errors",
      [
        {label: "Judge", kind: "named", cell: (row) => nameOf(row.name)},
        {label: "Class", cell: (row) => nameOf(row.class)},
        {label: "It says", numeric: true, cell: (row) => share(row.raw)},
        {label: "Corrected", numeric: true, cell: (row) => withRange(row.corrected)},
      ],
      rows,
    ),
  ];
}
