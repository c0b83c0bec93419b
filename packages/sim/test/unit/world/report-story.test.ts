import test from 'ava';
import {
  drawScenario,
  idsInText,
  runWorld,
  reportStory,
  traceTurn,
  type WorldEvent,
  type WorldFailure,
} from '../../../src/index.ts';

/** A stormy world of one cluster and a lab, in which all goes well. */
const scenario = {
  ...drawScenario('0'),
  faults: {
    ...drawScenario('0').faults,
    crashesPerHour: 60,
    fallsPerHour: 20,
    pausesPerHour: 20,
    pauseMax: 2000,
    cutsPerHour: 20,
    cutMax: 5000,
    breaksPerHour: 100,
    fullDisksPerHour: 20,
  },
};

const failing = (message: string, stack = ''): WorldFailure => ({ after: 0, phase: 'storm', message, stack });

const texts: readonly (readonly [text: string, ids: readonly string[]])[] = [
  ['r12 never did task 4 of job "1", and its result was taken', ['r12', 'j7.t4']],
  ['replica 9 is queued and not placed', ['r9']],
  ['task 3 of job 5 was accepted from r1 and again from r2', ['r1', 'r2', 'j5.t3']],
  ['job "1" was accepted as 7 and again as 8', ['j7']],
  [
    'not at its end: job 1 is open with 0 of 1 finished; request q293 of cluster0 is running',
    ['j1', 'q293', 'cluster0/q293'],
  ],
  ['cluster1/q2.0 runs r5 in slot 0, where r4 runs', ['r5', 'r4', 'cluster1/q2.0']],
  ['lab0/pc3 runs r5 in slot 1', ['r5', 'lab0/pc3']],
  ['q4 of provider cluster0 is vanished in a calm world', ['q4', 'cluster0/q4']],
  ['request 7 of cluster0-manager has a walltime of 60 ms', ['c7']],
  ['time stands still', []],
];

for (const [text, ids] of texts) {
  test(`the ids in "${text}" are ${ids.length === 0 ? 'none' : ids.join(', ')}`, (t) => {
    t.deepEqual(idsInText(text, new Map([['1', 7]])), ids);
  });
}

test('a story is every input and command that touches its ids, and what befell the processes that took part', (t) => {
  const { about, lines, leftOutCount } = reportStory(scenario, failing('r1 runs twice'), 1000);
  t.deepEqual(about, ['r1']);
  t.is(leftOutCount, 0);
  const [first = ''] = lines;
  t.regex(first, /^ +\+\d+\.\d{3} broker #\d+ -> StartReplicas .*r1/);
  for (const line of lines) t.regex(line, /\br1\b|\[r\d+-r\d+|\*\* /, line);
  t.true(lines.some((line) => / agent \S+ #\d+ <- ReplicasDispatched .*r1/.test(line)));
  t.true(lines.some((line) => /\*\* (ProcessCrashed|HostFell) /.test(line)));
});

test('of a long story the end is printed, and of an error its last turn', (t) => {
  const whole = reportStory(scenario, failing('time stands still', 'Error: somewhere'), 1_000_000);
  const { about, lines, leftOutCount } = reportStory(scenario, failing('time stands still', 'Error: somewhere'), 5);
  t.deepEqual(about, []);
  t.is(lines.length, 5);
  t.is(leftOutCount + lines.length, whole.lines.length);
  t.deepEqual(lines, whole.lines.slice(-5));
  const { turnCount } = runWorld(scenario);
  t.regex(
    reportStory(scenario, failing('r1 runs twice', 'Error: somewhere'), 1000).lines.at(-1) ?? '',
    new RegExp(`#${turnCount} `),
  );
});

test('events of processes are passed to the listener, and change nothing', (t) => {
  const events: WorldEvent[] = [];
  const { digest, failure } = runWorld(scenario, undefined, (event) => {
    events.push(event);
  });
  t.is(failure, undefined);
  t.is(digest, runWorld(scenario).digest);
  const kinds = new Set(events.map(({ kind }) => kind));
  for (const kind of [
    'ProcessStarted',
    'ProcessEnded',
    'ProcessCrashed',
    'ProcessPaused',
    'HostFell',
    'HostsCut',
    'StreamBroken',
    'DiskFilled',
    'WorldMended',
  ] as const)
    t.true(kinds.has(kind), kind);
  const started = new Set<string>();
  for (const { kind, processes } of events) {
    for (const name of processes) {
      if (kind === 'ProcessStarted') started.add(name);
      else t.true(started.has(name), `${kind} ${name}`);
    }
  }
});

test('a turn is one line with all that went into it and came out', (t) => {
  const turn = {
    at: 1_700_000_001_500,
    process: 'broker',
    inputs: [{ kind: 'TimerFired' }],
    changes: [],
    commands: [{ kind: 'WakeAt', at: 5, bytes: new Uint8Array([1]) }],
  };
  t.is(
    traceTurn(turn),
    '1500 broker [{"kind":"TimerFired"}] [] [{"kind":"WakeAt","at":5,"bytes":{"$":"bytes","base64":"AQ=="}}]',
  );
});
