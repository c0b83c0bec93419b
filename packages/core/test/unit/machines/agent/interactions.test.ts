import test from 'ava';
import {
  agentMachine,
  createAgentState,
  listHeldReplicas,
  type AgentCommand,
  type AgentInput,
  type EndHold,
  type HeldReplica,
} from '@mutirao/core/machines/agent';
import type { MachineReport, TaskTemplate } from '@mutirao/core/messages';
import type { ResourceCapacity } from '@mutirao/core/resources';
import type { Cause } from '@mutirao/core/reasons';
import { checkInteractions } from '@mutirao/testkit';

const bytes = (count: number): Uint8Array => new Uint8Array(count);

function showReport({ sequence, started, ended, gangMemberReady = [] }: MachineReport): string {
  const parts = [
    ...gangMemberReady.map(({ replicaId, name }) => `r${replicaId} held as ${name}`),
    ...started.map(({ replicaId, startedAt }) => `r${replicaId} started at ${startedAt}`),
    ...ended.map(
      (end) =>
        `r${end.replicaId} ${end.outcome} ${end.reason}`.trimEnd() +
        (end.exitStatus === 0 ? '' : ` status ${end.exitStatus}`) +
        showStaging(end),
    ),
  ];
  return `report ${sequence}: ${parts.join(', ')}`;
}

/** When files were on their way, where anything was brought; the rest is 0. */
function showStaging({ staging }: MachineReport['ended'][number]): string {
  if (staging === undefined) return '';
  const times = Object.entries({
    asked: staging.inputsAskedAt,
    here: staging.inputsHereAt,
    placing: staging.inputsPlacingAt,
    command: staging.commandEndedAt,
  }).filter(([, at]) => at > 0);
  return ` (${times.map(([name, at]) => `${name} ${at}`).join(', ')})`;
}

function showAssignment({ assignment }: HeldReplica): string {
  if (assignment === undefined) return '';
  const { memory, devices, named } = assignment;
  const parts = [
    ...(memory > 0 ? [`${memory} B`] : []),
    ...devices.map(({ deviceIndex, share }) => `${share} of gpu ${deviceIndex}`),
    ...Object.entries(named).map(([name, amount]) => `${amount} ${name}`),
  ];
  return parts.length === 0 ? '' : ` with ${parts.join(', ')}`;
}

/** `[mem=BYTES] [gpus=THOUSANDTHS[:KIND]] [licence=N]` */
function readResources(words: readonly string[]): Pick<TaskTemplate, 'resources'> {
  const [gpus = '0', gpuKind] = (option(words, 'gpus') ?? '0').split(':');
  const licence = option(words, 'licence');
  const memory = Number(option(words, 'mem') ?? 0);
  if (memory === 0 && gpus === '0' && licence === undefined) return {};
  return {
    resources: {
      memory,
      gpus: Number(gpus),
      ...(gpuKind === undefined ? {} : { gpuKind }),
      named: licence === undefined ? {} : { licence: Number(licence) },
    },
  };
}

function showCommand(command: AgentCommand): string {
  switch (command.kind) {
    case 'WakeAt':
      return `wake at ${command.at}`;
    case 'AskContents':
      return `ask ${command.contents.map(({ sha256 }) => sha256).join(' ')}`;
    case 'ReleaseContents':
      return `release ${command.contentKeys.join(' ')}`;
    case 'StageIn':
      return `stage in r${command.replica.start.replicaId} on ${command.replica.slots.join('+')}`;
    case 'HoldMember':
      return (
        `hold r${command.replica.start.replicaId} as rank ${command.replica.start.gang?.rank} on ` +
        `${command.replica.slots.join('+')}`
      );
    case 'ReleaseMember':
      return `release member r${command.replicaId}`;
    case 'LaunchTask':
      return (
        `launch r${command.replica.start.replicaId} on ${command.replica.slots.join('+')}` +
        showAssignment(command.replica) +
        (command.replica.runner === undefined ? '' : ' by runner')
      );
    case 'EndRunner':
      return `end runner on ${command.slot}`;
    case 'KillTask':
      return `${command.signal} to r${command.replica.start.replicaId}`;
    case 'CollectOutputs':
      return `collect outputs of r${command.replica.start.replicaId}`;
    case 'RemovePlaypen':
      return `remove playpen ${command.slot}`;
    case 'SendReport':
      return showReport(command.report);
    case 'Leave':
      return 'leave';
    case 'Reply':
      return 'reply';
  }
}

function numbers(words: readonly string[]): number[] {
  return words.filter((word) => /^r\d+$/.test(word)).map((word) => Number(word.slice(1)));
}

