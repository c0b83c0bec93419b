import test from 'ava';
import { TaskStatus, type TailTaskOutputRequest, type TailTaskOutputResponse } from '@mutirao/api/broker';
import { MutiraoError } from '@mutirao/api/errors';
import { aJobSpec, aJobSummary, aReplica, aTask, runCommandLine } from '@mutirao/testkit';

function part(changes: Partial<TailTaskOutputResponse> = {}): TailTaskOutputResponse {
  return {
    status: TaskStatus.RUNNING,
    replicaId: 7,
    machineId: 'lab/a',
    standardOutputOffset: 0,
    standardOutput: Buffer.alloc(0),
    standardErrorOffset: 0,
    standardError: Buffer.alloc(0),
    unreadable: false,
    ...changes,
  };
}

const out = (offset: number, text: string, changes: Partial<TailTaskOutputResponse> = {}): TailTaskOutputResponse =>
  part({ standardOutputOffset: offset, standardOutput: Buffer.from(text), ...changes });

/** A broker that sends each of these rounds on one stream; a round that ends with an error breaks. */
function brokerOf(...rounds: readonly (readonly (TailTaskOutputResponse | MutiraoError)[])[]) {
  const asked: TailTaskOutputRequest[] = [];
  return {
    asked,
    listJobs: () => Promise.resolve({ jobs: [aJobSummary()] }),
    getJob: () => Promise.resolve({ job: aJobSummary(), spec: aJobSpec() }),
    listTasks: () => Promise.resolve({ tasks: [aTask()] }),
    async *tailTaskOutput(request: TailTaskOutputRequest): AsyncGenerator<TailTaskOutputResponse> {
      asked.push(request);
      await Promise.resolve();
      for (const message of rounds[asked.length - 1] ?? []) {
        if (message instanceof MutiraoError) throw message;
        yield message;
      }
    },
  };
}

const follow = ['task', 'output', '1', '0', '--follow'];

test('the output of a task is printed as it comes, and its end gives the exit status', async (t) => {
  const finished = out(3, '', { status: TaskStatus.FINISHED });
  t.deepEqual(await runCommandLine(follow, { broker: brokerOf([part(), out(0, 'a\n'), out(2, 'b'), finished]) }), {
    status: 0,
    out: 'a\nb',
    err: '',
  });
  const { status, err } = await runCommandLine(follow, {
    broker: brokerOf([out(0, ''), part({ status: TaskStatus.FAILED })]),
  });
  t.is(status, 1);
  t.is(err, 'task 0 of job 1 is failed\n');
});

test('after a break it goes on from the bytes that it has', async (t) => {
  const broker = brokerOf(
    [out(0, 'abc'), new MutiraoError('MUT_UNREACHABLE', 'gone')],
    [out(3, 'def'), part({ standardOutputOffset: 6, status: TaskStatus.FINISHED })],
  );
  t.like(await runCommandLine(follow, { broker }), { status: 0, out: 'abcdef' });
  t.like(broker.asked[1], { replicaId: 7, standardOutputOffset: 3, standardErrorOffset: 0 });
});

test('missing bytes, another run and a task that has not started are said on standard error', async (t) => {
  const { out: printed, err } = await runCommandLine(follow, {
    broker: brokerOf([
      part({ status: TaskStatus.WAITING, replicaId: 0, machineId: '' }),
      out(0, 'ab'),
      out(12, 'cd'),
      out(0, 'again', { replicaId: 9, machineId: 'lab/b' }),
      out(5, '', { replicaId: 9, status: TaskStatus.FINISHED }),
    ]),
  });
  t.is(printed, 'abcdagain');
  t.deepEqual(err.trim().split('\n'), [
    'task 0 of job 1 is waiting; waiting for it to start',
    '[mutirao: 10 bytes of standard output were not kept and are missing here]',
    'task 0 of job 1 has another run, on lab/b; its output from the beginning:',
  ]);
});

test('a character that comes in two pieces is printed whole', async (t) => {
  const text = Buffer.from('né');
  const { out: printed } = await runCommandLine(follow, {
    broker: brokerOf([
      part({ standardOutput: text.subarray(0, 2) }),
      part({ standardOutputOffset: 2, standardOutput: text.subarray(2), status: TaskStatus.FINISHED }),
    ]),
  });
  t.is(printed, 'né');
});

test('Ctrl-C ends the printing and says that the task goes on', async (t) => {
  const stop = new AbortController();
  const broker = {
    ...brokerOf(),
    async *tailTaskOutput(): AsyncGenerator<TailTaskOutputResponse> {
      await Promise.resolve();
      yield out(0, 'a');
      stop.abort();
      throw new MutiraoError('MUT_CANCELLED', 'the call was cancelled');
    },
  };
  const { status, err } = await runCommandLine(follow, { broker, signal: stop.signal });
  t.is(status, 4);
  t.regex(err, /task 0 of job 1 goes on/);
});

test('several tasks are refused with advice', async (t) => {
  const broker = { ...brokerOf(), listTasks: () => Promise.resolve({ tasks: [aTask(), aTask({ taskIndex: 1 })] }) };
  const { status, err } = await runCommandLine(['task', 'output', '1', '--follow'], { broker });
  t.is(status, 2);
  t.regex(err, /--follow prints one task.*name one/);
});

test('as JSON each piece is a line', async (t) => {
  const { out: printed } = await runCommandLine([...follow, '--json'], {
    broker: brokerOf([out(0, 'a'), part({ status: TaskStatus.FINISHED, standardOutputOffset: 1 })]),
  });
  const lines = printed
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  t.is(lines.length, 2);
  t.like(lines[0], { job_id: 1, task_index: 0, status: 'running', replica_id: 7, standard_output_base64: 'YQ==' });
});

test('as JSON, a last message that comes twice is one line', async (t) => {
  const finished = part({ status: TaskStatus.FINISHED, standardOutputOffset: 1 });
  const { out: printed } = await runCommandLine([...follow, '--json'], {
    broker: brokerOf([out(0, 'a'), finished, finished]),
  });
  t.is(printed.trim().split('\n').length, 2);
});

test('a failed task is reported with its exit status', async (t) => {
  const replica = {
    ...aReplica(),
    exitStatus: 3,
    detail: { code: 'exit-status', parameters: {}, text: 'exit status 3' },
  };
  const broker = {
    ...brokerOf([out(0, 'a'), part({ status: TaskStatus.FAILED, standardOutputOffset: 1 })]),
    listTasks: () => Promise.resolve({ tasks: [aTask({ status: TaskStatus.FAILED, replicas: [replica] })] }),
  };
  const { status, err } = await runCommandLine(follow, { broker });
  t.is(status, 1);
  t.is(err, 'task 0 of job 1 is failed: exit status 3\n');
});

test('of a task that was cancelled before, the output that is kept is printed', async (t) => {
  const kept = {
    replicaId: 7,
    standardOutput: Buffer.from('half\n'),
    standardError: Buffer.alloc(0),
    truncated: false,
    files: [],
  };
  const broker = {
    ...brokerOf([part({ status: TaskStatus.CANCELLED, replicaId: 0 })]),
    getTaskOutput: () => Promise.resolve(kept),
  };
  const { status, out: printed, err } = await runCommandLine(follow, { broker });
  t.is(status, 1);
  t.is(printed, 'half\n');
  t.is(err, 'task 0 of job 1 is cancelled\n');
});
