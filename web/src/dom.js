// Elements without any HTML text: what comes from data only ever becomes a text node or an attribute that cannot run.

const SAFE_ATTRIBUTE = /^(?:aria-[a-z]+|data-[a-z-]+|id|for|role|type|scope|colspan|rowspan|tabindex|title|lang|dir|open|disabled|placeholder|autocomplete|spellcheck|value|hidden)$/;

/**
 * h("p.note", {id: "x", on: {click}}, "text", child…). The first argument is a tag with classes.
 * @param {string} tag
 * @param {Record<string, unknown> | null} [attributes] `on` holds listeners, `style` custom properties, null is left out
 * @param {...(Node | string | number | null | undefined | false | Array<unknown>)} children
 */
export function h(tag, attributes, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name || "div");
  if (classes.length) element.classList.add(...classes);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (key === "style") {
      for (const [property, text] of Object.entries(value)) element.style.setProperty(property, String(text));
    } else if (key === "href" && String(value).startsWith("#")) {
      element.setAttribute(key, String(value)); // places in this page only
    } else if (SAFE_ATTRIBUTE.test(key)) {
      element.setAttribute(key, value === true ? "" : String(value));
    } else {
      throw new Error(`h: the attribute ${key} is not among the safe ones`);
    }
  }
  append(element, children);
  return element;
}

/** @param {Node} parent @param {Array<unknown>} children */
export function append(parent, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(parent, child);
    else parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/**
 * A name out of the data: isolated from the direction of the text around it, cut by the layout, whole in its title.
 * With a length, its middle is left out: where many names begin alike, their ends tell them apart.
 */
export function nameOf(name, tag = "bdi.name", length = Infinity) {
  const text = short(name, length);
  const attributes = {title: printable(name), dir: "auto"};
  // The layout cuts at the end of an element, so the end of a name stands in one of its own. Only letters that stand
  // alone: others may join or turn around across the cut. On a phone short names are cut too.
  const fits = window.matchMedia("(max-width: 640px)").matches ? TAIL + 2 : 2 * TAIL;
  if (tag !== "bdi.name" || text.length <= fits || !STANDS_ALONE.test(text)) return h(tag, attributes, text);
  return h("bdi.name.cut", attributes, h("span", null, text.slice(0, -TAIL)), h("span", null, text.slice(-TAIL)));
}
const TAIL = 6;
const STANDS_ALONE = /^[\x20-\x7e\xa0-\u02ff\u0370-\u0482\u048a-\u058f\u3041-\u3096\u30a1-\u30fc\u4e00-\u9fff\uac00-\ud7a3]+$/;

/** Blanks and control characters made visible, so that two names that differ also look different. */
export function printable(name) {
  const text = String(name ?? "");
  if (text.trim() === "") return text === "" ? "(empty name)" : `(${text.length} blanks)`;
  // Overrides of direction would turn the page's own words around.
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (character) => {
    return {"\n": "↵", "\r": "↵", "\t": "⇥"}[character] ?? "\ufffd";
  });
}

/** At most `length` characters, cut in the middle, for places where the layout cannot cut (charts). */
export function short(name, length = 28) {
  const characters = [...printable(name)];
  if (characters.length <= length) return characters.join("");
  const tail = Math.floor((length - 1) / 3);
  return [...characters.slice(0, length - 1 - tail), "…", ...characters.slice(-tail)].join("");
}

let counter = 0;
/** An id that is used once in the page. */
export const freshId = (stem) => `${stem}-${++counter}`;
