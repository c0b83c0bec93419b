// Averages a function over random points, and writes the sums. Runs on a GridMachine; needs any Node from 18 on.
import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';

/** What can be estimated: the mean over 0..1 of `f` is `truth`. */
export const integrals = {
  pi: { f: (x) => 4 * Math.sqrt(1 - x * x), truth: Math.PI },
  ln2: { f: (x) => 1 / (1 + x), truth: Math.LN2 },
};

/**
 * A generator of numbers in 0..1 (sfc32, 32 bits each), the same for the same seed everywhere; seeds give unrelated
 * streams.
 */
export function makeRandom(seed) {
  let [a, b, c, d] = [0x9e3779b9, 0x243f6a88, Number(seed) | 0, 1];
  const next = () => {
    const sum = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  for (let round = 0; round < 20; round++) next();
  return next;
}

/** Samples an integral: how many points, and the sum of what the function gives there. */
export function sample(name, seed, count) {
  const integral = integrals[name];
  if (integral === undefined)
    throw new Error(`unknown integral ${name}; known are ${Object.keys(integrals).join(', ')}`);
  if (!Number.isInteger(count) || count < 1)
    throw new Error(`the number of samples is ${count}; expected an integer from 1 on`);
  const random = makeRandom(seed);
  let sum = 0;
  for (let point = 0; point < count; point++) sum += integral.f(random());
  return { name, seed: Number(seed), count, sum };
}

if (basename(process.argv[1] ?? '') === 'sample.mjs') {
  const [name = 'pi', seed = '0', count = '1000000'] = process.argv.slice(2);
  writeFileSync('result.json', `${JSON.stringify(sample(name, seed, Number(count)))}\n`);
}
