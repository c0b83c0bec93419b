import test from 'ava';
import { MutiraoError, type ErrorCode } from '@mutirao/api/errors';
import type { ProviderInput } from '@mutirao/core/machines/provider';
import type { AllocationOrder, ResourceManager } from '@mutirao/managers';
import { quietLogger } from '@mutirao/runtime/log';
import { aReservation } from '@mutirao/testkit';
import { Submitter, type SubmitterOptions } from '../../../src/resource/submitter.ts';

const command = {
  kind: 'SubmitRequest',
  requestId: 'q1',
  clientRequestId: 'i.q1',
  userId: 'ana',
  width: 2,
  walltime: 1000,
} as const;

/** A manager whose answers are given one by one: an id, or the code of a refusal. */
function aManager(
  answers: (string | { readonly code: ErrorCode })[],
): ResourceManager & { readonly orders: AllocationOrder[] } {
  const orders: AllocationOrder[] = [];
  const next = (): Promise<string> => {
    const answer = answers.shift() ?? 'none left';
    return typeof answer === 'string'
      ? Promise.resolve(answer)
      : Promise.reject(new MutiraoError(answer.code, 'told so'));
  };
  return {
    orders,
    allocate: (order) => {
      orders.push(order);
      return next();
    },
    release: async () => {
      await next();
    },
    limits: () => Promise.reject(new Error('not asked')),
    queue: () => Promise.reject(new Error('not asked')),
    watch: () => undefined,
    close: () => undefined,
  };
}

function aSubmitter(
  manager: ResourceManager,
  admit?: SubmitterOptions['admit'],
): { submitter: Submitter; inputs: ProviderInput[]; pauses: number[] } {
  const inputs: ProviderInput[] = [];
  const pauses: number[] = [];
  const submitter = new Submitter({
    manager,
    ...(admit === undefined ? {} : { admit }),
    log: quietLogger,
    random: () => 0.5,
    deliver: (input) => {
      inputs.push(input);
    },
    timers: {
      start: (delay, run) => {
        pauses.push(delay);
        run();
      },
      cancel: () => undefined,
    },
    orderOf: () => ({ command: ['agent'], environment: { A: 'b' }, workingDirectory: '' }),
  });
  return { submitter, inputs, pauses };
}

test('an order carries the key of the request, the command and its environment', async (t) => {
  const manager = aManager(['77']);
  const { submitter, inputs } = aSubmitter(manager);
  await submitter.submit(command);
  t.deepEqual(manager.orders, [
    {
      userId: 'ana',
      width: 2,
      walltime: 1000,
      command: ['agent'],
      environment: { A: 'b' },
      clientRequestId: 'i.q1',
      workingDirectory: '',
    },
  ]);
  t.deepEqual(inputs, [{ kind: 'SubmitAccepted', requestId: 'q1', managerRequestId: '77' }]);
});

test('a queue that takes no jobs now refuses for a reason that passes', async (t) => {
  const { submitter, inputs } = aSubmitter(aManager([{ code: 'MUT_QUEUE_CLOSED' }]));
  await submitter.submit(command);
  t.like(inputs[0], { kind: 'SubmitRefused', code: 'MUT_QUEUE_CLOSED', isPassing: true });
});

test('a refusal is reported at once', async (t) => {
  const manager = aManager([{ code: 'MUT_REQUESTS_MAX' }]);
  const { submitter, inputs } = aSubmitter(manager);
  await submitter.submit(command);
  t.deepEqual(inputs, [
    { kind: 'SubmitRefused', requestId: 'q1', reason: 'MUT_REQUESTS_MAX, told so', code: 'MUT_REQUESTS_MAX' },
  ]);
});

test('after a call that came to nothing the same order is tried again, with growing pauses', async (t) => {
  const manager = aManager([{ code: 'MUT_UNREACHABLE' }, { code: 'MUT_DEADLINE_EXCEEDED' }, '78']);
  const { submitter, inputs, pauses } = aSubmitter(manager);
  await submitter.submit(command);
  t.deepEqual(
    manager.orders.map((order) => order.clientRequestId),
    ['i.q1', 'i.q1', 'i.q1'],
  );
  t.deepEqual(pauses, [200, 800]);
  t.deepEqual(inputs, [{ kind: 'SubmitAccepted', requestId: 'q1', managerRequestId: '78' }]);
});

test('when all tries came to nothing, nobody knows', async (t) => {
  const { submitter, inputs } = aSubmitter(
    aManager([{ code: 'MUT_UNREACHABLE' }, { code: 'MUT_UNREACHABLE' }, { code: 'MUT_UNREACHABLE' }, '79']),
  );
  await submitter.submit(command);
  t.deepEqual(inputs, [{ kind: 'SubmitUnknown', requestId: 'q1', reason: 'MUT_UNREACHABLE, told so' }]);
});

test('a release is reported as done or as failed', async (t) => {
  const { submitter, inputs } = aSubmitter(aManager(['', { code: 'MUT_UNREACHABLE' }]));
  const release = { kind: 'ReleaseRequest', requestId: 'q1', managerRequestId: '77' } as const;
  await submitter.release(release);
  await submitter.release(release);
  t.deepEqual(inputs, [
    { kind: 'ReleaseDone', requestId: 'q1' },
    { kind: 'ReleaseFailed', requestId: 'q1', reason: 'MUT_UNREACHABLE, told so' },
  ]);
});

test('an order inside a reservation reaches only a manager that honours those of its resource', async (t) => {
  const reservation = aReservation('7:1000-5000x2');
  const plain = aManager(['77']);
  for (const [manager, names] of [
    [plain, /honours no reservations/],
    [{ ...plain, reservationResource: 'other' }, /honours those of other/],
  ] as const) {
    const { submitter, inputs } = aSubmitter(manager);
    await submitter.submit({ ...command, reservation });
    t.like(inputs[0], { kind: 'SubmitRefused', code: 'MUT_RESERVATION_UNSUPPORTED' });
    t.regex((inputs[0] as { reason: string }).reason, names);
  }
  t.is(plain.orders.length, 0);
  const { submitter } = aSubmitter({ ...plain, reservationResource: 'cl' });
  await submitter.submit({ ...command, reservation });
  t.is(plain.orders[0]?.reservation, reservation);
});

test('a reservation that does not cover a request (yet) is reported before the manager is asked, and does not count as a refusal', async (t) => {
  const manager = { ...aManager(['77']), reservationResource: 'cl' };
  const claims: string[] = [];
  const reservation = aReservation('7:1000-5000x2');
  const { submitter, inputs } = aSubmitter(manager, ({ claim }) => {
    claims.push(claim);
    return claims.length > 1 ? Promise.resolve() : Promise.reject(new MutiraoError('MUT_NO_ROOM', 'busy'));
  });
  await submitter.submit({ ...command, reservation });
  t.deepEqual(inputs, [
    { kind: 'SubmitRefused', requestId: 'q1', reason: 'MUT_NO_ROOM, busy', code: 'MUT_NO_ROOM', isPassing: true },
  ]);
  t.deepEqual(manager.orders, []);
  await submitter.submit({ ...command, reservation });
  t.deepEqual(
    manager.orders.map((order) => order.reservation),
    [reservation],
  );
  t.deepEqual(claims, [reservation.claim, reservation.claim]);
});
