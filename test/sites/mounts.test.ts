// Real mounts, in a space of mounts of their own: what a task leaves mounted survives its agent, each way to remove
// folders and `mutirao down`.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { removalScript } from '@mutirao/runtime/files';
import { removalProgram } from '@mutirao/runtime/processes';
import { temporaryFolder } from '@mutirao/testkit';

const cli = fileURLToPath(new URL('../../packages/cli/bin/mutirao.js', import.meta.url));

/** Runs a script where its mounts are seen by nobody else and go with it. */
function withMounts(script: string, args: readonly string[], env: Record<string, string> = {}): string {
  return execFileSync('unshare', ['--mount', '--propagation', 'private', 'sh', '-euc', script, 'script', ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

interface Folders {
  readonly folder: string;
  /** What is mounted: on the same device as the folder. */
  readonly data: string;
}

function prepare(t: ExecutionContext): Folders {
  const root = temporaryFolder(t);
  const [folder, data] = [join(root, 'a folder'), join(root, 'data')];
  mkdirSync(join(data, 'sub'), { recursive: true });
  writeFileSync(join(data, 'sub', 'precious'), 'precious');
  writeFileSync(join(data, 'file'), 'precious too');
  mkdirSync(join(folder, 'in', 'mnt'), { recursive: true });
  mkdirSync(join(folder, 'in', 'tmpfs'));
  mkdirSync(join(folder, 'goes', 'with it'), { recursive: true });
  writeFileSync(join(folder, 'in', 'bound'), '');
  return { folder, data };
}

const mountAll =
  'mount --bind "$2" "$1/in/mnt"; mount --bind "$2/file" "$1/in/bound"; mount -t tmpfs none "$1/in/tmpfs"; ' +
  'touch "$1/in/tmpfs/x";';

function checkKept(t: ExecutionContext, { data }: Folders): void {
  t.is(readFileSync(join(data, 'sub', 'precious'), 'utf8'), 'precious');
  t.is(readFileSync(join(data, 'file'), 'utf8'), 'precious too');
}

for (const shell of ['dash', 'bash']) {
  test.serial(
    `${shell}: the script that removes folders on other hosts stays out of what is mounted, says so, and removes the rest`,
    (t) => {
      const folders = prepare(t);
      const said = withMounts(
        `${mountAll} ${shell} -c "$3
remove_tree \\"\\$0\\" || echo something stays" "$1" 2>&1; ls "$1/in/tmpfs"`,
        [folders.folder, folders.data, removalScript],
      );
      t.regex(said, /a folder\/in\/mnt: something is mounted there/);
      t.regex(said, /something stays\nx\n$/);
      t.false(existsSync(join(folders.folder, 'goes')));
      checkKept(t, folders);
      execFileSync(shell, ['-c', `${removalScript}\nremove_tree "$0"`, folders.folder]);
      t.false(existsSync(folders.folder), 'where nothing is mounted any more it goes');
    },
  );
}

test.serial('the program of a watchdog stays out of what is mounted, on the same device too', (t) => {
  const folders = prepare(t);
  const [node, ...args] = removalProgram();
  const left = withMounts(
    `${mountAll} dir=$1; shift 2; "$@" "$dir" || exit 1; find "$(dirname "$dir")/.removed-a folder" -mindepth 1 | sort`,
    [folders.folder, folders.data, node, ...args],
  );
  t.regex(left, /in\/mnt\/sub\/precious/);
  t.notRegex(left, /goes/);
  checkKept(t, folders);
});

test.serial('what a task leaves mounted in its folder survives the task, the agent and mutirao down', (t) => {
  const { data } = prepare(t);
  const home = join(temporaryFolder(t), 'home');
  const script = `
trap '"$1" "$2" down >/dev/null' EXIT
"$1" "$2" up -d --clusters 0 --machines 1 >/dev/null
"$1" "$2" job submit --wait -- sh -c "mkdir mnt; nsenter -t $$ -m mount --bind '$3' \\$PWD/mnt" >/dev/null
"$1" "$2" job submit --wait -- sh -c 'ls -A' >/dev/null
"$1" "$2" down >/dev/null
cat "$MUTIRAO_HOME"/logs/*`;
  const logs = withMounts(script, [process.execPath, cli, data], { MUTIRAO_HOME: home });
  t.regex(logs, /cannot remove files of a task/);
  t.regex(logs, /is mounted there, and may not be ours/);
  t.is(readFileSync(join(data, 'sub', 'precious'), 'utf8'), 'precious');
  t.deepEqual(readdirSync(data).sort(), ['file', 'sub']);
});
