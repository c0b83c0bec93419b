// Tasks of a hostile user in the sandboxes of a real bubblewrap: what they can reach, and that everything else works as
// without.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { sayCause } from '@mutirao/api/reasons';
import type { ReplicaEnd, TaskTemplate } from '@mutirao/core/messages';
import { describeWorkFolder } from '@mutirao/runtime/files';
import { aTemplate, FakeGang, FakeProvider, isAlive, Program, until } from '@mutirao/testkit';

interface Rig {
  readonly provider: FakeProvider;
  readonly agent: Program;
  readonly home: string;
}

/** Not below /tmp, which tasks have of their own anyway. */
function makeHome(t: ExecutionContext): string {
  const home = mkdtempSync('/srv/mutirao-isolation-');
  t.teardown(() => {
    rmSync(home, { recursive: true, force: true });
  });
  return home;
}

async function startRig(
  t: ExecutionContext,
  {
    args = [],
    isOrdinary = false,
    env = {},
  }: { readonly args?: readonly string[]; readonly isOrdinary?: boolean; readonly env?: Record<string, string> } = {},
): Promise<Rig> {
  const home = makeHome(t);
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
      '2s',
      ...args,
    ],
    {
      MUTIRAO_CREDENTIAL: FakeProvider.token,
      ...env,
    },
    { isOrdinary },
  );
  t.teardown(async () => {
    await agent.kill('SIGKILL');
    await provider.stop();
  });
  await agent.start();
  await until(() => provider.isAttached || !agent.isRunning, 'the agent attaches');
  t.true(agent.isRunning, agent.log.join('\n'));
  t.is(provider.hellos[0]?.facts?.attributes['isolation'], 'bubblewrap');
  provider.serveUser('ana', true);
  return { provider, agent, home };
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
const hostile = (command: string, parts: Partial<TaskTemplate> = {}): TaskTemplate =>
  aTemplate(command, { userId: 'eva', ...parts });
const getOutput = async (provider: FakeProvider, template: TaskTemplate): Promise<string> =>
  text((await provider.run(template)).standardOutput);

for (const isOrdinary of [false, true]) {
  test.serial(
    `${isOrdinary ? 'an ordinary account' : 'root'}: a task of another user reaches no file, process or secret of the agent and of others`,
    async (t) => {
      const { provider, home } = await startRig(t, { isOrdinary });
      for (const name of ['token', 'identity/ca.key', 'agents/other/playpens/0/data']) {
        mkdirSync(path.dirname(path.join(home, name)), { recursive: true });
        writeFileSync(path.join(home, name), 'secret');
      }
      const [victim = 0] = provider.place(
        aTemplate('echo secret >data; echo secret >"$STORAGE/kept"; exec sleep 1000', { userId: 'bob' }),
      );
      const playpens = path.join(home, 'agents', 'lab_pc', 'playpens');
      await until(
        () =>
          existsSync(playpens) && readdirSync(playpens).some((name) => existsSync(path.join(playpens, name, 'data'))),
        'the victim runs',
      );
      t.is(
        await getOutput(
          provider,
          hostile(
            `cat ${home}/token ${home}/identity/ca.key ${home}/agents/lab_pc/secret ` +
              `${home}/agents/other/playpens/0/data ../*/data "$STORAGE"/../*/kept 2>/dev/null; true`,
          ),
        ),
        '',
      );
      t.is(
        await getOutput(
          provider,
          hostile(
            `cd ${home}; find . -type f; ls -A agents/lab_pc agents/lab_pc/storage agents/lab_pc/playpens | wc ` +
              '-l; ls -A ~ /run | grep -v systemd',
          ),
        ),
        `9\n${homedir()}:\n\n/run:\n`,
      );
      // Its own processes are all that there are.
      t.is(
        await getOutput(
          provider,
          hostile(
            'cat /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n" | grep -c ^MUTIRAO_CREDENTIAL=; [ $(ls -d ' +
              '/proc/[0-9]* | wc -l) -le 6 ] && echo few',
          ),
        ),
        '0\nfew\n',
      );
      t.is((await provider.run(hostile('kill -9 -1'))).outcome, 'failed');
      t.is(
        await getOutput(
          provider,
          hostile(
            'for place in /etc /usr /var /srv /dev/..; do touch $place/planted 2>/dev/null && echo $place; ' +
              'done; echo done',
          ),
        ),
        'done\n',
      );
      t.deepEqual(provider.getEnds(victim), [], 'the victim goes on');
      provider.cancel([victim]);
      t.is((await provider.findEnd(victim)).outcome, 'cancelled');
    },
  );
}

