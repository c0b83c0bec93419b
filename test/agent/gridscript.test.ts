import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { sayCause } from '@mutirao/api/reasons';
import { aTemplate, FakeProvider, isAlive, Program, temporaryFolder, until } from '@mutirao/testkit';

// An agent that drives a machine by templates alone: what it promises, it promises as the agent on the machine does.
// The templates here are of this host.

interface Rig {
  readonly provider: FakeProvider;
  readonly agent: Program;
  readonly home: string;
  /** The login's home on the machine; its name is as hostile as the files'. */
  readonly there: string;
  /** A program that stands for the network: its exit status is that of any template; absent for none. */
  readonly network: string;
}

const hostile = `it's a "lab"; $HOME \`id\` * é`;

interface RigOptions {
  readonly args?: readonly string[];
  readonly remExec?: string;
  readonly copyFrom?: string;
  readonly isAttached?: boolean;
}

async function startRig(t: ExecutionContext, options: RigOptions = {}): Promise<Rig> {
  const home = temporaryFolder(t);
  const there = path.join(home, hostile);
  mkdirSync(there);
  const network = path.join(home, 'network');
  const provider = new FakeProvider();
  await provider.start();
  const gate = `[ ! -e '${network}' ] || '${network}' || exit 255`;
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
      '--attribute',
      'colour=dark blue',
      '--machine',
      'the pc',
      // Neither quoted nor not makes a difference, and the machine's shell knows none of our variables.
      '--rem-exec',
      options.remExec ?? `${gate}; [ "$machine" = 'the pc' ] && exec env -i HOME="$there" PATH="$PATH" sh -c $command`,
      '--copy-to',
      `${gate}; exec cp $localfile "$remotefile"`,
      '--copy-from',
      options.copyFrom ?? `${gate}; exec cp "$remotefile" $localfile`,
      ...(options.args ?? []),
    ],
    { MUTIRAO_CREDENTIAL: FakeProvider.token, there },
  );
  t.teardown(async () => {
    await agent.kill('SIGKILL');
    await provider.stop();
  });
  await agent.start();
  await until(() => provider.isAttached || !agent.isRunning, 'the agent attaches');
  if (options.isAttached !== false) t.true(agent.isRunning, agent.log.join('\n'));
  return { provider, agent, home, there, network };
}

/** The agent's folder on the machine. */
const getBase = ({ there }: Rig): string => path.join(there, '.mutirao/machines/lab_pc');
const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString();
const readPid = (file: string): number => (existsSync(file) ? Number(readFileSync(file, 'utf8').trim()) : 0);

test.serial(
  "a task finds its playpen, its variables and the machine's attributes, and reports its status and output",
  async (t) => {
    const rig = await startRig(t);
    const command =
      'echo {} {#} $JOB/$TASK $PROC "$colour" $NOTE; pwd; echo "$PLAYPEN"; echo "$PATH"; ls -A; env | grep -c ' +
      '"^MUTIRAO_[^C]\\|command=\\|there="; echo err >&2; exit 3';
    const [first = 0] = rig.provider.place(aTemplate(command, { jobId: 9, environment: { NOTE: "it's" } }), [
      { value: 'a b', taskIndex: 4 },
    ]);
    const end = await rig.provider.findEnd(first);
    t.like(end, { outcome: 'failed', exitStatus: 3, reason: 'MUT_COMMAND_FAILED', outputTruncated: false });
    const [line, folder, playpen, searchPath, ...rest] = text(end.standardOutput).split('\n');
    t.is(line, `a b 4 9/4 lab/pc dark blue it's`);
    t.is(folder, playpen);
    t.true(folder?.startsWith(`${getBase(rig)}/runs/`), folder);
    t.true(searchPath?.endsWith(`/storage/ana:${playpen}:.`), searchPath);
    t.deepEqual(rest, ['0', ''], "an empty playpen, and nothing of the agent's environment");
    t.is(text(end.standardError), 'err\n');
  },
);

test.serial('facts are those of the machine, and what its owner states', async (t) => {
  const { provider } = await startRig(t, { args: ['--processors', '0'] });
  const { facts } = provider.hellos[0] ?? {};
  t.like(facts, { machineId: 'lab/pc', requestId: '' });
  t.like(facts?.attributes, { os: 'linux', colour: 'dark blue' });
  t.true((facts?.processors ?? 0) >= 1 && Number(facts?.attributes['mem']) > 100);
});

