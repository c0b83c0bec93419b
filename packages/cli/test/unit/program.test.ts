import test from 'ava';
import { InvariantError } from '@mutirao/core/shared';
import { MutiraoError } from '@mutirao/api/errors';
import { runCommandLine } from '@mutirao/testkit';

const failing = (error: Error) => ({ broker: { listJobs: () => Promise.reject(error) } });

test('a broker that is out of reach ends the command with 3, one line for the error and one for what to do', async (t) => {
  const { status, out, err } = await runCommandLine(['job', 'list']);
  t.is(status, 3);
  t.is(out, '');
  t.is(
    err,
    'error: MUT_UNREACHABLE there is no broker\nCheck that the process runs and that the address and home ' +
      'folder (--home, MUTIRAO_HOME) are right; "mutirao up" starts a grid on this machine.\n',
  );
});

test('bad input that the broker refuses ends the command with 2', async (t) => {
  t.is((await runCommandLine(['job', 'list'], failing(new MutiraoError('MUT_BAD_REQUEST', 'no')))).status, 2);
});

test('with --json the last line of an error has its code, and the reason with its parameters', async (t) => {
  const reason = { code: 'job-not-found', jobId: 7 } as const;
  const error = new MutiraoError('MUT_NOT_FOUND', 'there is no job 7 of yours', { reason });
  const { status, out, err } = await runCommandLine(['job', 'list', '--json'], failing(error));
  t.deepEqual([status, out], [2, '']);
  t.regex(err, /^error: MUT_NOT_FOUND there is no job 7 of yours\n/);
  t.like(JSON.parse(err.trimEnd().split('\n').at(-1) ?? ''), {
    code: 'MUT_NOT_FOUND',
    message: 'there is no job 7 of yours',
    retryable: false,
    reason: { code: 'job-not-found', parameters: { job_id: 7 }, text: 'there is no job 7 of yours' },
  });
});

test('an interrupted command ends with 4', async (t) => {
  t.is((await runCommandLine(['job', 'list'], failing(new MutiraoError('MUT_CANCELLED', 'no')))).status, 4);
});

test('a bug ends the command with 70 and shows where it is', async (t) => {
  const { status, err } = await runCommandLine(['job', 'list'], failing(new InvariantError('impossible')));
  t.is(status, 70);
  t.regex(err, /^error: MUT_INTERNAL InvariantError: impossible\n.*program\.test\.ts/s);
});

test('an unknown command or option is usage: status 2, the nearest word, and whose help to read', async (t) => {
  const command = await runCommandLine(['job', 'lst']);
  t.is(command.status, 2);
  t.is(
    command.err,
    'error: MUT_BAD_REQUEST unknown command "job lst"; did you mean "job list"?\nUse: mutirao job list\nSee ' +
      '"mutirao --help".\n',
  );
  const option = await runCommandLine(['task', 'list', '--statu', 'failed']);
  t.is(option.status, 2);
  t.is(
    option.err,
    'error: MUT_BAD_REQUEST unknown option "--statu" (here --status) of "mutirao task list"\nUse: mutirao task ' +
      'list --status failed\nSee "mutirao task list --help".\n',
  );
});

test('help goes to standard output with status 0; missing words show it on standard error with status 2', async (t) => {
  const asked = await runCommandLine(['job', '--help']);
  t.is(asked.status, 0);
  t.regex(asked.out, /submit .*\n.*list /);
  const missing = await runCommandLine(['job']);
  t.is(missing.status, 2);
  t.is(missing.out, '');
  t.regex(missing.err, /submit /);
});

test('an option that is not in the form that it should be in is refused with its code', async (t) => {
  const { status, err } = await runCommandLine(['job', 'submit', '--limit-time', '5 parsecs', '--', 'true']);
  t.is(status, 2);
  t.regex(err, /^error: MUT_BAD_DURATION duration "5 parsecs", character 2: /);
});
