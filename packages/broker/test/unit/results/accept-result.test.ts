import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import test from 'ava';

import type { OutputContent, OutputSpec } from '@mutirao/core/messages';
import { temporaryFolder, type WithTeardown } from '@mutirao/testkit';

import { Gatherer } from '../../../src/gathering/gatherer.ts';
import { ResultAcceptor } from '../../../src/results/accept-result.ts';
import type { ResultOrder } from '../../../src/results/result-order.ts';
import { Checks } from '../../../src/results/checks.ts';
import { Arrivals } from '../../../src/results/arrivals.ts';
import { hashFile } from '../../../src/staging/hash-file.ts';

const origin = { replicaId: 7, machineId: 'alpha/m1' };

function anOutput(changes: Partial<OutputContent> = {}): OutputContent {
  return {
    outputIndex: 0,
    path: '',
    content: { sha256: 'ab'.repeat(32), size: 3 },
    mode: 0o640,
    inline: undefined,
    transferId: '',
    ...changes,
  };
}

async function prepare(
  t: WithTeardown,
  home = temporaryFolder(t),
): Promise<{ home: string; arrivals: Arrivals; acceptor: ResultAcceptor }> {
  const arrivals = await Arrivals.open(join(home, 'arrivals'), { now: 1, ageMax: 1 });
  mkdirSync(join(home, 'contents'), { recursive: true });
  const stores = {
    arrivals,
    hashFile,
    getBlobPath: (_userId: string, sha256: string) => join(home, 'contents', sha256),
  };
  const gatherer = new Gatherer({
    brokerId: 'b',
    instance: { name: 'i', firstJobId: 1 },
    volumeBytesMax: 1 << 20,
    isOpen: () => true,
  });
  const gathered = { gatherer, checksFolder: join(home, 'checks') };
  return {
    home,
    arrivals,
    acceptor: new ResultAcceptor(stores, gathered, {
      placingsMax: 2,
      checks: new Checks({ most: 1, now: () => 0 }),
      checkDeadline: 20_000,
    }),
  };
}

function orderOf(home: string, changes: Partial<ResultOrder>): ResultOrder {
  return {
    ...origin,
    userId: 'ana',
    jobId: 3,
    taskIndex: 5,
    value: 'blue sky',
    attributes: { os: 'linux' },
    homeDirectory: home,
    outputs: [],
    outputSpecs: [],
    check: '',
    ...changes,
  };
}

function findSpec(path: string, localPath: string): OutputSpec {
  return { root: 'playpen', path, localPath, condition: '' };
}

test('outputs come to their places with their modes, folders are made, and nothing stays behind', async (t) => {
  const { home, arrivals, acceptor } = await prepare(t);
  const outputs = [
    anOutput(),
    anOutput({ outputIndex: 1, path: 'deep/b' }),
    anOutput({ outputIndex: 1, path: 'a' }),
    anOutput({ outputIndex: 2 }),
  ];
  for (const [index, output] of outputs.entries())
    await arrivals.keepBytes(origin, output, Buffer.from(`bytes ${index}`));
  mkdirSync(join(home, 'there'));
  const outputSpecs = [
    findSpec('out', join(home, 'new/{}-$TASK-$JOB.txt')),
    findSpec('folder', join(home, 'all')),
    findSpec('x/log', join(home, 'there')),
  ];
  await acceptor.accept(orderOf(home, { outputs, outputSpecs }));
  t.is(readFileSync(join(home, 'new/blue sky-5-3.txt'), 'utf8'), 'bytes 0');
  t.is(statSync(join(home, 'new/blue sky-5-3.txt')).mode & 0o777, 0o640);
  t.is(readFileSync(join(home, 'all/deep/b'), 'utf8'), 'bytes 1');
  t.is(readFileSync(join(home, 'all/a'), 'utf8'), 'bytes 2');
  t.is(readFileSync(join(home, 'there/log'), 'utf8'), 'bytes 3', 'a file goes into a folder that is there');
  t.deepEqual(readdirSync(join(home, 'arrivals')), []);
});

test('a former file is replaced, and an output without a place stays as a blob', async (t) => {
  const { home, arrivals, acceptor } = await prepare(t);
  writeFileSync(join(home, 'old'), 'old');
  const outputs = [anOutput(), anOutput({ outputIndex: 1, content: { sha256: 'cd'.repeat(32), size: 1 } })];
  for (const output of outputs) await arrivals.keepBytes(origin, output, Buffer.from('new'));
  await acceptor.accept(
    orderOf(home, { outputs, outputSpecs: [findSpec('out', join(home, 'old')), findSpec('y', '')] }),
  );
  t.is(readFileSync(join(home, 'old'), 'utf8'), 'new');
  t.true(existsSync(join(home, 'contents', 'cd'.repeat(32))));
});

