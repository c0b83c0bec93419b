// A workflow that is submitted again with --resume runs what is not done of it, and what is behind a change.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { JobStatus } from '@mutirao/api/broker';
import { runCommand } from '@mutirao/runtime/processes';
import { Grid, temporaryFolder } from '@mutirao/testkit';

const commandLine = fileURLToPath(new URL('../../packages/cli/bin/mutirao.js', import.meta.url));

interface Submitted {
  readonly job_id: number;
  readonly resumed: {
    readonly job_id: number;
    readonly taken_count: number;
    readonly runs: readonly { readonly task_index: number; readonly reason: { readonly text: string } }[];
  } | null;
}

test.serial('a workflow runs on from an earlier job, and again from where it was changed', async (t) => {
  const folder = temporaryFolder(t);
  const write = (last: string): void => {
    writeFileSync(
      join(folder, 'steps.yaml'),
      `
name: steps
inputs: [in.txt]
outputs: [b.txt]
tasks:
  a: {command: 'cat in.txt in.txt > a.txt; echo a >> ${folder}/runs', inputs: [in.txt], outputs: [a.txt]}
  b: {command: 'cat a.txt > b.txt; echo b >> ${folder}/runs', inputs: [a.txt], outputs: [b.txt]}
  c: {command: '${last}; echo c >> ${folder}/runs', inputs: [b.txt], outputs: [c.txt]}
`,
    );
  };
  const ran = (): string => {
    const runs = readFileSync(join(folder, 'runs'), 'utf8').replaceAll('\n', '');
    rmSync(join(folder, 'runs'));
    return runs;
  };
  writeFileSync(join(folder, 'in.txt'), 'x\n');
  writeFileSync(join(folder, 'other.yaml'), 'name: other\ntasks:\n  z: {command: touch z.txt, outputs: [z.txt]}\n');
  const grid = await Grid.start({ machines: [1, 1] });
  t.teardown(() => grid.stop());
  await grid.client.waitMachines(2);
  const command = async (
    ...words: readonly string[]
  ): Promise<{ readonly status: number; readonly out: string; readonly err: string }> => {
    const { status, stdout, stderr } = await runCommand({
      command: process.execPath,
      args: [commandLine, ...words, '--home', grid.home, '--broker', grid.broker.address],
      cwd: folder,
      deadlineMs: 60_000,
      outputBytesMax: 1024 * 1024,
    });
    return { status, out: stdout.toString(), err: stderr.toString() };
  };
  const submit = async (...words: readonly string[]): Promise<Submitted> => {
    const { status, out, err } = await command(
      'job',
      'submit',
      'steps.yaml',
      '--replicas',
      '1',
      '--retries',
      '0',
      '--json',
      ...words,
    );
    t.is(status, 0, err);
    const submitted = JSON.parse(out) as Submitted;
    await grid.client.waitEnded(submitted.job_id);
    return submitted;
  };

  write('false');
  t.is((await submit()).resumed, null);
  t.is(ran(), 'abc');
  write('cat b.txt > c.txt');
  t.deepEqual((await submit('--resume')).resumed, {
    job_id: 1,
    taken_count: 2,
    runs: [{ task_index: 2, reason: { code: 'rerun-command-changed', parameters: {}, text: 'its command changed' } }],
  });
  t.is(ran(), 'c', 'what it reads is at home, of the job before');
  t.is(readFileSync(join(folder, 'c.txt'), 'utf8'), 'x\nx\n');
  const listed = await command('task', 'list', '2');
  t.regex(listed.out, /0 .*finished.*reused from task 0 of job 1/);
  t.regex((await command('explain', 'task', '2', '1')).out, /did not run: it reuses the result of task 1 of job 1/);

  t.is((await submit('--resume')).resumed?.taken_count, 3, 'of the latest, which took over itself');
  t.is((await grid.client.job(3)).status, JobStatus.FINISHED);
  writeFileSync(join(folder, 'b.txt'), 'somebody else\n');
  t.deepEqual(
    (await submit('--resume', '2')).resumed?.runs.map(({ reason }) => reason.text),
    [`its output ${folder}/b.txt was changed`, 'it waits for task 1, which runs'],
  );
  t.is(ran(), 'bc');
  writeFileSync(join(folder, 'in.txt'), 'y\n');
  t.is((await submit('--resume', 'last')).resumed?.runs[0]?.reason.text, 'its input in.txt changed');
  t.is(ran(), 'abc');
  t.is(readFileSync(join(folder, 'c.txt'), 'utf8'), 'y\ny\n');

  await grid.broker.crash();
  const unlike = await command('job', 'submit', 'other.yaml', '--resume', '1');
  t.regex(unlike.err, /MUT_RESUME_OTHER.*job 1 \(steps\) has no task like any of these/s);
  const first = await command('job', 'submit', 'other.yaml', '--resume');
  t.regex(first.err, /MUT_RESUME_OTHER.*no earlier job of yours is called "other"/s);
  t.like(await command('job', 'submit', 'steps.yaml', '--resume', '99', '--quiet'), { out: '' });
  t.is((await submit('--resume')).resumed?.taken_count, 3, 'also of what a broker before it accepted');
});

test.serial('a job that has not ended cannot be gone on with', async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'slow.yaml'), 'name: slow\ntasks:\n  a: {command: sleep 600, outputs: [a.txt]}\n');
  const grid = await Grid.start({ machines: [1] });
  t.teardown(() => grid.stop());
  const command = async (...words: readonly string[]): Promise<string> => {
    const { stderr } = await runCommand({
      command: process.execPath,
      args: [commandLine, ...words, '--home', grid.home, '--broker', grid.broker.address],
      cwd: folder,
      deadlineMs: 60_000,
      outputBytesMax: 1024 * 1024,
    });
    return stderr.toString();
  };
  await command('job', 'submit', 'slow.yaml');
  t.regex(await command('job', 'submit', 'slow.yaml', '--resume'), /MUT_RESUME_OPEN.*job 1 has not ended/s);
});
