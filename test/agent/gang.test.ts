import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { sayCause } from '@mutirao/api/reasons';
import { aTemplate, FakeGang, isAlive, temporaryFolder, until, type FakeGangSetup } from '@mutirao/testkit';

async function startGang(
  t: ExecutionContext,
  members: number,
  more: Partial<FakeGangSetup> = {},
): Promise<{ gang: FakeGang; home: string }> {
  const home = temporaryFolder(t);
  const gang = await FakeGang.start({ home, members, ...more });
  t.teardown(() => gang.stop());
  return { gang, home };
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

test.serial("the job of the old file runs: a command at each member, output back in rank 0's file", async (t) => {
  const { gang } = await startGang(t, 2);
  const end = await gang.run(
    aTemplate('$RSH_CMD $PROC0 "echo a" >> out; $RSH_CMD $PROC1 "echo b" >> out; cat out; cat $HOSTFILE'),
  );
  const [first, second, ...hosts] = text(end.standardOutput).trim().split('\n');
  t.like(end, { outcome: 'succeeded' }, text(end.standardError) + sayCause(end.detail));
  t.deepEqual([first, second], ['a', 'b']);
  t.is(hosts.length, 2);
  t.regex(hosts[0] ?? '', /^[\w-]+@[\w-]+-pc0 slots=1$/);
  t.regex(hosts[1] ?? '', /^[\w-]+@[\w-]+-pc1 slots=1$/);
});

test.serial(
  'nothing of a gang starts before its start, and a command for a member that has not received the start waits for it',
  async (t) => {
    const { gang, home } = await startGang(t, 2);
    const started = path.join(home, 'started');
    const held = await gang.hold(aTemplate(`touch ${started}; $RSH_CMD $PROC1 "echo here"; echo done`));
    t.false(existsSync(started));
    gang.begin(held, [0]);
    await until(() => existsSync(started), 'rank 0 starts');
    t.deepEqual(
      gang.providers[1]?.reports.flatMap((report) => report.started),
      [],
    );
    gang.begin(held, [1]);
    const end = await gang.findEnd(held, 0);
    t.is(text(end.standardOutput), 'here\ndone\n', text(end.standardError));
    t.deepEqual(
      (await gang.release(held)).map(({ outcome }) => outcome),
      ['cancelled'],
    );
  },
);

test.serial('input, both outputs and the status pass, however much there is and however it is read', async (t) => {
  const { gang } = await startGang(t, 2);
  const end = await gang.run(
    aTemplate(
      [
        'head -c 3000000 /dev/urandom > in',
        '$RSH_CMD $PROC1 "cat; echo err >&2; exit 7" <in >got 2>errors; echo $? $(cat errors)',
        'cmp in got && echo same',
        // Its last output is not lost when it ends before that is read.
        'for round in 1 2 3 4 5 6 7 8 9 10; do $RSH_CMD -n $PROC1 "seq 30000; exit 3" | tail -n 1; done | sort ' +
          '| uniq -c',
        '$RSH_CMD -n $PROC1 "seq 300000" | (sleep 1; tail -n 1)',
        // Who reads only the beginning ends the writer, and who gives more input than is read is not held up.
        '$RSH_CMD -n $PROC1 "yes" | head -n 1',
        '$RSH_CMD $PROC1 "head -c 5" </dev/zero | wc -c',
        'for job in 1 2 3 4 5 6 7 8; do $RSH_CMD -n $PROC1 "echo $job; sleep 0.2" & done | sort | tr -d "\\n"; wait',
        'echo; $RSH_CMD -l ${PROC1%@*} ${PROC1#*@} echo by  host',
        '$RSH_CMD nobody echo; echo $?; $RSH_CMD $PROC1 "no-such-program" 2>/dev/null; echo $?; $RSH_CMD ' +
          '2>/dev/null; echo $?',
      ].join('\n'),
    ),
  );
  t.is(
    text(end.standardOutput),
    `7 err\nsame\n     10 30000\n300000\ny\n5\n12345678\nby host\n255\n127\n255\n`,
    text(end.standardError),
  );
  t.regex(text(end.standardError), /^gang: no member is called nobody; expected .+-pc0, .+-pc1$/m);
});

test.serial('a signal for the caller is one for the command, and a caller that is killed takes it along', async (t) => {
  const { gang, home } = await startGang(t, 2);
  const pids = path.join(home, 'pids');
  const end = await gang.run(
    aTemplate(
      [
        `$RSH_CMD -n $PROC1 'trap "echo asked; exit 9" TERM; echo $$ >${pids}.1; while :; do sleep 0.05; done' ` +
          '& caller=$!',
        `until [ -s ${pids}.1 ]; do sleep 0.05; done; kill $caller; wait $caller; echo $?`,
        `$RSH_CMD -n $PROC1 'trap "" TERM; echo $$ >${pids}.2; sleep 1000 & wait' & caller=$!`,
        `until [ -s ${pids}.2 ]; do sleep 0.05; done; kill -9 $caller; while kill -0 $(cat ${pids}.2) ` +
          '2>/dev/null; do sleep 0.05; done; echo gone',
      ].join('\n'),
    ),
  );
  t.is(text(end.standardOutput), 'asked\n9\ngone\n', text(end.standardError));
});

test.serial(
  'commands of a member share a folder of their own and the environment of the task, and inputs may be called as our files are',
  async (t) => {
    const { gang } = await startGang(t, 2, { processors: 2 });
    const bytes = Buffer.from('mine\n');
    const inputs = ['gangs', 'rsh', 'leash', 'calls', 'hostfile'].map((name) => ({
      root: 'playpen' as const,
      path: name,
      content: gang.providers[0]!.addContent(bytes),
      mode: 0o600,
    }));
    const command = [
      'cat gangs rsh leash calls hostfile | uniq -c',
      '$RSH_CMD -n $PROC1 "echo kept >file; pwd; ls"',
      "$RSH_CMD -n $PROC1 'cat file; echo $JOB/$TASK $NOTE $PROC0 $PROC1 $PLAYPEN ${RSH_CMD-none}'",
      'echo $PROC0 $PROC1; $RSH_CMD -n $PROC0 "ls"',
    ].join('\n');
    const end = await gang.run(aTemplate(command, { jobId: 8, environment: { NOTE: 'a note' } }), {
      inputs,
      taskIndex: 3,
    });
    const [count, folder, listed, kept, variables, names, ...own] = text(end.standardOutput).trimEnd().split('\n');
    t.is(count?.trim(), '5 mine', text(end.standardError));
    t.regex(folder ?? '', /lab_pc1\/playpens\/\d$/);
    t.deepEqual([listed, kept], ['file', 'kept']);
    t.is(variables, `8/3 a note ${names} ${folder} none`);
    t.deepEqual(own, ['calls', 'gangs', 'hostfile', 'leash', 'rsh']);
  },
);

test.serial('limits hold for what runs at a member', async (t) => {
  const { gang } = await startGang(t, 2);
  const cases = [
    {
      limits: { runTimeMax: 0, memoryMax: 60 * 2 ** 20, outputMax: 0 },
      line: 'env -i /bin/sh -c \\"head -c 200m /dev/zero | tail | sleep 100\\"',
      reason: 'MUT_MEMORY_MAX',
    },
    { limits: { runTimeMax: 0, memoryMax: 0, outputMax: 10_000 }, line: 'yes', reason: 'MUT_OUTPUT_MAX' },
    { limits: { runTimeMax: 700, memoryMax: 0, outputMax: 0 }, line: 'sleep 100', reason: 'MUT_RUN_TIME_MAX' },
  ];
  for (const { limits, line, reason } of cases) {
    const held = await gang.hold(aTemplate(`$RSH_CMD -n $PROC1 "${line}" >/dev/null`, { limits }));
    gang.begin(held);
    t.like(await gang.findEnd(held, 1), { outcome: 'limited', reason });
    gang.providers[0]?.cancel(held.replicaIds);
    await gang.findEnd(held, 0);
  }
});

test.serial(
  'a member that is cancelled ends all that was started at it, asked first, and what left its group too',
  async (t) => {
    const { gang, home } = await startGang(t, 2);
    const file = path.join(home, 'pid');
    const held = await gang.hold(
      aTemplate(
        [
          `$RSH_CMD -n $PROC1 'setsid sleep 1000 >/dev/null 2>&1 & echo $! >${file}.1'`,
          `$RSH_CMD -n $PROC1 'trap "echo asked >${file}.3; exit" TERM; echo $$ >${file}.2; while :; do sleep ` +
            `0.05; done'; sleep 1000`,
        ].join('\n'),
      ),
    );
    gang.begin(held);
    await until(() => existsSync(`${file}.2`) && readFileSync(`${file}.2`, 'utf8') !== '', 'both run');
    const pids = ['1', '2'].map((ending) => Number(readFileSync(`${file}.${ending}`, 'utf8')));
    t.true(pids.every(isAlive), 'what it started in the background outlives its command');
    t.deepEqual(
      (await gang.release(held)).map(({ outcome, reason }) => [outcome, reason]),
      [['cancelled', 'MUT_CANCELLED']],
    );
    t.is(readFileSync(`${file}.3`, 'utf8'), 'asked\n');
    await until(() => !pids.some(isAlive), 'nothing of the member is left');
    gang.providers[0]?.cancel(held.replicaIds);
    t.is((await gang.findEnd(held, 0)).outcome, 'cancelled');
    t.deepEqual(readdirSync(path.join(home, 'agents', 'lab_pc0', 'gangs')), []);
    t.deepEqual(readdirSync(path.join(home, 'agents', 'lab_pc1', 'gangs')), []);
    t.is((await gang.run(aTemplate('$RSH_CMD -n $PROC1 "echo again"'))).outcome, 'succeeded');
  },
);

test.serial(
  'when an agent dies the other side is notified, and one that comes back holds nothing of before',
  async (t) => {
    const { gang, home } = await startGang(t, 2);
    const file = path.join(home, 'pid');
    const line = (name: string): string =>
      `$RSH_CMD -n $PROC1 'echo $$ >${file}.${name}; sleep 1000'; echo $? >${file}.status; sleep 1000`;
    const first = await gang.hold(aTemplate(line('1')));
    gang.begin(first);
    await until(
      () => existsSync(`${file}.1`) && readFileSync(`${file}.1`, 'utf8') !== '',
      'the command runs at rank 1',
    );
    await gang.agents[1]?.crash();
    await until(
      () => existsSync(`${file}.status`) && readFileSync(`${file}.status`, 'utf8') === '255\n',
      'the caller learns that its member is gone',
    );
    await until(() => !isAlive(Number(readFileSync(`${file}.1`, 'utf8'))), 'what ran there is gone');
    gang.providers[0]?.cancel(first.replicaIds);
    t.is((await gang.findEnd(first, 0)).outcome, 'cancelled');
    await until(() => gang.providers[1]?.hellos.length === 2, 'the restarted agent attaches');
    t.deepEqual(gang.providers[1]?.hellos[1]?.heldReplicaIds, []);
    // The start of a gang that it held before is nothing to it.
    gang.begin(first, [1]);

    const second = await gang.hold(aTemplate(line('2')));
    gang.begin(second);
    await until(
      () => existsSync(`${file}.2`) && readFileSync(`${file}.2`, 'utf8') !== '',
      'the command runs at rank 1',
    );
    await gang.agents[0]?.kill('SIGKILL');
    await until(
      () => !isAlive(Number(readFileSync(`${file}.2`, 'utf8'))),
      'the command ends with the agent of its caller',
    );
    t.is((await gang.release(second))[0]?.outcome, 'cancelled');
  },
);

test.serial(
  'a member that is cancelled in the moment of the start runs nothing, and its place takes the next one',
  async (t) => {
    const { gang, home } = await startGang(t, 2);
    for (let round = 0; round < 10; round++) {
      const held = await gang.hold(aTemplate(`$RSH_CMD -n $PROC1 "touch ${home}/ran"; sleep 1000`));
      for (const [rank, provider] of gang.providers.entries()) provider.cancel([held.replicaIds[rank] ?? 0]);
      gang.begin(held);
      for (const rank of [0, 1]) t.is((await gang.findEnd(held, rank)).outcome, 'cancelled');
    }
    t.false(existsSync(path.join(home, 'ran')));
    t.is(text((await gang.run(aTemplate('$RSH_CMD -n $PROC1 "echo next"'))).standardOutput), 'next\n');
  },
);
