import test from 'ava';
import { describeBytes, describeExactTime, describeTime } from '../../../src/shared/index.ts';

test('times are printed in the units that people use', (t) => {
  t.is(describeTime(250), '250 ms');
  t.is(describeTime(3_240), '3.2 s');
  t.is(describeTime(310_400), '5 min 10 s');
  t.is(describeTime(7_380_000), '2 h 3 min');
});

test('a limit is printed to the millisecond, so that it differs from what missed it', (t) => {
  t.is(describeExactTime(86_400_000), '24 h');
  t.is(describeExactTime(86_400_001), '24 h 1 ms');
  t.is(describeExactTime(90_000), '1 min 30 s');
  t.is(describeExactTime(0), '0 ms');
});

test('bytes are printed in powers of 1024', (t) => {
  t.is(describeBytes(1023), '1023 B');
  t.is(describeBytes(1024), '1 KiB');
  t.is(describeBytes(1_572_864), '1.5 MiB');
  t.is(describeBytes(5 * 1024 ** 3), '5 GiB');
  t.is(describeBytes(99 * 1024 ** 4), '99 TiB');
});
