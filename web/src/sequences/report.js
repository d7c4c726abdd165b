// What the sections on sequences share: types with their colours, rows for tables, and text with its spans.
import {h, short} from "../dom.js";
import {known, share} from "../format.js";
import {rowsOf} from "../plots.js";

export function sequenceReport(data) {
  const rows = (columns) => (columns?.name?.length ? rowsOf(columns, columns.name.length) : []).map((row) => ({...row, why: [].concat(row.why ?? [])}));
  const types = (data.types ?? []).map((type, index) => ({...type, index}));
  const workerList = rows(data.workers);
  return {
    data,
    types,
    typeName: (index) => types[index]?.name ?? `type ${index}`,
    workerList,
    workerByName: new Map(workerList.map((row) => [row.name, row])),
    documentList: rows(data.documents),
  };
}

export const tagsOf = (why) => h("span.tags", null, why.map((reason) => h(`span.tag${/few right|nothing/.test(reason) ? ".wrong" : ""}`, null, reason)));

/** A score with its interval. */
export const scoreCell = (score) =>
  h("span.estimate.stacked", null, known(score?.value) ? score.value.toFixed(3) : "–", known(score?.low) && h("span.range", null, `${score.low.toFixed(3)}\u202f–\u200b\u202f${score.high.toFixed(3)}`));

/** The tokens of a document as running text, with its spans marked; without texts, tokens are their positions. */
export function marked(report, row, spans, note) {
  const first = report.data.documents?.first_position ?? 0;
  const most = Math.min(row.length, report.data.documents?.most_tokens ?? row.length);
  const token = (t) => (row.tokens?.length ? (row.tokens[t] ?? "") : `${t + first}`);
  const words = (from, to) => Array.from({length: Math.max(0, to - from)}, (_, i) => token(from + i)).join(" ");
  const parts = [];
  let at = 0;
  for (const span of spans) {
    const [from, to, type] = span;
    if (from >= most) break;
    if (from > at) parts.push(`${words(at, from)} `);
    const label = report.typeName(type);
    parts.push(h(`mark.span.type${type % 6}`, {title: note ? note(span) : label}, words(from, Math.min(to, most)), h("sub", null, short(label, 12))), " ");
    at = to;
  }
  if (at < most) parts.push(words(at, most));
  if (most < row.length) parts.push(" …");
  return h("p.tagged", {dir: "auto"}, parts);
}

export const probabilityNote = (report) => (span) => `${report.typeName(span[2])}: ${share(span[3])}`;
