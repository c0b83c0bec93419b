// Puts the tiles of a poster together and writes it as a PNG. Runs at home, after the job.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { encodePng } from './png.mjs';
import { listBounds, poster, readOptions } from './tile.mjs';

/** Reads a PPM file as tiles are written. */
export function decodePpm(bytes) {
  const header = /^P6\n(\d+) (\d+)\n255\n/.exec(bytes.subarray(0, 64).toString('latin1'));
  if (header === null) throw new Error('this is not a PPM file that a task wrote');
  const [width, height] = [Number(header[1]), Number(header[2])];
  const pixels = bytes.subarray(header[0].length);
  if (pixels.length !== width * height * 3)
    throw new Error(`${pixels.length} bytes of pixels; expected ${width} x ${height} x 3`);
  return { width, height, pixels };
}

/** One picture of all the tiles. `readTile` gives the PPM file of a tile by its number. */
export function assemble(view, readTile) {
  const pixels = Buffer.alloc(view.width * view.height * 3);
  for (let number = 0; number < view.columns * view.rows; number++) {
    const bounds = listBounds(number, view);
    const tile = decodePpm(readTile(number));
    if (tile.width !== bounds.width || tile.height !== bounds.height) {
      throw new Error(
        `tile ${number} is ${tile.width} x ${tile.height}; expected ${bounds.width} x ${bounds.height}: was it ` +
          'rendered for this poster?',
      );
    }
    for (let row = 0; row < tile.height; row++) {
      pixels.set(
        tile.pixels.subarray(row * tile.width * 3, (row + 1) * tile.width * 3),
        ((bounds.top + row) * view.width + bounds.left) * 3,
      );
    }
  }
  return { width: view.width, height: view.height, pixels };
}

if (basename(process.argv[1] ?? '') === 'assemble.mjs') {
  const { tiles, out, ...view } = readOptions(process.argv.slice(2), { ...poster, tiles: 'tiles', out: 'poster.png' });
  const png = encodePng(assemble(view, (number) => readFileSync(join(tiles, `tile-${number}.ppm`))));
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, png);
  process.stdout.write(
    `${out}: ${view.width} x ${view.height} pixels of ${view.columns * view.rows} tiles, ${png.length} bytes\n`,
  );
}