test('two outputs of one transfer both get its bytes', async (t) => {
  const { home, arrivals, acceptor } = await prepare(t);
  const outputs = [anOutput({ transferId: 't1' }), anOutput({ outputIndex: 1, transferId: 't1' })];
  writeFileSync(arrivals.pathOfTransfer(origin.machineId, 't1', outputs[0]!.content.sha256), 'once');
  await acceptor.accept(
    orderOf(home, { outputs, outputSpecs: [findSpec('a', join(home, 'a')), findSpec('b', join(home, 'b'))] }),
  );
  t.is(readFileSync(join(home, 'a'), 'utf8') + readFileSync(join(home, 'b'), 'utf8'), 'onceonce');
});

test('a result that was half brought home before a crash is brought home wholly after it', async (t) => {
  const { home, arrivals, acceptor } = await prepare(t);
  const content = { sha256: createHash('sha256').update('done').digest('hex'), size: 4 };
  const outputs = [anOutput({ content }), anOutput({ outputIndex: 1 })];
  writeFileSync(join(home, 'a'), 'done');
  await arrivals.keepBytes(origin, outputs[1]!, Buffer.from('rest'));
  const order = orderOf(home, {
    outputs,
    outputSpecs: [findSpec('a', join(home, 'a')), findSpec('b', join(home, 'b'))],
  });
  await acceptor.accept(order);
  t.is(readFileSync(join(home, 'b'), 'utf8'), 'rest');
  writeFileSync(join(home, 'a'), 'another');
  await t.throwsAsync(acceptor.accept(order), { code: 'MUT_CONTENT_NOT_FOUND' });
});

test('an output whose bytes are gone, or that leads out of its folder, is refused by name', async (t) => {
  const { home, arrivals, acceptor } = await prepare(t);
  const gone = orderOf(home, { outputs: [anOutput()], outputSpecs: [findSpec('a', join(home, 'a'))] });
  await t.throwsAsync(acceptor.accept(gone), { code: 'MUT_CONTENT_NOT_FOUND' });
  const escaping = anOutput({ path: '../b' });
  await arrivals.keepBytes(origin, escaping, Buffer.from('x'));
  await t.throwsAsync(
    acceptor.accept(orderOf(home, { outputs: [escaping], outputSpecs: [findSpec('a', join(home, 'a'))] })),
    { code: 'MUT_PATH_ESCAPES' },
  );
  writeFileSync(join(home, 'file'), '');
  await arrivals.keepBytes(origin, anOutput(), Buffer.from('x'));
  const blocked = orderOf(home, { outputs: [anOutput()], outputSpecs: [findSpec('a', join(home, 'file/below'))] });
  await t.throwsAsync(acceptor.accept(blocked), {
    code: 'MUT_OUTPUT_FORBIDDEN',
    message: /file\/below cannot be written/,
  });
});

test('a check sees its task and the home directory, and its status decides', async (t) => {
  const { home, acceptor } = await prepare(t);
  await acceptor.accept(orderOf(home, { check: 'echo {} {#} $JOB $TASK $PROC "$VALUE" > seen' }));
  t.is(readFileSync(join(home, 'seen'), 'utf8'), 'blue sky 5 3 5 alpha/m1 blue sky\n');
  await t.throwsAsync(acceptor.accept(orderOf(home, { check: 'echo wrong sum >&2; exit 4' })), {
    code: 'MUT_CHECK_FAILED',
    message: /status 4: wrong sum/,
  });
});

test('arrivals that were left for longer than allowed, and what a killed broker was writing, are removed when the folder is opened', async (t) => {
  const folder = temporaryFolder(t);
  for (const [name, seconds] of [
    ['old', 100],
    ['young', 900],
    ['part-123-4', 900],
  ] as const) {
    writeFileSync(join(folder, name), '');
    utimesSync(join(folder, name), seconds, seconds);
  }
  await Arrivals.open(folder, { now: 1_000_000, ageMax: 500_000 });
  t.deepEqual(readdirSync(folder), ['young']);
});