test.serial('nothing outlives a task, whatever it does to get away', async (t) => {
  const { provider } = await startRig(t);
  const end = await provider.run(
    hostile('setsid env -i /bin/sh -c "sleep 1000001 & sleep 1000001" & (trap "" TERM HUP; sleep 1000001 &) ; exit 0'),
  );
  t.is(end.outcome, 'succeeded');
  t.deepEqual(processesWith('1000001'), []);
  const [replicaId = 0] = provider.place(
    hostile(
      'trap "" TERM; setsid env -i /bin/sh -c "trap \'\' TERM; sleep 1000002; sleep 1000002; sleep 1000002" & ' +
        'while :; do sleep 1000002; done',
    ),
  );
  await until(() => processesWith('1000002').length === 2, 'it runs');
  provider.cancel([replicaId]);
  t.is((await provider.findEnd(replicaId)).outcome, 'cancelled');
  t.deepEqual(processesWith('1000002'), []);
});

test.serial('a task that stops or kills its process group reaches nothing outside', async (t) => {
  const { provider } = await startRig(t, { args: ['--processors', '1'] });
  t.like(await provider.run(hostile('kill -9 0')), { outcome: 'failed', reason: 'MUT_COMMAND_FAILED' });
  t.is(
    (
      await provider.run(
        hostile(
          'setsid sh -c ": >on; while sleep 0.2; do kill -CONT -1; done" & until [ -e on ]; do sleep 0.02; ' +
            'done; kill -STOP 0; exit 0',
        ),
      )
    ).outcome,
    'succeeded',
  );
  t.is((await provider.run(hostile('true'))).outcome, 'succeeded');
});

test.serial('when the agent is killed, its sandboxes end with it', async (t) => {
  const { provider, agent } = await startRig(t);
  provider.place(hostile('setsid env -i sleep 1000003 & sleep 1000003'));
  await until(() => processesWith('1000003').length === 2, 'it runs');
  await agent.kill('SIGKILL');
  await until(() => processesWith('1000003').length === 0, 'its tasks end');
  t.pass();
});

test.serial('a task that is asked to end can end in its own way', async (t) => {
  const { provider } = await startRig(t);
  const [replicaId = 0] = provider.place(
    hostile('trap "echo asked; exit 5" TERM; while :; do sleep 0.05; : >"$STORAGE/on"; done'),
  );
  await until(
    () => provider.reports.some(({ started }) => started.some((one) => one.replicaId === replicaId)),
    'it starts',
  );
  // Not before its trap is set: another task of the user sees that it is.
  t.is((await provider.run(hostile('until [ -e "$STORAGE/on" ]; do sleep 0.05; done'))).outcome, 'succeeded');
  provider.cancel([replicaId]);
  const end = await provider.findEnd(replicaId);
  t.is(end.outcome, 'cancelled');
  t.is(text(end.standardOutput), 'asked\n');
});

