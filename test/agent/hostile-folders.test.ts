// Tasks that spoil the folders of their agent. Modes of files hold in these tests also where they run as root.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { sayCause } from '@mutirao/api/reasons';
import { aTemplate, FakeProvider, Program, temporaryFolder, until } from '@mutirao/testkit';

interface Rig {
  readonly provider: FakeProvider;
  readonly agent: Program;
  /** All files of the agent. */
  readonly folder: string;
}

async function startRig(t: ExecutionContext, prepare: (folder: string) => void = () => undefined): Promise<Rig> {
  const home = temporaryFolder(t);
  const folder = path.join(home, 'agents', 'lab_pc');
  prepare(folder);
  const provider = new FakeProvider();
  await provider.start();
  const args = ['--home', home, '--provider', provider.address, '--machine-id', 'lab/pc', '--processors', '1'];
  const agent = new Program('agent', args, { MUTIRAO_CREDENTIAL: FakeProvider.token }, { isOrdinary: true });
  t.teardown(async () => {
    await agent.kill('SIGKILL');
    await provider.stop();
  });
  await startAgent(t, { provider, agent, folder });
  return { provider, agent, folder };
}

async function startAgent(t: ExecutionContext, { provider, agent }: Rig): Promise<void> {
  const count = provider.hellos.length;
  await agent.start();
  await until(() => provider.hellos.length > count || !agent.isRunning, 'the agent attaches');
  t.true(agent.isRunning, agent.log.join('\n'));
}

/** What a task may do to the folders above and around it, by accident as a rule. */
const actions = [
  'chmod 555 .',
  'chmod 000 .',
  'mkdir -p go/x@v1/y && touch go/x@v1/y/z && chmod -R a-w go',
  'rm -rf "$PLAYPEN"',
  'mv "$PLAYPEN" "$PLAYPEN-moved"',
  'cd / && rm -rf "$PLAYPEN" && ln -s /etc "$PLAYPEN"',
  'cd / && rm -rf "$PLAYPEN" && touch "$PLAYPEN"',
  'chmod 555 ..',
  'chmod 000 ..',
  'chmod 555 ../..',
  'rm -rf ../trash',
  'rm -rf ../trash; touch ../trash',
  'touch x; chmod 000 ../trash',
  'rm -rf ../trash; ln -s /nowhere ../trash; touch x',
  'cd ../.. && rm -rf playpens',
  'cd ../.. && rm -rf playpens && touch playpens',
  'cd ../.. && rm -rf playpens && ln -s /nowhere playpens',
  'rm -rf "$STORAGE"',
  'rm -rf "$STORAGE" && touch "$STORAGE"',
  'chmod 000 "$STORAGE"',
  'rm -rf "$STORAGE/.."',
  'rm -rf "$STORAGE/.." && touch "$(dirname "$STORAGE")"',
  'rm -rf ../../contents',
  'rm -rf ../../contents/tmp',
  'chmod 000 ../../contents',
  'rm -rf ../../gangs',
  'mkdir "$(printf "bad\\377name")" && touch "$(printf "bad\\377name/x")"',
  'for i in 1 2 3 4 5 6 7 8 9; do n="$n$n-123456789012345678901234567890"; mkdir -p "$(echo "$n" | cut -c ' +
    '1-200)"; done',
] as const;

test.serial(
  'whatever a task does to the folders of its agent, the next one finds a fresh folder, its storage and its inputs',
  async (t) => {
    const { provider, agent } = await startRig(t);
    for (const [index, action] of actions.entries()) {
      await provider.run(aTemplate(action));
      const [kept, put] = [
        provider.addContent(Buffer.from(`kept ${index}`)),
        provider.addContent(Buffer.from(`put ${index}`)),
      ];
      const inputs = [
        { root: 'storage' as const, path: 'kept', content: kept, mode: 0o644 },
        { root: 'playpen' as const, path: 'put', content: put, mode: 0o644 },
      ];
      const end = await provider.run(
        aTemplate('ls -A; stat -c %a .; cat put "$STORAGE/kept"; touch "$STORAGE/more" more'),
        { inputs },
      );
      t.is(
        `${Buffer.from(end.standardOutput).toString()}${Buffer.from(end.standardError).toString()}`,
        `put\n700\nput ${index}kept ${index}`,
        `${action}: ${end.reason} ${sayCause(end.detail)}`,
      );
      t.true(agent.isRunning, `${action} ended the agent:\n${agent.log.slice(-5).join('\n')}`);
    }
  },
);

test.serial('what a task made read-only is removed when it has ended, and when its agent stops', async (t) => {
  const { provider, agent, folder } = await startRig(t);
  const action = aTemplate('mkdir -p go/x@v1/y && touch go/x@v1/y/z && chmod -R a-w go && chmod 000 .');
  await provider.run(action);
  await until(
    () => readdirSync(path.join(folder, 'playpens', 'trash')).length === 0,
    'the folder of the task is removed',
  );
  t.true(existsSync(path.join(folder, 'playpens')));
  provider.place(aTemplate('mkdir -p go/x && chmod -R a-w go && touch ../../begun && sleep 100'), [{}]);
  await until(() => existsSync(path.join(folder, 'begun')), 'the task runs');
  await agent.kill('SIGTERM');
  t.false(existsSync(path.join(folder, 'playpens')));
});

test.serial('an agent starts over leftovers of any kind, and removes those that it can', async (t) => {
  const rig = await startRig(t, (folder) => {
    mkdirSync(path.join(folder, 'playpens', 'trash', '1', 'locked', 'deep'), { recursive: true });
    mkdirSync(path.join(folder, 'playpens', '0'), { mode: 0 });
    mkdirSync(path.join(folder, 'playpens-1'), { mode: 0 });
    mkdirSync(path.join(folder, 'launchers', 'in-0'), { recursive: true, mode: 0o500 });
    mkdirSync(path.join(folder, 'contents', 'tmp', '1'), { recursive: true, mode: 0o500 });
    writeFileSync(path.join(folder, 'gangs'), '');
  });
  t.is((await rig.provider.run(aTemplate('mkdir -p x && chmod 0 ../trash x .'))).outcome, 'succeeded');
  const [running = 0] = rig.provider.place(
    aTemplate('mkdir -p go/x && chmod -R a-w go && touch ../../begun && sleep 100'),
    [{}],
  );
  await until(() => existsSync(path.join(rig.folder, 'begun')), `replica ${running} runs`);
  await rig.agent.kill('SIGKILL');
  await startAgent(t, rig);
  t.is((await rig.provider.run(aTemplate('ls -A'))).outcome, 'succeeded');
  t.deepEqual(readdirSync(path.join(rig.folder, 'playpens')).sort(), ['0', 'trash']);
  t.deepEqual(
    readdirSync(rig.folder).filter((name) => /-\d+$/.test(name)),
    [],
  );
});
