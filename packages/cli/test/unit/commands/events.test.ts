import test from 'ava';
import type { JobEvent, WatchJobRequest, WatchJobResponse } from '@mutirao/api/broker';
import { MutiraoError } from '@mutirao/api/errors';
import { runCommandLine } from '@mutirao/testkit';

function event(sequence: number, fields: Partial<JobEvent> = {}): JobEvent {
  return {
    sequence,
    type: 'tasks.finished',
    atUnixMs: 1_000_000,
    jobId: 1,
    taskIndexes: [sequence],
    machineId: 'lab/m1',
    reason: '',
    providerId: '',
    requestId: '',
    ...fields,
  };
}

test('without --follow the existing events are printed and the command ends', async (t) => {
  const broker = {
    async *watchJob({ afterSequence }: WatchJobRequest): AsyncGenerator<WatchJobResponse> {
      yield {
        events: [
          event(afterSequence + 1),
          event(afterSequence + 2, { taskIndexes: [], machineId: '', type: 'job.finished' }),
        ],
      };
      yield { events: [] };
      t.fail('the command reads on');
    },
  };
  const { status, out } = await runCommandLine(['events', '--json', '--after', '40'], { broker });
  t.is(status, 0);
  t.deepEqual(
    out
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { sequence: number }).sequence),
    [41, 42],
  );
});

test('of an event of more tasks than a broker names it says how many they are, and asks for as many as it names', async (t) => {
  const asked: unknown[] = [];
  const broker = {
    async *watchJob({ taskIndexesMax }: WatchJobRequest): AsyncGenerator<WatchJobResponse> {
      asked.push(taskIndexesMax);
      yield { events: [event(1, { taskIndexes: [0, 1, 2, 3, 4, 5, 6, 7, 8], taskCount: 2_000_000 }), event(2)] };
      yield { events: [] };
    },
  };
  t.regex((await runCommandLine(['events'], { broker })).out, /tasks 0,1,2,3,4,5,6,7,\.\.\. \(2000000\)/);
  const { out } = await runCommandLine(['events', '--json'], { broker });
  t.deepEqual(
    out
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { task_count: number }).task_count),
    [2_000_000, 1],
  );
  t.deepEqual(asked, [1_000_000, 1_000_000]);
});

test('--follow resumes after the last event when the broker restarts, until interrupted', async (t) => {
  const interrupt = new AbortController();
  const asked: number[] = [];
  const broker = {
    async *watchJob({ afterSequence }: WatchJobRequest): AsyncGenerator<WatchJobResponse> {
      asked.push(afterSequence);
      if (asked.length === 3) {
        interrupt.abort();
        return;
      }
      yield { events: [event(afterSequence + 1)] };
      throw new MutiraoError('MUT_UNREACHABLE', 'gone');
    },
  };
  const { status, out } = await runCommandLine(['events', '-f', '-q'], { broker, signal: interrupt.signal });
  t.is(status, 0);
  t.deepEqual(asked, [0, 1, 2]);
  t.is(out, '1\n2\n');
});

test('--follow resumes inside a change whose events came in part', async (t) => {
  const interrupt = new AbortController();
  const asked: unknown[] = [];
  const broker = {
    async *watchJob({ afterSequence, afterEventCount }: WatchJobRequest): AsyncGenerator<WatchJobResponse> {
      asked.push([afterSequence, afterEventCount]);
      if (asked.length === 1) yield { events: [event(8), event(8)], lastSequence: 7, lastEventCount: 2 };
      else if (asked.length === 2) yield { events: [event(8)], lastSequence: 8 };
      else interrupt.abort();
      throw new MutiraoError('MUT_UNREACHABLE', 'gone');
    },
  };
  const { out } = await runCommandLine(['events', '-f', '-q'], { broker, signal: interrupt.signal });
  t.deepEqual(asked, [
    [0, 0],
    [7, 2],
    [8, 0],
  ]);
  t.is(out, '8\n8\n8\n');
});

