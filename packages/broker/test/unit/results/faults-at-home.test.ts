import { listHappenings } from '@mutirao/api/fault-texts';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import test, { type ExecutionContext } from 'ava';

import { isErrorCode, MutiraoError } from '@mutirao/api/errors';
import { type Fault, faultAtHome, faultRows } from '@mutirao/core/bag';
import { type BrokerInput, type BrokerState, brokerMachine, createBrokerState } from '@mutirao/core/machines/broker';
import type { JobSpec, OutputContent, OutputSpec } from '@mutirao/core/messages';
import { aGroup, aJob, aMachine, anEnd, temporaryFolder, type WithTeardown } from '@mutirao/testkit';

import { Gatherer } from '../../../src/gathering/gatherer.ts';
import { keepOutputs } from '../../../src/providers/report-outputs.ts';
import { ResultAcceptor } from '../../../src/results/accept-result.ts';
import { Arrivals } from '../../../src/results/arrivals.ts';
import { Checks } from '../../../src/results/checks.ts';
import { ResultDigester } from '../../../src/results/digest-result.ts';
import type { ResultOrder } from '../../../src/results/result-order.ts';
import { hashFile } from '../../../src/staging/hash-file.ts';

const rows = faultRows.filter(({ phase }) => phase === 'accepting');
const happenings = listHappenings(rows);
const accepting = rows.map((row, index) => ({ ...row, happens: happenings[index] ?? '' }));

/** The parts of a broker that bring results home, and a result of one output that has arrived. */
interface Bench {
  readonly home: string;
  readonly arrivals: Arrivals;
  readonly acceptor: ResultAcceptor;
  readonly digester: ResultDigester;
  readonly order: ResultOrder;
}

async function prepare(t: WithTeardown, { home = temporaryFolder(t), checkDeadline = 20_000 } = {}): Promise<Bench> {
  const arrivals = await Arrivals.open(join(home, 'arrivals'), { now: 1, ageMax: 1 });
  const stores = { arrivals, hashFile, getBlobPath: (_userId: string, sha256: string) => join(home, sha256) };
  const gatherer = new Gatherer({
    brokerId: 'b',
    instance: { name: 'i', firstJobId: 1 },
    volumeBytesMax: 1 << 20,
    isOpen: () => true,
  });
  const checks = new Checks({ most: 1, now: () => 0 });
  const acceptor = new ResultAcceptor(
    stores,
    { gatherer, checksFolder: join(home, 'checks') },
    { placingsMax: 2, checks, checkDeadline },
  );
  const digester = new ResultDigester(
    { arrivals, folder: join(home, 'checks'), standardOutputOf: () => new Uint8Array(0) },
    { checks, checkDeadline },
  );
  const order: ResultOrder = {
    replicaId: 1,
    machineId: 'p/a',
    userId: 'ana',
    jobId: 1,
    taskIndex: 0,
    value: '0',
    attributes: {},
    homeDirectory: home,
    outputs: [anOutput()],
    outputSpecs: [{ root: 'playpen', path: 'out', localPath: join(home, 'results/out'), condition: '' }],
    check: '',
  };
  const bench = { home, arrivals, acceptor, digester, order };
  await report(bench, 'right');
  return bench;
}

function anOutput(changes: Partial<OutputContent> = {}): OutputContent {
  return {
    outputIndex: 0,
    path: '',
    content: { sha256: createHash('sha256').update('right').digest('hex'), size: 5 },
    mode: 0o640,
    inline: undefined,
    transferId: '',
    ...changes,
  };
}

/**
 * Has the machine of the result report its output again, with these bytes or in this way; resolves to the codes of what
 * went wrong.
 */
