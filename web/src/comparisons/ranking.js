// The ranking: scores with their intervals as a picture, and all items as a table.
import * as Plot from "@observablehq/plot";
import {h, nameOf, short} from "../dom.js";
import {figure, legendOf} from "../figure.js";
import {count, fixed, known, plural} from "../format.js";
import {bandNames, nameAxis, plot, tipsNeverStick} from "../plots.js";
import {smallTable} from "../table.js";

const MOST_DRAWN = 40;
const MOST_LISTED = 200;
const range = (low, high, digits = 2) => (known(low) && known(high) ? `${fixed(low, digits)} to ${fixed(high, digits)}` : "");
const ranks = (row) => (row.rank_low === row.rank_high ? count(row.rank_low) : `${count(row.rank_low)}–${count(row.rank_high)}`);

export function ranking({itemList, groups}) {
  if (itemList.length === 0) return [];
  const drawn = itemList.slice(0, MOST_DRAWN).map((row) => ({...row}));
  const listed = itemList.slice(0, MOST_LISTED);
  const byGroup = Array.from({length: groups}, (_, g) => ({label: `Group ${g + 1}`, level: 2, numeric: true, cell: (row) => fixed(row[`group${g + 1}`], 3)}));
  return [
    picture(drawn, itemList.length),
    smallTable(
      itemList.length > listed.length ? `The first ${count(listed.length)} items` : "All items",
      [
        {label: "Rank", numeric: true, cell: (row) => count(row.rank)},
        {label: "95\u202f%", numeric: true, cell: ranks},
        {label: "Item", kind: "named", cell: (row) => nameOf(row.name)},
        {label: "Score", numeric: true, cell: (row) => fixed(row.score, 3)},
        {label: "95\u202f%", level: 2, numeric: true, cell: (row) => range(row.low, row.high, 3)},
        {label: "Comparisons", level: 2, numeric: true, cell: (row) => count(row.comparisons)},
        ...byGroup,
      ],
      listed,
    ),
    h("p.hint", null, "Scores are log odds: an item that is ahead by 1 wins 73\u202f% of its comparisons with the other. The first end of a rank's interval counts the items that are better beyond doubt, so items that nothing tells apart share it."),
  ];
}

function picture(rows, all) {
  bandNames(rows.map((row) => row.name), (name) => short(name, 28)).forEach((text, i) => (rows[i].band = text));
  const first = rows.filter((row) => row.rank_low === 1).length;
  return figure({
    title: "Scores and their intervals",
    summary: [
      nameOf(rows[0].name, "bdi.name", 40),
      ` has the highest score, ${fixed(rows[0].score, 2)} (${range(rows[0].low, rows[0].high)}). `,
      first > 1 ? `${plural(first, "item")} cannot be told from the best.` : "It is ahead of all others beyond doubt.",
      all > rows.length && ` Drawn are the first ${count(rows.length)} of ${count(all)}.`,
    ],
    legend: legendOf([{label: "score and 95\u202f% interval", mark: "accent"}]),
    height: () => 70 + 22 * rows.length,
    draw: (width, height) => {
      const names = nameAxis(rows.map((row) => row.band), width);
      return tipsNeverStick(
        plot(width, {
          height,
          marginTop: 12,
          marginLeft: names.margin,
          x: {label: "Score (log odds) →", grid: true, nice: true, ticks: Math.max(2, Math.min(8, Math.floor((width - names.margin) / 70)))},
          y: {label: null, axis: null, domain: rows.map((row) => row.band), padding: 0.4},
          marks: [
            names.mark,
            Plot.ruleY(rows.filter((row) => known(row.low)), {y: "band", x1: "low", x2: "high", stroke: "var(--accent)", strokeOpacity: 0.35, strokeWidth: 7}),
            Plot.tickX(rows, {y: "band", x: "score", stroke: "var(--accent)", strokeWidth: 3, title: (row) => `${short(row.name, 60)}: ${fixed(row.score, 3)} (${range(row.low, row.high, 3)}), rank ${ranks(row)}`}),
          ],
        }),
      );
    },
    table: () => ({columns: ["Item", "Score", "Low", "High", "Rank"], rows: rows.map((row) => [nameOf(row.name), fixed(row.score, 3), fixed(row.low, 3), fixed(row.high, 3), ranks(row)])}),
  });
}
