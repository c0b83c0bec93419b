// Runs scripts/bench and holds each figure against bench/ranges.json: { "benchmark: figure": { least?, most?, mean,
// spread, measured? } },
// where mean and spread (half the distance between the extremes) are of what was measured when the limit was set, by
// one code. A spread of 0 is of a figure that
// was measured once, or was the same each time; it does not say how far it varies, and so the limit leaves room.
// `measured` tells how, where that matters.
// A figure without a range, or a range without a figure, is a failure. Prints "N passed, N failed" last.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const ranges = new Map(Object.entries(JSON.parse(readFileSync(`${root}bench/ranges.json`, 'utf8'))));
const bench = spawnSync(`${root}scripts/bench`, {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'inherit'],
  maxBuffer: 1 << 26,
});
let passed = 0;
let failed = bench.status === 0 ? 0 : 1;
if (failed > 0) console.log(`FAIL scripts/bench exited with status ${bench.status}`);
for (const line of bench.stdout.split('\n').filter((text) => text.startsWith('{'))) {
  const { benchmark, figures } = JSON.parse(line);
  for (const { name, value, unit, aim } of figures.filter(({ aim }) => aim !== '')) {
    const key = `${benchmark}: ${name}`;
    const range = ranges.get(key);
    ranges.delete(key);
    const isInside = range !== undefined && value >= (range.least ?? -Infinity) && value <= (range.most ?? Infinity);
    if (isInside) passed += 1;
    else failed += 1;
    console.log(`${isInside ? 'ok  ' : 'FAIL'} ${key}: ${value} ${unit}, range ${JSON.stringify(range)}, aim ${aim}`);
  }
}
if (!process.env.MUTIRAO_DATA) {
  // As scripts/bench says: whole logs and real workflows are no part of the repository.
  for (const key of [...ranges.keys()].filter(
    (name) => name.startsWith('simulator: ') || name.startsWith('workflow instances: '),
  ))
    ranges.delete(key);
}
if (!existsSync('/usr/bin/chromium')) {
  for (const key of [...ranges.keys()].filter(
    (name) => name.startsWith('web-page: ') || name.startsWith('web-editor: '),
  ))
    ranges.delete(key);
}
if (!existsSync('/usr/sbin/nats-server')) {
  for (const key of [...ranges.keys()].filter((name) => name.startsWith('events: '))) ranges.delete(key);
}
for (const key of ranges.keys()) {
  console.log(`FAIL no figure for ${key}`);
  failed += 1;
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
