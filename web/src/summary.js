// First what is wrong and what to do about it, then what came out and how far it can be trusted.
import {h} from "./dom.js";
import {inUnit, known, plural, prose, rangeInUnit} from "./format.js";

const SEVERITY = {
  serious: {word: "Serious", rank: 0},
  care: {word: "Take care", rank: 1},
  note: {word: "Note", rank: 2},
};

export function warnings({warnings: list}) {
  if (!list?.length) return [h("p.calm", null, "No warnings: nothing in the data or the fit stood out.")];
  const sorted = list
    .map((warning) => ({...warning, severity: SEVERITY[warning.severity] ? warning.severity : "note"}))
    .sort((a, b) => SEVERITY[a.severity].rank - SEVERITY[b.severity].rank);
  return [
    h(
      "ul.warnings",
      null,
      sorted.map((warning) =>
        h(
          `li.warning.${warning.severity}`,
          null,
          h("p.severity", null, SEVERITY[warning.severity].word),
          h("h3", null, prose(warning.title)),
          warning.words && h("p", null, prose(warning.words)),
          warning.remedy && h("p.remedy", null, h("strong", null, "What to do. "), prose(warning.remedy)),
        ),
      ),
    ),
  ];
}

export function warningsTitle({warnings: list}) {
  const serious = list?.filter((warning) => warning.severity === "serious").length ?? 0;
  if (!list?.length) return "Warnings";
  return serious ? `${plural(list.length, "warning")}, ${serious} serious` : plural(list.length, "warning");
}

export function summary({verdict, headlines}) {
  return [
    verdict && h("p.verdict", null, prose(verdict)),
    headlines?.length > 0 && h(headlines.length % 3 === 1 ? "ul.headlines.wide" : "ul.headlines", null, headlines.map(card)),
  ];
}

function card({label, value, low, high, unit, words, kind}) {
  const range = rangeInUnit(low, high, unit);
  const ends = unit === "share" && known(value) && known(low) && known(high);
  return h(
    "li.headline",
    null,
    h("p.label", null, label),
    h("p.value", null, inUnit(value, unit)),
    range && h("p.range", null, h("span.unseen", null, "interval: "), range),
    ends && h("div.gauge", {"aria-hidden": "true", style: place(value, low, high)}, h("i"), h("b")),
    words && h("p.words", null, prose(words)),
    kind && h("p.source", null, kind),
  );
}

/** Custom properties that put an interval and its middle on a bar. */
export const place = (value, low, high) => ({
  "--low": `${100 * clamp(low)}%`,
  "--high": `${100 * clamp(high)}%`,
  "--at": `${100 * clamp(value)}%`,
});
const clamp = (value) => Math.min(1, Math.max(0, value));
