import { brokerMachine, type BrokerCommand, createBrokerState, type BrokerState } from '@mutirao/core/machines/broker';
import { aGroup, aJob, aMachine, anEnd } from '@mutirao/testkit';
import { below, option, plain, report } from './harness.ts';

// What idle machines that a job's requirements rule out cost the broker: how often its machine is asked, and for how
// long, until a bag of no-op tasks has run on the two machines that
// will do. Each round trip brings what every machine has ended meanwhile, in one batch of inputs.
const taskCount = option('tasks', 5000);
const idleCount = option('machines', 1000);

function aGrid(idle: number): BrokerState {
  const state = createBrokerState();
  brokerMachine.step(
    state,
    [
      { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' },
      { kind: 'ProviderConnected', providerId: 'p' },
    ],
    0,
  );
  for (let index = 0; index < idle + 2; index += 1) {
    const attributes = { site: index < 2 ? 'here' : 'elsewhere' };
    brokerMachine.step(
      state,
      [
        {
          kind: 'MachineJoined',
          providerId: 'p',
          facts: aMachine(`p/m${index}`, { processors: 8, attributes }),
          heldReplicaIds: [],
        },
      ],
      0,
    );
  }
  return state;
}

/** Runs a bag to its end. */
function runBag(idle: number): { readonly trips: number; readonly ms: number } {
  const state = aGrid(idle);
  const waiting = new Map<string, number[]>();
  const note = (commands: readonly BrokerCommand[]): void => {
    for (const command of commands) {
      if (command.kind !== 'StartReplicas') continue;
      waiting.set(command.machineId, [
        ...(waiting.get(command.machineId) ?? []),
        ...command.starts.map(({ replicaId }) => replicaId),
      ]);
    }
  };
  const began = performance.now();
  note(
    brokerMachine.step(
      state,
      [
        {
          kind: 'JobSubmitted',
          replyTo: 1,
          userId: 'ann',
          clientJobId: '',
          spec: aJob(1, { groups: [aGroup(taskCount, { noOp: true, requirements: 'site == here' })] }),
        },
      ],
      5,
    ).commands,
  );
  let trips = 0;
  for (let now = 10; state.openJobs.size > 0; now += 1) {
    trips += 1;
    const round = [...waiting];
    waiting.clear();
    if (round.length === 0) throw new Error('the job does not go on');
    note(
      brokerMachine.step(
        state,
        round.map(([machineId, ids]) => ({
          kind: 'MachineReported' as const,
          machineId,
          report: {
            sequence: trips,
            started: [],
            ended: ids.map((id) => anEnd(id, 'succeeded', { startedAt: now, endedAt: now })),
          },
        })),
        now,
      ).commands,
    );
  }
  return { trips, ms: performance.now() - began };
}

runBag(10);
const [alone, among] = [runBag(0), runBag(idleCount)];
report('idle machines', [
  plain(`round trips of ${taskCount} no-op tasks on 2 machines`, alone.trips, ''),
  plain('time in steps', alone.ms, 'ms'),
  below(`round trips with ${idleCount} more idle machines that do not match`, among.trips, '', alone.trips + 2),
  plain('time in steps', among.ms, 'ms'),
]);
