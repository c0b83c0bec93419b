import test from 'ava';
import fc from 'fast-check';
import { checkNothingOvercommitted, ReservationsDialogue } from '@mutirao/testkit';

const user = fc.constantFrom('ana', 'bob', 'eva');
const resource = fc.constantFrom('cluster', 'net');
const instant = fc.integer({ min: 0, max: 400 });

const request = fc.record({
  user, resource, percent: fc.integer({ min: 1, max: 100 }), duration: fc.integer({ min: 1, max: 90 }), from: fc.option(instant), laxity: fc.option(fc.integer({ min: 0, max: 150 })),
  hold: fc.option(fc.integer({ min: 1, max: 60 })), key: fc.option(fc.constantFrom('a', 'b', 'c')), timing: fc.constantFrom('', ' immediate', ' on-demand'),
}).map(({ user: userId, resource: of, percent, duration, from, laxity, hold, key, timing }) => {
  const until = laxity === null ? '' : ` until ${(from ?? 0) + duration + laxity}`;
  const start = from === null ? '' : ` from ${from}`;
  return `${userId} wants ${percent}% of ${of} for ${duration}${start}${until}${hold === null ? '' : ` hold ${hold}`}${key === null ? '' : ` key ${key}`}${timing}`;
});
const id = fc.integer({ min: 1, max: 12 });
const line = fc.oneof(
  { weight: 6, arbitrary: request },
  { weight: 2, arbitrary: fc.tuple(user, id, fc.constantFrom('confirms', 'cancels', 'releases')).map(([userId, one, verb]) => `${userId} ${verb} ${one}`) },
  { weight: 2, arbitrary: fc.tuple(user, id, fc.integer({ min: 1, max: 100 }), instant).map(([userId, one, percent, from]) => `${userId} renegotiates ${one} ${percent}% for 40 from ${from}`) },
  { weight: 1, arbitrary: fc.tuple(resource, fc.integer({ min: 1, max: 3 }), fc.constantFrom('fails', 'restores')).map(([of, amount, verb]) => `owner ${verb} ${of} amount ${amount}`) },
  { weight: 1, arbitrary: fc.tuple(resource, instant, fc.integer({ min: 1, max: 99 })).map(([of, from, length]) => `owner maintains ${of} m${from} from ${from} until ${from + length} amount 2`) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 60 }).map((step) => `pass ${step}`) },
  { weight: 1, arbitrary: fc.constant('restart') },
);

test('whatever users and owners do, nothing is over-committed, and replay and restarts give the same state', (t) => {
  fc.assert(fc.property(fc.array(line, { maxLength: 40 }), fc.boolean(), (lines, isMoving) => {
    const dialogue = new ReservationsDialogue();
    dialogue.now = 1;
    const rules = isMoving ? ' suvs-p moves 3' : '';
    dialogue.perform(`owner offers cluster 6${rules}`);
    dialogue.perform(`owner offers net 10B/s${rules}`);
    for (const one of lines) {
      dialogue.perform(one.startsWith('pass ') ? `at ${dialogue.now + Number(one.slice(5))}` : one);
      checkNothingOvercommitted(dialogue.state);
    }
    dialogue.checkReplay();
  }), { seed: 20_261_122, numRuns: 400 });
  t.pass();
});
