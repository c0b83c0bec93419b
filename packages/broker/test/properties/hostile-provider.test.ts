// Whatever a provider, or a machine through it, says in any field, the broker lives: it refuses the message, or holds
// it against the machine, or takes it and stays whole.
import test, { type ExecutionContext } from 'ava';
import {
  encodeAllocationRequest,
  encodeMachineFacts,
  encodeReport,
  encodeResourceStatus,
  encodeStatus,
} from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import { ConnectResponse } from '@mutirao/api/provider';
import {
  brokerMachine,
  createBrokerState,
  restore,
  snapshot,
  type BrokerInput,
  type BrokerState,
} from '@mutirao/core/machines/broker';
import type { OutputContent } from '@mutirao/core/messages';
import { aGroup, aJob, aMachine, anEnd, hostileMessages } from '@mutirao/testkit';
import { SerialExecutor } from '../../src/concurrency/serial-executor.ts';
import { FromProvider } from '../../src/providers/from-provider.ts';

type Message = NonNullable<ConnectResponse['message']>;

const start = 1_785_000_000_000;
const output: OutputContent = {
  outputIndex: 0,
  path: 'a',
  content: { sha256: 'ab'.repeat(32), size: 3 },
  mode: 0o644,
  inline: undefined,
  transferId: 't1',
};
const name = { resourceId: 'r', reservationId: 7, revision: 1, userId: 'ana', mark: 'm' };

/** A broker with a bag and a gang at work on machines of one provider. */
function prepare(): { readonly state: BrokerState; step(...inputs: BrokerInput[]): void } {
  const state = createBrokerState();
  let now = start;
  const step = (...inputs: BrokerInput[]): void => {
    brokerMachine.step(state, inputs, (now += 1000));
    brokerMachine.checkInvariants(state);
  };
  step(
    { kind: 'ProviderAdded', replyTo: 0, providerId: 'lab', address: 'here' },
    { kind: 'ProviderConnected', providerId: 'lab', takesLeases: true, reportsResource: true },
  );
  for (const machineId of ['lab/a', 'lab/b'])
    step({
      kind: 'MachineJoined',
      providerId: 'lab',
      facts: aMachine(machineId, { processors: 4, takesGangs: true }),
      heldReplicaIds: [],
    });
  const outputs = [{ root: 'playpen', path: 'out', localPath: '/r/{}', condition: '' }] as const;
  step({
    kind: 'JobSubmitted',
    replyTo: 0,
    userId: 'ana',
    clientJobId: '',
    spec: aJob(4, { groups: [aGroup(4, { outputs: [...outputs] })], replicasMax: 1 }),
  });
  step({
    kind: 'JobSubmitted',
    replyTo: 0,
    userId: 'ana',
    clientJobId: '',
    spec: aJob(1, { processors: 4, gang: true, replicasMax: 1 }),
  });
  step({
    kind: 'JobSubmitted',
    replyTo: 0,
    userId: 'ana',
    clientJobId: '',
    spec: aJob(20, { scheduler: 'sufferage' }),
  });
  return { state, step };
}

