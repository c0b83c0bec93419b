// How far apart the members of a gang start: from the first process that runs at a member to the last one's, with
// agents that are processes of their own.
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { sayCause } from '@mutirao/api/reasons';
import { aTemplate, FakeGang } from '@mutirao/testkit';
import { below, median, option, plain, report } from './harness.ts';

const rounds = option('rounds', 20);
const sizes = [2, 4, 8];
/**
 * Every member says the instant at which its process runs, all at once, as a launcher of MPI has them started; rank 0
 * says first when it does.
 */
const command =
  'date +%s%N; for name in $(sed "s/ .*//" $HOSTFILE | tail -n +2); do $RSH_CMD -n $name "date +%s%N" & done; wait';
/** From the caller's line to its next one, for the price of a call. */
const calls =
  'begin=$(date +%s%N); for call in 1 2 3 4 5 6 7 8 9 10; do $RSH_CMD -n $PROC1 true; done; echo $(( ($(date ' +
  '+%s%N) - begin) / 10 ))';

interface Start {
  readonly spread: number;
  /** From the word that all are held to the first process. */
  readonly wait: number;
}

async function startOnce(gang: FakeGang): Promise<Start> {
  const held = await gang.hold(aTemplate(command));
  const saidAt = performance.timeOrigin + performance.now();
  gang.begin(held);
  const end = await gang.findEnd(held, 0);
  await gang.release(held);
  const instants = Buffer.from(end.standardOutput)
    .toString()
    .trim()
    .split('\n')
    .map((line) => Number(BigInt(line) / 1000n) / 1000);
  if (end.outcome !== 'succeeded' || instants.length !== held.members.length)
    throw new Error(
      `the gang ended: ${end.outcome} ${sayCause(end.detail)} ${Buffer.from(end.standardError).toString()}`,
    );
  const first = Math.min(...instants);
  return { spread: Math.max(...instants) - first, wait: first - saidAt };
}

for (const members of sizes) {
  const home = mkdtempSync(path.join(tmpdir(), 'mutirao-bench-'));
  const gang = await FakeGang.start({ home, members });
  try {
    await startOnce(gang);
    const starts: Start[] = [];
    const load = loadavg()[0] ?? NaN;
    for (let round = 0; round < rounds; round++) starts.push(await startOnce(gang));
    const spreads = starts.map(({ spread }) => spread);
    const call = Number(Buffer.from((await gang.run(aTemplate(calls))).standardOutput).toString()) / 1e6;
    report(`start of a gang of ${members}`, [
      below(`first member's start to the last one's, median of ${rounds}`, median(spreads), 'ms', 100),
      plain('the same, the longest', Math.max(...spreads), 'ms'),
      plain('word that all are held to the first start, median', median(starts.map(({ wait }) => wait)), 'ms'),
      plain('one call of $RSH_CMD, mean of 10', call, 'ms'),
      plain('load', load, ''),
    ]);
  } finally {
    await gang.stop();
    rmSync(home, { recursive: true, force: true });
  }
}
