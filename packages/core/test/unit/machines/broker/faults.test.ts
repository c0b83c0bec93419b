import test, { type ExecutionContext } from 'ava';
import { type BrokerInput, type BrokerState, brokerMachine, createBrokerState } from '@mutirao/core/machines/broker';
import { aJob, aMachine, anEnd } from '@mutirao/testkit';

interface Grid {
  readonly state: BrokerState;
  submit(taskCount: number): void;
  /** Has every replica that is placed end so, until none is or the bound is met; answers how many did. */
  endAll(reason: string, outcome: 'broken' | 'failed' | 'succeeded', most?: number): number;
}

/** Two machines of one processor. */
function open(): Grid {
  const state = createBrokerState({ lossesMax: 20 });
  let now = 0;
  let sequence = 0;
  const step = (...inputs: BrokerInput[]): void => {
    brokerMachine.step(state, inputs, ++now);
    brokerMachine.checkInvariants(state);
  };
  step(
    { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' },
    { kind: 'ProviderConnected', providerId: 'p' },
  );
  for (const name of ['p/a', 'p/b'])
    step({ kind: 'MachineJoined', providerId: 'p', facts: aMachine(name, { processors: 1 }), heldReplicaIds: [] });
  return {
    state,
    submit: (taskCount) => {
      step({
        kind: 'JobSubmitted',
        replyTo: 7,
        userId: 'ann',
        clientJobId: '',
        spec: aJob(taskCount, { replicasMax: 1, failuresMax: 3 }),
      });
    },
    endAll: (reason, outcome, most = 1000) => {
      let count = 0;
      for (
        let replica = [...state.replicas.values()][0];
        replica !== undefined && count < most;
        replica = [...state.replicas.values()][0]
      ) {
        count += 1;
        const end = { ...anEnd(replica.replicaId, outcome, { startedAt: now, endedAt: now }), reason, detail: 'why' };
        step({
          kind: 'MachineReported',
          machineId: replica.machine.facts.machineId,
          report: { sequence: ++sequence, started: [], ended: [end] },
        });
        if (state.replicas.size > 0) continue;
        // It waits for a machine that it avoids, or for the end of a quarantine.
        now += 60_000;
        step({ kind: 'TimerFired' });
      }
      return count;
    },
  };
}

function isTrusted(t: ExecutionContext, { state }: Grid): void {
  for (const { quarantinedUntil, breakages, facts } of state.machines.values())
    t.deepEqual({ breakages, quarantinedUntil }, { breakages: 0, quarantinedUntil: 0 }, facts.machineId);
}

for (const reason of ['MUT_INPUT_UNPLACEABLE', 'MUT_OUTPUT_LINK', 'MUT_PATH_ESCAPES']) {
  test(`a task that ends with ${reason} uses up its own failures, and machines keep their standing, whatever its agent calls the end`, (t) => {
    const grid = open();
    grid.submit(1);
    t.is(grid.endAll(reason, 'broken'), 3);
    t.is(grid.state.jobs.get(1)?.status, 'failed');
    isTrusted(t, grid);
  });
}

test('a task that goes wrong for an unknown reason is given up soon, and no machine is blamed', (t) => {
  const grid = open();
  grid.submit(1);
  t.is(grid.endAll('MUT_STAGING_FAILED', 'broken'), 5);
  t.is(grid.state.jobs.get(1)?.status, 'failed');
  isTrusted(t, grid);
});

test('a whole job of such tasks blames no machine either', (t) => {
  const grid = open();
  grid.submit(30);
  t.is(grid.endAll('MUT_STAGING_FAILED', 'broken'), 150);
  isTrusted(t, grid);
});

test('a machine is blamed for what a second job meets there too', (t) => {
  const grid = open();
  for (let round = 0; round < 4; round++) {
    grid.submit(2);
    grid.endAll('MUT_STAGING_FAILED', 'broken', 2);
  }
  t.true([...grid.state.machines.values()].some(({ breakages }) => breakages > 0));
});

test('a machine that breaks every task is left alone, and its tasks are not given up for it', (t) => {
  const grid = open();
  grid.submit(1);
  t.is(grid.endAll('MUT_LAUNCH_FAILED', 'broken', 6), 6);
  t.is(grid.state.jobs.get(1)?.status, 'running');
  t.true([...grid.state.machines.values()].some(({ quarantinedUntil }) => quarantinedUntil > 0));
});

test('what ended since the machine takes nothing more says nothing of it', (t) => {
  const grid = open();
  grid.submit(1);
  grid.endAll('MUT_DRAINING', 'broken', 10);
  for (const { breakages, quarantinedUntil, isStopping } of grid.state.machines.values()) {
    t.is(breakages, 0);
    t.true(quarantinedUntil === 0 || isStopping, 'what it waits for is the end of its shutdown');
  }
});
