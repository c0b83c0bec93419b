// Loaded into a broker under test before its own modules (`GridOptions.preloads`): a disk at home that takes 1.5 s for
// each output.
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { setTimeout } from 'node:timers/promises';

const delayMs = 1500;
const { rename } = promises;

promises.rename = async (from, to) => {
  if (String(to).includes('/broker/arrivals/')) await setTimeout(delayMs);
  await rename(from, to);
};
syncBuiltinESMExports();
