// A task that is wider than anything that may ever be had is refused with its name, and nothing else is.
import test from 'ava';

import { brokerMachine, createBrokerState, type BrokerInput, type BrokerState } from '@mutirao/core/machines/broker';
import { aGroup, aJob, aMachine } from '@mutirao/testkit';

import { checkWidths } from '../../../src/submission/check-widths.ts';

function stateWith(providers: readonly string[], machineProcessors?: number): BrokerState {
  const state = createBrokerState();
  const inputs = providers.flatMap((providerId): BrokerInput[] => [
    { kind: 'ProviderAdded', replyTo: 0, providerId, address: 'h:1' },
    { kind: 'ProviderConnected', providerId },
  ]);
  const joined: BrokerInput[] =
    machineProcessors === undefined
      ? []
      : [
          {
            kind: 'MachineJoined',
            providerId: 'alpha',
            facts: aMachine('alpha/a', { processors: machineProcessors }),
            heldReplicaIds: [],
          },
        ];
  brokerMachine.step(state, [...inputs, ...joined], 1);
  return state;
}

const wide = aJob(1, {
  groups: [aGroup(2), aGroup(1, { values: { kind: 'list', values: ['align'] }, processors: 9, processorsMax: 20 })],
});

function getRules(state: BrokerState, widths: Readonly<Record<string, number>>) {
  return { state, machineProcessorsOf: (providerId: string) => Promise.resolve(widths[providerId]) };
}

test('a task that no connected provider may ever have a machine for is refused with its name', async (t) => {
  const error = await t.throwsAsync(checkWidths(wide, getRules(stateWith(['alpha', 'beta']), { alpha: 4, beta: 8 })), {
    code: 'MUT_PROCESSORS_MAX',
  });
  t.is(error.message, 'task 2 (align) takes 9 processors of one machine; a machine of provider beta has 8 at most');
});

test('a task that one of them may have a machine for is taken', async (t) => {
  await t.notThrowsAsync(checkWidths(wide, getRules(stateWith(['alpha', 'beta']), { alpha: 4, beta: 9 })));
});

test('nothing is refused where a machine is wide enough, where machines may join, or where no provider is there', async (t) => {
  await t.notThrowsAsync(checkWidths(wide, getRules(stateWith(['alpha'], 16), { alpha: 4 })));
  await t.notThrowsAsync(checkWidths(wide, getRules(stateWith(['alpha', 'lab']), { alpha: 4 })));
  await t.notThrowsAsync(checkWidths(wide, getRules(stateWith([]), {})));
});

test('a gang has its processors of several machines, and nobody is asked for tasks that fit', async (t) => {
  await t.notThrowsAsync(
    checkWidths(aJob(1, { processors: 9, gang: true, replicasMax: 1 }), getRules(stateWith(['alpha']), { alpha: 4 })),
  );
  const asked = { state: stateWith(['alpha']), machineProcessorsOf: () => Promise.reject(new Error('asked')) };
  await t.notThrowsAsync(checkWidths(aJob(1), asked));
});