async function report(
  { arrivals, order }: Bench,
  bytes: string,
  changes: Partial<OutputContent> = {},
): Promise<string[]> {
  const troubles: string[] = [];
  const output = anOutput({ ...('droppedName' in changes ? {} : { inline: Buffer.from(bytes) }), ...changes });
  await arrivals.discard(order, [output]);
  const machineReport = {
    sequence: 1,
    started: [],
    ended: [{ ...anEnd(order.replicaId, 'succeeded', { startedAt: 1, endedAt: 2 }), outputs: [output] }],
  };
  await keepOutputs(
    { machineId: order.machineId, report: machineReport },
    {
      arrivals,
      pushed: { settled: () => Promise.resolve() },
      room: { retryWhileDiskFull: (act) => act() },
      known: { isAwaited: () => true, isOpen: () => true, isOthers: () => false },
    },
    (error) => {
      troubles.push(error instanceof MutiraoError ? error.code : String(error));
    },
  );
  return troubles;
}

/**
 * What happens, by row of the table, on the real parts of a broker; undefined where the broker's machine decides alone.
 * Rejects as the table says, in each way that there is.
 */
const situations: Readonly<
  Record<string, ((t: ExecutionContext, expected: { readonly code: string }) => Promise<void>) | undefined>
> = {
  'the place of an output at home cannot be written': async (t, expected) => {
    const bench = await prepare(t);
    writeFileSync(join(bench.home, 'results'), 'a file where a folder must be');
    await t.throwsAsync(bench.acceptor.accept(bench.order), expected);
    const gathered = { ...bench.order, gatherFolder: join(bench.home, 'results') };
    await t.throwsAsync(bench.acceptor.accept(gathered), expected, 'where outputs are gathered');
    await damageIndex(bench);
    const restarted = await prepare(t, { home: bench.home });
    await t.throwsAsync(
      restarted.acceptor.accept({ ...restarted.order, gatherFolder: join(bench.home, 'gathered') }),
      expected,
      'an index that was damaged at home',
    );
  },
  'an output leads out of its place at home': async (t, expected) => {
    const bench = await prepare(t);
    await t.throwsAsync(bench.acceptor.accept({ ...bench.order, outputs: [anOutput({ path: '../out' })] }), expected);
  },
  'the check does not accept the result, or takes too long': async (t, expected) => {
    const impatient = await prepare(t, { checkDeadline: 100 });
    await t.throwsAsync(impatient.acceptor.accept({ ...impatient.order, check: 'sleep 60' }), {
      ...expected,
      message: /took longer than 100 ms/,
    });
    const bench = await prepare(t);
    await t.throwsAsync(bench.acceptor.accept({ ...bench.order, check: 'exit 3' }), {
      ...expected,
      message: /status 3/,
    });
    await report(bench, 'right');
    await t.throwsAsync(
      bench.digester.digest({ ...bench.order, check: 'exit 3' }),
      expected,
      'where results are voted on',
    );
    await t.throwsAsync(
      bench.acceptor.accept({ ...bench.order, check: 'exit 3', gatherFolder: join(bench.home, 'gathered') }),
      expected,
      'where outputs are gathered',
    );
  },
  'the bytes of an output did not arrive': async (t, expected) => {
    const bench = await prepare(t);
    await bench.arrivals.discard(bench.order, bench.order.outputs);
    for (const [how, bring] of waysHome(bench)) await t.throwsAsync(bring(), expected, how);
    t.deepEqual(
      await report(bench, 'right', { droppedName: `drop-${'a'.repeat(32)}` }),
      [expected.code],
      'a machine that shares our file system left nothing',
    );
    for (const [how, bring] of waysHome(bench)) await t.throwsAsync(bring(), expected, how);
  },
  'the bytes of an output are not those that the machine announced (a machine whose results end so three times is quarantined until its trust record is reset)':
    async (t, expected) => {
      const bench = await prepare(t);
      t.deepEqual(await report(bench, 'wrong'), [expected.code]);
      for (const [how, bring] of waysHome(bench)) await t.throwsAsync(bring(), expected, how);
      await report(bench, 'right');
      await t.notThrowsAsync(bench.digester.digest(bench.order), 'what came right afterwards is right');
      const droppedName = `drop-${'a'.repeat(32)}`;
      writeFileSync(join(bench.arrivals.folder, droppedName), 'wrong');
      t.deepEqual(
        await report(bench, 'right', { droppedName }),
        [expected.code],
        'a machine that shares our file system',
      );
      for (const [how, bring] of waysHome(bench)) await t.throwsAsync(bring(), expected, how);
    },
  'the machine states an attribute that cannot be part of a path in which the job uses it (also before the task starts there)':
    async (t, expected) => {
      const bench = await prepare(t);
      const [spec] = bench.order.outputSpecs;
      const hostile = {
        ...bench.order,
        attributes: { group: 'x/../../victim' },
        outputSpecs: [{ ...(spec as OutputSpec), localPath: join(bench.home, 'results-$group') }],
      };
      await t.throwsAsync(bench.acceptor.accept(hostile), expected);
      await t.throwsAsync(
        bench.acceptor.accept({ ...hostile, check: 'true', gatherFolder: join(bench.home, 'gathered') }),
        expected,
        'where outputs are gathered',
      );
    },
  'the machine reports what cannot be, or what it was not asked for': async (t, expected) => {
    const bench = await prepare(t);
    const output = anOutput({ outputIndex: 7 });
    await bench.arrivals.keepBytes(bench.order, output, Buffer.from('right'));
    await t.throwsAsync(bench.acceptor.accept({ ...bench.order, outputs: [output] }), expected);
  },
  'too few machines agree on the result (the task fails at once)': undefined,
};

