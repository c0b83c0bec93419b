import test from 'ava';
import { MutiraoError } from '@mutirao/api/errors';
import { QueueKnowledge, RequestStatus, type AllocationRequest, type ProviderQueue } from '@mutirao/api/provider';
import { aSentence, aJobSummary, aLedgerRow, aMachineRecord, runCommandLine } from '@mutirao/testkit';

const providers = [
  {
    providerId: 'alpha',
    address: '127.0.0.1:4001',
    connected: true,
    lastError: '',
    machines: 2,
    drainingReason: '',
    runningTasks: 0,
  },
  {
    providerId: 'lab',
    address: '127.0.0.1:4002',
    connected: false,
    lastError: 'refused',
    machines: 0,
    drainingReason: '',
    runningTasks: 0,
  },
];
const request: AllocationRequest = {
  providerId: 'alpha',
  requestId: '3',
  managerRequestId: '12',
  widthProcessors: 4,
  walltimeMs: 600_000,
  status: RequestStatus.RUNNING,
  seenUnixMs: 1_002_000,
  submittedUnixMs: 1_000_000,
  startedUnixMs: 1_001_000,
  endedUnixMs: 0,
  reasons: [aSentence('40 tasks wait'), aSentence('second')],
  heuristic: 'static',
  candidates: [],
};
const broker = {
  listJobs: () => Promise.resolve({ jobs: [aJobSummary()] }),
  listProviders: () => Promise.resolve({ providers }),
  listMachines: () => Promise.resolve({ machines: [aMachineRecord()] }),
  listRequests: () => Promise.resolve({ requests: [request] }),
  getLedger: () =>
    Promise.resolve({
      rows: [aLedgerRow(), aLedgerRow({ providerId: 'lab', requestId: '', requestedProcessorMs: 0, ended: false })],
    }),
};

test('machines are listed with what they do and when they leave', async (t) => {
  t.is(
    (await runCommandLine(['machine', 'list'], { broker, now: () => 1_000_000 })).out,
    [
      'MACHINE    STATUS  PROCESSORS  RUNNING  WAITING  FINISHED  FAILED  LEAVES IN  CREDIBILITY  ATTRIBUTES',
      'alpha/1.0  idle             2        0        0         5       1      1m00s       0.9080  os=linux',
      '',
    ].join('\n'),
  );
});

test('a broker that reports no credibility is of an earlier release', async (t) => {
  const { credibility: _, ...earlier } = aMachineRecord();
  const reported = { listMachines: () => Promise.resolve({ machines: [earlier] }) };
  t.regex((await runCommandLine(['machine', 'list'], { broker: reported })).out, /^alpha\/1\.0 .* -  os=linux$/m);
  t.like(JSON.parse((await runCommandLine(['machine', 'list', '--json'], { broker: reported })).out), [
    { credibility: null },
  ]);
});

test('providers are listed with the last error of those that are away', async (t) => {
  t.is(
    (await runCommandLine(['provider', 'list'], { broker })).out,
    [
      'PROVIDER  ADDRESS         CONNECTED  MACHINES  HEURISTIC  NOTE',
      'alpha     127.0.0.1:4001  yes               2',
      'lab       127.0.0.1:4002  no                0             refused',
      '',
    ].join('\n'),
  );
});

test('requests are listed with their deciding reason', async (t) => {
  const { out } = await runCommandLine(['request', 'list'], { broker, now: () => 1_011_000 });
  t.regex(
    out,
    /^REQUEST +STATUS +WIDTH +WALLTIME +SUBMITTED +WAITED +RUN TIME +REASON\nalpha\/3 +running +4 +10m00s +\d\d:\d\d:\d\d +1\.0s +10s +40 tasks wait\n$/,
  );
});

test('a request that we withdrew is listed with why, not with the answer of the manager', async (t) => {
  const withdrawn = { code: 'withdrawn-by-manager', parameters: {}, text: 'The manager has withdrawn it.' };
  for (const [reasons, reason] of [
    [[aSentence('40 tasks wait'), aSentence('Released: no demand'), withdrawn], 'Released: no demand'],
    [[withdrawn], 'The manager has withdrawn it.'],
  ] as const) {
    const listRequests = () =>
      Promise.resolve({ requests: [{ ...request, endedUnixMs: 1_005_000, reasons: [...reasons] }] });
    const { out } = await runCommandLine(['request', 'list', '--all'], { broker: { ...broker, listRequests } });
    t.true(out.trimEnd().endsWith(`  ${reason}`), out);
  }
});

