// What the answers look like, in their own units, and how far those to one task agree.
import {h, nameOf} from "../dom.js";
import {fixed, known} from "../format.js";
import {smallTable} from "../table.js";

export function numberAgreement({dimensions, several}) {
  if (dimensions.length === 0) return [];
  const name = {label: several ? "Dimension" : "", kind: several ? "named" : undefined, cell: (dimension) => (several ? nameOf(dimension.name) : "Answers")};
  const figure = (label, of, level) => ({label, level, numeric: true, cell: (dimension) => dimension.text(of(dimension))});
  return [
    h("p", null, "All figures are in the units of the answers. Answers that scatter within a task as much as over all tasks would tell nothing."),
    smallTable("What was answered", [name, figure("Least", (own) => own.answers?.minimum), figure("25\u202f%", (own) => own.answers?.lower_quartile, 2), figure("Median", (own) => own.answers?.median), figure("Mean", (own) => own.answers?.mean, 2), figure("75\u202f%", (own) => own.answers?.upper_quartile, 2), figure("Most", (own) => own.answers?.maximum)], dimensions),
    smallTable(
      "How far answers scatter",
      [
        name,
        figure("Over all tasks", (own) => own.deviation),
        figure("Within a task", (own) => own.within),
        figure("Without outliers", (own) => own.scatter, 2),
        {label: "Alpha", numeric: true, cell: ({alpha}) => fixed(alpha)},
        {label: "ICC(1)", level: 2, numeric: true, cell: ({icc}) => fixed(icc)},
      ],
      dimensions,
    ),
    dimensions.some(({alpha}) => known(alpha)) && h("p.hint", null, "Alpha is Krippendorff's for intervals, ICC(1) the correlation of two answers to one task: 1 means that all agree, 0 that nobody does. Scatter is a standard deviation; without outliers it is taken from the median distance of two answers."),
  ];
}
