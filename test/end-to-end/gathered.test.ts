// Outputs of many tasks in few files at home, with real processes.
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { JobStatus } from '@mutirao/api/broker';
import { Root } from '@mutirao/api/common';
import { readGatheredIndex } from '@mutirao/runtime/files';
import { Grid, taskGroup, temporaryFolder, until } from '@mutirao/testkit';

test.serial(
  'gathered outputs are all there once, after kill -9 of the broker and with what it was writing, and tar takes them out',
  async (t) => {
    const grid = await Grid.start({ machines: [2] });
    t.teardown(() => grid.stop());
    await grid.client.waitMachines(1);
    const folder = temporaryFolder(t);
    const outputs = [
      { root: Root.PLAYPEN, path: 'out', localPath: 'results/{}', condition: '' },
      { root: Root.PLAYPEN, path: 'logs', localPath: 'logs/{}', condition: '' },
    ];
    const command =
      'sleep 0.05; echo "out {}" > out; mkdir logs; echo "log {}" > "logs/a\nb"; head -c 100000 /dev/zero > logs/zeros';
    // The check sees this result's outputs where they would be, and what is at home by JOB_HOME.
    const jobId = await grid.client.submit(
      [
        taskGroup(command, 60, {
          outputs,
          check: 'test -d "$JOB_HOME" && grep -q "^out {}$" results/{} && test "$(ls logs/{} | wc -l)" -ge 2',
        }),
      ],
      { homeDirectory: folder, gathering: { folder: 'gathered' } },
    );
    await until(async () => (await grid.client.job(jobId)).finishedCount >= 10, 'some tasks are finished');
    await grid.broker.kill('SIGKILL');
    appendFileSync(join(folder, 'gathered', `job-${jobId}.000.tar`), 'half a member');
    appendFileSync(join(folder, 'gathered', `job-${jobId}.index.jsonl`), '{"task_index":');
    await grid.broker.start();
    t.is(
      (await grid.client.waitEnded(jobId)).status,
      JobStatus.FINISHED,
      await grid.client.explain({ $case: 'jobId', value: jobId }),
    );
    t.deepEqual(readdirSync(folder), ['gathered'], 'a file came to a place of its own');

    const found: string[] = [];
    await readGatheredIndex(join(folder, 'gathered', `job-${jobId}.index.jsonl`), (files) => {
      found.push(...files.map(({ taskIndex, path }) => `${taskIndex} ${path}`));
    });
    t.deepEqual(
      found.toSorted(),
      Array.from({ length: 60 }, (_, index) => [
        `${index} results/${index}`,
        `${index} logs/${index}/a\nb`,
        `${index} logs/${index}/zeros`,
      ])
        .flat()
        .toSorted(),
    );

    const volume = join(folder, 'gathered', `job-${jobId}.000.tar`);
    const into = temporaryFolder(t);
    execFileSync('tar', ['-xf', volume, '-C', into]);
    for (let index = 0; index < 60; index += 1) {
      t.is(readFileSync(join(into, `results/${index}`), 'utf8'), `out ${index}\n`);
      t.is(readFileSync(join(into, `logs/${index}/a\nb`), 'utf8'), `log ${index}\n`);
      t.is(readFileSync(join(into, `logs/${index}/zeros`)).length, 100_000);
    }
    t.is(execFileSync('tar', ['-tf', volume], { encoding: 'utf8' }).trim().split('\n').length, 180);
  },
);

test.serial(
  'after the journal of the broker is lost, a folder with the results of a job of that number takes no others, and is left as it is',
  async (t) => {
    const grid = await Grid.start({ machines: [1] });
    t.teardown(() => grid.stop());
    await grid.client.waitMachines(1);
    const home = temporaryFolder(t);
    const submit = (word: string, folder: string): Promise<number> =>
      grid.client.submit(
        [
          taskGroup(`echo ${word} {} > out`, 2, {
            outputs: [{ root: Root.PLAYPEN, path: 'out', localPath: 'results/{}', condition: '' }],
          }),
        ],
        { homeDirectory: home, gathering: { folder } },
      );
    t.is((await grid.client.waitEnded(await submit('old', 'gathered'))).status, JobStatus.FINISHED);
    await grid.broker.kill('SIGKILL');
    rmSync(join(grid.home, 'broker'), { recursive: true });
    await grid.broker.start();
    await t.throwsAsync(submit('new', 'gathered'), {
      code: 'MUT_OUTPUT_FORBIDDEN',
      message: /gathered\/job-1\.index\.jsonl is there already/,
    });
    const jobId = await submit('new', 'another');
    t.is((await grid.client.waitEnded(jobId)).status, JobStatus.FINISHED);
    for (const [folder, word] of [
      ['gathered', 'old'],
      ['another', 'new'],
    ] as const) {
      const into = temporaryFolder(t);
      execFileSync('tar', ['-xf', join(home, folder, 'job-1.000.tar'), '-C', into]);
      t.is(
        readFileSync(join(into, 'results/0'), 'utf8') + readFileSync(join(into, 'results/1'), 'utf8'),
        `${word} 0\n${word} 1\n`,
      );
    }
  },
);

test.serial(
  'votes are gathered once each, and an output whose name leads out of the home directory fails its task',
  async (t) => {
    const grid = await Grid.start({
      machines: ['one', 'two'].map((identity) => ({ processors: 1, args: ['--identity', identity] })),
    });
    t.teardown(() => grid.stop());
    await grid.client.waitMachines(2);
    const folder = join(temporaryFolder(t), 'home');
    mkdirSync(folder);
    const outputs = [{ root: Root.PLAYPEN, path: 'out', localPath: 'results/{}', condition: '' }];
    const jobId = await grid.client.submit([taskGroup('echo {} > out', 12, { outputs })], {
      homeDirectory: folder,
      gathering: { folder: 'gathered' },
      verification: { by: { $case: 'vote', value: 2 } },
    });
    t.is((await grid.client.waitEnded(jobId)).status, JobStatus.FINISHED);
    const tasks: number[] = [];
    await readGatheredIndex(join(folder, 'gathered', `job-${jobId}.index.jsonl`), (files) => {
      tasks.push(...files.map(({ taskIndex }) => taskIndex));
    });
    t.deepEqual(
      tasks.toSorted((one, other) => one - other),
      Array.from({ length: 12 }, (_, index) => index),
    );

    // A value of a long list is not looked at beforehand.
    const list = { $case: 'list' as const, value: { values: ['a', '../../b', 'c'] } };
    await t.throwsAsync(
      grid.client.submit([taskGroup('echo > out', 3, { outputs, values: list })], {
        homeDirectory: folder,
        gathering: { folder: 'gathered' },
      }),
      { code: 'MUT_PATH_ESCAPES', message: /is not below/ },
    );
    const byMachine = [{ root: Root.PLAYPEN, path: 'out', localPath: '../{}-$PROC', condition: '' }];
    const second = await grid.client.submit([taskGroup('echo > out', 1, { outputs: byMachine })], {
      homeDirectory: folder,
      gathering: { folder: 'gathered' },
      failuresMax: 1,
    });
    t.is((await grid.client.waitEnded(second)).status, JobStatus.FAILED);
    t.regex(JSON.stringify(await grid.client.tasks(second)), /MUT_PATH_ESCAPES/);
  },
);
