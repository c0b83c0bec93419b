import test from 'ava';
import { MutiraoError } from '@mutirao/api/errors';
import type { EnrolledMachine } from '@mutirao/core/messages';
import { quietLogger } from '@mutirao/runtime/log';
import { HandTimers } from '@mutirao/testkit';
import { EnrolledMachines } from '../../../src/machines/enrolled-machines.ts';

const aMachine = (name: string): EnrolledMachine => ({
  name,
  reach: { kind: 'ssh', destination: name, options: [], program: [] },
  processors: 0,
  folder: '',
  attributes: {},
});

interface Life {
  readonly name: string;
  readonly ending: AbortSignal;
  /** Ends it with a reason, or as a failure. */
  end(reason: string | MutiraoError): void;
}

class Rig {
  readonly timers = new HandTimers();
  readonly lives: Life[] = [];
  readonly saved: string[][] = [];
  readonly attached = new Set<string>();
  now = 0;
  readonly keeper: EnrolledMachines;

  constructor(names: readonly string[] = []) {
    this.keeper = new EnrolledMachines({
      clock: { now: () => this.now },
      timers: this.timers,
      log: quietLogger,
      machines: names.map(aMachine),
      save: (machines) => {
        this.saved.push(machines.map(({ name }) => name));
      },
    });
    this.keeper.start({
      isAttached: (name) => this.attached.has(name),
      life: {
        run: ({ name }, ending) =>
          new Promise((resolve, reject) => {
            const end = (reason: string | MutiraoError): void => {
              if (typeof reason === 'string') resolve(reason);
              else reject(reason);
            };
            ending.addEventListener('abort', () => {
              end('ended');
            });
            this.lives.push({ name, ending, end });
          }),
      },
    });
  }

  statuses(): string[] {
    return this.keeper
      .list()
      .map(({ machine, status, reason }) => `${machine.name} ${status}${reason === '' ? '' : `: ${reason}`}`);
  }

  /** Lets what was resolved be noticed. */
  async turn(): Promise<void> {
    for (let round = 0; round < 10; round++) await Promise.resolve();
  }
}

test('machines of the list are begun with, and those that are added are on the list first', async (t) => {
  const rig = new Rig(['b']);
  rig.keeper.add([aMachine('a'), aMachine('c')]);
  t.deepEqual(rig.saved, [['b', 'a', 'c']]);
  t.deepEqual(
    rig.lives.map(({ name }) => name),
    ['b', 'a', 'c'],
  );
  rig.attached.add('b');
  t.deepEqual(rig.statuses(), ['a starting', 'b running', 'c starting']);
  await rig.keeper.stop();
});

test('of machines with a name that is taken none is added', async (t) => {
  const rig = new Rig(['a']);
  t.throws(
    () => {
      rig.keeper.add([aMachine('b'), aMachine('a')]);
    },
    {
      instanceOf: MutiraoError,
      message: 'a machine "a" is on the list already; want another name, or remove that one first',
    },
  );
  t.throws(
    () => {
      rig.keeper.add([aMachine('b'), aMachine('b')]);
    },
    { code: 'MUT_BAD_REQUEST' },
  );
  t.deepEqual(rig.saved, []);
  t.is(rig.lives.length, 1);
  await rig.keeper.stop();
});

test('an agent that ends is started anew after a pause that grows, and after a long life shrinks again', async (t) => {
  const rig = new Rig(['a']);
  const pauses: number[] = [];
  for (const reason of ['out', new MutiraoError('MUT_UNREACHABLE', 'no route'), 'out']) {
    rig.lives.at(-1)?.end(reason);
    await rig.turn();
    t.deepEqual(rig.statuses(), [`a waiting: ${typeof reason === 'string' ? reason : 'MUT_UNREACHABLE no route'}`]);
    pauses.push(rig.timers.ring());
    await rig.turn();
    t.regex(rig.statuses()[0] ?? '', /^a starting/);
  }
  rig.now = 60_000;
  rig.lives.at(-1)?.end('out');
  await rig.turn();
  pauses.push(rig.timers.ring());
  t.deepEqual(pauses, [1000, 2000, 4000, 1000]);
  await rig.keeper.stop();
});

test('a machine that is removed is off the list, and its agent is ended, also in a pause', async (t) => {
  const rig = new Rig(['a', 'b']);
  rig.lives[1]?.end('out');
  await rig.turn();
  await Promise.all([rig.keeper.remove('a'), rig.keeper.remove('b')]);
  t.deepEqual(rig.saved, [['b'], []]);
  t.is(rig.lives[0]?.ending.reason, 'remove');
  t.deepEqual(rig.statuses(), []);
  t.is(rig.timers.waiting.length, 0);
  t.is(rig.lives.length, 2);
  await t.throwsAsync(rig.keeper.remove('a'), { message: 'no machine "a" is on the list; want none: it is empty' });
});

test('a name is free again when the agent of the machine that had it has ended, and not before', async (t) => {
  const ended = Promise.withResolvers<string>();
  const keeper = new EnrolledMachines({
    clock: { now: () => 0 },
    timers: new HandTimers(),
    log: quietLogger,
    machines: [aMachine('a')],
    save: () => undefined,
  });
  keeper.start({ isAttached: () => false, life: { run: () => ended.promise } });
  const removal = keeper.remove('a');
  t.deepEqual(keeper.list(), []);
  t.throws(
    () => {
      keeper.add([aMachine('a')]);
    },
    { code: 'MUT_BAD_REQUEST', message: /is just being removed/ },
  );
  ended.resolve('');
  await removal;
  keeper.add([aMachine('a')]);
  t.is(keeper.list().length, 1);
  await keeper.stop();
});

test('a stop ends the agents and leaves the list as it is', async (t) => {
  const rig = new Rig(['a']);
  await rig.keeper.stop();
  t.is(rig.lives[0]?.ending.reason, 'stop');
  t.deepEqual(rig.saved, []);
  t.throws(
    () => {
      rig.keeper.add([aMachine('b')]);
    },
    { code: 'MUT_STOPPING' },
  );
});
