import { fileURLToPath } from 'node:url';
import test from 'ava';
import { RequestStatus as ClusterRequestStatus } from '@mutirao/api/cluster';
import { ProvisioningState, Algorithm, Placement, ReservationStatus, ResourceKind } from '@mutirao/api/reservation';
import { EnrolledMachineStatus, MachineCredentialStatus, RequestStatus, QueueKnowledge } from '@mutirao/api/provider';
import { aSentence, aJobSummary, aJobSpec, aLedgerRow, aMachineRecord, aTask, runCommandLine } from '@mutirao/testkit';
import { entries } from '../../../src/commands/index.ts';
import { shapes, type Shape } from '../../../src/json/shapes.ts';

const request = {
  providerId: 'alpha',
  requestId: '3',
  managerRequestId: '12',
  widthProcessors: 4,
  walltimeMs: 600_000,
  status: RequestStatus.RUNNING,
  seenUnixMs: 0,
  submittedUnixMs: 1,
  startedUnixMs: 2,
  endedUnixMs: 0,
  reasons: [aSentence('because')],
  heuristic: 'static',
  candidates: [],
};
const queued = {
  requestId: '1',
  userId: 'ana',
  widthProcessors: 2,
  walltimeMs: 1000,
  status: ClusterRequestStatus.QUEUED,
  submittedUnixMs: 1,
  startsUnixMs: 0,
  endedUnixMs: 0,
  endReason: '',
  clientRequestId: '',
  reservationId: 0,
  rankedUnixMs: 0,
};
const evidence = {
  kind: 'outvoted',
  atUnixMs: 1,
  jobId: 1,
  taskIndex: 0,
  digest: 'aa',
  acceptedDigest: 'bb',
  against: ['lab/m2'],
  detail: { code: '', parameters: {}, text: 'so' },
};
const trust = {
  identity: 'h-1',
  machineId: 'lab/m1',
  passes: 3,
  credibility: 0.97,
  quarantinedUnixMs: 1,
  evidence: [evidence],
};
const answer =
  <T>(value: T) =>
  () =>
    Promise.resolve(value);
