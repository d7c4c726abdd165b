// Class by class: how often it is true, how well workers agree on it, and how well it is found.
import {h, nameOf} from "../dom.js";
import {count, fixed, known, share} from "../format.js";
import {dataTable} from "../table.js";

export function setClasses(report) {
  const {data, classList: rows} = report;
  if (rows.length === 0) return [];
  const scored = rows.some((row) => known(row.gold));
  const figure = (label, key, write, help, level) => ({label, help, level, numeric: true, value: (row) => row[key], cell: (row) => write(row[key])});
  return [
    h("p", null, "Alpha is Krippendorff's of naming a class or not: 1 is perfect agreement, 0 chance. Sensitivity and specificity are those of the mean answer."),
    dataTable({
      caption: "Classes",
      noun: "class",
      rows,
      columns: [
        {label: "Class", kind: "named", value: (row) => row.name, cell: (row) => nameOf(row.name)},
        figure("Tasks", "tasks", count, "Tasks whose set has the class", 1),
        figure("Named", "named", count, "Answers that name it", 2),
        figure("Alpha", "alpha", (value) => fixed(value, 2), "Agreement on naming it or not", 1),
        figure("Sensitivity", "sensitivity", share, "How often a worker names it where it is true", 2),
        figure("Specificity", "specificity", share, "How often a worker leaves it out where it is not", 3),
        scored && figure("Precision", "precision", share, "Of the tasks that got it, those that have it by gold", 2),
        scored && figure("Recall", "recall", share, "Of the gold tasks that have it, those that got it", 2),
        scored && figure("F1", "f1", (value) => fixed(value, 3), "Precision and recall together", 1),
      ].filter(Boolean),
      text: (row) => row.name,
      sortBy: 1,
      total: data.classes.total > rows.length ? `the most frequent of ${count(data.classes.total)}` : "",
    }),
  ];
}
