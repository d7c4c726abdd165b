// Who can be trusted: what was found and what to do, a picture of who answers as one with whom, and each worker's time.
import * as Plot from "@observablehq/plot";
import {h, nameOf, short} from "./dom.js";
import {openDrawer} from "./drawer.js";
import {figure} from "./figure.js";
import {count, known, listed, plural, prose, share} from "./format.js";
import {layOut} from "./crowd_layout.js";
import {nearestOnClick, plot, rowsOf, tipsNeverStick} from "./plots.js";
import {smallTable} from "./table.js";
import {drawTimeline, timelineTable} from "./timelines.js";
import {adviceBadge, workerView} from "./workers.js";

const FIRST_TIMELINES = 6;
const STRONG = 0.5; // a pair that shares so many of its answers is joined by a strong line
const KINDS = {
  colluders: "contradict the rest",
  copies: "answer as one",
  camp: "see tasks alike",
  given: "named by you",
};

export function trust(report) {
  const {trust: facts} = report.data;
  if (!facts) return [];
  return [facts.words && h("p.calm", null, prose(facts.words)), findings(facts.findings), picture(report, facts.picture), timelines(facts.timelines), limits(facts.limits)];
}

function findings(list) {
  if (!list?.length) return null;
  return h(
    "ul.findings",
    null,
    list.map(({advice, title, words, to_do: toDo}) =>
      h(`li.finding${advice ? `.${advice}` : ""}`, null, h("h3", null, advice ? adviceBadge(advice) : null, title), h("p", null, prose(words)), toDo && h("p", null, h("strong", null, "What to do. "), prose(toDo))),
    ),
  );
}

const groupColour = (group) => (group === null ? "var(--unsure)" : `var(--line-${1 + (group % 6)})`);
const groupName = (group) => (group === null ? "none" : `Group ${group + 1}`);

function picture(report, drawn) {
  if (!drawn?.groups?.length || !drawn.nodes?.name?.length) return null;
  const {groups} = drawn;
  const nodes = rowsOf(drawn.nodes, drawn.nodes.name.length);
  const edges = (drawn.edges ?? [])
    .filter(([a, b]) => nodes[a] && nodes[b])
    .map(([a, b, common, agreed, expected, copied]) => ({a: nodes[a], b: nodes[b], common, agreed, expected, copied, strong: copied >= STRONG}));
  const strong = edges.filter((edge) => edge.strong).length;
  const inGroups = groups.reduce((sum, {workers}) => sum + workers, 0);
  return h(
    "div",
    null,
    figure({
      title: "Who agrees with whom beyond chance",
      summary: [
        `${plural(inGroups, "worker")} in ${plural(groups.length, "group")}${drawn.alone > 0 ? `; ${count(drawn.alone)} answer for themselves (grey)` : ""}. `,
        edges.length > 0 ? "A line joins two of a group who agree more often than truth, habits and hard tasks explain" : "",
        strong > 0 ? `; a strong one (${count(strong)} of ${count(edges.length)}) two who, judged by themselves, copied at least half of their answers` : "",
        edges.length > 0 ? "." : "",
        drawn.left_out ? ` ${drawn.left_out}` : "",
      ],
      hint: "Larger dots gave more answers. Click one for that worker.",
      height: (width) => layOut(groups, nodes, width, short).height,
      draw: (width) => drawCrowd(report, groups, nodes, edges, drawn, width),
      table: () => tableOf(nodes, edges),
    }),
    smallTable(
      "The groups",
      [
        {label: "Group", kind: "named", cell: (row) => [h("span.swatch", {"aria-hidden": "true", style: {"--colour": groupColour(row.group)}}), count(row.group + 1)]},
        {label: "What they do", cell: (row) => KINDS[row.kind] ?? row.kind},
        {label: "Workers", numeric: true, cell: (row) => count(row.workers)},
        {label: "Agree", numeric: true, cell: (row) => share(row.agreement)},
        {label: "Expected", numeric: true, cell: (row) => share(row.expected)},
        {label: "Contradict the others", numeric: true, level: 2, cell: (row) => share(row.contradicts)},
        {label: "Count as", level: 2, cell: (row) => (row.one_voice ? "one voice" : "each")},
      ],
      groups.map((row, group) => ({...row, group})),
    ),
  );
}

function tableOf(nodes, edges) {
  if (edges.length === 0) return {columns: ["Worker", "Group"], rows: nodes.filter(({group}) => group !== null).map((node) => [nameOf(node.name), groupName(node.group)])};
  return {
    columns: ["Worker", "agrees with", "Common tasks", "Agreed on", "Expected", "Copied", "Group"],
    rows: edges.map(({a, b, common, agreed, expected, copied}) => [nameOf(a.name), nameOf(b.name), count(common), count(agreed), count(expected), share(copied, 0), a.group === b.group ? groupName(a.group) : listed([groupName(a.group), groupName(b.group)])]),
  };
}

