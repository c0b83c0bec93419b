import { sayReason } from '@mutirao/api/reasons';
import test, { type ExecutionContext } from 'ava';
import {
  clusterMachine,
  createClusterState,
  listQueue,
  listScores,
  type ClusterChange,
  type ClusterCommand,
  type ClusterInput,
  type ClusterOptions,
  type ClusterState,
} from '@mutirao/core/machines/cluster';
import type { RequestOrder, ReservedWindow } from '@mutirao/core/messages';
import {
  conservativeBackfilling,
  easyBackfilling,
  firstComeFirstServed,
  shapeNodes,
  usualLeadMax,
  type ClusterNode,
  type NodeGrant,
} from '@mutirao/core/queue';
import type { Slot } from '@mutirao/core/resources';
import { checkInteractions } from '@mutirao/testkit';

function showCommand(command: ClusterCommand): string {
  switch (command.kind) {
    case 'Reply':
      return command.reply.ok
        ? `reply ${JSON.stringify(command.reply.value)}`
        : `refuse ${command.reply.code}: ${sayReason(command.reply.fault)}`;
    case 'WakeAt':
      return `wake at ${command.at}`;
    case 'StartProcesses':
      return (
        `start ${command.width} of request ${command.requestId} until ${command.walltimeEnd}` +
        (command.grants ?? []).map(showGrant).join('')
      );
    case 'KillProcesses':
      return `kill request ${command.requestId}`;
  }
}

function showGrant({ nodeName, processorIds, memory, gpus }: NodeGrant): string {
  const devices = gpus.map(({ id, kind }) => `, GPU ${id} (${kind})`).join('');
  return `\n  on ${nodeName}: processors ${processorIds.join(' ')}, ${memory / gib} GiB${devices}`;
}

function showChange(change: ClusterChange): string[] {
  switch (change.kind) {
    case 'RequestDisplaced':
      return [`request ${change.requestId} lost its place`];
    case 'RequestPlaced':
      return [`request ${change.requestId} placed at ${change.startsAt}`];
    case 'ReservationOpened':
      return [`reservation ${change.reservationId} opened`];
    case 'ScoreChanged':
      return [`score of ${change.userId}: ${change.score.toFixed(2)} of ${change.countedCount}`];
    case 'RequestEnded':
      return [`request ${change.requestId} ended ${change.reason}`.trimEnd()];
    default:
      return [];
  }
}

const plainInputs = new Map<string, 'ClusterStarted' | 'TimerFired'>([
  ['start', 'ClusterStarted'],
  ['at', 'TimerFired'],
]);

const gib = 2 ** 30;

/**
 * `USER KEY WIDTH for WALLTIME [in RESERVATION] [of PROCESSORS/GIB/GPUS[:KIND]]`, `away NODE ...`, `reservations ID:USER:COUNT@START..END ...`, `shown` with one of
 * them, `release ID`, `exit ID FIRST..LAST [status S]`, `at T`, `start`, `queue [ended N]`, `scores`.
 */
function listInputs(line: string): ClusterInput[] {
  const words = line.split(' ');
  const [verb = '', first = '', second = ''] = words;
  const plain = plainInputs.get(verb);
  if (plain !== undefined) return [{ kind: plain }];
  switch (verb) {
    case 'clock':
      return [{ kind: 'ClockStepped', by: Number(first) }];
    case 'release':
      return [{ kind: 'ReleaseRequested', replyTo: 1, requestId: Number(first) }];
    case 'exit':
      return listExits(Number(first), second, Number(words[4] ?? 0));
    case 'away':
      return [noteAway(words.slice(1).map(Number))];
    case 'reservations':
      return [{ kind: 'ReservationsReported', windows: words.slice(1).map(getWindow) }];
    case 'shown':
      return [{ kind: 'ReservationShown', window: getWindow(first) }];
    default:
      return [{ kind: 'AllocationRequested', replyTo: 1, order: orderOf(words) }];
  }
}

function noteAway(nodes: readonly number[]): ClusterInput {
  return {
    kind: 'ProcessorsAway',
    nodes,
    count: nodes.reduce((sum, node) => sum + (clusterNodes[node]?.processors ?? 0), 0),
  };
}

function orderOf([
  userId = '',
  clientRequestId = '',
  width,
  ,
  walltime,
  within,
  reservation = '',
]: string[]): RequestOrder {
  return {
    userId,
    clientRequestId,
    width: Number(width),
    walltime: Number(walltime),
    command: ['work'],
    environment: {},
    workingDirectory: '',
    ...(within === 'in' ? { reservationId: Number(reservation) } : {}),
    ...(within === 'of' ? { slot: getSlot(reservation) } : {}),
  };
}

function getSlot(text: string): Slot {
  const [, processors, memory, gpus, gpuKind] = /^(\d+)\/(\d+)\/(\d+)(?::(\w+))?$/.exec(text) ?? [];
  return {
    processors: Number(processors),
    memory: Number(memory) * gib,
    gpus: Number(gpus),
    ...(gpuKind === undefined ? {} : { gpuKind }),
  };
}

