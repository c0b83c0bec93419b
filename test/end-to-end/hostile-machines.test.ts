// A machine that sends whatever suits its owner, next to an honest one, with real processes: jobs finish right, nothing
// at home is touched, the broker lives, and the machine gets nothing more.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { JobStatus, MachineStatus, type TrustRecord } from '@mutirao/api/broker';
import { Root } from '@mutirao/api/common';
import type { MutiraoError } from '@mutirao/api/errors';
import type { ReplicaEnded } from '@mutirao/api/machine';
import { callUnary } from '@mutirao/runtime/rpc';
import { Grid, HostileMachine, taskGroup, temporaryFolder, until, type HostileWords } from '@mutirao/testkit';

const mebibyte = 1024 ** 2;

interface World {
  readonly grid: Grid;
  /** The user's folder. */
  readonly folder: string;
  /** What nobody may change or read. */
  readonly victim: string;
}

/** A grid with one honest machine, of which `group` and `set` are `good`. */
async function world(t: ExecutionContext): Promise<World> {
  const parent = temporaryFolder(t);
  const folder = join(parent, 'work');
  const victim = join(parent, 'victim');
  for (const path of [folder, victim]) mkdirSync(path);
  writeFileSync(join(victim, 'key'), 'secret');
  const grid = await Grid.start({
    machines: [{ processors: 1, args: ['--attribute', 'group=good', '--attribute', 'set=good'] }],
  });
  t.teardown(() => grid.stop());
  await grid.client.waitMachines(1);
  return { grid, folder, victim };
}

/** Attaches a hostile machine and waits until the broker has it. */
async function attach(t: ExecutionContext, { grid }: World, words: HostileWords): Promise<HostileMachine> {
  const hostile = await HostileMachine.join(grid, 'evil', words);
  t.teardown(() => {
    hostile.close();
  });
  await grid.client.waitMachines(2);
  return hostile;
}

/** An honest success that brings these files. */
function bringing(
  end: ReplicaEnded,
  files: readonly { readonly outputIndex?: number; readonly path?: string; readonly text: string }[],
): ReplicaEnded {
  const outputs = files.map(({ outputIndex = 0, path = '', text }) => {
    const inline = Buffer.from(text);
    return {
      outputIndex,
      path,
      content: { sha256: createHash('sha256').update(inline).digest(), sizeBytes: inline.length },
      mode: 0o644,
      inline,
      transferId: '',
      droppedName: '',
    };
  });
  return { ...end, outputs };
}

/** Sees that the hostile machine is caught, and answers why. */
async function findEvidence(t: ExecutionContext, { grid }: World): Promise<string> {
  const find = async (): Promise<TrustRecord | undefined> => {
    const { records } = await callUnary(grid.client.raw, 'listTrust', {}, { deadlineMs: 60_000 });
    return records.find(({ machineId, quarantinedUnixMs }) => machineId === 'lab/evil' && quarantinedUnixMs > 0);
  };
  await until(async () => (await find()) !== undefined, 'the hostile machine is caught');
  const evidence = (await find())?.evidence.at(-1);
  t.truthy(evidence);
  return `${evidence?.kind}: ${evidence?.detail?.text}`;
}

async function assertFinished(t: ExecutionContext, { grid, victim }: World, jobId: number): Promise<void> {
  t.is((await grid.client.waitEnded(jobId)).status, JobStatus.FINISHED);
  await grid.assertAllLive();
  t.deepEqual(readdirSync(victim), ['key']);
  t.is(readFileSync(join(victim, 'key'), 'utf8'), 'secret');
}

test.serial(
  'an attribute that leads out of the folder of results brings nothing there, and its machine is quarantined',
  async (t) => {
    const here = await world(t);
    const { grid, folder } = here;
    const hostile = await attach(t, here, {
      facts: { attributes: { group: 'x/../../victim' } },
      answer: (end) => bringing(end, [{ text: 'forged' }]),
    });
    const outputs = [{ root: Root.PLAYPEN, path: 'out', localPath: join(folder, 'results-$group/{}'), condition: '' }];
    const jobId = await grid.client.submit([taskGroup('sleep 0.1; echo right > out', 12, { outputs })]);
    await assertFinished(t, here, jobId);
    t.regex(
      await findEvidence(t, here),
      /^attribute: .*\$group is "x\/\.\.\/\.\.\/victim" on lab\/evil: it contains a "\/"$/,
    );
    t.is(
      (await grid.client.machines()).find(({ facts }) => facts?.machineId === 'lab/evil')?.status,
      MachineStatus.QUARANTINED,
    );
    t.deepEqual(hostile.started, []);
    t.deepEqual(readdirSync(folder), ['results-good']);
    const waiting = await grid.client.submit([taskGroup('true', 1, { requirements: 'group == "x/../../victim"' })]);
    t.regex(
      await grid.client.explain({ $case: 'jobId', value: waiting }),
      /lab\/evil: quarantined, because what it states about itself .*machine reset-trust/s,
    );
  },
);