const quotas = answer({ userId: 'ana', uses: [{ kind: 'jobs', used: 1, allowed: 100 }] });
const broker = {
  getQuota: quotas,
  submitJob: answer({ jobId: 1, taskCount: 1, warnings: [] }),
  getJob: answer({ job: aJobSummary(), spec: aJobSpec() }),
  listJobs: answer({ jobs: [aJobSummary()] }),
  appendTasks: answer({ firstTaskIndex: 3, taskCount: 1, warnings: [] }),
  closeJob: () => Promise.resolve({ taskCount: 3 }),
  cancelJob: answer({}),
  cancelTasks: answer({ cancelledCount: 1 }),
  holdTasks: answer({ heldCount: 2 }),
  releaseTasks: answer({ releasedCount: 2 }),
  forgetJobs: answer({ jobIds: [1], hasMore: false }),
  updateJob: answer({}),
  retryTasks: answer({ retriedCount: 1 }),
  listTasks: answer({ tasks: [aTask()] }),
  listMachines: answer({ machines: [aMachineRecord()] }),
  getTaskOutput: answer({
    replicaId: 1,
    standardOutput: Buffer.from(''),
    standardError: Buffer.from(''),
    truncated: false,
    files: [],
  }),
  listTrust: answer({ records: [trust] }),
  quarantineMachine: answer({}),
  resetMachineTrust: answer({}),
  drainMachine: answer({}),
  undrainMachine: answer({}),
  listRequests: answer({ requests: [request] }),
  explain: answer({ summary: aSentence('so'), waiting: undefined, details: [] }),
  getLedger: answer({ rows: [aLedgerRow()] }),
  addProvider: answer({}),
  removeProvider: answer({}),
  listProviders: answer({
    providers: [
      {
        providerId: 'alpha',
        address: 'h:1',
        connected: true,
        lastError: '',
        machines: 1,
        drainingReason: '',
        runningTasks: 0,
      },
    ],
  }),
  async *watchJob() {
    yield {
      events: [
        {
          sequence: 1,
          atUnixMs: 1,
          type: 'job.accepted',
          jobId: 1,
          taskIndexes: [],
          machineId: '',
          reason: '',
          providerId: '',
          requestId: '',
        },
      ],
    };
  },
};
const kept = {
  machine: {
    name: 'pc',
    reach: { $case: 'ssh' as const, value: { destination: 'pc', options: [], program: [] } },
    processors: 0,
    folder: '',
    attributes: {},
    resources: [],
  },
  status: EnrolledMachineStatus.RUNNING,
  reason: '',
  sinceUnixMs: 1,
};
const queue = {
  providerId: 'alpha',
  knowledge: QueueKnowledge.COMPLETE,
  trouble: aSentence(''),
  atUnixMs: 9,
  readUnixMs: 8,
  processors: 8,
  steps: [{ fromUnixMs: 9, freeProcessors: 3 }],
  stepsUntilUnixMs: undefined,
  entries: [
    {
      managerRequestId: '7',
      requestId: 'q1',
      running: false,
      widthProcessors: 5,
      walltimeMs: 10,
      startsUnixMs: 0,
      forecast: false,
    },
  ],
  runningCount: 0,
  waitingCount: 1,
  reservations: [],
  decision: {
    atUnixMs: 8,
    heuristic: 'adaptive',
    reasons: [aSentence('so')],
    candidates: [{ widthProcessors: 5, walltimeMs: 10, startsUnixMs: 9, throughputTasksPerHour: 1.5, chosen: true }],
  },
};
const provider = {
  getQuota: quotas,
  getQueue: answer({ queue }),
  addMachines: answer({}),
  removeMachine: answer({}),
  listEnrolledMachines: answer({ machines: [kept] }),
  inviteMachine: answer({ invitation: 'invitation-x', expiresUnixMs: 1, address: 'h:1', authority: 'MII' }),
  listMachineCredentials: answer({
    credentials: [{ name: 'pc', status: MachineCredentialStatus.JOINED, sinceUnixMs: 1, expiresUnixMs: undefined }],
  }),
  listRequests: answer({ requests: [] }),
  drain: answer({}),
  undrain: answer({}),
  switchHeuristic: answer({ heuristic: 'adaptive', defaultTaskTimeMs: 1000 }),
  getResource: answer({
    providerId: 'alpha',
    resourceKind: 'cluster',
    processors: 8,
    requestsMax: 4,
    walltimeMsMax: 1,
    widthProcessorsMax: 8,
    walltimeGranularityMs: 1,
    heuristic: 'static',
    defaultTaskTimeMs: 600_000,
    heuristicSwitched: false,
    queuedRequests: 0,
    machines: 0,
    draining: false,
    drainingReason: '',
    reasons: [],
    leases: [],
    spoolTrouble: '',
    queueTrouble: undefined,
  }),
};
const cluster = {
  allocate: answer({
    requestId: '1',
    walltimeGain: { walltimeMs: 1, aheadCount: 2, tighterAheadCount: 1, expectedWaitMs: 9, tighterExpectedWaitMs: 8 },
  }),
  getScores: answer({
    ordersQueue: true,
    weight: 1440,
    leadMsMax: 9,
    scores: [{ userId: 'ana', score: 70, countedCount: 1, precisionMean: 1 }],
  }),
  release: answer({}),
  getQueue: answer({
    atUnixMs: 1,
    processorsFree: 1,
    requests: [queued],
    reservations: [
      { reservationId: 1, userId: 'ana', processors: 4, processorsUsed: 0, startUnixMs: 1, endUnixMs: 2, lateMs: 0 },
    ],
    ranking: undefined,
    nodes: [
      {
        name: 'n1',
        processors: 8,
        processorsFree: 1,
        memoryBytes: 9,
        memoryBytesFree: 3,
        gpus: [{ gpuId: '0', kind: 'a100', isFree: true }],
        isAway: false,
      },
    ],
  }),
  getLimits: answer({
    processors: 8,
    requestsMax: 4,
    walltimeMsMax: 1,
    widthProcessorsMax: 8,
    walltimeGranularityMs: 1,
    nodes: [],
  }),
};

