import test from 'ava';
import { clusterMachine, createClusterState, listQueue, type ClusterChange, type ClusterCommand, type ClusterInput } from '@mutirao/core/machines/cluster';
import { conservativeBackfilling } from '@mutirao/core/queue';
import { checkInteractions } from '@mutirao/testkit';

function showCommand(command: ClusterCommand): string {
  switch (command.kind) {
    case 'Reply': return command.reply.ok ? `reply ${JSON.stringify(command.reply.value)}` : `refuse ${command.reply.code}: ${command.reply.message}`;
    case 'WakeAt': return `wake at ${command.at}`;
    case 'StartProcesses': return `start ${command.width} of request ${command.requestId} until ${command.walltimeEnd}`;
    case 'KillProcesses': return `kill request ${command.requestId}`;
  }
}

function showChange(change: ClusterChange): string[] {
  switch (change.kind) {
    case 'RequestPlaced': return [`request ${change.requestId} placed at ${change.startsAt}`];
    case 'RequestEnded': return [`request ${change.requestId} ended ${change.reason}`.trimEnd()];
    default: return [];
  }
}

/** `USER KEY WIDTH for WALLTIME`, `release ID`, `exit ID FIRST..LAST [status S]`, `at T`, `start`, `queue [ended N]`. */
function inputsOf(line: string): ClusterInput[] {
  const words = line.split(' ');
  const [verb = '', first = '', second = ''] = words;
  if (line === 'start') return [{ kind: 'ClusterStarted' }];
  if (verb === 'at') return [{ kind: 'TimerFired' }];
  if (verb === 'release') return [{ kind: 'ReleaseRequested', replyTo: 1, requestId: Number(first) }];
  if (verb === 'exit') return exitsOf(Number(first), second, Number(words[4] ?? 0));
  const order = {
    userId: verb, clientRequestId: first, width: Number(second), walltime: Number(words[4]), command: ['work'], environment: {}, workingDirectory: '',
  };
  return [{ kind: 'AllocationRequested', replyTo: 1, order }];
}

function exitsOf(requestId: number, indexes: string, exitStatus: number): ClusterInput[] {
  const [from = 0, to = from] = indexes.split('..').map(Number);
  return Array.from({ length: to - from + 1 }, (_, i) => ({ kind: 'ProcessExited', requestId, processIndex: from + i, exitStatus }));
}

test('a cluster keeps its promises through starts, ends, walltimes, releases and a crash', (t) => {
  const state = createClusterState({
    processors: 10, requestsMax: 4, walltimeMax: 1000, widthMax: 10, walltimeGranularity: 10, endedMax: 100,
    policy: conservativeBackfilling('start-now'),
  });
  let now = 0;
  checkInteractions(t, new URL('../../../interactions/cluster.txt', import.meta.url), (lines) => lines.flatMap((line) => {
    if (line.startsWith('at ')) now = Number(line.slice(3));
    if (line.startsWith('queue')) {
      const listing = listQueue(state, now, Number(line.split(' ')[2] ?? 0));
      const entries = listing.requests.map(({ managerRequestId, userId, width, walltime, status, startsAt, endReason }) =>
        `${managerRequestId} ${userId} ${width} for ${walltime} ${status} from ${startsAt} ${endReason}`.trimEnd());
      return [`${listing.processorsFree} free`, ...entries];
    }
    const { changes, commands } = clusterMachine.step(state, inputsOf(line), now);
    clusterMachine.checkInvariants(state);
    return [...changes.flatMap(showChange), ...commands.map(showCommand)];
  }).join('\n'));
});
