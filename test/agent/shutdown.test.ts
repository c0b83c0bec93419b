// What a manager, or a host that shuts down, does to an allocation: every process has the signal, tasks before their
// agent.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { aTemplate, FakeProvider, Program, temporaryFolder, until } from '@mutirao/testkit';

interface Rig {
  readonly provider: FakeProvider;
  readonly agent: Program;
}

async function startRig(t: ExecutionContext, ...args: readonly string[]): Promise<Rig> {
  const provider = new FakeProvider();
  await provider.start();
  const agent = new Program(
    'agent',
    ['--home', temporaryFolder(t), '--provider', provider.address, '--processors', '8', ...args],
    { MUTIRAO_CREDENTIAL: FakeProvider.token },
  );
  t.teardown(async () => {
    await agent.kill('SIGKILL');
    await provider.stop();
  });
  await agent.start();
  await until(() => provider.isAttached || !agent.isRunning, 'the agent attaches');
  return { provider, agent };
}

/** All that descends from a process, those that were started last first. */
function getDescendants(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      continue; // It has ended meanwhile.
    }
  }
  const found = [pid];
  for (let index = 0; index < found.length; index++)
    for (const [child, parent] of parents) if (parent === found[index]) found.push(child);
  return found.slice(1).reverse();
}

function signalAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGTERM');
    } catch {
      continue; // What it waited for was signalled before it, and it has ended.
    }
  }
}

/** The commands whose ends look like results when a signal ends what they wait for. */
const commands = [
  'sleep 50; echo finished',
  'trap "exit 0" TERM; sleep 50 & wait; echo finished',
  'sleep 50 || exit 3',
  'exec sleep 50',
];

async function startTasks({
  provider,
  agent,
}: Rig): Promise<{ readonly ids: readonly number[]; readonly pid: number }> {
  const ids = commands.flatMap((command) => provider.place(aTemplate(command), [{}, {}]));
  const { pid = 0 } = agent;
  const sleeps = (): number => getDescendants(pid).filter((one) => readName(one) === 'sleep').length;
  await until(() => sleeps() === ids.length, 'all tasks sleep');
  return { ids, pid };
}

function readName(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return '';
  }
}

test.serial(
  'nothing that ends with its allocation counts as a result or a failure, though the agent has its signal later than the tasks',
  async (t) => {
    // Longer than any delay of this test on a busy machine.
    const rig = await startRig(t, '--request', 'q1', '--provider-id', 'lab', '--end-hold', '30s');
    const { ids, pid } = await startTasks(rig);
    signalAll(getDescendants(pid));
    // As long as a manager on a busy node may need for its round.
    await pause(100);
    process.kill(pid, 'SIGTERM');
    for (const id of ids) t.like(await rig.provider.findEnd(id), { outcome: 'broken', reason: 'MUT_AGENT_STOPPED' });
  },
);

test.serial('nothing that ends with a host that shuts down counts as a result or a failure', async (t) => {
  const rig = await startRig(t, '--machine-id', 'lab/pc');
  const { ids, pid } = await startTasks(rig);
  // A hundredth of the run time is what ends are held back for there.
  await pause(2000);
  // All have the signal at one instant, also where this test has to wait for a processor between two of its calls.
  process.kill(pid, 'SIGSTOP');
  signalAll([...getDescendants(pid), pid]);
  process.kill(pid, 'SIGCONT');
  for (const id of ids) t.like(await rig.provider.findEnd(id), { outcome: 'broken', reason: 'MUT_AGENT_STOPPED' });
});

test.serial(
  'an allocation that is killed reports none of the tasks that were killed just before their agent',
  async (t) => {
    const rig = await startRig(t, '--request', 'q1', '--provider-id', 'lab');
    const { ids, pid } = await startTasks(rig);
    // The agent must not run between two of these calls, however long a busy machine keeps this test waiting.
    process.kill(pid, 'SIGSTOP');
    for (const one of [...getDescendants(pid).filter((task) => readName(task) === 'sleep'), pid])
      process.kill(one, 'SIGKILL');
    await until(() => !rig.agent.isRunning, 'the agent is gone');
    t.deepEqual(
      rig.provider.reports.flatMap(({ ended }) => ended).filter(({ replicaId }) => ids.includes(replicaId)),
      [],
    );
  },
);

test.serial(
  'results are reported within half a second in an allocation, and at once on a machine of its own',
  async (t) => {
    const allocation = await startRig(t, '--request', 'q1', '--provider-id', 'lab');
    t.is((await allocation.provider.run(aTemplate('true'))).outcome, 'succeeded');
    t.is(allocation.provider.hellos[0]?.facts?.reportDelayMs, 300);
    const own = await startRig(t, '--machine-id', 'lab/pc');
    t.is((await own.provider.run(aTemplate('true'))).outcome, 'succeeded');
    t.is(own.provider.hellos[0]?.facts?.reportDelayMs, undefined);
  },
);
