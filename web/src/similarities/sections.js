// Reports on answers that say same or different: clusters, items, workers, pairs and gold.
import * as Plot from "@observablehq/plot";
import {h, nameOf, short} from "../dom.js";
import {openDrawer} from "../drawer.js";
import {figure} from "../figure.js";
import {count, fixed, known, plural, share, shareRange} from "../format.js";
import {choiceOf, listedWorkers} from "../lists.js";
import {plot, percentAxis, rowsOf, tipsNeverStick, wholeTicks} from "../plots.js";
import {dataTable, smallTable} from "../table.js";

const MOST_BARS = 40;
const rows = (columns) => (columns?.name?.length ? rowsOf(columns, columns.name.length) : []);

export function similarityReport(data) {
  const workerList = rows(data.workers).map((row) => ({...row, why: [].concat(row.why ?? [])}));
  return {data, clusterList: rows(data.clusters), itemList: rows(data.items), workerList};
}

export function clusters({data, clusterList, itemList}) {
  if (clusterList.length === 0) return [];
  const view = {kind: "Cluster", name: (row) => row.name, body: (row) => clusterDetails(row, itemList)};
  const open = (row, order) => openDrawer(view, row, order);
  const shown = clusterList.slice(0, MOST_BARS);
  const largest = clusterList[0];
  return [
    figure({
      title: "How large the clusters are",
      summary: ["The largest, ", nameOf(largest.name, "bdi.name", 40), `, has ${plural(largest.items, "item")}${data.clusters.total > MOST_BARS ? `; the ${MOST_BARS} largest of ${count(data.clusters.total)} are drawn` : ""}.`],
      height: () => 240,
      draw: (width, height) =>
        tipsNeverStick(
          plot(width, {
            height,
            marginBottom: 40,
            x: {label: "Cluster →", domain: shown.map((_, i) => i), tickFormat: (i) => (shown.length <= 20 ? short(shown[i].name, 8) : ""), tickSize: 0},
            y: {label: "↑ Items", grid: true, ticks: 5, tickFormat: wholeTicks},
            marks: [
              Plot.barY(shown, {x: (_, i) => i, y: "items", fill: "var(--accent)", rx: 1}),
              Plot.ruleY([0], {stroke: "var(--line-strong)"}),
              Plot.tip(shown, Plot.pointerX({x: (_, i) => i, y: "items", title: (row) => `${short(row.name, 40)}\n${plural(row.items, "item")}, ${share(row.sure)} sure`, fontSize: 12})),
            ],
          }),
        ),
      table: () => ({columns: ["Cluster", "Items", "Sure"], rows: clusterList.map((row) => [nameOf(row.name), count(row.items), share(row.sure)])}),
    }),
    dataTable({
      caption: "Clusters",
      noun: "cluster",
      columns: [
        {label: "Cluster", kind: "named", value: (row) => row.name, cell: (row) => nameOf(row.name)},
        {label: "Items", numeric: true, value: (row) => row.items, cell: (row) => count(row.items)},
        {label: "Sure", help: "Mean probability of its items to belong there", numeric: true, value: (row) => row.sure, cell: (row) => share(row.sure)},
        {label: "Unsure items", help: "Items with less than 90 %", level: 2, numeric: true, value: (row) => row.unsure, cell: (row) => count(row.unsure)},
      ],
      rows: clusterList,
      text: (row) => `${row.name} ${(row.members ?? []).join(" ")}`,
      open,
      sortBy: 1,
      total: choiceOf(data.clusters, clusterList),
    }),
  ];
}

function clusterDetails(row, itemList) {
  const unsure = itemList.filter((own) => own.cluster === row.name && own.probability < 0.9);
  const members = [].concat(row.members ?? []);
  return h(
    "div",
    null,
    h("dl.facts", null, [["Items", count(row.items)], ["Sure", share(row.sure)]].map(([term, value]) => h("div", null, h("dt", null, term), h("dd", null, value)))),
    smallTable(members.length < row.items ? `The first ${count(members.length)} items` : "Its items", [{label: "Item", kind: "named", cell: (name) => nameOf(name)}], members),
    unsure.length > 0 &&
      smallTable(
        "Least certain",
        [
          {label: "Item", kind: "named", cell: (own) => nameOf(own.name)},
          {label: "Probability", numeric: true, cell: (own) => share(own.probability)},
        ],
        unsure.slice(0, 25),
      ),
  );
}

export function items({data, itemList}) {
  if (itemList.length === 0) return [];
  const gold = itemList.some((row) => row.truth !== undefined && row.truth !== null);
  return [
    h("p", null, "The least certain first: more comparisons of these would help most."),
    dataTable({
      caption: "Items",
      noun: "item",
      columns: [
        {label: "Item", kind: "named", value: (row) => row.name, cell: (row) => nameOf(row.name)},
        {label: "Cluster", value: (row) => row.cluster, cell: (row) => nameOf(row.cluster)},
        {label: "Probability", numeric: true, value: (row) => row.probability, cell: (row) => share(row.probability)},
        {label: "Compared with", level: 2, numeric: true, value: (row) => row.pairs, cell: (row) => count(row.pairs)},
        gold && {label: "Truth", level: 2, value: (row) => row.truth, cell: (row) => (row.truth === null ? "" : nameOf(row.truth))},
      ].filter(Boolean),
      rows: itemList,
      text: (row) => `${row.name} ${row.cluster}`,
      total: choiceOf(data.items, itemList),
    }),
  ];
}

