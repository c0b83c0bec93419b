// Renders one tile of a Mandelbrot poster to a PPM file. Runs on a GridMachine; needs any Node from 18 on, and nothing
// else.
import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';

/** What a poster is when nothing else is said: a view into the valley of seahorses, 8 by 6 tiles. */
export const poster = {
  width: 1920,
  height: 1280,
  columns: 8,
  rows: 6,
  samples: 2,
  iterations: 1500,
  x: -0.7463,
  y: 0.1117,
  span: 0.0075,
};

/** Reads `--name value` pairs over the defaults. Throws for an unknown name or a value that is no number. */
export function readOptions(words, defaults) {
  const options = { ...defaults };
  for (let at = 0; at < words.length; at += 2) {
    const name = words[at].replace(/^--/, '');
    if (!(name in options))
      throw new Error(`unknown option ${words[at]}; known are --${Object.keys(options).join(', --')}`);
    const value = words[at + 1];
    options[name] = typeof options[name] === 'number' ? Number(value) : value;
    if (value === undefined || Number.isNaN(options[name]))
      throw new Error(`${words[at]} is ${value}; expected a number`);
  }
  return options;
}

/**
 * The pixels of a tile: tiles are numbered row by row from the top left; those at the right and bottom may be smaller.
 */
export function listBounds(tile, { width, height, columns, rows }) {
  if (!Number.isInteger(tile) || tile < 0 || tile >= columns * rows)
    throw new Error(`tile ${tile} of a poster of ${columns * rows}`);
  const column = tile % columns;
  const row = Math.floor(tile / columns);
  const left = Math.floor((column * width) / columns);
  const top = Math.floor((row * height) / rows);
  return {
    left,
    top,
    width: Math.floor(((column + 1) * width) / columns) - left,
    height: Math.floor(((row + 1) * height) / rows) - top,
  };
}

/** The red, green and blue bytes of a tile, row by row. */
export function renderTile(tile, view) {
  const bounds = listBounds(tile, view);
  const pixels = Buffer.alloc(bounds.width * bounds.height * 3);
  const step = view.span / view.width;
  const fraction = 1 / view.samples;
  let at = 0;
  for (let row = 0; row < bounds.height; row++) {
    for (let column = 0; column < bounds.width; column++) {
      const sum = [0, 0, 0];
      for (let sample = 0; sample < view.samples ** 2; sample++) {
        const across = bounds.left + column + ((sample % view.samples) + 0.5) * fraction;
        const down = bounds.top + row + (Math.floor(sample / view.samples) + 0.5) * fraction;
        const colour = getColour(
          escapeTime(
            view.x + (across - view.width / 2) * step,
            view.y - (down - view.height / 2) * step,
            view.iterations,
          ),
        );
        for (let channel = 0; channel < 3; channel++) sum[channel] += colour[channel];
      }
      for (const part of sum) pixels[at++] = Math.round(part * fraction * fraction);
    }
  }
  return pixels;
}

/** How many rounds a point takes to escape, with decimals; undefined for a point that stays. */
export function escapeTime(cx, cy, iterations) {
  const q = (cx - 0.25) ** 2 + cy * cy;
  if (q * (q + (cx - 0.25)) <= 0.25 * cy * cy || (cx + 1) ** 2 + cy * cy <= 0.0625) return undefined;
  let x = 0;
  let y = 0;
  for (let round = 0; round < iterations; round++) {
    const xx = x * x;
    const yy = y * y;
    if (xx + yy > 256) return round + 1 - Math.log2(Math.log2(xx + yy) / 2);
    y = 2 * x * y + cy;
    x = xx - yy + cx;
  }
  return undefined;
}

function getColour(time) {
  if (time === undefined) return [0, 0, 0];
  const turn = Math.sqrt(Math.max(time, 0)) * 0.55;
  return [3.9, 4.4, 5].map((shift) => 127.5 * (1 - Math.cos(turn + shift)));
}

/** A picture as a PPM file, which most viewers show. */
export function encodePpm({ width, height, pixels }) {
  return Buffer.concat([Buffer.from(`P6\n${width} ${height}\n255\n`), pixels]);
}

if (basename(process.argv[1] ?? '') === 'tile.mjs') {
  const { tile, out, ...view } = readOptions(process.argv.slice(2), { ...poster, tile: 0, out: 'tile.ppm' });
  writeFileSync(out, encodePpm({ ...listBounds(tile, view), pixels: renderTile(tile, view) }));
}