test('an event is one line for people', async (t) => {
  const broker = {
    async *watchJob(): AsyncGenerator<WatchJobResponse> {
      yield { events: [event(7, { taskIndexes: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], reason: 'MUT_X' })] };
    },
  };
  const { out } = await runCommandLine(['events'], { broker });
  t.regex(
    out,
    /^ {5}7 {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}tasks\.finished {6}job 1 {2}tasks 1,2,3,4,5,6,7,8,\.\.\. \(10\) {2}on lab\/m1 {2}\(MUT_X\)\n$/,
  );
});

test('events of what jobs run on say which provider, machine or request', async (t) => {
  const none = { jobId: 0, taskIndexes: [], machineId: '' };
  const broker = {
    async *watchJob(): AsyncGenerator<WatchJobResponse> {
      yield { events: [event(1, { ...none, type: 'provider.added', providerId: 'alpha' })] };
      yield {
        events: [
          event(2, {
            ...none,
            type: 'request.queued',
            providerId: 'alpha',
            requestId: 'q3',
            reason: 'four tasks wait',
          }),
        ],
      };
      yield {
        events: [
          event(3, { ...none, type: 'machine.joined', providerId: 'alpha', requestId: 'q3', machineId: 'alpha/q3.0' }),
        ],
      };
      yield { events: [] };
    },
  };
  const { out } = await runCommandLine(['events'], { broker });
  t.deepEqual(
    out
      .trim()
      .split('\n')
      .map((line) => line.replace(/^ *\d+ {2}\S+ \S+ +/, '').replace(/ {2,}/g, '  ')),
    [
      'provider.added  provider alpha',
      'request.queued  request alpha/q3  (four tasks wait)',
      'machine.joined  on alpha/q3.0',
    ],
  );
  const { out: json } = await runCommandLine(['events', '--json'], { broker });
  t.like(JSON.parse(json.split('\n')[1] ?? ''), {
    job_id: null,
    provider_id: 'alpha',
    request_id: 'q3',
    type: 'request.queued',
  });
});

test('--follow starts over, and says so, when the broker comes back with another journal', async (t) => {
  const interrupt = new AbortController();
  const asked: [number, string | undefined][] = [];
  const broker = {
    async *watchJob({ afterSequence, journalInstance }: WatchJobRequest): AsyncGenerator<WatchJobResponse> {
      asked.push([afterSequence, journalInstance]);
      if (asked.length === 2)
        throw new MutiraoError(
          'MUT_JOURNAL_POSITION',
          'sequence 41 is beyond the end of journal second, which has 7 changes',
        );
      yield { events: [event(asked.length === 1 ? 41 : 1)], journalInstance: asked.length === 1 ? 'first' : 'second' };
      if (asked.length === 3) interrupt.abort();
      throw new MutiraoError('MUT_UNREACHABLE', 'gone');
    },
  };
  const { status, out, err } = await runCommandLine(['events', '-f', '-q', '--after', '40'], {
    broker,
    signal: interrupt.signal,
  });
  t.is(status, 0);
  t.deepEqual(asked, [
    [40, undefined],
    [41, 'first'],
    [0, undefined],
  ]);
  t.is(out, '41\n1\n');
  t.regex(err, /another journal.*begin/);
});

test('a sequence beyond the end of the journal is an error where nothing is followed', async (t) => {
  const broker = {
    async *watchJob(): AsyncGenerator<WatchJobResponse> {
      throw new MutiraoError(
        'MUT_JOURNAL_POSITION',
        'sequence 999999 is beyond the end of journal first, which has 7 changes',
      );
    },
  };
  const { status, err } = await runCommandLine(['events', '--after', '999999'], { broker });
  t.not(status, 0);
  t.regex(err, /MUT_JOURNAL_POSITION sequence 999999 is beyond/);
});
