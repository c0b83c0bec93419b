// What the page says of numbers.
import test from 'ava';
import {
  sayBytes,
  sayCount,
  sayDuration,
  sayEnded,
  sayMany,
  sayProcessorTime,
  sayRemaining,
  saySentence,
  sayShare,
} from '../../../client/src/model/words.ts';

test('times are said in their two largest units', (t) => {
  t.deepEqual([0, 999, 1000, 9949, 59_999, 60_000, 61_500, 3_600_000, 7_500_000, 90_000_000].map(sayDuration), [
    '0 ms',
    '999 ms',
    '1.0 s',
    '9.9 s',
    '60 s',
    '1 min',
    '1 min 1 s',
    '1 h',
    '2 h 5 min',
    '1 d 1 h',
  ]);
});

test('a message is shown as a sentence', (t) => {
  t.is(saySentence('there is no job 9'), 'There is no job 9.');
  t.is(saySentence('Choose another name.'), 'Choose another name.');
  t.is(saySentence(''), '');
});

test('ended jobs that are not counted are not denied', (t) => {
  t.is(sayEnded({ jobs_ended: 3, has_more_jobs: false }), '3');
  t.is(sayEnded({ jobs_ended: 99, has_more_jobs: true }), '99 or more');
});

test('remaining time is said no more exactly than it is known', (t) => {
  t.is(sayRemaining(null, null), 'not known yet');
  t.is(sayRemaining(null, 5000), 'about 5.0 s');
  t.is(sayRemaining(60_000, 62_000), 'about 1 min 2 s');
  t.is(sayRemaining(60_000, 180_000), '1 min to 3 min');
});

test('shares are never rounded to nothing or to all', (t) => {
  t.deepEqual(
    [sayShare(0, 10), sayShare(1, 100_000), sayShare(99_999, 100_000), sayShare(1, 2), sayShare(7, 7), sayShare(1, 0)],
    ['0 %', '< 1 %', '> 99 %', '50 %', '100 %', '0 %'],
  );
});

test('counts, bytes and processor-time', (t) => {
  t.deepEqual([sayCount(1_234_567), sayMany(1, 'task'), sayMany(2000, 'task')], ['1,234,567', '1 task', '2,000 tasks']);
  t.deepEqual(
    [sayBytes(0), sayBytes(999), sayBytes(1500), sayBytes(84_211), sayBytes(3e9)],
    ['0 B', '999 B', '1.5 kB', '84 kB', '3.0 GB'],
  );
  t.deepEqual(
    [sayProcessorTime(1500), sayProcessorTime(90_000), sayProcessorTime(5_400_000)],
    ['1.5 processor-s', '1.5 processor-min', '1.50 processor-h'],
  );
});
