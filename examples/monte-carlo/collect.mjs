// Combines the results of a Monte Carlo job. Runs at home: node collect.mjs FOLDER
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { integrals } from './sample.mjs';
import { combine } from './statistics.mjs';

const folder = process.argv[2] ?? 'results';
const results = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')));
const { name, mean, halfWidth, sampleCount } = combine(results);
const { truth } = integrals[name];
const verdict =
  Math.abs(mean - truth) <= halfWidth ? 'inside, as 95 of 100 intervals are' : 'outside, as 5 of 100 intervals are';
process.stdout.write(
  `${name} = ${mean.toFixed(7)} +/- ${halfWidth.toFixed(7)} (95 %), from ${sampleCount} samples of ` +
    `${results.length} tasks\n`,
);
process.stdout.write(`the true value ${truth.toFixed(7)} is ${verdict}\n`);
