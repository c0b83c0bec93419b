// Machines of several processors are as busy as their tasks make them.
import test from 'ava';
import type { ProvidedMachine } from '../../../../src/machines/provider/state.ts';
import { countBusy, widthOfTasks } from '../../../../src/machines/provider/slots.ts';
import { aMachine } from '@mutirao/testkit';

const slot = { processors: 4, memory: 2 ** 30, gpus: 0 };

function busy(processors: number, since: readonly number[], width: number): number {
  const machine: Pick<ProvidedMachine, 'facts' | 'busySince'> = {
    facts: aMachine('p/a', { processors }),
    busySince: since,
  };
  return countBusy(machine, width);
}

test('a machine of eight processors that runs one task of two is busy with two', (t) => {
  t.is(busy(8, [5], 2), 2);
  t.is(busy(8, [5, 6, 7], 2), 6);
  t.is(busy(8, [], 2), 0);
});

test('no machine is busy with more processors than it has', (t) => {
  t.is(busy(1, [5], 4), 1);
  t.is(busy(8, [1, 2, 3], 4), 8);
});

test('tasks in slots of another shape than what is asked for now take a slot each', (t) => {
  const shared = { processors: 1, slot };
  t.is(widthOfTasks({ slot }, shared), 1, 'of the demand: several share a slot');
  t.is(widthOfTasks({ slot }, { processors: 2, slot: { ...slot, processors: 2 } }), 4);
  t.is(widthOfTasks({ slot }, undefined), 1);
  t.is(widthOfTasks({}, { processors: 3, slot }), 3);
});