const reservation = {
  reservationId: 1,
  resourceId: 'net',
  userId: 'ana',
  status: ReservationStatus.CONFIRMED,
  startUnixMs: 1,
  endUnixMs: 2,
  amount: 4,
  units: [],
  earliestStartUnixMs: 1,
  latestEndUnixMs: undefined,
  holdUntilUnixMs: 0,
  requestedUnixMs: 1,
  claimedUnixMs: 0,
  endedUnixMs: 0,
  revision: 1,
  reason: { code: '', parameters: {}, text: 'free' },
  clientRequestId: '',
  claim: 'a.b.c',
  together: undefined,
  provisioning: {
    status: ProvisioningState.QUEUED,
    heldUnits: 1,
    askedUnits: 3,
    askUnixMs: 0,
    expectedUnixMs: 1,
    chancePercent: 50,
    reasons: [],
  },
};
const reservable = {
  resourceId: 'net',
  ownerId: 'ana',
  resourceType: 'network',
  kind: ResourceKind.CAPACITY,
  total: 800,
  unit: 'B/s',
  failed: 0,
  failedUnits: [],
  reservationCount: 1,
  rules: {
    capPercent: 70,
    algorithm: Algorithm.SUVS_P,
    placement: Placement.FIRST_FIT,
    durationMsMax: 0,
    reservationsPerUserMax: 0,
    amountPerUserMax: 0,
    movesMax: 16,
    unclaimedMsMax: 0,
  },
  maintenances: [{ maintenanceId: 'paint', startUnixMs: 1, endUnixMs: 2, amount: 1, units: [], reason: 'paint' }],
};
const outcome = { $case: 'reservation' as const, value: reservation };
const reservations = {
  getQuota: quotas,
  requestReservation: answer({ outcome, movedCount: 0 }),
  renegotiateReservation: answer({ outcome }),
  getReservation: answer({ reservation }),
  confirmReservation: answer({ reservation }),
  prepareReservation: answer({ reservation }),
  cancelReservation: answer({ reservation }),
  claimReservation: answer({ reservation }),
  releaseReservation: answer({ reservation }),
  listResources: answer({ resources: [reservable] }),
  listReservations: answer({ reservations: [reservation], nextBeforeReservationId: 0 }),
  verifyReservation: answer({ valid: true, code: '', message: '', reservation, presentClaim: '' }),
  getCalendar: answer({
    resource: reservable,
    fromUnixMs: 0,
    untilUnixMs: 9,
    slots: [{ startUnixMs: 0, endUnixMs: 9, used: 4 }],
    truncated: false,
  }),
};
const at = ['--manager', 'h:1'];

const log = fileURLToPath(new URL('../../../../core/test/fixtures/backfilling-40.swf', import.meta.url));
const trace = fileURLToPath(new URL('../../../../sim/test/fixtures/traces/agent.jsonl', import.meta.url));

const exampleFile = (name: string): string =>
  fileURLToPath(new URL(`../../../../../examples/workflow/${name}`, import.meta.url));