test.serial('inputs, outputs, /tmp, devices, limits, statuses and the account are as a task expects', async (t) => {
  const { provider, agent, home } = await startRig(t, { args: ['--processors', '1'] });
  const content = provider.addContent(Buffer.from('#!/bin/sh\necho "from a program: $1"\n'));
  const inputs = [{ root: 'storage', path: 'tool', content, mode: 0o755 }] as const;
  const run = (command: string, parts: Partial<TaskTemplate> = {}): Promise<ReplicaEnd> =>
    provider.run(hostile(command, parts), { inputs: [...inputs], outputs: [{ root: 'playpen', path: 'out' }] });
  const first = await run(
    'tool x >out; cp out /tmp/left; echo kept >"$STORAGE/kept"; echo >/dev/null; head -c 4 /dev/urandom | wc ' +
      '-c; id -u; touch ~/made; echo again >/dev/stdout; chmod 000 out; chmod 644 out; mkdir -m 0 closed',
  );
  t.is(first.outcome, 'succeeded', sayCause(first.detail) + text(first.standardError));
  t.is(text(first.outputs[0]?.inline ?? Buffer.of()), 'from a program: x\n');
  t.is(text(first.standardOutput), `4\n${process.getuid?.()}\nagain\n`);
  const second = await run('cat "$STORAGE/kept"; ls -A /tmp . ~/made 2>/dev/null; echo >out');
  t.is(text(second.standardOutput), 'kept\n.:\n\n/tmp:\n', 'only the storage stays');
  t.like(await run('sleep 1000', { limits: { runTimeMax: 200, memoryMax: 0, outputMax: 0 } }), {
    outcome: 'limited',
    reason: 'MUT_RUN_TIME_MAX',
  });
  t.like(
    await run('x=$(head -c 200000000 /dev/zero | tr "\\0" x); sleep 1000', {
      limits: { runTimeMax: 0, memoryMax: 50 * 2 ** 20, outputMax: 0 },
    }),
    { outcome: 'limited', reason: 'MUT_MEMORY_MAX' },
  );
  t.like(await run('no-such-program'), { outcome: 'failed', reason: 'MUT_COMMAND_NOT_FOUND' });
  // A loader's variable must not be read by bubblewrap itself, which is outside.
  const loaded = await run('cat /proc/1/environ >/dev/null; echo "$LD_PRELOAD" >out', {
    environment: { LD_PRELOAD: './evil.so', NOTE: "it's" },
  });
  t.regex(text(loaded.standardError), /evil\.so/);
  t.false(agent.log.join('\n').includes('evil.so'));
  t.deepEqual(
    readdirSync(path.join(home, 'agents', 'lab_pc', 'tmp')).filter((name) => name !== 'trash' && name !== '0'),
    [],
  );
});

test.serial(
  "the owner's own job works in its folder, which nobody else's may name, and a folder of the machine can be shared",
  async (t) => {
    const shared = makeHome(t);
    const { provider, home } = await startRig(t, { args: ['--isolation', 'bubblewrap', '--task-folder', shared] });
    const folder = path.join(makeHome(t), 'work');
    mkdirSync(folder);
    const workFolder = await describeWorkFolder(folder, home);
    t.truthy(workFolder);
    const template = aTemplate(
      `pwd; echo here >made; echo there >${shared}/made`,
      workFolder === undefined ? {} : { workFolder },
    );
    const end = await provider.run(template);
    t.is(end.outcome, 'succeeded', sayCause(end.detail));
    t.is(text(end.standardOutput), `${folder}\n`);
    t.is(readFileSync(path.join(folder, 'made'), 'utf8'), 'here\n');
    t.is(readFileSync(path.join(shared, 'made'), 'utf8'), 'there\n');
  },
);

test.serial('a gang runs as without: rank 0 calls its members, and each command is isolated', async (t) => {
  const home = makeHome(t);
  const gang = await FakeGang.start({ home, members: 2, args: ['--isolation', 'bubblewrap'] });
  t.teardown(() => gang.stop());
  const end = await gang.run(
    hostile(
      [
        'head -c 300000 /dev/urandom > in',
        '$RSH_CMD $PROC1 "cat; exit 7" <in >got; echo $?',
        'cmp in got && echo same',
        `$RSH_CMD $PROC1 "[ \\$(ls -d /proc/[0-9]* | wc -l) -le 6 ] && echo few; cat ${home}/agents/*/secret ` +
          '2>/dev/null | wc -c; echo left >/tmp/left; echo err >&2" 2>errors; cat errors',
        '$RSH_CMD -n $PROC1 "cat /tmp/left; setsid sleep 1000004 & echo by" & wait; $RSH_CMD -n $PROC0 "echo self"',
      ].join('\n'),
    ),
  );
  t.is(
    text(end.standardOutput),
    '7\nsame\nfew\n0\nerr\nleft\nby\nself\n',
    text(end.standardError) + sayCause(end.detail),
  );
  t.deepEqual(processesWith('1000004'), []);
});

/** Processes with this word in their command line. */
function processesWith(word: string): string[] {
  return readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && isAlive(Number(name)) && readOr(`/proc/${name}/cmdline`).split('\0').includes(word),
  );
}

function readOr(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
