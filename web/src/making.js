// How the result was made, so that somebody else can make it again, and what this page leaves out.
import * as Plot from "@observablehq/plot";
import {h, nameOf, printable} from "./dom.js";
import {figure} from "./figure.js";
import {count, known, number, plural, prose, seconds, share, unitsOf} from "./format.js";
import {plot, wholeTicks} from "./plots.js";
import {smallTable} from "./table.js";

export function convergence({data: {convergence: facts, kind}}) {
  const trace = facts?.trace?.map((value, i) => ({step: facts.at?.[i] ?? i * (facts.every ?? 1) + 1, value})).filter((point) => known(point.value));
  if (!facts || !(trace?.length > 1)) return facts?.status && kind !== "learn" ? [h("p", null, statusWords(facts.status))] : []; // learners have curves instead
  const first = trace[0];
  const last = trace[trace.length - 1];
  return [
    figure({
      title: facts.objective ? `${upper(facts.objective)} by iteration` : "Objective by iteration",
      summary: `${statusWords(facts.status)} It went from ${number(first.value, 6)} to ${number(last.value, 6)} in ${plural(last.step, "iteration")}.`,
      height: () => 220,
      draw: (width, height) =>
        plot(width, {
          height,
          marginLeft: 72,
          x: {label: "Iteration →", ticks: Math.max(3, Math.round(width / 110)), tickFormat: wholeTicks},
          y: {label: null, grid: true, ticks: 4},
          marks: [Plot.lineY(trace, {x: "step", y: "value", stroke: "var(--accent)", strokeWidth: 2}), trace.length <= 40 && Plot.dot(trace, {x: "step", y: "value", r: 2.5, fill: "var(--accent)"})],
        }),
      table: () => ({columns: ["Iteration", "Objective"], rows: trace.map((point) => [count(point.step), number(point.value, 8)])}),
    }),
  ];
}

const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function statusWords(status) {
  const words = {
    converged: "The fit converged.",
    iteration_limit: "The fit stopped at its limit of iterations before it settled.",
    cancelled: "The fit was cancelled on the way.",
  };
  return words[String(status).replace(/[ -]/g, "_")] ?? (status ? `Status: ${status}.` : "");
}

export function making({data}) {
  const {run = {}, program = {}, counts = {}} = data;
  const facts = [
    ["Method", run.method_title && run.method_title.toLowerCase() !== run.method ? `${run.method_title} (${run.method})` : run.method],
    ["Data", known(counts.answers) && [plural(counts.answers, "answer"), unitsOf(counts), plural(counts.workers, "worker"), known(counts.dimensions) && `numbers of ${plural(counts.dimensions, "dimension")}`, known(counts.classes) && plural(counts.classes, "class", "classes")].filter(Boolean).join(", ")],
    ["Inputs", run.inputs?.length > 0 && h("ul.inputs", null, run.inputs.map(({role, path}) => h("li", null, `${role}: `, nameOf(path, "bdi.whole"))))],
    ["Hash of the data", run.data_hash && h("code", null, run.data_hash)],
    ["Gold", known(run.gold_tasks) && run.gold_tasks > 0 && `${plural(run.gold_tasks, "task")}${run.gold_use ? `, ${run.gold_use}` : ""}`],
    ["Left blank", known(run.abstain_below) && run.abstain_below > 0 && `labels less than ${share(run.abstain_below, 0)} sure${known(counts.abstained) ? `: ${count(counts.abstained)}` : ""}`],
    ["Seed", known(run.seed) || typeof run.seed === "string" ? String(run.seed) : null],
    ["Iterations", known(run.iterations) && `${count(run.iterations)}${run.status ? ` (${String(run.status).replaceAll("_", " ")})` : ""}`],
    ["Time", known(run.seconds) && [seconds(run.seconds), run.timings?.length > 0 && h("span.range", null, run.timings.map(({stage, seconds: s}) => `${stage} ${seconds(s)}`).join(", "))]],
    ["Made by", program.name && `${program.name} ${program.version ?? ""}`],
  ].filter(([, value]) => value);
  return [
    run.method_summary && h("p", null, prose(run.method_summary)),
    run.explanation && h("p", null, upper(prose(run.explanation))),
    h("dl.facts.wide", null, facts.map(([term, value]) => h("div", null, h("dt", null, term), h("dd", null, value)))),
    run.command && h("div.command", null, h("h3", null, "The command"), h("pre", {tabindex: 0}, h("code", null, printable(run.command)))),
    parameterTable("Parameters", run.parameters),
    (run.stages ?? []).map((stage) => parameterTable(`${stage.role}: ${stage.method}`, stage.parameters) ?? h("p", null, `${stage.role}: ${stage.method}`)),
  ];
}

function parameterTable(caption, rows) {
  if (!rows?.length) return null;
  return h(
    "details.numbers",
    null,
    h("summary", null, `${caption} (${rows.length})`),
    smallTable(
      caption,
      [
        {label: "Name", cell: (row) => h("code", null, row.name)},
        {label: "Value", cell: (row) => h("code", null, printable(typeof row.value === "object" ? JSON.stringify(row.value) : row.value))},
      ],
      rows,
    ),
  );
}

export function sampling({data: {sampling: sentences}}) {
  return sentences?.length ? [h("ul.sentences", null, sentences.map((sentence) => h("li", null, prose(sentence))))] : [];
}
