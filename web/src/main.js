// Reads the data that stands in the page and lays the report out. A part without data is left out.
import {append, h, nameOf} from "./dom.js";
import {beginDrawing} from "./figure.js";
import {known, plural, unitsOf} from "./format.js";
import {KINDS} from "./sections.js";
import {printButton, themeButton} from "./theme.js";

const SCHEMA = 1;

function readData() {
  const element = document.getElementById("wisecrowd-data");
  if (!element) throw new Error("This page holds no data: it is the template that `wisecrowd report` fills.");
  const data = JSON.parse(element.textContent);
  if (data?.schema !== SCHEMA) throw new Error(`This page reads schema ${SCHEMA}, its data are of schema ${data?.schema}.`);
  return data;
}

/** A part of the page, or null without data for it. One that fails must not take the others along. */
function section(report, [id, title, short, parts]) {
  let content;
  try {
    content = parts(report).flat().filter(Boolean);
  } catch (error) {
    console.error(error);
    content = [h("p.hint", null, `This part could not be shown: ${error.message}`)];
  }
  if (content.length === 0) return null;
  return {id, short, element: h(`section.${id}`, {id, "aria-labelledby": `${id}-title`}, h("h2", {id: `${id}-title`}, typeof title === "function" ? title(report) : title), content)};
}

function build(data) {
  const kind = KINDS[data.answers_kind ?? "categories"];
  if (!kind) throw new Error(`This page shows answers that are ${Object.keys(KINDS).join(" or ")}, its data are ${data.answers_kind}.`);
  const report = kind.report(data);
  const {counts = {}, run = {}} = data;
  const sections = kind.sections.map((one) => section(report, one)).filter(Boolean);

  const facts = [run.method_title ?? run.method, known(counts.answers) && `${plural(counts.answers, "answer")} by ${plural(counts.workers, "worker")} on ${unitsOf(counts)}`].filter(Boolean);
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
