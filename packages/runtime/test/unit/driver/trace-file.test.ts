// The trace of a process that dies holds the inputs of the step that killed it, and writing it never ends the process.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { MutiraoError } from '@mutirao/api/errors';
import { decodeTraceLine, type TraceLine } from '@mutirao/core/debugging-trace';
import type { Decision, Machine } from '@mutirao/core/shared';
import { MachineDriver, openTrace, type Timers, type TraceSetup } from '@mutirao/runtime/driver';
import { temporaryFolder } from '@mutirao/testkit';
import test, { type ExecutionContext } from 'ava';

interface Input {
  readonly kind: 'Added';
  readonly amount: number;
}
interface Change {
  readonly kind: 'Grew';
  readonly amount: number;
}
interface Command {
  readonly kind: 'Show';
  readonly totals: number[];
}
interface State {
  totals: number[];
}

/** Adds amounts; fails on 13. Its command shares an array with the state, which later steps change. */
const adder: Machine<State, Input, Change, Command> = {
  step(state, inputs): Decision<Change, Command> {
    for (const { amount } of inputs) {
      if (amount === 13) throw new Error('unlucky');
      state.totals.push(amount);
    }
    return {
      changes: inputs.map(({ amount }) => ({ kind: 'Grew', amount })),
      commands: [{ kind: 'Show', totals: state.totals }],
    };
  },
  apply: () => undefined,
  checkInvariants: () => undefined,
};

interface Client {
  readonly path: string;
  readonly warnings: string[];
  readonly errors: unknown[];
  /** Runs the timers that were started. */
  readonly timers: Timers & { ring(): void };
  open(parts?: Partial<TraceSetup>): ReturnType<typeof openTrace>;
  drive(trace: ReturnType<typeof openTrace>): MachineDriver<State, Input, Change, Command>;
}

function client(t: ExecutionContext): Client {
  const path = join(temporaryFolder(t), 'adder.jsonl');
  const warnings: string[] = [];
  const errors: unknown[] = [];
  const started: (() => void)[] = [];
  const timers = {
    start: (_delay: number, run: () => void) => started.push(run),
    cancel: () => {
      started.length = 0;
    },
    ring: () => {
      for (const run of started.splice(0)) run();
    },
  };
  const log = {
    info: () => undefined,
    warn: (_values: unknown, words: string) => {
      warnings.push(words);
    },
  };
  return {
    path,
    warnings,
    errors,
    timers,
    open: (parts = {}) =>
      openTrace({
        path,
        machine: 'broker',
        at: 5,
        describe: () => ({ options: { a: 1 }, state: undefined }),
        log: log as TraceSetup['log'],
        timers,
        ...parts,
      }),
    drive: (trace) =>
      new MachineDriver({
        machine: adder,
        state: { totals: [] },
        journal: undefined,
        clock: { now: () => 77 },
        timers,
        trace,
        perform: () => undefined,
        onFatal: (error) => {
          errors.push(error);
        },
      }),
  };
}

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });
const added = (amount: number): Input => ({ kind: 'Added', amount });

function listLines(path: string): (TraceLine | undefined)[] {
  const text = readFileSync(path, 'utf8');
  return text.split('\n').slice(0, -1).map(decodeTraceLine);
}

test('a trace has its head, each turn and its end', async (t) => {
  const { path, open, drive } = client(t);
  const driver = drive(open());
  driver.deliver(added(1));
  driver.deliver(added(2));
  await turn();
  driver.deliver(added(3));
  await turn();
  await driver.stop();
  const [head, ...lines] = listLines(path);
  t.like(head, { kind: 'head', head: { machine: 'broker', at: 5, options: { a: 1 }, state: undefined } });
  t.deepEqual(lines, [
    { kind: 'inputs', turn: 1, now: 77, inputs: [added(1), added(2)] },
    {
      kind: 'outcome',
      turn: 1,
      changes: [
        { kind: 'Grew', amount: 1 },
        { kind: 'Grew', amount: 2 },
      ],
      commands: [{ kind: 'Show', totals: [1, 2] }],
    },
    { kind: 'inputs', turn: 2, now: 77, inputs: [added(3)] },
    {
      kind: 'outcome',
      turn: 2,
      changes: [{ kind: 'Grew', amount: 3 }],
      commands: [{ kind: 'Show', totals: [1, 2, 3] }],
    },
    { kind: 'end', error: '' },
  ]);
});

test('the inputs of a step are in the file before it runs, and the error that it ends with after it', async (t) => {
  const { path, errors, open, drive } = client(t);
  const seen: unknown[] = [];
  const trace = open();
  const driver = drive(
    trace && {
      ...trace,
      begin: (...turnOf) => {
        trace.begin(...turnOf);
        seen.push(listLines(path).at(-1));
      },
      conclude: (...all) => {
        trace.conclude(...all);
      },
      end: (error) => {
        trace.end(error);
      },
    },
  );
  driver.deliver(added(13));
  await turn();
  t.deepEqual(seen, [{ kind: 'inputs', turn: 1, now: 77, inputs: [added(13)] }]);
  t.deepEqual(listLines(path).slice(1), [
    { kind: 'inputs', turn: 1, now: 77, inputs: [added(13)] },
    { kind: 'end', error: 'Error: unlucky' },
  ]);
  t.is(errors.length, 1);
});

test('the outcome of the last turn is written soon, also when nothing follows', async (t) => {
  const { path, timers, open, drive } = client(t);
  const driver = drive(open());
  driver.deliver(added(1));
  await turn();
  t.is(listLines(path).length, 2);
  timers.ring();
  t.is(listLines(path).at(-1)?.kind, 'outcome');
  await driver.stop();
});

test('only its owner can read a trace, and one that exists is left alone', async (t) => {
  const { path, open, drive } = client(t);
  await drive(open()).stop();
  await drive(open()).stop();
  await drive(open()).stop();
  t.is(statSync(path).mode & 0o777, 0o600);
  for (const file of [path, path.replace('.jsonl', '.2.jsonl'), path.replace('.jsonl', '.3.jsonl')])
    t.is(listLines(file).length, 2, file);
});

test('no path means no trace, and nothing is described', (t) => {
  const { open } = client(t);
  t.is(
    open({
      path: '',
      describe: () => {
        throw new Error('described');
      },
    }),
    undefined,
  );
});

test('a folder that is not there is bad configuration', (t) => {
  const { open, path } = client(t);
  const error = t.throws<MutiraoError>(() => open({ path: join(path, 'x', 'y.jsonl') }));
  t.is(error?.code, 'MUT_BAD_CONFIG');
  t.regex(error?.message ?? '', /--trace is .*ENOENT/);
});

test('a failed write ends the trace with a warning, and not the driver', async (t) => {
  const { path, warnings, errors, open, drive } = client(t);
  const driver = drive(open());
  driver.deliver({ kind: 'Added', amount: 1, extra: () => 1 } as Input);
  await turn();
  driver.deliver(added(2));
  await turn();
  t.deepEqual([warnings, errors], [['cannot write the debugging trace; it ends here'], []]);
  t.deepEqual(driver.state.totals, [1, 2]);
  t.deepEqual(
    listLines(path).map((line) => line?.kind),
    ['head'],
  );
  await driver.stop();
});