const names = [
  'plain',
  'two words',
  `it's "q"`,
  'line\nend\n',
  '$HOME `id` $(id)',
  'é ü 漢',
  '-rf',
  '*',
  '\\n %s %%',
  ';&|<>()[]{}!#~^',
  '.hidden',
  '..twodots',
  ' ',
  '\ttab',
];

test.serial('files of any name come, can be used, and go home', async (t) => {
  const { provider } = await startRig(t);
  const inputs = names.map((name, index) => ({
    root: index % 2 === 0 ? ('playpen' as const) : ('storage' as const),
    path: `in put/${name}`,
    content: provider.addContent(Buffer.from(`content of ${name}`)),
    mode: index === 0 ? 0o755 : 0o640,
  }));
  const command =
    'mkdir -p "out put/deep er" && for f in "in put"/* "in put"/.[!.]* "in put"/..?* "$STORAGE/in put"/* ' +
    '"$STORAGE/in put"/..?*; do [ -f "$f" ] && cat "$f" >"out put/deep er/${f##*/}"; done; [ -x "in put/plain" ' +
    '] && chmod 751 "out put/deep er/plain"';
  const end = await provider.run(aTemplate(command), {
    inputs,
    outputs: [
      { root: 'playpen', path: 'out put' },
      { root: 'storage', path: `in put/${names[1] ?? ''}` },
    ],
  });
  t.is(end.outcome, 'succeeded', `${sayCause(end.detail)} ${text(end.standardError)}`);
  const found = new Map(
    end.outputs.filter(({ outputIndex }) => outputIndex === 0).map((output) => [output.path, text(output.inline)]),
  );
  t.deepEqual(
    [...found].toSorted(),
    names.map((name) => [`deep er/${name}`, `content of ${name}`] as [string, string]).toSorted(),
  );
  t.is(end.outputs.find((output) => output.path === 'deep er/plain')?.mode, 0o751);
  t.is(text(end.outputs.find(({ outputIndex }) => outputIndex === 1)?.inline), 'content of two words');
});

test.serial('a large content goes there once, bytes come back as they are, and playpens are removed', async (t) => {
  const rig = await startRig(t, { args: ['--processors', '1'] });
  const { provider } = rig;
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7919) % 256));
  const content = provider.addContent(bytes);
  for (const mode of [0o600, 0o755]) {
    const end = await provider.run(aTemplate('cat data'), {
      inputs: [{ root: 'playpen', path: 'data', content, mode }],
      outputs: [{ root: 'playpen', path: 'data' }],
    });
    t.is(end.outcome, 'succeeded', sayCause(end.detail));
    t.true(Buffer.from(end.standardOutput).equals(bytes));
    const [output] = end.outputs;
    t.deepEqual(provider.pushed.get(output?.transferId ?? ''), bytes);
    t.like(output, { mode, content: { sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length } });
  }
  t.is(provider.wanted.length, 1);
  await until(() => readdirSync(path.join(getBase(rig), 'runs')).length === 0, 'the playpens go');
  t.deepEqual(readdirSync(path.join(getBase(rig), 'contents')), [content.sha256]);
});

test.serial(
  'of a task that failed, or lacks an output, the others are brought as they are, whatever stands before or behind',
  async (t) => {
    const { provider } = await startRig(t);
    const outputs = ['none', 'large', 'out', 'fifo', 'last'].map((place) => ({
      root: 'playpen' as const,
      path: place,
    }));
    const large = Buffer.alloc(200_000, 'abc');
    for (const [status, reason] of [
      [3, 'MUT_COMMAND_FAILED'],
      [0, 'MUT_OUTPUT_MISSING'],
    ] as const) {
      const end = await provider.run(
        aTemplate(
          `yes abc | tr -d '\\n' | head -c 200000 >large; mkdir out; echo x >out/one; ln -s /etc out/away; ` +
            `mkfifo out/pipe fifo; echo y >last; exit ${status}`,
        ),
        { outputs },
      );
      t.like(end, { outcome: 'failed', reason });
      t.deepEqual(
        end.outputs.map((output) => [output.outputIndex, output.path, output.inline && text(output.inline)]),
        [
          [1, '', undefined],
          [2, 'one', 'x\n'],
          [4, '', 'y\n'],
        ],
      );
      t.true(provider.pushed.get(end.outputs[0]?.transferId ?? '')?.equals(large));
    }
  },
);

