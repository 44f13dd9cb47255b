// The curve of bits: how much is still missing after each fact.

import { oneDigit, svg } from "./dom.js";

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [400, 150, 30, 26, 16, 24];

/** @typedef {{bits: (number | undefined)[], kind: string}} Line */

/**
 * @param {SVGSVGElement} drawing
 * @param {Line[]} lines by number of facts, from 0; undefined where it is not known yet
 * @param {number} facts largest number of facts
 * @param {number} before bits at the start
 */
export function drawCurve(drawing, lines, facts, before) {
  const known = lines.flatMap(({ bits }) => bits.filter((left) => left !== undefined));
  const top = Math.max(before, 1, ...known);
  const x = (/** @type {number} */ at) => LEFT + (at / Math.max(facts, 1)) * (WIDTH - LEFT - RIGHT);
  const y = (/** @type {number} */ left) => HEIGHT - BOTTOM - (left / top) * (HEIGHT - TOP - BOTTOM);
  const step = top > 12 ? 5 : top > 5 ? 2 : 1;
  const shapes = [];
  for (let level = 0; level <= top; level += step) {
    shapes.push(
      svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(level), y2: y(level), class: "grid" }),
      svg("text", { x: LEFT - 8, y: y(level) + 4, class: "axis end", text: level }),
    );
  }
  const every = Math.ceil(facts / 10);
  for (let at = 0; at <= facts; at += every) shapes.push(svg("text", { x: x(at), y: HEIGHT - 6, class: "axis middle", text: at }));
  for (const line of lines) shapes.push(...strokes(line, x, y));
  drawing.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  drawing.replaceChildren(...shapes);
  drawing.setAttribute("aria-label", spoken(lines.at(-1)));
}

/**
 * @param {Line} line
 * @param {(at: number) => number} x
 * @param {(left: number) => number} y
 */
function strokes({ bits, kind }, x, y) {
  const points = bits.flatMap((left, at) => (left === undefined ? [] : [[at, left]]));
  const shapes = [svg("polyline", { points: points.map(([at, left]) => `${x(at)},${y(left)}`).join(" "), class: `curve ${kind}` })];
  for (const [at, left] of points) shapes.push(svg("circle", { cx: x(at), cy: y(left), r: 3.5, class: `dot ${kind}` }));
  const last = points.at(-1);
  if (last && kind !== "before") {
    const [at, left] = last;
    shapes.push(svg("text", { x: x(at) + 7, y: y(left) - 6, class: "value", text: oneDigit(left) }));
  }
  return shapes;
}

/** @param {Line | undefined} line */
function spoken(line) {
  const parts = (line?.bits ?? []).flatMap((left, at) => (left === undefined ? [] : [`${at}: ${oneDigit(left)}`]));
  return `Bits left by number of facts. ${parts.join(", ")}`;
}
