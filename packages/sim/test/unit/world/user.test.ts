import test from 'ava';
import type { BrokerInput } from '@mutirao/core/machines/broker';
import type { Reply } from '@mutirao/core/shared';
import type { JobPlan } from '../../../src/index.ts';
import { Kernel } from '../../../src/world/kernel.ts';
import type { Promises } from '../../../src/world/promises.ts';
import { SimulatedUser } from '../../../src/world/user.ts';

const plan: JobPlan = {
  submittedAfter: 1000,
  taskCount: 3,
  meanTaskTime: 2000,
  spread: 0,
  replicasMax: 2,
  failuresMax: 1,
  brokenTaskCount: 0,
  failureProbability: 0,
  inputCount: 2,
  hasOutput: true,
  isChecked: true,
};

/** A user, and a broker that answers the n-th question as `answer` says. */
function setUp(plans: readonly JobPlan[], answer: (count: number) => Reply | undefined) {
  const kernel = new Kernel(0);
  const asked: { readonly at: number; readonly input: BrokerInput }[] = [];
  const reported: string[] = [];
  const user = new SimulatedUser({
    kernel,
    plans,
    reservations: { shownFor: () => undefined },
    promises: {
      reportAccepted: (label: string, jobId: number) => {
        reported.push(`${label} is ${jobId}`);
      },
    } as unknown as Promises,
    ask: (make, receive) => {
      const input = make(1);
      asked.push({ at: kernel.now, input });
      const reply = answer(asked.length);
      kernel.after(10, () => {
        receive(reply);
      });
    },
  });
  kernel.runUntil(1_000_000);
  return { user, asked, reported };
}

const accepted: Reply = { ok: true, value: { jobId: 7 } };

test('jobs are submitted when their plans say, each under a label of its own', (t) => {
  const { user, asked, reported } = setUp([plan, { ...plan, submittedAfter: 500 }], () => accepted);
  t.deepEqual(
    asked.map(({ at, input }) => [at, input.kind, (input as { clientJobId?: string }).clientJobId]),
    [
      [500, 'JobSubmitted', '1'],
      [1000, 'JobSubmitted', '0'],
    ],
  );
  t.deepEqual([reported, user.isWaiting], [['1 is 7', '0 is 7'], false]);
  t.like(asked[1]!.input, {
    spec: {
      replicasMax: 2,
      environment: { SIMULATED_JOB: '0' },
      groups: [{ values: { count: 3 }, inputs: { length: 2 }, outputs: { length: 1 }, check: 'check' }],
    },
  });
});

test('a submission without an answer, or that was refused, is made again as the same submission', (t) => {
  const { user, asked, reported } = setUp([plan], (count) =>
    count === 1
      ? undefined
      : count === 2
        ? { ok: false, code: 'MUT_UNREACHABLE', fault: { code: 'disk-full' } }
        : accepted,
  );
  t.deepEqual(
    asked.map(({ at }) => at),
    [1000, 6010, 11_020],
  );
  t.is(new Set(asked.map(({ input }) => JSON.stringify(input))).size, 1);
  t.deepEqual([reported, user.isWaiting], [['0 is 7'], false]);
});

test('a job is cancelled some time after it was accepted, again until there is an answer, be it a refusal', (t) => {
  const { user, asked } = setUp([{ ...plan, cancelledAfter: 30_000 }], (count) =>
    count === 1
      ? accepted
      : count === 2
        ? undefined
        : { ok: false, code: 'MUT_JOB_ENDED', fault: { code: 'job-not-found', jobId: 1 } },
  );
  t.deepEqual(
    asked.map(({ at, input }) => `${at} ${input.kind}`),
    ['1000 JobSubmitted', '31010 JobCancelled', '36020 JobCancelled'],
  );
  t.false(user.isWaiting);
});

test('what failed or was cancelled is wanted once more some time after the job was accepted, again until there is an answer', (t) => {
  const { user, asked } = setUp([{ ...plan, cancelledAfter: 10_000, retriedAfter: 30_000 }], (count) =>
    count === 3 ? undefined : accepted,
  );
  t.deepEqual(
    asked.map(({ at, input }) => `${at} ${input.kind}`),
    ['1000 JobSubmitted', '11010 JobCancelled', '31010 TasksRetried', '36020 TasksRetried'],
  );
  t.like(asked[3]!.input, { jobId: 7, taskIndexes: [] });
  t.false(user.isWaiting);
});

test('the user waits as long as no answer comes', (t) => {
  t.true(setUp([plan], () => undefined).user.isWaiting);
  t.true(
    setUp([{ ...plan, cancelledAfter: 1000, retriedAfter: 2000 }], (count) =>
      count === 1 || count === 2 ? accepted : undefined,
    ).user.isWaiting,
  );
  t.true(setUp([{ ...plan, cancelledAfter: 1000 }], (count) => (count === 1 ? accepted : undefined)).user.isWaiting);
});
