// Whatever a user says in any field of a call, the broker answers or refuses it, stays whole, and comes back from its
// journal as it was.
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { BrokerServiceService, OnReservationEnd, type JobSpec, type TaskGroup } from '@mutirao/api/broker';
import { Root } from '@mutirao/api/common';
import {
  brokerMachine,
  createBrokerState,
  restore,
  snapshot,
  type BrokerChange,
  type BrokerCommand,
  type BrokerInput,
  type BrokerState,
} from '@mutirao/core/machines/broker';
import { MachineDriver } from '@mutirao/runtime/driver';
import { openJournal } from '@mutirao/runtime/journal';
import { aMachine, temporaryFolder, tryHostileCalls } from '@mutirao/testkit';
import { Blobs } from '../../src/contents/blobs.ts';
import { JobWatchers } from '../../src/events/job-watchers.ts';
import { changeCodec } from '../../src/journal/change-codec.ts';
import { JobSpecs } from '../../src/journal/job-specs.ts';
import { JournalRecords } from '../../src/journal/records.ts';
import type { BrokerDriver, BrokerParts } from '../../src/routes/broker-parts.ts';
import { brokerRoutes } from '../../src/routes/broker-service.ts';
import { FileHashes } from '../../src/staging/file-hashes.ts';
import { hashFile } from '../../src/staging/hash-file.ts';
import { HomeFiles } from '../../src/staging/home-files.ts';
import { OtherJobsPlaces } from '../../src/submission/other-jobs-places.ts';

const content = { sha256: Buffer.alloc(32, 1), sizeBytes: 3 };
const payload = {
  iss: 'm',
  sub: 'ana',
  aud: 'pool',
  nbf: 1,
  exp: 2,
  jti: '7.1',
  start_unix_ms: 1000,
  end_unix_ms: 9_000_000_000_000,
  amount: 2,
  units: '0-1',
};
const claim = ['{"alg":"EdDSA","kid":"k"}', JSON.stringify(payload), 'signature']
  .map((part) => Buffer.from(part).toString('base64url'))
  .join('.');
const group: TaskGroup = {
  values: { $case: 'range', value: { first: 0, count: 3, step: 1 } },
  command: 'echo {}',
  noOp: false,
  check: '',
  requirements: 'os == linux',
  expectedTimeMs: 5000,
  processors: 1,
  processorsMax: 2,
  alternatives: [
    {
      processors: 4,
      resources: { memoryBytes: 1024, gpuThousandths: 500, gpuKind: '', named: { a: 1 } },
      expectedTimeMs: 9,
    },
  ],
  inputs: [
    {
      source: { source: { $case: 'content', value: content } },
      root: Root.PLAYPEN,
      path: 'in',
      condition: 'os == linux',
    },
  ],
  outputs: [{ root: Root.PLAYPEN, path: 'out', localPath: '', condition: '' }],
};
const job: JobSpec = {
  label: 'sweep',
  groups: [group, { ...group, values: { $case: 'list', value: { values: ['a', 'b'] } } }],
  environment: { A: 'b' },
  limits: { runTimeMsMax: 5000, memoryBytesMax: 1 << 20, outputBytesMax: 1 << 20 },
  homeDirectory: '',
  processors: 1,
  gang: false,
  replicasMax: 2,
  failuresMax: 3,
  deadlineUnixMs: 1_900_000_000_000,
  edges: [],
  scheduler: 1,
  replicationCap: { cap: { $case: 'replicationBudgetPercent', value: 20 } },
  verification: { by: { $case: 'vote', value: 2 } },
  siteSelection: '',
};
const workflow: JobSpec = {
  ...job,
  scheduler: undefined,
  verification: { by: { $case: 'credibility', value: 0.5 } },
  edges: [{ from: 0, to: 3, dataBytes: 9 }],
};
const reserved: JobSpec = { ...job, reservation: { claim, after: OnReservationEnd.WAIT, own: undefined } };

interface Bench {
  readonly parts: BrokerParts;
  readonly driver: BrokerDriver;
}

