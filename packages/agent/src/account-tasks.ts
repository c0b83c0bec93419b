import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import type { HeldReplica } from '@mutirao/core/machines/agent';
import { removalScript, removeTree } from '@mutirao/runtime/files';
import { quoteWord, renderAssignments, runCommand, sandboxLine, sandboxVariable } from '@mutirao/runtime/processes';
import type { AccountPlace } from './find-account.ts';
import type { ReplicaFolders } from './stage-in.ts';
import { getFolderName } from './storages.ts';
import type { RenderedTask } from './task-environment.ts';

/** Copying is given up after a day: a file system that hangs must not hold a slot for ever. */
const copyTimeMax = 24 * 3_600_000;
const removeTimeMax = 600_000;
/** Folders that are done are removed together: each call of sudo costs some milliseconds. */
const removeDelay = 500;
/** A longer argument starts no program. */
const argumentMax = 100_000;

/** Variables that are of the agent's account, not of its tasks'. */
const personal =
  /^(?:HOME|USER|LOGNAME|MAIL|SHELL|PWD|OLDPWD|TMPDIR|DISPLAY|XAUTHORITY|(?:XDG|DBUS|SSH|SUDO|GPG|KRB5)_?.*)$/;

/** Unpacks what comes on standard input into a folder of the account. */
const takeIn = 'umask 077; mkdir -p -- "$1" && exec tar -C "$1" --warning=no-timestamp -xpf -';
/** Packs those of the files that are there; what a link leads to in its place, as far as the account may read it. */
const giveOut =
  'cd -- "$1" || exit 1; shift; for name do shift; if [ -e "$name" ] || [ -L "$name" ]; then set -- "$@" ' +
  '"$name"; fi; done; ' +
  '[ $# -gt 0 ] || exec tar -cf - -T /dev/null; exec tar -chf - --hard-dereference -- "$@"';

/** Inside a sandbox: says that the task begins, and runs it. See `firstWords`. */
const firstScript =
  'echo >&8;exec 8>&- 2>/dev/null;[ -z "$V" ]||eval "export $V";unset V;"$@" 2>&9 9>&-;exit "$?"'.replaceAll(
    'V',
    sandboxVariable,
  );

/** Tasks that run in another account: their folders there, and the ways of files in and out, all through sudo. */
export class AccountTasks {
  readonly #place: AccountPlace;
  readonly #environment: Readonly<Record<string, string>>;
  /** Where outputs are put for us; a folder for each slot. */
  readonly #taken: string;
  /** By slot, the folder of its task at the account. */
  readonly #folders = new Map<number, string>();
  #count = 0;
  #done: string[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** @param environment of every task. @param taken a folder of the agent's own, made again. */
  constructor(place: AccountPlace, environment: Readonly<Record<string, string>>, taken: string) {
    this.#place = place;
    this.#environment = Object.fromEntries(Object.entries(environment).filter(([name]) => !personal.test(name)));
    this.#taken = taken;
    removeTree(taken);
  }

  /** The folders of a slot's task at the account, which are made when it is given something or starts. */
  getFolders(slot: number, userId: string): ReplicaFolders {
    return {
      playpen: path.join(this.#getFolder(slot), 'playpen'),
      storage: path.join(this.#place.folder, 'storage', getFolderName(userId)),
    };
  }

  /** Copies inputs that are in place on our side to the account's. @throws {MutiraoError} MUT_STAGING_FAILED */
  async give(slot: number, { start: { inputs }, template }: HeldReplica, own: ReplicaFolders): Promise<void> {
    const there = this.getFolders(slot, template.userId);
    for (const root of ['playpen', 'storage'] as const) {
      const names = inputs.filter((input) => input.root === root).map((input) => `./${input.path}`);
      if (names.length > 0)
        await this.#copy('MUT_STAGING_FAILED', packWords(own[root], root === 'playpen' ? ['.'] : names), [
          ...this.#place.account.words(),
          '-c',
          takeIn,
          'sh',
          there[root],
        ]);
    }
  }

