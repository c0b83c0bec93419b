// The machines decide today what they decided when these traces were recorded, on a grid of real processes whose broker
// was killed.
// Where that is to change, BLESS=1 records the new decisions over the same inputs.
import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { decodeTraceLine, encodeTraceLine, type TraceLine } from '@mutirao/core/debugging-trace';
import { FormatError } from '@mutirao/formats';
import { TraceReplay, type ReplayOptions, type ReplayReport } from '@mutirao/sim/replay';
import { Story, type StoryEvent } from '@mutirao/sim/story';
import test from 'ava';

const traces = {
  agent: 'agent.jsonl',
  broker: 'broker-restarted.jsonl.gz',
  cluster: 'cluster.jsonl',
  provider: 'provider.jsonl.gz',
} as const;
const folder = new URL('../../fixtures/traces/', import.meta.url);

function read(name: keyof typeof traces): string {
  const file = readFileSync(new URL(traces[name], folder));
  return traces[name].endsWith('.gz') ? gunzipSync(file).toString() : file.toString();
}

function replay(text: string, options: Partial<ReplayOptions> = {}): ReplayReport {
  const run = new TraceReplay({ file: 'x.jsonl', ...options });
  const lines = text.split('\n');
  for (const line of lines.slice(0, -1)) run.take(line);
  return run.finish(lines.at(-1) ?? '');
}

function bless(name: keyof typeof traces, text: string): void {
  const events: StoryEvent[] = [];
  let written = '';
  for (const raw of text.split('\n').slice(0, -1)) {
    const line = decodeTraceLine(raw);
    if (line?.kind !== 'outcome') written += `${raw}\n`;
    else {
      events.length = 0;
      replay(`${written}`, {
        from: { kind: 'turn', turn: line.turn },
        onEvent: (event) => {
          events.push(event);
        },
      });
      const reported = (role: string): unknown[] =>
        events.filter((event) => event.role === role).map(({ message }) => message);
      written += encodeTraceLine({
        kind: 'outcome',
        turn: line.turn,
        changes: reported('change'),
        commands: reported('command'),
      });
    }
  }
  writeFileSync(
    new URL(traces[name], folder),
    traces[name].endsWith('.gz') ? gzipSync(written, { level: 9 }) : written,
  );
}

for (const name of Object.keys(traces) as (keyof typeof traces)[]) {
  test(`a recorded ${name} decides the same again`, (t) => {
    if (process.env['BLESS'] === '1') bless(name, read(name));
    const report = replay(read(name));
    t.is(report.problem, undefined);
    t.is(report.head.machine, name);
    t.true(report.comparedCount >= 4 && report.comparedCount === report.turnCount, String(report.comparedCount));
    t.true(report.commandCount > 0 && report.span > 500 && report.inputCounts.size >= 3);
  });
}

/** The lines of the broker's trace, one of them replaced. */
function changed(at: number, change: (line: string) => string): string {
  return read('broker')
    .split('\n')
    .map((line, index) => (index === at ? change(line) : line))
    .join('\n');
}

/** Where the outcome of a turn stands; its inputs are the line before. */
const outcomeAt = (turn: number): number => 2 * turn;

test('a command that differs is found, with its turn, its place and both values', (t) => {
  const at = read('broker')
    .split('\n')
    .findIndex((line) => line.includes('"changes"') && line.includes('"pendingTasks":1'));
  t.true(at > 0);
  const { problem } = replay(changed(at, (line) => line.replace('"pendingTasks":1', '"pendingTasks":5')));
  t.like(problem, { kind: 'difference', turn: at / 2, line: at, difference: { expected: 5, found: 1 } });
  t.regex(problem?.message ?? '', /^commands\[\d+\]\.demand\.pendingTasks is not what the process recorded$/);
  t.true((problem?.inputs.length ?? 0) > 0);
});

test('a change that differs is found, also where one is missing', (t) => {
  const line = read('broker')
    .split('\n')
    .findIndex((text) => text.includes('"changes":[{"kind":"ReplicasEnded"'));
  const outcome = decodeTraceLine(read('broker').split('\n')[line] ?? '') as Extract<TraceLine, { kind: 'outcome' }>;
  const { problem } = replay(
    changed(line, () => encodeTraceLine({ ...outcome, changes: outcome.changes.slice(1) }).trimEnd()),
  );
  t.like(problem, { kind: 'difference', turn: line / 2 });
  t.regex(problem?.difference?.path ?? '', /^changes/);
});

test('inputs that lead the machine elsewhere show in the turn where that shows', (t) => {
  const line = read('broker')
    .split('\n')
    .findIndex(
      (text) => text.includes('"inputs":[{"kind":"MachineReported"') && text.includes('"outcome":"succeeded"'),
    );
  const { problem } = replay(changed(line, (text) => text.replace('"outcome":"succeeded"', '"outcome":"failed"')));
  t.like(problem, { kind: 'difference', line: line + 1 });
});

