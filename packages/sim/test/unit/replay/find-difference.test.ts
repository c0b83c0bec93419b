import { inspect } from 'node:util';
import { findDifference } from '@mutirao/sim/replay';
import test from 'ava';

const same: readonly (readonly [unknown, unknown])[] = [
  [1, 1],
  [NaN, NaN],
  [undefined, undefined],
  [null, null],
  ['a', 'a'],
  [[], []],
  [{}, {}],
  [{ a: undefined }, {}],
  [{}, { a: undefined }],
  [
    { a: 1, b: 2 },
    { b: 2, a: 1 },
  ],
  [new Uint8Array([1, 2]), Buffer.from([1, 2])],
  [new Map([[1, { a: 2 }]]), new Map([[1, { a: 2 }]])],
  [new Set([1]), new Set([1])],
];
for (const [one, other] of same)
  test(`${inspect(one)} is the same as ${inspect(other)}`, (t) => {
    t.is(findDifference(one, other, 'x'), undefined);
  });

const different: readonly (readonly [one: unknown, other: unknown, path: string])[] = [
  [1, 2, 'x'],
  [0, -0, 'x'],
  [null, undefined, 'x'],
  [[1, 2], [1, 3], 'x[1]'],
  [[1], [1, undefined], 'x.length'],
  [[1], [1, 2], 'x[1]'],
  [{ a: { b: [{ c: 1 }] } }, { a: { b: [{ c: 2 }] } }, 'x.a.b[0].c'],
  [{ a: 1 }, { b: 1 }, 'x.a'],
  [{}, { b: 1 }, 'x.b'],
  [new Uint8Array([1, 2]), new Uint8Array([1, 3]), 'x[1]'],
  [new Uint8Array([1]), [1], 'x'],
  [[], {}, 'x'],
  [new Map([[1, 2]]), new Map([[1, 3]]), 'x[0][1]'],
  ['1', 1, 'x'],
];
for (const [one, other, path] of different) {
  test(`${inspect(one)} differs from ${inspect(other)} at ${path}`, (t) => {
    t.is(findDifference(one, other, 'x')?.path, path);
  });
}