function getWindow(text: string): ReservedWindow {
  const [, id, userId = '', count, start, end] = /^(\d+):(\w+):(\d+)@(\d+)\.\.(\d+)$/.exec(text) ?? [];
  return { reservationId: Number(id), userId, count: Number(count), startsAt: Number(start), endsAt: Number(end) };
}

function listExits(requestId: number, indexes: string, exitStatus: number): ClusterInput[] {
  const [from = 0, to = from] = indexes.split('..').map(Number);
  return Array.from({ length: to - from + 1 }, (_, i) => ({
    kind: 'ProcessExited',
    requestId,
    processIndex: from + i,
    exitStatus,
  }));
}

/** Runs a file of interactions on 10 processors. */
function checkFile(t: ExecutionContext, name: string, other: Partial<ClusterOptions> = {}): void {
  const state = createClusterState({
    processors: 10,
    requestsMax: 4,
    walltimeMax: 1000,
    widthMax: 10,
    walltimeGranularity: 10,
    endedMax: 100,
    policy: conservativeBackfilling('start-now'),
    ...other,
  });
  let now = 0;
  checkInteractions(t, new URL(`../../../interactions/${name}`, import.meta.url), (lines) =>
    lines
      .flatMap((line) => {
        if (line.startsWith('at ')) now = Number(line.slice(3));
        if (line.startsWith('clock ')) now += Number(line.slice(6));
        if (line === 'scores')
          return listScores(state).map(
            ({ userId, score, countedCount, precisionMean }) =>
              `${userId} ${score.toFixed(2)} of ${countedCount}, precision ${precisionMean.toFixed(2)}`,
          );
        if (line.startsWith('queue')) return showQueue(state, now, Number(line.split(' ')[2] ?? 0));
        const { changes, commands } = clusterMachine.step(state, listInputs(line), now);
        clusterMachine.checkInvariants(state);
        return [...changes.flatMap(showChange), ...commands.map(showCommand)];
      })
      .join('\n'),
  );
}

function showQueue(state: ClusterState, now: number, endedMax: number): string[] {
  const { processorsFree, requests, reservations = [] } = listQueue(state, now, endedMax);
  const entries = requests.map(
    ({ managerRequestId, userId, width, walltime, status, startsAt, endReason, reservationId }) =>
      (
        `${managerRequestId} ${userId} ${width} for ${walltime} ${status} from ${startsAt} ` +
        `${reservationId === undefined ? '' : `in ${reservationId} `}${endReason}`
      ).trimEnd(),
  );
  const reservationBlocks = reservations.map(
    ({ reservationId, userId, count, startsAt, endsAt, usedCount, lateBy }) =>
      `reservation ${reservationId} of ${userId}: ${usedCount} of ${count} from ${startsAt} to ` +
      `${endsAt}${lateBy > 0 ? `, late by ${lateBy}` : ''}`,
  );
  return [`${processorsFree} free`, ...entries, ...reservationBlocks];
}

const a100s = ['0', '1'].map((id) => ({ id, kind: 'a100' }));
/** Two plain nodes and one with GPUs, 10 processors together. */
const clusterNodes: ClusterNode[] = [
  { name: 'n1', processors: 4, memory: 8 * gib, gpus: [] },
  { name: 'n2', processors: 4, memory: 16 * gib, gpus: [] },
  { name: 'g1', processors: 2, memory: 8 * gib, gpus: a100s },
];

for (const [file, policy] of [
  ['cluster-nodes-conservative.txt', conservativeBackfilling('start-now')],
  ['cluster-nodes-easy.txt', easyBackfilling],
  ['cluster-nodes-fcfs.txt', firstComeFirstServed],
] as const)
  test(`under ${policy.name} a cluster of nodes packs requests by processors, memory and GPUs`, (t) => {
    checkFile(t, file, { policy, clusterNodes, nodes: shapeNodes(clusterNodes) });
  });

test('a cluster keeps its promises through starts, ends, walltimes, releases and a crash', (t) => {
  checkFile(t, 'cluster.txt');
});

test('when the clock is set walltimes and promises last as long as before, and reservations are when people agreed', (t) => {
  checkFile(t, 'cluster-clock.txt');
});

test('a cluster packs requests around reservations and lets their users in', (t) => {
  checkFile(t, 'cluster-reservations.txt');
});

test('a cluster orders its queue by scores, counts ended requests, and says what a tighter walltime would have gained', (t) => {
  checkFile(t, 'cluster-scores.txt', {
    policy: easyBackfilling,
    order: { weight: 1440, leadMax: usualLeadMax(1440) },
    walltimeMax: 86_400_000,
    walltimeGranularity: 1000,
  });
});

test('a cluster that plans ahead by scores delays only the requests that another one passes', (t) => {
  checkFile(t, 'cluster-scores-conservative.txt', {
    order: { weight: 1440, leadMax: usualLeadMax(1440) },
    walltimeMax: 86_400_000,
    walltimeGranularity: 1000,
  });
});
