import { brokerMachine, type BrokerCommand, createBrokerState, type BrokerState } from '@mutirao/core/machines/broker';
import { aGroup, aJob, aMachine, anEnd } from '@mutirao/testkit';
import { below, type Figure, option, report } from './harness.ts';

// Measures the broker machine alone: microseconds per task from ready to finished, without journal, wire or processes,
// and the
// heap that a large job takes while it waits and when it has finished. Run it with --expose-gc for the heap; --tasks N
// sizes it.
const taskCount = option('tasks', 1_000_000);
const machineCount = 4;

function memoryMb(): number {
  globalThis.gc?.();
  return Math.round(process.memoryUsage().heapUsed / 2 ** 20);
}

function aGrid(): BrokerState {
  const state = createBrokerState();
  brokerMachine.step(
    state,
    [
      { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' },
      { kind: 'ProviderConnected', providerId: 'p' },
    ],
    0,
  );
  for (let index = 0; index < machineCount; index++) {
    brokerMachine.step(
      state,
      [
        {
          kind: 'MachineJoined',
          providerId: 'p',
          facts: aMachine(`p/m${index}`, { processors: 4 }),
          heldReplicaIds: [],
        },
      ],
      0,
    );
  }
  return state;
}

/** Lets machines answer batches of `batch` until the job has ended; answers with nanoseconds spent in steps. */
function runDry(state: BrokerState, first: readonly BrokerCommand[], batch: number): number {
  let waiting = new Map<string, number[]>();
  let now = 10;
  let sequence = 0;
  let spent = 0n;
  const note = (commands: readonly BrokerCommand[]) => {
    for (const command of commands) {
      if (command.kind !== 'StartReplicas') continue;
      const ids = waiting.get(command.machineId) ?? [];
      for (const { replicaId } of command.starts) ids.push(replicaId);
      waiting.set(command.machineId, ids);
    }
  };
  note(first);
  while (state.openJobs.size > 0) {
    const round = waiting;
    waiting = new Map();
    now++;
    for (const [machineId, ids] of round) {
      for (let from = 0; from < ids.length; from += batch) {
        const ended = ids
          .slice(from, from + batch)
          .map((id) => anEnd(id, 'succeeded', { startedAt: now, endedAt: now }));
        const began = process.hrtime.bigint();
        const { commands } = brokerMachine.step(
          state,
          [{ kind: 'MachineReported', machineId, report: { sequence: ++sequence, started: [], ended } }],
          now,
        );
        spent += process.hrtime.bigint() - began;
        note(commands);
      }
    }
  }
  return Number(spent);
}

function submit(state: BrokerState, count: number): { commands: readonly BrokerCommand[]; ms: number } {
  const spec = aJob(1, { groups: [aGroup(count, { noOp: true })] });
  const began = performance.now();
  const { commands } = brokerMachine.step(
    state,
    [{ kind: 'JobSubmitted', replyTo: 1, userId: 'ann', clientJobId: '', spec }],
    5,
  );
  return { commands, ms: performance.now() - began };
}

const base = memoryMb();
runDry(aGrid(), [], 64);
const warm = aGrid();
runDry(warm, submit(warm, 50_000).commands, 64);
const state = aGrid();
const { commands, ms } = submit(state, taskCount);
const waiting = memoryMb() - base;
const spent = runDry(state, commands, 64);
const figures: Figure[] = [
  below(`accepting ${taskCount} array tasks`, ms, 'ms', 1000),
  below('heap while they wait', waiting, 'MiB', 300),
  below('heap when all have finished', memoryMb() - base, 'MiB', 1000),
  below('time in steps per task, reports of 64', spent / taskCount / 1000, 'us', 3),
];
for (const batch of [1, 16, 256]) {
  const again = aGrid();
  const some = Math.min(taskCount, 200_000);
  figures.push(
    below(
      `time in steps per task, reports of ${batch}`,
      runDry(again, submit(again, some).commands, batch) / some / 1000,
      'us',
      batch === 1 ? 20 : 3,
    ),
  );
}
report('broker core', figures);
