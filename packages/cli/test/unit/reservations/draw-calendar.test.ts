import test from 'ava';
import { runCommandLine } from '@mutirao/testkit';
import { drawCalendar, type Drawing } from '../../../src/reservations/draw-calendar.ts';

const hour = 3_600_000;
/** 2026-03-01T12:00:00Z; the drawing shows local time. */
const from = 1_772_366_400_000;

/** 24 columns of half an hour each. */
function draw(changes: Partial<Drawing>): string[] {
  return drawCalendar({ slots: [], from, until: from + 12 * hour, total: 16, cap: 16, columns: 32, ...changes });
}

const slot = (start: number, end: number, used: number) => ({
  startUnixMs: from + start * hour,
  endUnixMs: from + end * hour,
  used,
});

test('a bar is as high as the most that is reserved in its stretch of time', (t) => {
  const lines = draw({
    slots: [slot(0, 2, 16), slot(2, 4, 8), slot(4, 4.25, 3), slot(4.25, 4.5, 5), slot(4.5, 12, 0)],
  });
  t.regex(lines.pop() ?? '', /^ {8}\d\d:\d\d {7}\d\d:\d\d$/);
  t.deepEqual(lines, [
    ' 100 % ┤████',
    '       ┤████',
    '       ┤████',
    '       ┤████',
    '  50 % ┤████████',
    '       ┤████████▄',
    '       ┤█████████',
    '       ┤█████████',
    '       └┬───────────┬───────────',
  ]);
});

test('the least that is reserved can be seen, and what is outside of the window cannot', (t) => {
  const lines = draw({
    total: 1_000_000,
    cap: 1_000_000,
    slots: [slot(-5, -1, 1_000_000), slot(1, 1.5, 1), slot(12, 13, 1_000_000)],
  });
  t.is(lines[7], '       ┤  ▁');
  t.true(lines.slice(0, 7).every((line) => /^[ 0-9%]*┤$/.test(line)));
});

test('what the owner offers is a dotted line where it is less than all', (t) => {
  const lines = draw({ cap: 8, slots: [slot(0, 1, 8)] });
  t.is(lines[3], `       ┤${'·'.repeat(24)}`);
  t.false(draw({}).some((line) => line.includes('·')));
});

test('a window of more than a day shows the days, and a narrow terminal still shows something', (t) => {
  t.regex(draw({ until: from + 48 * hour }).at(-1) ?? '', /^ {8}0\d-\d\d \d\d:\d\d 0\d-\d\d \d\d:\d\d$/);
  t.is(draw({ columns: 5 }).at(-2), '       └┬───────────');
  t.is(draw({ columns: 1000 }).at(-2)?.length, 120);
});

test('without an end a calendar goes as far as anything is reserved, and a day at least', async (t) => {
  const hour = 3_600_000;
  const findCalendar = async (
    slots: { startUnixMs: number; endUnixMs: number; used: number }[],
    ...words: string[]
  ): Promise<number> => {
    let end = 0;
    const resource = { resourceId: 'rig', total: 4, unit: '', failed: 0, failedUnits: [] };
    const getCalendar = ({ fromUnixMs, untilUnixMs }: { fromUnixMs: number; untilUnixMs: number }) => {
      end = untilUnixMs;
      return Promise.resolve({ resource, fromUnixMs, untilUnixMs, truncated: false, slots });
    };
    await runCommandLine(['reservation', 'calendar', 'rig', '--manager', 'h:1', '--quiet', ...words], {
      reservations: { getCalendar } as never,
      now: () => 0,
    });
    return end;
  };
  const tomorrow = { startUnixMs: 28 * hour, endUnixMs: 30 * hour, used: 2 };
  t.is(await findCalendar([tomorrow, { startUnixMs: 30 * hour, endUnixMs: 999 * hour, used: 0 }]), 30 * hour);
  t.is(await findCalendar([{ ...tomorrow, startUnixMs: 0, endUnixMs: hour }]), 24 * hour);
  t.is(await findCalendar([tomorrow], '--until', '+2h'), 2 * hour);
});
