// Tasks that start in a folder of the user's: whatever becomes of them and of their agent, the folder and what is in it
// stay.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { sayCause } from '@mutirao/api/reasons';
import type { WorkFolder } from '@mutirao/core/messages';
import { describeWorkFolder } from '@mutirao/runtime/files';
import { aTemplate, FakeProvider, Program, temporaryFolder, until } from '@mutirao/testkit';

interface Rig {
  readonly provider: FakeProvider;
  readonly agent: Program;
  readonly home: string;
  /** Where tasks start. */
  readonly folder: string;
  readonly workFolder: WorkFolder;
}

async function startRig(t: ExecutionContext, { isOrdinary = true, isAllocation = false } = {}): Promise<Rig> {
  const root = temporaryFolder(t);
  const [home, folder] = [path.join(root, 'home'), path.join(root, 'my study')];
  for (const one of [home, path.join(folder, 'data')]) mkdirSync(one, { recursive: true });
  writeFileSync(path.join(folder, 'sim.sh'), 'echo "ran with $1 in $PWD"\n');
  writeFileSync(path.join(folder, 'data/precious'), 'years of work');
  const provider = new FakeProvider();
  await provider.start();
  const name = isAllocation ? ['--request', 'q1', '--provider-id', 'lab'] : ['--machine-id', 'lab/pc'];
  const agent = new Program(
    'agent',
    ['--home', home, '--provider', provider.address, '--processors', '1', ...name],
    { MUTIRAO_CREDENTIAL: FakeProvider.token },
    { isOrdinary },
  );
  t.teardown(async () => {
    await agent.kill('SIGKILL');
    await provider.stop();
  });
  await attach(t, provider, agent);
  return { provider, agent, home, folder, workFolder: await describeWorkFolder(folder, home) };
}

async function attach(t: ExecutionContext, provider: FakeProvider, agent: Program): Promise<void> {
  const count = provider.hellos.length;
  await agent.start();
  await until(() => provider.hellos.length > count || !agent.isRunning, 'the agent attaches');
  t.true(agent.isRunning, agent.log.join('\n'));
}

function requireUntouched(t: ExecutionContext, { folder, workFolder }: Rig, after: string): void {
  t.is(String(statSync(folder).ino), workFolder.inode, after);
  t.is(readFileSync(path.join(folder, 'data/precious'), 'utf8'), 'years of work', after);
  t.true(existsSync(path.join(folder, 'sim.sh')), after);
}

const output = (name: string) => ({ root: 'playpen', path: name }) as const;

test.serial('a task starts in the folder and writes there, and nothing of it is sent', async (t) => {
  const rig = await startRig(t);
  const { provider, folder, workFolder } = rig;
  const end = await provider.run(aTemplate('sh sim.sh {} | tee out-{}; touch "$PLAYPEN/scratch"', { workFolder }), {
    value: '7',
    outputs: [output('out-7')],
  });
  t.like(end, { outcome: 'succeeded', outputs: [] }, sayCause(end.detail));
  t.is(Buffer.from(end.standardOutput).toString(), `ran with 7 in ${folder}\n`);
  t.is(readFileSync(path.join(folder, 'out-7'), 'utf8'), `ran with 7 in ${folder}\n`);
  t.deepEqual(readdirSync(folder).sort(), ['data', 'out-7', 'sim.sh']);
  requireUntouched(t, rig, 'a task');
});

test.serial('an output that is not there when the command has ended fails the task', async (t) => {
  const { provider, workFolder, folder } = await startRig(t);
  const end = await provider.run(aTemplate('true', { workFolder }), { outputs: [output('out')] });
  t.like(end, { outcome: 'failed', reason: 'MUT_OUTPUT_MISSING' });
  t.true(sayCause(end.detail).includes(folder), sayCause(end.detail));
  t.like(await provider.run(aTemplate('./gone', { workFolder })), { reason: 'MUT_COMMAND_NOT_FOUND' });
});