function messages({ state }: { readonly state: BrokerState }): Message[] {
  const ids = [...(state.machines.get('lab/a')?.replicas.keys() ?? [])];
  const ended = ids.slice(0, 2).map((replicaId) => ({
    ...anEnd(replicaId, 'succeeded', { startedAt: start, endedAt: start + 5 }),
    outputs: [output],
    staging: { inputsAskedAt: start, inputsHereAt: start, inputsPlacingAt: start, commandEndedAt: start },
  }));
  const held = ids.slice(-1).map((replicaId) => ({ replicaId, name: 'ana@a', addresses: ['a:1'] }));
  const report = encodeReport({
    sequence: 1,
    started: ids.slice(2, 3).map((replicaId) => ({ replicaId, startedAt: start })),
    ended,
    gangMemberReady: held,
  });
  const facts = encodeMachineFacts(
    aMachine('lab/a', {
      processors: 4,
      attributes: { os: 'linux' },
      until: start + 1e7,
      identity: 'i',
      reservation: name,
      homeMarks: ['t'],
      reportDelay: 100,
    }),
  );
  const request = encodeAllocationRequest({
    providerId: 'lab',
    requestId: '1',
    managerRequestId: '9',
    width: 4,
    walltime: 1000,
    status: 'queued',
    seenAt: start,
    submittedAt: start,
    startedAt: 0,
    endedAt: 0,
    reasons: [{ code: 'released-idle', idleMs: 5 }],
    heuristic: 'finish',
    candidates: [{ width: 4, walltime: 1000, startsAt: start, throughput: 3, chosen: true }],
    reservation: { ...name, overCode: '', movedTo: { startsAt: start, endsAt: start + 9, amount: 4 } },
  });
  const known = {
    count: 1,
    widthSum: 4,
    workSum: 9,
    free: [
      { at: 0, processors: 4 },
      { at: 9, processors: 4 },
    ],
    lastEnd: 9,
    weightedEnds: 9,
    turnarounds: 9,
    weightedTurnarounds: 9,
    workedTurnarounds: 9,
    walltimes: 9,
  };
  const content = { sha256: Buffer.alloc(32, 1), sizeBytes: 9 };
  const fromMachine = (message: Extract<Message, { $case: 'fromMachine' }>['value']['message']): Message => ({
    $case: 'fromMachine',
    value: { machineId: 'lab/a', message },
  });
  return [
    fromMachine({ $case: 'report', value: report }),
    { $case: 'joined', value: { facts, heldReplicaIds: ids } },
    { $case: 'requests', value: { requests: [request] } },
    {
      $case: 'resource',
      value: encodeResourceStatus({
        processors: 8,
        widthMax: 6,
        isTimeShared: false,
        isDraining: false,
        queue: { age: 5, trouble: '', known, ownWork: 3 },
      }),
    },
    {
      $case: 'statuses',
      value: {
        statuses: [
          encodeStatus({
            reservation: name,
            startsAt: start,
            endsAt: start + 9,
            amount: 4,
            ahead: { status: 'held', heldCount: 4, askedCount: 0, askAt: 0, expectedAt: 0, chance: 0.5, reasons: [] },
          }),
        ],
      },
    },
    { $case: 'draining', value: { sinceUnixMs: start, reason: 'why', atOnce: false } },
    { $case: 'lost', value: { machineId: 'lab/a', reason: 'MUT_MACHINE_LOST' } },
    { $case: 'leaseConfirmed', value: { sequence: 1 } },
    fromMachine({
      $case: 'blobRequest',
      value: { contents: [content], offsets: [3], overWire: false, sharedTokens: [], challenge: '', homeProofs: [] },
    }),
    fromMachine({ $case: 'blobUpload', value: { transferId: 't', content, isKept: false } }),
  ];
}

/** Delivers a message to a broker; an error ends the stream that it came on. */
async function handle(t: ExecutionContext, bytes: Buffer, what: string): Promise<'refused' | 'taken'> {
  const inputs: BrokerInput[] = [];
  const serialExecutor = new SerialExecutor<string>((error) => {
    t.fail(String(error));
  });
  const from = new FromProvider(
    'lab',
    {
      deliver: (input) => inputs.push(input),
      describeMachine: (facts) => facts,
      countPrinted: (_machineId, report) => ({ report, release: () => undefined }),
      keepOutputs: (_machineId, report) => Promise.resolve(report),
      fetchPushed: () => undefined,
      takeOutput: () => undefined,
      serveWanted: () => undefined,
      onHeldBytes: () => undefined,
    },
    serialExecutor,
  );
  try {
    const { message } = ConnectResponse.decode(bytes);
    if (message === undefined) return 'refused';
    from.receive(message);
  } catch (error) {
    if (
      !(error instanceof MutiraoError) &&
      !(error instanceof Error && error.constructor === Error) &&
      !(error instanceof RangeError)
    )
      t.fail(`${what}: ${String(error)}`);
    return 'refused';
  }
  await serialExecutor.whenDone();
  const { state, step } = prepare();
  try {
    step(...inputs);
    step({ kind: 'TimerFired' });
    restore(snapshot(state));
  } catch (error) {
    t.fail(`${what}: ${error instanceof Error ? error.stack : String(error)}`);
  }
  return 'taken';
}

test('no field of any message of a provider ends the broker', async (t) => {
  const counts = { refused: 0, taken: 0 };
  for (const message of messages(prepare())) {
    for (const { what, bytes } of hostileMessages(
      'mutirao.provider.v1.ConnectResponse',
      Buffer.from(ConnectResponse.encode({ message }).finish()),
    ))
      counts[await handle(t, bytes, what)]++;
  }
  t.log(counts);
  t.true(counts.refused > 500 && counts.taken > 500, JSON.stringify(counts));
});
