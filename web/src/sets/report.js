// What the sections on sets share: names of classes, rows for tables, and a set as tags.
import {h, short} from "../dom.js";

export function setReport(data) {
  const names = data.class_names ?? [];
  const rows = (part) => (part?.rows ?? []).map((row) => ({...row, why: [].concat(row.why ?? [])}));
  const workerList = rows(data.workers);
  const taskList = rows(data.tasks);
  return {
    data,
    className: (k) => names[k] ?? `class ${k}`,
    classList: data.classes?.rows ?? [],
    workerList,
    taskList,
    workerByName: new Map(workerList.map((row) => [row.name, row])),
  };
}

/** The classes of a set; those that are not in `right` are marked, if that is given. */
export function setCell(report, set, right) {
  if (!set) return "–";
  if (set.length === 0) return h("span.range", null, "none");
  return h("span.tags.set", null, set.map((k) => h(`span.tag${right && !right.includes(k) ? ".wrong" : ""}`, null, short(report.className(k), 30))));
}

export const setWords = (report, set) => (set ? set.map((k) => report.className(k)).join(", ") : "");

export const notes = (why) => h("span.tags", null, why.map((reason) => h(`span.tag${/not as gold|guesses/.test(reason) ? ".wrong" : ""}`, null, reason)));
