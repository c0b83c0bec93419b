import { MutiraoError } from '@mutirao/api/errors';
import type { Decision, DriverCommand, Instant, Machine } from '@mutirao/core/shared';
import { MachineDriver, type MachineDriverOptions, type Timers } from '@mutirao/runtime/driver';
import type { Journal } from '@mutirao/runtime/journal';
import test from 'ava';

interface State {
  total: number;
}
type Input =
  | { readonly kind: 'Added'; readonly amount: number; readonly replyTo: number }
  | { readonly kind: 'Slept'; readonly until: Instant }
  | { readonly kind: 'TimerFired' };
interface Change {
  readonly amount: number;
}
type Command = DriverCommand | { readonly kind: 'Show'; readonly total: number };

/** Adds amounts and replies the total; refuses 0; shows the total once per step. */
const adder: Machine<State, Input, Change, Command> = {
  step(state, inputs): Decision<Change, Command> {
    const decision: Decision<Change, Command> = { changes: [], commands: [] };
    for (const input of inputs) {
      if (input.kind === 'Slept') decision.commands.push({ kind: 'WakeAt', at: input.until });
      else if (input.kind === 'TimerFired') add(decision, state, 1000);
      else if (input.amount === 0)
        decision.commands.push({
          kind: 'Reply',
          replyTo: input.replyTo,
          reply: { ok: false, code: 'MUT_BAD_REQUEST', fault: { code: 'failed-amount-invalid', amount: 0 } },
        });
      else {
        add(decision, state, input.amount);
        decision.commands.push({ kind: 'Reply', replyTo: input.replyTo, reply: { ok: true, value: state.total } });
      }
    }
    decision.commands.push({ kind: 'Show', total: state.total });
    return decision;
  },
  apply(state, { amount }) {
    state.total += amount;
  },
  checkInvariants(state) {
    if (state.total > 1_000_000) throw new Error('too much');
  },
};

function add(decision: Decision<Change, Command>, state: State, amount: number): void {
  adder.apply(state, { amount });
  decision.changes.push({ amount });
}

/** Timers that fire when the test says so, against a clock that it sets. */
class HandTimers implements Timers {
  now = 1000;
  readonly started: { readonly delay: number; readonly run: () => void }[] = [];
  readonly cancelled: unknown[] = [];
  start(delay: number, run: () => void): unknown {
    this.started.push({ delay, run });
    return this.started.length;
  }
  cancel(timer: unknown): void {
    this.cancelled.push(timer);
  }
}

type Options = MachineDriverOptions<State, Input, Change, Command>;

function driving(parts: Partial<Options> = {}): {
  driver: MachineDriver<State, Input, Change, Command>;
  story: string[];
  timers: HandTimers;
  fatal: unknown[];
} {
  const story: string[] = [];
  const timers = new HandTimers();
  const fatal: unknown[] = [];
  const journal = {
    record: (changes: readonly Change[], at: Instant) => {
      story.push(`record ${changes.map(({ amount }) => amount).join('+')} at ${at}`);
      return 41;
    },
  } as Journal<Change>;
  const driver = new MachineDriver<State, Input, Change, Command>({
    machine: adder,
    state: { total: 0 },
    journal,
    clock: { now: () => timers.now },
    timers,
    perform: (command) => {
      story.push(`show ${command.total}`);
    },
    onFatal: (error) => {
      fatal.push(error);
    },
    ...parts,
  });
  return { driver, story, timers, fatal };
}

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });
const added = (amount: number, replyTo = 0): Input => ({ kind: 'Added', amount, replyTo });

test('inputs of one turn are one step, one record and then the commands', async (t) => {
  const { driver, story } = driving();
  driver.deliver(added(1));
  driver.deliver(added(2));
  driver.deliver(added(3));
  t.deepEqual(story, []);
  await turn();
  t.deepEqual(story, ['record 1+2+3 at 1000', 'show 6']);
});

test('a batch is bounded, and what is left over takes the next turn', async (t) => {
  const { driver, story } = driving({ batchMax: 2 });
  for (const amount of [1, 2, 3]) driver.deliver(added(amount));
  await turn();
  t.deepEqual(story, ['record 1+2 at 1000', 'show 3']);
  await turn();
  t.deepEqual(story.slice(2), ['record 3 at 1000', 'show 6']);
});

