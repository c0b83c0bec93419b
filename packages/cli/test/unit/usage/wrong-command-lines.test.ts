import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { JobStatus } from '@mutirao/api/broker';
import { aJobSummary, runCommandLine, temporaryFolder } from '@mutirao/testkit';

/** What a newcomer writes, the line that the answer gives to copy, and a part of the rest of the answer. */
type Case = readonly [line: string, meant: string, says?: RegExp];

const cases: readonly Case[] = [
  // Options of Slurm, PBS, HTCondor, HyperQueue, Kubernetes and Docker.
  [
    'job submit --name x -- ./sim',
    'job submit --label x -- ./sim',
    /unknown option "--name" \(here --label\) of "mutirao job submit"/,
  ],
  ['job submit --job-name=x -- ./sim', 'job submit --label x -- ./sim'],
  ['job submit -J x -- ./sim', 'job submit --label x -- ./sim'],
  ['job submit --cores 4 -- ./sim', 'job submit --processors 4 -- ./sim'],
  ['job submit --cpus-per-task 500m -- ./sim', 'job submit --processors 1 -- ./sim'],
  ['job submit -c4 -- ./sim', 'job submit --processors 4 -- ./sim'],
  ['job submit --time 1:00:00 -- ./sim', 'job submit --limit-time 1:00:00 -- ./sim'],
  ['job submit --time 30 -- ./sim', 'job submit --limit-time 30m -- ./sim'],
  ['job submit --time 1-12 -- ./sim', 'job submit --limit-time 36h -- ./sim'],
  ['job submit -t 10:30 -- ./sim', 'job submit --limit-time 10m30s -- ./sim'],
  ['job submit --mem 4G -- ./sim', 'job submit --memory 4GiB -- ./sim', /ends a task that uses more/],
  ['job submit --request-memory 512Mi -- ./sim', 'job submit --memory 512MiB -- ./sim'],
  ['job submit --gres gpu:a100:2 -- ./sim', 'job submit --gpus 2:a100 -- ./sim'],
  ['job submit --gres gpu -- ./sim', 'job submit --gpus 1 -- ./sim'],
  ['job submit --gpus-per-task 2 -- ./sim', 'job submit --gpus 2 -- ./sim'],
  ['job submit --output f -- ./sim', 'job submit -- ./sim', /"mutirao task output last" shows it/],
  ['job submit -o out.txt -e err.txt -- ./sim', 'job submit -- ./sim', /unknown options "-o", "-e"/],
  ['job submit -e SEED=3 -- ./sim', 'job submit --env SEED=3 -- ./sim'],
  ['job submit -n 4 -- ./sim', 'job submit --array 1-4 -- ./sim', /--processors for a task that takes several/],
  ['job submit -N 2 -- ./sim', 'job submit --gang --processors 2 -- ./sim'],
  ['job submit -N sim -- ./sim', 'job submit --label sim -- ./sim'],
  ['job submit --nodes 2 -- ./sim', 'job submit --gang --processors 2 -- ./sim'],
  [
    'job submit --array=1-10%2 -- ./sim {}',
    'job submit --array 1-10 --running-max 2 -- ./sim {}',
    /--running-max limits the tasks that run at once/,
  ],
  ['job submit --array 1-10%2 -- ./sim {}', 'job submit --array 1-10 --running-max 2 -- ./sim {}'],
  ['job submit -a 1-10%2 -- ./sim {}', 'job submit --array 1-10 --running-max 2 -- ./sim {}'],
  // Jobs that wait for jobs, and times.
  ['job submit --afterok 3 -- ./sim', 'job submit --after-ok 3 -- ./sim', /"--afterok" \(here --after-ok\)/],
  ['job submit --afternotok 3 -- ./sim', 'job submit --after-fail 3 -- ./sim'],
  ['job submit --aftercorr=3 -- ./sim', 'job submit --after-each 3 -- ./sim'],
  ['job submit --afterany 3:4 -- ./sim', 'job submit --after-any 3,4 -- ./sim'],
  ['job submit --after-success last -- ./sim', 'job submit --after-ok last -- ./sim'],
  ['job submit -hold_jid 3,4 -- ./sim', 'job submit --after-ok 3,4 -- ./sim'],
  ['job submit --hold-job 3 -- ./sim', 'job submit --after-ok 3 -- ./sim'],
  [
    'job submit --dependency afterok:3 -- ./sim',
    'job submit --after-ok 3 -- ./sim',
    /--after-any until they have ended/,
  ],
  ['job submit --dependency=afterany:3 -- ./sim', 'job submit --after-any 3 -- ./sim'],
  ['job submit -d afterok:3:5,afternotok:7 -- ./sim', 'job submit --after-ok 3,5 --after-fail 7 -- ./sim'],
  ['job submit -d after:3+10?aftercorr:4 -- ./sim', 'job submit --after 3 --after-each 4 -- ./sim'],
  ['job submit -d last -- ./sim', 'job submit --after-ok last -- ./sim'],
  ['job submit -d singleton -- ./sim', 'job submit -- ./sim'],
  ['job submit --depends-on 3,4 -- ./sim', 'job submit --after-ok 3,4 -- ./sim'],
  ['job submit -W depend=afterok:3.host -- ./sim', 'job submit --after-ok 3 -- ./sim'],
  ['job submit --start-time 18:00 -- ./sim', 'job submit --begin 18:00 -- ./sim'],
  ['job submit --begin-time now+1hour -- ./sim', 'job submit --begin +1h -- ./sim'],
  ['job submit --not-before 2h -- ./sim', 'job submit --begin +2h -- ./sim'],
  ['job submit --at now+2days -- ./sim', 'job submit --begin +48h -- ./sim'],
  ['job submit --nice 5 -- ./sim', 'job submit --priority -5 -- ./sim', /as if the job was submitted an hour earlier/],
  ['job submit --nice=-5 -- ./sim', 'job submit --priority 5 -- ./sim'],
  ['job submit --max-running 2 -- ./sim', 'job submit --running-max 2 -- ./sim'],
  ['job submit --max-parallel 2 -- ./sim', 'job submit --running-max 2 -- ./sim'],
  ['job submit --parallel 2 -- ./sim', 'job submit --running-max 2 -- ./sim'],
  ['job submit --concurrency 2 -- ./sim', 'job submit --running-max 2 -- ./sim'],
  ['job submit -tc 2 -- ./sim', 'job submit --running-max 2 -- ./sim'],
  ['job submit -j8 -- ./sim', 'job submit --running-max 8 -- ./sim'],
  // Sizes.
  ['job submit --memory 4 GB -- ./sim', 'job submit --memory 4GB -- ./sim', /a unit directly after its number/],
  ['job submit --memory=4 G ./sim 1', 'job submit --memory=4G -- ./sim 1'],
  ['job submit --limit-time 2 h -- ./sim', 'job submit --limit-time 2h -- ./sim'],
  ['job submit --memory 512 -- ./sim', 'job submit --memory 512M -- ./sim', /--memory is "512", less than 1 MiB/],
  ['job submit --memory=auto:512 -- ./sim', 'job submit --memory=auto:512M -- ./sim'],
  ['job submit --limit-memory 512 -- ./sim', 'job submit --limit-memory 512M -- ./sim'],
  ['job submit --memory-auto -- ./sim', 'job submit --memory auto -- ./sim'],
  [
    'job submit --partition short -- ./sim',
    'job submit -- ./sim',
    /mutirao run provider --manager slurm -- --account=NAME/,
  ],
  [
    'job submit --name x --cores 2 --time 5 --array 1-3 -- ./sim {}',
    'job submit --label x --processors 2 --limit-time 5m --array 1-3 -- ./sim {}',
    /unknown options "--name" .*"--cores" .*"--time"/,
  ],
  ['job submit --completions 5 -- ./sim', 'job submit --array 1-5 -- ./sim'],
  ['job submit --detach -- ./sim', 'job submit -- ./sim', /returns as soon as the job is accepted/],
  ['job submit --cwd study -- ./sim', 'job submit --chdir study -- ./sim'],
  ['job submit -D /study -- ./sim', 'job submit --chdir /study -- ./sim', /empty folder of their own/],
  ['job submit --arry 1-3 -- ./sim', 'job submit --array 1-3 -- ./sim'],
  // Commands of others.
  ['submit ./none 3', 'job submit -- ./none 3', /unknown command "submit"; the command is "mutirao job submit"/],
  ['submit --array 1-3 -- ./sim {}', 'job submit --array 1-3 -- ./sim {}'],
  ['run ./none 3', 'job submit -- ./none 3', /"mutirao run" starts a process of the grid/],
  ['run -- ./sim 3', 'job submit -- ./sim 3'],
  ['srun -n 4 none', 'job submit --wait --array 1-4 -- none'],
  ['sbatch none', 'job submit -- none'],
  ['job submit none {} ::: a b', 'job submit --values a,b -- none {}'],
  ['ls', 'job list'],
  ['ps', 'job list'],
  ['squeue', 'job list'],
  ['jobs list', 'job list'],
  ['get jobs', 'job list'],
  ['list machines', 'machine list'],
  ['logs 3', 'task output 3'],
  ['job logs 3', 'task output 3'],
  ['status 3', 'job show 3'],
  ['describe job 3', 'job show 3'],
  ['kill 3', 'job cancel 3'],
  ['scancel 3', 'job cancel 3'],
  ['delete job 3', 'job cancel 3'],
  ['job kill job-3', 'job cancel 3'],
  ['job rerun 3', 'job retry 3'],
  ['drain lab', 'provider drain lab'],
  ['provider resume lab', 'provider undrain lab'],
  ['provider enable lab', 'provider undrain lab'],
  ['machine cordon lab/m1', 'machine drain lab/m1', /has all machines of a provider take no new work/],
  ['stop', 'down', /"mutirao job cancel N" stops one job/],
  ['sinfo', 'machine list'],
  ['job lst', 'job list', /did you mean "job list"\?/],
  // Words in other places.
  ['--home /tmp/x job list', 'job list --home /tmp/x', /options come after "mutirao job/],
  ['--json status', 'status --json'],
  ['job submit', 'job submit -- COMMAND', /there is nothing to submit/],
  ['job submit --array 1-3', 'job submit --array 1-3 -- COMMAND {}'],
  ['job submit ./none 3', 'job submit -- ./none 3', /"\.\/none" is read as the name of a job file; expected "--"/],
  ['job submit ./none --seed 3', 'job submit -- ./none --seed 3'],
  ['job submit --wait 10 -- ./sim', 'job submit --wait -- ./sim', /--wait and other options without a value/],
  ['job submit ./sim -- --seed 3', 'job submit -- ./sim --seed 3'],
  ['job list --all', 'job list', /those that have ended too/],
  ['job list --state RUNNING', 'job list --status running'],
  ['job cancel', 'job cancel 5', /needs <jobs> \(which jobs: 5, /],
  ['job cancel --all', 'job cancel all'],
  ['job wait 3 4', 'job wait 3,4'],
  ['job retry 3 1 2', 'job retry 3 1,2'],
];

for (const [line, meant, says] of cases) {
  test(`"mutirao ${line}" is answered with "mutirao ${meant}"`, async (t) => {
    const { status, out, err } = await runCommandLine(line.split(' '));
    t.is(status, 2);
    t.is(out, '');
    t.regex(err, /^error: MUT_BAD_REQUEST /);
    t.is(/^Use: mutirao (.*)$/m.exec(err)?.[1], meant);
    if (says !== undefined) t.regex(err, says);
  });
}

test('a command that nobody knows is answered with those that there are', async (t) => {
  t.regex(
    (await runCommandLine(['frobnicate'])).err,
    /unknown command "frobnicate"; expected one of up, down, status, web, job, /,
  );
  t.regex(
    (await runCommandLine(['job', 'frobnicate'])).err,
    /unknown command "job frobnicate"; expected job and one of submit, list, /,
  );
  const { err } = await runCommandLine(['job', 'submit', '--seed', '3', '--', './sim']);
  t.regex(err, /unknown option "--seed" of "mutirao job submit"/);
  t.notRegex(err, /^Use:/m, 'nothing is suggested where nothing is meant');
});

test('no memory to start with is refused', async (t) => {
  const { status, err } = await runCommandLine(['job', 'submit', '--memory', 'auto:0', '--', './sim']);
  t.is(status, 2);
  t.regex(err, /--memory is "auto:0", less than 1 MiB; expected a size with its unit, as in 512M or 4G/);
  t.notRegex(err, /^Use:/m);
});

test('an option without its value is answered with what it takes', async (t) => {
  t.regex(
    (await runCommandLine(['job', 'submit', '--label'])).err,
    /--label has no value; expected --label <text>: name of the job/,
  );
});

const scripts: readonly (readonly [name: string, text: string, words: string, meant: string, says: RegExp])[] = [
  [
    'script.sh',
    '#!/bin/sh\necho hi\n',
    'job submit script.sh',
    'job submit --put script.sh -- sh script.sh',
    /script\.sh is a script for sh; expected a job file/,
  ],
  [
    'sim.py',
    'import sys\n',
    'job submit sim.py',
    'job submit --put sim.py -- python3 sim.py',
    /sim\.py is a script for python3/,
  ],
  [
    'plot.py',
    '#!/usr/bin/env python3.12\nimport sys\n',
    'job submit --array 1-3 plot.py',
    'job submit --array 1-3 --put plot.py -- python3.12 plot.py {}',
    /a script for python3\.12/,
  ],
  [
    'array.sbatch',
    '#!/bin/bash\n#SBATCH --array=1-10%2\n#SBATCH --job-name=sim  # mine\n#SBATCH -t 2:00:00\n#SBATCH -o ' +
      'out.%j\n./sim\n',
    'job submit array.sbatch',
    'job submit --array 1-10 --running-max 2 --label sim --limit-time 2:00:00 --put array.sbatch -- env SLURM_ARRAY_TASK_ID={} ' +
      'bash array.sbatch',
    /a job script for Slurm.*\n.*\nLines that begin with #SBATCH are not read\./,
  ],
  [
    'job.pbs',
    '#!/bin/bash\n#PBS -N sim\n./sim\n',
    'job submit --label mine job.pbs',
    'job submit --label mine --put job.pbs -- bash job.pbs',
    /a job script for PBS/,
  ],
  [
    'condor.sub',
    'executable = sim\noutput = o.$(Process)\nqueue 10\n',
    'job submit condor.sub',
    'job submit --array 0-9 --put sim -- ./sim {}',
    /describes a job for HTCondor/,
  ],
  [
    'job.yaml',
    'apiVersion: batch/v1\nkind: Job\nspec:\n  completions: 3\n',
    'job submit job.yaml',
    'job submit --array 1-3 -- COMMAND {}',
    /describes a job for Kubernetes/,
  ],
];

for (const [name, text, words, meant, says] of scripts) {
  test(`"mutirao ${words}" is answered with how that file is submitted`, async (t) => {
    const directory = temporaryFolder(t);
    writeFileSync(join(directory, name), text);
    const { status, err } = await runCommandLine(words.split(' '), { directory });
    t.is(status, 2);
    t.is(/^Use: mutirao (.*)$/m.exec(err)?.[1], meant);
    t.regex(err, says);
  });
}

test('a command that cannot find its files, and options of Mutirao after --, are warned of', async (t) => {
  const directory = temporaryFolder(t);
  for (const name of ['sim.py', 'run.sh']) writeFileSync(join(directory, name), '');
  const submitJob = () => Promise.resolve({ jobId: 5, taskCount: 1, warnings: [] });
  const warned = async (...words: string[]): Promise<string> =>
    (await runCommandLine(['job', 'submit', ...words], { broker: { submitJob }, directory })).err;
  t.is(
    await warned('--', './sim.py'),
    'warning: tasks start in an empty folder, and ./sim.py is only here; bring it with --put sim.py, or start ' +
      'tasks here with --in-place\n',
  );
  t.is(
    await warned('--', 'python3', 'sim.py', '1'),
    'warning: tasks start in an empty folder, and sim.py is only here; bring it with --put sim.py, or start ' +
      'tasks here with --in-place\n',
  );
  t.is(
    await warned('--', 'sh ./run.sh && echo done'),
    'warning: tasks start in an empty folder, and ./run.sh is only here; bring it with --put run.sh, or start ' +
      'tasks here with --in-place\n',
  );
  t.regex(await warned('--put', 'run.sh', '--', './run.sh'), /run\.sh is not executable: "chmod \+x run\.sh"/);
  chmodSync(join(directory, 'run.sh'), 0o755);
  t.is(await warned('--put', 'run.sh', '--', './run.sh'), '');
  t.is(await warned('--', 'python3', '-c', 'print(1)'), '');
  t.is(await warned('--', 'ls', 'sim.py'), '');
  t.is(await warned('--in-place', '--', './sim.py'), '');
  t.regex(await warned('--', 'echo', 'hi', '--wait'), /--wait after "--" is given to the command/);
  t.regex(
    await warned('--values', 'a,b', '--', 'echo hi'),
    /the command has no \{\}, so that every task does the same/,
  );
  t.is(await warned('--values', 'a,b', '--get', 'out:{}', '--', 'echo hi > out'), '');
});

test('an option that is given twice is refused, unless its values are gathered or it has none', async (t) => {
  const { status, err } = await runCommandLine([
    'job',
    'submit',
    '--values',
    'a,b',
    '--values',
    'x,y',
    '--',
    'echo',
    '{}',
  ]);
  t.is(status, 2);
  t.regex(err, /--values is given twice, as "a,b" and "x,y"; expected it once/);
  t.regex((await runCommandLine(['job', 'list', '--max', '3', '--max', '3'])).err, /--max is given twice/);
  t.regex(
    (await runCommandLine(['job', 'submit', '--env', 'A=1', '--env', 'A=2', '--', 'true'])).err,
    /--env A is given twice, as "1" and "2"/,
  );
  t.regex(
    (await runCommandLine(['machine', 'add', '--ssh', 'ana@pc', '--attribute', 'gpu=1', '--attribute', 'GPU=2'])).err,
    /--attribute gpu is given twice/,
  );
  const submitJob = () => Promise.resolve({ jobId: 5, taskCount: 1, warnings: [] });
  t.is(
    (
      await runCommandLine(
        ['job', 'submit', '--wait', '--env', 'A=1', '--env', 'B=2', '-q', '-q', '--no-op'].filter(
          (word) => word !== '--wait',
        ),
        { broker: { submitJob } },
      )
    ).out,
    '5\n',
  );
});

const jobs = [4, 2, 1].map((jobId) =>
  aJobSummary({ jobId, status: jobId === 4 ? JobStatus.RUNNING : JobStatus.FAILED, taskCount: 3 }),
);
const listJobs = ({ pageSize, beforeJobId }: { pageSize: number; beforeJobId: number }) =>
  Promise.resolve({ jobs: jobs.filter(({ jobId }) => beforeJobId === 0 || jobId < beforeJobId).slice(0, pageSize) });

test('of several jobs or tasks, one that does not exist is named before anything is done', async (t) => {
  const cancelled: number[] = [];
  const broker = {
    listJobs,
    cancelJob: ({ jobId }: { jobId: number }) => Promise.resolve({ count: cancelled.push(jobId) }),
    getJob: () => Promise.resolve({ job: jobs[0], spec: undefined }),
  };
  for (const [words, says] of [
    ['cancel 4,99', /error: MUT_NOT_FOUND "4,99": there is no job 99; they are 1 to 4/],
    ['wait 1,3', /there is no job 3/],
    ['show 2-9', /there are no jobs 2-9/],
    ['cancel 0-4', /there are no jobs 0-4/],
    ['retry 4 0,7', /"0,7": there is no task 7 in job 4; they are 0 to 2/],
    ['show job-4', /"job-4" is not the number of a job; expected 4/],
    ['show #4', /expected 4/],
    ['show 4.1', /expected job and task as two words: 4 1/],
  ] as const) {
    const { status, err } = await runCommandLine(['job', ...words.split(' ')], { broker } as never);
    t.is(status, 2, words);
    t.regex(err, says);
  }
  t.deepEqual(cancelled, []);
  const { out } = await runCommandLine(['job', 'cancel', '1-4'], { broker } as never);
  t.is(
    out,
    'Job 1 had already ended (failed); nothing to cancel.\nJob 2 had already ended (failed); nothing to ' +
      'cancel.\nJob 4 is cancelled.\n',
  );
  t.deepEqual(cancelled, [4]);
});
