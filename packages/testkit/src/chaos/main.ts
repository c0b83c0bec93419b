import { parseArgs } from 'node:util';
import { parseDuration } from '@mutirao/formats';
import { runChaos } from './run-chaos.ts';

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    minutes: { type: 'string', default: '10' },
    every: { type: 'string', default: '2s' },
    tasks: { type: 'string', default: '20000' },
    keep: { type: 'boolean', default: false },
  },
});
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(values.seed);
const [minutes, tasks] = [Number(values.minutes), Number(values.tasks)];
if (!Number.isInteger(seed) || !(minutes > 0) || !Number.isInteger(tasks) || tasks < 1) {
  process.stderr.write('usage: scripts/chaos [--seed N] [--minutes M] [--every DURATION] [--tasks N] [--keep]\n');
  process.exit(2);
}
print(`seed ${seed}`);
const outcome = await runChaos({
  seed,
  stormMs: minutes * 60_000,
  everyMs: parseDuration(values.every),
  tasks,
  keep: values.keep,
  say: (line) => {
    print(line);
  },
});
print('faults:');
for (const [what, count] of [...outcome.faults].sort()) print(`  ${String(count).padStart(5)} ${what}`);
print(
  `${outcome.finishedInStorm} of ${tasks} tasks were done while disturbed: ` +
    `${Math.round(outcome.finishedInStorm / minutes)} a minute; ${outcome.runCount} runs were begun for them all, ` +
    `${outcome.lieCount} of them brought something wrong`,
);
for (const { what, wrong } of outcome.findings) {
  print(`${wrong.length === 0 ? 'ok  ' : 'FAIL'} ${what}`);
  for (const line of wrong.slice(0, 20)) print(`       ${line}`);
  if (wrong.length > 20) print(`       and ${wrong.length - 20} more`);
}
if (outcome.folder !== undefined) print(`Everything is kept in ${outcome.folder}`);
const failed = outcome.findings.filter(({ wrong }) => wrong.length > 0).length;
print(`${outcome.findings.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
