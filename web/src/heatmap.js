// Confusion matrices as real tables: coloured for the eye, readable cell by cell for screen readers, and they print.
import {freshId, h, nameOf, printable} from "./dom.js";
import {count, known, number, share} from "./format.js";

const MOST_WITH_NUMBERS = 16;

/**
 * @param {object} matrix
 * @param {string} matrix.caption
 * @param {string[]} matrix.names
 * @param {(row: number, column: number) => number | null} matrix.share of the row
 * @param {((row: number, column: number) => number | null) | null} [matrix.amount] how many answers, for the tip
 * @param {string} matrix.rows what rows are
 * @param {string} matrix.columns what columns are
 * @param {string} [matrix.unit] of the amounts
 */
export function heatmap({caption, names, share: shareAt, amount, rows, columns, unit = "answers"}) {
  const label = freshId("matrix");
  const numbers = names.length <= MOST_WITH_NUMBERS;
  const upright = names.length > 6 && names.some((name) => [...printable(name)].length > 3); // no room for words side by side
  const cell = (r, c) => {
    const value = shareAt(r, c);
    const much = amount?.(r, c);
    const words = `${rows} ${printable(names[r])}, ${columns} ${printable(names[c])}: ${share(value)}${known(much) ? `, ${much % 1 ? number(much, 3) : count(much)} ${unit}` : ""}`;
    if (!known(value)) return h("td.blank", {title: words}, "–");
    const rounded = Math.round(100 * value);
    const text = numbers ? h("span", null, rounded) : h("span.unseen", null, rounded);
    return h("td", {title: words, style: {"--share": value.toFixed(3)}}, text);
  };
  const table = h(
    "div.scroll",
    {tabindex: 0, role: "region", "aria-labelledby": label},
    h(
      `table.heat${numbers ? "" : ".dense"}${upright ? ".upright" : ""}${names.length <= 6 ? ".roomy" : ""}`,
      {"aria-labelledby": label},
      h(
        "thead",
        null,
        h("tr", null, h("td.corner", null, `${rows} ↓\u2002${columns} →`), names.map((name) => h("th", {scope: "col"}, nameOf(name, "bdi.name", 16)))),
      ),
      h(
        "tbody",
        null,
        names.map((name, r) => h("tr", null, h("th", {scope: "row"}, nameOf(name, "bdi.name", 20)), names.map((_, c) => cell(r, c)))),
      ),
    ),
  );
  return h("div.matrix", null, h("p.hint", {id: label}, caption), table);
}

/** "cat is taken for dog (31 % of cats)" of the largest cells beside the diagonal. */
export function worstConfusions(names, shareAt, most = 3) {
  const cells = [];
  names.forEach((_, r) =>
    names.forEach((__, c) => {
      const value = shareAt(r, c);
      if (r !== c && known(value) && value > 0.02) cells.push({r, c, value});
    }),
  );
  cells.sort((a, b) => b.value - a.value);
  return cells.slice(0, most);
}
