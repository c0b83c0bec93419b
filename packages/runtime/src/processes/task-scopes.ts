import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { randomBytes } from 'node:crypto';
import { accountName } from '../files/account.ts';
import { runCommand } from './run-command.ts';
import { ProgramFinder } from './shell-words.ts';

/** Where the user manager of systemd makes scopes, each a control group of its own. */
export interface TaskScopes {
  /** Path of systemd-run. */
  readonly program: string;
  /** The control group in which scopes are made, as a folder. */
  readonly folder: string;
}

/** One scope: the processes that a launcher has started, whatever they did since. */
export interface TaskScope {
  /** What to put before a command so that it runs in the scope, under the same process id. */
  readonly prefix: readonly string[];
  /** Its control group. It is there from when the command has started to when its last process has ended. */
  readonly folder: string;
}

/** What finding scopes looks at. */
export interface ScopeOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where accounts whose manager stays when they log out are listed. */
  readonly lingerFolder?: string;
}

const probeTimeMax = 5000;
const print = 'cat /proc/self/cgroup; cat /proc/self/mountinfo';

/**
 * Finds the user manager by asking it for a scope; undefined where there is none, or it would end with a login and take
 * the tasks with it.
 *
 * Cost: a process where `systemd-run` and a runtime folder are there, else a few calls of the file system.
 */
export async function findScopes({
  environment,
  lingerFolder = '/var/lib/systemd/linger',
}: ScopeOptions): Promise<TaskScopes | undefined> {
  const program = new ProgramFinder(environment['PATH'] ?? '/usr/bin:/bin').find('systemd-run');
  if (program === undefined || (environment['XDG_RUNTIME_DIR'] ?? '') === '' || !staysWhenLoggedOut(lingerFolder))
    return undefined;
  const {
    prefix: [command = '', ...args],
  } = makeScope({ program, folder: '/' });
  const { status, stdout } = await runCommand({
    command,
    args: [...args, '/bin/sh', '-c', print],
    env: environment,
    deadlineMs: probeTimeMax,
    outputBytesMax: 2 ** 20,
  });
  const own = status === 0 ? findGroupFolder(stdout.toString()) : undefined;
  return own === undefined ? undefined : { program, folder: path.dirname(own) };
}

/** Describes a scope that nobody has used. */
export function makeScope({ program, folder }: TaskScopes): TaskScope {
  const unit = `mutirao-${process.pid}-${randomBytes(6).toString('hex')}.scope`;
  return {
    prefix: [program, '--user', '--scope', '--quiet', '--collect', `--unit=${unit}`, '--'],
    folder: path.join(folder, unit),
  };
}

/** The processes of a scope, those in groups below it too; undefined where that cannot be known. */
export function listScope({ folder }: TaskScope): number[] | undefined {
  try {
    const own = readFileSync(path.join(folder, 'cgroup.procs'), 'latin1')
      .split('\n')
      .filter((line) => line !== '')
      .map(Number);
    const below = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return [...own, ...below.flatMap(({ name }) => listScope({ prefix: [], folder: path.join(folder, name) }) ?? [])];
  } catch {
    return undefined;
  }
}

/**
 * Kills all processes of a scope at once, however fast they start others and whatever user they belong to; false where
 * the kernel cannot (before Linux 5.14), or there is no such scope.
 */
export function killScope({ folder }: TaskScope): boolean {
  try {
    writeFileSync(path.join(folder, 'cgroup.kill'), '1', { flag: 'r+' });
    return true;
  } catch {
    return false;
  }
}

/**
 * The folder of a process's control group, from what `/proc` says of the process and its mounts; undefined where it is
 * not in one of the unified hierarchy, or that is not mounted.
 */
export function findGroupFolder(said: string): string | undefined {
  const [, group] = /^0::(\/.*)$/m.exec(said) ?? [];
  const [, mount] = /^\d+ \d+ \S+ \/ (\S+) .* - cgroup2 /m.exec(said) ?? [];
  return group === undefined || mount === undefined || group === '/' ? undefined : path.join(mount, group);
}

/**
 * A user manager ends with the last login of its user, with all scopes, unless the user lingers or the manager has
 * started us.
 */
function staysWhenLoggedOut(lingerFolder: string): boolean {
  return (
    existsSync(path.join(lingerFolder, accountName())) ||
    readOwnGroup().includes(`/user@${process.getuid?.() ?? 0}.service/`)
  );
}

function readOwnGroup(): string {
  try {
    return readFileSync('/proc/self/cgroup', 'latin1');
  } catch {
    return '';
  }
}