test('what a surplus replica brought is removed', async (t) => {
  const { home, arrivals } = await prepare(t);
  await arrivals.keepBytes(origin, anOutput(), Buffer.from('x'));
  await arrivals.discard(origin, [anOutput(), anOutput({ path: 'never came' })]);
  t.deepEqual(readdirSync(join(home, 'arrivals')), []);
});

test('outputs that arrived before the broker was killed, without a later report, are removed when their replica has ended, and no others', async (t) => {
  const { home, arrivals } = await prepare(t);
  const other = { ...origin, replicaId: origin.replicaId + 1 };
  for (const each of [origin, other]) await arrivals.keepBytes(each, anOutput(), Buffer.from('x'));
  const opened = await Arrivals.open(join(home, 'arrivals'), { now: 1, ageMax: 1 });
  t.true(opened.hasFound(origin.replicaId));
  await opened.discard(origin, []);
  t.false(opened.hasFound(origin.replicaId));
  t.deepEqual(
    readdirSync(join(home, 'arrivals')).map((name) => join(home, 'arrivals', name)),
    [opened.getPath(other, anOutput())],
  );
});

test('gathered outputs come to no place of their own, blobs stay blobs, and the check sees the outputs where they would be', async (t) => {
  const { home, arrivals, acceptor } = await prepare(t);
  const outputs = [
    anOutput({ content: { sha256: 'ab'.repeat(32), size: 2 } }),
    anOutput({ outputIndex: 1, path: 'x', content: { sha256: 'cd'.repeat(32), size: 2 } }),
    anOutput({ outputIndex: 2, content: { sha256: 'ef'.repeat(32), size: 2 } }),
  ];
  for (const output of outputs) await arrivals.keepBytes(origin, output, Buffer.from('hi'));
  const outputSpecs = [
    findSpec('out', join(home, 'results/{}')),
    findSpec('folder', join(home, 'all')),
    findSpec('log', ''),
  ];
  const order = orderOf(home, { outputs, outputSpecs, gatherFolder: join(home, 'gathered') });
  const check = `test "$(cat results/{})" = hi && test -f all/x && test "$JOB_HOME" = ${home} && test "$PWD" != ${home}`;
  await t.throwsAsync(acceptor.accept({ ...order, check: 'test -f nothing' }), { code: 'MUT_CHECK_FAILED' });
  t.false(existsSync(join(home, 'gathered')), 'a result that its check refused was gathered');
  await acceptor.accept({ ...order, check });
  t.deepEqual(readdirSync(join(home, 'gathered')).sort(), ['job-3.000.tar', 'job-3.index.jsonl']);
  t.deepEqual([existsSync(join(home, 'results')), existsSync(join(home, 'all'))], [false, false]);
  t.true(existsSync(join(home, 'contents', 'ef'.repeat(32))));
  t.deepEqual(readdirSync(join(home, 'arrivals')), []);
  t.deepEqual(
    readFileSync(join(home, 'gathered/job-3.index.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => (JSON.parse(line) as { path: string }).path),
    ['results/blue sky', 'all/x'],
  );
});

test('a result that was gathered before a crash is accepted again without its bytes, and its check does not run twice', async (t) => {
  const { home, arrivals, acceptor } = await prepare(t);
  const content = { sha256: createHash('sha256').update('hi').digest('hex'), size: 2 };
  const outputs = [anOutput({ content }), anOutput({ outputIndex: 1, content })];
  for (const output of outputs) await arrivals.keepBytes(origin, output, Buffer.from('hi'));
  const outputSpecs = [findSpec('out', join(home, 'results/{}')), findSpec('log', '')];
  const order = orderOf(home, {
    outputs,
    outputSpecs,
    gatherFolder: join(home, 'gathered'),
    check: 'echo once >> "$JOB_HOME/ran"',
  });
  await acceptor.accept(order);
  const bytes = readFileSync(join(home, 'gathered/job-3.000.tar'));
  const { acceptor: afterCrash } = await prepare(t, home);
  await afterCrash.accept(order);
  t.deepEqual(readFileSync(join(home, 'gathered/job-3.000.tar')), bytes);
  t.is(readFileSync(join(home, 'ran'), 'utf8'), 'once\n');
});

test("a check of gathered results finds a blob where a crash left it, and a result whose bytes are gone or in each other's way is refused", async (t) => {
  const { home, arrivals, acceptor } = await prepare(t);
  const output = anOutput({ content: { sha256: createHash('sha256').update('hi').digest('hex'), size: 2 } });
  await arrivals.keepBytes(origin, output, Buffer.from('hi'));
  const gatherFolder = join(home, 'gathered');
  const order = orderOf(home, {
    outputs: [output],
    outputSpecs: [findSpec('log', '')],
    gatherFolder,
    check: 'grep -q hi log',
  });
  await acceptor.accept(order);
  await t.notThrowsAsync(acceptor.accept(order));

  const lost = { ...order, outputSpecs: [findSpec('out', join(home, 'results/{}'))] };
  await t.throwsAsync(acceptor.accept(lost), { code: 'MUT_CONTENT_NOT_FOUND' });
  const both = [output, { ...output, outputIndex: 1 }];
  for (const one of both) await arrivals.keepBytes(origin, one, Buffer.from('hi'));
  const nested = {
    ...order,
    outputs: both,
    outputSpecs: [findSpec('out', join(home, 'results')), findSpec('more', join(home, 'results/more'))],
  };
  await t.throwsAsync(acceptor.accept(nested), { code: 'MUT_OUTPUT_FORBIDDEN' });
});

test('a small output is archived from memory, whatever becomes of the message that brought it, and otherwise from its file', async (t) => {
  const { home, arrivals, acceptor } = await prepare(t);
  const outputs = [anOutput({ path: 'new' }), anOutput({ path: 'old' })];
  const message = Buffer.from('out');
  for (const output of outputs) await arrivals.keepBytes(origin, output, message);
  message.fill(0);
  const [recent, forgotten] = outputs.map((output) => arrivals.getPath(origin, output));
  t.is(Buffer.from(arrivals.getBytes(recent!) ?? []).toString(), 'out');
  arrivals.forget(forgotten!);
  writeFileSync(recent!, 'new');
  await acceptor.accept(
    orderOf(home, {
      outputs,
      outputSpecs: [findSpec('folder', join(home, 'all'))],
      gatherFolder: join(home, 'gathered'),
    }),
  );
  t.is(execFileSync('tar', ['-xOf', join(home, 'gathered/job-3.000.tar')], { encoding: 'utf8' }), 'outout');
  t.is(arrivals.getBytes(recent!), undefined, 'what is home is kept in memory');
});

test('a gathered output whose place is not below the home directory is refused by name', async (t) => {
  const { home, arrivals, acceptor } = await prepare(t);
  await arrivals.keepBytes(origin, anOutput(), Buffer.from('out'));
  for (const place of [join(home, '../x'), '/x', home]) {
    const order = orderOf(join(home, 'sub'), {
      outputs: [anOutput()],
      outputSpecs: [findSpec('out', place)],
      gatherFolder: join(home, 'gathered'),
    });
    await t.throwsAsync(acceptor.accept(order), { code: 'MUT_PATH_ESCAPES', message: /is not below .*sub/ });
  }
});

test('an output of a failed task that has no place is kept as a blob', async (t) => {
  const { home, arrivals, acceptor } = await prepare(t);
  const output = anOutput();
  await arrivals.keepBytes(origin, output, Buffer.from('so far'));
  await acceptor.keepFailed(orderOf(home, { outputs: [output], outputSpecs: [findSpec('result', '')] }));
  t.is(readFileSync(join(home, 'contents', output.content.sha256), 'utf8'), 'so far');
});

test('what a failed task has left comes home marked, a folder as a folder, and without a check', async (t) => {
  const { home, arrivals, acceptor } = await prepare(t);
  const outputs = [anOutput(), anOutput({ outputIndex: 1, path: 'deep/b' }), anOutput({ outputIndex: 2 })];
  for (const [index, output] of outputs.entries())
    await arrivals.keepBytes(origin, output, Buffer.from(`bytes ${index}`));
  mkdirSync(join(home, 'there'));
  await acceptor.keepFailed(
    orderOf(home, {
      outputs,
      outputSpecs: [
        findSpec('log', join(home, 'log')),
        findSpec('all', join(home, 'all')),
        findSpec('x/out', join(home, 'there')),
      ],
      check: 'touch checked',
    }),
  );
  t.is(readFileSync(join(home, 'log.failed'), 'utf8'), 'bytes 0');
  t.is(readFileSync(join(home, 'all.failed/deep/b'), 'utf8'), 'bytes 1');
  t.is(readFileSync(join(home, 'there/out.failed'), 'utf8'), 'bytes 2');
  t.deepEqual(
    ['log', 'all', 'there/out', 'checked'].map((name) => existsSync(join(home, name))),
    [false, false, false, false],
  );
});
