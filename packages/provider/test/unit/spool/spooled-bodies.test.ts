import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { SpooledBodies } from '../../../src/spool/spooled-bodies.ts';

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));
const key = (sequence: number, incarnation = 'i') => ({ machineId: 'p/pc1', incarnation, sequence });

test('a report is found by its name with the transfers of its outputs, until it is dropped', (t) => {
  const bodies = new SpooledBodies(new DatabaseSync(':memory:'));
  bodies.keepReport(key(1), { bytes: bytes('one'), transferIds: ['t1', 't2'] });
  bodies.keepReport(key(2), { bytes: bytes('two'), transferIds: ['t3'] });
  bodies.keepReport(key(2, 'j'), { bytes: bytes('another process'), transferIds: [] });
  bodies.keepReport(key(1), { bytes: bytes('one'), transferIds: ['t1', 't2'] });
  t.deepEqual(bodies.findReport(key(1)), { bytes: bytes('one'), transferIds: ['t1', 't2'] });
  t.deepEqual(bodies.findReport(key(3)), undefined);
  t.is(bodies.reportBytes, 3 + 3 + 15);
  t.deepEqual(bodies.dropReports('p/pc1', 'i', 1), ['t1', 't2']);
  t.deepEqual([bodies.isNamed('t1'), bodies.isNamed('t3')], [false, true]);
  t.deepEqual(bodies.findReport(key(1)), undefined);
  t.deepEqual(bodies.findReport(key(2, 'j'))?.bytes, bytes('another process'));
});

test('a lease stays until a later one of its broker is taken', (t) => {
  const bodies = new SpooledBodies(new DatabaseSync(':memory:'));
  bodies.keepLease('b1', 1, bytes('first'));
  bodies.keepLease('b1', 2, bytes('second'));
  bodies.keepLease('b2', 1, bytes('of another'));
  bodies.dropLeasesBefore('b1', 2);
  t.deepEqual(
    [bodies.findLease('b1', 1), bodies.findLease('b1', 2), bodies.findLease('b2', 1)],
    [undefined, bytes('second'), bytes('of another')],
  );
});

test('what was written and never promised is forgotten', (t) => {
  const bodies = new SpooledBodies(new DatabaseSync(':memory:'));
  for (const sequence of [1, 2]) bodies.keepReport(key(sequence), { bytes: bytes('x'), transferIds: [`t${sequence}`] });
  for (const sequence of [1, 2]) bodies.keepLease('b1', sequence, bytes('x'));
  bodies.prune({ isReport: ({ sequence }) => sequence === 1, isLease: (_brokerId, sequence) => sequence === 2 });
  t.deepEqual(
    [bodies.findReport(key(1)) !== undefined, bodies.findReport(key(2)), bodies.isNamed('t1'), bodies.isNamed('t2')],
    [true, undefined, true, false],
  );
  t.deepEqual([bodies.findLease('b1', 1), bodies.findLease('b1', 2)], [undefined, bytes('x')]);
});
