import { existsSync, readdirSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { accountHome } from '../files/account.ts';
import { runCommand } from './run-command.ts';
import { ProgramFinder, quoteWord } from './shell-words.ts';

/** What every sandboxed task of one agent has in common. */
export interface Sandbox {
  /** Path of bubblewrap's program. */
  readonly program: string;
  /** Folders that look empty inside, unless something below them is shown again. */
  readonly hidden: readonly string[];
  /** Programs or folders in hidden places that tasks may read. */
  readonly readable: readonly string[];
  /** Folders of the host that tasks may read and write as their account may. */
  readonly writable: readonly string[];
  /** Folders that are replaced by the task's own temporary folder. */
  readonly temporary: readonly string[];
}

/** What one sandboxed task may write. All paths are absolute and without links. */
export interface SandboxFolders {
  /** The task's own folder for /tmp and the like. */
  readonly temporary: string;
  /** The other folders that it may read and write. */
  readonly writable: readonly string[];
  /** Where it starts. */
  readonly start: string;
}

/** What decides how a sandbox looks. */
export interface SandboxOptions {
  /** Folders that no task may see. Those that do not exist are left out. */
  readonly hidden: readonly string[];
  /** Folders of the host that tasks may write. */
  readonly writable: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Parts of the system that programs need. A folder in or above one of them cannot be hidden. */
const systemFolders = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/etc', '/dev', '/proc', '/sys'];
/**
 * Name lookups need these. Everything else in /run (buses, container engines, munge, agents of ssh) would be a way out.
 */
const runFolders = ['/run/systemd/resolve', '/run/NetworkManager/resolv.conf', '/run/resolvconf', '/run/nscd'];
/** Accelerators and fast networks. They are the machine's, not a user's. */
const devices = /^(?:nvidia|dri$|kfd$|infiniband$|knem$|xpmem$|cuda)/;

/**
 * Describes the sandbox of this host's tasks; undefined where bubblewrap is not installed. Cost: a few calls of the
 * file system.
 */
export function describeSandbox({ hidden, writable, environment }: SandboxOptions): Sandbox | undefined {
  const program = new ProgramFinder(environment['PATH'] ?? '/usr/bin:/bin').find('bwrap');
  if (program === undefined) return undefined;
  const temporary = distinct(['/tmp', '/var/tmp', environment['TMPDIR'] ?? ''].flatMap(realFolder)).filter(
    (folder) => !isInSystem(folder),
  );
  const covered = [...temporary, '/run'];
  const homes = [accountHome() ?? '', environment['HOME'] ?? ''];
  const folders = distinct([...homes, ...hidden].flatMap(realFolder)).filter(
    (folder) => !isInSystem(folder) && !isBelowAny(folder, covered),
  );
  const node = realFolder(path.dirname(process.execPath));
  return {
    program,
    temporary,
    hidden: folders.filter(
      (folder) =>
        !isBelowAny(
          folder,
          folders.filter((other) => other !== folder),
        ),
    ),
    readable: node.filter((folder) => isBelowAny(folder, [...folders, ...covered])),
    writable: distinct(writable.flatMap(realFolder)),
  };
}

/** The words that start a task in a sandbox, up to and without the `--` before its command. */
export function sandboxWords(sandbox: Sandbox, folders: SandboxFolders): string[] {
  // Without a session of its own a task could stop or kill, by its process group, the launcher and bubblewrap outside.
  const words = [
    sandbox.program,
    '--new-session',
    '--unshare-user-try',
    '--unshare-pid',
    '--unshare-ipc',
    '--as-pid-1',
    '--die-with-parent',
    '--ro-bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    '--tmpfs',
    '/run',
  ];
  const show = (option: string, place: string): void => {
    words.push(option, place, place);
  };
  for (const place of runFolders) show('--ro-bind-try', place);
  for (const device of listDevices()) show('--dev-bind-try', `/dev/${device}`);
  for (const folder of sandbox.hidden) words.push('--tmpfs', folder);
  for (const folder of sandbox.temporary) words.push('--bind', folders.temporary, folder);
  for (const place of sandbox.readable) show('--ro-bind', place);
  for (const folder of [...sandbox.writable, ...folders.writable]) show('--bind', folder);
  words.push('--chdir', folders.start);
  return words;
}

/** The same in the syntax of a shell. */
export function sandboxLine(sandbox: Sandbox, folders: SandboxFolders): string {
  return sandboxWords(sandbox, folders).map(quoteWord).join(' ');
}

/**
 * Holds assignments in shell syntax that are a task's own. A loader's variables must not reach bubblewrap itself, which
 * runs outside the sandbox.
 */
export const sandboxVariable = 'MUTIRAO_TASK_ENVIRONMENT';

/**
 * The first process inside a sandbox, which runs the words that follow as its child.
 *
 * When the first process of a process tree of its own ends, the kernel ends all others before its end is reported; so
 * nothing outlives a task. A signal
 * that such a process does not handle does not reach it, which is why it is this shell and not the task. The task's
 * standard error is descriptor 9: what
 * bubblewrap says itself stays apart.
 */
const firstScript =
  `exec 2>/dev/null;[ -z "$${sandboxVariable}" ]||eval "export $${sandboxVariable}";unset ${sandboxVariable};"$@" ` +
  '2>&9 9>&-;exit "$?"';

/** The words between a sandbox and a task's command. @param name that the shell calls itself in messages. */
export function firstWords(name: string): string[] {
  return ['--', '/bin/sh', '-c', firstScript, name];
}

const probeTimeMax = 10_000;

/**
 * Tries a sandbox. Empty when it works, else why it does not, in one line. Cost: starts a few processes. @param folders
 * that exist. @param shell the words of a shell that starts it, as of another account.
 */
export async function trySandbox(
  sandbox: Sandbox,
  folders: SandboxFolders,
  shell: readonly string[] = ['/bin/sh'],
): Promise<string> {
  const [command = '', ...args] = shell;
  const script = '[ -r /proc/self/stat ] && : >"$1" && rm "$1" && echo works';
  const words = [
    ...sandboxWords(sandbox, folders),
    '--',
    '/bin/sh',
    '-c',
    script,
    'sh',
    path.join(folders.start, '.mutirao-try'),
  ];
  const { status, stdout, stderr, startError } = await runCommand({
    command,
    args: [...args, '-c', 'exec "$@"', 'sh', ...words],
    env: { PATH: '/usr/bin:/bin' },
    deadlineMs: probeTimeMax,
  });
  if (status === 0 && stdout.toString() === 'works\n') return '';
  const said = [startError, ...stderr.toString().split('\n')].find((line) => line.trim() !== '');
  return (said ?? `it ended with status ${status}`).slice(0, 300);
}

function realFolder(folder: string): string[] {
  if (!path.isAbsolute(folder) || !existsSync(folder)) return [];
  const real = realpathSync(folder);
  return real === '/' ? [] : [real];
}

function isInSystem(folder: string): boolean {
  return systemFolders.some((system) => isBelowAny(folder, [system]) || isBelowAny(system, [folder]));
}

/** Whether a folder is one of these, or in one. */
function isBelowAny(folder: string, others: readonly string[]): boolean {
  return others.some((other) => folder === other || folder.startsWith(`${other}/`));
}

function distinct(words: readonly string[]): string[] {
  return [...new Set(words)];
}

function listDevices(): string[] {
  try {
    return readdirSync('/dev').filter((name) => devices.test(name));
  } catch {
    return [];
  }
}
