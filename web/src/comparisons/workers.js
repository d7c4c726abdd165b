// Who answered: how reliable each worker is, which side it prefers, how often it calls a tie.
import {h, nameOf} from "../dom.js";
import {count, fixed, known, share} from "../format.js";
import {smallTable} from "../table.js";

const MOST_LISTED = 200;

export function comparisonWorkers({workerList}) {
  if (workerList.length === 0) return [];
  const modelled = workerList.some((row) => known(row.reliability));
  const merit = (row) => (modelled ? row.reliability : row.agreement);
  const rows = [...workerList].sort((a, b) => (merit(a) ?? 2) - (merit(b) ?? 2)).slice(0, MOST_LISTED);
  return [
    smallTable(
      workerList.length > rows.length ? `The ${count(rows.length)} workers who agree least` : "All workers, those who agree least first",
      [
        {label: "Worker", kind: "named", cell: (row) => nameOf(row.name)},
        {label: "Answers", numeric: true, cell: (row) => count(row.answers)},
        modelled && {label: "Reliability", numeric: true, cell: (row) => fixed(row.reliability, 3)},
        {label: "Agrees with the ranking", numeric: true, cell: (row) => share(row.agreement)},
        {label: "Left side", level: 2, numeric: true, cell: (row) => share(row.left_share)},
        {label: "Ties", level: 2, numeric: true, cell: (row) => share(row.tie_rate)},
        {label: "", level: 2, cell: (row) => h("span.tags", null, row.why.map((reason) => h("span.tag.wrong", null, reason)))},
      ].filter(Boolean),
      rows,
    ),
    h("p.hint", null, modelled ? "Reliability is the probability that a worker says what the scores say; below 0.5 its answers count the other way round, or as guesses." : "This method takes all workers as equal; the share of answers that name the better item tells who differs."),
  ];
}