test.serial('outputs that are missing or lead out are refused, and links inside are followed', async (t) => {
  const { provider } = await startRig(t);
  const run = (command: string, place: string): ReturnType<FakeProvider['run']> =>
    provider.run(aTemplate(command), { outputs: [{ root: 'playpen', path: place }] });
  t.like(await run('true', 'a b'), { outcome: 'failed', reason: 'MUT_OUTPUT_MISSING' });
  t.like(await run('ln -s /etc/passwd out', 'out'), { outcome: 'failed', reason: 'MUT_PATH_ESCAPES' });
  t.like(await run('ln -s /etc out', 'out/passwd'), { outcome: 'failed', reason: 'MUT_PATH_ESCAPES' });
  t.like(await run('true', '../x'), { outcome: 'failed', reason: 'MUT_PATH_ESCAPES' });
  t.like(await run('mkfifo out', 'out'), { outcome: 'failed', reason: 'MUT_OUTPUT_UNREADABLE' });
  const followed = await run(
    'mkdir -p out sub/d; echo x >out/file; echo y >sub/s; echo z >sub/d/f; ln -s file out/link; ln -s ../sub/s ' +
      'out/up; ln -s ../sub/d out/folder',
    'out',
  );
  t.deepEqual(
    followed.outputs.map((output) => [output.path, text(output.inline)]),
    [
      ['file', 'x\n'],
      ['folder/f', 'z\n'],
      ['link', 'x\n'],
      ['up', 'y\n'],
    ],
  );
  for (const script of ['ln -s /etc/passwd out/away', 'ln -s gone out/nowhere', 'ln -s ../out out/self']) {
    t.like(await run(`mkdir out; ${script}`, 'out'), { outcome: 'failed', reason: 'MUT_OUTPUT_LINK' }, script);
  }
  t.like(await run('mkdir out; mkfifo out/pipe', 'out'), { outcome: 'failed', reason: 'MUT_OUTPUT_UNREADABLE' });
  const all = await run('echo 1 >a; echo 2 >b', '.');
  t.deepEqual(
    all.outputs.map((output) => output.path),
    ['a', 'b'],
  );
});

test.serial('more than a command line holds goes there as a file', async (t) => {
  const { provider } = await startRig(t);
  const value = 'x '.repeat(60_000);
  const end = await provider.run(aTemplate(`printf %s '${value}' | wc -c`), {});
  t.is(text(end.standardOutput).trim(), '120000', sayCause(end.detail));
});

test.serial('limits of time and output hold, and of a stream the beginning is kept', async (t) => {
  const { provider } = await startRig(t);
  const limits = { runTimeMax: 0, memoryMax: 0, outputMax: 0 };
  t.like(await provider.run(aTemplate('trap "" TERM; sleep 600', { limits: { ...limits, runTimeMax: 300 } })), {
    outcome: 'limited',
    reason: 'MUT_RUN_TIME_MAX',
  });
  t.like(await provider.run(aTemplate('head -c 3000 /dev/zero', { limits: { ...limits, outputMax: 1000 } })), {
    outcome: 'limited',
    reason: 'MUT_OUTPUT_MAX',
    outputTruncated: true,
  });
  const end = await provider.run(aTemplate('head -c 700000 /dev/zero; head -c 600000 /dev/zero >&2'));
  t.like(end, { outcome: 'succeeded', outputTruncated: true });
  t.deepEqual([end.standardOutput.length, end.standardError.length], [512 * 1024, 512 * 1024]);
});

test.serial('a task that is cancelled ends with all that it started', async (t) => {
  const { provider, home } = await startRig(t);
  const [pid, child] = [path.join(home, 'pid'), path.join(home, 'child')];
  const [replicaId = 0] = provider.place(
    aTemplate(`trap '' TERM; echo $$ >${pid}; sleep 600 & echo $! >${child}; wait; wait`),
  );
  await until(() => readPid(child) > 0, 'the task runs');
  provider.cancel([replicaId]);
  t.like(await provider.findEnd(replicaId), { outcome: 'cancelled', reason: 'MUT_CANCELLED' });
  await until(() => !isAlive(readPid(pid)) && !isAlive(readPid(child)), 'both are gone');
});

