// Task by task: its set, how sure each class is, and who said what.
import {h, nameOf} from "../dom.js";
import {openDrawer} from "../drawer.js";
import {count, known, share} from "../format.js";
import {answerHistograms} from "../lists.js";
import {dataTable, smallTable} from "../table.js";
import {notes, setCell, setWords} from "./report.js";
import {workerView} from "./workers.js";

export function setTasks(report) {
  const {data} = report;
  const pictures = answerHistograms(data).filter(Boolean);
  return [table(report), pictures.length > 0 && h("div.pair", null, pictures)];
}

export function taskView(report) {
  return {kind: "Task", name: (row) => row.name, body: (row) => details(report, row)};
}

function table(report) {
  const {data, taskList: rows} = report;
  if (rows.length === 0) return null;
  const reasons = [...new Set(rows.flatMap((row) => row.why))];
  const sampled = data.tasks.total > rows.length;
  return h(
    "div",
    null,
    sampled && h("p.hint", null, `${count(rows.length)} of ${count(data.tasks.total)} tasks: ${data.tasks.chosen_by}.`),
    dataTable({
      caption: "Tasks",
      noun: "task",
      rows,
      columns: [
        {label: "Task", kind: "named", value: (row) => row.name, cell: (row) => nameOf(row.name)},
        {label: "Set", level: 1, value: (row) => setWords(report, row.set), cell: (row) => setCell(report, row.set, row.gold)},
        {label: "Least sure", help: "How probable it is that the least sure class is rightly in or out", level: 2, numeric: true, value: (row) => row.sure, cell: (row) => share(row.sure)},
        {label: "Answers", level: 3, numeric: true, value: (row) => row.answers, cell: (row) => count(row.answers)},
        rows.some((row) => row.gold) && {label: "Gold", level: 2, value: (row) => setWords(report, row.gold), cell: (row) => setCell(report, row.gold)},
        reasons.length > 0 && {label: "Why look at it", level: 3, value: (row) => row.why.join(", "), cell: (row) => notes(row.why)},
      ].filter(Boolean),
      text: (row) => `${row.name} ${setWords(report, row.set)} ${row.why.join(" ")}`,
      filters: reasons.map((reason) => ({label: reason, test: (row) => row.why.includes(reason)})),
      open: (row, order) => openDrawer(taskView(report), row, order),
    }),
  );
}

function details(report, row) {
  const worker = (name) => {
    const listed = report.workerByName.get(name);
    return listed ? h("button.link", {type: "button", on: {click: () => openDrawer(workerView(report), listed)}}, nameOf(name)) : nameOf(name);
  };
  const classes = [...(row.classes ?? [])].sort((a, b) => b[1] - a[1]);
  return h(
    "div",
    null,
    classes.length > 0 &&
      smallTable(
        "How probable each class is",
        [
          {label: "Class", kind: "named", cell: ([k]) => nameOf(report.className(k))},
          {label: "Probability", numeric: true, cell: ([, q]) => share(q)},
          {label: "In the set", cell: ([k]) => (row.set?.includes(k) ? "yes" : "no")},
        ],
        classes,
      ),
    row.gold && h("p", null, "Gold: ", setCell(report, row.gold)),
    smallTable(
      row.answers > (row.said?.length ?? 0) ? `Who said what: ${count(row.said.length)} of ${count(row.answers)} answers` : "Who said what",
      [
        {label: "Worker", kind: "named", cell: ([name]) => worker(name)},
        {label: "Set", cell: ([, set]) => setCell(report, set, known(row.sure) ? row.set : undefined)},
      ],
      row.said ?? [],
    ),
  );
}
