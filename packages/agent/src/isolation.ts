import { accessSync, constants, existsSync, mkdtempSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import type { Verdict } from '@mutirao/core/machines/agent';
import type { TaskTemplate } from '@mutirao/core/messages';
import type { IsolationMode } from '@mutirao/runtime/program';
import { removeTree } from '@mutirao/runtime/files';
import { authorityKeyPath, identityFolder } from '@mutirao/runtime/identity';
import { describeSandbox, trySandbox, type Sandbox } from '@mutirao/runtime/processes';
import { findAccount, type AccountPlace } from './find-account.ts';

/** How tasks are kept apart from their agent and from each other on a machine. */
export type IsolationKind = 'bubblewrap' | 'account' | 'none';

/** What finding out how to isolate tasks needs. */
export interface IsolationOptions {
  readonly mode: IsolationMode;
  /** The home folder of the agent. */
  readonly home: string;
  /** All files of the agent, claimed before: what is tried out lies in it. */
  readonly folder: string;
  /** A home folder that is shared with others; undefined where there is none. */
  readonly sharedHome: string | undefined;
  /** Folders of the host that isolated tasks may write. */
  readonly taskFolders: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** What an agent found out, once at its start, about keeping tasks apart. */
export interface Isolation {
  readonly kind: IsolationKind;
  /** Tasks of all users are isolated, also those of the machine's owner. */
  readonly isForAll: boolean;
  /** Undefined when `kind` is `none`. */
  readonly sandbox: Sandbox | undefined;
  /** Where tasks run when `kind` is `account`; otherwise undefined. */
  readonly account: AccountPlace | undefined;
  /** Why tasks of other users are not isolated; empty where they are, or where nobody wanted it. */
  readonly trouble: string;
  /** The key of the grid's authority, where tasks could read it; undefined where they cannot. */
  readonly exposedKey: string | undefined;
}

/** No isolation and nothing to protect, as for a machine that is driven from elsewhere. */
export const noIsolation: Isolation = {
  kind: 'none',
  isForAll: false,
  sandbox: undefined,
  account: undefined,
  trouble: '',
  exposedKey: undefined,
};

/**
 * Finds out what works on this host by trying it.
 *
 * Cost: starts a few processes where bubblewrap is installed; otherwise a few calls of the file system.
 *
 * @throws {MutiraoError} MUT_ISOLATION_UNAVAILABLE when isolation was demanded and does not work; MUT_BAD_CONFIG for a
 * task folder that is not there.
 */
export async function findIsolation(options: IsolationOptions): Promise<Isolation> {
  const { mode, home, taskFolders } = options;
  for (const folder of taskFolders) {
    if (!path.isAbsolute(folder) || !existsSync(folder))
      throw new MutiraoError(
        'MUT_BAD_CONFIG',
        `--task-folder is "${folder}"; expected the absolute path of a folder of this machine`,
      );
  }
  const key = findReadableKey(home);
  if (mode === 'none') return { ...noIsolation, exposedKey: key };
  if (typeof mode === 'object') return await findAccountIsolation(mode.account, key, options);
  const sandbox = describeSandbox({
    hidden: hiddenFolders(options, key),
    writable: taskFolders,
    environment: options.environment,
  });
  const trouble =
    sandbox === undefined
      ? 'bubblewrap is not installed (no program "bwrap" on PATH)'
      : await tryOut(sandbox, options.folder);
  if (trouble === '')
    return {
      kind: 'bubblewrap',
      isForAll: mode === 'bubblewrap',
      sandbox,
      account: undefined,
      trouble,
      exposedKey: undefined,
    };
  if (mode === 'bubblewrap')
    throw new MutiraoError(
      'MUT_ISOLATION_UNAVAILABLE',
      `--isolation bubblewrap does not work on this host: ${trouble}`,
    );
  return { ...noIsolation, trouble, exposedKey: key };
}

async function findAccountIsolation(
  name: string,
  key: string | undefined,
  { taskFolders, environment }: IsolationOptions,
): Promise<Isolation> {
  const { readsKey, ...account } = await findAccount({ name, key, taskFolders, environment });
  return { ...noIsolation, kind: 'account', isForAll: true, account, exposedKey: readsKey ? key : undefined };
}

/** Whether a task runs isolated. */
export function isIsolated({ sandbox, isForAll }: Isolation, { isForeign }: Pick<TaskTemplate, 'isForeign'>): boolean {
  return sandbox !== undefined && (isForAll || isForeign === true);
}

/** Why a task must not run here at all; undefined where it may. */
export function findIsolationRefusal(
  { account, exposedKey }: Isolation,
  { isForeign, workFolder, userId }: Pick<TaskTemplate, 'isForeign' | 'workFolder' | 'userId'>,
): Verdict | undefined {
  if (workFolder !== undefined && account !== undefined)
    return {
      outcome: 'failed',
      reason: 'MUT_WORK_FOLDER',
      detail:
        `tasks of this machine run in the account ${account.account.name}, which cannot work in a folder of ` +
        'another account',
    };
  if (isForeign !== true) return undefined;
  if (workFolder !== undefined)
    return {
      outcome: 'failed',
      reason: 'MUT_WORK_FOLDER',
      detail: `the job is of ${userId}, and only jobs of this machine's owner work in a folder of the machine`,
    };
  if (exposedKey === undefined) return undefined;
  return {
    outcome: 'broken',
    reason: 'MUT_AUTHORITY_EXPOSED',
    detail:
      `a task of ${userId} could read ${exposedKey}, the key of the grid's authority: this machine runs tasks of ` +
      'its owner only',
  };
}

function hiddenFolders({ home, folder, sharedHome }: IsolationOptions, key: string | undefined): string[] {
  return [
    home,
    path.dirname(folder),
    ...(sharedHome === undefined ? [] : [sharedHome]),
    ...(key === undefined ? [] : [path.dirname(key)]),
  ];
}

async function tryOut(sandbox: Sandbox, folder: string): Promise<string> {
  const place = realpathSync(mkdtempSync(path.join(folder, 'try-')));
  try {
    return await trySandbox(sandbox, { temporary: place, writable: [place], start: place });
  } finally {
    removeTree(place);
  }
}

/** The key of the authority of a home folder, where this account can read it. */
function findReadableKey(home: string): string | undefined {
  const key = authorityKeyPath(identityFolder(home));
  try {
    accessSync(key, constants.R_OK);
    return key;
  } catch {
    return undefined;
  }
}