/** All that may be done with a result. */
function waysHome({ home, acceptor, digester, order }: Bench): readonly (readonly [string, () => Promise<unknown>])[] {
  return [
    ['to its place', () => acceptor.accept(order)],
    ['gathered', () => acceptor.accept({ ...order, gatherFolder: join(home, 'gathered') })],
    [
      'gathered after a check',
      () => acceptor.accept({ ...order, gatherFolder: join(home, 'gathered'), check: 'true' }),
    ],
    ['voted on', () => digester.digest(order)],
  ];
}

/** Changes a line in the midst of the index of what is gathered, as a failing disk may. */
async function damageIndex(bench: Bench): Promise<void> {
  const gatherFolder = join(bench.home, 'gathered');
  for (const replicaId of [2, 3]) {
    const order = { ...bench.order, replicaId, taskIndex: replicaId, gatherFolder };
    await bench.arrivals.keepBytes(order, anOutput(), Buffer.from('right'));
    await bench.acceptor.accept(order);
  }
  const index = join(gatherFolder, 'job-1.index.jsonl');
  writeFileSync(index, readFileSync(index, 'utf8').replace('{"task_index"', '{"tusk'));
}

/** A broker with machines and a job of tasks with an output, of which each may fail `failuresMax` times. */
class Grid {
  readonly state: BrokerState = createBrokerState({ lossesMax: 20 });
  #now = 0;

