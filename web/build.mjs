// Builds the report's page: one HTML file with its styles and its program inside.
//
//   node web/build.mjs --modules FOLDER --out report.html [--cpp page.cpp] [--readable]
//
// FOLDER is the node_modules where `npm ci` put what package.json names; it need not stand in the source tree.
// --cpp also writes the page as a C++ source, for the program to carry. --readable does not shorten the program.
import {createHash} from "node:crypto";
import {existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync} from "node:fs";
import {createRequire} from "node:module";
import {dirname, join, relative, resolve} from "node:path";
import {fileURLToPath} from "node:url";
import {parseArgs} from "node:util";

const here = dirname(fileURLToPath(import.meta.url));
const DATA_MARK = "<!--WISECROWD-DATA-->";
const TITLE_MARK = "WISECROWD-TITLE";
const LARGEST_PAGE = 900_000;

const {values: options} = parseArgs({
  options: {modules: {type: "string"}, out: {type: "string"}, cpp: {type: "string"}, readable: {type: "boolean"}},
});
if (!options.modules || !options.out) {
  console.error("usage: node build.mjs --modules FOLDER --out FILE [--cpp FILE] [--readable]");
  process.exit(64);
}
const modules = resolve(options.modules);
const esbuild = createRequire(join(modules, "x.js"))("esbuild");

const shared = {
  bundle: true,
  write: false,
  minify: !options.readable,
  target: ["chrome111", "firefox113", "safari16.2"], // color-mix() and <dialog>
  charset: "utf8",
  legalComments: "none", // whole licences are put into the page below
  logLevel: "warning",
};
const script = await esbuild.build({
  ...shared,
  entryPoints: [join(here, "src/main.js")],
  format: "iife",
  nodePaths: [modules],
  metafile: true,
});
const style = await esbuild.build({...shared, entryPoints: [join(here, "style/page.css")]});

// "</script" inside the program would end it early; "<!--" would confuse the parser of HTML.
const code = script.outputFiles[0].text.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
const css = style.outputFiles[0].text;
if (css.includes("</style")) throw new Error("the styles hold </style");

// Only the program below may run: it is named by its hash, so no text of the data can become a program.
const hash = createHash("sha256").update(code, "utf8").digest("base64");
const policy =
  `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; img-src data:; ` +
  "base-uri 'none'; form-action 'none'";

const parts = {POLICY: policy, STYLE: css, SCRIPT: code, LICENCES: licences(Object.keys(script.metafile.inputs))};
const page = readFileSync(join(here, "page.html"), "utf8").replace(/%%([A-Z]+)%%/g, (mark, name) => {
  if (!(name in parts)) throw new Error(`page.html has the unknown mark ${mark}`);
  return parts[name];
});
for (const mark of [DATA_MARK, TITLE_MARK]) {
  if (page.split(mark).length !== 2) throw new Error(`the page must hold ${mark} once`);
}
const size = Buffer.byteLength(page);
if (size > LARGEST_PAGE && !options.readable) throw new Error(`the page has ${size} bytes, more than ${LARGEST_PAGE}`);

write(options.out, page);
if (options.cpp) write(options.cpp, asCpp(page, size));

function write(path, text) {
  mkdirSync(dirname(resolve(path)), {recursive: true});
  writeFileSync(path, text);
}

/** The licences of the packages whose code is in the page, each text once: they ask to be kept with copies. */
function licences(inputs) {
  const packages = new Set();
  for (const input of inputs) {
    const path = relative(modules, resolve(input));
    const match = path.startsWith("..") ? null : /^((?:@[^/]+\/)?[^/]+)\//.exec(path);
    if (match) packages.add(match[1]);
  }
  const texts = new Map();
  for (const name of [...packages].sort()) {
    const folder = join(modules, name);
    const {version, license} = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file && existsSync(join(folder, file)) ? readFileSync(join(folder, file), "utf8") : `Licence: ${license}`;
    const tidy = text.replace(/\s+/g, " ").trim();
    texts.set(tidy, [...(texts.get(tidy) ?? []), `${name} ${version}`]);
  }
  const sections = [...texts].map(([text, names]) => `${names.join(", ")}:\n${text}`);
  // "--" would end the comment that holds this.
  return `This page holds code of these packages.\n\n${sections.join("\n\n")}`.replaceAll("--", "- -");
}

/** The page as raw string literals, which compile fast and need no escapes. */
function asCpp(text, bytes) {
  const delimiter = "WISECROWD_PAGE";
  if (text.includes(`)${delimiter}"`) || text.includes("\r")) throw new Error("the page does not fit a raw string");
  const pieces = [];
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + 16_000, text.length);
    const code = text.charCodeAt(end - 1);
    if (end < text.length && code >= 0xd800 && code <= 0xdbff) --end; // keep surrogate pairs together
    pieces.push(`R"${delimiter}(${text.slice(at, end)})${delimiter}"`);
    at = end;
  }
  return `// Made by web/build.mjs: the report's page.
extern "C" {
extern const char wisecrowd_report_page[];
extern const unsigned long long wisecrowd_report_page_size;
const char wisecrowd_report_page[] =
${pieces.join("\n")};
const unsigned long long wisecrowd_report_page_size = ${bytes};
static_assert(sizeof wisecrowd_report_page == ${bytes} + 1);
}
`;
}
