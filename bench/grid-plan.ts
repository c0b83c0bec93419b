// What it costs the broker's machine to plan a grid: the step in which a job arrives and all that has not begun is
// planned again, with 100 to 10,000 live tasks on 10 to 100
// machines; and a step in which a task ends and the plan is followed. Processor time, so that others on the host do not
// count.
import { type BrokerInput, brokerMachine, createBrokerState } from '@mutirao/core/machines/broker';
import type { JobSpec, TaskGroup } from '@mutirao/core/messages';
import { Prng } from '@mutirao/core/shared';
import { aGroup, aJob, aMachine, anEnd } from '@mutirao/testkit';
import { below, type Figure, median, plain, report } from './harness.ts';

const second = 1000;
const rounds = 5;

/** Layers of 50 tasks, each of which waits for up to three of the layer before. */
function layered(taskCount: number): JobSpec {
  const prng = new Prng(`grid plan ${taskCount}`);
  const groups = Array.from(
    { length: taskCount },
    (): TaskGroup =>
      aGroup(1, { values: { kind: 'list', values: ['x'] }, expectedTime: (10 + prng.below(90)) * second }),
  );
  const edges = Array.from({ length: Math.max(0, taskCount - 50) }, (_, index) => {
    const first = 50 * Math.floor(index / 50);
    return [...new Set([prng.below(50), prng.below(50), prng.below(50)])].map((parent) => ({
      from: first + parent,
      to: index + 50,
      data: 1_000_000 * prng.below(20),
    }));
  }).flat();
  return aJob(1, { groups, edges, scheduler: 'plan', replicasMax: 1 });
}

/** A bag of one short task: what arrives. */
const newcomer = aJob(1, {
  groups: [aGroup(1, { values: { kind: 'list', values: ['x'] }, expectedTime: 5 * second })],
  scheduler: 'plan',
  replicasMax: 1,
});

/** Milliseconds of processor time of the steps that plan, and of those that only follow the plan. */
function measure(
  taskCount: number,
  machineCount: number,
): { readonly planning: number[]; readonly following: number[] } {
  const state = createBrokerState();
  let now = 1_000_000;
  const running: { readonly machineId: string; readonly replicaId: number }[] = [];
  const step = (...inputs: BrokerInput[]): number => {
    const began = process.cpuUsage();
    const { commands } = brokerMachine.step(state, inputs, now);
    const { user, system } = process.cpuUsage(began);
    const time = (user + system) / 1000;
    for (const command of commands)
      if (command.kind === 'StartReplicas')
        for (const { replicaId } of command.starts) running.push({ machineId: command.machineId, replicaId });
    return time;
  };
  step(
    { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' },
    { kind: 'ProviderConnected', providerId: 'p' },
  );
  step(
    ...Array.from(
      { length: machineCount },
      (_, index): BrokerInput => ({
        kind: 'MachineJoined',
        providerId: 'p',
        facts: aMachine(`p/m${index}`),
        heldReplicaIds: [],
      }),
    ),
  );
  step({ kind: 'JobSubmitted', replyTo: 1, userId: 'ann', clientJobId: '', spec: layered(taskCount) });
  const [planning, following]: [number[], number[]] = [[], []];
  const sequences = new Map<string, number>();
  for (let round = 0; round < rounds; round++) {
    now += 5 * second;
    planning.push(step({ kind: 'JobSubmitted', replyTo: 1, userId: 'bob', clientJobId: '', spec: newcomer }));
    const made = state.planning.plan?.madeAt;
    if (made !== now) throw new Error(`no plan was made at ${now}`);
    // One task ends just now, and the next one begins: too soon for another plan.
    const next = running.shift();
    const sequence = (sequences.get(next?.machineId ?? '') ?? 0) + 1;
    if (next === undefined) continue;
    sequences.set(next.machineId, sequence);
    following.push(
      step({
        kind: 'MachineReported',
        machineId: next.machineId,
        report: {
          sequence,
          started: [],
          ended: [anEnd(next.replicaId, 'succeeded', { startedAt: now - 10 * second, endedAt: now })],
        },
      }),
    );
  }
  return { planning, following };
}

measure(1_000, 100); // What is measured is compiled code.
const figures: Figure[] = [];
for (const taskCount of [100, 1_000, 10_000]) {
  for (const machineCount of [10, 30, 100]) {
    const { planning, following } = measure(taskCount, machineCount);
    const name = `${taskCount} tasks, ${machineCount} machines`;
    const time = median(planning);
    figures.push(
      taskCount === 10_000 && machineCount === 100
        ? below(`a plan: ${name}`, time, 'ms', 100)
        : plain(`a plan: ${name}`, time, 'ms'),
    );
    figures.push(plain(`a task ends: ${name}`, median(following), 'ms'));
  }
}
report('grid plan', figures);
