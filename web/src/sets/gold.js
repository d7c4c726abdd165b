// How far sets are from truths that the method did not see.
import {h} from "../dom.js";
import {fixed, known, plural} from "../format.js";
import {smallTable} from "../table.js";

export function setGold({data}) {
  const {gold: facts} = data;
  if (!facts) return [];
  const rows = [
    ["Sets right as a whole", facts.exact_match],
    ["Jaccard index", facts.jaccard],
    ["F1 over all classes (micro)", facts.micro_f1],
    ["Precision (micro)", {value: facts.micro_precision}],
    ["Recall (micro)", {value: facts.micro_recall}],
    ["Mean F1 of the classes (macro)", {value: facts.macro_f1}],
    ["Hamming loss", facts.hamming],
    ["Brier score of the probabilities", {value: facts.brier}],
  ];
  return [
    h("p", null, `Measured on ${plural(facts.tasks, "task")} whose truth is known and which the method did not see.`, known(facts.missing) && facts.missing > 0 && ` ${plural(facts.missing, "more has", "more have")} no set.`),
    smallTable(
      "Scores",
      [
        {label: "", cell: ([label]) => label},
        {label: "Value", numeric: true, cell: ([, score]) => fixed(score?.value, 3)},
        {label: "95\u202f% interval", numeric: true, cell: ([, score]) => (known(score?.low) ? `${fixed(score.low, 3)} – ${fixed(score.high, 3)}` : "")},
      ],
      rows,
    ),
    h("p.hint", null, "Hamming loss and Brier score are errors: 0 is best. The scores of each class stand under Classes."),
  ];
}
