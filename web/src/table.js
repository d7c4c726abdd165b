// A table to search, sort, filter and page through. Only one page of rows is in the document, so size does not matter.
import {freshId, h} from "./dom.js";
import {count, plural} from "./format.js";

const PAGE = 25;
const folded = (text) => String(text ?? "").normalize("NFKC").toLowerCase();

/**
 * @typedef {object} Column
 * @property {string} label
 * @property {string} [help] what the column means
 * @property {(row: any) => string | number | null | undefined} value what it is sorted by; unknown goes last
 * @property {(row: any) => Node | string | null} cell
 * @property {boolean} [numeric] aligned at the right, largest first
 * @property {1 | 2 | 3} [level] 2 is left out on phones, 3 on tablets as well
 */

/**
 * @param {object} table
 * @param {string} table.caption
 * @param {string} table.noun singular, for "12 workers"
 * @param {Column[]} table.columns the first names the row
 * @param {any[]} table.rows
 * @param {(row: any) => string} table.text what the search looks at
 * @param {{label: string, test: (row: any) => boolean, count?: number, mark?: string}[]} [table.filters]
 * @param {(row: any, order: any[]) => void} [table.open]
 * @param {number | null} [table.sortBy] a column, or null for the order of the rows
 * @param {string} [table.total] said beside the count, e.g. what was sampled
 */
