import test from 'ava';
import { Prng } from '@mutirao/core/shared';
import { describeFault, FaultPlan, type Fault } from '../../../src/chaos/fault-plan.ts';

function listFaults(seed: number, count: number, hasDisks = true): Fault[] {
  const plan = new FaultPlan(new Prng(`test ${seed}`), { hasDisks });
  return Array.from({ length: count }, () => plan.next());
}

test('a seed gives the same faults again, and another seed others', (t) => {
  t.deepEqual(listFaults(1, 50), listFaults(1, 50));
  t.notDeepEqual(listFaults(1, 50), listFaults(2, 50));
});

test('every kind of fault comes, every role is hit, and no fault lasts longer than 20 s', (t) => {
  const faults = listFaults(3, 1000);
  t.deepEqual([...new Set(faults.map(({ kind }) => kind))].sort(), [
    'away',
    'disk',
    'kill',
    'killAll',
    'killRoles',
    'pause',
    'wire',
  ]);
  const roles = new Set(
    faults.flatMap((fault) => (fault.kind === 'kill' ? fault.victims.map(({ role }) => role) : [])),
  );
  t.deepEqual([...roles].sort(), ['agent', 'broker', 'cluster', 'launcher', 'provider', 'task', 'watchdog']);
  t.deepEqual([...new Set(faults.flatMap((fault) => (fault.kind === 'wire' ? [fault.mode] : [])))].sort(), [
    'cut',
    'halfClose',
    'refuse',
    'stall',
  ]);
  for (const fault of faults) {
    if ('forMs' in fault) t.true(fault.forMs >= 100 && fault.forMs <= 20_000, describeFault(fault));
    t.not(describeFault(fault), '');
  }
});

test('where disks cannot be filled, none is', (t) => {
  t.false(listFaults(3, 1000, false).some(({ kind }) => kind === 'disk'));
});
