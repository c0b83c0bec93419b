// Whatever a provider, or a broker through it, says in any field, the agent lives: it refuses the message, or ends the
// replica that is named, or takes it and stays whole.
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { encodeBlobOffer, encodeStartReplicas } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import { AttachResponse } from '@mutirao/api/machine';
import {
  agentMachine,
  createAgentState,
  listHeldReplicas,
  noResult,
  type AgentCommand,
  type AgentInput,
  type AgentState,
} from '@mutirao/core/machines/agent';
import type { ReplicaStart, StartReplicas } from '@mutirao/core/messages';
import { aTemplate, hostileMessages } from '@mutirao/testkit';
import { nameSubmitter } from '../../src/agent.ts';
import { readFromProvider, type FromProvider } from '../../src/from-provider.ts';
import { shelveInputs } from '../../src/content-caches.ts';
import { getFolderName } from '../../src/storages.ts';
import { TaskRenderer } from '../../src/task-environment.ts';

type Message = NonNullable<AttachResponse['message']>;

const start = 1_785_000_000_000;
const content = { sha256: 'ab'.repeat(32), size: 300_000 };
const replica = (replicaId: number, parts: Partial<ReplicaStart> = {}): ReplicaStart => ({
  replicaId,
  taskIndex: replicaId,
  value: 'v',
  inputs: [],
  outputs: [],
  ...parts,
});
const gang = { gangId: 1, rank: 0, members: 2, secret: Buffer.alloc(32, 1) };
const workFolder = { path: '/home/ana', inode: '1', device: '1', fileSystem: 'ef53', bootId: 'b', isBesideHome: true };
const renderer = new TaskRenderer('/usr/bin:/bin');

interface Rig {
  readonly state: AgentState;
  step(...inputs: AgentInput[]): AgentCommand[];
}

/** An agent with a task that runs, one that waits for a content, and a member of a gang. */
function prepare(): Rig {
  const state = createAgentState({
    processors: 4,
    contentBytesMax: 10 ** 9,
    killGrace: 1000,
    endHold: { longest: 0, isForAll: false },
    startedDelay: 10,
    reportInterval: 50,
    unacknowledgedMax: 1000,
    unacknowledgedBytesMax: 10 ** 6,
    prefetchMax: 10,
  });
  let now = start;
  const step = (...inputs: AgentInput[]): AgentCommand[] => {
    const { commands } = agentMachine.step(state, inputs, (now += 1000));
    agentMachine.checkInvariants(state);
    return [...commands];
  };
  step(
    { kind: 'ProviderAttached' },
    { kind: 'ReplicasDispatched', batch: { template: aTemplate('true'), replicas: [replica(1), replica(2)] } },
  );
  step({ kind: 'ProcessEnded', replicaId: 2, result: noResult, verdict: undefined });
  step({
    kind: 'ReplicasDispatched',
    batch: {
      template: aTemplate('true'),
      replicas: [replica(3, { inputs: [{ root: 'playpen', path: 'in', content, mode: 0o644 }] })],
    },
  });
  step({ kind: 'ReplicasDispatched', batch: { template: aTemplate('true'), replicas: [replica(4, { gang })] } });
  step({ kind: 'MemberListening', held: { replicaId: 4, name: 'ana@a', addresses: ['a:1'] } });
  return { state, step };
}