test('a step that fails as it did in the process is reported, and is not a difference', (t) => {
  const [head = '', first = ''] = read('broker').split('\n');
  const broken = first.replace(/"inputs":\[.*/, '"inputs":[{"kind":"NoSuchInput"}]}');
  const report = replay(`${head}\n${broken}\n{"end":"Error: gone wrong"}\n`);
  t.like(report, { end: 'failed', endError: 'Error: gone wrong', problem: { kind: 'failure', turn: 1, line: 2 } });
  t.regex(report.problem?.message ?? '', /^the step fails: /);
});

test('a step that failed in the process and goes well here is a difference', (t) => {
  const [head = '', first = ''] = read('broker').split('\n');
  t.like(replay(`${head}\n${first}\n{"end":"Error: bad memory"}\n`).problem, {
    kind: 'difference',
    turn: 1,
    message: 'the step goes well here; in the process it failed: Error: bad memory',
  });
});

test('an error outside the machine is reported and is not a difference', (t) => {
  const [head = '', first = '', second = ''] = read('broker').split('\n');
  t.like(replay(`${head}\n${first}\n${second}\n{"end":"Error: disk full"}\n`), {
    problem: undefined,
    end: 'failed',
    endError: 'Error: disk full',
    comparedCount: 1,
  });
});

test('a broken invariant is reported with its turn', (t) => {
  const text = read('broker').replace(/"finished":\[\[0,2\]\]/, '"finished":[[0,1]]');
  t.not(text, read('broker'));
  t.is(replay(text).problem?.turn, 1);
});

test('a half last line is left out and said so; a whole one without its end counts', (t) => {
  const text = read('broker');
  const cut = text.slice(0, text.lastIndexOf('"changes"') + 20);
  t.like(replay(cut), { isHalfLineDropped: true, end: 'cut', problem: undefined });
  t.like(replay(text.trimEnd()), { isHalfLineDropped: false, end: 'stopped', problem: undefined });
});

const [head = '', inputs = '', outcome = ''] = read('broker').split('\n');
const refusals: readonly (readonly [what: string, text: string, message: RegExp])[] = [
  ['nothing', '', /^x\.jsonl:1:1: found the end, expected the head/],
  ['another kind of file', 'hello\nworld\n', /^x\.jsonl:1:1: found "hello", expected the head/],
  ['a turn without a head', `${inputs}\n`, /:1:1: .* expected the head/],
  ['half a head', head.slice(0, 200), /:1:1: .* expected the head/],
  [
    'another version',
    `${head.replace('"version":1', '"version":2')}\n`,
    /:1:1: found a trace of version 2, expected one of version 1/,
  ],
  [
    'a state that is none',
    `${head.replace('"nextJobId":2', '"nextJobId":2,"jobs":7,"x":0').replace('"jobs":[', '"y":[')}\n`,
    /found a head with which no broker can begin .* expected one of this release/,
  ],
  [
    'a scheduler that is not known',
    `${head.replace('"jobs":[{', '"jobs":[{"scheduler":"dice",')}\n`,
    /there is no scheduler dice/,
  ],
  [
    'a half line in the middle',
    `${head}\n${inputs.slice(0, 40)}\n${outcome}\n`,
    /^x\.jsonl:2:1: .*expected a line of a debugging trace/,
  ],
  ['a lost line of inputs', `${head}\n${outcome}\n`, /:2:1: .* expected the inputs of a turn/],
  ['a lost outcome', `${head}\n${inputs}\n${inputs}\n`, /:3:1: .* expected the outcome of turn 1/],
  ['a lost turn', `${head}\n${inputs.replace('"turn":1', '"turn":2')}\n`, /:2:1: .* expected turn 1/],
  [
    'the outcome of another turn',
    `${head}\n${inputs}\n${outcome.replace('"turn":1', '"turn":2')}\n`,
    /:3:1: .* expected the outcome of turn 1/,
  ],
  ['two traces in one', `${head}\n${inputs}\n${outcome}\n${head}\n`, /:4:1: .* expected a turn/],
];
for (const [what, text, message] of refusals) {
  test(`${what} is not a trace`, (t) => {
    const error = t.throws<FormatError>(() => replay(text), { instanceOf: FormatError });
    t.is(error?.code, 'MUT_TRACE_SYNTAX');
    t.regex(error?.message ?? '', message);
  });
}

test('from and until limit what is compared and printed, by turns and by time', (t) => {
  const all = replay(read('broker'));
  const reported: number[] = [];
  const onEvent = ({ turn }: StoryEvent): void => {
    reported.push(turn);
  };
  t.like(replay(read('broker'), { from: { kind: 'turn', turn: 4 }, until: { kind: 'turn', turn: 6 }, onEvent }), {
    turnCount: 6,
    comparedCount: 3,
  });
  t.deepEqual([...new Set(reported)], [4, 5, 6]);
  const late = replay(read('broker'), { from: { kind: 'time', time: 100 }, until: { kind: 'time', time: 300 } });
  t.true(late.comparedCount > 0 && late.comparedCount < late.turnCount && late.turnCount < all.turnCount);
  const wrong = changed(outcomeAt(2), (line) =>
    line.replace(/"changes":\[.*/, '"changes":[],"commands":[{"kind":"Nothing"}]}'),
  );
  t.is(replay(wrong).problem?.turn, 2);
  t.is(replay(wrong, { from: { kind: 'turn', turn: 3 } }).problem, undefined);
});

test('the story of a task comes out of a replay', (t) => {
  let story: Story | undefined;
  const lines: string[] = [];
  replay(read('agent'), {
    onHead: ({ at }) => {
      story = new Story(['t1'], at);
    },
    onEvent: (event) => {
      const line = story?.report(event);
      if (line !== undefined) lines.push(line.replace(/^ *\S+ #\d+ /, '').replace(/ .*/, ''));
    },
  });
  t.deepEqual(lines.slice(0, 1), ['<-']);
  t.true(lines.length >= 4 && lines.includes('->'));
});
