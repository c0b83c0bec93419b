import test, { type ExecutionContext } from 'ava';
import { MutiraoError } from '@mutirao/api/errors';
import type { CancelReservationRequest } from '@mutirao/api/reservation';
import type { JobReservation } from '@mutirao/core/messages';
import { quietLogger } from '@mutirao/runtime/log';
import { aReservation, HandTimers } from '@mutirao/testkit';

import { OwnReservations } from '../../../src/process/own-reservations.ts';

interface Returned {
  readonly own: OwnReservations;
  readonly asked: readonly CancelReservationRequest[];
  readonly timers: HandTimers;
  /** Lets what was asked be answered. */
  settle(): Promise<void>;
}

/** Gives back to a manager that answers with these errors first. */
function open(t: ExecutionContext, clock: { now(): number }, errors: MutiraoError[] = []): Returned {
  const asked: CancelReservationRequest[] = [];
  const timers = new HandTimers();
  const cancel = (request: CancelReservationRequest): Promise<unknown> => {
    asked.push(request);
    const error = errors.shift();
    return error === undefined ? Promise.resolve() : Promise.reject(error);
  };
  const own = new OwnReservations({
    address: 'unix:/nowhere/reservations',
    token: () => 'secret',
    clock,
    timers,
    log: quietLogger,
    cancel,
  });
  t.teardown(() => own.stop());
  return {
    own,
    asked,
    timers,
    settle: () =>
      new Promise((resolve) => {
        setImmediate(resolve);
      }),
  };
}

function job(parts: Partial<JobReservation> = { isOwn: true }): Parameters<OwnReservations['giveBack']>[0] {
  return { jobId: 4, reservation: { ...aReservation('7:1000-5000x2'), after: 'continue', ...parts } };
}

test('what a job asked for itself is given back with the reason, and what its user reserved is not', async (t) => {
  const { own, asked, settle } = open(t, { now: () => 0 });
  own.giveBack(job());
  own.giveBack(job({}));
  own.giveBack({ jobId: 5, reservation: undefined });
  await settle();
  t.deepEqual(asked, [{ reservationId: 7, reason: 'job 4, which asked for it, has ended' }]);
});

test('a manager that is away is asked again, until the reservation is over by itself', async (t) => {
  let now = 0;
  const away = () => new MutiraoError('MUT_UNREACHABLE', 'nobody there');
  const { own, asked, timers, settle } = open(t, { now: () => now }, [away(), away()]);
  own.giveBack(job());
  await settle();
  t.true(timers.ring() > 0);
  await settle();
  t.is(asked.length, 2);
  now = 5000;
  timers.ring();
  await settle();
  t.is(asked.length, 2);
  t.is(timers.waiting.length, 0);
});

test('a refusal is not repeated', async (t) => {
  const { own, asked, timers, settle } = open(t, { now: () => 0 }, [
    new MutiraoError('MUT_NOT_OWNER', 'another user is'),
  ]);
  own.giveBack(job());
  await settle();
  t.is(asked.length, 1);
  t.is(timers.waiting.length, 0);
});
