// Document by document: the text with the spans that were found, and what each worker marked.
import {h, nameOf} from "../dom.js";
import {openDrawer} from "../drawer.js";
import {count, known, number, plural} from "../format.js";
import {dataTable} from "../table.js";
import {marked, probabilityNote} from "./report.js";

export function documentView(report) {
  return {kind: "Document", name: (row) => row.name, body: (row) => documentDetails(report, row)};
}

export function sequenceDocuments(report) {
  const {data, documentList: rows} = report;
  if (rows.length === 0) return [];
  const sampled = known(data.documents.total) && data.documents.total > rows.length;
  const scored = rows.some((row) => known(row.wrong));
  const view = documentView(report);
  return [
    h("p", null, "Doubt is the number of spans in a document that are probably wrong: one minus the probability of each, added up. Open a document for its text, its spans and what each worker marked."),
    sampled && h("p.hint", null, `${count(rows.length)} of ${count(data.documents.total)} documents: those with most doubt.`),
    dataTable({
      caption: "Documents",
      noun: "document",
      rows,
      columns: [
        {label: "Document", kind: "named", value: (row) => row.name, cell: (row) => nameOf(row.name)},
        {label: "Spans", numeric: true, value: (row) => row.spans, cell: (row) => count(row.spans)},
        {label: "Doubt", help: "Spans that are probably wrong", numeric: true, value: (row) => row.doubt, cell: (row) => number(row.doubt, 2)},
        {label: "Tokens", level: 2, numeric: true, value: (row) => row.length, cell: (row) => count(row.length)},
        {label: "Answers", level: 2, numeric: true, value: (row) => row.answers, cell: (row) => count(row.answers)},
        scored && {label: "Wrong", help: "Spans found that gold does not have, and those of gold that were not found", numeric: true, value: (row) => row.wrong, cell: (row) => count(row.wrong)},
      ].filter(Boolean),
      text: (row) => `${row.name} ${(row.tokens ?? []).join(" ")}`,
      open: (row, order) => openDrawer(view, row, order),
      total: sampled ? `a choice out of ${count(data.documents.total)}` : "",
    }),
  ];
}

function documentDetails(report, row) {
  const said = row.said ?? [];
  const left = (row.answers ?? 0) - said.length;
  const reach = (first, end) => (first > 0 || end < row.length ? ` (tagged ${plural(end - first, "token")} of ${count(row.length)})` : "");
  return h(
    "div",
    null,
    h("h3", null, "Found"),
    marked(report, row, row.found ?? [], probabilityNote(report)),
    row.gold && h("div", null, h("h3", null, "Gold"), marked(report, row, row.gold)),
    h("h3", null, "Who marked what"),
    said.map(([name, spans, first, end]) => h("div.reader", null, h("p.hint", null, nameOf(name), reach(first, end)), marked(report, row, spans))),
    left > 0 ? h("p.hint", null, `and ${plural(left, "more answer")}.`) : null,
  );
}
