// An agent with a faked bubblewrap, which needs nothing of the host: who is isolated, what is said where it does
// not work, and what is refused. The real one is in test/sites.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { sayCause } from '@mutirao/api/reasons';
import {
  aTemplate,
  FakeCommands,
  FakeProvider,
  Grid,
  Program,
  taskGroup,
  temporaryFolder,
  until,
} from '@mutirao/testkit';

interface Rig {
  readonly provider: FakeProvider;
  readonly agent: Program;
  readonly bubblewrap: FakeCommands;
  readonly home: string;
}

/** Runs what comes after the options, as the real one would in its sandbox. */
const works =
  'while [ "$1" != -- ]; do case $1 in --chdir) cd "$2" || exit 1;; esac; shift; done; shift; IN_SANDBOX=yes; ' +
  'export IN_SANDBOX; exec "$@"';
const fails = 'echo "bwrap: setting up uid map: Permission denied" >&2; exit 1';

async function startRig(
  t: ExecutionContext,
  args: readonly string[],
  { bubblewrap: act = works, hasKey = false }: { readonly bubblewrap?: string; readonly hasKey?: boolean } = {},
): Promise<Rig> {
  const home = temporaryFolder(t);
  const bubblewrap = new FakeCommands(path.join(temporaryFolder(t), 'bin'));
  bubblewrap.act('bwrap', act);
  if (hasKey) {
    mkdirSync(path.join(home, 'identity'));
    writeFileSync(path.join(home, 'identity', 'ca.key'), 'the key', { mode: 0o600 });
  }
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
      '1',
      '--kill-grace',
      '5s',
      ...args,
    ],
    {
      MUTIRAO_CREDENTIAL: FakeProvider.token,
      PATH: bubblewrap.path,
    },
  );
  t.teardown(async () => {
    await agent.kill('SIGKILL');
    await provider.stop();
  });
  await agent.start();
  await until(() => provider.isAttached || !agent.isRunning, 'the agent attaches or ends');
  return { provider, agent, bubblewrap, home };
}