function option(words: readonly string[], name: string): string | undefined {
  return words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
}

/**
 * `place rN ... [noop] [procs=N] [time=MS] [output=BYTES] [in=NAME:SIZE,...] [out=PATH] [rank=N] [success]
 * [job=N] [user=NAME] [runner=COMMAND]`, and resources.
 */
function placed(words: readonly string[]): AgentInput {
  const inputs = (option(words, 'in') ?? '')
    .split(',')
    .filter(Boolean)
    .map((word) => {
      const [sha256 = '', size = '0'] = word.split(':');
      return { root: 'playpen' as const, path: sha256, content: { sha256, size: Number(size) }, mode: 0o644 };
    });
  const out = option(words, 'out');
  const rank = option(words, 'rank');
  const gang = rank === undefined ? {} : { gang: { gangId: 7, rank: Number(rank), members: 2, secret: bytes(32) } };
  const runner = option(words, 'runner');
  return {
    kind: 'ReplicasDispatched',
    batch: {
      template: {
        jobId: Number(option(words, 'job') ?? 1),
        userId: option(words, 'user') ?? 'ana',
        ...(runner === undefined ? {} : { runner: { command: runner, protocolVersion: 1 } }),
        command: 'work {}',
        noOp: words.includes('noop'),
        environment: {},
        processors: Number(option(words, 'procs') ?? 1),
        ...readResources(words),
        limits: {
          runTimeMax: Number(option(words, 'time') ?? 0),
          memoryMax: 0,
          outputMax: Number(option(words, 'output') ?? 0),
        },
      },
      replicas: numbers(words).map((replicaId) => ({
        replicaId,
        taskIndex: replicaId,
        value: '',
        inputs,
        outputs: out === undefined ? [] : [{ root: 'playpen' as const, path: out }],
        ...gang,
        ...(words.includes('success') ? { onSuccessOnly: true as const } : {}),
      })),
    },
  };
}

function getInput(line: string): AgentInput {
  const words = line.split(' ');
  const [verb, first = ''] = words;
  const [replicaId = 0] = numbers(words);
  const reason = words.find((word) => word.startsWith('MUT_')) ?? '';
  switch (verb) {
    case 'attach':
      return { kind: 'ProviderAttached' };
    case 'clock':
      return { kind: 'ClockStepped', by: Number(first) };
    case 'detach':
      return { kind: 'ProviderLost' };
    case 'place':
      return placed(words);
    case 'cancel':
      return { kind: 'ReplicasCancelled', replicaIds: numbers(words), onlyWaiting: words.includes('waiting') };
    case 'acknowledge':
      return { kind: 'ReportAcknowledged', sequence: Number(first) };
    case 'drain':
      return { kind: 'DrainRequested' };
    case 'stop':
      return { kind: 'StopRequested', reason: 'the agent was asked to stop' };
    case 'content':
      return { kind: 'ContentArrived', contentKey: first };
    case 'refuse':
      return { kind: 'ContentRefused', contentKey: first, reason, detail: '' };
    case 'staged':
      return { kind: 'InputsStaged', replicaId };
    case 'unstaged':
      return { kind: 'StagingFailed', replicaId, verdict: { outcome: 'broken', reason, detail: '' } };
    case 'listening':
      return { kind: 'MemberListening', held: { replicaId, name: `ana@pc${replicaId}`, addresses: ['10.0.0.1:7'] } };
    case 'unheld':
      return { kind: 'HoldFailed', replicaId, verdict: { outcome: 'broken', reason, detail: '' } };
    case 'begin':
      return {
        kind: 'GangStarted',
        start: {
          replicaId,
          members: [0, 1].map((at) => ({ rank: at, name: `ana@pc${at}`, addresses: ['10.0.0.1:7'], processors: 1 })),
        },
      };
    case 'lost':
      return { kind: 'GangLost', replicaId, detail: '' };
    case 'exit': {
      const outputBytes = Number(option(words, 'wrote') ?? 0);
      const result = {
        exitStatus: Number(words[2] ?? 0),
        standardOutput: bytes(outputBytes),
        standardError: bytes(0),
        outputTruncated: false,
        outputBytes,
      };
      return {
        kind: 'ProcessEnded',
        replicaId,
        result,
        verdict: reason === '' ? undefined : { outcome: 'broken', reason, detail: '' },
        ...(words.includes('gone') ? { isRunnerGone: true } : {}),
      };
    }
    case 'died':
      return { kind: 'RunnerEnded', slot: Number(first) };
    case 'exceed':
      return { kind: 'LimitExceeded', replicaId, reason, detail: '' };
    case 'collected':
      return { kind: 'OutputsCollected', replicaId, outputs: [] };
    case 'uncollected':
      return { kind: 'CollectionFailed', replicaId, verdict: { outcome: 'failed', reason, detail: '' } };
    case 'at':
      return { kind: 'TimerFired' };
    default:
      throw new Error(`no such line: ${line}`);
  }
}

