// What the sections on comparisons share: rows of items and workers.
import {rowsOf} from "../plots.js";

export function comparisonReport(data) {
  const rows = (columns) => (columns?.name?.length ? rowsOf(columns, columns.name.length) : []).map((row) => ({...row, why: [].concat(row.why ?? [])}));
  return {data, itemList: rows(data.items), workerList: rows(data.workers), groups: data.groups ?? 0};
}