export function dataTable({caption, noun, columns, rows, text, filters = [], open, sortBy = null, total = ""}) {
  const haystacks = rows.map((row) => folded(text(row)));
  const position = new Map(rows.map((row, i) => [row, i]));
  const state = {column: sortBy, down: sortBy !== null && Boolean(columns[sortBy].numeric), query: "", filter: -1, page: 0};
  let order = rows;

  const status = h("p.status", {role: "status"});
  const search = h("input", {type: "search", id: freshId("search"), autocomplete: "off", spellcheck: "false", placeholder: "Name, word …"});
  const chips = filters.map((filter, i) =>
    h(
      "button.chip",
      {type: "button", "aria-pressed": "false", on: {click: () => choose(i)}},
      filter.mark && h(`span.mark.${filter.mark}`, {"aria-hidden": "true"}),
      filter.label,
      h("span.amount", null, count(filter.count ?? rows.filter(filter.test).length)),
    ),
  );
  const headers = columns.map((column, i) =>
    h(
      `th${classesOf(column)}`,
      {scope: "col"},
      h("button.sort", {type: "button", title: column.help, on: {click: () => sort(i)}}, column.label, h("span.arrow", {"aria-hidden": "true"})),
    ),
  );
  const body = h("tbody");
  const back = h("button.quiet", {type: "button", on: {click: () => turn(-1)}}, "Previous");
  const forth = h("button.quiet", {type: "button", on: {click: () => turn(1)}}, "Next");
  const where = h("span.where");
  const pages = h("nav.pages", {"aria-label": `Pages: ${caption}`}, back, where, forth);

  let timer = 0;
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      state.query = folded(search.value.trim());
      state.page = 0;
      arrange();
    }, 60);
  });
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || search.value === "") return;
    event.preventDefault();
    search.value = "";
    search.dispatchEvent(new Event("input"));
  });
  body.addEventListener("keydown", (event) => {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    const row = step && event.target.closest("tr");
    const next = row && (step > 0 ? row.nextElementSibling : row.previousElementSibling);
    if (!next) return;
    event.preventDefault();
    next.querySelector("button.row")?.focus();
  });

  function choose(i) {
    state.filter = state.filter === i ? -1 : i;
    chips.forEach((chip, c) => chip.setAttribute("aria-pressed", String(c === state.filter)));
    state.page = 0;
    arrange();
  }

  function sort(i) {
    if (state.column === i) state.down = !state.down;
    else Object.assign(state, {column: i, down: Boolean(columns[i].numeric)});
    state.page = 0;
    arrange();
  }

  function turn(step) {
    state.page += step;
    render();
    if (document.activeElement?.disabled) (step > 0 ? back : forth).focus();
  }

  function arrange() {
    order = rows.filter(
      (row, i) =>
        (state.filter < 0 || filters[state.filter].test(row)) && (state.query === "" || haystacks[i].includes(state.query)),
    );
    if (state.column !== null) {
      const {value} = columns[state.column];
      const sign = state.down ? -1 : 1;
      const keyed = order.map((row) => ({row, key: value(row) ?? null}));
      keyed.sort((a, b) => {
        if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || position.get(a.row) - position.get(b.row);
        const difference = typeof a.key === "number" ? a.key - b.key : a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
        return sign * difference || position.get(a.row) - position.get(b.row);
      });
      order = keyed.map(({row}) => row);
    }
    headers.forEach((header, i) => {
      const direction = i === state.column ? (state.down ? "descending" : "ascending") : "none";
      header.setAttribute("aria-sort", direction);
    });
    render();
  }

  function render() {
    const last = Math.max(0, Math.ceil(order.length / PAGE) - 1);
    state.page = Math.min(Math.max(0, state.page), last);
    const from = state.page * PAGE;
    const shown = order.slice(from, from + PAGE);
    body.replaceChildren(...shown.map(line));
    if (shown.length === 0) {
      body.append(h("tr.none", null, h("td", {colspan: columns.length}, "Nothing matches. Clear the search or the filter.")));
    }
    const matching = state.query || state.filter >= 0 ? ` match, of ${count(rows.length)}` : "";
    status.textContent = `${plural(order.length, noun)}${matching}${total ? ` (${total})` : ""}`;
    where.textContent = order.length ? `${count(from + 1)}\u202f–\u202f${count(from + shown.length)} of ${count(order.length)}` : "";
    back.disabled = state.page === 0;
    forth.disabled = state.page === last;
    pages.hidden = last === 0;
  }

  function line(row) {
    const cells = columns.map((column, i) => {
      const content = column.cell(row);
      if (i > 0) return h(`td${classesOf(column)}`, null, content);
      return h(`th${classesOf(column)}`, {scope: "row"}, open ? h("button.row", {type: "button"}, content) : content);
    });
    const element = h(open ? "tr.opens" : "tr", null, cells);
    // The button inside makes the row reachable by keyboard; its click arrives here as well.
    if (open) element.addEventListener("click", () => window.getSelection()?.isCollapsed !== false && open(row, order));
    return element;
  }

  arrange();
  return h(
    "div.datatable",
    null,
    h(
      "div.tools",
      null,
      h("div.search", null, h("label", {for: search.id}, `Search ${noun}s`), search),
      chips.length > 0 && h("div.chips", {role: "group", "aria-label": `Filter ${noun}s`}, chips),
    ),
    status,
    h(
      "div.scroll",
      null,
      h("table.data", null, h("caption.unseen", null, caption), h("thead", null, h("tr", null, headers)), body),
    ),
    pages,
  );
}

const classesOf = (column) => `${column.numeric ? ".numeric" : ""}${column.level > 1 ? `.level${column.level}` : ""}${column.kind ? `.${column.kind}` : ""}`;

/** A small table without tools. */
export function smallTable(caption, columns, rows) {
  return h(
    "div.scroll",
    null,
    h(
      "table.data.small",
      null,
      h("caption", null, caption),
      h("thead", null, h("tr", null, columns.map((column) => h(`th${classesOf(column)}`, {scope: "col"}, column.label)))),
      h(
        "tbody",
        null,
        rows.map((row) =>
          h(
            row.mine ? "tr.mine" : "tr",
            null,
            columns.map((column, i) =>
              i === 0 ? h(`th${classesOf(column)}`, {scope: "row"}, column.cell(row)) : h(`td${classesOf(column)}`, null, column.cell(row)),
            ),
          ),
        ),
      ),
    ),
  );
}