test('the ledger shows that each row adds up, and the sums', async (t) => {
  t.is(
    (await runCommandLine(['ledger'], { broker })).out,
    [
      'ALLOCATION  REQUESTED   HELD  =   USED  LOSERS  KILLED  IDLE  USED %',
      'alpha/1         480.0  100.0  =   70.0    10.0     5.0  15.0    70.0',
      'lab                 -  100.0  =   70.0    10.0     5.0  15.0    70.0  still held',
      'total           480.0  200.0  =  140.0    20.0    10.0  30.0    70.0',
      '',
      'Processor-seconds. Held = used + losers + killed + idle, in every row.',
      '',
    ].join('\n'),
  );
});

test("the ledger of a job leaves out what is nobody's share", async (t) => {
  const getLedger = () =>
    Promise.resolve({ rows: [aLedgerRow({ requestedProcessorMs: 0, heldProcessorMs: 85_000, idleProcessorMs: 0 })] });
  const { out } = await runCommandLine(['ledger', '1'], { broker: { ...broker, getLedger } });
  t.regex(out, /^ALLOCATION +HELD +=  USED  LOSERS  KILLED  USED %\nalpha\/1 +85\.0 +=  70\.0 +10\.0 +5\.0 +82\.4\n/);
  t.regex(out, /idle time belongs to no job/);
});

test('a row of the ledger that does not add up is marked, not hidden', async (t) => {
  const getLedger = () => Promise.resolve({ rows: [aLedgerRow({ idleProcessorMs: 1 })] });
  const { out } = await runCommandLine(['ledger'], { broker: { getLedger } });
  t.regex(out, /alpha\/1 +480\.0 +100\.0 +≠/);
  t.regex(out, /do not add up: a bug, report it/);
});

test('status shows jobs, providers and machines', async (t) => {
  const { out } = await runCommandLine(['status'], { broker });
  t.regex(out, /poster\n\nPROVIDER .*\n\n1 machine with 2 processors, 0 replicas running\.\n$/s);
});

test('an explanation is one sentence and its details', async (t) => {
  const asked: unknown[] = [];
  const explain = ({ subject }: { subject: unknown }) => {
    asked.push(subject);
    return Promise.resolve({
      summary: aSentence('It waits.'),
      waiting: undefined,
      details: [aSentence('No machine has gpu.')],
    });
  };
  const fakes = { broker: { ...broker, explain } };
  t.is((await runCommandLine(['explain', 'task', 'last', '4'], fakes)).out, 'It waits.\n  - No machine has gpu.\n');
  await runCommandLine(['explain', 'job', '1'], fakes);
  await runCommandLine(['explain', 'request', 'alpha/3'], fakes);
  const json = await runCommandLine(['explain', 'machine', 'lab/m1', '--json'], fakes);
  t.deepEqual(JSON.parse(json.out), {
    summary: { code: '', parameters: {}, text: 'It waits.' },
    waiting: null,
    details: [{ code: '', parameters: {}, text: 'No machine has gpu.' }],
  });
  t.deepEqual(asked, [
    { $case: 'task', value: { jobId: 1, taskIndex: 4 } },
    { $case: 'jobId', value: 1 },
    { $case: 'request', value: 'alpha/3' },
    { $case: 'machineId', value: 'lab/m1' },
  ]);
});