test.serial('what a task leaves running ends with it', async (t) => {
  const { provider, home } = await startRig(t);
  const pid = path.join(home, 'pid');
  t.is((await provider.run(aTemplate(`sleep 600 >/dev/null 2>&1 & echo $! >${pid}`))).outcome, 'succeeded');
  await until(() => !isAlive(readPid(pid)), 'it is gone');
});

test.serial('a task goes on through a loss of the connection, runs once, and its end is found', async (t) => {
  const rig = await startRig(t, {
    remExec: `[ ! -e "$there/../network" ] || exit 255; sh -c $command & echo $! >>"$there/../connections"; wait $!`,
  });
  const { provider, home, network } = rig;
  const [runs, go] = [path.join(home, 'runs'), path.join(home, 'go')];
  const [replicaId = 0] = provider.place(
    aTemplate(`echo run >>${runs}; until [ -e ${go} ]; do sleep 0.02; done; echo done; exit 7`),
  );
  await until(() => existsSync(runs), 'the task runs');
  writeFileSync(network, '');
  const last = readFileSync(path.join(home, 'connections'), 'utf8').trim().split('\n').at(-1);
  process.kill(Number(last), 'SIGKILL');
  writeFileSync(go, '');
  await until(() => !existsSync(network) || rig.agent.isRunning, 'the agent lives');
  rmSync(network);
  t.like(await provider.findEnd(replicaId), { outcome: 'failed', exitStatus: 7 });
  t.is(text((await provider.findEnd(replicaId)).standardOutput), 'done\n');
  t.is(readFileSync(runs, 'utf8'), 'run\n');
});

test.serial(
  'a machine that answers no more gives its replicas back, and the agent ends with what the template said',
  async (t) => {
    const { provider, agent, network } = await startRig(t);
    writeFileSync(network, '#!/bin/sh\necho "no route to the pc" >&2\nexit 1\n');
    chmodSync(network, 0o755);
    const content = provider.addContent(Buffer.from('x'));
    t.like(await provider.run(aTemplate('true'), { inputs: [{ root: 'playpen', path: 'x', content, mode: 0o600 }] }), {
      outcome: 'broken',
    });
    await until(() => !agent.isRunning, 'the agent ends');
    t.regex(
      agent.log.join('\n'),
      /MUT_TEMPLATE_FAILED.*(copyTo|remExec) for the pc ended with status 255: no route to the pc/,
    );
  },
);

test.serial("a former agent's tasks are ended and its playpens removed when the next one comes", async (t) => {
  const rig = await startRig(t);
  const pid = path.join(rig.home, 'pid');
  rig.provider.place(aTemplate(`echo $$ >${pid}; touch locked; chmod 500 .; exec sleep 600`));
  await until(() => readPid(pid) > 0, 'the task runs');
  await rig.agent.kill('SIGKILL');
  await rig.agent.start();
  await until(() => rig.provider.hellos.length === 2, 'the next agent attaches');
  await until(() => !isAlive(readPid(pid)), 'the task is ended');
  t.deepEqual(readdirSync(path.join(getBase(rig), 'runs')), []);
  t.is((await rig.provider.run(aTemplate('true'))).outcome, 'succeeded');
});

test.serial('templates that bring nothing, or something else, are distinguished', async (t) => {
  const silent = await startRig(t, { remExec: 'true $command', isAttached: false });
  t.regex(
    silent.agent.log.join('\n'),
    /MUT_TEMPLATE_FAILED.*remExec for the pc ended with status 0 and without the answer of the command/,
  );
  const changed = await startRig(t, { copyFrom: 'tr a-z A-Z <"$remotefile" >"$localfile"', isAttached: false });
  t.regex(
    changed.agent.log.join('\n'),
    /MUT_TEMPLATE_FAILED.*copyTo and copyFrom brought 288 bytes back that are not the 288 that were sent/,
  );
  const nothing = await startRig(t, { copyFrom: 'true', isAttached: false });
  t.regex(nothing.agent.log.join('\n'), /copyFrom ended with status 0, but \$localfile is not there/);
});
