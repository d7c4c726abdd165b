// What was found of each type, how far workers agree on it, and how right it is against gold.
import {h, nameOf} from "../dom.js";
import {count, fixed, plural, share} from "../format.js";
import {smallTable} from "../table.js";
import {scoreCell} from "./report.js";

export function sequenceTypes({types}) {
  if (types.length === 0) return [];
  return [
    smallTable(
      "Types of spans",
      [
        {label: "Type", kind: "named", cell: (type) => nameOf(type.name)},
        {label: "Found", numeric: true, cell: (type) => count(type.found)},
        {label: "Mean probability", numeric: true, cell: (type) => share(type.probability)},
        {label: "Marked by workers", numeric: true, level: 2, cell: (type) => count(type.marked)},
        {label: "Pairwise F1", numeric: true, cell: (type) => fixed(type.pairwise_f1, 3)},
      ],
      types,
    ),
  ];
}

export function sequenceAgreement({data: {agreement: facts}}) {
  if (!facts) return [];
  return [
    h("dl.facts", null, [
      ["Pairwise F1 of spans", fixed(facts.pairwise_f1, 3)],
      ["the same, relaxed", fixed(facts.pairwise_relaxed_f1, 3)],
      ["Krippendorff's alpha of tags", fixed(facts.alpha, 3)],
      ["Tags outside of spans", share(facts.outside)],
      ["I-tags that continue nothing", count(facts.misplaced)],
    ].map(([term, value]) => h("div", null, h("dt", null, term), h("dd", null, value)))),
    h("p.hint", null, "Pairwise F1 compares the spans of two workers on one document, all pairs together: 1 means that they mark the same. Relaxed counts spans of one type that share a token."),
  ];
}

export function sequenceGold({data: {gold: facts}, types}) {
  if (!facts) return [];
  const rows = [
    {label: "All spans, strict", found: facts.found, gold: facts.truth, score: facts.strict},
    {label: "All spans, relaxed", found: facts.found, gold: facts.truth, score: facts.relaxed},
    ...(types.length > 1 ? types.map((type) => ({label: nameOf(type.name), found: type.found, gold: type.gold, score: type.score})) : []),
  ];
  return [
    h("p", null, `Measured on ${plural(facts.documents, "document")} (${plural(facts.tokens, "token")}) whose truth is known and which the method did not see. ${share(facts.token_accuracy)} of the tags are right.`),
    smallTable(
      "Spans against gold",
      [
        {label: "", cell: (row) => row.label},
        {label: "Found", numeric: true, level: 2, cell: (row) => count(row.found)},
        {label: "Gold", numeric: true, level: 2, cell: (row) => count(row.gold)},
        {label: "Precision", numeric: true, cell: (row) => scoreCell(row.score?.precision)},
        {label: "Recall", numeric: true, cell: (row) => scoreCell(row.score?.recall)},
        {label: "F1", numeric: true, cell: (row) => scoreCell(row.score?.f1)},
      ],
      rows,
    ),
    h("p.hint", null, "Strict: both ends and the type agree. Relaxed: the spans share a token and have the same type. An I-tag that continues nothing begins a span of its own. Ranges are 95\u202f% intervals over documents."),
  ];
}
