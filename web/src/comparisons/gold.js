// The ranking against what is known of pairs and items.
import {h} from "../dom.js";
import {count, fixed, known, share} from "../format.js";
import {smallTable} from "../table.js";

export function comparisonGold({data: {gold: facts}}) {
  if (!facts) return [];
  const interval = (e) => (e && known(e.low) ? `${share(e.low)} to ${share(e.high)}` : "");
  const rows = [
    facts.accuracy && {what: "Outcomes of pairs that are right", of: facts.pairs, value: share(facts.accuracy.value), range: interval(facts.accuracy)},
    facts.ordered && {what: "Pairs that the scores order rightly", of: facts.decisive_pairs, value: share(facts.ordered.value), range: interval(facts.ordered)},
    known(facts.kendall) && {what: "Kendall's tau with the known quality", of: facts.items, value: fixed(facts.kendall, 3), range: ""},
    known(facts.spearman) && {what: "Spearman's correlation of ranks", of: facts.items, value: fixed(facts.spearman, 3), range: ""},
  ].filter(Boolean);
  if (rows.length === 0) return [];
  return [
    h("p", null, "Measured on pairs and items whose truth the method did not see."),
    smallTable("Scores", [{label: "", cell: (row) => row.what}, {label: "Of", numeric: true, cell: (row) => count(row.of)}, {label: "", numeric: true, cell: (row) => row.value}, {label: "95\u202f%", numeric: true, cell: (row) => row.range}], rows),
  ];
}
