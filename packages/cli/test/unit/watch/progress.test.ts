import test from 'ava';
import { encodeReason } from '@mutirao/api/reasons';
import { JobStatus } from '@mutirao/api/broker';
import { aJobSummary } from '@mutirao/testkit';
import { terminalOutput } from '../../../src/output/output.ts';
import { explainMissingFile, findMissingFile } from '../../../src/watch/explain-missing-file.ts';
import { barLine } from '../../../src/watch/progress.ts';
import { WaitingReasons } from '../../../src/watch/waiting-reasons.ts';

const job = aJobSummary({
  jobId: 3,
  status: JobStatus.RUNNING,
  endedUnixMs: 0,
  taskCount: 100,
  finishedCount: 49,
  failedCount: 1,
  runningCount: 4,
});

test('the bar shows the share that has ended, what runs, what failed, the time and what is left', (t) => {
  t.is(
    barLine(job, { now: 1_012_000, remaining: 46_000, columns: 100 }),
    'job 3 [##################-------------------]  50% 50/100  4 running  1 failed  12s  about 46s left',
  );
});

test('the bar is never wider than the terminal', (t) => {
  for (let columns = 10; columns < 200; columns += 1)
    t.true(barLine(job, { now: 1_012_000, remaining: 46_000, columns }).length < columns, String(columns));
});

test('no remaining time is shown while the broker does not know it, and tasks that have not begun at their machine do not count as running', (t) => {
  const line = barLine(
    aJobSummary({ status: JobStatus.RUNNING, endedUnixMs: 0, finishedCount: 2, runningCount: 3, dispatchedCount: 5 }),
    { now: 1_300_000, columns: 100 },
  );
  t.regex(line, /3 running {2}5 dispatched {2}5m00s$/);
});

test('a note comes above the bar, on a line of its own, and the bar is drawn again below it', (t) => {
  let text = '';
  const terminal = terminalOutput((more) => {
    text += more;
  });
  terminal.note('before');
  terminal.progress('\r\u001b[2K[##--]');
  terminal.note('why');
  terminal.progress('\n');
  terminal.note('after');
  t.is(text, 'before\n\r\u001b[2K[##--]\r\u001b[2Kwhy\n\r\u001b[2K[##--]\nafter\n');
});

test('while no task has begun the reason is shown after a while, once, and not any more when one runs', async (t) => {
  const notes: string[] = [];
  let now = 0;
  const broker = {
    explain: () =>
      Promise.resolve({
        summary: encodeReason({
          code: 'job-progress',
          jobId: 7,
          tasks: 10,
          finishedTasks: 0,
          runningTasks: 0,
        }),
        waiting: encodeReason(
          now < 30_000
            ? { code: 'site-selection-too-wide', taskProcessors: 64, widestProcessors: 8 }
            : { code: 'all-machines-busy', machines: 2 },
        ),
        details: [],
      }),
  };
  const reasons = new WaitingReasons(
    { output: { note: (line: string) => notes.push(line) }, clock: { now: () => now } } as never,
    broker as never,
    7,
  );
  const waiting = aJobSummary({
    jobId: 7,
    status: JobStatus.RUNNING,
    endedUnixMs: 0,
    finishedCount: 0,
    readyCount: 10,
  });
  const lookAt = async (at: number, job = waiting): Promise<number> => {
    now = at;
    reasons.look(job);
    await Promise.resolve();
    await Promise.resolve();
    return notes.length;
  };
  t.is(await lookAt(4000), 0);
  t.is(await lookAt(5000), 1);
  t.is(await lookAt(20_000), 1);
  t.is(await lookAt(31_000), 2);
  t.is(await lookAt(60_000, { ...waiting, runningCount: 1 }), 2);
  t.deepEqual(notes, [
    'job 7 has not started: A task needs 64 processors; the largest resource has 8.',
    'job 7 has not started: All 2 suitable machines are busy.',
  ]);
});

test('waiting for a held job says what lets it start', async (t) => {
  const notes: string[] = [];
  let now = 0;
  const reasons = new WaitingReasons(
    { output: { note: (line: string) => notes.push(line) }, clock: { now: () => now } } as never,
    { explain: () => Promise.resolve({ details: [] }) } as never,
    7,
  );
  now = 6000;
  reasons.look(
    aJobSummary({
      jobId: 7,
      status: JobStatus.RUNNING,
      endedUnixMs: 0,
      finishedCount: 0,
      waitingCount: 2,
      heldCount: 2,
    }),
  );
  await Promise.resolve();
  await Promise.resolve();
  t.deepEqual(notes, ['job 7 has not started: 2 tasks are held. "mutirao job release 7" lets them start.']);
});

test('a file that a task missed is found in what shells and interpreters say', async (t) => {
  for (const [text, name] of [
    [
      "python3: can't open file '/var/x/playpens/3/sim.py': [Errno 2] No such file or directory",
      '/var/x/playpens/3/sim.py',
    ],
    ['sh: 1: ./sim: not found', './sim'],
    ['bash: line 1: convert: command not found', 'convert'],
    ['/bin/sh: 1: cannot open run.sh: No such file', 'run.sh'],
    ['cat: data.csv: No such file or directory', 'data.csv'],
    ["FileNotFoundError: [Errno 2] No such file or directory: 'in.txt'", 'in.txt'],
    ["/bin/sh: 1: cd: can't cd to data", 'data'],
    ['segmentation fault', undefined],
  ] as const)
    t.is(findMissingFile(text), name, text);
  const broker = {
    listTasks: () => Promise.resolve({ tasks: [{ taskIndex: 4 }] }),
    getTaskOutput: () => Promise.resolve({ standardError: Buffer.from('sh: 1: ./sim.py: not found\n') }),
  };
  t.is(
    await explainMissingFile(broker as never, aJobSummary({ failedCount: 1 })),
    'Task 4 did not find ./sim.py. Unless their job says --in-place, tasks start in an empty folder: bring ' +
      'files of yours with --put sim.py, or name programs that the machine has.',
  );
  t.is(await explainMissingFile(broker as never, aJobSummary()), undefined);
});