function readAttribute({ provider }: Rig): string | undefined {
  return provider.hellos[0]?.facts?.attributes['isolation'];
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

test.serial('by default, an agent isolates tasks of other users and not those of the owner', async (t) => {
  const rig = await startRig(t, []);
  const { provider, bubblewrap } = rig;
  t.is(readAttribute(rig), 'bubblewrap');
  const tries = bubblewrap.calls('bwrap').length;
  t.is(tries, 1, 'it is tried once');
  const run = async (userId: string): Promise<string> =>
    text(
      (
        await provider.run(
          aTemplate('echo "$IN_SANDBOX $NOTE $STORAGE"', { userId, environment: { NOTE: "it's", LD_PRELOAD: '' } }),
        )
      ).standardOutput,
    );
  t.regex(await run('ana'), /^ it's .*storage\/ana\n$/, "the provider named no user: the owner's");
  provider.serveUser('ana', true);
  t.regex(await run('ana'), /^ it's .*storage\/ana\n$/);
  t.is(bubblewrap.calls('bwrap').length, tries);
  t.regex(await run('eva'), /^yes it's .*storage\/eva\n$/);
  provider.serveUser('eva', false);
  // Whatever users a broker of somebody else names, they are not those of another broker.
  t.regex(await run('ana'), /^yes it's .*storage\/eva%2Fana\n$/);
  t.is(bubblewrap.calls('bwrap').length, tries + 2);
  t.true(bubblewrap.calls('bwrap').every((call) => call.includes(`--tmpfs /run`) && call.includes('--unshare-pid')));
  t.false(
    bubblewrap.calls('bwrap').some((call) => call.includes("it's")),
    "a task's environment is not in a command line, which all accounts can read",
  );
});

test.serial('asked to isolate all tasks, it gives statuses, outputs, signals and long lines as without', async (t) => {
  const { provider } = await startRig(t, ['--isolation', 'bubblewrap']);
  const end = await provider.run(aTemplate('echo "$IN_SANDBOX"; echo err >&2; echo made > out; exit 3'), {
    outputs: [{ root: 'playpen', path: 'out' }],
  });
  t.like(end, { outcome: 'failed', exitStatus: 3, reason: 'MUT_COMMAND_FAILED' });
  t.deepEqual([text(end.standardOutput), text(end.standardError)], ['yes\n', 'err\n']);
  t.is(text(end.outputs[0]?.inline ?? Buffer.of()), 'made\n');
  t.is(text((await provider.run(aTemplate(`echo ${'x'.repeat(40_000)} | wc -c`))).standardOutput), '40001\n');
  t.regex(sayCause((await provider.run(aTemplate('kill -9 $$'))).detail), /signal 9/);
  const [replicaId = 0] = provider.place(
    aTemplate('trap "echo asked; exit 5" TERM; echo on; while :; do sleep 0.05; done'),
  );
  await until(
    () => provider.reports.some(({ started }) => started.some((one) => one.replicaId === replicaId)),
    'it starts',
  );
  provider.cancel([replicaId]);
  t.is((await provider.findEnd(replicaId)).outcome, 'cancelled');
});

test.serial(
  'where bubblewrap does not work, the machine says so, and an agent that must isolate does not start',
  async (t) => {
    const rig = await startRig(t, [], { bubblewrap: fails });
    t.is(readAttribute(rig), 'none');
    rig.provider.serveUser('eva', false);
    t.is(
      (await rig.provider.run(aTemplate('true'))).outcome,
      'succeeded',
      'unless the owner asks for more, tasks run as before',
    );
    const demanding = await startRig(t, ['--isolation', 'bubblewrap'], { bubblewrap: fails });
    t.false(demanding.agent.isRunning);
    t.regex(demanding.agent.log.join('\n'), /MUT_ISOLATION_UNAVAILABLE.*setting up uid map: Permission denied/);
    const misspelt = await startRig(t, ['--isolation', 'bwrap']);
    t.regex(misspelt.agent.log.join('\n'), /MUT_BAD_CONFIG.*expected auto, bubblewrap, account=NAME or none/);
  },
);

test.serial(
  "a sandbox that cannot be set up any more is the machine's fault, and no task can say so itself",
  async (t) => {
    const { provider, bubblewrap } = await startRig(t, ['--isolation', 'bubblewrap']);
    t.like(await provider.run(aTemplate('echo "bwrap: broken" >&2; exit 1')), {
      outcome: 'failed',
      reason: 'MUT_COMMAND_FAILED',
    });
    bubblewrap.act('bwrap', fails);
    const end = await provider.run(aTemplate('true'));
    t.like(end, { outcome: 'broken', reason: 'MUT_LAUNCH_FAILED' });
    t.regex(sayCause(end.detail), /could not be isolated: bwrap: setting up uid map/);
  },
);

test.serial("tasks of other users are refused where they could read the authority's key", async (t) => {
  const { provider, home } = await startRig(t, ['--isolation', 'none'], { hasKey: true });
  t.is(provider.hellos[0]?.facts?.onlyUserId, '', 'it says so before anything is sent');
  const theft = aTemplate(`cat ${home}/identity/ca.key`);
  provider.serveUser('ana', true);
  t.is((await provider.run(theft)).outcome, 'succeeded', 'the owner has the key anyway');
  provider.serveUser('eva', false);
  const end = await provider.run(theft);
  t.like(end, { outcome: 'broken', reason: 'MUT_AUTHORITY_EXPOSED' });
  t.is(text(end.standardOutput), '');
  t.true(sayCause(end.detail).includes('eva/ana') && sayCause(end.detail).includes('ca.key'), sayCause(end.detail));
});

test.serial('a job of another user does not choose a folder of the machine to work in', async (t) => {
  const { provider, home } = await startRig(t, ['--isolation', 'none']);
  provider.serveUser('eva', false);
  const workFolder = { path: home, inode: '1', device: '1', fileSystem: 'ef53', bootId: '', isBesideHome: true };
  t.like(await provider.run(aTemplate('touch here', { workFolder })), { outcome: 'failed', reason: 'MUT_WORK_FOLDER' });
  t.false(existsSync(path.join(home, 'here')));
});

test.serial(
  "no user gets a content of another by its hash, and what a user's tasks do to their contents hurts nobody else",
  async (t) => {
    const { provider, home } = await startRig(t, ['--isolation', 'none']);
    const secret = provider.addContent(Buffer.from(`a secret of ana ${'x'.repeat(300_000)}`));
    const inputs = [{ root: 'playpen', path: 'in', content: secret, mode: 0o644 }] as const;
    const run = (command: string): ReturnType<FakeProvider['run']> =>
      provider.run(aTemplate(command), { inputs: [...inputs] });
    provider.serveUser('ana', true);
    t.is(text((await run('head -c 15 in')).standardOutput), 'a secret of ana');
    t.is(provider.wanted.length, 1);
    // Another user knows the hash, and no broker of that user has the content.
    provider.serveUser('eva', false);
    provider.forgetContent(secret);
    const refused = await run('head -c 15 in');
    t.like(refused, { outcome: 'broken', reason: 'MUT_CONTENT_NOT_FOUND' });
    t.is(text(refused.standardOutput), '');
    t.is(provider.wanted.length, 2, 'her broker was asked');
    provider.addContent(Buffer.from(`a secret of ana ${'x'.repeat(300_000)}`));
    t.is(
      (
        await run(
          `find ${home}/agents/lab_pc/contents-of-users -type f | while read file; do chmod 600 $file; head -c ` +
            `300000 /dev/zero >$file; done; ls ${home}/agents/lab_pc/contents-of-users`,
        )
      ).outcome,
      'succeeded',
    );
    provider.serveUser('ana', true);
    t.is(text((await run('head -c 15 in')).standardOutput), 'a secret of ana');
    t.is(provider.wanted.length, 3, "the owner's is still here");
  },
);

test.serial('a provider says how agents of its allocations keep tasks apart', async (t) => {
  const bubblewrap = new FakeCommands(path.join(temporaryFolder(t), 'bin'));
  bubblewrap.act('bwrap', works);
  const grid = await Grid.start({
    clusters: [1],
    providerArgs: ['--isolation', 'bubblewrap'],
    env: { PATH: bubblewrap.path },
  });
  t.teardown(() => grid.stop());
  // A task of the owner, which an agent isolates only where it was asked to.
  const job = await grid.client.waitEnded(await grid.client.submit([taskGroup('[ "$IN_SANDBOX" = yes ]', 1)]), 120_000);
  t.is(job.finishedCount, 1);
});
