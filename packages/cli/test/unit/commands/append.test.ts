import test from 'ava';
import type { AppendTasksRequest, JobSpec, SubmitJobRequest } from '@mutirao/api/broker';
import { MutiraoError } from '@mutirao/api/errors';
import { aJobSummary, runCommandLine } from '@mutirao/testkit';

/** Appends to a broker that takes everything, and returns what it was sent. */
async function append(argv: readonly string[]) {
  const requests: AppendTasksRequest[] = [];
  const appendTasks = (request: AppendTasksRequest) => {
    requests.push(request);
    return Promise.resolve({ firstTaskIndex: 10, taskCount: 3, warnings: [] });
  };
  const listJobs = () => Promise.resolve({ jobs: [aJobSummary({ jobId: 7 })] });
  const line = await runCommandLine(['job', 'append', ...argv], {
    broker: { appendTasks, listJobs },
    directory: '/project',
  });
  return { ...line, requests };
}

test('tasks are appended with what they need and paths from this folder on', async (t) => {
  const options = ['--values', 'a,b,c', '--put', 'data', '--get', 'out:out-{}', '--memory', '2G', '--cpus', '4'];
  const { status, out, requests } = await append(['7', ...options, '--key', 'night', '--', './work', '{}']);
  t.is(status, 0);
  t.is(out, '3 tasks appended to job 7, the first with number 10.\n');
  const [request] = requests;
  t.like(request, { jobId: 7, appendKey: 'night' });
  const [group] = request?.groups ?? [];
  t.like(group, { command: './work {}', processors: 4, resources: { memoryBytes: 2 * 2 ** 30 } });
  t.deepEqual(group?.values, { $case: 'list', value: { values: ['a', 'b', 'c'] } });
  t.deepEqual(group?.inputs[0]?.source?.source, { $case: 'localPath', value: '/project/data' });
  t.is(group?.outputs[0]?.localPath, '/project/out-{}');
});

test('unstated options stay as the job has them, and each append has a key of its own', async (t) => {
  const first = await append(['last', '--', 'true']);
  const second = await append(['last', '--', 'true']);
  t.like(first.requests[0], { jobId: 7 });
  t.is(first.requests[0]?.groups[0]?.processors, undefined);
  t.is(first.requests[0]?.groups[0]?.resources, undefined);
  t.not(first.requests[0]?.appendKey, second.requests[0]?.appendKey);
  t.is((await append(['7', '--quiet', '--', 'true'])).out, '10\n');
  t.deepEqual(JSON.parse((await append(['7', '--json', '--', 'true'])).out), {
    job_id: 7,
    first_task_index: 10,
    task_count: 3,
  });
});

test('an append without a command is refused, and so is an option of jobs', async (t) => {
  const nothing = await append(['7']);
  t.is(nothing.status, 2);
  t.regex(nothing.err, /there is nothing to submit; expected .* a command after "--"/);
  t.is((await append(['7', '--label', 'x', '--', 'true'])).status, 2);
});

test('an append is repeated under its key while the broker is away', async (t) => {
  const keys: string[] = [];
  const appendTasks = ({ appendKey }: AppendTasksRequest) => {
    keys.push(appendKey);
    if (keys.length < 3) throw new MutiraoError('MUT_UNREACHABLE', 'away');
    return Promise.resolve({ firstTaskIndex: 0, taskCount: 1, warnings: [] });
  };
  const listJobs = () => Promise.resolve({ jobs: [aJobSummary({ jobId: 7 })] });
  const broker = { appendTasks, listJobs };
  const { status } = await runCommandLine(['job', 'append', '7', '--', 'true'], { broker });
  t.is(status, 0);
  t.deepEqual([keys.length, new Set(keys).size], [3, 1]);
});

test('an open job may begin without a command, and says how it goes on', async (t) => {
  const specs: (JobSpec | undefined)[] = [];
  const submitJob = ({ job }: SubmitJobRequest) => {
    specs.push(job);
    return Promise.resolve({ jobId: 5, taskCount: job?.groups.length ?? 0, warnings: [] });
  };
  const submit = (...argv: string[]) => runCommandLine(['job', 'submit', ...argv], { broker: { submitJob } });
  const empty = await submit('--open', '--label', 'sweep');
  t.is(empty.status, 0);
  t.like(specs[0], { open: true, label: 'sweep', groups: [] });
  t.regex(empty.out, /"mutirao job append 5 -- COMMAND" adds tasks; it ends after "mutirao job close 5"/);
  await submit('--open', '--', 'true');
  t.is(specs[1]?.groups.length, 1);
  const without = await submit('--open', '--values', 'a,b');
  t.is(without.status, 2);
  t.regex(without.err, /there is nothing to submit/);
  const alone = await submit('--open', '--standalone', '--', 'true');
  t.is(alone.status, 2);
  t.regex(alone.err, /--open cannot be used with --standalone/);
});