test('a provider is found by its name at the broker and asked itself', async (t) => {
  const drained: unknown[] = [];
  const provider = {
    drain: (asked: unknown) => Promise.resolve(drained.push(asked)),
    undrain: () => Promise.resolve(drained.push('undrained')),
  };
  t.is((await runCommandLine(['provider', 'drain', 'alpha', '--reason', 'repairs'], { broker, provider })).status, 0);
  await runCommandLine(['provider', 'drain', 'alpha', '--now'], { broker, provider });
  t.regex(
    (await runCommandLine(['provider', 'undrain', 'alpha'], { broker, provider })).out,
    /^Provider alpha takes work\.\n$/,
  );
  t.deepEqual(drained, [{ reason: 'repairs', atOnce: false }, { reason: '', atOnce: true }, 'undrained']);
  t.is(
    (await runCommandLine(['provider', 'drain', 'beta'], { broker, provider })).status,
    2,
    'of an unknown provider it is an error',
  );
  const unknown = await runCommandLine(['provider', 'show', 'beta'], { broker, provider });
  t.is(unknown.status, 2);
  t.regex(unknown.err, /no provider is named "beta"; expected one of alpha, lab/);
});

test('lists and descriptions of a provider say that it is draining, since when and what still runs', async (t) => {
  const draining = { drainingSinceUnixMs: 1_000_000, drainingReason: 'repairs', runningTasks: 3 };
  const busy = {
    listProviders: () =>
      Promise.resolve({
        providers: [{ providerId: 'alpha', address: 'h:1', connected: true, lastError: '', machines: 2, ...draining }],
      }),
  };
  const provider = {
    getResource: () =>
      Promise.resolve({ ...resource, draining: true, drainingSinceUnixMs: 1_000_000, drainingReason: 'repairs' }),
  };
  const said = /draining \(since .*, 3 tasks still running\): repairs/;
  t.regex((await runCommandLine(['provider', 'list'], { broker: busy, provider })).out, said);
  t.regex((await runCommandLine(['provider', 'show', 'alpha'], { broker: busy, provider })).out, said);
});

const resource = {
  providerId: 'alpha',
  resourceKind: 'cluster',
  processors: 8,
  requestsMax: 4,
  walltimeMsMax: 1,
  widthProcessorsMax: 8,
  walltimeGranularityMs: 1,
  nodes: [],
  heuristic: 'mixed',
  defaultTaskTimeMs: 600_000,
  heuristicSwitched: true,
  queuedRequests: 0,
  machines: 0,
  draining: false,
  drainingReason: '',
  reasons: [],
  leases: [],
  spoolTrouble: '',
  queueTrouble: undefined,
};

test('the heuristic of a running provider is shown, and switched with its default task time', async (t) => {
  const asked: unknown[] = [];
  const provider = {
    getResource: () => Promise.resolve(resource),
    switchHeuristic: (spec: { heuristic: string; defaultTaskTimeMs: number | undefined }) => {
      asked.push(spec);
      return Promise.resolve({ heuristic: 'adaptive', defaultTaskTimeMs: spec.defaultTaskTimeMs ?? 600_000 });
    },
  };
  const run = (...rest: string[]): ReturnType<typeof runCommandLine> =>
    runCommandLine(['provider', 'heuristic', 'alpha', ...rest], { broker, provider });
  t.is((await run()).out, 'Provider alpha decides by mixed; it assumes 10m00s per task until one has finished.\n');
  t.deepEqual(asked, []);
  t.regex(
    (await run('adaptive')).out,
    /^Provider alpha decides by adaptive from now on; it assumes 10m00s per task until one has finished\. Its present requests stay\.\n$/,
  );
  t.regex((await run('--default-task-time', '90s')).out, /from now on; it assumes 1m30s per task/);
  t.deepEqual(asked, [
    { heuristic: 'adaptive', defaultTaskTimeMs: undefined },
    { heuristic: '', defaultTaskTimeMs: 90_000 },
  ]);
  t.is((await run('--default-task-time', 'soon')).status, 2);
  t.regex(
    (await runCommandLine(['provider', 'show', 'alpha'], { broker, provider })).out,
    /heuristic +mixed, switched to while it ran; it assumes 10m00s per task/,
  );
});

test('the list of providers shows the heuristic of those that answer, and all the rest of those that do not', async (t) => {
  const answering = await runCommandLine(['provider', 'list'], {
    broker,
    provider: { getResource: () => Promise.resolve(resource) },
  });
  t.regex(answering.out, /HEURISTIC[^]*alpha .* mixed/);
  t.regex((await runCommandLine(['provider', 'list'], { broker })).out, /alpha /);
  const machines = { getResource: () => Promise.resolve({ ...resource, resourceKind: 'machines' }) };
  t.notRegex((await runCommandLine(['provider', 'list'], { broker, provider: machines })).out, /mixed/);
});

