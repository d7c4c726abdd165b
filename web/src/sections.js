// What the page shows, one list of sections for each kind of answers. A section is [id, title, name in the contents, what
// makes its parts of a report]; one without parts is left out. `report` makes what the sections share out of the data.
import {agreement} from "./agreement.js";
import {classes} from "./classes.js";
import {comparison} from "./comparison.js";
import {comparisonGold} from "./comparisons/gold.js";
import {ranking} from "./comparisons/ranking.js";
import {comparisonReport} from "./comparisons/report.js";
import {comparisonWorkers} from "./comparisons/workers.js";
import {fairness} from "./fairness.js";
import {gold} from "./gold.js";
import {judgeBiases, judgeCalibration, judgePrevalence, judgeReport, judges} from "./judges.js";
import {learning, savings} from "./learning.js";
import {convergence, making, sampling} from "./making.js";
import {numberAgreement} from "./numbers/agreement.js";
import {estimates} from "./numbers/estimates.js";
import {numberGold} from "./numbers/gold.js";
import {numberReport} from "./numbers/report.js";
import {numberTasks} from "./numbers/tasks.js";
import {numberWorkers} from "./numbers/workers.js";
import {setClasses} from "./sets/classes.js";
import {setGold} from "./sets/gold.js";
import {setReport} from "./sets/report.js";
import {setTasks} from "./sets/tasks.js";
import {setWorkers} from "./sets/workers.js";
import {clusters, items, pairsAgreement, raters, similarityGold, similarityReport} from "./similarities/sections.js";
import {sequenceDocuments} from "./sequences/documents.js";
import {sequenceReport} from "./sequences/report.js";
import {sequenceAgreement, sequenceGold, sequenceTypes} from "./sequences/types.js";
import {sequenceWorkers} from "./sequences/workers.js";
import {summary, warnings, warningsTitle} from "./summary.js";
import {tasks} from "./tasks.js";
import {trust} from "./trust.js";
import {workerRows, workers} from "./workers.js";

const FIRST = [
  ["warnings", ({data}) => warningsTitle(data), "Warnings", ({data}) => warnings(data)],
  ["summary", "What we got", "Summary", ({data}) => summary(data)],
];
const LAST = [
  ["convergence", "Convergence", "Convergence", convergence],
  ["making", "How it was made", "How it was made", making],
  ["sampling", "What this page leaves out", "Left out", sampling],
];

function categoryReport(data) {
  const names = data.classes?.name ?? [];
  const workerList = workerRows(data);
  return {
    data,
    className: (c) => (typeof c === "number" ? (names[c] ?? `class ${c}`) : c),
    workerList,
    workerByName: new Map(workerList.map((row) => [row.name, row])),
    timelineByName: new Map((data.trust?.timelines?.workers ?? []).map((line) => [line.worker, line])),
  };
}

export const KINDS = {
  categories: {
    report: categoryReport,
    sections: [
      ...FIRST,
      ["workers", "Workers", "Workers", workers],
      ["trust", "Who can be trusted", "Trust", trust],
      ["tasks", "Tasks", "Tasks", tasks],
      ["classes", "Classes", "Classes", classes],
      ["agreement", "Agreement", "Agreement", agreement],
      ["gold", "Against known truths", "Known truths", gold],
      ["fairness", "Fairness by group", "Fairness", fairness],
      ["comparison", "Other methods", "Other methods", comparison],
      ["learning", "How it learned", "Learning", learning],
      ["savings", "Asking less", "Asking less", savings],
      ...LAST,
    ],
  },
  judges: {
    report: judgeReport,
    sections: [
      ...FIRST,
      ["judges", "Machines beside people", "Judges", judges],
      ["biases", "What judges lean towards", "Leanings", judgeBiases],
      ["calibration", "How sure judges may be", "Calibration", judgeCalibration],
      ["prevalence", "Shares of classes", "Shares", judgePrevalence],
      ["ranking", "Leaderboard", "Leaderboard", ranking],
      ...LAST,
    ],
  },
  comparisons: {
    report: comparisonReport,
    sections: [
      ...FIRST,
      ["ranking", "Ranking", "Ranking", ranking],
      ["workers", "Workers", "Workers", comparisonWorkers],
      ["gold", "Against known truths", "Known truths", comparisonGold],
      ...LAST,
    ],
  },
  numbers: {
    report: numberReport,
    sections: [
      ...FIRST,
      ["estimates", "Estimates", "Estimates", estimates],
      ["tasks", "Tasks", "Tasks", numberTasks],
      ["workers", "Workers", "Workers", numberWorkers],
      ["agreement", "Answers and agreement", "Agreement", numberAgreement],
      ["gold", "Against known truths", "Known truths", numberGold],
      ...LAST,
    ],
  },
  similarities: {
    report: similarityReport,
    sections: [
      ...FIRST,
      ["clusters", "Clusters", "Clusters", clusters],
      ["items", "Items", "Items", items],
      ["workers", "Workers", "Workers", raters],
      ["pairs", "Pairs and contradictions", "Pairs", pairsAgreement],
      ["gold", "Against known truths", "Known truths", similarityGold],
      ...LAST,
    ],
  },
  sets: {
    report: setReport,
    sections: [
      ...FIRST,
      ["tasks", "Tasks", "Tasks", setTasks],
      ["classes", "Classes", "Classes", setClasses],
      ["workers", "Workers", "Workers", setWorkers],
      ["gold", "Against known truths", "Known truths", setGold],
      ...LAST,
    ],
  },
  sequences: {
    report: sequenceReport,
    sections: [
      ...FIRST,
      ["documents", "Documents and their spans", "Documents", sequenceDocuments],
      ["types", "Types of spans", "Types", sequenceTypes],
      ["workers", "Workers", "Workers", sequenceWorkers],
      ["agreement", "Agreement", "Agreement", sequenceAgreement],
      ["gold", "Against known truths", "Known truths", sequenceGold],
      ...LAST,
    ],
  },
};