test.serial('an attribute that leads out of the folder of inputs sends nothing from outside it', async (t) => {
  const here = await world(t);
  const { grid, folder } = here;
  mkdirSync(join(folder, 'data'));
  writeFileSync(join(folder, 'data/good'), 'fine');
  const hostile = await attach(t, here, { facts: { attributes: { set: '../../victim' } } });
  const inputs = [
    {
      source: { source: { $case: 'localPath', value: join(folder, 'data/$set') } } as const,
      root: Root.PLAYPEN,
      path: 'in',
      condition: '',
    },
  ];
  const jobId = await grid.client.submit([taskGroup('sleep 0.1; grep fine in', 12, { inputs })]);
  await assertFinished(t, here, jobId);
  t.regex(await findEvidence(t, here), /^attribute: .*\$set is "\.\.\/\.\.\/victim"/);
  t.deepEqual(hostile.started, []);
});

test.serial(
  'a report of an output that nobody asked for costs its machine alone, and the broker lives, also after a restart',
  async (t) => {
    const here = await world(t);
    const { grid, folder } = here;
    await attach(t, here, { answer: (end) => bringing(end, [{ outputIndex: 7, text: 'forged' }]) });
    const outputs = [{ root: Root.PLAYPEN, path: 'out', localPath: join(folder, 'results/{}'), condition: '' }];
    const jobId = await grid.client.submit([taskGroup('sleep 0.1; echo right > out', 12, { outputs })]);
    await assertFinished(t, here, jobId);
    t.regex(await findEvidence(t, here), /^report: replica r\d+: it sent output 7; only 1 were requested$/);
    await grid.broker.crash();
    await until(() => grid.client.isServing(), 'the broker serves again');
    t.regex(await findEvidence(t, here), /^report: /);
    for (let task = 0; task < 12; task += 1)
      t.is(readFileSync(join(folder, 'results', String(task)), 'utf8'), 'right\n');
  },
);

test.serial('the path of an output that leads out of its folder is refused before a check runs on it', async (t) => {
  const here = await world(t);
  const { grid, folder } = here;
  await attach(t, here, {
    answer: (end) =>
      bringing(end, [{ path: '../../../../../../../../../..' + join(here.victim, 'forged'), text: 'forged' }]),
  });
  const outputs = [{ root: Root.PLAYPEN, path: 'out', localPath: '', condition: '' }];
  const jobId = await grid.client.submit(
    [taskGroup('sleep 0.1; echo right > out', 12, { outputs, check: 'cat out' })],
    { homeDirectory: folder, verification: { by: { $case: 'vote', value: 1 } } },
  );
  await assertFinished(t, here, jobId);
  t.regex(await findEvidence(t, here), /^report: output\.path is /);
});

test.serial('the files of a folder do not follow a link that is at home out of it', async (t) => {
  const here = await world(t);
  const { grid, folder, victim } = here;
  mkdirSync(join(folder, 'results'));
  symlinkSync(victim, join(folder, 'results/shared'));
  await attach(t, here, {
    facts: { attributes: { group: 'evil' } },
    answer: (end) => bringing(end, [{ path: 'shared/key', text: 'forged' }]),
  });
  const outputs = [{ root: Root.PLAYPEN, path: 'out', localPath: join(folder, 'results'), condition: '' }];
  const jobId = await grid.client.submit(
    [taskGroup('mkdir out; echo right > out/mine', 1, { outputs, requirements: 'group == evil' })],
    { failuresMax: 1, sharedPlaces: true },
  );
  t.is((await grid.client.waitEnded(jobId)).status, JobStatus.FAILED);
  t.regex(
    await grid.client.explain({ $case: 'task', value: { jobId, taskIndex: 0 } }),
    /results\/shared is a link, and no link is followed there/,
  );
  t.is(readFileSync(join(victim, 'key'), 'utf8'), 'secret');
});

