// The frame of every chart: heading, what it shows in a sentence, the drawing, and the same numbers as a table.
// Charts are drawn when they come near the window, the others when the browser has nothing else to do, and all of them before
// printing. Their height is reserved from the start, so that nothing jumps.
import {append, freshId, h} from "./dom.js";

/** @type {Map<Element, {draw: () => void, height: (width: number) => number}>} */
const waiting = new Map();
const MOST_TABLE_ROWS = 500;

const seen = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) if (entry.isIntersecting) drawNow(entry.target);
  },
  {rootMargin: "300px"},
);

function drawNow(place) {
  const chart = waiting.get(place);
  if (!chart) return;
  waiting.delete(place);
  seen.unobserve(place);
  chart.draw();
  place.style.removeProperty("min-height");
}

export function drawEverything() {
  for (const place of [...waiting.keys()]) drawNow(place);
}

/** Reserves the heights of the charts, and draws one after the other when there is time. Once the page is laid out. */
export function beginDrawing() {
  const widths = [...waiting.keys()].map((place) => widthOf(place)); // all reads before all writes: one layout
  [...waiting].forEach(([place, {height}], i) => place.style.setProperty("min-height", `${height(widths[i])}px`));
  const later = window.requestIdleCallback ?? ((callback) => setTimeout(callback, 50));
  const next = () => {
    const [place] = waiting.keys();
    if (!place) return;
    drawNow(place);
    later(next);
  };
  later(next);
}

const widthOf = (place) => Math.max(240, Math.floor(place.clientWidth));

window.addEventListener("beforeprint", drawEverything);
window.matchMedia("print").addEventListener("change", (event) => event.matches && drawEverything());

/**
 * @param {object} chart
 * @param {string} chart.title
 * @param {string | Array<unknown>} chart.summary what there is to see, in words; read to those who cannot see the drawing
 * @param {(width: number) => number} chart.height
 * @param {(width: number, height: number) => Element} chart.draw
 * @param {() => {columns: string[], rows: Array<Array<string | number | Node>>}} chart.table
 * @param {Node | null} [chart.legend]
 * @param {string} [chart.hint] how to use it; left out on paper
 */
export function figure({title, summary, height, draw, table, legend, hint}) {
  const heading = freshId("figure");
  const words = freshId("summary");
  const place = h("div.drawing");
  let width = 0;
  const redraw = () => {
    width = widthOf(place);
    let drawing;
    try {
      drawing = draw(width, height(width));
    } catch (error) {
      console.error(error);
      place.replaceChildren(h("p.hint", null, "This chart could not be drawn; its numbers are in the table."));
      return;
    }
    const picture = drawing.tagName.toLowerCase() === "svg" ? drawing : drawing.querySelector("svg");
    if (picture) {
      picture.setAttribute("role", "img");
      picture.setAttribute("aria-labelledby", heading);
      picture.setAttribute("aria-describedby", words);
    }
    place.replaceChildren(drawing);
  };
  const drawAndFollow = () => {
    redraw();
    // A turned phone or a resized window; paper shrinks the drawing that is there.
    let timer = 0;
    new ResizeObserver(() => {
      if (place.clientWidth === 0 || Math.abs(place.clientWidth - width) < 2 || window.matchMedia("print").matches) return;
      clearTimeout(timer);
      timer = setTimeout(redraw, 120);
    }).observe(place);
  };
  waiting.set(place, {draw: drawAndFollow, height});
  seen.observe(place);
  return h(
    "figure.chart",
    {"aria-labelledby": heading},
    h("figcaption", null, h("h3", {id: heading}, title), h("p.summary", {id: words}, summary), hint && h("p.hint", null, hint)),
    legend,
    place,
    table && tableBehind(title, table),
  );
}

function tableBehind(title, table) {
  const details = h("details.numbers", null, h("summary", null, "Show as table", h("span.unseen", null, `: ${title}`)));
  details.addEventListener(
    "toggle",
    () => {
      const {columns, rows} = table();
      const body = h("tbody");
      for (const row of rows.slice(0, MOST_TABLE_ROWS)) {
        append(body, [h("tr", null, row.map((cell, i) => (i === 0 ? h("th", {scope: "row"}, cell) : h("td", null, cell))))]);
      }
      details.append(
        h(
          "div.scroll",
          {tabindex: 0, role: "region", "aria-label": `Table: ${title}`},
          h("table.plain", null, h("thead", null, h("tr", null, columns.map((name) => h("th", {scope: "col"}, name)))), body),
        ),
      );
      if (rows.length > MOST_TABLE_ROWS) details.append(h("p.hint", null, `The first ${MOST_TABLE_ROWS} of ${rows.length} rows.`));
    },
    {once: true},
  );
  return details;
}

/** Marks of a legend: [{label, mark}] with mark a class of the style sheet. */
export function legendOf(entries) {
  return h("ul.legend", {"aria-hidden": "true"}, entries.map(({label, mark}) => h("li", null, h(`span.mark.${mark}`), label)));
}
