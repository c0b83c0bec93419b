import test from 'ava';
import type { JobSample } from '@mutirao/sim';
import type { CommandContext } from '../../../src/context.ts';
import { sampleRuns } from '../../../src/simulation/sample-runs.ts';

const aSample = { turnaround: 5 } as JobSample;

/** A context with a terminal, and a clock that each reading advances by `stepMs`. */
function aContext({ stepMs = 1, isTerminal = true }: { stepMs?: number; isTerminal?: boolean }) {
  const drawn: string[] = [];
  const interrupt = new AbortController();
  let now = 0;
  const output = {
    mode: 'table',
    columns: 100,
    write: () => undefined,
    note: (line: string) => drawn.push(line),
    progress: isTerminal ? (text: string) => drawn.push(text) : undefined,
  };
  const context = {
    output,
    clock: { now: () => (now += stepMs) },
    signal: interrupt.signal,
  } as unknown as CommandContext;
  return { context, drawn, interrupt };
}

test('many runs are reported on a terminal as they come, and the last line is closed', async (t) => {
  const { context, drawn } = aContext({ stepMs: 50 });
  const samples = await sampleRuns(context, 40, () => aSample);
  t.is(samples?.length, 40);
  t.true(drawn.length >= 4);
  t.regex(drawn[0]!, /^\r\u001b\[2K\d+% \d+\/40 runs {2}.*left$/);
  t.regex(drawn.at(-2)!, /100% 40\/40 runs/);
  t.is(drawn.at(-1), '\n');
});

test('few runs, and runs without a terminal, print their results alone', async (t) => {
  for (const options of [{ stepMs: 1 }, { stepMs: 50, isTerminal: false }]) {
    const { context, drawn } = aContext(options);
    t.is((await sampleRuns(context, 40, () => aSample))?.length, 40);
    t.deepEqual(drawn, []);
  }
});

test('an interrupt takes effect before the next run', async (t) => {
  const { context, interrupt } = aContext({ stepMs: 500 });
  let count = 0;
  const samples = await sampleRuns(context, 1000, (run) => {
    count += 1;
    // As a signal does, it comes between two turns of the event loop.
    if (run === 3)
      setImmediate(() => {
        interrupt.abort();
      });
    return aSample;
  });
  t.is(samples, undefined);
  t.true(count < 10, String(count));
});
