import test from 'ava';
import fc from 'fast-check';
import { chooseWindow, type CommonWindow, type WindowAnswer } from '@mutirao/core/reservations';

const seed = 20_261_122;
const horizon = 60;

/** A resource that is busy in some of the instants up to a horizon, and free for good beyond it. */
type Busy = readonly boolean[];

function isFree(busy: Busy, { start, end }: CommonWindow): boolean {
  for (let at = start; at < end; at += 1) if (busy[at] === true) return false;
  return true;
}

function earliest(busy: Busy, from: number, duration: number): number {
  for (let start = from; ; start += 1) if (isFree(busy, { start, end: start + duration })) return start;
}

function getAnswer(busy: Busy, window: CommonWindow): WindowAnswer {
  return isFree(busy, window)
    ? { kind: 'placed' }
    : { kind: 'later', start: earliest(busy, window.start, window.end - window.start) };
}

/** Asks round by round, as a client does. */
function search(
  resources: readonly Busy[],
  first: CommonWindow,
  latestEnd: number | undefined,
): { readonly window: CommonWindow | undefined; readonly rounds: number } {
  let window = first;
  for (let rounds = 1; ; rounds += 1) {
    const choice = chooseWindow(
      window,
      resources.map((busy) => getAnswer(busy, window)),
      latestEnd,
    );
    if (choice.kind !== 'again') return { window: choice.kind === 'found' ? choice.window : undefined, rounds };
    window = choice.window;
  }
}

const resource = fc.array(fc.boolean(), { minLength: horizon, maxLength: horizon });

test('the common window is the earliest that any search would find, and none is found beyond the latest end', (t) => {
  fc.assert(
    fc.property(
      fc.array(resource, { minLength: 1, maxLength: 4 }),
      fc.nat(20),
      fc.integer({ min: 1, max: 12 }),
      fc.option(fc.nat(40)),
      (resources, from, duration, room) => {
        const latestEnd = room === null ? undefined : from + duration + room;
        const wanted = earliest(
          Array.from({ length: horizon }, (_none, at) => resources.some((busy) => busy[at] === true)),
          from,
          duration,
        );
        const { window } = search(resources, { start: from, end: from + duration }, latestEnd);
        if (latestEnd !== undefined && wanted + duration > latestEnd) return window === undefined;
        return window?.start === wanted && window.end === wanted + duration;
      },
    ),
    { seed, numRuns: 2000 },
  );
  t.pass();
});

test('each round begins later, so that the search comes to an end', (t) => {
  fc.assert(
    fc.property(
      fc.array(resource, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 12 }),
      (resources, duration) => search(resources, { start: 0, end: duration }, undefined).rounds <= horizon + 1,
    ),
    { seed, numRuns: 1000 },
  );
  t.pass();
});

test('one that has no room at all, or names no later start, ends the search by its name', (t) => {
  const asked = { start: 10, end: 20 };
  t.deepEqual(chooseWindow(asked, [{ kind: 'later', start: 30 }, { kind: 'never' }], undefined), {
    kind: 'none',
    by: 1,
  });
  t.deepEqual(chooseWindow(asked, [{ kind: 'placed' }, { kind: 'later', start: 10 }], undefined), {
    kind: 'none',
    by: 1,
  });
  t.deepEqual(chooseWindow(asked, [{ kind: 'placed' }, { kind: 'later', start: 11 }], 20), {
    kind: 'none',
    by: undefined,
  });
  t.deepEqual(chooseWindow(asked, [{ kind: 'placed' }, { kind: 'later', start: 11 }], 21), {
    kind: 'again',
    window: { start: 11, end: 21 },
  });
});
