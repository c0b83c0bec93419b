import test from 'ava';
import { JobStatus, type JobEvent, type WatchJobRequest, type WatchJobResponse } from '@mutirao/api/broker';
import { MutiraoError } from '@mutirao/api/errors';
import { aJobSummary, runCommandLine } from '@mutirao/testkit';

const running = aJobSummary({
  status: JobStatus.RUNNING,
  endedUnixMs: 0,
  finishedCount: 4,
  runningCount: 2,
  readyCount: 4,
});

function event(sequence: number, type: string): JobEvent {
  return {
    sequence,
    type,
    atUnixMs: 0,
    jobId: 1,
    taskIndexes: [],
    machineId: '',
    reason: '',
    providerId: '',
    requestId: '',
  };
}

test('waiting goes on after a restart of the broker, from the last event that was seen', async (t) => {
  const asked: (readonly number[])[] = [];
  let restarts = 0;
  let looks = 0;
  const broker = {
    listJobs: () => Promise.resolve({ jobs: [running] }),
    getJob: () => {
      looks += 1;
      if (restarts === 1 && looks === 3) return Promise.reject(new MutiraoError('MUT_UNREACHABLE', 'away'));
      return Promise.resolve({ job: restarts < 2 ? running : aJobSummary(), spec: undefined });
    },
    async *watchJob({ afterSequence, afterEventCount = 0 }: WatchJobRequest): AsyncGenerator<WatchJobResponse> {
      asked.push([afterSequence, afterEventCount]);
      restarts += 1;
      yield {
        events: [event(afterSequence + 6, 'tasks.finished')],
        lastSequence: afterSequence + 5,
        lastEventCount: 1,
      };
      if (restarts === 1) throw new MutiraoError('MUT_UNREACHABLE', 'gone');
      yield { events: [event(afterSequence + 9, 'job.finished')] };
    },
  };
  const { status, out, err } = await runCommandLine(['job', 'wait'], { broker });
  t.is(status, 0);
  t.deepEqual(asked.slice(0, 2), [
    [0, 0],
    [5, 1],
  ]);
  t.is(out, 'Job 1 finished after 13s, tasks 10: 10 finished.\n');
  t.is(err, 'The broker does not answer; waiting for it ...\nThe broker answers again.\n');
});

test('after a restore of the broker waiting starts over in its other journal, however long that is', async (t) => {
  const asked: (readonly [number, string | undefined])[] = [];
  let isEnded = false;
  const broker = {
    listJobs: () => Promise.resolve({ jobs: [running] }),
    getJob: () => Promise.resolve({ job: isEnded ? aJobSummary() : running, spec: undefined }),
    async *watchJob({ afterSequence, journalInstance }: WatchJobRequest): AsyncGenerator<WatchJobResponse> {
      asked.push([afterSequence, journalInstance]);
      if (asked.length === 1) {
        yield { events: [event(5, 'tasks.finished')], journalInstance: 'first' };
        throw new MutiraoError('MUT_UNREACHABLE', 'gone');
      }
      if (journalInstance === 'first') throw new MutiraoError('MUT_JOURNAL_POSITION', 'this one is second');
      isEnded = true;
      yield { events: [event(3, 'job.finished')], journalInstance: 'second' };
    },
  };
  t.is((await runCommandLine(['job', 'wait'], { broker })).status, 0);
  t.deepEqual(asked, [
    [0, undefined],
    [5, 'first'],
    [0, undefined],
  ]);
});

test('a broker that stays away for two minutes ends the wait', async (t) => {
  let now = 0;
  const broker = {
    listJobs: () => Promise.resolve({ jobs: [running] }),
    getJob: () => Promise.reject(new MutiraoError('MUT_UNREACHABLE', 'away')),
    watchJob: () => {
      throw new MutiraoError('MUT_UNREACHABLE', 'away');
    },
  };
  const { status } = await runCommandLine(['job', 'wait'], {
    broker,
    now: () => {
      now += 10_000;
      return now;
    },
  });
  t.is(status, 3);
});

test('an interrupt stops the wait, not the job', async (t) => {
  const interrupt = new AbortController();
  const broker = {
    listJobs: () => Promise.resolve({ jobs: [running] }),
    getJob: () => {
      interrupt.abort();
      return Promise.resolve({ job: running, spec: undefined });
    },
    async *watchJob(): AsyncGenerator<WatchJobResponse> {
      /* nothing comes */
    },
  };
  const { status, err } = await runCommandLine(['job', 'wait', '1'], { broker, signal: interrupt.signal });
  t.is(status, 4);
  t.regex(err, /MUT_CANCELLED stopped waiting; job 1 goes on\./);
});

test('progress in plain lines says what changed', async (t) => {
  const states = [running, { ...running, finishedCount: 9, readyCount: 0, runningCount: 1 }, aJobSummary()];
  let looks = 0;
  let now = 1_000_000;
  const broker = {
    listJobs: () => Promise.resolve({ jobs: [running] }),
    getJob: () =>
      Promise.resolve({
        job: states[Math.min(looks++, 2)],
        spec: undefined,
        remainingMsMin: 2000,
        remainingMsMax: 4000,
      }),
    async *watchJob(_request: WatchJobRequest, signal: AbortSignal): AsyncGenerator<WatchJobResponse> {
      for (let sequence = 1; !signal.aborted; sequence += 1) yield { events: [event(sequence, 'tasks.finished')] };
    },
  };
  const { err } = await runCommandLine(['job', 'wait', '1', '--progress'], {
    broker,
    now: () => {
      now += 3000;
      return now;
    },
  });
  const lines = err.split('\n');
  t.regex(lines[0] ?? '', /^job 1 {2}40% 4\/10 {2}2 running {2}\d+(\.\d)?s {2}about 3\.0s left$/);
  t.is(lines.at(-2), 'job 1 100% 10/10  13s  finished');
});