async function prepare(t: ExecutionContext): Promise<Bench> {
  const home = temporaryFolder(t);
  let now = 1_785_000_000_000;
  const clock = { now: () => now++ };
  const journal = openJournal({ path: ':memory:', codec: changeCodec });
  const driver: BrokerDriver = new MachineDriver<BrokerState, BrokerInput, BrokerChange, BrokerCommand>({
    machine: brokerMachine,
    state: createBrokerState(),
    journal,
    clock,
    checkEvery: 1,
    timers: { start: () => undefined, cancel: () => undefined },
    perform: () => undefined,
    onCommitted: () => undefined,
    onFatal: (error) => {
      t.fail(error instanceof Error ? error.stack : String(error));
    },
  });
  const blobs = await Blobs.open({ folder: join(home, 'contents'), ownerId: 'eva', sizeMax: 1_000_000 });
  t.teardown(async () => {
    await driver.stop();
    journal.close();
  });
  const parts: BrokerParts = {
    driver,
    room: { demand: () => undefined, trouble: () => undefined },
    journal,
    records: new JournalRecords(journal),
    specs: new JobSpecs(journal),
    blobs,
    watchers: new JobWatchers(),
    clock,
    journalInstance: 'j',
    // A call that waits for a job gets its present status at once.
    timers: {
      start: (_delay, run) => {
        setImmediate(run);
        return run;
      },
      cancel: () => undefined,
    },
    homeFiles: new HomeFiles(new FileHashes({ hashFile })),
    ownerId: 'eva',
    forbiddenFolders: [join(home, 'own')],
    otherJobsPlaces: new OtherJobsPlaces(driver.state),
    workFolderRules: { home, hasKey: true, forbidden: [] },
    checks: { describe: () => [] },
    taskOutputs: { lookAt: () => Promise.resolve({ fault: undefined, gone: new Set<string>() }) },
    liveOutputs: { ask: () => ({ answer: Promise.resolve(undefined), drop: () => undefined }) },
    machineProcessorsOf: () => Promise.resolve(undefined),
    getTrouble: () => '',
    findQueue: () => Promise.resolve({ queue: undefined as never, age: 0 }),
  };
  for (const input of [
    { kind: 'ProviderAdded', replyTo: 0, providerId: 'lab', address: 'h:1' },
    { kind: 'ProviderConnected', providerId: 'lab' },
    { kind: 'MachineJoined', providerId: 'lab', facts: aMachine('lab/a', { processors: 4 }), heldReplicaIds: [] },
  ] as const)
    driver.deliver(input);
  return { parts, driver };
}

test('no field of any call of a user ends the broker or breaks what it knows', async (t) => {
  const { parts, driver } = await prepare(t);
  const handlers = brokerRoutes(parts, () => []);
  const wholes = {
    methods: BrokerServiceService,
    handlers,
    context: { userId: 'ana', deadline: 1 },
    checkWhole: () => undefined,
    fail: (what: string) => {
      t.fail(what);
    },
  };
  await tryHostileCalls({ ...wholes, requests: { uploadBlob: { data: Buffer.from('abc') } } });
  const of = { jobId: 1 };
  const counts = { taken: 0, refused: 0 };
  const requests: readonly Readonly<Record<string, unknown>>[] = [
    ...[job, workflow, reserved].map((spec) => ({
      submitJob: {
        job: { ...spec, groups: spec.groups.map((one) => ({ ...one, inputs: [] })) },
        clientJobId: '',
        resumesJobId: undefined,
      },
    })),
    { submitJob: { job, clientJobId: 'k', resumesJobId: 1 } },
    {
      getJob: { ...of, withoutSpec: false },
      listJobs: { pageSize: 10, beforeJobId: 0 },
      waitJob: of,
      watchJob: { ...of, afterSequence: 0, lastChanges: 5 },
      listTasks: { ...of, taskIndexes: [0, 1], status: 1, pageSize: 10, fromTaskIndex: 0 },
      getTaskOutput: { ...of, taskIndex: 0 },
      downloadBlob: { sha256: Buffer.alloc(32) },
      getOverview: {},
      listMachines: {},
      listTrust: {},
      listRequests: { includeEnded: true },
      listProviders: {},
      explain: { subject: { $case: 'task', value: { ...of, taskIndex: 0 } } },
      getLedger: of,
      cancelJob: { ...of, reason: 'why' },
      cancelTasks: { ...of, taskIndexes: [0], reason: 'why' },
      retryTasks: { ...of, taskIndexes: [0], currentInputs: false },
      addProvider: { providerId: 'other', address: '127.0.0.1:7000' },
      quarantineMachine: { machineId: 'lab/a', reason: 'why' },
      resetMachineTrust: { machineId: 'lab/a' },
      drainMachine: { machineId: 'lab/a', reason: 'why' },
      undrainMachine: { machineId: 'lab/a' },
      getProviderQueue: { providerId: 'lab' },
      getQuota: { userId: 'ana' },
    },
  ];
  for (const some of requests) {
    const { taken, refused } = await tryHostileCalls({ ...wholes, requests: some });
    counts.taken += taken;
    counts.refused += refused;
    brokerMachine.checkInvariants(restore(snapshot(driver.state)));
  }
  t.log(counts);
  t.true(counts.taken > 500 && counts.refused > 500, JSON.stringify(counts));
});
