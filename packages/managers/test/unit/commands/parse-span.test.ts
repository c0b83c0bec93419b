import test from 'ava';
import { parseMoment, parseSpan } from '../../../src/commands/parse-span.ts';

test('walltimes are read in the ways in which managers write them', (t) => {
  const hour = 3_600_000;
  for (const [text, span] of [
    ['3600', hour],
    ['90m', 1.5 * hour],
    ['1h30m', 1.5 * hour],
    ['01:30:00', 1.5 * hour],
    ['90:00', 1.5 * hour],
    ['1-01:00:00', 25 * hour],
    ['1:01:00:00', 25 * hour],
    ['100:00:00', 100 * hour],
  ] as const) {
    t.is(parseSpan(text), span, text);
  }
  for (const text of ['', 'UNLIMITED', '-1', '1.5h', '1:2:3:4:5']) t.is(parseSpan(text), undefined, text);
});

test('instants are read as universal time, and malformed ones as 0', (t) => {
  const at = 1_795_205_929_000;
  for (const text of [
    'Fri Nov 20 20:18:49 2026',
    '2026-11-20T20:18:49',
    '2026-11-20 20:18:49',
    '2026-11-20T20:18:49Z',
    '2026-11-20T21:18:49+01:00',
    String(at / 1000),
  ])
    t.is(parseMoment(text), at, text);
  for (const text of ['', '-', 'N/A', '0', 'soon']) t.is(parseMoment(text), 0, text);
});
