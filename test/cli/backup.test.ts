// A back-up of a home folder, and its way back, with real processes.
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const bin = fileURLToPath(new URL('../../packages/cli/bin/mutirao.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'mutirao-backup-'));
const home = join(folder, 'home');
const backup = join(folder, 'backup');

function mutirao(
  ...args: readonly string[]
): Promise<{ readonly status: number; readonly out: string; readonly err: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [bin, ...args],
      { cwd: folder, env: { ...process.env, MUTIRAO_HOME: home } },
      (_error, out, err) => {
        resolve({ status: child.exitCode ?? -1, out, err });
      },
    );
  });
}

function up(): ReturnType<typeof mutirao> {
  return mutirao('up', '--detach', '--clusters', '0', '--machines', '1', '--no-web');
}

test.after.always(async () => {
  await mutirao('down');
  rmSync(folder, { recursive: true, force: true });
});

test.serial('a home folder whose broker runs is not copied, and nothing of the attempt is left', async (t) => {
  t.is((await up()).status, 0);
  t.is((await mutirao('job', 'submit', '--array', '1-3', '--wait', '--', 'echo {}')).status, 0);
  const { status, err } = await mutirao('backup', backup);
  t.true(status !== 0 && err.includes('MUT_ALREADY_RUNNING'), err);
  t.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('backup')),
    [],
  );
});

test.serial(
  'what was backed up is there after the restore, and the number of a job that was submitted since is not given again',
  async (t) => {
    await mutirao('down');
    const made = await mutirao('backup', backup, '--json');
    t.is(made.status, 0, made.err);
    t.like(JSON.parse(made.out), { folder: backup, replaced_folder: null });
    t.is((await up()).status, 0);
    t.regex((await mutirao('job', 'submit', '--wait', '--', 'true')).out, /^Job 2 /);
    await mutirao('down');
    const refused = await mutirao('restore', backup);
    t.true(refused.status !== 0 && /--replace/.test(refused.err), refused.err);
    const restored = await mutirao('restore', backup, '--replace', '--json');
    t.is(restored.status, 0, restored.err);
    t.true(
      existsSync(
        join((JSON.parse(restored.out) as { replaced_folder: string }).replaced_folder, 'broker', 'journal.sqlite'),
      ),
    );
    t.is((await up()).status, 0);
    t.is((await mutirao('task', 'output', '1', '0-2')).out, '1\n2\n3\n');
    t.regex((await mutirao('job', 'submit', '--wait', '--', 'true')).out, /^Job 1000002 finished/);
  },
);

test.serial('a back-up in which a file has changed puts nothing back', async (t) => {
  await mutirao('down');
  const journal = join(backup, 'home', 'broker', 'journal.sqlite');
  const bytes = readFileSync(journal);
  bytes.fill(0x5a, bytes.length - 100);
  writeFileSync(journal, bytes);
  const { status, err } = await mutirao('restore', backup, '--replace');
  t.true(status !== 0 && /MUT_JOURNAL_CORRUPT.*broker\/journal\.sqlite of the back-up has changed/.test(err), err);
  t.true(existsSync(join(home, 'broker', 'journal.sqlite')));
});