test.serial(
  "a machine reports nothing for another machine's replica, nor impossible facts, and its provider's other machines go on",
  async (t) => {
    const here = await world(t);
    const { grid, folder } = here;
    const impossible: Partial<ReplicaEnded>[] = [
      { endedUnixMs: 2 ** 52 },
      { detail: { code: '', parameters: {}, text: 'x'.repeat(1_000_000) } },
      { reason: 'no\u001b[2J code' },
      { outcome: 77 as never },
    ];
    let at = 0;
    const hostile = await attach(t, here, { answer: (end) => ({ ...end, ...impossible[at++ % impossible.length] }) });
    const outputs = [{ root: Root.PLAYPEN, path: 'out', localPath: join(folder, 'results/{}'), condition: '' }];
    const jobId = await grid.client.submit([
      taskGroup('sleep 0.1; echo right > out', 12, { outputs, requirements: 'group == good' }),
    ]);
    for (let replicaId = 1; replicaId <= 14; replicaId += 1)
      hostile.report({ ended: [bringing({ ...aSuccess(replicaId) }, [{ text: 'forged' }])] });
    await assertFinished(t, here, jobId);
    await assertFinished(t, here, await grid.client.submit([taskGroup('sleep 0.1', 12)]));
    t.regex(await findEvidence(t, here), /^report: /);
    for (let task = 0; task < 12; task += 1)
      t.is(readFileSync(join(folder, 'results', String(task)), 'utf8'), 'right\n');
    t.false(existsSync(join(folder, 'forged')));
  },
);

function aSuccess(replicaId: number): ReplicaEnded {
  return {
    replicaId,
    outcome: 1,
    exitStatus: 0,
    startedUnixMs: 1,
    endedUnixMs: 2,
    reason: '',
    detail: undefined,
    standardOutput: Buffer.alloc(0),
    standardError: Buffer.alloc(0),
    outputTruncated: false,
    outputs: [],
  };
}

test.serial('a machine that claims more processors than there are is not taken', async (t) => {
  const { grid } = await world(t);
  const hostile = await HostileMachine.join(grid, 'evil', { facts: { processors: 4_000_000_000 } });
  t.teardown(() => {
    hostile.close();
  });
  await until(() => hostile.refusals.length > 0, 'the machine is refused');
  t.deepEqual(hostile.refusals, ['MUT_BAD_REQUEST']);
  t.is((await grid.client.machines()).length, 1);
});

/** Bytes of all files that a broker keeps of what machines brought. */
function arrivedBytes({ home }: Grid): number {
  const folder = join(home, 'broker/arrivals');
  return readdirSync(folder).reduce(
    (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

test.serial(
  'outputs that a machine pushes and never reports end at its quota, and the machine receives the reason',
  async (t) => {
    const grid = await Grid.start({ machines: [1], brokerArgs: ['--quota', 'machine-bytes=4M'] });
    t.teardown(() => grid.stop());
    const hostile = await HostileMachine.join(grid, 'evil', { answer: () => undefined });
    t.teardown(() => {
      hostile.close();
    });
    await grid.client.waitMachines(2);
    await grid.client.submit([taskGroup('sleep 100', 2)]);
    await until(() => hostile.started.length > 0, 'it is given a task');
    const refusals: MutiraoError[] = [];
    for (let count = 0; count < 12; count += 1) {
      const data = Buffer.alloc(mebibyte, count);
      const content = { sha256: createHash('sha256').update(data).digest(), sizeBytes: data.length };
      await hostile.push(`flood-${count}`, content, data).catch((error: unknown) => {
        refusals.push(error as MutiraoError);
      });
    }
    t.is(arrivedBytes(grid), 4 * mebibyte);
    t.is(refusals.length, 8);
    for (const { code, message } of refusals) {
      t.is(code, 'MUT_MACHINE_QUOTA');
      t.regex(message, /the quota "machine-bytes" .* is 4 MiB; 4 MiB are used, and 1 MiB more are requested/);
    }
    const { uses } = await callUnary(grid.client.raw, 'getQuota', { userId: '' }, { deadlineMs: 60_000 });
    t.like(
      uses.find(({ kind }) => kind === 'machine-bytes'),
      { used: 4 * mebibyte, allowed: 4 * mebibyte },
    );
  },
);

test.serial(
  'calls of a machine beyond its quota of calls per second are refused, and an honest machine next to it works',
  async (t) => {
    const grid = await Grid.start({
      machines: [{ processors: 1, args: ['--attribute', 'group=good'] }],
      providerArgs: ['--quota', 'machine-requests-per-second=5'],
    });
    t.teardown(() => grid.stop());
    const hostile = await HostileMachine.join(grid, 'evil', { answer: () => undefined });
    t.teardown(() => {
      hostile.close();
    });
    await grid.client.waitMachines(2);
    const refusals: string[] = [];
    const pulls = Array.from({ length: 100 }, (_, index) =>
      hostile.pull(`of-nobody-${index}`).catch((error: unknown) => {
        refusals.push(`${(error as MutiraoError).code} ${(error as MutiraoError).message}`);
      }),
    );
    await Promise.all(pulls);
    t.true(
      refusals.some((text) => text.startsWith('MUT_MACHINE_QUOTA') && text.includes('"machine-requests-per-second"')),
      refusals.join('\n'),
    );
    t.is(
      (await grid.client.waitEnded(await grid.client.submit([taskGroup('true', 1, { requirements: 'group == good' })])))
        .status,
      JobStatus.FINISHED,
    );
  },
);