/** A command line for each command that needs more than its words. */
const rests: Readonly<Record<string, readonly string[]>> = {
  'job submit': ['--', 'true'],
  'job cancel': ['1'],
  'job append': ['1', '--', 'echo'],
  'job close': ['1'],
  'job hold': ['1'],
  'job release': ['1'],
  'job update': ['1', '--priority', '5'],
  'job forget': ['1'],
  'job retry': ['1'],
  'task output': ['1'],
  'provider show': ['alpha'],
  'provider queue': ['alpha'],
  'provider add': ['alpha', 'h:1'],
  'provider remove': ['alpha'],
  'provider drain': ['alpha'],
  'provider undrain': ['alpha'],
  'provider heuristic': ['alpha', 'adaptive'],
  'cluster submit': ['--cluster', 'h:1', '--', 'true'],
  'cluster queue': ['--cluster', 'h:1'],
  'cluster cancel': ['--cluster', 'h:1', '1'],
  'cluster score': ['--cluster', 'h:1'],
  'machine add': ['--ssh', 'pc', '--provider', 'alpha'],
  'machine remove': ['alpha/pc'],
  'machine enrolled': ['--provider', 'alpha'],
  'machine invite': ['alpha/pc'],
  'machine credentials': ['--provider', 'alpha'],
  'machine quarantine': ['lab/m1'],
  'machine show': ['lab/m1'],
  'machine reset-trust': ['lab/m1'],
  'machine drain': ['lab/m1'],
  'machine undrain': ['lab/m1'],
  'explain task': ['1', '0'],
  'explain machine': ['lab/m1'],
  'explain request': ['alpha/3'],
  'explain reservation': [...at, '1'],
  canceljob: ['1'],
  waitforjob: ['1'],
  'sim trace': [log],
  'sim job': ['--trace', log, '--heuristic', 'static', '--tasks', '2', '--mean', '5', '--runs', '2'],
  'sim swarm': ['--seeds', '2'],
  'workflow show': [exampleFile('blur.yaml')],
  'workflow convert': [exampleFile('blur.yaml'), '--to', 'dot'],
  'sim replay': [trace],
  'sim schedule': ['--workflow', exampleFile('blur.yaml'), '--platform', exampleFile('processors.conf')],
  'reservation request': [...at, '--resource', 'net', '--share', '30%', '--for', '2h'],
  'reservation renegotiate': [...at, '1', '--for', '1h'],
  'reservation list': at,
  'reservation co-allocate': [...at, 'net=1', 'cpu=2', '--for', '1h'],
  'reservation show': [...at, '1'],
  'reservation confirm': [...at, '1'],
  'reservation cancel': [...at, '1'],
  'reservation claim': [...at, '1'],
  'reservation release': [...at, '1'],
  'reservation verify': [...at, 'a.b.c'],
  'reservation calendar': at,
  'reservation resource': ['list', ...at],
};

/**
 * Those that need files or processes of their own; test/cli and the tests of their commands run them, and compare what
 * they print.
 */
const elsewhere = new Set([
  'up',
  'down',
  'web',
  'job report',
  'job outputs',
  'addjob',
  'init',
  'backup',
  'restore',
  'identity show',
  'identity issue',
  'identity revoke',
  'sim study',
  'sim study-chunk',
  'site add',
  'site connect',
  'site list',
  'site remove',
  'site show',
]);

for (const entry of entries) {
  const words = entry.path.join(' ');
  const { json } = entry;
  if (json === undefined || elsewhere.has(words)) continue;
  test(`"${words} --json" prints exactly what is documented`, async (t) => {
    const rest = rests[words] ?? [];
    const { status, out, err } = await runCommandLine([...entry.path, '--json', ...rest], {
      broker,
      provider,
      cluster,
      reservations,
    });
    t.is(status, 0, err);
    const printed: unknown = JSON.parse(out);
    const documents = json.form === 'array' ? (printed as unknown[]) : [printed];
    t.true(documents.length > 0);
    for (const document of documents) checkShape(t, json.shape, document);
  });
}

/** Compares the fields of a document, and of those within it that have a shape of their own. */
function checkShape(
  t: { deepEqual(actual: unknown, expected: unknown, message?: string): boolean },
  name: string,
  document: unknown,
): void {
  const shape = (shapes as Readonly<Record<string, Shape>>)[name] ?? {};
  const fields = document as Record<string, unknown>;
  t.deepEqual(Object.keys(fields).sort(), Object.keys(shape).sort(), name);
  for (const [field, [type]] of Object.entries(shape)) {
    const inner = type.replace(' or null', '').split(' ').at(-1) ?? '';
    const value = fields[field];
    if (!(inner in shapes) || value === null) continue;
    for (const one of Array.isArray(value) ? value : [value]) checkShape(t, inner, one);
  }
}
