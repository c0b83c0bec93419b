// Tasks in another account, through a real sudo, from an agent in an ordinary account: what they can reach, that
// everything else works as without, and that nothing is left.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { sayCause } from '@mutirao/api/reasons';
import type { ReplicaEnd, TaskTemplate } from '@mutirao/core/messages';
import { aTemplate, FakeCommands, FakeProvider, isAlive, Program, temporaryFolder, until } from '@mutirao/testkit';
import { giveTo, TaskAccounts } from '@mutirao/testkit/world';

const accounts = new TaskAccounts();
accounts.allow();
test.after.always(() => {
  accounts.remove();
});

interface Rig {
  readonly provider: FakeProvider;
  readonly agent: Program;
}

/** @param hasBubblewrap whether the account finds one that works. */
async function startRig(
  t: ExecutionContext,
  {
    isolation = `account=${accounts.tasksName}`,
    hasBubblewrap = true,
    args = [],
  }: { readonly isolation?: string; readonly hasBubblewrap?: boolean; readonly args?: readonly string[] } = {},
): Promise<Rig> {
  const provider = new FakeProvider();
  await provider.start();
  const socket = provider.address.slice('unix:'.length);
  for (const file of [socket, path.dirname(socket)]) giveTo(file, accounts.account);
  const bubblewrap = new FakeCommands(path.join(temporaryFolder(t), 'bin'));
  chmodSync(path.dirname(bubblewrap.path.split(':')[0] ?? ''), 0o755);
  if (!hasBubblewrap) bubblewrap.act('bwrap', 'exit 1');
  const agent = new Program(
    'agent',
    [
      '--home',
      accounts.home,
      '--provider',
      provider.address,
      '--machine-id',
      'lab/pc',
      '--processors',
      '2',
      '--kill-grace',
      '2s',
      '--isolation',
      isolation,
      ...args,
    ],
    {
      MUTIRAO_CREDENTIAL: FakeProvider.token,
      HOME: path.dirname(accounts.home),
      USER: accounts.agentName,
      PATH: hasBubblewrap ? '/usr/bin:/bin' : bubblewrap.path,
    },
    { account: accounts.account },
  );
  t.teardown(async () => {
    await agent.kill('SIGKILL');
    await until(() => listProcesses(accounts.tasksName).length === 0, 'nothing is left of the tasks');
    await provider.stop();
  });
  await agent.start();
  await until(() => provider.isAttached || !agent.isRunning, 'the agent attaches or ends');
  return { provider, agent };
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
const hostile = (command: string, parts: Partial<TaskTemplate> = {}): TaskTemplate =>
  aTemplate(command, { userId: 'eva', ...parts });
const getOutput = async (provider: FakeProvider, template: TaskTemplate): Promise<string> =>
  text((await provider.run(template)).standardOutput);

for (const hasBubblewrap of [true, false]) {
  const how = hasBubblewrap ? 'with bubblewrap in the account' : 'without bubblewrap';

  test.serial(`${how}: a task runs as the account, and reaches no file or secret of the agent`, async (t) => {
    const { provider, agent } = await startRig(t, { hasBubblewrap });
    t.true(agent.isRunning, agent.log.join('\n'));
    t.is(provider.hellos[0]?.facts?.attributes['isolation'], 'account');
    t.true(agent.log.some((line) => line.includes(`"ownTmp":${String(hasBubblewrap)}`)));
    provider.serveUser('ana', true);
    mkdirSync(path.join(accounts.home, 'identity'), { recursive: true, mode: 0o700 });
    for (const name of ['token', 'identity/token']) {
      writeFileSync(path.join(accounts.home, name), 'secret');
    }
    t.is(
      await getOutput(
        provider,
        aTemplate('id -un; echo "$NOTE $JOB $LD_PRELOAD"; umask', { environment: { NOTE: "it's", LD_PRELOAD: '' } }),
      ),
      `${accounts.tasksName}\nit's 1 \n0022\n`,
      "the owner's too",
    );
    t.is(
      await getOutput(
        provider,
        hostile(
          `cat ${accounts.home}/token ${accounts.home}/identity/token ${accounts.home}/agents/lab_pc/secret ` +
            `2>/dev/null; ls ${path.dirname(accounts.home)} 2>/dev/null; env | grep -c -e SUDO_ -e CREDENTIAL; ` +
            `kill -9 ${agent.pid} 2>/dev/null; echo done`,
        ),
      ),
      '0\ndone\n',
    );
    t.regex(
      await getOutput(provider, hostile('echo "$HOME"; pwd; echo left >/tmp/mutirao-left; ls -A "$TMPDIR" | wc -l')),
      new RegExp(`^/srv/${accounts.tasksName}\n/srv/${accounts.tasksName}/mutirao-tasks-[^/]*/tasks/\\d+/playpen\n`),
    );
    t.is(existsSync('/tmp/mutirao-left'), !hasBubblewrap);
    if (!hasBubblewrap)
      t.is(await getOutput(provider, hostile('rm /tmp/mutirao-left; touch "$TMPDIR/x" && echo own')), 'own\n');
    t.false(
      commandLines().some((line) => line.includes("it's")),
      'the environment is in no command line',
    );
    t.false(agent.log.join('\n').includes('"level":"error"'), agent.log.join('\n'));
  });

  test.serial(`${how}: inputs, outputs, storage, statuses, limits and long lines are as a task expects`, async (t) => {
    const { provider } = await startRig(t, { hasBubblewrap });
    const tool = provider.addContent(Buffer.from('#!/bin/sh\necho "from a program: $1"\n'));
    const large = provider.addContent(Buffer.alloc(300_000, 7));
    const inputs = [
      { root: 'storage', path: 'tool', content: tool, mode: 0o755 },
      { root: 'playpen', path: 'in/large', content: large, mode: 0o600 },
    ] as const;
    const run = (command: string, parts: Partial<TaskTemplate> = {}): Promise<ReplicaEnd> =>
      provider.run(hostile(command, parts), {
        inputs: [...inputs],
        outputs: [
          { root: 'playpen', path: 'out' },
          { root: 'storage', path: 'kept' },
        ],
      });
    const first = await run(
      'tool x >data; ln -s data out; cp in/large "$STORAGE/kept"; chmod 600 "$STORAGE/kept"; echo more ' +
        '>>in/large; echo $INPUTFILES; ls -l in/large | cut -c 1-10; umask 077; echo said >&2; mkdir -m 0 closed',
    );
    t.is(first.outcome, 'succeeded', sayCause(first.detail) + text(first.standardError));
    t.is(text(first.standardOutput), 'tool:in/large\n-rw-------\n');
    t.is(text(first.standardError), 'said\n');
    t.is(
      text(first.outputs.find(({ outputIndex }) => outputIndex === 0)?.inline ?? Buffer.of()),
      'from a program: x\n',
    );
    t.is(first.outputs.find(({ outputIndex }) => outputIndex === 1)?.content.sha256, large.sha256);
    t.is(
      text((await provider.run(hostile('wc -c <"$STORAGE/kept"; ls -A'))).standardOutput),
      '300000\n',
      'only the storage stays',
    );
    t.like(await run('rm in/large; echo >"$STORAGE/kept"'), { outcome: 'failed', reason: 'MUT_OUTPUT_MISSING' });
    t.like(
      await provider.run(hostile('true'), {
        inputs: [...inputs],
        outputs: [
          { root: 'playpen', path: 'in/large' },
          { root: 'playpen', path: 'gone' },
        ],
      }),
      { outcome: 'failed', reason: 'MUT_OUTPUT_MISSING' },
    );
    t.like(await run('echo >"$STORAGE/kept"; mkdir out; mkfifo out/pipe'), {
      outcome: 'failed',
      reason: 'MUT_OUTPUT_UNREADABLE',
    });
    t.like(await run('echo >"$STORAGE/kept"; echo x >out; exit 3'), {
      outcome: 'failed',
      exitStatus: 3,
      reason: 'MUT_COMMAND_FAILED',
    });
    t.regex(sayCause((await run('kill -9 $$')).detail), /signal 9/);
    t.like(await run('no-such-program'), { outcome: 'failed', reason: 'MUT_COMMAND_NOT_FOUND' });
    t.like(await run('sleep 1000', { limits: { runTimeMax: 300, memoryMax: 0, outputMax: 0 } }), {
      outcome: 'limited',
      reason: 'MUT_RUN_TIME_MAX',
    });
    t.like(
      await run('x=$(head -c 200000000 /dev/zero | tr "\\0" x); sleep 1000', {
        limits: { runTimeMax: 0, memoryMax: 50 * 2 ** 20, outputMax: 0 },
      }),
      { outcome: 'limited', reason: 'MUT_MEMORY_MAX' },
    );
    t.is(text((await provider.run(hostile(`echo ${'x'.repeat(400_000)} | wc -c`))).standardOutput), '400001\n');
    // What it says itself is not taken for what sudo says.
    t.like(await provider.run(hostile('echo "sudo: a password is required" >&2; exit 1')), {
      outcome: 'failed',
      reason: 'MUT_COMMAND_FAILED',
    });
  });

  test.serial(`${how}: a task is asked to end, is ended, and nothing outlives it or the agent`, async (t) => {
    const { provider, agent } = await startRig(t, { hasBubblewrap });
    const polite = provider.place(
      hostile('trap "echo asked; exit 5" TERM; : >"$STORAGE/on"; while :; do sleep 0.05; done'),
    );
    t.is((await provider.run(hostile('until [ -e "$STORAGE/on" ]; do sleep 0.05; done'))).outcome, 'succeeded');
    provider.cancel(polite);
    const asked = await provider.findEnd(polite[0] ?? 0);
    t.is(asked.outcome, 'cancelled');
    t.is(text(asked.standardOutput), 'asked\n');
    const end = await provider.run(
      hostile(
        'setsid env -i /bin/sh -c "sleep 1000011 & sleep 1000011" & (trap "" TERM HUP; sleep 1000011 &) ; exit 0',
      ),
    );
    t.is(end.outcome, 'succeeded');
    t.deepEqual(listProcesses(accounts.tasksName), []);
    const stubborn = provider.place(
      hostile(
        'trap "" TERM; setsid env -i /bin/sh -c "trap \'\' TERM; sleep 1000012; sleep 1000012" & while :; do ' +
          'sleep 1000012; done',
      ),
    );
    await until(() => listProcesses(accounts.tasksName).length >= 3, 'it runs');
    provider.cancel(stubborn);
    t.is((await provider.findEnd(stubborn[0] ?? 0)).outcome, 'cancelled');
    await until(() => listProcesses(accounts.tasksName).length === 0, 'nothing is left');
    const [killed = 0] = provider.place(hostile('kill -STOP 0; exit 0'));
    provider.place(hostile('setsid env -i sleep 1000013 & sleep 1000013'));
    await until(() => listProcesses(accounts.tasksName).length >= 2, 'it runs');
    t.deepEqual(provider.getEnds(killed), []);
    await agent.kill('SIGKILL');
    await until(() => listProcesses(accounts.tasksName).length === 0, 'its tasks end with the agent');
    await until(
      () => !readdirSync(`/srv/${accounts.tasksName}`).some((name) => name.startsWith('mutirao-tasks-')),
      'their files go as well',
    );
    t.pass();
  });
}

test.serial(
  'folders of tasks are removed while the agent goes on, and all when it receives a signal to stop',
  async (t) => {
    const { provider, agent } = await startRig(t);
    for (let count = 0; count < 3; count++)
      t.is((await provider.run(hostile('mkdir -p a/b; echo x >a/b/c; chmod 0 a/b a'))).outcome, 'succeeded');
    const [own = ''] = readdirSync(`/srv/${accounts.tasksName}`).filter((name) => name.startsWith('mutirao-tasks-'));
    const folder = path.join(`/srv/${accounts.tasksName}`, own);
    t.is(statSync(folder).mode & 0o777, 0o700);
    await until(() => readdirSync(path.join(folder, 'tasks')).length === 0, 'folders of tasks that ended are removed');
    await agent.kill('SIGTERM');
    await until(() => !existsSync(folder), 'the folder goes');
    t.pass();
  },
);

test.serial('where sudo does not allow it the agent does not start, and says what is missing', async (t) => {
  accounts.forbid();
  t.teardown(() => {
    accounts.allow();
  });
  const refused = await startRig(t);
  t.false(refused.agent.isRunning);
  t.regex(
    refused.agent.log.join('\n'),
    new RegExp(
      `MUT_ISOLATION_UNAVAILABLE.*a password is required.*${accounts.agentName} ALL=\\(${accounts.tasksName}\\) ` +
        'NOPASSWD: /bin/sh',
    ),
  );
  const unknown = await startRig(t, { isolation: 'account=nobody-of-that-name' });
  t.regex(unknown.agent.log.join('\n'), /MUT_ISOLATION_UNAVAILABLE.*unknown user/);
  t.regex(
    (await startRig(t, { isolation: 'account=../x' })).agent.log.join('\n'),
    /MUT_BAD_CONFIG.*expected auto, bubblewrap, account=NAME or none/,
  );
});

test.serial("a rule that is taken back later is the machine's fault, not the task's", async (t) => {
  const { provider } = await startRig(t);
  t.is((await provider.run(hostile('true'))).outcome, 'succeeded');
  accounts.forbid();
  t.teardown(() => {
    accounts.allow();
  });
  const end = await provider.run(hostile('true'));
  t.like(end, { outcome: 'broken', reason: 'MUT_LAUNCH_FAILED' });
  t.regex(sayCause(end.detail), /a password is required/);
  accounts.allow();
});

/** Processes of an account that are alive. */
function listProcesses(name: string): string[] {
  const uid = statSync(`/srv/${name}`).uid;
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && isAlive(Number(pid)) && getOwner(pid) === uid)
    .map((pid) => `${pid} ${readOr(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')}`);
}

function commandLines(): string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
    .map((pid) => readOr(`/proc/${pid}/cmdline`));
}

function getOwner(pid: string): number {
  return Number(/^Uid:\s+\d+\s+(\d+)/m.exec(readOr(`/proc/${pid}/status`))?.[1] ?? -1);
}

function readOr(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
