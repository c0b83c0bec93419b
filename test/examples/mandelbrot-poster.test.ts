import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import test from 'ava';

const folder = join(import.meta.dirname, '../../examples/mandelbrot-poster');

interface View {
  readonly width: number;
  readonly height: number;
  readonly columns: number;
  readonly rows: number;
  readonly samples: number;
  readonly iterations: number;
  readonly x: number;
  readonly y: number;
  readonly span: number;
}
interface Picture {
  readonly width: number;
  readonly height: number;
  readonly pixels: Buffer;
}

const { listBounds, encodePpm, escapeTime, readOptions, renderTile } = (await import(join(folder, 'tile.mjs'))) as {
  listBounds(tile: number, view: View): { left: number; top: number; width: number; height: number };
  encodePpm(picture: Picture): Buffer;
  escapeTime(x: number, y: number, iterations: number): number | undefined;
  readOptions(words: readonly string[], defaults: object): Record<string, unknown>;
  renderTile(tile: number, view: View): Buffer;
};
const { assemble, decodePpm } = (await import(join(folder, 'assemble.mjs'))) as {
  assemble(view: View, readTile: (number: number) => Buffer): Picture;
  decodePpm(bytes: Buffer): Picture;
};
const { crc32, encodePng } = (await import(join(folder, 'png.mjs'))) as {
  crc32(bytes: Buffer): number;
  encodePng(picture: Picture): Buffer;
};

const view: View = { width: 53, height: 31, columns: 4, rows: 3, samples: 1, iterations: 50, x: -0.75, y: 0, span: 3 };

/** Reads a PNG file as the standard says, as far as the files of the poster go. */
function decodePng(bytes: Buffer): Picture {
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const body = bytes.subarray(at + 4, at + 8 + length);
    if (bytes.readUInt32BE(at + 8 + length) !== crc32(body)) throw new Error('a check sum is wrong');
    chunks.set(body.toString('latin1', 0, 4), body.subarray(4));
    at += 12 + length;
  }
  const header = chunks.get('IHDR')!;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const lines = inflateSync(chunks.get('IDAT')!);
  const pixels = Buffer.concat(
    Array.from({ length: height }, (_, row) => {
      if (lines[row * (width * 3 + 1)] !== 0) throw new Error('a line has a filter');
      return lines.subarray(row * (width * 3 + 1) + 1, (row + 1) * (width * 3 + 1));
    }),
  );
  return { width, height, pixels };
}

test('a PNG file has the signature, the check sums and the pixels', (t) => {
  t.is(crc32(Buffer.from('123456789')), 0xcbf43926);
  const pixels = Buffer.from(Array.from({ length: 5 * 3 * 3 }, (_, index) => (index * 37) % 256));
  const png = encodePng({ width: 5, height: 3, pixels });
  t.is(png.toString('latin1', 0, 8), '\x89PNG\r\n\x1a\n');
  t.is(png.subarray(-12).toString('hex'), '0000000049454e44ae426082');
  t.deepEqual(decodePng(png), { width: 5, height: 3, pixels });
  t.throws(() => encodePng({ width: 5, height: 4, pixels }), { message: '45 bytes of pixels; expected 5 x 4 x 3' });
});

test('the tiles of a poster cover each pixel once', (t) => {
  const covered = new Map<string, number>();
  for (let tile = 0; tile < 12; tile++) {
    const { left, top, width, height } = listBounds(tile, view);
    for (let x = left; x < left + width; x++)
      for (let y = top; y < top + height; y++) covered.set(`${x},${y}`, (covered.get(`${x},${y}`) ?? 0) + 1);
  }
  t.is(covered.size, 53 * 31);
  t.true([...covered.values()].every((count) => count === 1));
  t.throws(() => listBounds(12, view), { message: 'tile 12 of a poster of 12' });
});

test('a poster of many tiles is the same picture as one of a single tile', (t) => {
  const readTile = (number: number): Buffer =>
    encodePpm({ ...listBounds(number, view), pixels: renderTile(number, view) });
  const whole = renderTile(0, { ...view, columns: 1, rows: 1 });
  t.deepEqual(assemble(view, readTile), { width: 53, height: 31, pixels: whole });
  t.throws(() => assemble({ ...view, columns: 3 }, readTile), {
    message: /^tile 0 is 13 x 10; expected 17 x 10: was it rendered for this poster\?$/,
  });
});

test('points of the set stay, others escape the sooner the farther they are', (t) => {
  for (const [x, y] of [
    [0, 0],
    [-1, 0],
    [-1.3, 0],
    [0.25, 0],
  ] as const)
    t.is(escapeTime(x, y, 1000), undefined);
  const times = [0.3, 0.5, 1, 2].map((x) => escapeTime(x, 0, 1000) ?? Infinity);
  t.true(times.every((time, index) => index === 0 || time < times[index - 1]!));
  t.true(times[0]! < 30);
});

test('options are read over the defaults, and others are refused', (t) => {
  t.deepEqual(readOptions(['--x', '-1.5', '--out', 'a'], { x: 0, y: 2, out: '' }), { x: -1.5, y: 2, out: 'a' });
  t.throws(() => readOptions(['--z', '1'], { x: 0 }), { message: 'unknown option --z; known are --x' });
  t.throws(() => readOptions(['--x', 'far'], { x: 0 }), { message: '--x is far; expected a number' });
  t.throws(() => decodePpm(Buffer.from('P5')), { message: 'this is not a PPM file that a task wrote' });
});

test.serial('the script submits the tiles and assembles them into a picture', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'poster test '));
  t.teardown(() => rmSync(home, { recursive: true }));
  const grid = `node ${join(import.meta.dirname, '../../packages/testkit/src/fake-grid.ts')}`;
  const environment = {
    ...process.env,
    MUTIRAO: grid,
    PATH: `${join(process.execPath, '..')}:${process.env['PATH'] ?? ''}`,
  };
  const words = [
    '--width',
    '53',
    '--height',
    '31',
    '--columns',
    '3',
    '--rows',
    '2',
    '--samples',
    '1',
    '--iterations',
    '50',
    '--x',
    '-0.75',
    '--y',
    '0',
    '--span',
    '3',
    '--out',
    'a b.png',
  ];
  const output = execFileSync(join(folder, 'render'), words, { cwd: home, env: environment, encoding: 'utf8' });
  t.regex(output, /6 tasks were run here\n.*a b\.png: 53 x 31 pixels of 6 tiles/);
  t.deepEqual(decodePng(readFileSync(join(home, 'a b.png'))).pixels, renderTile(0, { ...view, columns: 1, rows: 1 }));
  t.throws(() => execFileSync(join(folder, 'render'), ['--width', '1; reboot'], { stdio: 'ignore' }), {
    message: /Command failed/,
  });
});