test('a question is answered after its change is in the journal', async (t) => {
  const { driver, story } = driving();
  const answer = driver
    .ask<number>((replyTo) => added(5, replyTo))
    .then((total) => {
      story.push(`answer ${total}`);
    });
  await answer;
  t.deepEqual(story, ['record 5 at 1000', 'show 5', 'answer 5']);
});

test('a refusal reaches the asker as an error with its code', async (t) => {
  const { driver } = driving();
  await t.throwsAsync(
    driver.ask((replyTo) => added(0, replyTo)),
    { instanceOf: MutiraoError, code: 'MUT_BAD_REQUEST', message: 'the amount is 0; expected 1 or more' },
  );
});

test('committed changes are reported with their sequences before any command', async (t) => {
  const reported: unknown[] = [];
  const { driver, story } = driving({
    onCommitted: (entries) => {
      reported.push(...entries, [...story]);
    },
  });
  driver.deliver(added(1));
  driver.deliver(added(2));
  await turn();
  t.deepEqual(reported, [
    { sequence: 41, change: { amount: 1 } },
    { sequence: 42, change: { amount: 2 } },
    ['record 1+2 at 1000'],
  ]);
});

test('without a journal changes are numbered from 1', async (t) => {
  const reported: number[] = [];
  const { driver } = driving({
    journal: undefined,
    onCommitted: (entries) => {
      reported.push(...entries.map(({ sequence }) => sequence));
    },
  });
  driver.deliver(added(1));
  await turn();
  driver.deliver(added(1));
  await turn();
  t.deepEqual(reported, [1, 2]);
});

test('when the journal fails, no command is performed, askers are refused and the driver ends', async (t) => {
  const failure = new MutiraoError('MUT_JOURNAL_FAILED', 'disk full');
  const journal = {
    record: () => {
      throw failure;
    },
  } as unknown as Journal<Change>;
  const { driver, story, fatal } = driving({ journal });
  await t.throwsAsync(
    driver.ask((replyTo) => added(1, replyTo)),
    { code: 'MUT_STOPPING' },
  );
  driver.deliver(added(2));
  await turn();
  t.deepEqual(story, []);
  t.deepEqual(fatal, [failure]);
  await t.throwsAsync(
    driver.ask((replyTo) => added(1, replyTo)),
    { code: 'MUT_STOPPING' },
  );
});

test('while there is no room for the journal nothing is performed or answered, questions are refused, and all goes on in order when there is', async (t) => {
  let isFull = true;
  const story: string[] = [];
  const journal = {
    record: (changes: readonly Change[]) => {
      if (isFull) throw new MutiraoError('MUT_DISK_FULL', 'no room');
      story.push(`record ${changes.map(({ amount }) => amount).join('+')}`);
      return 1;
    },
  } as unknown as Journal<Change>;
  const { driver, timers, fatal } = driving({
    journal,
    retryAfter: 500,
    onStalled: (error) => {
      story.push(error?.code ?? 'goes on');
    },
    perform: (command) => {
      story.push(`show ${command.total}`);
    },
    onCommitted: () => {
      story.push('committed');
    },
  });
  const first = driver
    .ask<number>((replyTo) => added(1, replyTo))
    .then((total) => {
      story.push(`answer ${total}`);
    });
  await turn();
  driver.deliver(added(2));
  await turn();
  await t.throwsAsync(
    driver.ask((replyTo) => added(4, replyTo)),
    { code: 'MUT_DISK_FULL' },
  );
  t.is(driver.stalledBy?.message, 'no room');
  t.deepEqual(story, ['MUT_DISK_FULL']);
  timers.started.at(-1)?.run();
  t.deepEqual([story, timers.started.map(({ delay }) => delay)], [['MUT_DISK_FULL'], [500, 500]]);
  isFull = false;
  timers.started.at(-1)?.run();
  await first;
  await turn();
  t.deepEqual(story, [
    'MUT_DISK_FULL',
    'record 1',
    'goes on',
    'committed',
    'show 1',
    'answer 1',
    'record 2',
    'committed',
    'show 3',
  ]);
  t.is(driver.stalledBy, undefined);
  t.deepEqual(fatal, []);
});

