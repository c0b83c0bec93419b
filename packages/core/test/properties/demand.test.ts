import test from 'ava';
import fc from 'fast-check';
import { type BrokerInput, brokerMachine, createBrokerState } from '@mutirao/core/machines/broker';
import type { AllocationRequest } from '@mutirao/core/messages';
import { aGroup, aJob, aMachine, runs } from '@mutirao/testkit';

const requirements = fc.constantFrom(
  '',
  '',
  'size == big',
  'size == small',
  'site == p',
  'site == q',
  'gpu == yes',
  'not (size == big)',
);

const job = fc.record({
  count: fc.integer({ min: 1, max: 12 }),
  processors: fc.constantFrom(1, 1, 1, 2),
  groups: fc.array(requirements, { minLength: 1, maxLength: 3 }),
  runTimeMax: fc.constantFrom(0, 0, 500, 5000),
});

const request = fc.record({
  width: fc.integer({ min: 1, max: 6 }),
  walltime: fc.constantFrom(400, 1000, 10_000),
  joined: fc.boolean(),
});

test('if the machines that a demand imagines and asks for are provided, every one of them is used', (t) => {
  fc.assert(
    fc.property(
      fc.array(job, { minLength: 1, maxLength: 4 }),
      fc.array(request, { maxLength: 3 }),
      fc.constantFrom('big', 'small', undefined),
      (jobs, requests, size) => {
        const state = createBrokerState({ demandInterval: 0, shareWait: 0 });
        let unplaced = 0;
        const step = (now: number, ...inputs: BrokerInput[]): void => {
          const { commands } = brokerMachine.step(state, inputs, now);
          brokerMachine.checkInvariants(state);
          for (const command of commands)
            if (command.kind === 'SetDemand') unplaced = command.demand.unplacedTasks ?? 0;
        };
        step(
          0,
          { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' },
          { kind: 'ProviderConnected', providerId: 'p' },
        );
        const attributes: Record<string, string> = size === undefined ? { site: 'p' } : { site: 'p', size };
        const join = (name: string, requestId: string, until: number): BrokerInput => ({
          kind: 'MachineJoined',
          providerId: 'p',
          facts: aMachine(`p/${name}`, { attributes, requestId, until }),
          heldReplicaIds: [],
        });
        const reported = (
          index: number,
          { width, walltime }: (typeof requests)[number],
          status: AllocationRequest['status'],
        ): BrokerInput => ({
          kind: 'RequestsChanged',
          providerId: 'p',
          requests: [
            {
              providerId: 'p',
              requestId: `q${index}`,
              managerRequestId: '',
              width,
              walltime,
              status,
              seenAt: 1,
              submittedAt: 1,
              startedAt: status === 'running' ? 1 : 0,
              endedAt: 0,
              reasons: [],
              heuristic: 'static',
            },
          ],
        });
        // What the machines of this provider are like is known from one that was there before.
        step(1, join('before', 'q99', 2), { kind: 'MachineLost', machineId: 'p/before', reason: 'MUT_WALLTIME_ENDED' });
        step(1, ...requests.map((one, index) => reported(index, one, one.joined ? 'running' : 'queued')));
        const bring = (index: number, { width, walltime }: (typeof requests)[number]): BrokerInput[] =>
          Array.from({ length: width }, (_, place) => join(`q${index}.${place}`, `q${index}`, 1 + walltime));
        // They come in the order that is imagined, those that run already first: where tasks have limits, another order
        // may use others of them.
        const machines = [true, false].flatMap((joined) =>
          requests.flatMap((one, index) => (one.joined === joined ? bring(index, one) : [])),
        );
        for (const [index, one] of jobs.entries()) {
          const spec = aJob(1, {
            groups: one.groups.map((text) => aGroup(one.count, { requirements: text })),
            processors: one.processors,
            replicasMax: 1,
          });
          step(1, {
            kind: 'JobSubmitted',
            replyTo: index,
            userId: 'ann',
            clientJobId: '',
            spec: { ...spec, limits: { ...spec.limits, runTimeMax: one.runTimeMax } },
          });
        }
        const ready = (): number =>
          [...state.jobs.values()].reduce(
            (sum, { queues }) => sum + queues.reduce((all, queue) => all + queue.readyCount, 0),
            0,
          );
        const [before, wanted] = [ready(), unplaced];
        step(1, ...requests.map((one, index) => reported(index, one, 'running')));
        step(1, ...machines, ...Array.from({ length: wanted }, (_, place) => join(`new.${place}`, 'q50', 1_000_000)));
        const idle = [...state.machines.values()].filter(
          (machine) => machine.replicas.size === 0 && machine.facts.requestId === 'q50',
        );
        if (idle.length > 0)
          throw new Error(
            `${wanted} machines were asked for, and ${idle.length} of them idle; ${before} tasks were ready, ` +
              `${ready()} are`,
          );
        // A machine that comes and stays for longer is one to wait for: what the short ones would have taken then waits
        // for such.
        const isShort = jobs.some(({ runTimeMax }) => runTimeMax > 0);
        if (!isShort && unplaced > 0)
          throw new Error(
            `${unplaced} tasks are still without a place, with all that was asked for; ${ready()} are ready`,
          );
      },
    ),
    runs(20_261_210, 150),
  );
  t.pass();
});

test('tasks that no machine of a provider can run are not wanted of it', (t) => {
  const state = createBrokerState({ demandInterval: 0, shareWait: 0 });
  const step = (...inputs: BrokerInput[]): Record<string, number> => {
    const { commands } = brokerMachine.step(state, inputs, 1);
    return Object.fromEntries(
      commands.flatMap((command) =>
        command.kind === 'SetDemand' ? [[command.providerId, command.demand.pendingTasks]] : [],
      ),
    );
  };
  for (const providerId of ['p', 'q'])
    step({ kind: 'ProviderAdded', replyTo: 0, providerId, address: 'h:1' }, { kind: 'ProviderConnected', providerId });
  const submit = (count: number, text: string): BrokerInput => ({
    kind: 'JobSubmitted',
    replyTo: 0,
    userId: 'ann',
    clientJobId: '',
    spec: aJob(1, { groups: [aGroup(count, { requirements: text })] }),
  });
  const join = (text: string): BrokerInput => ({
    kind: 'MachineJoined',
    providerId: 'p',
    facts: aMachine(`p/${text}`, { attributes: { site: 'p', host: text }, requestId: 'q1', until: 1000 }),
    heldReplicaIds: [],
  });
  t.deepEqual(step(submit(5, 'site == q')), { p: 0, q: 5 });
  t.deepEqual(step(submit(3, 'gpu == yes')), { p: 3, q: 8 }, 'nobody knows what machines of p are like');
  t.deepEqual(step(join('n1')), { p: 0 }, 'one has come, and says nothing of such a thing');
  t.deepEqual(
    step(join('n2'), submit(2, 'host == n7')),
    { p: 2, q: 10 },
    'two differ in their names: the next may be n7',
  );
});
