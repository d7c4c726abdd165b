// Drawings of the live page.
import {h, nameOf, printable} from "/live/dom.js";

const SVG = "http://www.w3.org/2000/svg";
const svg = (name, attributes) => {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
};

/** Accuracy in the stretches of a worker's answers, from 0 to 1. */
export function spark(stretches) {
  if (stretches.length < 2) return "–";
  const words = stretches.map((one) => `${(100 * one.accuracy).toFixed(0)} %`).join(", ");
  const picture = svg("svg", {viewBox: "0 0 96 24", class: "spark", role: "img", "aria-label": `Right over time: ${words}`});
  const x = (i) => 2 + (92 * i) / (stretches.length - 1);
  const y = (p) => 22 - 20 * Math.min(1, Math.max(0, p));
  picture.append(svg("line", {x1: 2, x2: 94, y1: y(0.5), y2: y(0.5)}),
    svg("path", {d: stretches.map((one, i) => `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(one.accuracy).toFixed(1)}`).join("")}));
  return picture;
}

/** How often pairs agree; a cell that is chosen calls `open` with both names. */
export function matrix(agreement, open) {
  const workers = agreement.workers.slice(0, 20);
  const cells = new Map(agreement.pairs.map((pair) => [`${pair.first} ${pair.second}`, pair]));
  const cell = (i, j) => {
    const pair = cells.get(`${Math.min(i, j)} ${Math.max(i, j)}`);
    if (i === j || !pair) return h("td", null, "");
    const share = pair.same / pair.both;
    const words = `${printable(workers[i])} and ${printable(workers[j])}: the same on ${pair.same} of ${pair.both}`;
    return h("td", null, h("button", {type: "button", title: words, "aria-label": words, style: {"--cell": 100 * share}, on: {click: () => open(workers[i], workers[j])}},
      (100 * share).toFixed(0)));
  };
  return h("div.scroll", {tabindex: "0", role: "region", "aria-label": "Agreement"}, h("table.matrix", null,
    h("thead", null, h("tr", null, h("td", null, ""), workers.map((_, j) => h("th", {scope: "col"}, String(j + 1))))),
    h("tbody", null, workers.map((name, i) => h("tr", null, h("th", {scope: "row"}, `${i + 1} `, nameOf(name)), workers.map((_, j) => cell(i, j)))))));
}

/** The name of a task, as a link back into the tool where there is one. */
export function taskLink(task) {
  if (!/^https?:\/\//.test(task.link ?? "")) return nameOf(task.task);
  const anchor = h("a", null, nameOf(task.task));
  anchor.setAttribute("href", task.link);
  anchor.setAttribute("rel", "noopener noreferrer");
  anchor.setAttribute("target", "_blank");
  return anchor;
}
