// Whatever a machine's inputs, changes and commands hold, a trace gives it back.
import { isDeepStrictEqual } from 'node:util';
import {
  decodeTraceLine,
  decodeValue,
  encodeTraceLine,
  encodeValue,
  type TraceLine,
} from '@mutirao/core/debugging-trace';
import { runs } from '@mutirao/testkit';
import test from 'ava';
import fc from 'fast-check';

const name = fc.oneof(fc.constantFrom('$', '__proto__', 'kind', '', 'a"b\n', '7'), fc.string());
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string({ unit: 'binary' }),
    fc.double(),
    fc.integer(),
    fc.constantFrom(NaN, Infinity, -Infinity, -0, 2 ** 53, null, undefined, true, false),
    fc.uint8Array({ maxLength: 40 }),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(name, tie('value'), { maxKeys: 5, noNullPrototype: true }),
    fc.array(fc.tuple(fc.string(), tie('value')), { maxLength: 4 }).map((entries) => new Map(entries)),
    fc.array(fc.integer(), { maxLength: 4 }).map((values) => new Set(values)),
  ),
}));
const plain = { noNullPrototype: true } as const;
const message = fc.record({ kind: fc.string(), body: value }, plain);

test('a value is read back as it was written, on one line', (t) => {
  fc.assert(
    fc.property(value, (written) => {
      const text = encodeValue(written);
      return !text.includes('\n') && isDeepStrictEqual(decodeValue(JSON.parse(text)), written);
    }),
    runs(11, 1500),
  );
  t.pass();
});

const line: fc.Arbitrary<TraceLine> = fc.oneof(
  fc.record(
    {
      kind: fc.constant('head' as const),
      head: fc.record(
        {
          machine: fc.constantFrom('broker' as const, 'agent' as const),
          release: fc.string(),
          at: fc.nat(),
          options: value,
          state: value,
        },
        plain,
      ),
    },
    plain,
  ),
  fc.record(
    {
      kind: fc.constant('inputs' as const),
      turn: fc.integer({ min: 1 }),
      now: fc.nat(),
      inputs: fc.array(message, { maxLength: 4 }),
    },
    plain,
  ),
  fc.record(
    {
      kind: fc.constant('outcome' as const),
      turn: fc.integer({ min: 1 }),
      changes: fc.array(message, { maxLength: 3 }),
      commands: fc.array(message, { maxLength: 3 }),
    },
    plain,
  ),
  fc.record({ kind: fc.constant('end' as const), error: fc.string() }, plain),
);

test('a line of a trace is read back as it was written, and no part of it is taken for a line', (t) => {
  fc.assert(
    fc.property(line, fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), (written, share) => {
      const text = encodeTraceLine(written);
      const whole = text.slice(0, -1);
      return (
        text.endsWith('\n') &&
        isDeepStrictEqual(decodeTraceLine(whole), written) &&
        decodeTraceLine(whole.slice(0, share * whole.length)) === undefined
      );
    }),
    runs(12, 600),
  );
  t.pass();
});
