import test from 'ava';
import { invariant, Prng, type DriverCommand, type Machine } from '@mutirao/core/shared';
import { SimulatedDisk } from '../../../src/world/disk.ts';
import { Host, Life } from '../../../src/world/host.ts';
import { Kernel } from '../../../src/world/kernel.ts';
import { MachineProcess, type FallPoint, type WorldTurn } from '../../../src/world/machine-process.ts';

/** A machine that adds up, says each sum so far three times, and promises nothing about `look`. */
interface Sum {
  total: number;
}

type Input =
  | { readonly kind: 'Add'; readonly n: number; readonly replyTo?: number }
  | { readonly kind: 'Look' }
  | { readonly kind: 'WakeMe'; readonly at: number }
  | { readonly kind: 'TimerFired' };
interface Added {
  readonly kind: 'Added';
  readonly n: number;
}
type Say = { readonly kind: 'Say'; readonly text: string } | DriverCommand;

const adder: Machine<Sum, Input, Added, Say> = {
  step(state, inputs, now) {
    const changes: Added[] = [];
    const commands: Say[] = [];
    for (const input of inputs) {
      if (input.kind === 'WakeMe') commands.push({ kind: 'WakeAt', at: input.at });
      if (input.kind === 'TimerFired') commands.push({ kind: 'Say', text: `awake at ${now}` });
      if (input.kind !== 'Add') continue;
      changes.push({ kind: 'Added', n: input.n });
      adder.apply(state, { kind: 'Added', n: input.n });
      if (input.replyTo !== undefined)
        commands.push({ kind: 'Reply', replyTo: input.replyTo, reply: { ok: true, value: state.total } });
      for (const word of ['once', 'twice', 'thrice']) commands.push({ kind: 'Say', text: `${state.total} ${word}` });
    }
    return { changes, commands };
  },
  apply(state, { n }) {
    state.total += n;
  },
  checkInvariants({ total }) {
    invariant(total >= 0, `the total is ${total}`);
  },
};

function setUp({ turnDelayMax = 0, skew = 0, seed = 'process', commits = [] as number[] } = {}) {
  const kernel = new Kernel(1000);
  const life = new Life(new Host('here', kernel, skew));
  const disk = new SimulatedDisk<Added>();
  const said: string[] = [];
  const turns: WorldTurn[] = [];
  const errors: unknown[] = [];
  const process = new MachineProcess<Sum, Input, Added, Say>({
    name: 'adder',
    kernel,
    life,
    clock: life.host.openClock(),
    machine: adder,
    state: { total: 0 },
    disk,
    isDurable: ({ n }) => n >= 10,
    rng: new Prng(seed),
    turnDelayMax,
    perform: ({ text }) => {
      said.push(text);
    },
    onTurn: (turn) => {
      turns.push(turn);
    },
    onCommitted: (changes) => {
      commits.push(...changes.map(({ n }) => n));
    },
    onFatal: (error) => {
      errors.push(error);
    },
    onFall: () => {
      life.end();
    },
  });
  const journaled = (): number[] => {
    const seen: number[] = [];
    disk.visitAll(({ n }) => {
      seen.push(n);
    });
    return seen;
  };
  return { kernel, life, disk, process, said, turns, errors, journaled, commits };
}

test('what came before a turn is taken in one batch, in its order, and journaled before anything is performed', (t) => {
  const { kernel, process, said, turns, disk, journaled } = setUp({ turnDelayMax: 20 });
  process.deliver({ kind: 'Add', n: 1 });
  process.deliver({ kind: 'Add', n: 2 });
  t.deepEqual([process.waitingCount, said], [2, []]);
  kernel.runUntil(2000);
  t.deepEqual(
    turns.map(({ process: name, inputs }) => [name, inputs.length]),
    [['adder', 2]],
  );
  t.deepEqual(said, ['1 once', '1 twice', '1 thrice', '3 once', '3 twice', '3 thrice']);
  t.deepEqual(journaled(), [1, 2]);
  disk.isFull = true;
  process.deliver({ kind: 'Add', n: 4 });
  kernel.runUntil(3000);
  t.is(said.length, 6, 'what could not be written is not performed');
});

test('a turn comes within the longest delay of its first input', (t) => {
  const delays = new Set<number>();
  for (let run = 0; run < 100; run += 1) {
    const { kernel, process, turns } = setUp({ turnDelayMax: 3, seed: String(run) });
    process.deliver({ kind: 'Look' });
    kernel.runUntil(2000);
    delays.add(turns[0]!.at - 1000);
  }
  t.deepEqual([...delays].sort(), [0, 1, 2, 3]);
});

