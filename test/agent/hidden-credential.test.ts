// What a resource manager puts into the environment of an agent is where none of its tasks can read it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { aTemplate, FakeProvider, Program, temporaryFolder, until } from '@mutirao/testkit';

/** A process and all that it has started, as far as that is still below it. */
function getFamily(pid: number): number[] {
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), getParent(name)]),
  );
  const family = [pid];
  for (const one of family) family.push(...[...parents].filter(([, parent]) => parent === one).map(([child]) => child));
  return family;
}

function getParent(name: string): number {
  return Number(/^PPid:\t(\d+)$/m.exec(readOr(`/proc/${name}/status`))?.[1] ?? 0);
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // It has ended.
  }
}

for (const [what, args] of [
  ['an allocation', ['--provider-id', 'c1', '--request', 'q1']],
  ['a machine', ['--machine-id', 'lab/pc']],
] as const) {
  test.serial(
    `the credential of ${what} is in no environment and no arguments of its agent and of what that starts, and in no file`,
    async (t) => {
      const home = temporaryFolder(t);
      const provider = new FakeProvider();
      await provider.start();
      const agent = new Program(
        'agent',
        ['--home', home, '--provider', provider.address, '--processors', '1', ...args],
        { MUTIRAO_CREDENTIAL: FakeProvider.token, MUTIRAO_PROCESS_INDEX: '0' },
      );
      t.teardown(async () => {
        await agent.kill('SIGKILL');
        await provider.stop();
      });
      await agent.start();
      await until(() => provider.isAttached, 'the agent attaches');
      provider.place(aTemplate('sleep 30'));
      await until(() => provider.reports.some(({ started }) => started.length > 0), 'a task runs');
      const family = getFamily(agent.pid);
      t.true(family.length > 3, 'the agent, its watchdog, its launcher and the task are looked at');
      for (const pid of family)
        t.false(
          `${readOr(`/proc/${pid}/environ`)}\0${readOr(`/proc/${pid}/cmdline`)}`.includes(FakeProvider.token),
          readOr(`/proc/${pid}/cmdline`),
        );
      const files = readdirSync(home, { withFileTypes: true, recursive: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name));
      t.deepEqual(
        files.filter((file) => readOr(file).includes(FakeProvider.token)),
        [],
      );
      const own = provider.secrets.at(-1) ?? '';
      t.is(
        files.some((file) => readOr(file).includes(own)),
        what === 'a machine',
        'what the agent made itself is in a file only where it is needed after a restart',
      );
    },
  );
}
