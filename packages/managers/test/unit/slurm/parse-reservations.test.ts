import test from 'ava';
import { parseReservations, parseThreadsPerCore } from '../../../src/slurm/parse-reservations.ts';

const line = (name: string, more = ''): string =>
  `ReservationName=${name} StartTime=2026-11-22T11:33:27 EndTime=2026-11-22T11:43:27 Duration=00:10:00 ` +
  'Nodes=n[1-2] NodeCnt=2 CoreCnt=12 Features=(null) ' +
  ('PartitionName=main Flags=   NodeName=n1 CoreIDs=0-7   NodeName=n2 CoreIDs=0-3 TRES=cpu=12 Users=root ' +
    `Groups=(null) State=INACTIVE MaxStartDelay=(null)${more}`);

test('only reservations with our prefix and a number are ours', (t) => {
  const output = ['mutirao_site_7', 'mutirao_site_7b', 'mutirao_site_', 'mutirao_site_b_7', 'maintenance']
    .map((name) => line(name))
    .join('\n');
  const startsAt = 1_795_347_207_000;
  const endsAt = startsAt + 600_000;
  t.deepEqual(parseReservations(`${output}\n`, 'mutirao_site_', 1), [
    { reservationId: 7, count: 12, startsAt, endsAt },
  ]);
  t.deepEqual(parseReservations('No reservations in the system\n', 'mutirao_site_', 1), []);
});

test('cores count as many processors as they have threads', (t) => {
  t.is(parseReservations(line('mutirao_site_7'), 'mutirao_site_', 2)?.[0]?.count, 24);
});

test('an unreadable reservation of Mutirao spoils the listing', (t) => {
  t.is(
    parseReservations(line('mutirao_site_7').replace('StartTime=2026', 'StartTime=soon'), 'mutirao_site_', 1),
    undefined,
  );
  t.is(parseReservations(line('mutirao_site_7').replace('CoreCnt=12', ''), 'mutirao_site_', 1), undefined);
  t.deepEqual(parseReservations(line('other_7').replace('CoreCnt=12', ''), 'mutirao_site_', 1), []);
});

test('the fewest threads of any node count, so that the cores are enough everywhere', (t) => {
  t.is(parseThreadsPerCore('2\n1\n2\n'), 1);
  t.is(parseThreadsPerCore('2\n2\n'), 2);
  t.is(parseThreadsPerCore(''), 1);
});
