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
  readonly enrolled: EnrolledMachines;

  constructor(names: readonly string[] = []) {
    this.enrolled = new EnrolledMachines({
      clock: { now: () => this.now },
      timers: this.timers,
      log: quietLogger,
      machines: names.map(aMachine),
      save: (machines) => {
        this.saved.push(machines.map(({ name }) => name));
      },
    });
    this.enrolled.start({
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
    return this.enrolled
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
  rig.enrolled.add([aMachine('a'), aMachine('c')]);
  t.deepEqual(rig.saved, [['b', 'a', 'c']]);
  t.deepEqual(
    rig.lives.map(({ name }) => name),
    ['b', 'a', 'c'],
  );
  rig.attached.add('b');
  t.deepEqual(rig.statuses(), ['a starting', 'b running', 'c starting']);
  await rig.enrolled.stop();
});

test('of machines with a name that is taken none is added', async (t) => {
  const rig = new Rig(['a']);
  t.throws(
    () => {
      rig.enrolled.add([aMachine('b'), aMachine('a')]);
    },
    {
      instanceOf: MutiraoError,
      message: 'a machine "a" is on the list already; expected another name, or remove that one first',
    },
  );
  t.throws(
    () => {
      rig.enrolled.add([aMachine('b'), aMachine('b')]);
    },
    { code: 'MUT_BAD_REQUEST' },
  );
  t.deepEqual(rig.saved, []);
  t.is(rig.lives.length, 1);
  await rig.enrolled.stop();
});

test('an agent that ends is started again after a pause that grows, and after a long life shrinks again', async (t) => {
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
  await rig.enrolled.stop();
});

test('a machine that is removed is off the list, and its agent is ended, also in a pause', async (t) => {
  const rig = new Rig(['a', 'b']);
  rig.lives[1]?.end('out');
  await rig.turn();
  await Promise.all([rig.enrolled.remove('a'), rig.enrolled.remove('b')]);
  t.deepEqual(rig.saved, [['b'], []]);
  t.is(rig.lives[0]?.ending.reason, 'remove');
  t.deepEqual(rig.statuses(), []);
  t.is(rig.timers.waiting.length, 0);
  t.is(rig.lives.length, 2);
  await t.throwsAsync(rig.enrolled.remove('a'), {
    message: 'no machine "a" is on the list; expected none: it is empty',
  });
});

test('a name is free again when the agent of the machine that had it has ended, and not before', async (t) => {
  const ended = Promise.withResolvers<string>();
  const enrolled = new EnrolledMachines({
    clock: { now: () => 0 },
    timers: new HandTimers(),
    log: quietLogger,
    machines: [aMachine('a')],
    save: () => undefined,
  });
  enrolled.start({ isAttached: () => false, life: { run: () => ended.promise } });
  const removal = enrolled.remove('a');
  t.deepEqual(enrolled.list(), []);
  t.throws(
    () => {
      enrolled.add([aMachine('a')]);
    },
    { code: 'MUT_BAD_REQUEST', message: /is just being removed/ },
  );
  ended.resolve('');
  await removal;
  enrolled.add([aMachine('a')]);
  t.is(enrolled.list().length, 1);
  await enrolled.stop();
});

test('a stop ends the agents and leaves the list as it is', async (t) => {
  const rig = new Rig(['a']);
  await rig.enrolled.stop();
  t.is(rig.lives[0]?.ending.reason, 'stop');
  t.deepEqual(rig.saved, []);
  t.throws(
    () => {
      rig.enrolled.add([aMachine('b')]);
    },
    { code: 'MUT_STOPPING' },
  );
});
