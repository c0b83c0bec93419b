import { type BrokerInput, brokerMachine, createBrokerState } from '@mutirao/core/machines/broker';
import type { TaskGroup } from '@mutirao/core/messages';
import { aGroup, aJob, aMachine, anEnd } from '@mutirao/testkit';
import { below, median, option, plain, report } from './harness.ts';

// What it costs the broker's machine to decide where tasks go that ask for processors, memory, GPUs and licences: the
// step in which a job arrives and fills an empty grid, and the one in which a single task ends. Times are of the
// processor, so that other work on the host does not count. --tasks N, --classes N and --nodes N size
// it: tasks of a class ask for the same; every fourth node has four GPUs.
const taskCount = option('tasks', 10_000);
const classCount = option('classes', 50);
const nodeCount = option('nodes', 100);
const rounds = option('rounds', 20);

const gibibyte = 2 ** 30;
const processors = 16;

/** Tasks that ask for 1 to 8 processors, and most of them for something in addition. */
function aClass(index: number): TaskGroup {
  return aGroup(taskCount / classCount, {
    processors: 1 + (index % 8),
    requirements: index % 5 === 0 ? 'os == linux' : '',
    resources: {
      memory: index % 3 === 0 ? 0 : (1 + (index % 11)) * gibibyte,
      gpus: [0, 0, 0, 500, 1000, 0, 2000][index % 7] ?? 0,
      named: index % 9 === 0 ? { licence: 1 } : {},
    },
  });
}

function aNode(index: number): BrokerInput {
  return {
    kind: 'MachineJoined',
    providerId: 'p',
    facts: aMachine(`p/n${index}`, {
      processors,
      attributes: { os: 'linux' },
      capacity: {
        memory: 64 * gibibyte,
        gpus: index % 4 === 0 ? ['0', '1', '2', '3'].map((id) => ({ id, kind: 'a100' })) : [],
        named: { licence: 2 },
      },
    }),
    heldReplicaIds: [],
  };
}

interface Times {
  readonly filling: number;
  readonly afterEnd: readonly number[];
  readonly placed: number;
}

function run(): Times {
  const state = createBrokerState();
  let now = 10_000_000;
  const step = (...inputs: BrokerInput[]): number => {
    const before = process.cpuUsage();
    brokerMachine.step(state, inputs, now);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  step(
    { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' },
    { kind: 'ProviderConnected', providerId: 'p' },
  );
  const groups = Array.from({ length: classCount }, (_, index) => aClass(index));
  step(...Array.from({ length: nodeCount }, (_, index) => aNode(index)));
  now += 1000;
  const filling = step({
    kind: 'JobSubmitted',
    replyTo: 1,
    userId: 'ann',
    clientJobId: '',
    spec: aJob(1, { groups }),
  });
  const placed = state.replicas.size;
  const afterEnd: number[] = [];
  const sequences = new Map<string, number>();
  for (let round = 0; round < rounds; round++) {
    now += 10;
    const replica = [...state.replicas.values()][(round * 37) % state.replicas.size];
    if (replica === undefined) throw new Error('nothing runs');
    const { machineId } = replica.machine.facts;
    const sequence = (sequences.get(machineId) ?? 0) + 1;
    sequences.set(machineId, sequence);
    afterEnd.push(
      step({
        kind: 'MachineReported',
        machineId,
        report: {
          sequence,
          started: [],
          ended: [anEnd(replica.replicaId, 'succeeded', { startedAt: now - 60_000, endedAt: now })],
        },
      }),
    );
  }
  brokerMachine.checkInvariants(state);
  return { filling, afterEnd, placed };
}

for (let warm = 0; warm < 5; warm++) run();
const runs = Array.from({ length: rounds }, run);
report('resource decision', [
  plain(`tasks placed on ${nodeCount} nodes`, runs[0]?.placed ?? 0, ''),
  below(
    `${taskCount} waiting tasks of ${classCount} classes on ${nodeCount} empty nodes, median of ${rounds}`,
    median(runs.map(({ filling }) => filling)),
    'ms',
    10,
  ),
  below('after one task has ended, median', median(runs.flatMap(({ afterEnd }) => afterEnd)), 'ms', 1),
]);
