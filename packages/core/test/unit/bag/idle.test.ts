import test from 'ava';
import { type BagMachine, chooseWithdrawals, IdleSlots, replicate } from '@mutirao/core/bag';

interface Machine extends BagMachine {
  readonly name: string;
}

function aMachine(name: string, processors: number, heldProcessors = 0): Machine {
  return { name, processors, heldProcessors };
}

test('each idle processor is assigned once', (t) => {
  const idle = new IdleSlots([aMachine('a', 2, 1), aMachine('b', 3), aMachine('c', 1, 4)]);
  const take = (processors: number) => idle.take({ processors }, () => true)?.name;
  t.deepEqual([take(2), take(1), take(1), idle.isEmpty, take(1)], ['b', 'a', 'b', true, undefined]);
});

/**
 * Replicas of one processor by machine, in the order in which they start; `w` may be withdrawn, `p` was asked back, `-`
 * runs.
 */
function withdraw(machines: readonly Machine[], replicas: Readonly<Record<string, string>>): string[] {
  const chosen = chooseWithdrawals(machines, new IdleSlots(machines), {
    listReplicas: (machine) =>
      [...(replicas[machine.name] ?? '')].map((letter, index) => ({
        name: `${machine.name}${index}`,
        processors: 1,
        isWaiting: letter === 'w',
        isWithdrawing: letter === 'p',
      })),
    matches: (replica, machine) => !(replica.name === 'a3' && machine.name === 'z'),
  });
  return chosen.map((replica) => replica.name);
}

test('the last waiting replicas are asked back, from the longest queue first, as many as idle processors can take', (t) => {
  t.deepEqual(withdraw([aMachine('a', 1, 3), aMachine('b', 1, 4), aMachine('i', 2)], { a: '-ww', b: '-www' }), [
    'b3',
    'b2',
  ]);
  t.deepEqual(withdraw([aMachine('a', 1, 3), aMachine('b', 1, 2), aMachine('i', 9)], { a: '-ww', b: '-w' }), [
    'a2',
    'a1',
    'b1',
  ]);
});

test('a replica that fits on the machine after those before it is not asked back, though its start was not reported', (t) => {
  t.deepEqual(withdraw([aMachine('a', 2, 3), aMachine('i', 9)], { a: 'www' }), ['a2']);
});

test('replicas that were asked back before count for the idle processors', (t) => {
  t.deepEqual(withdraw([aMachine('a', 1, 4), aMachine('i', 1)], { a: '-wwp' }), []);
  t.deepEqual(withdraw([aMachine('a', 1, 4), aMachine('i', 2)], { a: '-wwp' }), ['a2']);
});

test('a replica that no idle machine can run stays where it is', (t) => {
  t.deepEqual(withdraw([aMachine('a', 1, 4), aMachine('z', 1)], { a: '-www' }), ['a2']);
});

interface Task {
  readonly name: string;
  readonly processors: number;
  replicaCount: number;
  readonly replicasMax: number;
  readonly runningSince: number;
  readonly remaining: number | undefined;
}

function aTask(name: string, runningSince: number, replicaCount = 1, replicasMax = 2): Task {
  return { name, processors: 1, replicaCount, replicasMax, runningSince, remaining: undefined };
}

function replicateOn(
  tasks: readonly Task[],
  machines: readonly Machine[],
  forbidden: readonly string[] = [],
): string[] {
  const placed: string[] = [];
  replicate(tasks, new IdleSlots(machines), {
    suits: (task, machine) => !forbidden.includes(`${task.name} on ${machine.name}`),
    worth: (_task, machine) => machine.name.length,
    dispatch: (machine, task) => {
      task.replicaCount++;
      placed.push(`${task.name} on ${machine.name}`);
    },
  });
  return placed;
}

test('the task with the fewest replicas comes first, and of these the longest running', (t) => {
  const tasks = [aTask('young', 30), aTask('old', 10), aTask('twice', 5, 2, 3)];
  t.deepEqual(replicateOn(tasks, [aMachine('i', 3)]), ['old on i', 'young on i', 'twice on i']);
});

test('no task gets more replicas than it may have', (t) => {
  t.deepEqual(
    replicateOn([aTask('alone', 1, 1, 1), aTask('full', 1, 2, 2), aTask('wide', 1, 1, 3)], [aMachine('i', 9)]),
    ['wide on i', 'wide on i'],
  );
});

test('a machine that does not suit a task is left to the next one', (t) => {
  t.deepEqual(replicateOn([aTask('old', 1), aTask('young', 2)], [aMachine('i', 1), aMachine('j', 1)], ['old on i']), [
    'old on j',
    'young on i',
  ]);
});

test('where times are known the task that ends last comes first, and one of which nothing is known before it', (t) => {
  const tasks = [{ ...aTask('soon', 1), remaining: 5 }, { ...aTask('late', 2), remaining: 50 }, aTask('unknown', 3)];
  t.deepEqual(replicateOn(tasks, [aMachine('i', 2)]), ['unknown on i', 'late on i']);
});

test('of the machines that suit a task the one that is worth most to it gets the replica', (t) => {
  t.deepEqual(replicateOn([aTask('old', 1)], [aMachine('i', 1), aMachine('best', 1), aMachine('ii', 1)]), [
    'old on best',
  ]);
});
