import { brokerMachine, type BrokerInput, createBrokerState } from '@mutirao/core/machines/broker';
import type { SchedulerName } from '@mutirao/core/messages';
import { aGroup, aJob, aMachine, anEnd } from '@mutirao/testkit';
import { below, type Figure, median, option, plain, report } from './harness.ts';

// Measures the cost of the demand that the broker computes for its providers, by imagined dispatch of all open tasks:
// one step that computes it, compared with the same step without it. --tasks N and --machines N size the grid: four
// providers with machines of two processors and as many waiting requests, and tasks in groups, half with requirements.
const taskCount = option('tasks', 100_000);
const machineCount = option('machines', 1_000);
const groupCount = option('groups', 10);
const rounds = option('rounds', 30);

const providerIds = ['p', 'q', 'r', 's'];
type Step = (...inputs: BrokerInput[]) => ReturnType<typeof brokerMachine.step>;

/** Connects four providers, each with its machines and ten queued requests. */
function connectProviders(step: Step, now: number): void {
  for (const providerId of providerIds)
    step({ kind: 'ProviderAdded', replyTo: 0, providerId, address: 'h:1' }, { kind: 'ProviderConnected', providerId });
  step(
    ...Array.from({ length: machineCount }, (_, index): BrokerInput => {
      const providerId = providerIds[index % providerIds.length] ?? '';
      return {
        kind: 'MachineJoined',
        providerId,
        facts: aMachine(`${providerId}/m${index}`, {
          processors: 2,
          requestId: 'q1',
          until: now + 3_600_000 + index * 10,
        }),
        heldReplicaIds: [],
      };
    }),
  );
  for (const providerId of providerIds) {
    const requests = Array.from({ length: 10 }, (_, index) => ({
      providerId,
      requestId: `q${index + 2}`,
      managerRequestId: '',
      width: Math.ceil(machineCount / 20),
      walltime: 3_600_000,
      status: 'queued' as const,
      seenAt: now,
      submittedAt: now,
      startedAt: 0,
      endedAt: 0,
      reasons: [],
      heuristic: 'static',
    }));
    step({ kind: 'RequestsChanged', providerId, requests });
  }
}

/**
 * A grid in which tasks of `taskTime` run on every machine, so that short ones wait at them too, and more are open than
 * its machines and its requests have slots for.
 */
function aGrid(
  scheduler: SchedulerName,
  verification: 'none' | 'vote',
  taskTime: number,
): { readonly look: () => number; readonly stay: () => number } {
  const state = createBrokerState({ demandInterval: 250 });
  let now = 10_000_000;
  const step: Step = (...inputs) => brokerMachine.step(state, inputs, now);
  connectProviders(step, now);
  const groups = Array.from({ length: groupCount }, (_, index) =>
    aGroup(taskCount / groupCount, { requirements: index % 2 === 0 ? '' : `host != n${index}` }),
  );
  const spec = aJob(1, { groups, ...(verification === 'vote' ? { verification: { kind: 'vote', count: 3 } } : {}) });
  const { commands } = step({
    kind: 'JobSubmitted',
    replyTo: 1,
    userId: 'ann',
    clientJobId: '',
    spec: { ...spec, scheduler },
  });
  now += 10;
  const first = commands.flatMap((command) =>
    command.kind === 'StartReplicas'
      ? [{ machineId: command.machineId, replicaId: command.starts[0]?.replicaId ?? 0 }]
      : [],
  );
  for (const { machineId, replicaId } of first.slice(0, 50)) {
    step({
      kind: 'MachineReported',
      machineId,
      report: {
        sequence: 1,
        started: [],
        ended: [anEnd(replicaId, 'succeeded', { startedAt: now - taskTime, endedAt: now })],
      },
    });
  }
  const timed = (inputs: readonly BrokerInput[], isLook: boolean): number => {
    state.demandsDue = isLook ? now : Infinity;
    if (!isLook) state.demandsAt = now;
    const began = process.hrtime.bigint();
    brokerMachine.step(state, inputs, now);
    return Number(process.hrtime.bigint() - began) / 1e6;
  };
  return {
    look: () => {
      now += 300;
      return timed([{ kind: 'TimerFired' }], true);
    },
    stay: () => timed([{ kind: 'TimerFired' }], false),
  };
}

const figures: Figure[] = [];
const cases = [
  ['wqr', 'none', 1_000_000],
  ['min-min', 'none', 1_000_000],
  ['sufferage', 'none', 1_000_000],
  ['wqr', 'vote', 1_000_000],
  ['wqr', 'none', 5],
] as const;
for (const [scheduler, verification, taskTime] of cases) {
  const grid = aGrid(scheduler, verification, taskTime);
  for (let round = 0; round < 5; round++) grid.look();
  const [looks, stays]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    looks.push(grid.look());
    stays.push(grid.stay());
  }
  const name = `${scheduler}${verification === 'none' ? '' : `, ${verification}`}, tasks of ${taskTime / 1000} s`;
  figures.push(
    below(`one look: ${name}`, median(looks) - median(stays), 'ms', 25),
    plain(`a step without: ${name}`, median(stays), 'ms'),
  );
}
report(`demand of ${taskCount} tasks, ${machineCount} machines`, figures);