/** Ends of tasks after which playpens are removed, some of which were made to lead into the folder. */
const actions = [
  'exit 3',
  'kill -9 $$',
  'rm -rf "$PLAYPEN"; ln -s "$PWD" "$PLAYPEN"',
  'rm -rf "$PLAYPEN"; ln -s "$PWD" "$PLAYPEN"; exit 1',
  'ln -s "$PWD" "$PLAYPEN/link"; ln -s "$PWD/data" "$PLAYPEN/data"',
  'ln data/precious "$PLAYPEN/hard"',
  'ln -s "$PWD" "$PLAYPEN/../trash/mine"',
  'chmod 555 .; exit 1',
  'cd "$PLAYPEN"; touch x',
  'rm -rf "$STORAGE"; ln -s "$PWD" "$STORAGE"',
  'rm -rf "$PLAYPEN/../trash"; ln -s "$PWD" "$PLAYPEN/../trash"',
];

for (const isOrdinary of [true, false]) {
  test.serial(
    `cleaning up after tasks, agents and hosts removes nothing of the folder, ${isOrdinary ? 'as an ordinary account' : 'as this account'}`,
    async (t) => {
      const rig = await startRig(t, { isOrdinary });
      const { provider, agent, folder, workFolder } = rig;
      for (const action of actions) {
        await provider.run(aTemplate(action, { workFolder }));
        requireUntouched(t, rig, action);
        chmodSync(folder, 0o755);
      }
      const [running = 0] = provider.place(aTemplate('touch begun; sleep 1000', { workFolder }));
      await until(() => existsSync(path.join(folder, 'begun')), 'the task runs');
      provider.cancel([running]);
      t.like(await provider.findEnd(running), { outcome: 'cancelled' });
      requireUntouched(t, rig, 'cancelling');
      provider.place(aTemplate('touch begun-too; sleep 1000', { workFolder }));
      await until(() => existsSync(path.join(folder, 'begun-too')), 'the task runs');
      await agent.kill('SIGKILL');
      await attach(t, provider, agent);
      requireUntouched(t, rig, 'killing the agent');
      await provider.run(aTemplate(actions[2] ?? '', { workFolder }));
      await agent.kill('SIGTERM');
      requireUntouched(t, rig, 'stopping the agent');
    },
  );
}

test.serial(
  'the agent of an allocation, which removes all its files at its end, leaves the folder alone',
  async (t) => {
    const rig = await startRig(t, { isAllocation: true });
    for (const action of actions) await rig.provider.run(aTemplate(action, { workFolder: rig.workFolder }));
    rig.provider.place(aTemplate('touch begun; sleep 1000', { workFolder: rig.workFolder }));
    await rig.agent.kill('SIGTERM');
    requireUntouched(t, rig, 'the end of the allocation');
    t.deepEqual(
      readdirSync(path.join(rig.home, 'agents')).filter((name) => !name.startsWith('.')),
      [],
      "the agent's own files are gone",
    );
  },
);

test.serial(
  'where the path is another folder the command does not run, and the machine keeps its standing',
  async (t) => {
    const { provider, folder, workFolder, home } = await startRig(t);
    const refused = async (changes: Partial<WorkFolder>, reason: RegExp): Promise<void> => {
      const end = await provider.run(aTemplate('touch ran', { workFolder: { ...workFolder, ...changes } }));
      t.like(end, { outcome: 'failed', reason: 'MUT_WORK_FOLDER' });
      t.regex(sayCause(end.detail), reason);
    };
    await refused({ inode: '1' }, /is not the folder of submission: it has another inode number/);
    await refused({ device: '1' }, /another file system/);
    await refused({ path: `${folder}/gone` }, /it is not there/);
    await refused({ path: `${folder}/sim.sh` }, /not a folder/);
    const own = await describeWorkFolder(path.join(home, 'agents'), home);
    await refused(own, /agents' own folders/);
    t.false(existsSync(path.join(folder, 'ran')));
  },
);
