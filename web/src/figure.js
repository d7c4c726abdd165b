// The frame of every chart: heading, what it shows in a sentence, the drawing, and the same numbers as a table.
// Charts are drawn when they come near the window, and all of them before printing.
import {append, freshId, h} from "./dom.js";

/** @type {Map<Element, () => void>} */
const waiting = new Map();
const MOST_TABLE_ROWS = 500;

const seen = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) if (entry.isIntersecting) drawNow(entry.target);
  },
  {rootMargin: "300px"},
);

function drawNow(place) {
  const draw = waiting.get(place);
  if (!draw) return;
  waiting.delete(place);
  seen.unobserve(place);
  draw();
}

export function drawEverything() {
  for (const place of [...waiting.keys()]) drawNow(place);
}

window.addEventListener("beforeprint", drawEverything);
window.matchMedia("print").addEventListener("change", (event) => event.matches && drawEverything());

/**
 * @param {object} chart
 * @param {string} chart.title
 * @param {string | Array<unknown>} chart.summary what there is to see, in words; read to those who cannot see the drawing
 * @param {(width: number) => Element} chart.draw
 * @param {() => {columns: string[], rows: Array<Array<string | number | Node>>}} chart.table
 * @param {Node | null} [chart.legend]
 * @param {string} [chart.hint] how to use it; left out on paper
 */
export function figure({title, summary, draw, table, legend, hint}) {
  const heading = freshId("figure");
  const words = freshId("summary");
  const place = h("div.drawing");
  let width = 0;
  const redraw = () => {
    width = Math.max(240, Math.floor(place.clientWidth));
    const drawing = draw(width);
    const picture = drawing.tagName.toLowerCase() === "svg" ? drawing : drawing.querySelector("svg");
    if (picture) {
      picture.setAttribute("role", "img");
      picture.setAttribute("aria-labelledby", heading);
      picture.setAttribute("aria-describedby", words);
    }
    place.replaceChildren(drawing);
  };
  waiting.set(place, () => {
    redraw();
    // A turned phone or a resized window; paper shrinks the drawing that is there.
    let timer = 0;
    new ResizeObserver(() => {
      if (place.clientWidth === 0 || Math.abs(place.clientWidth - width) < 2 || window.matchMedia("print").matches) return;
      clearTimeout(timer);
      timer = setTimeout(redraw, 120);
    }).observe(place);
  });
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
