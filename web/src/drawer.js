// One dialog for the details of whatever was chosen. It is modal, so the browser keeps the focus inside, closes it on
// Escape and gives the focus back.
import {freshId, h, nameOf} from "./dom.js";

let dialog = null;
let parts = null;
let trail = [];

function make() {
  const heading = freshId("drawer");
  parts = {
    back: h("button.quiet", {type: "button", on: {click: goBack}}, "Back"),
    previous: h("button.quiet", {type: "button", on: {click: () => step(-1)}}, "Previous"),
    next: h("button.quiet", {type: "button", on: {click: () => step(1)}}, "Next"),
    kind: h("p.kind"),
    heading: h("h2", {id: heading, tabindex: -1}),
    body: h("div.drawer-body"),
  };
  dialog = h(
    "dialog.drawer",
    {"aria-labelledby": heading},
    h(
      "div.drawer-bar",
      null,
      parts.back,
      parts.previous,
      parts.next,
      h("button.quiet.close", {type: "button", on: {click: () => dialog.close()}}, "Close"),
    ),
    parts.kind,
    parts.heading,
    parts.body,
  );
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("keydown", (event) => {
    if (event.target.closest("input, .scroll")) return;
    const direction = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (direction) step(direction);
  });
  dialog.addEventListener("close", () => (trail = []));
  document.body.append(dialog);
}

/**
 * @param {{kind: string, name: (row: any) => string, body: (row: any) => Node}} view
 * @param {any} row
 * @param {any[]} order the rows that Previous and Next go through
 */
export function openDrawer(view, row, order = [row]) {
  if (!dialog) make();
  trail.push({view, row, order});
  show();
  if (!dialog.open) dialog.showModal();
  parts.heading.focus();
}

function step(direction) {
  const top = trail[trail.length - 1];
  const next = top?.order[top.order.indexOf(top.row) + direction];
  if (next === undefined) return;
  top.row = next;
  show();
}

function goBack() {
  trail.pop();
  show();
  parts.heading.focus();
}

function show() {
  const {view, row, order} = trail[trail.length - 1];
  const at = order.indexOf(row);
  parts.back.hidden = trail.length < 2;
  parts.previous.hidden = parts.next.hidden = order.length < 2;
  parts.previous.disabled = at <= 0;
  parts.next.disabled = at >= order.length - 1;
  parts.kind.textContent = view.kind;
  parts.heading.replaceChildren(nameOf(view.name(row), "bdi.whole"));
  parts.body.replaceChildren(view.body(row));
  dialog.scrollTop = 0;
}
