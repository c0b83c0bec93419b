import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { runCommand } from '@mutirao/runtime/processes';
import { isAlive, temporaryFolder, until } from '@mutirao/testkit';
import { endScript, findScript, startScript, waitScript } from '../../../src/machines/ssh-scripts.ts';

interface Host {
  readonly folder: string;
  /** What `agent.pid` holds. */
  readonly note: () => string;
  readonly run: (script: readonly string[]) => Promise<string>;
}

/** A machine whose login has a home of its own. */
function aHost(t: ExecutionContext): Host {
  const home = temporaryFolder(t);
  const folder = join(home, 'machines/pc');
  return {
    folder,
    note: () => readFileSync(join(folder, 'agent.pid'), 'utf8').trim(),
    run: async (script) => {
      const { stdout, stderr } = await runCommand({
        command: '/bin/sh',
        args: ['-c', ...script],
        env: { ...process.env, HOME: home },
        input: 'credential\n\n',
        deadlineMs: 15_000,
      });
      return `${stdout.toString()}${stderr.toString()}`.trim();
    },
  };
}

test('an agent is started in a folder for its user alone, found again, and ended', async (t) => {
  const { folder, run, note } = aHost(t);
  t.is(await run(findScript('machines/pc')), `mutirao: ${folder}`);
  const pid = Number(
    (await run(startScript({ folder: 'machines/pc', command: ['sleep', '60'] }))).replace('mutirao: ', ''),
  );
  t.teardown(() => {
    if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  });
  t.is(statSync(folder).mode & 0o777, 0o700);
  t.is(await run(findScript('machines/pc')), `mutirao: ${folder} alive ${pid} socket`);
  t.regex(note(), /^\d+ \S+ socket \d+$/);
  await run(endScript('machines/pc', false));
  await until(() => !isAlive(pid), 'it has ended');
  t.is(await run(findScript('machines/pc')), `mutirao: ${folder}`);
});

test('another process with the number of an agent that is gone is neither taken for it nor ended', async (t) => {
  const { folder, run, note } = aHost(t);
  const pid = Number(
    (await run(startScript({ folder: 'machines/pc', command: ['sleep', '60'] }))).replace('mutirao: ', ''),
  );
  t.teardown(() => {
    process.kill(pid, 'SIGKILL');
  });
  const [number, boot, door, began] = note().split(' ');
  writeFileSync(join(folder, 'agent.pid'), `${number} ${boot} ${door} ${Number(began) - 1}\n`);
  t.is(await run(findScript('machines/pc')), `mutirao: ${folder}`);
  await run(waitScript('machines/pc', String(pid)));
  await run(endScript('machines/pc', false));
  t.true(isAlive(pid));
});

test('the agent of a former release, of which the start was not noted, is found with the port that it dials', async (t) => {
  const { folder, run } = aHost(t);
  await run(findScript('machines/pc'));
  writeFileSync(
    join(folder, 'agent.pid'),
    `${process.pid} ${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}. 4711\n`,
  );
  t.is(await run(findScript('machines/pc')), `mutirao: ${folder} alive ${process.pid} 4711`);
});

test('a script that waits for an agent ends when nobody reads any more, though the agent lives', async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(
    join(folder, 'agent.pid'),
    `${process.pid} ${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}. socket\n`,
  );
  // The reader goes after the first line; what the waiter does then is what it does when the connection breaks.
  const { isTimedOut, stdout } = await runCommand({
    command: '/bin/sh',
    args: ['-c', '/bin/sh -c "$@" 2>&1 >/dev/null | head -n 1', 'reader', ...waitScript(folder, String(process.pid))],
    deadlineMs: 15_000,
  });
  t.false(isTimedOut);
  t.is(stdout.toString(), '.\n');
});