function messages(): Message[] {
  const files = {
    inputs: [
      { root: 'playpen', path: 'a', content, mode: 0o644 },
      { root: 'storage', path: 'b', content, mode: 0o755 },
    ],
    outputs: [{ root: 'playpen', path: 'out', keep: true }],
  } as const;
  const template = aTemplate('echo {}', {
    environment: { A: 'b' },
    limits: { runTimeMax: 1, memoryMax: 2, outputMax: 3 },
    homeChallenge: 'c',
    dropProof: 'p',
    workFolder,
  });
  const offer = (source: Parameters<typeof encodeBlobOffer>[0]['source']): Message => ({
    $case: 'content',
    value: encodeBlobOffer({ content, source }),
  });
  return [
    { $case: 'start', value: encodeStartReplicas({ template, replicas: [replica(9, files), replica(10, { gang })] }) },
    { $case: 'cancel', value: { replicaIds: [1, 3, 4], onlyWaiting: false } },
    { $case: 'acknowledged', value: { sequence: 1 } },
    { $case: 'drain', value: { sinceUnixMs: start, reason: 'why', atOnce: false } as never },
    offer({ kind: 'inline', bytes: Buffer.from('x') }),
    offer({ kind: 'transfer', transferId: 't', offset: 7 }),
    offer({ kind: 'shared', path: '/home/ana/f', isLinkable: true, proof: 'p' }),
    offer({ kind: 'refused', reason: 'MUT_CONTENT_NOT_FOUND' }),
    {
      $case: 'startGang',
      value: {
        replicaId: 4,
        members: [0, 1].map((rank) => ({ rank, name: `m${rank}`, addresses: ['a:1'], processors: 1 })),
      },
    },
    { $case: 'served', value: { userId: 'eva', isOwner: false } },
    {
      $case: 'hello',
      value: {
        protocolVersion: 1,
        programVersion: '1',
        capabilities: [],
        speakerId: 'p',
        sentUnixMs: undefined,
        resourceId: undefined,
        instance: undefined,
        homeChallenge: undefined,
      } as never,
    },
  ];
}

/** Delivers a message to an agent as its link does; an error ends the stream. */
function receive(t: ExecutionContext, bytes: Buffer, what: string): 'refused' | 'taken' {
  let said;
  try {
    const { message } = AttachResponse.decode(bytes);
    if (message === undefined) return 'refused';
    said = readFromProvider(message);
  } catch (error) {
    if (
      !(error instanceof MutiraoError) &&
      !(error instanceof Error && error.constructor === Error) &&
      !(error instanceof RangeError)
    )
      t.fail(`${what}: ${String(error)}`);
    return 'refused';
  }
  try {
    obey(said, prepare());
    if (said.kind === 'batch') checkRendered(t, what, said.batch);
  } catch (error) {
    t.fail(`${what}: ${error instanceof Error ? error.stack : String(error)}`);
  }
  return 'taken';
}

function obey(said: FromProvider, { state, step }: Rig): void {
  if (said.kind === 'input') step(said.input);
  if (said.kind === 'batch')
    step({
      kind: 'ReplicasDispatched',
      batch: shelveInputs({
        ...said.batch,
        template: nameSubmitter(said.batch.template, { userId: 'ana', isOwner: true }),
      }),
    });
  if (said.kind === 'content') step({ kind: 'ContentArrived', contentKey: said.offer.content.sha256 });
  step({ kind: 'TimerFired' });
  for (const replicaId of listHeldReplicas(state))
    step({ kind: 'ProcessEnded', replicaId, result: noResult, verdict: undefined });
  step({ kind: 'ProviderLost' });
  step({ kind: 'ProviderAttached' });
}

/** What becomes a command line, a folder and a variable stays one. */
function checkRendered(t: ExecutionContext, what: string, { template, replicas }: StartReplicas): void {
  const storage = path.join('/s', getFolderName(template.userId));
  if (template.userId === '' || path.dirname(storage) !== '/s' || path.basename(storage).length > 255)
    t.fail(`${what}: the storage is ${storage}`);
  for (const one of replicas) {
    const rendered = renderer.render({ template, start: one, assignment: undefined }, { playpen: '/p', storage });
    if (/\0/.test(rendered.command + rendered.environment)) t.fail(`${what}: a NUL in a command line`);
  }
}

test('no field of any message of a provider ends the agent', (t) => {
  const counts = { refused: 0, taken: 0 };
  for (const message of messages()) {
    for (const { what, bytes } of hostileMessages(
      'mutirao.machine.v1.AttachResponse',
      Buffer.from(AttachResponse.encode({ message }).finish()),
    ))
      counts[receive(t, bytes, what)]++;
  }
  t.log(counts);
  t.true(counts.refused > 300 && counts.taken > 300, JSON.stringify(counts));
});
