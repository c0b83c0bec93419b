import test from 'ava';
import {
  compareStarts,
  estimateCost,
  decodeStarts,
  encodeStarts,
  isComplete,
  isStartsChunk,
  listChunks,
  listParts,
  listStarts,
  type StartsChunk,
} from '@mutirao/sim/costa2005';

const [chunk] = listStarts({ isQuick: true, seed: '1' }) as [StartsChunk];
const result = {
  seed: '1',
  requestCount: 20_000,
  differing: { settled: 0, 'ends-first': 12, 'last-submitted-first': 3 },
};
const text = encodeStarts(chunk, result);

test('four logs are compared under both compressions, whole in the whole study (costa2005, Table 4.7)', (t) => {
  const whole = listStarts({ isQuick: false, seed: '1' });
  t.deepEqual(
    whole.map(({ id }) => id),
    ['sp2', 'ctc', 'lanl', 'bluehorizon'].flatMap((log) => [`${log}-starts-start-now`, `${log}-starts-reinsert`]),
  );
  t.true(whole.every(({ requestsMax }) => requestsMax === undefined));
  t.true(listStarts({ isQuick: true, seed: '1' }).every(({ requestsMax }) => requestsMax === 20_000));
  t.deepEqual(
    whole.map(({ trace }) => trace.processors),
    [128, 128, 512, 512, 1024, 1024, 1152, 1152],
  );
});

test('requests that start at another time are counted, for each order of events, among the first ones only', (t) => {
  // At 10 the end of the first request and the submission of the third fall together: with ends first the third starts
  // at once.
  const requests = [
    { submittedAt: 0, width: 1, walltime: 100, runTime: 10 },
    { submittedAt: 1, width: 1, walltime: 5, runTime: 5 },
    { submittedAt: 10, width: 1, walltime: 5, runTime: 5 },
    { submittedAt: 10, width: 1, walltime: 3, runTime: 3 },
  ];
  const small = { ...chunk, trace: { ...chunk.trace, processors: 1 } };
  const compare = (requestsMax: number): unknown => compareStarts({ ...small, requestsMax }, requests);
  t.deepEqual(compare(2), { requestCount: 2, differing: { settled: 0, 'ends-first': 0, 'last-submitted-first': 0 } });
  t.deepEqual(compare(4), { requestCount: 4, differing: { settled: 0, 'ends-first': 0, 'last-submitted-first': 2 } });
});

test('a result is read as it was written, and not when it is cut short, or of another part or seed', (t) => {
  t.deepEqual(decodeStarts(text, chunk, '1'), result);
  t.is(decodeStarts(text, chunk, '2'), undefined);
  t.is(decodeStarts(text, { ...chunk, id: 'other' }, '1'), undefined);
  for (let length = 0; length < text.length; length++) t.is(decodeStarts(text.slice(0, length), chunk, '1'), undefined);
  t.true(isComplete(text, chunk, '1'));
  t.false(isComplete(text, listChunks({ isQuick: true, seed: '1' })[0]!, '1'));
});

test('the parts of a study are distinguished, and each has a cost; a job of more tasks costs more', (t) => {
  const parts = listParts({ isQuick: false, seed: '1' });
  t.is(parts.filter(isStartsChunk).length, 8);
  t.is(new Set(parts.map(({ id }) => id)).size, parts.length);
  t.true(parts.every((part) => estimateCost(part) > 0));
  const [small, large] = ['sp2-100x100s-1x', 'sp2-100000x100s-1x'].map((id) =>
    estimateCost(parts.find((part) => part.id === id)!),
  );
  t.true(large! > 20 * small!);
});
