import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { sayCause } from '@mutirao/api/reasons';
import { MutiraoError } from '@mutirao/api/errors';
import { aTemplate, FakeProvider, isAlive, Program, temporaryFolder, until } from '@mutirao/testkit';

interface Rig {
  readonly provider: FakeProvider;
  readonly agent: Program;
  readonly home: string;
}

async function startRig(
  t: ExecutionContext,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<Rig> {
  const home = temporaryFolder(t);
  const provider = new FakeProvider();
  await provider.start();
  const agent = new Program(
    'agent',
    [
      '--home',
      home,
      '--provider',
      provider.address,
      '--machine-id',
      'lab/pc',
      '--processors',
      '2',
      '--kill-grace',
      '300ms',
      ...args,
    ],
    {
      MUTIRAO_CREDENTIAL: FakeProvider.token,
      ...env,
    },
  );
  t.teardown(async () => {
    await agent.kill('SIGKILL');
    await provider.stop();
  });
  await agent.start();
  await until(() => provider.isAttached || !agent.isRunning, 'the agent attaches');
  t.true(agent.isRunning, agent.log.join('\n'));
  return { provider, agent, home };
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}

function readPid(file: string): number {
  return existsSync(file) ? Number(readFileSync(file, 'utf8').trim()) : 0;
}

test.serial('a task gives its status and output, in a fresh playpen, with the environment of a job file', async (t) => {
  const { provider, home } = await startRig(t, ['--site', 'lab', '--attribute', 'colour=dark blue']);
  const command =
    'echo {} {#} $JOB/$TASK $PROC "$colour" $site $NOTE; pwd; echo $PLAYPEN; echo $PATH; ls -A; echo err >&2; exit 3';
  const [first = 0, second = 0] = provider.place(aTemplate(command, { jobId: 9, environment: { NOTE: "it's" } }), [
    { value: 'a b', taskIndex: 4 },
    { value: 'x', taskIndex: 5 },
  ]);
  for (const [replicaId, shown] of [
    [first, 'a b 4 9/4'],
    [second, 'x 5 9/5'],
  ] as const) {
    const end = await provider.findEnd(replicaId);
    t.like(end, { outcome: 'failed', exitStatus: 3, reason: 'MUT_COMMAND_FAILED', outputTruncated: false });
    const [line, folder, playpen, searchPath, rest] = text(end.standardOutput).split('\n');
    t.is(line, `${shown} lab/pc dark blue lab it's`);
    t.is(folder, playpen);
    t.true(folder?.startsWith(path.join(home, 'agents', 'lab_pc', 'playpens')));
    t.true(searchPath?.endsWith(`/storage/ana:${playpen}:.:${path.dirname(process.execPath)}`), searchPath);
    t.is(rest, '');
    t.is(text(end.standardError), 'err\n');
    t.true(end.startedAt > 0 && end.endedAt >= end.startedAt);
  }
});

test.serial("a playpen is empty again for the next task, and the agent's MUTIRAO variables are nobody's", async (t) => {
  const { provider } = await startRig(t, ['--processors', '1']);
  t.is((await provider.run(aTemplate('mkdir a; touch a/b .c; chmod 500 a; chmod 755 .'))).outcome, 'succeeded');
  const end = await provider.run(
    aTemplate('ls -A; stat -c %a .; env | grep -o "^MUTIRAO[^=]*" | sort; echo $INPUTFILES'),
  );
  t.is(
    text(end.standardOutput),
    '700\nMUTIRAO_CPUS\nMUTIRAO_LAUNCHER\nMUTIRAO_WATCHDOG\n\n',
    "what it may use, and two of its launcher's own, by which its processes are found",
  );
});

test.serial('facts say what the machine is', async (t) => {
  const { provider } = await startRig(t, ['--attribute', 'GPU=2'], { MUTIRAO_WALLTIME_END_UNIX_MS: '1893456000000' });
  const [hello] = provider.hellos;
  t.like(hello, {
    hello: { protocolVersion: 1 },
    facts: { machineId: 'lab/pc', processors: 2, untilUnixMs: 1893456000000, requestId: '' },
    heldReplicaIds: [],
  });
  t.like(hello?.facts?.attributes, { os: 'linux', gpu: '2' });
  t.true(Number(hello?.facts?.attributes['mem']) > 100);
  t.not(hello?.facts?.incarnation, '');
});

test.serial('replicas that do nothing are answered in one report', async (t) => {
  const { provider } = await startRig(t);
  const ids = provider.place(
    aTemplate('', { noOp: true }),
    Array.from({ length: 256 }, () => ({})),
  );
  t.is((await provider.findEnd(ids[255] ?? 0)).outcome, 'succeeded');
  t.is(provider.reports.filter((report) => report.ended.length > 0).length, 1);
});

test.serial('a command that is not there ends with 127 and says which', async (t) => {
  const { provider } = await startRig(t);
  const end = await provider.run(aTemplate('no-such-program -x'));
  t.like(end, { outcome: 'failed', exitStatus: 127, reason: 'MUT_COMMAND_NOT_FOUND' });
  t.regex(text(end.standardError), /no-such-program/);
});

test.serial('a cancelled task ends with all that it started, also when it does not want to', async (t) => {
  const { provider, home } = await startRig(t);
  const pids = path.join(home, 'pid');
  const [replicaId = 0] = provider.place(
    aTemplate(`trap '' TERM; sleep 600 & echo $! >${pids}; while :; do sleep 1; done`),
  );
  await until(() => readPid(pids) > 0, 'the task runs');
  await until(() => provider.reports.some((report) => report.started.length > 0), 'its start is reported');
  provider.cancel([replicaId]);
  t.like(await provider.findEnd(replicaId), { outcome: 'cancelled', reason: 'MUT_CANCELLED' });
  await until(() => !isAlive(readPid(pids)), 'what it started is gone');
  t.is((await provider.run(aTemplate('echo on'))).outcome, 'succeeded');
});

test.serial('limits on time, memory and output end a task', async (t) => {
  const { provider } = await startRig(t);
  const limits = { runTimeMax: 0, memoryMax: 0, outputMax: 0 };
  t.like(await provider.run(aTemplate('sleep 600', { limits: { ...limits, runTimeMax: 100 } })), {
    outcome: 'limited',
    reason: 'MUT_RUN_TIME_MAX',
  });
  const endless = await provider.run(aTemplate('yes', { limits: { ...limits, outputMax: 1000 } }));
  t.like(endless, { outcome: 'limited', reason: 'MUT_OUTPUT_MAX', outputTruncated: true });
  t.regex(text(endless.standardOutput), /^(?:y\n){250}\[mutirao: \d+ of \d+ bytes were cut here\]\n(?:y\n){249,250}$/);
  t.like(await provider.run(aTemplate('head -c 2000 /dev/zero', { limits: { ...limits, outputMax: 1000 } })), {
    outcome: 'limited',
    reason: 'MUT_OUTPUT_MAX',
  });
  const hungry = `${process.execPath} -e "const b = Buffer.alloc(2e8, 1); setInterval(() => b, 1000)"`;
  t.like(await provider.run(aTemplate(hungry, { limits: { ...limits, memoryMax: 100_000_000 } })), {
    outcome: 'limited',
    reason: 'MUT_MEMORY_MAX',
  });
});

test.serial('inputs are put and stored with their modes, each content fetched once', async (t) => {
  const { provider } = await startRig(t);
  const small = provider.addContent(Buffer.from('small'));
  const large = provider.addContent(randomBytes(3_000_000));
  const script = provider.addContent(Buffer.from('#!/bin/sh\necho script $1\n'));
  const inputs = [
    { root: 'playpen' as const, path: 'deep/small', content: small, mode: 0o640 },
    { root: 'playpen' as const, path: 'large', content: large, mode: 0o600 },
    { root: 'storage' as const, path: 'bin/../tool', content: script, mode: 0o755 },
    { root: 'storage' as const, path: 'data/small', content: small, mode: 0o644 },
  ];
  const command =
    'stat -c "%n %a" deep/small; sha256sum <large; cat $STORAGE/data/small; tool x; echo $INPUTFILES; echo more ' +
    '>>deep/small && cat deep/small; stat -c %a $STORAGE/tool';
  const ends = provider.place(aTemplate(command), [{ inputs }, { inputs }]);
  for (const replicaId of ends) {
    const end = await provider.findEnd(replicaId);
    t.is(text(end.standardError), '');
    t.is(
      text(end.standardOutput),
      `deep/small 640\n${large.sha256}  -\nsmallscript x\ndeep/small:large:bin/../tool:data/small\nsmallmore\n555\n`,
    );
  }
  t.deepEqual(provider.wanted.toSorted(), [small.sha256, large.sha256, script.sha256].toSorted());
  t.is(text((await provider.run(aTemplate('cat $STORAGE/data/small'))).standardOutput), 'small');
});

test.serial(
  'inputs that cannot be had break the replica, and a path out of the folder fails the task; neither hurts the agent',
  async (t) => {
    const { provider } = await startRig(t);
    const gone = { sha256: createHash('sha256').update('gone').digest('hex'), size: 4 };
    t.like(
      await provider.run(aTemplate('true'), { inputs: [{ root: 'playpen', path: 'x', content: gone, mode: 0o600 }] }),
      { outcome: 'broken', reason: 'MUT_CONTENT_NOT_FOUND' },
    );
    const content = provider.addContent(Buffer.from('x'));
    for (const escape of ['../x', '/etc/x', 'a/../../x']) {
      t.like(
        await provider.run(aTemplate('true'), { inputs: [{ root: 'storage', path: escape, content, mode: 0o600 }] }),
        { outcome: 'failed', reason: 'MUT_PATH_ESCAPES' },
        escape,
      );
    }
  },
);

test.serial(
  'a command that succeeds without one of its outputs fails, and the others come home all the same',
  async (t) => {
    const { provider } = await startRig(t);
    const outputs = ['small', 'gone', 'large', 'link'].map((name) => ({ root: 'playpen', path: name }) as const);
    const end = await provider.run(
      aTemplate('echo hours of work > small; head -c 100000 /dev/zero > large; ln -s /etc/passwd link'),
      { outputs },
    );
    t.like(end, { outcome: 'failed', reason: 'MUT_OUTPUT_MISSING', exitStatus: 0 });
    t.regex(sayCause(end.detail), /output "gone" was not there/);
    t.deepEqual(
      end.outputs.map(({ outputIndex, content }) => [outputIndex, content.size]),
      [
        [0, 14],
        [2, 100_000],
      ],
    );
    t.is(text(end.outputs[0]?.inline ?? new Uint8Array()), 'hours of work\n');
    const linked = await provider.run(aTemplate('echo kept > small; mkdir gone; touch large; ln -s /etc/passwd link'), {
      outputs,
    });
    t.like(linked, { outcome: 'failed', reason: 'MUT_PATH_ESCAPES' });
    t.deepEqual(
      linked.outputs.map(({ outputIndex }) => outputIndex),
      [0, 2],
    );
  },
);

test.serial(
  'outputs come home: files, folders, large ones on a stream of their own; a missing one fails the task',
  async (t) => {
    const { provider } = await startRig(t);
    const outputs = [
      { root: 'playpen' as const, path: 'one' },
      { root: 'playpen' as const, path: 'many' },
      { root: 'storage' as const, path: 'kept' },
    ];
    const end = await provider.run(
      aTemplate(
        'echo 1 >one; mkdir -p many/sub; echo 2 >many/a; chmod 750 many/a; head -c 300000 /dev/zero ' +
          '>many/sub/b; echo 3 >$STORAGE/kept',
      ),
      { outputs },
    );
    t.is(end.outcome, 'succeeded', sayCause(end.detail));
    t.deepEqual(
      end.outputs.map((output) => [output.outputIndex, output.path, output.content.size]),
      [
        [0, '', 2],
        [1, 'a', 2],
        [1, 'sub/b', 300_000],
        [2, '', 2],
      ],
    );
    t.is(end.outputs[1]?.mode, 0o750);
    t.is(text(end.outputs[0]?.inline ?? new Uint8Array()), '1\n');
    const large = end.outputs[2]!;
    t.is(large.inline, undefined);
    t.deepEqual(provider.pushed.get(large.transferId), Buffer.alloc(300_000));
    t.is(large.content.sha256, createHash('sha256').update(Buffer.alloc(300_000)).digest('hex'));
    t.like(await provider.run(aTemplate('true'), { outputs: [{ root: 'playpen', path: 'nothing' }] }), {
      outcome: 'failed',
      reason: 'MUT_OUTPUT_MISSING',
    });
    t.like(await provider.run(aTemplate('exit 4'), { outputs: [{ root: 'playpen', path: 'nothing' }] }), {
      outcome: 'failed',
      reason: 'MUT_COMMAND_FAILED',
    });
    t.like(
      await provider.run(aTemplate('mkdir many; ln -s /etc/passwd many/l'), {
        outputs: [{ root: 'playpen', path: 'many' }],
      }),
      { outcome: 'failed', reason: 'MUT_OUTPUT_LINK' },
    );
    t.like(await provider.run(aTemplate('ln -s /etc/passwd out'), { outputs: [{ root: 'playpen', path: 'out' }] }), {
      outcome: 'failed',
      reason: 'MUT_PATH_ESCAPES',
    });
  },
);

test.serial('the storage keeps what was used last within its bound', async (t) => {
  // Room for two contents with their named copies, and half of a third.
  const { provider, home } = await startRig(t, ['--storage', '5000', '--processors', '1']);
  const contents = [1, 2, 3, 4, 5, 6].map((fill) => provider.addContent(Buffer.alloc(1000, fill)));
  const use = async (index: number): Promise<void> => {
    const end = await provider.run(aTemplate('true'), {
      inputs: [{ root: 'storage', path: `file${index}`, content: contents[index]!, mode: 0o600 }],
    });
    t.is(end.outcome, 'succeeded', sayCause(end.detail));
  };
  for (const index of [0, 1, 0, 2]) await use(index); // The third pushes out content 1, which was used before 0.
  const wanted = provider.wanted.length;
  await use(0);
  t.is(provider.wanted.length, wanted);
  await use(1);
  t.is(provider.wanted.length, wanted + 1);
  t.deepEqual(readdirSync(path.join(home, 'agents/lab_pc/storage/ana')).sort(), ['file0', 'file1']);
  const end = await provider.run(aTemplate('true'), {
    inputs: contents.map((content, index) => ({ root: 'playpen', path: String(index), content, mode: 0o600 })),
  });
  t.like(end, { outcome: 'limited', reason: 'MUT_STORAGE_FULL' });
});

test.serial('an agent that loses its provider finishes its work and reports it to the next one', async (t) => {
  const { provider, home } = await startRig(t);
  const go = path.join(home, 'go');
  const waiting = `until [ -e ${go} ]; do sleep 0.02; done; echo done`;
  const [first = 0, second = 0, third = 0] = provider.place(aTemplate(waiting), [{}, {}, {}]);
  await until(() => provider.reports.some((report) => report.started.length > 0), 'tasks run');
  await provider.stop();
  const { writeFileSync } = await import('node:fs');
  writeFileSync(go, '');
  await provider.start();
  for (const replicaId of [first, second, third])
    t.is(text((await provider.findEnd(replicaId)).standardOutput), 'done\n');
  t.deepEqual(provider.hellos.at(-1)?.heldReplicaIds.toSorted(), [first, second, third]);
  t.is(provider.hellos.at(-1)?.facts?.incarnation, provider.hellos[0]?.facts?.incarnation);
});

test.serial(
  'reports are sent again until they are acknowledged, and a replica that comes twice runs once',
  async (t) => {
    const { provider, home } = await startRig(t);
    provider.acknowledges = false;
    const log = path.join(home, 'runs');
    const template = aTemplate(`echo run >>${log}`);
    const [replicaId = 0] = provider.place(template);
    await provider.findEnd(replicaId);
    provider.refuse(new MutiraoError('MUT_REATTACH', 'again'));
    await until(() => provider.hellos.length === 2 && provider.reports.length >= 2, 'the report comes again');
    t.deepEqual(provider.hellos[1]?.heldReplicaIds, [replicaId]);
    provider.dispatchBatch({ template, replicas: [{ replicaId, taskIndex: 0, value: '', inputs: [], outputs: [] }] });
    provider.acknowledges = true;
    t.is((await provider.run(aTemplate('true'))).outcome, 'succeeded');
    t.is(readFileSync(log, 'utf8'), 'run\n');
    t.is(provider.getEnds(replicaId).length, 1);
  },
);

test.serial('nothing runs on when the agent dies by kill -9', async (t) => {
  const { provider, agent, home } = await startRig(t);
  const pids = ['one', 'two'].map((name) => path.join(home, name));
  for (const file of pids) provider.place(aTemplate(`trap '' TERM HUP INT; sleep 600 & echo $! >${file}; wait; wait`));
  for (const file of pids) await until(() => readPid(file) > 0, 'the tasks run');
  t.deepEqual(
    pids.map((file) => isAlive(readPid(file))),
    [true, true],
  );
  await agent.kill('SIGKILL');
  for (const file of pids) await until(() => !isAlive(readPid(file)), 'what they started is gone');
});

test.serial('an agent that receives a signal to stop gives its replicas back, ends its tasks and leaves', async (t) => {
  const { provider, agent, home } = await startRig(t, ['--processors', '1']);
  const pid = path.join(home, 'pid');
  const [running = 0, waiting = 0] = provider.place(aTemplate(`echo $$ >${pid}; exec sleep 600`), [{}, {}]);
  await until(() => readPid(pid) > 0, 'the task runs');
  await agent.kill('SIGTERM');
  t.like(await provider.findEnd(running), { outcome: 'broken', reason: 'MUT_AGENT_STOPPED' });
  t.like(await provider.findEnd(waiting), { outcome: 'broken', reason: 'MUT_AGENT_STOPPED' });
  t.false(isAlive(readPid(pid)));
});

test.serial('a drained agent ends what it has and leaves', async (t) => {
  const { provider, agent } = await startRig(t);
  const ids = provider.place(aTemplate('echo x'), [{}, {}, {}]);
  provider.drain();
  for (const replicaId of ids) t.is((await provider.findEnd(replicaId)).outcome, 'succeeded');
  await until(() => !agent.isRunning, 'the agent leaves');
});

test.serial('an agent whose allocation has ended, or that is an orphan for long, gives up', async (t) => {
  const refused = await startRig(t);
  refused.provider.refuse(new MutiraoError('MUT_ALLOCATION_ENDED', 'request 3 is over'));
  await until(() => !refused.agent.isRunning, 'the refused agent ends');
  const orphan = await startRig(t, ['--orphan-timeout', '5s']);
  await orphan.provider.stop();
  await until(() => !orphan.agent.isRunning, 'the orphan ends');
  t.regex(orphan.agent.log.join('\n'), /MUT_UNREACHABLE/);
});

test.serial('a provider that speaks nonsense loses its stream, not the agent', async (t) => {
  const { provider } = await startRig(t);
  provider.dispatchBatch({ template: aTemplate('true', { processors: 0 }), replicas: [] });
  await until(() => provider.hellos.length === 2 && provider.isAttached, 'the agent attaches again');
  t.is((await provider.run(aTemplate('true'))).outcome, 'succeeded');
});

test.serial(
  'an agent shows a secret of its own, the same after a restart, and another agent shows another',
  async (t) => {
    const { provider, agent } = await startRig(t);
    await agent.crash();
    await until(() => provider.secrets.length === 2, 'the agent attaches again');
    const [first, again] = provider.secrets;
    t.regex(first ?? '', /^[\w-]{43}$/);
    t.is(again, first);
    const other = await startRig(t);
    t.not(other.provider.secrets[0], first);
  },
);
