// Where the workers of the picture of the crowd stand: each group on a ring of its own, the rings in rows, those who
// answer for themselves in columns below. Places follow from the data alone, so the same report is the same picture.

const LETTER = 6.6; // pixels of an average letter
const NAME = 16; // characters of a name that stands beside its worker
const GAP = 24;
const HEADING = 54; // above a ring
const STEP = 17; // between those who answer for themselves

/**
 * @param {{drawn: number, workers: number}[]} groups
 * @param {{name: string, group: number | null}[]} nodes those of a group in the order in which they stand on its ring
 * @param {number} width
 * @param {(name: string) => string} cut what is written of a name
 */
export function layOut(groups, nodes, width, cut) {
  const members = groups.map((_, g) => nodes.filter((node) => node.group === g));
  const alone = nodes.filter((node) => node.group === null);
  const named = nodes.length - alone.length <= 40 && members.every((list) => list.length <= 12);
  const text = (node) => (named ? cut(node.name, NAME) : "");
  const rings = members.map((list, g) => ringOf(list, g, text, width));
  const places = new Map();
  let y = 0;
  for (const row of rowsOf(rings, width)) {
    const used = row.reduce((sum, ring) => sum + ring.width, 0) + GAP * (row.length - 1);
    const tall = Math.max(...row.map((ring) => ring.height));
    let x = Math.max(0, (width - used) / 2);
    for (const ring of row) {
      ring.x = x + ring.width / 2;
      ring.y = y + HEADING + (tall - HEADING) / 2;
      ring.top = y;
      ring.list.forEach((node, i) => places.set(node, onRing(ring, i, text(node))));
      x += ring.width + GAP;
    }
    y += tall + GAP;
  }
  const rest = alone.length ? inColumns(alone, width, y, cut, places) : null;
  return {rings, places, rest, height: Math.max(60, rest ? rest.bottom : y)};
}

function ringOf(list, group, text, width) {
  const around = list.length < 3 ? 26 : Math.max(38, (list.length * 20) / (2 * Math.PI));
  const label = Math.max(0, ...list.map((node) => [...text(node)].length)) * LETTER + (text(list[0] ?? {name: ""}) ? 14 : 8);
  const size = Math.min(around, Math.max(20, width / 2 - 20));
  return {group, list, radius: size, width: Math.min(width, Math.max(2 * (size + label), 150)), height: 2 * size + HEADING + 26};
}

/** One after the other, a new row where there is no room. */
function rowsOf(rings, width) {
  const rows = [];
  let used = Infinity;
  for (const ring of rings) {
    if (used + GAP + ring.width > width) {
      rows.push([]);
      used = -GAP;
    }
    rows[rows.length - 1].push(ring);
    used += GAP + ring.width;
  }
  return rows;
}

function onRing({x, y, radius, list}, i, text) {
  // Two stand side by side; of more the first is at the top.
  const angle = (list.length === 2 ? Math.PI : -Math.PI / 2) + (2 * Math.PI * i) / list.length;
  const [dx, dy] = [Math.cos(angle), Math.sin(angle)];
  const side = Math.abs(dx) < 0.2 ? "middle" : dx > 0 ? "start" : "end";
  const [nodeX, nodeY] = [x + radius * dx, y + radius * dy];
  if (side === "middle") return {x: nodeX, y: nodeY, text, side, textX: nodeX, textY: nodeY + 15 * Math.sign(dy)};
  return {x: nodeX, y: nodeY, text, side, textX: nodeX + 11 * Math.sign(dx), textY: nodeY + 4 * dy};
}

function inColumns(alone, width, top, cut, places) {
  const named = alone.length <= 24;
  const words = alone.map((node) => (named ? cut(node.name, NAME) : ""));
  const column = named ? Math.max(60, Math.max(...words.map((word) => [...word].length)) * LETTER + 30) : STEP;
  const perRow = Math.max(1, Math.min(alone.length, Math.floor(width / column)));
  const left = Math.max(0, (width - perRow * column) / 2);
  const first = top + 38;
  alone.forEach((node, i) => {
    const [x, y] = [left + (i % perRow) * column + 8, first + Math.floor(i / perRow) * (STEP + 3)];
    places.set(node, {x, y, text: words[i], side: "start", textX: x + 9, textY: y});
  });
  return {top, middle: width / 2, bottom: first + Math.floor((alone.length - 1) / perRow) * (STEP + 3) + 16};
}
