// Numbers in words. Shares are 0…1 in the data and per cent on the page.

const whole = new Intl.NumberFormat("en", {maximumFractionDigits: 0});
const compact = new Intl.NumberFormat("en", {notation: "compact", maximumSignificantDigits: 3});

export const known = (value) => typeof value === "number" && Number.isFinite(value);
export const unknown = "–";

export const count = (value) => (known(value) ? whole.format(value) : unknown);
export const shortCount = (value) => (known(value) ? (value < 10000 ? whole.format(value) : compact.format(value)) : unknown);

/** 0.8732 → "87.3 %". One digit, more where 99.96 % would become 100 %. */
export function share(value, digits = 1) {
  if (!known(value)) return unknown;
  if (value > 0 && Number((100 * value).toFixed(digits)) === 0) return `<\u202f${(10 ** -digits).toFixed(digits)}\u202f%`;
  return `${percent(value, digits)}\u202f%`;
}

function percent(value, digits) {
  if (value < 0) return `−${percent(-value, digits)}`;
  const text = (100 * value).toFixed(digits);
  if (value < 1 && Number(text) === 100 && digits < 4) return percent(value, digits + 1);
  return digits > 0 && (value === 0 || value === 1) ? String(100 * value) : text;
}

/** "82.1 to 90.4 %", or nothing when an end is unknown. */
export function shareRange(low, high, digits = 1) {
  if (!known(low) || !known(high)) return "";
  return `${percent(low, digits)}\u202f${low < 0 ? "to" : "–"}\u202f${percent(high, digits)}\u202f%`;
}

/** A number of any size with about four digits. */
export function number(value, digits = 4) {
  if (!known(value)) return unknown;
  if (value === 0) return "0";
  const size = Math.abs(value);
  const sign = value < 0 ? "−" : "";
  if (size >= 1e7 || size < 1e-4) return sign + size.toExponential(2);
  if (size >= 10 ** (digits - 1)) return sign + whole.format(size);
  return sign + String(Number(size.toPrecision(digits)));
}

export const fixed = (value, digits = 2) => (known(value) ? value.toFixed(digits) : unknown);

export function seconds(value) {
  if (!known(value)) return unknown;
  if (value < 0.001) return "<\u202f1\u202fms";
  if (value < 1) return `${whole.format(value * 1000)}\u202fms`;
  if (value < 120) return `${Number(value.toPrecision(3))}\u202fs`;
  return `${Number((value / 60).toPrecision(3))}\u202fmin`;
}

/** A value of a headline in its unit. */
export function inUnit(value, unit) {
  if (unit === "share") return share(value);
  if (unit === "count") return count(value);
  if (unit === "bits") return known(value) ? `${fixed(value)}\u202fbits` : unknown;
  return number(value, 3);
}

export function rangeInUnit(low, high, unit) {
  if (!known(low) || !known(high)) return "";
  if (unit === "share") return shareRange(low, high);
  return `${inUnit(low, unit)}\u202f–\u202f${inUnit(high, unit)}`;
}

/** Sentences of the engine: a number and its per cent stay on one line. */
export const prose = (text) => String(text ?? "").replace(/(\d) %/g, "$1\u202f%");

/** "1 task", "12 tasks". */
export const plural = (n, word, many = `${word}s`) => `${count(n)} ${n === 1 ? word : many}`;

/** What was asked about, whatever the kind of answers: "60 documents". */
export function unitsOf(counts) {
  const unit = ["task", "document", "item"].find((word) => known(counts[`${word}s`])) ?? "task";
  return plural(counts[`${unit}s`], unit);
}

/** ["a", "b", "c"] → "a, b and c". */
export function listed(words) {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}