  constructor(
    failuresMax: number,
    {
      taskCount = 1,
      names = ['p/a', 'p/b'],
      ...changes
    }: Partial<JobSpec> & { readonly taskCount?: number; readonly names?: readonly string[] } = {},
  ) {
    this.#step(
      { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' },
      { kind: 'ProviderConnected', providerId: 'p' },
    );
    for (const name of names)
      this.#step({ kind: 'MachineJoined', providerId: 'p', facts: aMachine(name), heldReplicaIds: [] });
    const outputs = [{ root: 'playpen' as const, path: 'out', localPath: '/home/out', condition: '' }];
    this.#step({
      kind: 'JobSubmitted',
      replyTo: 7,
      userId: 'ann',
      clientJobId: '',
      spec: aJob(taskCount, { groups: [aGroup(taskCount, { outputs })], replicasMax: 1, failuresMax, ...changes }),
    });
  }

  /** Has a replica of the task succeed, and home say this of its result; returns the machine. */
  endNext(
    input:
      | { readonly kind: 'ResultRefused'; readonly reason: string; readonly detail: string }
      | { readonly kind: 'ResultDigested'; readonly digest: string },
  ): string {
    const { machineId, replicaId } = this.#succeedNext();
    this.#step({ ...input, replicaId });
    return machineId;
  }

  #succeedNext(): { readonly machineId: string; readonly replicaId: number } {
    const [replica] = this.state.replicas.values();
    if (replica === undefined) throw new Error('no replica was placed');
    const {
      replicaId,
      machine: {
        facts: { machineId },
      },
    } = replica;
    const end = anEnd(replicaId, 'succeeded', { startedAt: this.#now, endedAt: this.#now });
    this.#step({ kind: 'MachineReported', machineId, report: { sequence: this.#now, started: [], ended: [end] } });
    return { machineId, replicaId };
  }

  /** Has the job cancelled while a result is checked, and retried before the end of the check is reported. */
  cancelAndRetry(): void {
    const { replicaId } = this.#succeedNext();
    this.#step({ kind: 'JobCancelled', replyTo: 1, userId: 'ann', jobId: 1, reason: '' });
    this.#step({ kind: 'TasksRetried', replyTo: 2, userId: 'ann', jobId: 1, taskIndexes: [] });
    this.#step({ kind: 'ResultRefused', replicaId, reason: 'MUT_CANCELLED', detail: 'the check was ended' });
  }

  #step(...inputs: readonly BrokerInput[]): void {
    brokerMachine.step(this.state, inputs, ++this.#now);
    brokerMachine.checkInvariants(this.state);
  }

  get resourceStatus(): readonly unknown[] {
    return [...this.state.machines.values()].map(({ breakages, quarantinedUntil }) => ({
      breakages,
      quarantinedUntil,
    }));
  }
}

const trusted = { breakages: 0, quarantinedUntil: 0 };

/** What the grid does about a fault, for a task that may not fail once. */
const consequencesOf: Readonly<Record<Fault, ((t: ExecutionContext, code: string) => void) | undefined>> = {
  task: countsAsFailure,
  user: countsAsFailure,
  site: (t, code) => {
    const grid = runsElsewhere(t, code);
    t.is(grid.state.records.get('p/a')?.evidence.length ?? 0, 0, 'nobody is blamed');
  },
  machine: (t, code) => {
    const grid = runsElsewhere(t, code);
    const [first] = [...grid.state.records.values()].flatMap(({ evidence }) => evidence);
    t.like(first, { kind: 'mismatch', jobId: 1, taskIndex: 0 });
    for (let count = 0; count < 10 && grid.state.replicas.size > 0; count++)
      grid.endNext({ kind: 'ResultRefused', reason: code, detail: 'why' });
    t.true(
      [...grid.state.records.values()].every(
        ({ evidence, quarantinedAt }) => evidence.length === 3 && quarantinedAt > 0,
      ),
      'the third time it is quarantined',
    );
  },
  misconduct: (t, code) => {
    const grid = new Grid(1);
    const first = grid.endNext({ kind: 'ResultRefused', reason: code, detail: 'why' });
    t.like(grid.state.jobs.get(1), { status: 'running', failureCount: 0 });
    t.not([...grid.state.replicas.values()][0]?.machine.facts.machineId, first, 'it runs again on another machine');
    t.true((grid.state.records.get(first)?.quarantinedAt ?? 0) > 0, 'the machine is quarantined at once');
  },
  unknown: undefined,
};

function countsAsFailure(t: ExecutionContext, code: string): void {
  const grid = new Grid(2);
  const first = grid.endNext({ kind: 'ResultRefused', reason: code, detail: 'why' });
  t.like(grid.state.jobs.get(1), { status: 'running', failureCount: 1 });
  t.not(
    grid.endNext({ kind: 'ResultRefused', reason: code, detail: 'why' }),
    first,
    'it runs again on another machine',
  );
  t.like(grid.state.jobs.get(1), { status: 'failed', failureCount: 2 });
  t.deepEqual(grid.resourceStatus, [trusted, trusted]);
  t.is(grid.state.records.size, 0);
}

