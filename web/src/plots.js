// What all drawings share. Colours are custom properties of the style sheet, so that themes and paper need no redrawing.
import * as Plot from "@observablehq/plot";
import {shortCount} from "./format.js";

export const ADVICE = [
  {id: "keep", label: "Keep", symbol: "circle", words: "surely better than guessing: keep asking"},
  {id: "retrain", label: "Retrain", symbol: "triangle", words: "takes one class for another, or is wrong more often than by guessing: retrain it"},
  {id: "recode", label: "Recode", symbol: "star", words: "swaps classes: read its answers the other way round"},
  {id: "check", label: "Check", symbol: "square", words: "answers as one with others, or worse than before: look at it"},
  {id: "stop", label: "Stop", symbol: "times", words: "no better than guessing, or against the rest as one with others: stop asking"},
  {id: "unsure", label: "Unsure", symbol: "diamond", words: "too little is known: ask more"},
];

export const adviceColour = (id) => `var(--${ADVICE.some((advice) => advice.id === id) ? id : "unsure"})`;

/** Plot.plot with the house's type and colours. */
export function plot(width, options) {
  return Plot.plot({
    width,
    marginTop: 30,
    marginRight: 16,
    marginBottom: 40,
    marginLeft: 52,
    ...options,
    marks: options.marks.filter(Boolean),
    className: "plot",
    style: {fontFamily: "inherit", fontSize: "12px", background: "none", overflow: "visible"},
  });
}

export const percentAxis = (label, more) => ({label, tickFormat: (value) => `${Math.round(100 * value)}\u202f%`, ...more});

/** Ticks of whole numbers: between them there is nothing to count. */
export const wholeTicks = (value) => (Number.isInteger(value) ? shortCount(value) : "");

/** Rows of an object of columns. */
export function rowsOf(columns, length) {
  const entries = Object.entries(columns).filter(([, column]) => Array.isArray(column) && column.length === length);
  return Array.from({length}, (_, i) => Object.fromEntries([["index", i], ...entries.map(([key, column]) => [key, column[i]])]));
}

/** Tips do not stay on a click: a click has another meaning, or none. */
export function tipsNeverStick(drawing) {
  const frame = document.createElement("div");
  frame.addEventListener("pointerdown", (event) => event.stopPropagation(), true);
  frame.append(drawing);
  return frame;
}

/** A click opens the nearest of the points, if it is near. */
export function nearestOnClick(drawing, width, points, placeOf, open) {
  drawing.addEventListener("click", (event) => {
    const box = drawing.getBoundingClientRect();
    const zoom = width / box.width; // the drawing may have been shrunk
    const [px, py] = [(event.clientX - box.left) * zoom, (event.clientY - box.top) * zoom];
    let nearest = null;
    let distance = 24;
    for (const point of points) {
      const [x, y] = placeOf(point);
      const away = Math.hypot(x - px, y - py);
      if (away < distance) [nearest, distance] = [point, away];
    }
    if (nearest) open(nearest);
  });
  drawing.classList.add("clickable");
}

/** An axis of names at the left of bars or dots: as wide as they need within reason, cut where they are longer. */
export function nameAxis(names, width) {
  const longest = Math.max(0, ...names.map((name) => [...name].length));
  const margin = Math.min(Math.max(48, longest * 8 + 16), Math.round(width * 0.36));
  return {margin, mark: Plot.axisY({label: null, tickSize: 0, fontSize: 12, lineWidth: (margin - 12) / 12, textOverflow: "ellipsis-middle"})};
}

/** Names as marks of a band scale: shortened, and told apart when two shorten to the same. */
export function bandNames(names, shorten) {
  const taken = new Map();
  return names.map((name) => {
    const text = shorten(name);
    const times = (taken.get(text) ?? 0) + 1;
    taken.set(text, times);
    return times === 1 ? text : `${text} (${times})`;
  });
}
