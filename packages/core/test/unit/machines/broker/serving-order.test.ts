import test from 'ava';
import {
  type BrokerInput,
  brokerMachine,
  createBrokerState,
  findJobSummary,
  restore,
  snapshot,
} from '@mutirao/core/machines/broker';
import type { JobSpec } from '@mutirao/core/messages';
import { aJob } from '@mutirao/testkit';

const hour = 3_600_000;

function submit(replyTo: number, fields: Partial<JobSpec>): BrokerInput {
  return { kind: 'JobSubmitted', replyTo, userId: 'ann', clientJobId: '', spec: aJob(2, fields) };
}

test('jobs are served by priority, then in the order of submission, and an hour of waiting is worth a point', (t) => {
  const state = createBrokerState();
  const step = (now: number, ...inputs: BrokerInput[]): number[] => {
    brokerMachine.step(state, inputs, now);
    brokerMachine.checkInvariants(state);
    return [...state.openJobs.keys()];
  };
  t.deepEqual(step(0, submit(1, {}), submit(2, { priority: 1 }), submit(3, {})), [2, 1, 3]);
  t.deepEqual(step(hour, submit(4, { priority: 1 })), [2, 1, 3, 4], 'who came an hour earlier goes first');
  t.deepEqual(step(hour, submit(5, { priority: 2 })), [2, 5, 1, 3, 4]);
  const update: BrokerInput = { kind: 'JobUpdated', replyTo: 6, userId: 'ann', jobId: 3, priority: 5 };
  t.is(step(hour, update)[0], 3, 'a change takes effect with the next decision');
  t.deepEqual([...restore(snapshot(state), {}).openJobs.keys()], [...state.openJobs.keys()]);
});

test('a limit and what is held survive in a snapshot', (t) => {
  const state = createBrokerState();
  brokerMachine.step(state, [submit(1, { runningMax: 4, priority: -2, isHeld: true })], 0);
  const restored = restore(snapshot(state), {});
  brokerMachine.checkInvariants(restored);
  t.like(findJobSummary(restored, 'ann', 1), {
    runningMax: 4,
    priority: -2,
    heldCount: 2,
    waitingCount: 2,
    readyCount: 0,
  });
});