function runsElsewhere(t: ExecutionContext, code: string): Grid {
  const grid = new Grid(1);
  const first = grid.endNext({ kind: 'ResultRefused', reason: code, detail: 'why' });
  t.like(grid.state.jobs.get(1), { status: 'running', failureCount: 0 });
  t.deepEqual(grid.resourceStatus, [trusted, trusted]);
  t.not([...grid.state.replicas.values()][0]?.machine.facts.machineId, first, 'it runs again on another machine');
  return grid;
}

test('each row of the table for results at home has a situation here', (t) => {
  t.deepEqual(Object.keys(situations).sort(), accepting.map(({ happens }) => happens).sort());
});

for (const { happens, code, fault } of accepting) {
  test(`when a result comes home: ${happens} (${code}) is the fault of: ${fault}`, async (t) => {
    t.true(isErrorCode(code), 'the code is in the registry');
    t.is(faultAtHome(code), fault, 'a code has one row');
    await situations[happens]?.(t, { code });
    const check = consequencesOf[fault];
    t.not(check, undefined);
    if (code !== 'MUT_NO_MAJORITY') check?.(t, code);
  });
}

test('a task whose machines never agree fails at once, and no machine loses its standing', (t) => {
  const names = ['p/a', 'p/b', 'p/c', 'p/d', 'p/e'];
  const grid = new Grid(3, { names, verification: { kind: 'vote', count: 2 } });
  for (const name of names) grid.endNext({ kind: 'ResultDigested', digest: `the result of ${name}` });
  t.like(grid.state.jobs.get(1), { status: 'failed' });
  t.deepEqual(
    grid.resourceStatus,
    names.map(() => trusted),
  );
  t.true(
    [...grid.state.records.values()].every(
      ({ evidence, quarantinedAt }) => evidence.length === 0 && quarantinedAt === 0,
    ),
  );
});

test('a result whose bytes never arrive is given up after as many losses as a task may have', (t) => {
  const grid = new Grid(1);
  let count = 0;
  for (; grid.state.replicas.size > 0; count++)
    grid.endNext({ kind: 'ResultRefused', reason: 'MUT_CONTENT_NOT_FOUND', detail: 'why' });
  t.is(count, 20);
  t.is(grid.state.jobs.get(1)?.status, 'failed');
});

test('a check that was ended since its job was cancelled counts as nothing where the job runs again by then', (t) => {
  const grid = new Grid(1, { taskCount: 2 });
  grid.cancelAndRetry();
  t.like(grid.state.jobs.get(1), { status: 'running', failureCount: 0 });
  t.deepEqual(
    [...grid.state.replicas.values()].map(({ task }) => task.index),
    [1, 0],
    'the task runs again',
  );
});

test('an output whose place is taken by a file that cannot be read is not taken for home', async (t) => {
  const { home, arrivals, order } = await prepare(t);
  mkdirSync(join(home, 'results'));
  writeFileSync(join(home, 'results/out'), 'right');
  rmSync(arrivals.getPath(order, anOutput()));
  const stores = {
    arrivals,
    hashFile: () => Promise.reject(Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' })),
    getBlobPath: () => '',
  };
  const gatherer = { gather: () => Promise.resolve(), holds: () => Promise.resolve(false) };
  const acceptor = new ResultAcceptor(
    stores,
    { gatherer, checksFolder: '' },
    { placingsMax: 1, checks: new Checks({ most: 1, now: () => 0 }), checkDeadline: 1000 },
  );
  await t.throwsAsync(acceptor.accept(order), { code: 'MUT_CONTENT_NOT_FOUND' });
});