test('an error after the write is not taken for a full disk: nothing is written twice', async (t) => {
  const full = new MutiraoError('MUT_DISK_FULL', 'no room for a snapshot');
  const { driver, story, fatal } = driving({
    onCommitted: () => {
      throw full;
    },
  });
  driver.deliver(added(1));
  await turn();
  t.deepEqual([story, fatal], [['record 1 at 1000'], [full]]);
});

test('a stalled driver that is stopped tries once more, and gives up then', async (t) => {
  let tries = 0;
  const journal = {
    record: () => {
      tries += 1;
      throw new MutiraoError('MUT_DISK_FULL', 'no room');
    },
  } as unknown as Journal<Change>;
  const { driver, fatal, timers } = driving({ journal });
  const asked = t.throwsAsync(
    driver.ask((replyTo) => added(1, replyTo)),
    { code: 'MUT_STOPPING' },
  );
  await turn();
  await driver.stop();
  await asked;
  t.deepEqual([tries, fatal, timers.cancelled.length > 0], [2, [], true]);
});

test('a command that throws is a bug: the driver ends and performs nothing more', async (t) => {
  const bug = new Error('bug');
  const { driver, fatal } = driving({
    perform: () => {
      throw bug;
    },
  });
  driver.deliver(added(1));
  await turn();
  driver.deliver(added(1));
  await turn();
  t.deepEqual(fatal, [bug]);
  t.is(driver.state.total, 1);
});

test('a later alarm replaces an earlier one', async (t) => {
  const { driver, timers } = driving();
  driver.deliver({ kind: 'Slept', until: 5000 });
  driver.deliver({ kind: 'Slept', until: 3000 });
  await turn();
  t.deepEqual(
    timers.started.map(({ delay }) => delay),
    [4000, 2000],
  );
  t.deepEqual(timers.cancelled, [1]);
  timers.now = 3000;
  timers.started[1]?.run();
  await turn();
  t.is(driver.state.total, 1000);
});

test('an alarm years ahead waits in steps that setTimeout can keep, and never rings early', async (t) => {
  const { driver, timers } = driving();
  driver.deliver({ kind: 'Slept', until: 1000 + 2 ** 31 + 4 });
  await turn();
  t.is(timers.started[0]?.delay, 2 ** 31 - 1);
  timers.now += 2 ** 31 - 1;
  timers.started[0]?.run();
  await turn();
  t.is(driver.state.total, 0);
  t.is(timers.started[1]?.delay, 5);
});

test('too many waiting inputs refuse a question but not an input', async (t) => {
  const { driver } = driving({ waitingMax: 2 });
  driver.deliver(added(1));
  driver.deliver(added(1));
  await t.throwsAsync(
    driver.ask((replyTo) => added(1, replyTo)),
    { code: 'MUT_OVERLOADED' },
  );
  driver.deliver(added(1));
  await turn();
  t.is(driver.state.total, 3);
});

test('invariants are checked once per configured number of turns', async (t) => {
  const { driver, fatal } = driving({ checkEvery: 2 });
  driver.deliver(added(2_000_000));
  await turn();
  t.is(fatal.length, 0);
  driver.deliver(added(1));
  await turn();
  t.like(fatal[0], { message: 'too much' });
});

test('stopping takes what waits through its turns, then refuses and is deaf', async (t) => {
  const { driver, story, timers } = driving();
  driver.deliver({ kind: 'Slept', until: 5000 });
  const answered = driver.ask<number>((replyTo) => added(7, replyTo));
  await driver.stop();
  t.is(await answered, 7);
  driver.deliver(added(1));
  await turn();
  t.deepEqual(story, ['record 7 at 1000', 'show 7']);
  t.deepEqual(timers.cancelled, [1]);
});

test('a driver that is asked to settle takes in at once what waits, and nothing is taken twice', async (t) => {
  const { driver, story } = driving();
  driver.deliver({ kind: 'Added', amount: 3, replyTo: 0 });
  driver.settle();
  t.is(driver.state.total, 3);
  driver.settle();
  await driver.stop();
  t.is(driver.state.total, 3);
  t.is(story.filter((line) => line.startsWith('record')).length, 1);
});