function drawCrowd(report, groups, nodes, edges, drawn, width) {
  const {places, rings, rest, height} = layOut(groups, nodes, width, short);
  const at = (node) => places.get(node);
  const most = Math.max(1, ...nodes.map((node) => node.answers ?? 0));
  const shown = nodes.filter((node) => places.has(node));
  const named = shown.filter((node) => at(node).text);
  const headings = rings.map(({group, x, top}) => ({x, y: top + 12, first: `${groupName(group)}: ${plural(groups[group].workers, "worker")}`, second: moreOf(groups[group])}));
  if (rest) headings.push({x: rest.middle, y: rest.top + 12, first: `For themselves: ${plural(drawn.alone, "worker")}`, second: ""});
  const link = {x1: ({a}) => at(a).x, y1: ({a}) => at(a).y, x2: ({b}) => at(b).x, y2: ({b}) => at(b).y, stroke: ({a, b}) => (a.group === b.group ? groupColour(a.group) : "var(--muted)")};
  const crowded = edges.length > 150;
  const label = (side) => Plot.text(named.filter((node) => at(node).side === side), {x: (node) => at(node).textX, y: (node) => at(node).textY, text: (node) => at(node).text, textAnchor: side, fill: "var(--text)", stroke: "var(--surface)", strokeWidth: 3, fontSize: 11});
  const drawing = plot(width, {
    height,
    marginTop: 0,
    marginRight: 0,
    marginBottom: 0,
    marginLeft: 0,
    x: {axis: null, domain: [0, width], range: [0, width]},
    y: {axis: null, domain: [0, height], range: [0, height]},
    r: {type: "identity"},
    color: {type: "identity"},
    marks: [
      Plot.link(edges.filter((edge) => !edge.strong), {...link, strokeWidth: 1, strokeOpacity: crowded ? 0.3 : 0.6}),
      Plot.link(edges.filter((edge) => edge.strong), {...link, strokeWidth: crowded ? 2 : 3.5, strokeOpacity: crowded ? 0.4 : 0.75}),
      Plot.dot(shown, {x: (node) => at(node).x, y: (node) => at(node).y, r: (node) => 3.5 + 3.5 * Math.sqrt((node.answers ?? 0) / most), fill: (node) => groupColour(node.group), stroke: "var(--surface)", strokeWidth: 1, sort: null}),
      label("start"),
      label("middle"),
      label("end"),
      Plot.text(headings, {x: "x", y: "y", text: "first", fill: "var(--ink)", fontWeight: 600}),
      Plot.text(headings, {x: "x", y: (row) => row.y + 15, text: "second", fill: "var(--muted)", fontSize: 11}),
      Plot.tip(shown, Plot.pointer({x: (node) => at(node).x, y: (node) => at(node).y, title: (node) => tipOf(node), lineWidth: 30, fontSize: 12, maxRadius: 24})),
    ],
  });
  const view = workerView(report);
  nearestOnClick(drawing, width, shown, (node) => [at(node).x, at(node).y], (node) => {
    const row = report.workerByName.get(node.name);
    if (row) openDrawer(view, row, report.workerList);
  });
  return tipsNeverStick(drawing);
}

function moreOf({kind, workers, drawn}) {
  const words = KINDS[kind] ?? "";
  return drawn < workers ? `${words} (${count(drawn)} drawn)` : words;
}

const tipOf = (node) => `${short(node.name, 40)}\n${plural(node.answers, "answer")}${known(node.accuracy) ? `, ${share(node.accuracy)} right` : ""}\n${node.group === null ? "answers for itself" : groupName(node.group)}${node.advice ? ` · ${node.advice}` : ""}`;

function timelines(facts) {
  const lines = (facts?.workers ?? []).filter((line) => line.stretches?.length);
  if (lines.length === 0) return null;
  const worse = lines.filter((line) => line.alarms?.length);
  const first = worse.slice(0, FIRST_TIMELINES);
  const others = [...worse.slice(FIRST_TIMELINES), ...lines.filter((line) => !line.alarms?.length)];
  return h(
    "div",
    null,
    h("h3", null, "How right they were in the course of their answers"),
    h(
      "p.hint",
      null,
      `Right is what the others' answers say is right; the dotted line is guessing. ${worse.length > 0 ? "Shaded is the stretch where a worker got worse, the triangle is where that was seen." : `Of ${plural(facts.looked_at, "worker")} with answers enough, nobody was seen to get worse.`}${facts.order === "rows" ? " The rows are taken to be in the order of time." : ""}`,
    ),
    first.length > 0 && h("div.pair.multiples", null, first.map(timelineFigure)),
    others.length > 0 && onDemand(`Show ${first.length > 0 ? `${plural(others.length, "more worker")}` : plural(others.length, "worker")}`, () => h("div.pair.multiples", null, others.map(timelineFigure))),
  );
}

function timelineFigure(line) {
  const words = (line.alarms ?? []).map(({words: text}) => text).join(" ");
  return figure({
    title: short(line.worker, 30),
    summary: prose(`${words} ${line.when ?? ""}`.trim() || "It stayed as it was."),
    height: () => 170,
    draw: (width, height) => drawTimeline(line, width, height),
    table: () => timelineTable(line),
  });
}

/** Made when it is opened for the first time. */
function onDemand(words, make) {
  const details = h("details.more", null, h("summary", null, words));
  details.addEventListener("toggle", () => details.append(make()), {once: true});
  return details;
}

function limits(list) {
  if (!list?.length) return null;
  return h("div", null, h("h3", null, "What cannot be known"), h("ul.limits", null, list.map((words) => h("li", null, prose(words)))));
}
