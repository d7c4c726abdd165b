// How far workers agree, and whether the crowd hangs together at all.
import * as Plot from "@observablehq/plot";
import {h, nameOf, short} from "./dom.js";
import {figure} from "./figure.js";
import {count, fixed, known, plural, prose, share, shareRange} from "./format.js";
import {plot} from "./plots.js";
import {smallTable} from "./table.js";

export function agreement(report) {
  return [agreementFacts(report), graph(report)];
}

function agreementFacts({data, className}) {
  const {agreement: facts} = data;
  if (!facts) return null;
  const list = [
    ["Pairs of answers that agree", known(facts.share) && [share(facts.share), h("span.range", null, shareRange(facts.low, facts.high))]],
    ["Krippendorff's alpha", known(facts.krippendorff_alpha) && [fixed(facts.krippendorff_alpha), h("span.range", null, "agreement beyond chance: 1 perfect, 0 none")]],
    ["Fleiss' kappa", known(facts.fleiss_kappa) && [fixed(facts.fleiss_kappa), h("span.range", null, "agreement beyond chance: 1 perfect, 0 none")]],
    ["Tasks where all agree", known(facts.unanimous) && share(facts.unanimous)],
    ["Pairs compared", known(facts.pairs) && count(facts.pairs)],
  ].filter(([, value]) => value);
  const byClass = classRows(facts.by_class, className);
  return h(
    "div",
    null,
    facts.words && h("p", null, prose(facts.words)),
    list.length > 0 && h("dl.facts", null, list.map(([term, value]) => h("div", null, h("dt", null, term), h("dd", null, value)))),
    byClass.length > 0 &&
      smallTable(
        "Agreement by class",
        [
          {label: "Class", kind: "named", cell: (row) => nameOf(row.name)},
          {label: "Pairs that agree", numeric: true, cell: (row) => share(row.share)},
        ],
        byClass,
      ),
  );
}

/** A list of shares in the order of the classes, or of objects. */
function classRows(list, className) {
  return (list ?? [])
    .map((entry, i) => (typeof entry === "number" ? {name: className(i), share: entry} : {name: className(entry?.class ?? i), share: entry?.share ?? entry?.agreement}))
    .filter((row) => known(row.share))
    .slice(0, 60);
}

function graph({data}) {
  const {graph: facts} = data;
  if (!facts) return null;
  const sizes = facts.sizes ?? [];
  return h(
    "div",
    null,
    h("h3", null, "Does the crowd hang together?"),
    h("p", null, facts.words ? prose(facts.words) : graphWords(facts)),
    sizes.length > 1 &&
      smallTable(
        `The largest groups${facts.components > sizes.length ? `, of ${count(facts.components)}` : ""}`,
        [
          {label: "Group", cell: (row) => count(row.number)},
          {label: "Tasks", numeric: true, cell: (row) => count(row.tasks)},
          {label: "Workers", numeric: true, cell: (row) => count(row.workers)},
          {label: "Answers", numeric: true, cell: (row) => count(row.answers)},
        ],
        sizes.map((row, i) => ({...row, number: i + 1})),
      ),
    sampleDrawing(facts.sample),
  );
}

function graphWords({components, largest_task_share: tasks}) {
  if (components === 1) return "All workers are linked through tasks they share, so their reliabilities can be compared.";
  return `The answers fall into ${plural(components, "group")} without a worker in common; the largest holds ${share(tasks)} of the tasks.`;
}

/** Tasks above, workers below, a line per answer; neighbours are put near each other. */
function sampleDrawing(sample) {
  if (!sample?.tasks?.length || !sample.workers?.length || !sample.edges?.length) return null;
  const edges = sample.edges.filter(([t, w]) => sample.tasks[t] !== undefined && sample.workers[w] !== undefined);
  const places = untangle(sample.tasks.length, sample.workers.length, edges);
  const nodes = [
    ...sample.tasks.map((name, i) => ({name, kind: "task", x: places.tasks[i], y: 1})),
    ...sample.workers.map((name, i) => ({name, kind: "worker", x: places.workers[i], y: 0})),
  ];
  return figure({
    title: "A piece of the graph of tasks and workers",
    summary: `A sample: ${plural(sample.tasks.length, "task")} (squares), ${plural(sample.workers.length, "worker")} (circles) and ${plural(edges.length, "answer")} (lines) between them.`,
    height: () => 200,
    draw: (width, height) =>
      plot(width, {
        height,
        marginLeft: 64,
        marginBottom: 16,
        x: {axis: null, domain: [0, 1], insetLeft: 8, insetRight: 8},
        y: {axis: null, domain: [0, 1], insetTop: 8, insetBottom: 8},
        marks: [
          Plot.link(edges, {x1: ([t]) => places.tasks[t], y1: 1, x2: ([, w]) => places.workers[w], y2: 0, stroke: "var(--muted)", strokeOpacity: Math.max(0.1, Math.min(0.45, 60 / edges.length))}),
          Plot.dot(nodes, {x: "x", y: "y", r: 5, symbol: (node) => (node.kind === "task" ? "square" : "circle"), fill: (node) => (node.kind === "task" ? "var(--retrain)" : "var(--accent)"), stroke: "var(--surface)", title: (node) => `${node.kind} ${short(node.name, 60)}`}),
          Plot.text(["Tasks", "Workers"], {x: 0, y: (_, i) => 1 - i, text: (d) => d, dx: -20, textAnchor: "end", fill: "var(--muted)"}),
        ],
        symbol: {type: "identity"},
        color: {type: "identity"},
      }),
    table: () => ({columns: ["Task", "Worker"], rows: edges.map(([t, w]) => [nameOf(sample.tasks[t]), nameOf(sample.workers[w])])}),
  });
}

/** Few crossings by going back and forth: each node to the mean place of its neighbours. */
function untangle(taskCount, workerCount, edges) {
  const spread = (n, order) => {
    const places = new Array(n);
    order.forEach((node, rank) => (places[node] = n === 1 ? 0.5 : rank / (n - 1)));
    return places;
  };
  const inOrder = (n) => Array.from({length: n}, (_, i) => i);
  let tasks = spread(taskCount, inOrder(taskCount));
  let workers = spread(workerCount, inOrder(workerCount));
  const towards = (n, own, other, places) => {
    const sums = Array.from({length: n}, () => [0, 0]);
    for (const edge of edges) {
      sums[edge[own]][0] += places[edge[other]];
      sums[edge[own]][1] += 1;
    }
    const mean = sums.map(([sum, m]) => (m ? sum / m : 0.5));
    return spread(n, inOrder(n).sort((a, b) => mean[a] - mean[b] || a - b));
  };
  for (let round = 0; round < 12; ++round) {
    workers = towards(workerCount, 1, 0, tasks);
    tasks = towards(taskCount, 0, 1, workers);
  }
  return {tasks, workers};
}
