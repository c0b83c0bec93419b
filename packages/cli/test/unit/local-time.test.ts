import { execFileSync } from 'node:child_process';
import test from 'ava';

/** Reads moments in a process of another time zone, for this one has its own: `TEXT` gives ISO 8601 or the error. */
function inZone(zone: string, now: string, texts: readonly string[]): string[] {
  const script = `
    const { parseMoment } = await import(${JSON.stringify(new URL('../../src/local-time.ts', import.meta.url).href)});
    const told = ${JSON.stringify(texts)}.map((text) => {
      try { return new Date(parseMoment(text, Date.parse(${JSON.stringify(now)}))).toISOString(); } catch (error) { return error.code + ' ' + error.message; }
    });
    process.stdout.write(JSON.stringify(told));`;
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      env: { ...process.env, TZ: zone },
      encoding: 'utf8',
    }),
  ) as string[];
}

test('a local time that comes twice or never is an error that names both readings', (t) => {
  const [twice, never, fine, offset] = inZone('Europe/Berlin', '2026-01-01T00:00:00Z', [
    '2026-10-25 02:30',
    '2026-03-29 02:30',
    '2026-03-29 03:30',
    '2026-10-25T02:30:00+01:00',
  ]);
  t.regex(
    twice ?? '',
    /^MUT_LOCAL_TIME .*comes twice.*expected 2026-10-25T02:30:00\+02:00 or 2026-10-25T02:30:00\+01:00$/,
  );
  t.regex(
    never ?? '',
    /^MUT_LOCAL_TIME .*does not exist.*expected 2026-03-29T01:30:00\+01:00 or 2026-03-29T03:30:00\+02:00$/,
  );
  t.is(fine, '2026-03-29T01:30:00.000Z');
  t.is(offset, '2026-10-25T01:30:00.000Z');
});

test('a time of day is the next such moment, and a day begins at midnight', (t) => {
  t.deepEqual(
    inZone('America/Sao_Paulo', '2026-03-01T15:00:00Z', [
      '14:00',
      '11:00',
      'today 11:00',
      'tomorrow 14:00',
      'tomorrow',
      '2026-03-05',
      '2026-03-05T09:30:10',
      '2026-03-05 09:30Z',
    ]),
    [
      '2026-03-01T17:00:00.000Z',
      '2026-03-02T14:00:00.000Z',
      '2026-03-01T14:00:00.000Z',
      '2026-03-02T17:00:00.000Z',
      '2026-03-02T03:00:00.000Z',
      '2026-03-05T03:00:00.000Z',
      '2026-03-05T12:30:10.000Z',
      '2026-03-05T09:30:00.000Z',
    ],
  );
  for (const reported of inZone('UTC', '2026-03-01T15:00:00Z', ['25:00', '2026-02-30 10:00', 'soon', '', '14:61']))
    t.regex(reported, /^MUT_BAD_REQUEST /);
});

test("a time of day that was there twice, or never, today is tomorrow's", (t) => {
  t.deepEqual(inZone('Europe/Berlin', '2026-10-25T19:00:00Z', ['02:30', '21:00']), [
    '2026-10-26T01:30:00.000Z',
    '2026-10-25T20:00:00.000Z',
  ]);
  t.deepEqual(inZone('Europe/Berlin', '2026-03-29T18:00:00Z', ['02:30']), ['2026-03-30T00:30:00.000Z']);
  // Of the two one is still to come.
  t.regex(inZone('Europe/Berlin', '2026-10-25T00:45:00Z', ['02:30'])[0] ?? '', /^MUT_LOCAL_TIME .*comes twice/);
});

test('a day that does not exist is refused with an offset too', (t) => {
  const reported = inZone('UTC', '2026-01-01T00:00:00Z', [
    '2026-02-30T10:00:00Z',
    '2026-02-29 10:00Z',
    '2026-04-31T10:00:00+02:00',
    '2028-02-29T10:00:00Z',
    '2026-03-01T00:30:00+02:00',
  ]);
  for (const one of reported.slice(0, 3)) t.regex(one, /^MUT_BAD_REQUEST /);
  t.deepEqual(reported.slice(3), ['2028-02-29T10:00:00.000Z', '2026-02-28T22:30:00.000Z']);
});
