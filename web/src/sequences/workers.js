// Who finds the spans, and who marks what nobody else does.
import {h, nameOf} from "../dom.js";
import {openDrawer} from "../drawer.js";
import {count, fixed, known, share} from "../format.js";
import {dataTable} from "../table.js";
import {marked, tagsOf} from "./report.js";

const MOST_DOCUMENTS = 10;

export function sequenceWorkers(report) {
  const {data, workerList: rows} = report;
  if (rows.length === 0) return [];
  const sampled = known(data.workers.total) && data.workers.total > rows.length;
  const tags = [...new Set(rows.flatMap((row) => row.why))];
  const view = {kind: "Worker", name: (row) => row.name, body: (row) => workerDetails(report, row)};
  const columns = [
    {label: "Worker", kind: "named", value: (row) => row.name, cell: (row) => nameOf(row.name)},
    {label: "Documents", level: 2, numeric: true, value: (row) => row.documents, cell: (row) => count(row.documents)},
    {label: "Right tags", help: "Expected share of right tags; most tokens are outside of spans, so it is high for everybody", numeric: true, value: (row) => row.accuracy, cell: (row) => share(row.accuracy)},
    {label: "Spans", level: 2, numeric: true, value: (row) => row.spans, cell: (row) => count(row.spans)},
    {label: "Precision", help: "Share of its spans that the result has, too", level: 2, numeric: true, value: (row) => row.precision, cell: (row) => share(row.precision)},
    {label: "Recall", help: "Share of the spans of the result that it marked", level: 2, numeric: true, value: (row) => row.recall, cell: (row) => share(row.recall)},
    {label: "Span F1", help: "Of precision and recall, against the result", numeric: true, value: (row) => row.f1, cell: (row) => fixed(row.f1, 3)},
    rows.some((row) => known(row.gold_f1)) && {label: "F1 on gold", level: 3, numeric: true, value: (row) => row.gold_f1, cell: (row) => fixed(row.gold_f1, 3)},
    tags.length > 0 && {label: "Note", level: 2, value: (row) => row.why.join(", "), cell: (row) => tagsOf(row.why)},
  ].filter(Boolean);
  return [
    h("p", null, "Spans of each worker against those of the result, with both ends and the type. Open a worker to read what it marked."),
    sampled && h("p.hint", null, `Listed: ${count(rows.length)} of ${count(data.workers.total)} workers, those with most tags.`),
    dataTable({
      caption: "Workers",
      noun: "worker",
      columns,
      rows,
      text: (row) => `${row.name} ${row.why.join(" ")}`,
      filters: tags.map((tag) => ({label: tag, test: (row) => row.why.includes(tag)})),
      open: (row, order) => openDrawer(view, row, order),
      sortBy: columns.findIndex(({label}) => label === "Span F1"),
      total: sampled ? `a choice out of ${count(data.workers.total)}` : "",
    }),
  ];
}

function workerDetails(report, row) {
  const own = report.documentList.flatMap((document) => {
    const said = (document.said ?? []).find(([name]) => name === row.name);
    return said ? [{document, spans: said[1]}] : [];
  });
  return h(
    "div",
    null,
    row.why.length > 0 && h("p", null, tagsOf(row.why)),
    h("dl.facts", null, [
      ["Documents", count(row.documents)],
      ["Tags", count(row.tags)],
      ["Right tags, expected", share(row.accuracy)],
      ["Spans", count(row.spans)],
      ["Span F1", fixed(row.f1, 3)],
      known(row.gold_f1) && ["Span F1 on gold", fixed(row.gold_f1, 3)],
    ].filter(Boolean).map(([term, value]) => h("div", null, h("dt", null, term), h("dd", null, value)))),
    own.slice(0, MOST_DOCUMENTS).map(({document, spans}) => h("div.reader", null, h("h3", null, nameOf(document.name)), h("p.hint", null, "It marked"), marked(report, document, spans), h("p.hint", null, "Found"), marked(report, document, document.found ?? []))),
    own.length > MOST_DOCUMENTS ? h("p.hint", null, `and ${count(own.length - MOST_DOCUMENTS)} more of the listed documents.`) : null,
  );
}