  /**
   * Copies outputs back, as far as they are there, and says where they are on our side. Of a task that has failed,
   * whatever can be read. @throws {MutiraoError} MUT_OUTPUT_UNREADABLE, MUT_DISK_FULL
   */
  async take(slot: number, { start: { outputs }, template, verdict }: HeldReplica): Promise<ReplicaFolders> {
    const there = this.getFolders(slot, template.userId);
    const home = path.join(this.#taken, String(slot));
    const own = { playpen: path.join(home, 'playpen'), storage: path.join(home, 'storage') };
    removeTree(home);
    for (const root of ['playpen', 'storage'] as const) {
      mkdirSync(own[root], { recursive: true, mode: 0o700 });
      const names = outputs.filter((output) => output.root === root).map((output) => `./${output.path}`);
      if (names.length === 0) continue;
      const unpack = ['tar', '-C', own[root], '--warning=no-timestamp', '--no-same-owner', '-xpf', '-'];
      await this.#copy(
        'MUT_OUTPUT_UNREADABLE',
        [...this.#place.account.words(), '-c', giveOut, 'sh', there[root], ...names],
        unpack,
      ).catch((error: unknown) => {
        if (verdict === undefined) throw error;
      });
    }
    return own;
  }

  /**
   * What becomes the task, run by a shell of the account; see `LaunchTask.account`. @param rendered with the folders of
   * `getFolders`.
   */
  scriptFor(slot: number, userId: string, { command, line, environment, exports }: RenderedTask): string {
    const folder = this.#getFolder(slot);
    const { playpen, storage } = this.getFolders(slot, userId);
    const temporary = path.join(folder, 'tmp');
    const { sandbox } = this.#place;
    const isLong = command.length > argumentMax;
    const lineFile = path.join(folder, 'line');
    const words = isLong ? `/bin/sh ${quoteWord(lineFile)}` : command;
    const common = [
      'unset SUDO_COMMAND SUDO_USER SUDO_UID SUDO_GID',
      `(umask 077; mkdir -p ${[playpen, storage, temporary].map(quoteWord).join(' ')}) && cd ` +
        `${quoteWord(playpen)} || exit 126`,
      ...(isLong ? [`printf %s ${quoteWord(line)} >${quoteWord(lineFile)} || exit 126`] : []),
      `export ${renderAssignments(this.#environment)} ${exports}`,
    ];
    if (sandbox === undefined)
      return [
        ...common,
        `export TMPDIR=${quoteWord(temporary)} ${environment}`,
        'echo >&0; exec </dev/null',
        `exec ${words}`,
        '',
      ].join('\n');
    const inside = sandboxLine(sandbox, { temporary, writable: [folder, storage], start: playpen });
    return [
      ...common,
      `export ${sandboxVariable}=${quoteWord(environment)}`,
      'exec 8>&0 9>&2 </dev/null',
      `exec ${inside} -- /bin/sh -c ${quoteWord(firstScript)} sh ${words}`,
      '',
    ].join('\n');
  }

  /** Takes the folders of a slot's task away. Harmless where there are none. */
  release(slot: number): void {
    const folder = this.#folders.get(slot);
    if (folder === undefined) return;
    this.#folders.delete(slot);
    removeTree(path.join(this.#taken, String(slot)));
    this.#done.push(folder);
    this.#timer ??= setTimeout(() => {
      this.#remove();
    }, removeDelay).unref();
  }

  /** Removes what is on our side; the watchdog has the account remove the rest. */
  close(): void {
    clearTimeout(this.#timer);
    removeTree(this.#taken);
  }

  #getFolder(slot: number): string {
    let folder = this.#folders.get(slot);
    if (folder === undefined) {
      folder = path.join(this.#place.folder, 'tasks', String(++this.#count));
      this.#folders.set(slot, folder);
    }
    return folder;
  }

  #remove(): void {
    this.#timer = undefined;
    const done = this.#done;
    this.#done = [];
    void this.#place.account.run(`${removalScript}\nfor folder do remove_tree "$folder"; done`, {
      args: done,
      deadlineMs: removeTimeMax,
    });
  }

  async #copy(
    code: 'MUT_STAGING_FAILED' | 'MUT_OUTPUT_UNREADABLE',
    from: readonly string[],
    to: readonly string[],
  ): Promise<void> {
    // The end of each of the two goes to descriptor 3.
    const line =
      `{ { ${from.map(quoteWord).join(' ')}; echo $? >&3; } | { ${to.map(quoteWord).join(' ')} >&2; echo $? >&3; ` +
      '}; } 3>&1';
    const { stdout, stderr, startError } = await runCommand({
      command: '/bin/sh',
      args: ['-c', line],
      env: { ...process.env, LC_ALL: 'C' },
      cwd: '/',
      deadlineMs: copyTimeMax,
    });
    if (stdout.toString() === '0\n0\n') return;
    const said = [startError, ...stderr.toString().split('\n')].find((text) => text.trim() !== '') ?? 'tar was killed';
    const isFull = /No space left|quota exceeded/.test(stderr.toString());
    throw new MutiraoError(
      isFull ? 'MUT_DISK_FULL' : code,
      `files cannot be handed over to or from account ${this.#place.account.name}: ${said.slice(0, 300)}`,
    );
  }
}

function packWords(folder: string, names: readonly string[]): string[] {
  return ['tar', '-C', folder, '-cf', '-', '--', ...names];
}