export function raters({data, workerList}) {
  if (workerList.length === 0) return [];
  const guesses = workerList.filter((row) => row.why.includes("guesses"));
  const gold = workerList.some((row) => known(row.gold_accuracy));
  const points = workerList.filter((row) => row.answers > 0);
  const most = Math.max(1, ...points.map((row) => row.answers));
  return [
    h("p", null, guesses.length === 0 ? "Nobody answers as if by chance." : `${plural(guesses.length, "worker")} ${guesses.length === 1 ? "answers" : "answer"} nearly as if by chance.`),
    points.length > 0 &&
      figure({
        title: "How workers err",
        summary: "Each dot is a worker: to the right, it calls different what is the same; upwards, it calls the same what is different. On the line, answers tell nothing. Larger dots gave more answers.",
        height: (width) => Math.round(Math.min(440, Math.max(280, width * 0.45))),
        draw: (width, height) =>
          tipsNeverStick(
            plot(width, {
              height,
              marginLeft: 56,
              x: percentAxis("Wrong where the same →", {domain: [0, 1], grid: true}),
              y: percentAxis("↑ Wrong where different", {domain: [0, 1], grid: true}),
              r: {type: "identity"},
              marks: [
                Plot.line([[0, 1], [1, 0]], {stroke: "var(--muted)", strokeDasharray: "2 4"}),
                Plot.dot(points, {x: "false_different", y: "false_same", r: (row) => 2.5 + 5 * Math.sqrt(row.answers / most), fill: (row) => (row.why.length > 0 ? "var(--stop)" : "var(--accent)"), fillOpacity: 0.75, stroke: "var(--surface)", strokeWidth: 0.75}),
                Plot.tip(points, Plot.pointer({x: "false_different", y: "false_same", title: (row) => `${short(row.name, 40)}\n${plural(row.answers, "answer")}`, fontSize: 12})),
              ],
            }),
          ),
        table: () => ({
          columns: ["Worker", "Answers", "Wrong where the same", "Wrong where different"],
          rows: points.map((row) => [nameOf(row.name), count(row.answers), share(row.false_different), share(row.false_same)]),
        }),
      }),
    listedWorkers(data.workers, workerList),
    dataTable({
      caption: "Workers",
      noun: "worker",
      columns: [
        {label: "Worker", kind: "named", value: (row) => row.name, cell: (row) => nameOf(row.name)},
        {label: "Answers", numeric: true, value: (row) => row.answers, cell: (row) => count(row.answers)},
        {label: "Says same", level: 2, numeric: true, value: (row) => row.said_same, cell: (row) => share(row.said_same)},
        {label: "Wrong where the same", numeric: true, value: (row) => row.false_different, cell: (row) => share(row.false_different)},
        {label: "Wrong where different", numeric: true, value: (row) => row.false_same, cell: (row) => share(row.false_same)},
        {label: "As the clusters", level: 3, numeric: true, value: (row) => row.agreement, cell: (row) => share(row.agreement)},
        gold && {label: "On gold", help: "Share of its answers on known pairs that are right", level: 3, numeric: true, value: (row) => row.gold_accuracy, cell: (row) => share(row.gold_accuracy)},
      ].filter(Boolean),
      rows: workerList,
      text: (row) => row.name,
      filters: guesses.length > 0 ? [{label: "guesses", test: (row) => row.why.includes("guesses")}] : [],
      sortBy: 1,
      total: choiceOf(data.workers, workerList),
    }),
  ];
}

export function pairsAgreement({data: {pairs, counts}}) {
  if (!pairs) return [];
  const facts = [
    ["Pairs that were answered", `${count(counts?.pairs)}, ${share(pairs.coverage)} of all`],
    ["Answers that say the same", share(pairs.same_share)],
    ["Answers to one pair that agree", known(pairs.agreement) && share(pairs.agreement)],
    ["Parts never compared with each other", count(pairs.components)],
    ["Triangles looked at", pairs.triangles > 0 && `${count(pairs.triangles)}${pairs.triangles_sampled ? ", drawn at random" : ""}`],
    ["Of these, contradictions", pairs.triangles > 0 && `${count(pairs.contradicting)} (${share(pairs.contradicting / pairs.triangles)})`],
  ].filter(([, value]) => value);
  const triangles = [].concat(pairs.contradictions ?? []);
  return [
    h("dl.facts", null, facts.map(([term, value]) => h("div", null, h("dt", null, term), h("dd", null, value)))),
    triangles.length > 0 &&
      smallTable(
        "Contradictions: the first equals the second, the second the third, but the first is different from the third",
        [0, 1, 2].map((i) => ({label: ["First", "Second", "Third"][i], kind: "named", cell: (row) => nameOf(row[i])})),
        triangles,
      ),
  ];
}

export function similarityGold({data: {gold}}) {
  if (!gold) return [];
  const clustersKnown = gold.items > 0;
  const list = [
    [clustersKnown ? "Items in the right cluster" : "Pairs that are right", [share(gold.accuracy), h("span.range", null, shareRange(gold.low, gold.high))]],
    clustersKnown && ["Normalised mutual information", fixed(gold.nmi, 3)],
    clustersKnown && ["Adjusted Rand index", fixed(gold.adjusted_rand, 3)],
    clustersKnown && ["Clusters found, true", `${count(gold.clusters)}, ${count(gold.true_clusters)}`],
    ["Precision of pairs", share(gold.pair_precision)],
    ["Recall of pairs", share(gold.pair_recall)],
    ["F1 of pairs", fixed(gold.pair_f1, 3)],
  ].filter(Boolean);
  return [
    h("p", null, clustersKnown ? `Scored on ${plural(gold.items, "item")}; names of clusters mean nothing, what counts is who is with whom.` : `Scored on ${plural(gold.pairs, "pair")}.`),
    h("dl.facts", null, list.map(([term, value]) => h("div", null, h("dt", null, term), h("dd", null, value)))),
  ];
}
