import test from 'ava';
import fc from 'fast-check';
import {
  type BrokerCommand,
  type BrokerInput,
  brokerMachine,
  createBrokerState,
  explainTask,
  type BrokerState,
} from '@mutirao/core/machines/broker';
import type { MachineFacts } from '@mutirao/core/messages';
import { aJob, aMachine, BrokerHarness } from '@mutirao/testkit';

const far = 1_000_000;

function machineOf(name: string, until: number | undefined): MachineFacts {
  return { ...aMachine(`p/${name}`), until, requestId: until === undefined ? '' : (name.split('.')[0] ?? '') };
}

/** A broker with a provider, and how to step it. */
function aBroker(): {
  readonly state: BrokerState;
  step(now: number, ...inputs: readonly BrokerInput[]): readonly string[];
} {
  const state = createBrokerState();
  const step = (now: number, ...inputs: readonly BrokerInput[]): readonly string[] => {
    const { commands } = brokerMachine.step(state, inputs, now);
    brokerMachine.checkInvariants(state);
    return commands.flatMap(startedOn);
  };
  step(
    0,
    { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' },
    { kind: 'ProviderConnected', providerId: 'p' },
  );
  return { state, step };
}

function startedOn(command: BrokerCommand): readonly string[] {
  return command.kind === 'StartReplicas' ? command.starts.map(() => command.machineId) : [];
}

function join(name: string, until?: number): BrokerInput {
  return { kind: 'MachineJoined', providerId: 'p', facts: machineOf(name, until), heldReplicaIds: [] };
}

function submit(taskCount: number, runTimeMax: number): BrokerInput {
  const spec = { ...aJob(taskCount), replicasMax: 1 };
  return {
    kind: 'JobSubmitted',
    replyTo: 7,
    userId: 'ann',
    clientJobId: '',
    spec: { ...spec, limits: { ...spec.limits, runTimeMax } },
  };
}

test('before anything is observed the limit of the user is what a task is known to need', (t) => {
  const { state, step } = aBroker();
  // It had time enough when it joined; another such may come.
  step(1, join('q1.0', 1000));
  t.deepEqual(step(600, submit(1, 500)), []);
  const explained = explainTask(state, { userId: 'ann', jobId: 1, taskIndex: 0, past: [] }, 600);
  t.deepEqual(explained?.waiting, { code: 'no-machine-long-enough', neededMs: 500 });
  t.deepEqual(explained?.details[0], { code: 'needed-time-limit' });
  t.deepEqual(step(601, join('q2.0', 1200)), ['p/q2.0']);
});

test('without a limit nothing is known, and a machine that is about to end gets its task', (t) => {
  const { step } = aBroker();
  step(1, join('q1.0', 1000));
  t.deepEqual(step(999, submit(1, 0)), ['p/q1.0']);
});

test('tasks that are longer than any walltime do not wait for a longer one for ever', (t) => {
  const { step } = aBroker();
  step(1, join('q1.0', 1000));
  t.deepEqual(step(2, submit(1, 5000)), ['p/q1.0']);
});

test('a request that waits with a long walltime, and a machine that never ends, are worth waiting for', (t) => {
  const queued = {
    providerId: 'p',
    requestId: 'q9',
    managerRequestId: '',
    width: 1,
    walltime: 10_000,
    status: 'queued',
    seenAt: 0,
    submittedAt: 0,
    startedAt: 0,
    endedAt: 0,
    reasons: [],
    heuristic: 'static',
  } as const;
  const waiting = aBroker();
  waiting.step(1, join('q1.0', 1000), { kind: 'RequestsChanged', providerId: 'p', requests: [queued] });
  t.deepEqual(waiting.step(2, submit(1, 5000)), []);
  t.deepEqual(
    waiting.step(3, {
      kind: 'RequestsChanged',
      providerId: 'p',
      requests: [{ ...queued, status: 'rejected', endedAt: 3 }],
    }),
    ['p/q1.0'],
    'it will not come',
  );
  const lab = aBroker();
  lab.step(1, join('pc'), submit(1, 0));
  t.deepEqual(lab.step(2, join('q1.0', 1000), submit(1, 5000)), [], 'the lab machine is busy, and will do');
});

test('one task of hours among many short ones does not keep them from machines with minutes left', (t) => {
  const harness = new BrokerHarness();
  harness.perform(['provider p', 'connect p', 'submit ann 40 replicas=1', `join p/q1.0 request=q1 until=${far}`]);
  for (const [index, time] of [...Array.from({ length: 19 }, () => 100), 10_000].entries()) {
    const begun = harness.now;
    harness.perform([
      `at ${begun + time}`,
      `report p/q1.0 ${index + 1} succeeded ${index + 1} ${begun}..${begun + time}`,
    ]);
  }
  // Nine of ten end within 100 ms: that is what is needed, and not the 10 s of the longest.
  t.regex(harness.perform([`join p/q2.0 request=q2 until=${harness.now + 110}`]), /start .* on p\/q2\.0/);
  t.notRegex(harness.perform([`join p/q3.0 request=q3 until=${harness.now + 90}`]), /start/);
});

/**
 * A broker whose job has run on a fast and a slow machine, named in the order in which they joined, both of an
 * allocation until 1000. A task needs less than that on the fast
 * machine, and more on the slow one or on one that nothing is known of.
 */
function afterRunsAtTwoSpeeds(names: readonly ('fast' | 'slow')[]): BrokerHarness {
  const harness = new BrokerHarness();
  harness.perform([
    'provider p',
    'submit ann 100 replicas=1',
    ...names.map((name) => `join p/${name} request=q1 until=1000`),
  ]);
  for (let round = 0; round < 4; round++)
    for (const [name, time] of [
      ['fast', 200],
      ['slow', 1200],
    ] as const)
      reportFirst(harness, name, time);
  return harness;
}

/** Has the first replica of a machine succeed after a run of `time`; returns what the broker does. */
function reportFirst(harness: BrokerHarness, name: string, time: number): string {
  const machine = harness.state.machines.get(`p/${name}`);
  const [replicaId] = machine?.replicas.keys() ?? [];
  harness.now += 1;
  return harness.perform([
    `report p/${name} ${harness.now} succeeded ${replicaId} ${harness.now}..${harness.now + time}`,
  ]);
}

for (const names of [
  ['fast', 'slow'],
  ['slow', 'fast'],
] as const) {
  test(`a slow machine that joined ${names[0] === 'slow' ? 'first' : 'last'} does not decide whether tasks wait for more time on a fast one`, (t) => {
    const harness = afterRunsAtTwoSpeeds(names);
    harness.perform(['at 900']);
    t.is(harness.state.machines.get('p/slow')?.replicas.size, 0, 'it keeps away from the slow one already');
    t.notRegex(
      reportFirst(harness, 'fast', 100),
      /start/,
      'it has the time that it needs on neither, and had it on the fast one when that joined',
    );
    t.regex(
      harness.perform(['lose p/fast MUT_ALLOCATION_ENDED']),
      /start .* on p\/slow/,
      'no machine stays long enough for a task at its speed',
    );
  });
}

test('whatever joins, no task starts on a machine with less than its limit left while one with that much is free', (t) => {
  const machines = fc.array(
    fc.record({ until: fc.integer({ min: 1, max: 3000 }), at: fc.integer({ min: 0, max: 100 }) }),
    { minLength: 1, maxLength: 8 },
  );
  fc.assert(
    fc.property(machines, fc.integer({ min: 1, max: 3000 }), (plans, need) => {
      const { state, step } = aBroker();
      step(1, submit(20, need));
      let now = 1;
      plans.forEach(({ until, at }, index) => {
        now += at;
        const started = step(now, join(`q${index}.0`, now + until));
        const longest = Math.max(
          ...[...state.machines.values()].map(({ facts, joinedAt }) => (facts.until ?? Infinity) - joinedAt),
        );
        for (const machineId of started) {
          const left = (state.machines.get(machineId)?.facts.until ?? Infinity) - now;
          if (left < need && longest >= need)
            throw new Error(`${machineId} has ${left} ms left of the ${need} ms that are needed`);
        }
        if (longest < need && started.length === 0) throw new Error('everything waits for what there is not');
      });
    }),
    { seed: 20_261_120, numRuns: 500 },
  );
  t.pass();
});