const noHold: EndHold = { longest: 0, isForAll: true };
const holds: readonly (readonly [string, EndHold])[] = [
  ['agent-replicas', noHold],
  ['agent-contents', noHold],
  ['agent-reports', noHold],
  ['agent-gangs', noHold],
  ['agent-clock', noHold],
  ['agent-staging', noHold],
  ['agent-runners', noHold],
  ['agent-shutdown-allocation', { longest: 300, isForAll: true }],
  ['agent-shutdown-collecting', { longest: 300, isForAll: true }],
  ['agent-shutdown-own-collecting', { longest: 300, isForAll: false }],
  ['agent-resources', { longest: 0, isForAll: false }],
  ['agent-memory-unknown', { longest: 0, isForAll: false }],
  ['agent-shutdown-own', { longest: 300, isForAll: false }],
];

/** Of the machines that have more than processors. */
const capacities: Readonly<Record<string, ResourceCapacity>> = {
  'agent-resources': {
    memory: 100,
    gpus: [
      { id: '0', kind: 'a100' },
      { id: '1', kind: 't4' },
    ],
    named: { licence: 2 },
  },
  'agent-runners': { memory: 100, gpus: [], named: {} },
  'agent-memory-unknown': { memory: 0, gpus: [], named: {} },
};

for (const [name, endHold] of holds) {
  test(`an agent walks through ${name}.txt`, (t) => {
    const state = createAgentState({
      processors: 2,
      unacknowledgedMax: 6,
      unacknowledgedBytesMax: 1000,
      killGrace: 5000,
      endHold,
      startedDelay: 10,
      reportInterval: 5,
      contentBytesMax: 100,
      prefetchMax: 4,
      ...(name === 'agent-runners' ? { runnerIdleMax: 60_000 } : {}),
      ...(capacities[name] === undefined ? {} : { capacity: capacities[name] }),
    });
    let now = 1000;
    checkInteractions(t, new URL(`../../../interactions/${name}.txt`, import.meta.url), (lines) => {
      const [line = ''] = lines;
      if (line === 'held')
        return listHeldReplicas(state)
          .map((id) => `r${id}`)
          .join(' ');
      if (line.startsWith('at ')) now = Number(line.slice(3));
      if (line.startsWith('clock ')) now += Number(line.slice(6));
      const { commands } = agentMachine.step(state, lines.map(getInput), now);
      agentMachine.checkInvariants(state);
      return commands.map(showCommand).join('\n');
    });
  });
}

/** The detail that an agent gives of a task which ended with a status, by a signal if one is known. */
function findDetail(exitStatus: number, signal: number | undefined): Cause | undefined {
  const state = createAgentState({
    processors: 1,
    unacknowledgedMax: 6,
    unacknowledgedBytesMax: 1000,
    killGrace: 5000,
    endHold: { longest: 0, isForAll: false },
    startedDelay: 10,
    reportInterval: 5,
    contentBytesMax: 100,
    prefetchMax: 4,
  });
  agentMachine.step(state, [{ kind: 'ProviderAttached' }, placed(['place', 'r1'])], 1000);
  const result = {
    exitStatus,
    signal,
    standardOutput: bytes(0),
    standardError: bytes(0),
    outputTruncated: false,
    outputBytes: 0,
  };
  const { commands } = agentMachine.step(
    state,
    [{ kind: 'ProcessEnded', replicaId: 1, result, verdict: undefined }],
    2000,
  );
  return commands.flatMap((command) => (command.kind === 'SendReport' ? command.report.ended : [])).at(-1)?.detail;
}

test('an exit status above 128 is not called a signal unless one is known', (t) => {
  t.deepEqual(findDetail(137, 9), { code: 'ended-by-signal', signalNumber: 9 });
  t.deepEqual(findDetail(137, undefined), { code: 'exit-status-of-signal', exitStatus: 137, signalNumber: 9 });
  t.deepEqual(findDetail(255, undefined), { code: 'exit-status', exitStatus: 255 });
  t.deepEqual(findDetail(3, undefined), { code: 'exit-status', exitStatus: 3 });
});