test('the queue of a provider is shown as its heuristic sees it, and what is not known is said', async (t) => {
  const queue: ProviderQueue = {
    providerId: 'alpha',
    knowledge: QueueKnowledge.COMPLETE,
    trouble: undefined,
    atUnixMs: 1_000_000,
    readUnixMs: 996_000,
    processors: 8,
    runningCount: 2,
    waitingCount: 1,
    reservations: [],
    stepsUntilUnixMs: undefined,
    steps: [
      { fromUnixMs: 1_000_000, freeProcessors: 3 },
      { fromUnixMs: 1_060_000, freeProcessors: 8 },
    ],
    entries: [
      {
        managerRequestId: '7',
        requestId: 'q1',
        running: true,
        widthProcessors: 2,
        walltimeMs: 60_000,
        startsUnixMs: 990_000,
        forecast: false,
      },
      {
        managerRequestId: '9',
        requestId: 'q2',
        running: false,
        widthProcessors: 8,
        walltimeMs: 60_000,
        startsUnixMs: 1_060_000,
        forecast: true,
      },
      {
        managerRequestId: '5',
        requestId: '',
        running: true,
        widthProcessors: 3,
        walltimeMs: 60_000,
        startsUnixMs: 990_000,
        forecast: false,
      },
    ],
    decision: {
      atUnixMs: 970_000,
      heuristic: 'adaptive',
      reasons: [aSentence('so')],
      candidates: [
        {
          widthProcessors: 8,
          walltimeMs: 60_000,
          startsUnixMs: 1_060_000,
          throughputTasksPerHour: 12.34,
          chosen: true,
        },
      ],
    },
  };
  const show = async (shown: ProviderQueue): Promise<string> =>
    (
      await runCommandLine(['provider', 'queue', 'h:1'], {
        provider: { getQueue: () => Promise.resolve({ queue: shown }) },
      })
    ).out;
  t.is(
    await show(queue),
    [
      'alpha: 8 processors, 2 requests running and 1 waiting; read 4.0s ago.',
      '',
      'FROM      FREE',
      'now          3',
      'in 1m00s     8',
      '',
      'REQUEST  MANAGER ID  STATUS   WIDTH  WALLTIME  STARTS',
      'q1       7           running      2     1m00s  -',
      'q2       9           queued       8     1m00s  in 1m00s by walltimes',
      '',
      'Options that adaptive compared last, 30s ago (* chosen):',
      '   WIDTH  WALLTIME  EXPECTED START  TASKS/H',
      '*      8     1m00s  in 1m00s           12.3',
      '',
    ].join('\n'),
  );
  t.is(
    await show({
      ...queue,
      knowledge: QueueKnowledge.NONE,
      trouble: aSentence('There is no queue.'),
      readUnixMs: 0,
      steps: [],
      entries: [],
      decision: undefined,
    }),
    'There is no queue.\n',
  );
});

test("an explanation that refers to a provider includes the provider's own reasons", async (t) => {
  const text = (value: string) => ({ value: { $case: 'text' as const, value } });
  const explain = () =>
    Promise.resolve({
      summary: aSentence('It waits.'),
      waiting: undefined,
      details: [
        { code: 'advise-provider-show', parameters: { provider_id: text('alpha') }, text: 'See alpha.' },
        { code: 'machine-too-small', parameters: { machine_id: text('alpha/1.0') }, text: 'alpha/1.0 is small.' },
      ],
    });
  const reasons = [aSentence('Tasks need 2 processors each.')];
  const provider = { getResource: () => Promise.resolve({ ...resource, reasons }) };
  const lines = 'It waits.\n  - See alpha.\n  - alpha/1.0 is small.\n';
  t.is(
    (await runCommandLine(['explain', 'job', '1'], { broker: { ...broker, explain }, provider })).out,
    `${lines}  - Provider alpha: Tasks need 2 processors each.\n`,
  );
  const away = { getResource: () => Promise.reject(new MutiraoError('MUT_UNREACHABLE', 'gone')) };
  t.is((await runCommandLine(['explain', 'job', '1'], { broker: { ...broker, explain }, provider: away })).out, lines);
});
