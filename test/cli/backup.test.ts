// A back-up of a home folder, and its way back, with real processes.
import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
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

/** The back-up again, to be changed. */
function copyOf(name: string): string {
  const copy = join(folder, name);
  cpSync(backup, copy, { recursive: true });
  return copy;
}

test.serial('a back-up of a medium without modes becomes files of the user alone', async (t) => {
  const copy = copyOf('read-only');
  for (const path of listFiles(copy)) chmodSync(join(copy, path), 0o444);
  const target = join(folder, 'home-of-read-only');
  const { status, err } = await mutirao('restore', copy, '--home', target);
  t.is(status, 0, err);
  for (const path of listFiles(target)) t.is(statSync(join(target, path)).mode & 0o777, 0o600, path);
  t.true(existsSync(join(target, 'broker', 'journal.sqlite-last')));
});

test.serial('a restore that fails half-way leaves the home folder as it was', async (t) => {
  const copy = copyOf('half');
  const target = join(folder, 'home-of-half');
  mkdirSync(join(target, 'sites'), { recursive: true, mode: 0o700 });
  writeFileSync(join(target, 'sites', 'mine'), 'x');
  // Files of this process may not be larger, as if the disk were full behind the journal.
  const size = statSync(join(copy, 'home', 'broker', 'journal.sqlite')).size;
  const manifest = join(copy, 'backup.json');
  const large = Buffer.alloc(size + 4096, 'x');
  mkdirSync(join(copy, 'home', 'sites'));
  writeFileSync(join(copy, 'home', 'sites', 'large'), large);
  const { files, ...others } = JSON.parse(readFileSync(manifest, 'utf8')) as { files: readonly object[] };
  const added = { path: 'sites/large', size: large.length, sha256: createHash('sha256').update(large).digest('hex') };
  writeFileSync(manifest, JSON.stringify({ ...others, files: [...files, added] }));
  const limited = ['prlimit', `--fsize=${size + 1024}`, process.execPath, bin];
  const failed = spawnSync('env', [...limited, 'restore', copy, '--replace', '--home', target], { cwd: folder });
  t.not(failed.status, 0);
  t.deepEqual(readdirSync(target), ['sites'], failed.stderr.toString());
  t.is(readFileSync(join(target, 'sites', 'mine'), 'utf8'), 'x');
  const { status, err } = await mutirao('restore', copy, '--replace', '--home', target);
  t.is(status, 0, err);
  t.deepEqual(readdirSync(target).sort(), ['broker', 'replaced', 'sites', 'token']);
});

test.serial(
  'a restore takes nothing from one that was interrupted, and moves nothing where it cannot move all',
  async (t) => {
    const copy = copyOf('interrupted');
    const target = join(folder, 'home-of-interrupted');
    mkdirSync(join(target, 'restore.partial', 'sites'), { recursive: true, mode: 0o700 });
    writeFileSync(join(target, 'restore.partial', 'sites', 'old'), 'x');
    mkdirSync(join(target, 'sites'));
    writeFileSync(join(target, 'sites', 'mine'), 'x');
    writeFileSync(join(target, 'replaced'), 'a file in the way');
    t.not((await mutirao('restore', copy, '--replace', '--home', target)).status, 0);
    t.deepEqual(readdirSync(target).sort(), ['replaced', 'sites']);
    t.is(readFileSync(join(target, 'sites', 'mine'), 'utf8'), 'x');
    rmSync(join(target, 'replaced'));
    const { status, err } = await mutirao('restore', copy, '--replace', '--home', target);
    t.is(status, 0, err);
    t.deepEqual(readdirSync(target).sort(), ['broker', 'replaced', 'token']);
  },
);

test.serial('a back-up puts nothing into a home folder but what one holds', async (t) => {
  for (const [name, path, says] of [
    ['planted', 'grid.json', /names grid\.json, which no back-up of this release contains/],
    ['planted-deeper', 'providers/lab/journal.sqlite', /names providers\/lab\/journal\.sqlite/],
    ['above', '../grid.json', /names \.\.\/grid\.json; expected paths below the home folder/],
  ] as const) {
    const copy = copyOf(name);
    const manifest = join(copy, 'backup.json');
    writeFileSync(
      manifest,
      readFileSync(manifest, 'utf8').replace('"path": "token"', `"path": ${JSON.stringify(path)}`),
    );
    const target = join(folder, `home-of-${name}`);
    const { status, err } = await mutirao('restore', copy, '--home', target);
    t.not(status, 0);
    t.regex(err, says);
    t.deepEqual(readdirSync(target), []);
  }
  const copy = copyOf('lacks');
  rmSync(join(copy, 'home', 'broker', 'journal.sqlite-last'));
  t.regex((await mutirao('restore', copy, '--home', join(folder, 'l'))).err, /MUT_JOURNAL_CORRUPT.*lacks .*-last/);
});

function listFiles(within: string): string[] {
  return readdirSync(within, { recursive: true, encoding: 'utf8' }).filter((path) =>
    statSync(join(within, path)).isFile(),
  );
}

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
