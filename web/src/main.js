// Reads the data that stands in the page and lays the report out. A part without data is left out.
import {agreement} from "./agreement.js";
import {classes} from "./classes.js";
import {comparison} from "./comparison.js";
import {append, h, nameOf} from "./dom.js";
import {beginDrawing} from "./figure.js";
import {known, plural} from "./format.js";
import {gold} from "./gold.js";
import {learning, savings} from "./learning.js";
import {convergence, making, sampling} from "./making.js";
import {summary, warnings, warningsTitle} from "./summary.js";
import {tasks} from "./tasks.js";
import {printButton, themeButton} from "./theme.js";
import {workerRows, workers} from "./workers.js";

const SCHEMA = 1;

function readData() {
  const element = document.getElementById("wisecrowd-data");
  if (!element) throw new Error("This page holds no data: it is the template that `wisecrowd report` fills.");
  const data = JSON.parse(element.textContent);
  if (data?.schema !== SCHEMA) throw new Error(`This page reads schema ${SCHEMA}, its data are of schema ${data?.schema}.`);
  return data;
}

function reportOf(data) {
  const names = data.classes?.name ?? [];
  const workerList = workerRows(data);
  return {
    data,
    className: (c) => (typeof c === "number" ? (names[c] ?? `class ${c}`) : c),
    workerList,
    workerByName: new Map(workerList.map((row) => [row.name, row])),
  };
}

/** A part of the page, or null without data for it. One that fails must not take the others along. */
function section(id, title, short, children) {
  let content;
  try {
    content = children().flat().filter(Boolean);
  } catch (error) {
    console.error(error);
    content = [h("p.hint", null, `This part could not be shown: ${error.message}`)];
  }
  if (content.length === 0) return null;
  return {id, short, element: h(`section.${id}`, {id, "aria-labelledby": `${id}-title`}, h("h2", {id: `${id}-title`}, title), content)};
}

function build(data) {
  const report = reportOf(data);
  const {counts = {}, run = {}} = data;
  const sections = [
    section("warnings", warningsTitle(data), "Warnings", () => warnings(data)),
    section("summary", "What we got", "Summary", () => summary(data)),
    section("workers", "Workers", "Workers", () => workers(report)),
    section("tasks", "Tasks", "Tasks", () => tasks(report)),
    section("classes", "Classes", "Classes", () => classes(report)),
    section("agreement", "Agreement", "Agreement", () => agreement(report)),
    section("gold", "Against known truths", "Known truths", () => gold(report)),
    section("comparison", "Other methods", "Other methods", () => comparison(report)),
    section("learning", "How it learned", "Learning", () => learning(report)),
    section("savings", "Asking less", "Asking less", () => savings(report)),
    section("convergence", "Convergence", "Convergence", () => convergence(report)),
    section("making", "How it was made", "How it was made", () => making(report)),
    section("sampling", "What this page leaves out", "Left out", () => sampling(report)),
  ].filter(Boolean);

  const facts = [run.method_title ?? run.method, known(counts.answers) && `${plural(counts.answers, "answer")} by ${plural(counts.workers, "worker")} on ${plural(counts.tasks, "task")}`].filter(Boolean);
  append(document.getElementById("app"), [
    h(
      "header.top",
      {role: "banner"},
      h("div.brand", null, h("span.logo", {"aria-hidden": "true"}, h("i"), h("i"), h("i")), data.kind === "learn" ? "wisecrowd · training report" : "wisecrowd · report", h("div.actions", null, printButton(), themeButton())),
      h("h1", null, nameOf(data.title, "bdi.whole")),
      facts.length > 0 && h("p.facts-line", null, facts.join(" · ")),
    ),
    h(
      "div.layout",
      null,
      h("nav.contents", {"aria-label": "Contents"}, h("ol", null, sections.map(({id, short}) => h("li", null, h("a", {href: `#${id}`}, short))))),
      h("main", {id: "report", tabindex: -1}, sections.map(({element}) => element)),
    ),
    h("footer.bottom", {role: "contentinfo"}, `Made by ${data.program?.name ?? "wisecrowd"} ${data.program?.version ?? ""}. This file is whole: it loads nothing and sends nothing.`),
  ]);
  followScroll(sections);
  beginDrawing();
}

/** Marks in the contents where the reader is. */
function followScroll(sections) {
  const links = new Map(sections.map(({id, element}) => [element, document.querySelector(`nav.contents a[href="#${id}"]`)]));
  const visible = new Set();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) visible[entry.isIntersecting ? "add" : "delete"](entry.target);
      const current = sections.find(({element}) => visible.has(element))?.element;
      for (const [element, link] of links) {
        if (element === current) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
    },
    {rootMargin: "-10% 0px -70% 0px"},
  );
  for (const element of links.keys()) observer.observe(element);
}

try {
  build(readData());
} catch (error) {
  document.getElementById("app").replaceChildren(h("main.failure", {id: "report"}, h("h1", null, "The report cannot be shown"), h("p", null, String(error?.message ?? error))));
  if (document.getElementById("wisecrowd-data")) throw error;
}
document.documentElement.dataset.ready = "true";