/** A process that falls when it adds 5, after it has added 1. */
function fall(point: FallPoint, seed = 'fall') {
  const world = setUp({ seed });
  world.process.deliver({ kind: 'Add', n: 1 });
  world.kernel.runUntil(1100);
  world.said.length = 0;
  world.process.fallAt(point);
  world.process.deliver({ kind: 'Look' });
  world.kernel.runUntil(1200);
  invariant(!world.life.isOver, 'it fell in a turn that changed nothing');
  world.process.deliver({ kind: 'Add', n: 5 });
  world.kernel.runUntil(1300);
  world.process.deliver({ kind: 'Add', n: 7 });
  world.kernel.runUntil(2000);
  return { isOver: world.life.isOver, journaled: world.journaled(), commits: world.commits, said: world.said };
}

test('a fall before the write: nothing is journaled, nothing performed', (t) => {
  t.deepEqual(fall('before-write'), { isOver: true, journaled: [1], commits: [1], said: [] });
});

test('a fall after the write: it is journaled, and nothing performed', (t) => {
  t.deepEqual(fall('after-write'), { isOver: true, journaled: [1, 5], commits: [1, 5], said: [] });
});

test('a fall amid the commands: it is journaled, and only the first commands are performed', (t) => {
  const seen = new Set<string>();
  for (let run = 0; run < 50; run += 1) {
    const { isOver, journaled, said } = fall('amid-commands', String(run));
    t.deepEqual([isOver, journaled], [true, [1, 5]]);
    seen.add(said.join(', '));
  }
  t.deepEqual([...seen].sort(), ['', '6 once', '6 once, 6 twice']);
});

test('a process that has ended takes nothing any more', (t) => {
  const { kernel, life, process, turns } = setUp();
  life.end();
  process.deliver({ kind: 'Add', n: 1 });
  kernel.runUntil(2000);
  t.deepEqual([turns, process.waitingCount], [[], 0]);
});

test('a process that is paused takes its turn when it goes on', (t) => {
  const { kernel, life, process, turns } = setUp();
  life.pausedUntil = 5000;
  process.deliver({ kind: 'Look' });
  kernel.runUntil(4999);
  process.deliver({ kind: 'Look' });
  kernel.runUntil(6000);
  t.deepEqual(
    turns.map(({ at, inputs }) => [at, inputs.length]),
    [[5000, 2]],
  );
});

test('on a full disk nothing follows from what was decided, questions are refused, and all goes on in order when there is room', (t) => {
  const { kernel, disk, process, said, turns, errors } = setUp();
  disk.isFull = true;
  process.deliver({ kind: 'Add', n: 1 });
  kernel.runUntil(2000);
  process.deliver({ kind: 'Add', n: 2 });
  const answers: unknown[] = [];
  process.ask(
    (replyTo) => ({ kind: 'Add', n: 4, replyTo }),
    (reply) => answers.push(reply),
  );
  kernel.runUntil(4000);
  t.deepEqual([said, turns.length, process.isStalled], [[], 1, true]);
  t.like(answers[0], { ok: false, code: 'MUT_DISK_FULL' });
  disk.isFull = false;
  kernel.runUntil(6000);
  t.deepEqual([turns.length, process.isStalled, process.state.total, errors], [2, false, 3, []]);
});

test('a broken invariant is passed to the starter, which ends the process', (t) => {
  const wrong = setUp();
  wrong.process.deliver({ kind: 'Add', n: -1 });
  wrong.kernel.runUntil(2000);
  t.regex(String(wrong.errors[0]), /the total is -1/);
  t.deepEqual(wrong.said, []);
});

test('an alarm is by the clock of the process, a later one replaces it, and the same one rings once', (t) => {
  const { kernel, process, said } = setUp({ skew: 500 });
  process.deliver({ kind: 'WakeMe', at: 3000 });
  kernel.runUntil(1100);
  process.deliver({ kind: 'WakeMe', at: 4000 });
  process.deliver({ kind: 'WakeMe', at: 4000 });
  kernel.runUntil(3499);
  t.deepEqual(said, []);
  kernel.runUntil(9000);
  t.deepEqual(said, ['awake at 4000']);
});

test('an answer reaches the asker, unless the process ends before', (t) => {
  const { kernel, life, process } = setUp();
  const answers: unknown[] = [];
  const ask = (n: number): void => {
    process.ask(
      (replyTo) => ({ kind: 'Add', n, replyTo }),
      (reply) => {
        answers.push(reply);
      },
    );
  };
  ask(3);
  ask(4);
  kernel.runUntil(2000);
  t.deepEqual(answers, [
    { ok: true, value: 3 },
    { ok: true, value: 7 },
  ]);
  ask(5);
  life.end();
  kernel.runUntil(3000);
  t.is(answers.length, 2);
});

test('a durable change is synced with what was written before it, and one that is not may be lost with the host', (t) => {
  const kept = new Set<string>();
  for (let run = 0; run < 50; run += 1) {
    const { kernel, process, disk, journaled } = setUp();
    for (const [index, n] of [1, 10, 2].entries()) {
      process.deliver({ kind: 'Add', n });
      kernel.runUntil(2000 + index);
    }
    disk.loseUnsynced(new Prng(String(run)));
    kept.add(journaled().join(' '));
  }
  t.deepEqual([...kept].sort(), ['1 10', '1 10 2']);
});
