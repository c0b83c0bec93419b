import { existsSync } from 'node:fs';
import path from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import { accountName, removalScript } from '@mutirao/runtime/files';
import { describeSandbox, ProgramFinder, TaskAccount, trySandbox, type Sandbox } from '@mutirao/runtime/processes';

/** Where tasks of another account run. */
export interface AccountPlace {
  readonly account: TaskAccount;
  /** A folder of that account, nobody else's, for all that its tasks have. */
  readonly folder: string;
  /**
   * What its tasks see; undefined where bubblewrap does not work there: then they share /tmp and the list of processes.
   */
  readonly sandbox: Sandbox | undefined;
}

/** What trying an account needs. */
export interface AccountOptions {
  readonly name: string;
  /** A file that tasks must not be able to read; undefined for none. */
  readonly key: string | undefined;
  /** Folders of the host that tasks may write. */
  readonly taskFolders: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** An account that works, and whether it can read the file. */
export interface FoundAccount extends AccountPlace {
  readonly readsKey: boolean;
}

const tryTimeMax = 15_000;

/**
 * Says who it is, makes a folder, and looks for what is needed. The home folder comes first: nothing clears it by age.
 */
const tryScript = `umask 077; unset SUDO_COMMAND
echo "uid $(id -u)"
[ -n "$1" ] && [ -r "$1" ] && echo key
tar --version 2>/dev/null | grep -q GNU && echo tar
for place in "$HOME" /var/tmp /tmp; do folder=$(mktemp -d "$place/mutirao-tasks-XXXXXXXXXX" 2>/dev/null) && break; done
echo "home $HOME"
echo "folder $folder"`;

/**
 * Tries to run commands as another account of this host.
 *
 * @throws {MutiraoError} MUT_ISOLATION_UNAVAILABLE with what sudo said, and the rule that is missing.
 */
export async function findAccount({ name, key, taskFolders, environment }: AccountOptions): Promise<FoundAccount> {
  const sudo = new ProgramFinder(environment['PATH'] ?? '/usr/bin:/bin').find('sudo');
  if (sudo === undefined) throw unavailable(name, 'no program "sudo" on PATH');
  if (!existsSync('/proc/1/stat'))
    throw unavailable(
      name,
      'this host hides the processes of other accounts (hidepid of /proc), so tasks could not be found and ended',
    );
  const account = new TaskAccount(name, sudo);
  const { status, stdout, stderr, startError } = await account.run(tryScript, {
    args: [key ?? ''],
    deadlineMs: tryTimeMax,
  });
  if (status !== 0)
    throw unavailable(name, firstLine(startError, stderr.toString()) ?? `sudo ended with status ${status}`);
  const said = readAnswer(stdout.toString());
  const place = { account, folder: said.folder };
  const trouble = judge(said);
  if (trouble === '')
    return {
      ...place,
      readsKey: said.readsKey,
      sandbox: await findSandbox(place, { home: said.home, taskFolders, environment }),
    };
  if (said.folder !== '') await removeAccountFolder(place);
  throw unavailable(name, trouble);
}

/** What the account has said of itself. */
interface Answer {
  readonly uid: number;
  readonly home: string;
  /** Empty where it could make none. */
  readonly folder: string;
  readonly hasTar: boolean;
  readonly readsKey: boolean;
}

function readAnswer(text: string): Answer {
  const said = new Map(
    text.split('\n').map((line) => [line.split(' ', 1)[0] ?? '', line.slice(line.indexOf(' ') + 1)]),
  );
  const folder = said.get('folder') ?? '';
  return {
    uid: Number(said.get('uid')),
    home: said.get('home') ?? '',
    folder: path.isAbsolute(folder) ? folder : '',
    hasTar: said.has('tar'),
    readsKey: said.has('key'),
  };
}

/** Why the account will not do; empty where it will. */
function judge({ uid, folder, hasTar }: Answer): string {
  if (uid === 0) return 'it is root';
  if (uid === process.getuid?.()) return 'it is the account of this agent';
  if (folder === '') return 'it can make no folder in its home folder, /var/tmp or /tmp';
  return hasTar ? '' : 'it finds no GNU tar, by which files are handed over';
}

/** Removes all that tasks of the account have left. Never rejects. */
export async function removeAccountFolder({
  account,
  folder,
}: Pick<AccountPlace, 'account' | 'folder'>): Promise<void> {
  await account.run(`${removalScript}\nremove_tree "$1"`, { args: [folder], deadlineMs: tryTimeMax });
}

/** Other accounts' files are closed to it by their modes; only what is its own is hidden from its tasks. */
async function findSandbox(
  { account, folder }: Pick<AccountPlace, 'account' | 'folder'>,
  { home, taskFolders, environment }: { readonly home: string } & Pick<AccountOptions, 'taskFolders' | 'environment'>,
): Promise<Sandbox | undefined> {
  const described = describeSandbox({ hidden: [], writable: taskFolders, environment: { PATH: environment['PATH'] } });
  if (described === undefined) return undefined;
  const sandbox = {
    ...described,
    readable: [],
    hidden: home !== '/' && path.isAbsolute(home) && existsSync(home) ? [home] : [],
  };
  const trouble = await trySandbox(sandbox, { temporary: folder, writable: [folder], start: folder }, account.words());
  return trouble === '' ? sandbox : undefined;
}

function unavailable(name: string, trouble: string): MutiraoError {
  const rule = `${accountName()} ALL=(${name}) NOPASSWD: /bin/sh`;
  return new MutiraoError(
    'MUT_ISOLATION_UNAVAILABLE',
    `--isolation account=${name} does not work on this host: ${trouble}. It needs sudo, an account ${name} that ` +
      `is neither root nor this agent's, and the rule "${rule}" in /etc/sudoers.d`,
  );
}

function firstLine(...texts: readonly string[]): string | undefined {
  return texts
    .flatMap((text) => text.split('\n'))
    .find((line) => line.trim() !== '')
    ?.slice(0, 300);
}
