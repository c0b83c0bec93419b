import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import test from 'ava';

import type { OutputContent } from '@mutirao/core/messages';
import { temporaryFolder, type WithTeardown } from '@mutirao/testkit';

import type { ResultOrder } from '../../../src/results/result-order.ts';
import { Checks } from '../../../src/results/checks.ts';
import { Arrivals } from '../../../src/results/arrivals.ts';
import { ResultDigester } from '../../../src/results/digest-result.ts';

interface Bench {
  readonly home: string;
  readonly arrivals: Arrivals;
  readonly digester: ResultDigester;
}

async function prepare(t: WithTeardown, standardOutput = ''): Promise<Bench> {
  const home = temporaryFolder(t);
  const arrivals = await Arrivals.open(join(home, 'arrivals'), { now: 1, ageMax: 1 });
  const digester = new ResultDigester(
    {
      arrivals,
      folder: join(home, 'checks'),
      standardOutputOf: () => Buffer.from(standardOutput),
    },
    { checks: new Checks({ most: 1, now: () => 0 }), checkDeadline: 20_000 },
  );
  return { home, arrivals, digester };
}

function orderOf(home: string, replicaId: number, changes: Partial<ResultOrder> = {}): ResultOrder {
  return {
    replicaId,
    machineId: `lab/m${replicaId}`,
    userId: 'ana',
    jobId: 3,
    taskIndex: 5,
    value: '7',
    attributes: {},
    homeDirectory: home,
    outputs: [],
    outputSpecs: [],
    check: '',
    ...changes,
  };
}

/** A result with one output of these words, whose hash is a name for them. */
async function bring(bench: Bench, replicaId: number, words: string): Promise<ResultOrder> {
  const content = { sha256: Buffer.from(words).toString('hex').padEnd(64, '0').slice(0, 64), size: words.length };
  const output: OutputContent = { outputIndex: 0, path: '', content, mode: 0o640, inline: undefined, transferId: '' };
  const order = orderOf(bench.home, replicaId, {
    outputs: [output],
    outputSpecs: [{ root: 'playpen', path: 'out', localPath: join(bench.home, 'results/{}'), condition: '' }],
  });
  await bench.arrivals.keepBytes(order, output, Buffer.from(words));
  return order;
}

test('results are the same where their outputs are, whoever brought them', async (t) => {
  const bench = await prepare(t);
  const [one, same, other] = [
    await bring(bench, 1, 'right'),
    await bring(bench, 2, 'right'),
    await bring(bench, 3, 'wrong'),
  ];
  t.is(await bench.digester.digest(one), await bench.digester.digest(same));
  t.not(await bench.digester.digest(one), await bench.digester.digest(other));
});

test('a task without outputs is known by what it wrote to standard output', async (t) => {
  const [one, same, other] = [await prepare(t, 'a'), await prepare(t, 'a'), await prepare(t, 'b')];
  const digests = await Promise.all(
    [one, same, other].map(({ home, digester }, index) => digester.digest(orderOf(home, index))),
  );
  t.is(digests[0], digests[1]);
  t.not(digests[0], digests[2]);
});

test('outputs that differ in time stamps alone are the same to a check that prints the rest, and nothing comes to its place', async (t) => {
  const bench = await prepare(t);
  mkdirSync(join(bench.home, 'results'));
  writeFileSync(join(bench.home, 'results/7'), 'former');
  const check = 'grep -v "^at " results/{}; cat "$JOB_HOME/results/7" | grep -q former';
  const [one, same, other] = [
    await bring(bench, 1, 'at 1\nx\n'),
    await bring(bench, 2, 'at 2\nx\n'),
    await bring(bench, 3, 'at 1\ny\n'),
  ];
  const digest = (order: ResultOrder) => bench.digester.digest({ ...order, check });
  t.is(await digest(one), await digest(same));
  t.not(await digest(one), await digest(other));
  t.deepEqual(readdirSync(join(bench.home, 'checks')), []);
  t.deepEqual(readdirSync(join(bench.home, 'results')), ['7']);
});

test('a check that prints nothing leaves the outputs to be compared, and one that fails refuses the result', async (t) => {
  const bench = await prepare(t);
  const [one, other] = [await bring(bench, 1, 'x'), await bring(bench, 2, 'y')];
  t.not(
    await bench.digester.digest({ ...one, check: 'test -s results/{}' }),
    await bench.digester.digest({ ...other, check: 'true' }),
  );
  await t.throwsAsync(bench.digester.digest({ ...one, check: 'grep y results/{}' }), { code: 'MUT_CHECK_FAILED' });
  t.false(existsSync(join(bench.home, 'results')));
});

test('an output with other bytes than announced is distinguished from one that did not arrive', async (t) => {
  const bench = await prepare(t);
  const order = await bring(bench, 1, 'x');
  await bench.arrivals.discard(order, order.outputs);
  await t.throwsAsync(bench.digester.digest(order), { code: 'MUT_CONTENT_NOT_FOUND' });
  bench.arrivals.noteMismatch(bench.arrivals.getPath(order, order.outputs[0]!));
  await t.throwsAsync(bench.digester.digest(order), { code: 'MUT_CONTENT_MISMATCH' });
});
